"""The compiled rounds of learners: loops over the rounds of a block, and live rounds, one at a time.

The loops are templates, plain Python until `clone` binds a learner's own kernels to the names in capitals. A
full-feedback memory has the weights of the next round in `weights`; a bandit kernel gets only the loss of the chosen
action. A kernel that updates returns nothing: where one returns something, the block ends, and the loop returns
`False`.

A live round has a short path into compiled code. An entry point gets one table of addresses in place of the memory's
arrays, and checks the other arguments itself. A state gets its entry points with its first round outside a block. They
are compiled once per type of memory, for one type of arguments; other arguments raise `TypeError`, and the caller
converts or rejects them. Where Numba cannot read a table, an entry point gets the memory and the rates as a pair.
"""

# mypy: allow-untyped-calls
from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

import numba
import numpy as np
from numba import types

from driftwise.core.kernel import clone, generic_kernel, mark_digest, unbound
from driftwise.core.private_numba import IN_USE, address_table, close, rebuilder
from driftwise.core.types import Actions, Matrix, Vector
from driftwise.core.validation import first_bad_loss

Kernel = Callable[..., Any]  # compiled, or a template
# The NamedTuples that generic kernels and templates read; which fields they have depends on the learner.
AnyMemory = Any
AnyRates = Any
Bindings = dict[str, Any]  # of kernels and constants to the names in capitals of a template
T = TypeVar("T")
# Returned by a step: no fault, the vector has another size, or the kernel returned something, which it must not;
# otherwise the action whose loss is outside [0, 1].
FINE, OTHER_SIZE, RETURNED = -1, -2, -3
UPDATE = CHOOSE = HINT = REBUILD = KERNEL = unbound  # kernels that `clone` binds


class Kernels(NamedTuple):
    """The kernels of a learner, from which its loops are made."""

    name: str
    kinds: tuple[type, ...]
    update: Kernel
    choose: Kernel | None = None
    hint: Kernel | None = None


class Loops(NamedTuple):
    """The compiled entry points of a learner for blocks of rounds, and its kernels."""

    run: Kernel
    run_hinted: Kernel | None  # of a learner that takes hints
    kernels: Kernels


def expert_loops(name: str, kinds: Iterable[type], update: Kernel, hint: Kernel | None = None) -> Loops:
    """Bind a full-feedback learner's kernels to the templates."""
    return Loops(
        run=clone(_run_expert, name, kinds, UPDATE=update),
        run_hinted=clone(_run_hinted, name, kinds, UPDATE=update, HINT=hint) if hint else None,
        kernels=Kernels(name, tuple(kinds), update, hint=hint),
    )


def bandit_loops(name: str, kinds: Iterable[type], choose: Kernel, update: Kernel) -> Loops:
    """Bind a bandit learner's kernels to the templates."""
    run = clone(_run_bandit, name, kinds, CHOOSE=choose, UPDATE=update)
    return Loops(run, None, Kernels(name, tuple(kinds), update, choose))


def _run_expert(memory: AnyMemory, rates: NamedTuple, losses: Matrix, played: Matrix) -> bool:
    weights = memory.weights
    for t in range(losses.shape[0]):
        for k in range(losses.shape[1]):
            played[t, k] = weights[k]
        if UPDATE(memory, rates, losses[t]) is not None:
            return False
    return True


def _run_hinted(memory: AnyMemory, rates: NamedTuple, losses: Matrix, hints: Matrix, played: Matrix) -> bool:
    weights = memory.weights
    for t in range(losses.shape[0]):
        HINT(memory, rates, hints[t])
        for k in range(losses.shape[1]):
            played[t, k] = weights[k]
        if UPDATE(memory, rates, losses[t]) is not None:
            return False
    return True


def _run_bandit(memory: NamedTuple, rates: NamedTuple, losses: Matrix, actions: Actions) -> bool:
    for t in range(losses.shape[0]):
        action, probability = CHOOSE(memory, rates)
        actions[t] = action
        if UPDATE(memory, rates, action, losses[t, action], probability) is not None:
            return False
    return True


@generic_kernel
def as_it_is(parts: T) -> T:
    """Return the parts of a tuple."""
    return parts


class Crossing(NamedTuple):
    """How NamedTuples of arrays and numbers are passed to compiled code."""

    pack: Kernel  # packs them, in Python
    kind: Kernel  # the Numba type of the result, from their types
    rebuild: Kernel  # the function that unpacks them in compiled code, from the same types


_AS_TABLE = Crossing(address_table, lambda *_: types.int64[::1], lambda *kinds: mark_digest(*rebuilder(*kinds)))
_AS_TUPLE = Crossing(lambda *parts: parts, lambda *kinds: types.Tuple(kinds), lambda *_: as_it_is)


def first_that_compiles(compiled: Callable[[Crossing], T]) -> tuple[Crossing, T]:
    """Compile for a table, and for a tuple if that fails: then either the kernel is wrong, or Numba has changed."""
    if "tables" in IN_USE and not numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        with contextlib.suppress(Exception):
            return _AS_TABLE, compiled(_AS_TABLE)
    return _AS_TUPLE, compiled(_AS_TUPLE)


class LiveRounds(NamedTuple):
    """The entry points of a state for live rounds, and its table of addresses, their first argument."""

    table: object
    step: Kernel  # takes losses, or the action, its loss and its probability
    choose: Kernel  # of a learner with bandit feedback
    hint: Kernel  # of a learner that takes hints
    arrays: NamedTuple  # those at the addresses: they live as long as the table


def live_rounds(kernels: Kernels, memory: NamedTuple, rates: NamedTuple) -> LiveRounds:
    """Return the entry points for a memory."""
    kinds = numba.typeof(memory), numba.typeof(rates)
    crossing, (choose, step) = _choose_and_step(kernels, *kinds)

    def hint(table: object, guess: Vector) -> object:  # compiled with the first hint: most learners never get one
        return _entry(kernels, _take, kernels.hint, crossing, *kinds)(table, guess)

    arrays = type(memory)._make(array.view() for array in memory)  # whatever is done to the others
    return LiveRounds(crossing.pack(arrays, rates), step, choose, hint if kernels.hint else unbound, arrays)


@functools.cache
def _choose_and_step(kernels: Kernels, *kinds: object) -> tuple[Crossing, tuple[Kernel, Kernel]]:
    def compiled(crossing: Crossing) -> tuple[Kernel, Kernel]:
        if kernels.choose is None:
            return unbound, _entry(kernels, _take, kernels.update, crossing, *kinds)
        choose = _entry(kernels, _choose, kernels.choose, crossing, *kinds)
        return choose, _entry(kernels, _update, kernels.update, crossing, *kinds)

    return first_that_compiles(compiled)


@functools.cache
def _entry(kernels: Kernels, template: Kernel, kernel: Kernel, crossing: Crossing, *kinds: object) -> Kernel:
    """Compile an entry point that passes its arguments to a kernel; where it can be, for their types only."""
    entry = clone(template, kernels.name, kernels.kinds, KERNEL=kernel, REBUILD=crossing.rebuild(*kinds))
    arguments = crossing.kind(*kinds), *_ARGUMENTS[template]
    closed = not numba.config.DISABLE_JIT and close(entry, *arguments)  # type: ignore[attr-defined]
    return entry if closed or template is not _take else _typed(entry)


def _typed(entry: Kernel) -> Kernel:
    """Return the entry with the `TypeError` that a compiled entry raises for other arguments."""

    def checked(table: object, losses: Vector) -> object:
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
    if bad < 0 and KERNEL(memory, rates, values) is not None:
        return RETURNED
    return bad


def _choose(table: Actions) -> tuple[int, float]:
    memory, rates = REBUILD(table)
    choice: tuple[int, float] = KERNEL(memory, rates)
    return choice


def _update(table: Actions, action: int, loss: float, probability: float) -> bool:
    """Check the loss and pass it on; the action and the probability, NaN where there is none, were checked.

    Return whether the loss is in [0, 1] and the kernel returned nothing, as it must.
    """
    memory, rates = REBUILD(table)
    if not 0.0 <= loss <= 1.0:
        return False
    return KERNEL(memory, rates, action, loss, probability) is None


_ARGUMENTS: dict[Kernel, tuple[object, ...]] = {  # their types, after the table
    _take: (types.float64[::1],),
    _choose: (),
    _update: (types.int64, types.float64, types.float64),
}
