"""Memories of several learners of one class in one NamedTuple, whose arrays have one more axis in front.

Row i of each array is the array of learner i. A row is a view, so a kernel that writes into it writes into the stack.
Rates are stacked in the same way: each number becomes a vector.

Compiled code cannot loop over a tuple of arrays of different types. `row_kernel(n)` is a kernel for tuples of n arrays,
and `Memory(*ROW(stacked, i))` is the memory of learner i.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, get_type_hints

import numpy as np

from driftwise.core.kernel import clone, unbound
from driftwise.core.memory_fields import Field, packed

__all__ = ["row", "row_kernel", "stacked_field", "stacked_memory", "stacked_rates"]

Kernel = Callable[..., Any]
FIRST: Kernel = unbound
REST: Kernel = unbound
_NUMBERS = {float: np.float64, int: np.int64, bool: np.bool_}


def stacked_memory(memories: Sequence[Any]) -> Any:
    """Return the memories as one; all must have the same shapes.

    >>> from driftwise.learners import OptimisticGD
    >>> memories = [OptimisticGD().start(n_actions=2).memory for _ in range(3)]
    >>> stacked_memory(memories).center.shape
    (3, 2)
    """
    return type(memories[0])(*(np.stack(arrays) for arrays in zip(*memories, strict=True)))


def stacked_rates(rates: Sequence[Any]) -> Any:
    """Return the rates as one; the type of each vector is the annotated one, because a parameter may be 1 or 1.0.

    >>> from driftwise.learners import OptimisticGD
    >>> stacked_rates([OptimisticGD(rate).rates(n_actions=2) for rate in (1, 0.5)]).step
    array([0.5 , 0.25])
    """
    kind: Any = type(rates[0])
    hints = get_type_hints(kind)
    columns = zip(kind._fields, zip(*rates, strict=True), strict=True)
    return kind(*(np.array(column, _NUMBERS.get(hints[name])) for name, column in columns))


def row(stacked: Any, i: int) -> Any:
    """Return the memory of learner i; its arrays are views."""
    return type(stacked)(*(array[i] for array in stacked))


def stacked_field(field: Field | None, words: Iterable[int | str]) -> Field:
    """Return the declaration of an array in front of whose axes are others; its values are checked row by row."""
    return packed(*words, *(field.shape if field else ()))


@functools.cache
def row_kernel(n_fields: int) -> Kernel:
    """Return a kernel from a tuple of arrays and i to the tuple of their rows i."""
    templates = (_one, _two, _three, _four)
    if n_fields <= len(templates):
        return clone(templates[n_fields - 1], f"row-of-{n_fields}")
    return clone(_more, f"row-of-{n_fields}", FIRST=row_kernel(4), REST=row_kernel(n_fields - 4))


def _one(fields: Any, i: int) -> Any:
    return (fields[0][i],)


def _two(fields: Any, i: int) -> Any:
    return fields[0][i], fields[1][i]


def _three(fields: Any, i: int) -> Any:
    return fields[0][i], fields[1][i], fields[2][i]


def _four(fields: Any, i: int) -> Any:
    return fields[0][i], fields[1][i], fields[2][i], fields[3][i]


def _more(fields: Any, i: int) -> Any:
    return FIRST(fields[:4], i) + REST(fields[4:], i)
