"""Exponential weights and uniform sharing."""

from __future__ import annotations

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.types import Vector
from driftwise.core.vectors import least

__all__ = ["dot", "exponential_weights", "share"]


@kernel
def dot(one: Vector, other: Vector) -> float:
    """Return the inner product, summed in the order of the actions."""
    total = 0.0
    for k in range(one.size):
        total += one[k] * other[k]
    return total


@kernel
def exponential_weights(totals: Vector, rate: float, weights: Vector) -> None:
    r"""Write $w_k \propto e^{-\eta L_k}$; for $\eta = \infty$ the limit, uniform over the smallest totals."""
    lowest = least(totals)  # subtracting it keeps every exponent <= 0
    mass = 0.0
    for k in range(totals.size):
        above = totals[k] - lowest
        if rate == np.inf:
            weights[k] = 1.0 if above == 0.0 else 0.0
        else:
            weights[k] = np.exp(-rate * above)
        mass += weights[k]
    for k in range(totals.size):
        weights[k] /= mass


@kernel
def share(weights: Vector, switch_rate: float) -> None:
    r"""Mix the weights with uniform ones: $w_k \leftarrow (1 - \alpha) w_k + \alpha / K$."""
    even = switch_rate / weights.size
    for k in range(weights.size):
        weights[k] = (1.0 - switch_rate) * weights[k] + even
