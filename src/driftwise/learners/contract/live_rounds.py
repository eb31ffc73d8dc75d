"""Live rounds: single rounds, with a short path into compiled code.

An entry point gets one table of addresses in place of the memory's arrays, and checks the other arguments itself. A
state gets its entry points with its first round outside a block. They are compiled once per type of memory, for one
type of arguments; other arguments raise `TypeError`, and the caller converts or rejects them. Where Numba cannot read a
table, an entry point gets the memory and the rates as a pair.
"""

# mypy: allow-untyped-calls
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types

from driftwise.core.compiler import close
from driftwise.core.kernel import clone, unbound
from driftwise.core.types import Actions, Vector
from driftwise.core.validation import first_bad_loss
from driftwise.learners.contract.crossings import Crossing, as_it_is, first_that_compiles
from driftwise.learners.contract.loops import Kernels

__all__ = ["FINE", "OTHER_SIZE", "RETURNED", "LiveBandit", "LiveExpert", "live_bandit", "live_expert"]

Kernel = Callable[..., Any]
REBUILD: Kernel = unbound
UPDATE: Kernel = unbound
CHOOSE: Kernel = unbound
TAKE: Kernel = unbound
# Returned by a step: no fault, the vector has another size, or the kernel returned something, which it must not;
# otherwise the action whose loss is outside [0, 1].
FINE, OTHER_SIZE, RETURNED = -1, -2, -3

_LOSSES = types.float64[::1]


class LiveExpert(NamedTuple):
    """The entry points of a state with full feedback, and its table of addresses."""

    table: Any
    step: Kernel
    hint: Kernel | None


class LiveBandit(NamedTuple):
    """The entry points of a state with bandit feedback, and its table of addresses."""

    table: Any
    choose: Kernel
    update: Kernel


def live_expert(kernels: Kernels, memory: Any, rates: Any) -> LiveExpert:
    """Return the entry points for a memory; they are valid as long as the memory is referenced."""
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return LiveExpert((memory, rates), *_interpreted_expert(kernels))
    kinds = numba.typeof(memory), numba.typeof(rates)
    crossing, step = _expert(kernels, *kinds)

    def hint(table: Any, guess: Vector) -> Any:  # compiled with the first hint: most learners never get one
        assert kernels.hint is not None
        return _vector_entry(kernels, kernels.hint, *kinds, crossing)(table, guess)

    return LiveExpert(crossing.pack(memory, rates), step, hint if kernels.hint else None)


def live_bandit(kernels: Kernels, memory: Any, rates: Any) -> LiveBandit:
    """Return the entry points for a memory; they are valid as long as the memory is referenced."""
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        choose = clone(_choose, kernels.name, CHOOSE=kernels.choose, REBUILD=as_it_is)
        update = clone(_update, kernels.name, UPDATE=kernels.update, REBUILD=as_it_is)
        return LiveBandit((memory, rates), choose, update)
    crossing, choose, update = _bandit(kernels, numba.typeof(memory), numba.typeof(rates))
    return LiveBandit(crossing.pack(memory, rates), choose, update)


@functools.cache
def _expert(kernels: Kernels, memory: Any, rates: Any) -> tuple[Crossing, Kernel]:
    return first_that_compiles(lambda crossing: _vector_entry(kernels, kernels.update, memory, rates, crossing))


@functools.cache
def _vector_entry(kernels: Kernels, take: Kernel, memory: Any, rates: Any, crossing: Crossing) -> Kernel:
    parts = {"TAKE": take, "REBUILD": crossing.rebuild(memory, rates)}
    entry = clone(_take, kernels.name, kernels.kinds, **parts)
    return entry if close(entry, crossing.kind(memory, rates), _LOSSES) else _typed(entry)


@functools.cache
def _bandit(kernels: Kernels, memory: Any, rates: Any) -> tuple[Crossing, Kernel, Kernel]:
    def compiled(crossing: Crossing) -> tuple[Kernel, Kernel]:
        table, rebuild = crossing.kind(memory, rates), crossing.rebuild(memory, rates)
        choose = clone(_choose, kernels.name, kernels.kinds, CHOOSE=kernels.choose, REBUILD=rebuild)
        update = clone(_update, kernels.name, kernels.kinds, UPDATE=kernels.update, REBUILD=rebuild)
        close(choose, table)
        close(update, table, types.int64, types.float64, types.float64)
        return choose, update

    crossing, (choose, update) = first_that_compiles(compiled)
    return crossing, choose, update


def _interpreted_expert(kernels: Kernels) -> tuple[Kernel, Kernel | None]:
    step = clone(_take, kernels.name, TAKE=kernels.update, REBUILD=as_it_is)
    hint = clone(_take, kernels.name, TAKE=kernels.hint, REBUILD=as_it_is) if kernels.hint else None
    return _typed(step), _typed(hint) if hint else None


def _typed(entry: Kernel) -> Kernel:
    """Return the entry with the `TypeError` that a compiled entry raises for other arguments."""

    def checked(table: Any, losses: Any) -> Any:
        if losses.ndim != 1 or losses.dtype != np.float64 or not losses.flags.carray:
            raise TypeError("not a vector of numbers in the usual layout")
        return entry(table, losses)

    return checked


def _take(table: Actions, values: Vector) -> int:
    """Check losses, or a guess of them, and pass them on."""
    memory, rates = REBUILD(table)
    if values.size != memory.weights.size:
        return OTHER_SIZE
    bad: int = first_bad_loss(values)
    if bad < 0 and TAKE(memory, rates, values) is not None:
        return RETURNED
    return bad


def _choose(table: Actions) -> tuple[int, float]:
    memory, rates = REBUILD(table)
    choice: tuple[int, float] = CHOOSE(memory, rates)
    return choice


def _update(table: Actions, action: int, loss: float, probability: float) -> bool:
    """Check the loss and pass it on; the action and the probability, NaN where there is none, were checked.

    Return whether the loss is in [0, 1] and the kernel returned nothing, as it must.
    """
    memory, rates = REBUILD(table)
    if not 0.0 <= loss <= 1.0:
        return False
    return UPDATE(memory, rates, action, loss, probability) is None
