r"""Realised quantities: how much the losses themselves changed, as pathwise bounds use it.

With $d_t = \ell_t - \ell_{t-1}$ and $\ell_0 = 0$: $D = \sum \|d_t\|_2^2$, $D_\infty = \sum \|d_t\|_\infty^2$,
$\sum \mathrm{osc}(d_t)^2$ with $\mathrm{osc}(d) = \max d - \min d$, $\tilde V = \sum \|d_t\|_\infty$ (Jadbabaie et
al.), and $L^*$, the least loss of a sequence with at most $\Gamma$ segments.

All but $L^*$ come from one pass over the losses. $L^*$ takes $\Gamma K$ operations a round, so it is computed only on
request. It is not convex in $\Gamma$, so a penalty per segment cannot replace the count: with the losses (0, 1),
(3/4, 0), (3/4, 0), (0, 1) it is 3/2, 1 and 0 for one, two and three segments.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.types import Matrix, Vector
from driftwise.core.validation import first_bad_loss
from driftwise.core.vectors import add_term, read_sum, write_sum
from driftwise.regret.comparators import Dynamic, Follower, Switched

_MOST_SEGMENTS = 256  # the dynamic program takes segments x actions operations a round


class Realised(NamedTuple):
    """The realised quantities of one run."""

    deviation: float  # D
    deviation_max: float  # D_inf
    oscillation: float  # the sum of squared oscillations
    movement: float  # V-tilde
    best_loss: float  # L*; NaN if not requested, if Gamma is unknown, or too large for the dynamic program


def with_best_loss(realised: Realised, other: Realised) -> Realised:
    """Return the quantities of one run, computed twice, with the best loss if either has it."""
    return other if math.isnan(realised.best_loss) else realised


def best_follower(measures: Measures) -> Follower | None:
    """Return the dynamic program for L* of a run, None if it would take too long."""
    if measures.segments >= measures.n_rounds:
        return Dynamic().start(measures.n_actions)
    return Switched(measures.segments).start(measures.n_actions) if measures.segments <= _MOST_SEGMENTS else None


class RealisedAccumulator:
    """Compute the realised quantities block by block, and the loss of a follower on the losses if there is one."""

    def __init__(self, n_actions: int, best: Follower | None = None) -> None:
        self._last = np.zeros(n_actions)
        self._sums = np.zeros((4, 2))
        self._best = best
        self._best_loss = math.nan

    def update(self, losses: Matrix) -> int:
        """Add a block; return the index of the first loss outside [0, 1], row by row, or -1. NaN is outside."""
        bad = _measure(self._sums, self._last, losses)
        if self._best is not None and bad < 0:
            self._best_loss = float(self._best.follow(losses, np.array([len(losses) - 1]))[0])
        return bad

    def realised(self) -> Realised:
        """Return the quantities so far."""
        deviation, deviation_max, oscillation, movement = (float(s) for s in self._sums.sum(axis=1))
        return Realised(deviation, deviation_max, oscillation, movement, self._best_loss)


@kernel
def _measure(sums: Matrix, last: Vector, losses: Matrix) -> int:
    n_actions: int = losses.shape[1]
    deviation, deviation_max = read_sum(sums[0]), read_sum(sums[1])
    oscillation, movement = read_sum(sums[2]), read_sum(sums[3])
    for t in range(losses.shape[0]):
        squared = 0.0
        low = np.inf
        high = -np.inf
        n_good = 0
        for k in range(n_actions):
            loss = losses[t, k]
            n_good += 0.0 <= loss <= 1.0  # a sum instead of a branch: this loop takes most of the time
            change = loss - last[k]
            squared += change * change
            low = min(low, change)
            high = max(high, change)
            last[k] = loss
        if n_good < n_actions:
            return t * n_actions + first_bad_loss(losses[t])
        largest = max(abs(low), abs(high))
        deviation = add_term(deviation, squared)
        deviation_max = add_term(deviation_max, largest * largest)
        oscillation = add_term(oscillation, (high - low) * (high - low))
        movement = add_term(movement, largest)
    write_sum(sums[0], deviation)
    write_sum(sums[1], deviation_max)
    write_sum(sums[2], oscillation)
    write_sum(sums[3], movement)
    return -1
