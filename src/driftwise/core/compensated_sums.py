"""Compensated sums: sequential sums that keep their rounding errors.

A. Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", ZAMM 54 (1974).

A sum over many blocks must not depend on the block size. NumPy's pairwise sums do, these do not.
"""

from __future__ import annotations

from driftwise.core.kernel import kernel
from driftwise.core.types import Vector

__all__ = ["SumPair", "add", "add_term", "read_sum", "write_sum"]

SumPair = tuple[float, float]  # the sum and its rounding error


@kernel
def add_term(total: SumPair, value: float) -> SumPair:
    """Return a sum with one more term.

    Loops over rounds keep their sums in variables and not in arrays, because access to memory would slow them down.
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
    """Return the sum that an array holds."""
    return total[0], total[1]


@kernel
def write_sum(total: Vector, value: SumPair) -> None:
    """Store a sum in an array."""
    total[0], total[1] = value


@kernel
def add(total: Vector, value: float) -> float:
    """Add a value to the sum in `total` (the sum and its rounding error) and return the corrected sum."""
    after, lost = add_term(read_sum(total), value)
    total[0], total[1] = after, lost
    return after + lost
