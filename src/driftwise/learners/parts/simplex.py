r"""Projection on the simplex $\{y \ge 0, \sum_k y_k = 1\}$, for the gradient learners."""

from __future__ import annotations

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.types import Vector
from driftwise.core.vectors import largest, least

__all__ = ["proximal_step"]


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
