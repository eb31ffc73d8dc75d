"""Row i of each array of a tuple, in compiled code, whatever the types of the arrays: one instruction in a kernel."""

# mypy: allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import operator
from typing import Any

from numba import types
from numba.extending import intrinsic

ROWS_VERSION = "rows 1"  # of the code below: machine code on disk depends on it


@intrinsic
def tuple_rows(typingctx: Any, arrays: Any, i: Any) -> Any:
    """Return the tuple of the rows i."""
    getitem = typingctx.resolve_value_type(operator.getitem)
    kinds = [getitem.get_call_type(typingctx, (array, i), {}) for array in arrays]

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        stack, place = arguments
        taken = [context.get_function(getitem, kind) for kind in kinds]
        parts = [take(builder, (builder.extract_value(stack, k), place)) for k, take in enumerate(taken)]
        return context.make_tuple(builder, signature.return_type, parts)

    return types.Tuple([kind.return_type for kind in kinds])(arrays, i), codegen
