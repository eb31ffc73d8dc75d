r"""Euclidean geometry of the simplex $\{y \ge 0, \sum_k y_k = 1\}$, shared by the gradient learners."""

from __future__ import annotations

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.types import Vector

__all__ = ["proximal_step"]


@kernel
def proximal_step(start: Vector, losses: Vector, step: float, out: Vector) -> None:
    r"""Write $\arg\min_y \langle \ell, y \rangle + \frac{1}{2s} \|y - x\|^2$ over the simplex, $s$ = `step`.

    That is the projection of $x - s \ell$. For $s = \infty$ it is the limit: the projection of $x$ on the face
    spanned by the actions of least loss.
    """
    least = losses.min()
    if step == np.inf:
        for k in range(out.size):
            out[k] = start[k] if losses[k] == least else -np.inf
    else:
        # The projection does not see a common shift; without one, huge steps keep their precision.
        for k in range(out.size):
            out[k] = start[k] - step * (losses[k] - least)
    _project(out)


@kernel
def _project(point: Vector) -> None:
    """Project on the simplex in place: raise the threshold until nothing more falls below (Michelot, 1986)."""
    threshold = point.max() - 1.0  # never too high: the largest weight is at most 1
    above = point.size + 1
    while True:
        kept = 0
        total = 0.0
        for k in range(point.size):  # selections, not branches: which actions fall is hard to predict
            inside = point[k] > threshold
            kept += 1 if inside else 0
            total += point[k] if inside else 0.0
        if kept >= above:
            break
        above = kept
        threshold = (total - 1.0) / kept
    for k in range(point.size):
        point[k] = max(0.0, point[k] - threshold)
