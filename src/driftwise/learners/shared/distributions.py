"""Distributions over actions: exponential weights, uniform sharing, projection on the simplex, draws."""

from __future__ import annotations

import numpy as np

from driftwise.core.kernel import generic_kernel, kernel
from driftwise.core.random import draw_from, next_uniform
from driftwise.core.types import Vector, Words
from driftwise.core.vectors import largest, least
from driftwise.learners.base.loops import AnyMemory, AnyRates

RAREST = 1e-100  # no action with a smaller probability is ever drawn; the inverse can be cubed without overflow


@kernel
def dot(vector: Vector, other: Vector) -> float:
    """Return the inner product, summed in the order of the actions."""
    total = 0.0
    for k in range(vector.size):
        total += vector[k] * other[k]
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


@kernel
def _project(point: Vector) -> None:
    """Project on the simplex in place: raise the threshold until no more entries fall below it (Michelot, 1986)."""
    threshold = largest(point) - 1.0  # never too high: the largest weight is at most 1
    fallen = -1
    while True:
        below = 0
        total = 0.0
        for k in range(point.size):
            # Two comparisons, not one stored result: that would become a branch, which is hard to predict here.
            below += point[k] <= threshold
            total += point[k] if point[k] > threshold else 0.0
        if below <= fallen:
            break
        fallen = below
        threshold = (total - 1.0) / (point.size - fallen)
    for k in range(point.size):
        point[k] = max(0.0, point[k] - threshold)


@kernel
def proximal_step(start: Vector, losses: Vector, step: float, out: Vector) -> None:
    r"""Write $\arg\min_y \langle \ell, y \rangle + \frac{1}{2s} \|y - x\|^2$ over the simplex, $s$ = `step`.

    That is the projection of $x - s \ell$. For $s = \infty$ it is the limit: the projection of $x$ on the face
    spanned by the actions of least loss.
    """
    lowest = least(losses)
    if step == np.inf:
        for k in range(out.size):
            out[k] = start[k] if losses[k] == lowest else -np.inf
    else:
        # A shift common to all actions does not change the projection; without one, large steps keep their precision.
        for k in range(out.size):
            out[k] = start[k] - step * (losses[k] - lowest)
    _project(out)


@kernel
def draw(probabilities: Vector, generator: Words) -> tuple[int, float]:
    """Draw an action; return it with its probability."""
    action = draw_from(probabilities, next_uniform(generator))
    return action, min(1.0, probabilities[action])  # rounding may leave it a little above 1


@generic_kernel
def draw_action(memory: AnyMemory, rates: AnyRates) -> tuple[int, float]:  # noqa: ARG001
    """Choose an action by the probabilities in the memory."""
    return draw(memory.probabilities, memory.generator)


@kernel
def chance(passed: float, own: float, rarest: float) -> float:
    """Return the probability passed, or the learner's own where it is NaN, but at least `rarest` and `RAREST`.

    No learner draws an action with a smaller probability; with one that a caller passes the estimate would overflow.
    """
    return max(own if np.isnan(passed) else passed, rarest, RAREST)
