"""The kernel of a round of a grid, put together from those of its banks and its rule.

The memory of a grid has the fields of `GRID_FIELDS`, then those of each bank, then those of the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple

from driftwise.core.errors import InvalidInput
from driftwise.core.kernel import clone, generic_kernel, kernel, unbound
from driftwise.core.memory_fields import Field, distribution, scratch
from driftwise.core.types import Matrix, Vector
from driftwise.core.vectors import least
from driftwise.learners.contract import ExpertLearner
from driftwise.learners.contract.memory_checks import returned_type
from driftwise.learners.parts.banks import bank_parts
from driftwise.learners.parts.exponential_weights import dot
from driftwise.learners.parts.meta_learner import BASE_RULE, can_be_base
from driftwise.learners.parts.stacked_memory import inner_fields, place

__all__ = ["BankRates", "GridParts", "GridRates", "grid_parts", "mix"]

Kernel = Callable[..., Any]
UPDATE: Kernel = unbound
HINT: Kernel = unbound
BANKS: Kernel = unbound
REST: Kernel = unbound
KIND: Kernel = unbound
WRITE: Kernel = unbound
TAKES_HINTS = False
FIRST = WEIGHTS = LAST = 0

GRID_FIELDS: dict[str, Field | None] = {
    "weights": distribution("actions"),  # of the next round
    "base_weights": distribution("bases", "actions"),  # of the next round
    "base_losses": scratch("bases"),  # in the round, and then those of the next weights if the losses repeat
    "rule_weights": distribution("bases"),  # of the bases in the next round
}


class BankRates(NamedTuple):
    """The parameters of a bank, and its rows in the weights of all bases."""

    first: int
    last: int
    rates: Any


class GridRates(NamedTuple):
    """The parameters of the rule and of the banks."""

    rule: Any
    banks: tuple[BankRates, ...]


class GridParts(NamedTuple):
    """The declarations of a grid's memory, its kernels, and the NamedTuples that they read."""

    fields: dict[str, Field | None]
    update: Kernel
    hint: Kernel | None
    kinds: tuple[type, ...]


@kernel
def mix(shares: Vector, base_weights: Matrix, weights: Vector) -> None:
    """Write the bases' weights mixed by their shares, normalised against rounding."""
    weights[:] = 0.0
    for b in range(shares.size):
        for k in range(weights.size):
            weights[k] += shares[b] * base_weights[b, k]
    mass = 0.0
    for k in range(weights.size):
        mass += weights[k]
    for k in range(weights.size):
        weights[k] /= mass


@kernel
def _write_base_losses(base_weights: Matrix, losses: Vector, base_losses: Vector) -> None:
    for b in range(base_losses.size):
        base_losses[b] = min(1.0, dot(base_weights[b], losses))  # weights may sum to a little over 1


@kernel
def _write_base_losses_above_least(base_weights: Matrix, losses: Vector, base_losses: Vector) -> None:
    low = least(losses)
    for b in range(base_losses.size):
        above = 0.0  # exactly 0 for equal losses, whatever the rounding of the weights
        for k in range(losses.size):
            above += base_weights[b, k] * (losses[k] - low)
        base_losses[b] = min(1.0, above)


@generic_kernel
def _take_no_hint(rule: Any, rates: Any, guess: Vector) -> None:
    """Replace the hint of a rule that takes none."""


def grid_parts(
    name: str, rule: type[ExpertLearner], banks: Sequence[type], above_least: bool, hinted: bool
) -> GridParts:
    """Return the parts of a grid with these kinds of banks and this class of rule."""
    fields, advances, guesses, kinds = dict(GRID_FIELDS), [], [], [GridRates, BankRates]
    for i, kind in enumerate(banks):
        bank = bank_parts(kind)
        kernels = {**bank.kernels, **place(bank.memory_type, len(fields)), "NUMBER": i}
        advances.append(clone(bank.template, f"{name}-bank{i}", **kernels))
        if hinted:
            if bank.hint is None:
                raise InvalidInput(f"{name}: the bases of a grid that takes hints must take them, {kind.__name__} not.")
            guesses.append(clone(bank.template, f"{name}-hint{i}", **{**kernels, "UPDATE": bank.hint}))
        fields |= inner_fields(bank.memory_type, f"bank{i}", *bank.axes)
        kinds += [bank.memory_type, *bank.kinds]
    if not can_be_base(rule):
        raise InvalidInput(f"{name}: `rule` must be {BASE_RULE}, got {rule.__name__}.")
    own, rule_type = rule.compiled_loops.kernels, returned_type(rule, "first_memory")
    parts = {
        "WRITE": _write_base_losses_above_least if above_least else _write_base_losses,
        "HINT": own.hint or _take_no_hint,
        "TAKES_HINTS": own.hint is not None,
        **place(rule_type, len(fields)),
    }
    update = clone(_update, name, inline=True, UPDATE=own.update, BANKS=_all_of(name, advances), **parts)
    hint = clone(_hint, name, inline=True, BANKS=_all_of(name, guesses), **parts) if hinted else None
    return GridParts(fields | inner_fields(rule_type, "rule"), update, hint, (*kinds, rule_type, *own.kinds))


def _all_of(name: str, kernels: Sequence[Kernel]) -> Kernel:
    """Return the kernel that calls some kernels in turn."""
    return reduce(lambda rest, one: clone(_advance_both, name, BANKS=one, REST=rest), reversed(kernels))


def _update(memory: Any, rates: GridRates, losses: Vector) -> None:
    """Play a round of the rule and of the banks, and mix the next weights."""
    WRITE(memory.base_weights, losses, memory.base_losses)
    rule = KIND(*memory[FIRST:WEIGHTS], memory.rule_weights, *memory[WEIGHTS:LAST])
    UPDATE(rule, rates.rule, memory.base_losses)
    BANKS(memory, rates, losses)
    if TAKES_HINTS:
        WRITE(memory.base_weights, losses, memory.base_losses)
        HINT(rule, rates.rule, memory.base_losses)
    mix(memory.rule_weights, memory.base_weights, memory.weights)


def _hint(memory: Any, rates: GridRates, guess: Vector) -> None:
    """Compute the weights of the bases, of the rule and of the grid with a guess of the next losses."""
    BANKS(memory, rates, guess)
    if TAKES_HINTS:
        rule = KIND(*memory[FIRST:WEIGHTS], memory.rule_weights, *memory[WEIGHTS:LAST])
        WRITE(memory.base_weights, guess, memory.base_losses)
        HINT(rule, rates.rule, memory.base_losses)
    mix(memory.rule_weights, memory.base_weights, memory.weights)


def _advance_both(memory: Any, rates: GridRates, losses: Vector) -> None:
    BANKS(memory, rates, losses)
    REST(memory, rates, losses)
