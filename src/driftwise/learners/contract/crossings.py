"""How the arrays of a memory are passed to compiled code: as one table of addresses, or as a tuple where that fails."""

# mypy: allow-untyped-calls
from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from numba import types

from driftwise.core.compiler import IN_USE, address_table, rebuilder
from driftwise.core.kernel import generic_kernel, mark_digest

__all__ = ["Crossing", "as_it_is", "first_that_compiles"]

Kernel = Callable[..., Any]


def as_it_is(parts: Any) -> Any:
    """Return the parts of a tuple."""
    return parts


@functools.cache
def _compiled_as_it_is() -> Kernel:
    return generic_kernel(as_it_is)


class Crossing(NamedTuple):
    """How NamedTuples of arrays and numbers are passed to compiled code."""

    pack: Kernel  # packs them, in Python
    kind: Kernel  # the Numba type of the result, from their types
    rebuild: Kernel  # the function that unpacks them in compiled code, from the same types


_AS_TABLE = Crossing(address_table, lambda *_: types.int64[::1], lambda *kinds: mark_digest(*rebuilder(*kinds)))
_AS_TUPLE = Crossing(lambda *parts: parts, lambda *kinds: types.Tuple(kinds), lambda *_: _compiled_as_it_is())


def first_that_compiles(compiled: Callable[[Crossing], Any]) -> tuple[Crossing, Any]:
    """Compile for a table, and for a tuple if that fails: then either the kernel is wrong, or Numba has changed."""
    if "tables" in IN_USE:
        with contextlib.suppress(Exception):
            return _AS_TABLE, compiled(_AS_TABLE)
    return _AS_TUPLE, compiled(_AS_TUPLE)
