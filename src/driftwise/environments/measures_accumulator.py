r"""Accumulates the measures of a run, block by block.

With the actual means $\mu_t$ and $\mu_0 = 0$ (paper, eq. (1)), after $t$ rounds:

$$ \Gamma_t = 1 + \sum_{2 \le s \le t} 1[\mu_s \ne \mu_{s-1}], \quad
   V_t = \sum_{s \le t} \|\mu_s - \mu_{s-1}\|_\infty, \quad
   \Lambda_t = \sum_{s \le t} \sum_k \mathrm{Var}(\ell_{s,k}) . $$

Sums are compensated and sequential: they are accurate after a million rounds and do not depend on the block size.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from driftwise.core.errors import InvalidInput
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.types import Flags, Matrix, Vector
from driftwise.core.vectors import add, add_term, assign, flags, read_sum, write_sum

Counts = npt.NDArray[np.int64]
_COLUMNS = 5  # segments and the four sums
_MOST_CHANGES = 1000  # with more, change points are not recorded


class Totals(NamedTuple):
    """State of the accumulator; each sum is a pair, the running total and its rounding error."""

    previous: Vector  # the means of the last round
    changes: Counts  # the first rounds at which they changed
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
    """Return the value of a compensated sum."""
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
    """Count `n_rounds` rounds; the means moved by `farthest` in the first and not in the others."""
    if totals.counts[0] == 0:
        totals.counts[1] = 1
    elif farthest > 0.0:  # subtraction underflows gradually, so unequal means always differ
        if totals.counts[1] <= totals.changes.size:
            totals.changes[totals.counts[1] - 1] = totals.counts[0]
        totals.counts[1] += 1
        add(totals.within, farthest)
    totals.counts[0] += n_rounds


@kernel
def _add(totals: Totals, means: Matrix, variances: Matrix, marked: Flags, cumulative: Matrix) -> None:
    drift, variance, squared = read_sum(totals.drift), read_sum(totals.variance), read_sum(totals.squared)
    before = totals.previous
    for t in range(means.shape[0]):
        farthest, squares, scatter = _moments(before, means[t], variances[t])
        before = means[t]
        _count(totals, farthest, 1)
        drift = add_term(drift, farthest)
        variance = add_term(variance, scatter)
        squared = add_term(squared, squares)
        if marked[t]:
            cumulative[t, 0] = totals.counts[1]
            cumulative[t, 1] = drift[0] + drift[1]
            cumulative[t, 2] = variance[0] + variance[1]
            cumulative[t, 3] = totals.within[0] + totals.within[1]
            cumulative[t, 4] = squared[0] + squared[1]
    assign(totals.previous, before)
    write_sum(totals.drift, drift)
    write_sum(totals.variance, variance)
    write_sum(totals.squared, squared)


@kernel
def _repeat(totals: Totals, means: Matrix, variances: Matrix, lengths: Counts) -> None:
    for j in range(means.shape[0]):
        farthest, squares, scatter = _moments(totals.previous, means[j], variances[j])
        assign(totals.previous, means[j])
        _count(totals, farthest, lengths[j])
        add(totals.drift, farthest)  # once: in the other rounds the means do not move
        add(totals.squared, squares)
        variance = read_sum(totals.variance)
        for _ in range(lengths[j]):
            variance = add_term(variance, scatter)
        write_sum(totals.variance, variance)


class MeasuresAccumulator:
    """Accumulates the measures of a run from its blocks of means and variances.

    >>> accumulator = MeasuresAccumulator(n_actions=2)
    >>> accumulator.update(np.array([[0.5, 0.25], [0.5, 0.75]]), np.zeros((2, 2)))
    >>> accumulator.measures().segments, accumulator.measures().drift
    (2, 1.0)
    """

    def __init__(self, n_actions: int) -> None:
        self.n_actions = n_actions
        sums = (np.zeros(2) for _ in range(4))
        self._totals = Totals(np.zeros(n_actions), np.zeros(_MOST_CHANGES, np.int64), np.zeros(2, np.int64), *sums)

    @property
    def n_rounds(self) -> int:
        """The number of rounds added so far."""
        return int(self._totals.counts[0])

    def update(self, means: Matrix, variances: Matrix) -> None:
        """Add a block of actual means and variances, (n, n_actions) each."""
        _add(self._totals, means, variances, np.zeros(len(means), np.bool_), np.empty((0, _COLUMNS)))

    def repeat(self, means: Matrix, variances: Matrix, lengths: Counts) -> None:
        """Add rows that each last `lengths` rounds; the result equals that of one row per round bit for bit."""
        _repeat(self._totals, means, variances, lengths)

    def record(self, means: Matrix, variances: Matrix, marks: Counts, out: Matrix) -> None:
        """Add a block, and write the measures after each of its marked rounds.

        `marks` are increasing offsets into the block. The columns of `out`, (len(marks), 5), are segments,
        drift, variance, drift_within and squared_drift.
        """
        cumulative = np.empty((len(means), _COLUMNS))  # written at the marks only
        _add(self._totals, means, variances, flags(len(means), marks), cumulative)
        out[:] = cumulative[marks]

    def measures(self) -> Measures:
        """Return the measures of the rounds added so far."""
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
