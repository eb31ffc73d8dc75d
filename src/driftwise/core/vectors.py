"""Vector operations for kernels, which must not allocate memory: NumPy's reductions and copies may."""

from __future__ import annotations

from typing import Any

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.types import Actions, Flags, Vector

__all__ = ["assign", "flags", "largest", "least"]


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
