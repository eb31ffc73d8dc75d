r"""What the losses themselves did: the realised quantities that pathwise bounds speak of.

With $d_t = \ell_t - \ell_{t-1}$ and $\ell_0 = 0$: $D = \sum \|d_t\|_2^2$, $D_\infty = \sum \|d_t\|_\infty^2$,
$\sum \mathrm{osc}(d_t)^2$ with $\mathrm{osc}(d) = \max d - \min d$, $\tilde V = \sum \|d_t\|_\infty$ (Jadbabaie et
al.), and $L^*$, the least loss of a sequence with at most $\Gamma$ segments.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.sums import add
from driftwise.core.types import Matrix, Vector
from driftwise.results.comparators import Dynamic, Follower, Switched

__all__ = ["Realised", "RealisedMeter"]

_MOST_SEGMENTS = 256  # the dynamic program takes segments x actions operations a round


class Realised(NamedTuple):
    """The realised quantities of one run."""

    deviation: float  # D
    deviation_max: float  # D_inf
    oscillation: float  # the sum of squared oscillations
    movement: float  # V-tilde
    best_loss: float  # L*; NaN where Gamma is unknown, or too large for the dynamic program


class RealisedMeter:
    """Measure losses block by block."""

    def __init__(self, n_actions: int, n_rounds: int, segments: int | None) -> None:
        self._last = np.zeros(n_actions)
        self._sums = np.zeros((4, 2))
        self._best: Follower | None = None
        self._best_loss = math.nan
        if segments is not None and segments >= n_rounds:
            self._best = Dynamic().start(n_actions)
        elif segments is not None and segments <= _MOST_SEGMENTS:
            self._best = Switched(segments).start(n_actions)

    def update(self, losses: Matrix) -> None:
        """Take in a block."""
        _measure(self._sums, self._last, losses)
        if self._best is not None:
            self._best_loss = float(self._best.follow(losses, np.array([len(losses) - 1]))[0])

    def realised(self) -> Realised:
        """Return the quantities so far."""
        deviation, deviation_max, oscillation, movement = (float(s) for s in self._sums.sum(axis=1))
        return Realised(deviation, deviation_max, oscillation, movement, self._best_loss)


@kernel
def _measure(sums: Matrix, last: Vector, losses: Matrix) -> None:
    for t in range(losses.shape[0]):
        squared = 0.0
        low = np.inf
        high = -np.inf
        for k in range(losses.shape[1]):
            change = losses[t, k] - last[k]
            squared += change * change
            low = min(low, change)
            high = max(high, change)
            last[k] = losses[t, k]
        largest = max(abs(low), abs(high))
        add(sums[0], squared)
        add(sums[1], largest * largest)
        add(sums[2], (high - low) * (high - low))
        add(sums[3], largest)
