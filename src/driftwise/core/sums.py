"""Sums in program order, with the rounding errors kept.

A. Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", ZAMM 54 (1974).

A sum that runs over many blocks must not depend on where the blocks end: NumPy's pairwise sums do, these do not.
"""

from __future__ import annotations

from driftwise.core.kernel import kernel
from driftwise.core.types import Vector

__all__ = ["add"]


@kernel
def add(total: Vector, value: float) -> float:
    """Add to `total` (two numbers: the sum and what rounding lost) and return the corrected sum."""
    before = float(total[0])
    after = before + value
    if abs(before) >= abs(value):
        total[1] += (before - after) + value
    else:
        total[1] += (value - after) + before
    total[0] = after
    return after + float(total[1])
