r"""The measures of a path, added up round by round while the means go by.

With the actual means $\mu_t$ and $\mu_0 = 0$ (paper, eq. (1)), after $t$ rounds:

$$ \Gamma_t = 1 + \sum_{2 \le s \le t} 1[\mu_s \ne \mu_{s-1}], \quad
   V_t = \sum_{s \le t} \|\mu_s - \mu_{s-1}\|_\infty, \quad
   \Lambda_t = \sum_{s \le t} \sum_k \mathrm{Var}(\ell_{s,k}) . $$

Sums are compensated and strictly sequential: a million rounds lose nothing, and the size of the blocks is not seen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from driftwise.core.compensated_sums import add, loaded, plus, store
from driftwise.core.errors import InvalidInput
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.types import Matrix, Vector
from driftwise.core.vectors import assign

__all__ = ["MeasuresAccumulator", "add_all", "summed"]

Counts = npt.NDArray[np.int64]
_MOST_CHANGES = 1000  # with more, nobody wants to know when


class Totals(NamedTuple):
    """What the meter remembers; each sum is a pair, the running total and what rounding took from it."""

    previous: Vector  # the last means seen
    changes: Counts  # the rounds at which they changed, as many as there is room for
    counts: Counts  # rounds, segments
    drift: Vector
    variance: Vector
    within: Vector
    squared: Vector


@kernel
def add_all(total: Vector, terms: Matrix) -> None:
    """Add every term, row by row, to a compensated sum."""
    for t in range(terms.shape[0]):
        for k in range(terms.shape[1]):
            add(total, terms[t, k])


def summed(total: Vector) -> float:
    """Read a compensated sum."""
    return float(total[0] + total[1])


@kernel
def _moments(before: Vector, means: Vector, variances: Vector) -> tuple[float, float, float]:
    """Return how far the means moved, in the maximum norm and squared in the Euclidean, and the total variance."""
    farthest, squares, scatter = 0.0, 0.0, 0.0
    for k in range(means.size):
        move = means[k] - before[k]
        farthest = max(farthest, abs(move))
        squares += move * move
        scatter += variances[k]
    return farthest, squares, scatter


@kernel
def _count(totals: Totals, farthest: float, n_rounds: int) -> None:
    """Count rounds whose first came with a move, and the others with none."""
    if totals.counts[0] == 0:
        totals.counts[1] = 1
    elif farthest > 0.0:  # subtraction underflows gradually, so unequal means always differ
        if totals.counts[1] <= totals.changes.size:
            totals.changes[totals.counts[1] - 1] = totals.counts[0]
        totals.counts[1] += 1
        add(totals.within, farthest)
    totals.counts[0] += n_rounds


@kernel
def _record(totals: Totals, means: Matrix, variances: Matrix, marks: Counts, out: Matrix) -> None:
    drift, variance, squared = loaded(totals.drift), loaded(totals.variance), loaded(totals.squared)
    before = totals.previous
    mark = 0
    for t in range(means.shape[0]):
        farthest, squares, scatter = _moments(before, means[t], variances[t])
        before = means[t]
        _count(totals, farthest, 1)
        drift = plus(drift, farthest)
        variance = plus(variance, scatter)
        squared = plus(squared, squares)
        while mark < marks.size and marks[mark] == t:
            out[mark, 0] = totals.counts[1]
            out[mark, 1] = drift[0] + drift[1]
            out[mark, 2] = variance[0] + variance[1]
            out[mark, 3] = totals.within[0] + totals.within[1]
            out[mark, 4] = squared[0] + squared[1]
            mark += 1
    assign(totals.previous, before)
    store(totals.drift, drift)
    store(totals.variance, variance)
    store(totals.squared, squared)


@kernel
def _repeat(totals: Totals, means: Matrix, variances: Matrix, lengths: Counts) -> None:
    for j in range(means.shape[0]):
        farthest, squares, scatter = _moments(totals.previous, means[j], variances[j])
        assign(totals.previous, means[j])
        _count(totals, farthest, lengths[j])
        add(totals.drift, farthest)  # once: in the other rounds nothing moves, and zeros change no sum
        add(totals.squared, squares)
        variance = loaded(totals.variance)
        for _ in range(lengths[j]):
            variance = plus(variance, scatter)
        store(totals.variance, variance)


_NO_MARKS, _NO_OUT = np.empty(0, np.int64), np.empty((0, 5))


class MeasuresAccumulator:
    """Add up the measures of a path while its blocks pass.

    >>> meter = MeasuresAccumulator(n_actions=2)
    >>> meter.update(np.array([[0.5, 0.25], [0.5, 0.75]]), np.zeros((2, 2)))
    >>> meter.measures().segments, meter.measures().drift
    (2, 1.0)
    """

    def __init__(self, n_actions: int) -> None:
        self.n_actions = n_actions
        sums = (np.zeros(2) for _ in range(4))
        self._totals = Totals(np.zeros(n_actions), np.zeros(_MOST_CHANGES, np.int64), np.zeros(2, np.int64), *sums)

    @property
    def n_rounds(self) -> int:
        """The rounds seen so far."""
        return int(self._totals.counts[0])

    def update(self, means: Matrix, variances: Matrix) -> None:
        """Take in a block of actual means and variances, (n, n_actions) each."""
        _record(self._totals, means, variances, _NO_MARKS, _NO_OUT)

    def repeat(self, means: Matrix, variances: Matrix, lengths: Counts) -> None:
        """Take in rows that each stay for so many rounds; the same, to the last bit, as a row for every round."""
        _repeat(self._totals, means, variances, lengths)

    def record(self, means: Matrix, variances: Matrix, marks: Counts, out: Matrix) -> None:
        """Take in a block, and write the measures after each marked round of it.

        `marks` are increasing offsets into the block. The columns of `out`, (len(marks), 5), are segments,
        drift, variance, drift_within and squared_drift.
        """
        _record(self._totals, means, variances, marks, out)

    def measures(self) -> Measures:
        """Return the measures of the rounds seen so far."""
        totals = self._totals
        if self.n_rounds == 0:
            raise InvalidInput("MeasuresAccumulator: there is nothing to measure before the first round.")
        changes = int(totals.counts[1]) - 1
        return Measures(
            n_actions=self.n_actions,
            n_rounds=self.n_rounds,
            segments=int(totals.counts[1]),
            drift=summed(totals.drift),
            variance=summed(totals.variance),
            drift_within=summed(totals.within),
            squared_drift=summed(totals.squared),
            change_points=tuple(totals.changes[:changes].tolist()) if changes <= _MOST_CHANGES else None,
        )
