r"""Euclidean geometry of the simplex $\{y \ge 0, \sum_k y_k = 1\}$, shared by the gradient learners."""

from __future__ import annotations

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.types import Vector

__all__ = ["proximal_step"]

_FAR = -4.0  # below every threshold: the largest coordinate is at least 0, and the threshold at most 1 less


@kernel
def proximal_step(start: Vector, losses: Vector, step: float, out: Vector) -> None:
    r"""Write $\arg\min_y \langle \ell, y \rangle + \frac{1}{2s} \|y - x\|^2$ over the simplex, $s$ = `step`.

    That is the projection of $x - s \ell$. For $s = \infty$ it is the limit: the projection of $x$ on the face
    spanned by the actions of least loss.
    """
    least = losses[0]  # a loop is several times faster than `losses.min()` on few actions
    for k in range(1, losses.size):
        least = losses[k] if losses[k] < least else least
    if step == np.inf:
        for k in range(out.size):
            out[k] = start[k] if losses[k] == least else _FAR
    else:
        # The projection does not see a common shift; without one, huge steps keep their precision.
        for k in range(out.size):
            moved = start[k] - step * (losses[k] - least)
            out[k] = moved if moved > _FAR else _FAR
    _project(out)


@kernel
def _project(point: Vector) -> None:
    """Project on the simplex in place: raise the threshold until nothing more falls below (Michelot, 1986)."""
    largest = point[0]
    for k in range(1, point.size):
        largest = point[k] if point[k] > largest else largest
    threshold = largest - 1.0  # never too high: the largest weight is at most 1
    above = point.size + 1.0
    while True:
        kept = 0.0
        total = 0.0
        for k in range(point.size):
            inside = 1.0 if point[k] > threshold else 0.0  # a factor, not a branch: who falls is hard to predict
            kept += inside
            total += inside * point[k]
        if kept >= above:
            break
        above = kept
        threshold = (total - 1.0) / kept
    for k in range(point.size):
        rest = point[k] - threshold
        point[k] = rest if rest > 0.0 else 0.0
