"""One array in place of many: a table of addresses, from which compiled code rebuilds NamedTuples of arrays.

A call from Python into compiled code unpacks every array and every number of its arguments: a memory of ten arrays
takes about 2 us, one array 0.3 us. The table is made once for a memory. For each array it holds the address and the
shape, for each number its bits; `rebuilder` gives a function that compiled code calls to get the NamedTuples back.

The owner of a table must keep the arrays alive, and make a new table when an array is replaced. Tables are never
written to files. Arrays must be contiguous, aligned and writable, because the table has only addresses and shapes.
"""

# mypy: allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from driftwise.core.types import Actions

_VERSION = 1  # of the code below: machine code on disk depends on it


def address_table(*parts: Any) -> Actions:
    """Return the table of some NamedTuples of arrays and numbers, which may be nested.

    >>> from driftwise.learners import Hedge
    >>> state = Hedge().start(n_actions=2)
    >>> table = address_table(state.memory, state.rates)
    >>> len(table), int(table[1])  # three arrays of one dimension, two numbers; the first array has two elements
    (8, 2)
    """
    return np.array([word for part in parts for word in _words(part)], np.int64)


def _words(part: Any) -> list[int]:
    if isinstance(part, np.ndarray):
        if not part.flags.carray:
            raise ValueError("an array in a table of addresses must be contiguous, aligned and writable")
        return [part.__array_interface__["data"][0], *part.shape]
    if isinstance(part, tuple):
        return [word for inner in part for word in _words(inner)]
    if isinstance(part, float | np.floating):
        return [int(np.float64(part).view(np.int64))]
    return [int(part)]


def rebuilder(*kinds: Any) -> tuple[Callable[[Actions], Any], str]:
    """Return a function for compiled code, from a table to NamedTuples of some kinds (Numba types), and its digest."""
    result = types.Tuple(kinds)

    @intrinsic
    def rebuild(typingctx: Any, table: Any) -> Any:  # noqa: ARG001
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            source = context.make_array(signature.args[0])(context, builder, arguments[0])
            places = (context.get_constant(types.intp, i) for i in itertools.count())
            words = (builder.load(builder.gep(source.data, [place])) for place in places)
            return _value(context, builder, result, words)

        return result(table), codegen

    digest = hashlib.sha256(f"{_VERSION} {result} {_fields(result)}".encode()).hexdigest()[:12]
    function: Callable[[Actions], Any] = rebuild  # type: ignore[assignment]
    return function, digest


def _fields(kind: Any) -> Any:
    """Return the names of the fields in NamedTuples, however nested."""
    inner = [_fields(part) for part in kind] if isinstance(kind, types.BaseTuple) else []  # type: ignore[attr-defined]
    return [getattr(kind, "fields", ""), inner]


def _value(context: Any, builder: Any, kind: Any, words: Iterator[Any]) -> Any:
    """Emit the instructions that read a value from the next words of a table."""
    if isinstance(kind, types.BaseTuple):  # which can be iterated over
        parts = [_value(context, builder, inner, words) for inner in kind]  # type: ignore[attr-defined]
        return context.make_tuple(builder, kind, parts)
    if isinstance(kind, types.Array):
        return _array(context, builder, kind, words)
    word = next(words)
    if kind == types.float64:
        return builder.bitcast(word, context.get_value_type(kind))
    if kind == types.boolean:
        return builder.icmp_signed("!=", word, word.type(0))
    if kind == types.int64:
        return word
    raise TypeError(f"a table of addresses cannot hold {kind}")


def _array(context: Any, builder: Any, kind: Any, words: Iterator[Any]) -> Any:
    item = context.get_data_type(kind.dtype)
    width = context.get_constant(types.intp, context.get_abi_sizeof(item))
    address, *shape = itertools.islice(words, 1 + kind.ndim)
    strides: list[Any] = []
    stride = width
    for length in reversed(shape):
        strides.insert(0, stride)
        stride = builder.mul(stride, length)
    array = context.make_array(kind)(context, builder)
    populate_array(
        array,
        data=builder.inttoptr(address, item.as_pointer()),
        shape=cgutils.pack_array(builder, shape),
        strides=cgutils.pack_array(builder, strides),
        itemsize=width,
        meminfo=None,
    )
    return array._getvalue()
