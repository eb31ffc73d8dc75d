"""Sums in program order, with the rounding errors kept.

A. Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", ZAMM 54 (1974).

A sum that runs over many blocks must not depend on where the blocks end: NumPy's pairwise sums do, these do not.
"""

from __future__ import annotations

from driftwise.core.kernel import kernel
from driftwise.core.types import Vector

__all__ = ["SumPair", "add", "add_term", "read_sum", "write_sum"]

SumPair = tuple[float, float]  # the sum, and what rounding lost


@kernel
def add_term(total: SumPair, value: float) -> SumPair:
    """Return a sum with one more term.

    A loop over rounds that holds its sums in variables, and not in arrays, need not wait for memory.
    """
    before, lost = total
    after = before + value
    if abs(before) >= abs(value):
        lost += (before - after) + value
    else:
        lost += (value - after) + before
    return after, lost


@kernel
def read_sum(total: Vector) -> SumPair:
    """Return a sum that an array holds."""
    return total[0], total[1]


@kernel
def write_sum(total: Vector, value: SumPair) -> None:
    """Put a sum into an array."""
    total[0], total[1] = value


@kernel
def add(total: Vector, value: float) -> float:
    """Add to `total` (two numbers: the sum and what rounding lost) and return the corrected sum."""
    after, lost = add_term(read_sum(total), value)
    total[0], total[1] = after, lost
    return after + lost
