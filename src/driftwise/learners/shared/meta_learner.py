"""Learners made of other learners: their base class, memories that are parts of another memory, and stacks of memories.

The memory of a learner made of learners is flat, as every memory: an array `center` of a part named `rule` is its array
`rule_center`. Compiled code and checks put the NamedTuple of the part together from these arrays. The weights of a part
have a name that the whole chooses.

A stack has the memories of several learners of one class in one NamedTuple, whose arrays have one more axis in front:
row i of each array is the array of learner i. A row is a view, so a kernel that writes into it writes into the stack.
Rates are stacked in the same way: each number becomes a vector.

Compiled code cannot loop over a tuple of arrays of different types. `row_kernel(n)` is a kernel for tuples of n arrays,
and `Memory(*ROW(stack, i))` is the memory of learner i.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_type_hints

import numba
import numpy as np

from driftwise.core.kernel import clone, generic_kernel, mark_digest, unbound
from driftwise.core.memory_fields import Array, Field, fields_of, packed
from driftwise.core.private_numba import IN_USE, ROWS_VERSION, tuple_rows
from driftwise.learners.base import Beliefs, ExpertLearner, Learner, State
from driftwise.learners.base.beliefs import shares_by_label, short_label
from driftwise.learners.base.learner import M, R
from driftwise.learners.base.loops import AnyMemory, Bindings, Kernel

BASE_RULE = "a full-feedback learner of fixed memory, not one made of learners"


class MetaLearner(ExpertLearner[M, R]):
    """A full-feedback learner made of other learners."""

    def base_shares(self, state: State[M, R]) -> dict[str, float]:
        """Return the weight of each base in the next round, by label; none by default."""
        return {}

    def beliefs(self, state: State[M, R]) -> Beliefs:
        """Return the weights of the bases in the next round."""
        beliefs, shares = super().beliefs(state), self.base_shares(state)
        return replace(beliefs, bases=shares_by_label(map(short_label, shares), shares.values()))


def can_be_base(kind: type) -> bool:
    """Return whether learners of a class can be a part of another: whether they obey `BASE_RULE`."""
    fixed = issubclass(kind, ExpertLearner) and kind.make_room is Learner.make_room
    return fixed and not issubclass(kind, MetaLearner)


FIRST = REST = unbound  # kernels that `clone` binds
Arrays = tuple[Array, ...]
_NUMBERS = {float: np.float64, int: np.int64, bool: np.bool_}


# Parts of a memory


def inner_fields(kind: Any, name: str, *axes: str) -> dict[str, Field | None]:
    """Return the declarations of a part of a memory, with more axes in front, without its weights.

    A word for a size becomes `name.word`. Values are checked by the owner of the part.
    """
    inner = {field: of for field, of in fields_of(kind).items() if field != "weights"}
    return {f"{name}_{field}": of and packed(*_renamed(name, (*axes, *of.shape))) for field, of in inner.items()}


def _renamed(name: str, shape: tuple[int | str, ...]) -> list[int | str]:
    return [size if isinstance(size, int) else f"{name}.{size}" for size in shape]


def inner_limits(name: str, limits: Mapping[str, float]) -> dict[str, float]:
    """Return the numbers that the declarations of a part may name."""
    return {f"{name}.{word}": limit for word, limit in limits.items()}


def inner_memory(memory: AnyMemory, kind: type[M], name: str, weights: Array) -> M:
    """Return the memory of a part; its arrays are those of the whole."""
    parts = (weights if field == "weights" else getattr(memory, f"{name}_{field}") for field in kind._fields)
    return kind._make(parts)


def place(kind: type[AnyMemory], first: int) -> Bindings:
    """Return where compiled code finds a part whose first array is that number of the whole.

    With these constants, it is `KIND(*memory[FIRST:WEIGHTS], weights, *memory[WEIGHTS:LAST])`.
    """
    last = first + len(kind._fields) - 1
    return {"KIND": kind, "FIRST": first, "WEIGHTS": first + kind._fields.index("weights"), "LAST": last}


# Stacks


def stacked_memory(memories: Sequence[M]) -> M:
    """Return the memories as one; all must have the same shapes.

    >>> from driftwise.learners import OptimisticGD
    >>> memories = [OptimisticGD().start(n_actions=2).memory for _ in range(3)]
    >>> stacked_memory(memories).center.shape
    (3, 2)
    """
    return type(memories[0])._make(np.stack(arrays) for arrays in zip(*memories, strict=True))


def stacked_rates(rates: Sequence[R]) -> R:
    """Return the rates as one; the type of each vector is the annotated one, because a parameter may be 1 or 1.0.

    >>> from driftwise.learners import OptimisticGD
    >>> stacked_rates([OptimisticGD(rate).rates(n_actions=2) for rate in (1, 0.5)]).step
    array([0.5 , 0.25])
    """
    kind = type(rates[0])
    hints = get_type_hints(kind)
    columns = zip(kind._fields, zip(*rates, strict=True), strict=True)
    return kind._make(np.array(column, _NUMBERS.get(hints[name])) for name, column in columns)


def row(stacked: M, i: int) -> M:
    """Return the memory of learner i; its arrays are views."""
    return type(stacked)._make(array[i] for array in stacked)


@functools.cache
def row_kernel(n_fields: int) -> Kernel:
    """Return a kernel from a tuple of arrays and i to the tuple of their rows i."""
    if "rows" in IN_USE and not numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        rows: Kernel = mark_digest(tuple_rows, ROWS_VERSION)
        return rows
    return _for_tuples(n_fields, (_row_of_one, _row_of_two, _row_of_three), _row_of_more, row_kernel)


@functools.cache
def copy_kernel(n_fields: int) -> Kernel:
    """Return a kernel that copies a tuple of arrays into another, of the same shapes."""
    return _for_tuples(n_fields, (_copy_one, _copy_two, _copy_three), _copy_more, copy_kernel)


def _for_tuples(n_fields: int, templates: Sequence[Kernel], more: Kernel, kernel_of: Callable[[int], Kernel]) -> Kernel:
    n_first = len(templates)
    if n_fields <= n_first:
        return clone(templates[n_fields - 1], f"of-{n_fields}")
    return clone(more, f"of-{n_fields}", FIRST=kernel_of(n_first), REST=kernel_of(n_fields - n_first))


def _row_of_one(fields: Arrays, i: int) -> Arrays:
    return (fields[0][i],)


def _row_of_two(fields: Arrays, i: int) -> Arrays:
    return fields[0][i], fields[1][i]


def _row_of_three(fields: Arrays, i: int) -> Arrays:
    return fields[0][i], fields[1][i], fields[2][i]


def _row_of_more(fields: Arrays, i: int) -> Any:
    return FIRST(fields[:3], i) + REST(fields[3:], i)


@generic_kernel
def _copy(target: Array, source: Array) -> None:
    """Copy an array of any number of axes; both are contiguous."""
    flat, other = target.reshape(target.size), source.reshape(source.size)
    for k in range(flat.size):
        flat[k] = other[k]


def _copy_one(targets: Arrays, sources: Arrays) -> None:
    _copy(targets[0], sources[0])


def _copy_two(targets: Arrays, sources: Arrays) -> None:
    _copy(targets[0], sources[0])
    _copy(targets[1], sources[1])


def _copy_three(targets: Arrays, sources: Arrays) -> None:
    _copy(targets[0], sources[0])
    _copy(targets[1], sources[1])
    _copy(targets[2], sources[2])


def _copy_more(targets: Arrays, sources: Arrays) -> None:
    FIRST(targets[:3], sources[:3])
    REST(targets[3:], sources[3:])
