"""Vector operations and sums for kernels, which must not allocate memory: NumPy's reductions and copies may.

A sum over many blocks must not depend on the block size. NumPy's pairwise sums do; compensated sums, which add terms in
order and keep their rounding errors, do not (A. Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation
endlicher Summen", ZAMM 54, 1974).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.types import Actions, Flags, Vector


@kernel
def least(values: Vector) -> float:
    """Return the smallest value."""
    best: float = values[0]
    for k in range(1, values.size):
        best = min(best, values[k])
    return best


@kernel
def largest(values: Vector) -> float:
    """Return the largest value."""
    best: float = values[0]
    for k in range(1, values.size):
        best = max(best, values[k])
    return best


@kernel
def assign(target: np.ndarray[Any, Any], source: np.ndarray[Any, Any]) -> None:
    """Copy a vector into another of its length."""
    for k in range(target.size):
        target[k] = source[k]


def flags(length: int, places: Actions) -> Flags:
    """Return a vector that is True at the given places.

    >>> flags(4, np.array([0, 2])).tolist()
    [True, False, True, False]
    """
    vector: Flags = np.zeros(length, np.bool_)
    vector[places] = True
    return vector


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
