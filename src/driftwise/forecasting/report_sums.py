r"""What a running report keeps: its sums, with the kernels that add rows to them one after the other, rows, and times.

With $\ell_{t,k}$ the loss of expert $k$ in round $t$ and $m_t$ that of the mixture, an expert that is asleep has the
loss $m_t$: $\tilde\ell_{t,k}$ is $\ell_{t,k}$ if $k$ is awake, else $m_t$. Sums run over the scored rounds: those with
a truth, an expert that is awake, and a finite loss of the mixture.

Periods. A round is counted within its series, from 0, and belongs to the period $\lfloor t / 2^j \rfloor$. There are at
most `N_PERIODS`; the first round beyond them merges pairs of periods, and $j$ grows by 1. So one number of rounds gives
one division into periods, and nothing depends on the blocks in which the rows arrive.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from driftwise.core.errors import one_line
from driftwise.core.kernel import kernel
from driftwise.core.types import Actions, Matrix, Vector
from driftwise.forecasting.hindsight import extend_sequences
from driftwise.forecasting.real_values import LARGEST

__all__ = [
    "MOST_SWITCHES",
    "N_PERIODS",
    "KeptRows",
    "Losses",
    "PeriodTimes",
    "Rows",
    "Sums",
    "add_rows",
    "empty_sums",
    "first_fault",
    "prepare_rows",
]

N_PERIODS = 240
MOST_SWITCHES = 10
ROUNDS, SCORED, AFTER_TRUTH = range(3)  # columns of `series_counts`
MIXTURE, UNIFORM, LAST, MIXTURE_AFTER_TRUTH = range(4)  # columns of `series_losses`
WEIGHT, LOSS, SAME_ROUNDS, ASLEEP = range(4)  # rows of `period_experts`
WEIGHED, PERIOD_SCORED = range(2)  # columns of `period_counts`
NO_TRUTH, NO_FORECAST, NO_LOSS = range(3)  # places of `skipped`
FORECAST_FAULT, TRUTH_FAULT, COMBINED_FAULT, WEIGHT_FAULT, SERIES_FAULT = range(5)
N_FAULTS = 5
_MOST_ROWS, _MOST_NUMBERS = 100_000, 10_000_000  # that are kept
_FIRST_SPACE = 64  # rows
_MOST_CHARACTERS = 40  # of a time
PER_SERIES = ("series_counts", "series_losses", "last_truths", "sequences")


class Sums(NamedTuple):
    """All sums of a report, of $S$ series, $P$ periods, $K$ experts and at most $N$ switches."""

    series_counts: Actions  # (S, 3): rounds; scored ones; scored ones with an earlier truth
    series_losses: Matrix  # (S, 4): of the mixture, the uniform mean, the last truth; of the mixture after a truth
    last_truths: Vector  # (S,); NaN before the first
    sequences: Matrix  # (S, N + 1, K): the least loss of a sequence with at most n switches that ends with expert k
    period_counts: Actions  # (P, 2): rounds with weights; scored rounds
    period_losses: Matrix  # (P, 2): of the mixture, the uniform mean
    period_awake: Actions  # (P, K): scored rounds in which an expert was awake
    period_experts: Matrix  # (P, 4, K): weights; losses, and losses of the mixture, awake; of the mixture, asleep
    exponent: Actions  # (1,): a period has 2^exponent rounds
    skipped: Actions  # (3,): rounds without truth; with a truth but nobody awake; with both but no finite loss
    given: Actions  # (K,): forecasts given, also in rounds that are not scored
    gram: Matrix  # (K, K): sums of products of errors, where a missing forecast is that of the mixture; or (0, 0)


def empty_sums(n_experts: int, n_series: int, with_gram: bool) -> Sums:
    """Return sums before the first row."""
    size = n_experts if with_gram else 0
    return Sums(
        np.zeros((n_series, 3), np.int64),
        np.zeros((n_series, 4)),
        np.full(n_series, np.nan),
        np.zeros((n_series, MOST_SWITCHES + 1, n_experts)),
        np.zeros((N_PERIODS, 2), np.int64),
        np.zeros((N_PERIODS, 2)),
        np.zeros((N_PERIODS, n_experts), np.int64),
        np.zeros((N_PERIODS, 4, n_experts)),
        np.zeros(1, np.int64),
        np.zeros(3, np.int64),
        np.zeros(n_experts, np.int64),
        np.zeros((size, size)),
    )


class Rows(NamedTuple):
    """A block of rows, with space for what is computed from them."""

    forecasts: Matrix
    truths: Vector
    combined: Vector
    weights: Matrix
    series: Actions
    rounds: Actions  # within the series
    means: Vector  # of the awake experts
    lasts: Vector  # the truth before this one


class Losses(NamedTuple):
    """The losses of a block of rows; NaN where a forecast or the truth is missing."""

    experts: Matrix
    mixture: Vector
    uniform: Vector
    last: Vector


@kernel
def first_fault(rows: Rows, n_series: int) -> int:
    """Return the first broken rule as its row times `N_FAULTS` plus its kind, -1 if there is none."""
    for t in range(rows.truths.size):
        if abs(rows.truths[t]) > LARGEST:
            return t * N_FAULTS + TRUTH_FAULT
        if abs(rows.combined[t]) > LARGEST:
            return t * N_FAULTS + COMBINED_FAULT
        if not 0 <= rows.series[t] < n_series:
            return t * N_FAULTS + SERIES_FAULT
        for k in range(rows.weights.shape[1]):
            if abs(rows.forecasts[t, k]) > LARGEST:
                return t * N_FAULTS + FORECAST_FAULT
            if not 0.0 <= rows.weights[t, k] <= LARGEST:
                return t * N_FAULTS + WEIGHT_FAULT
    return -1


@kernel
def prepare_rows(sums: Sums, rows: Rows) -> None:
    """Write the round, the mean of the awake experts and the last truth of each row; count rounds and forecasts."""
    for t in range(rows.truths.size):
        s = rows.series[t]
        rows.rounds[t] = sums.series_counts[s, ROUNDS]
        sums.series_counts[s, ROUNDS] += 1
        total, n_awake = 0.0, 0
        for k in range(rows.forecasts.shape[1]):
            if not math.isnan(rows.forecasts[t, k]):
                total += rows.forecasts[t, k]
                n_awake += 1
                sums.given[k] += 1
        rows.means[t] = total / n_awake if n_awake > 0 else math.nan
        rows.lasts[t] = sums.last_truths[s]
        if not math.isnan(rows.truths[t]):
            sums.last_truths[s] = rows.truths[t]


@kernel
def _merge_periods(sums: Sums) -> None:
    """Merge pairs of periods; the second half becomes empty."""
    n_experts = sums.period_awake.shape[1]
    for i in range(N_PERIODS):
        kept = i < N_PERIODS // 2
        first, second = (2 * i, 2 * i + 1) if kept else (i, i)
        for j in range(2):
            counted = sums.period_counts[first, j] + sums.period_counts[second, j]
            lost = sums.period_losses[first, j] + sums.period_losses[second, j]
            sums.period_counts[i, j] = counted if kept else 0
            sums.period_losses[i, j] = lost if kept else 0.0
        for k in range(n_experts):
            n_awake = sums.period_awake[first, k] + sums.period_awake[second, k]
            sums.period_awake[i, k] = n_awake if kept else 0
            for j in range(4):
                total = sums.period_experts[first, j, k] + sums.period_experts[second, j, k]
                sums.period_experts[i, j, k] = total if kept else 0.0
    sums.exponent[0] += 1


@kernel
def _add_to_period(sums: Sums, period: int, filled: Vector, losses: Vector, mixture: float, uniform: float) -> None:
    """Add the losses of a row to its period; write those of the experts to `filled`, `mixture` where they sleep."""
    sums.period_counts[period, PERIOD_SCORED] += 1
    sums.period_losses[period, MIXTURE] += mixture
    sums.period_losses[period, UNIFORM] += uniform
    totals, n_awake = sums.period_experts[period], sums.period_awake[period]
    for k in range(losses.size):
        if math.isnan(losses[k]):
            filled[k] = mixture
            totals[ASLEEP, k] += mixture
        else:
            filled[k] = losses[k]
            totals[LOSS, k] += losses[k]
            totals[SAME_ROUNDS, k] += mixture
            n_awake[k] += 1


@kernel
def _add_to_series(counts: Actions, totals: Vector, mixture: float, uniform: float, last: float) -> None:
    counts[SCORED] += 1
    totals[MIXTURE] += mixture
    totals[UNIFORM] += uniform
    if not math.isnan(last):
        counts[AFTER_TRUTH] += 1
        totals[LAST] += last
        totals[MIXTURE_AFTER_TRUTH] += mixture


@kernel
def _add_errors(gram: Matrix, errors: Vector, forecasts: Vector, truth: float, combined: float) -> None:
    for k in range(errors.size):
        errors[k] = (combined if math.isnan(forecasts[k]) else forecasts[k]) - truth
    for i in range(errors.size):
        for j in range(errors.size):
            gram[i, j] += errors[i] * errors[j]


@kernel
def add_rows(sums: Sums, leasts: Matrix, filled: Vector, errors: Vector, rows: Rows, losses: Losses) -> None:
    """Add rows. `leasts` are those of `sequences`; `filled` and `errors` are space for one number per expert."""
    for t in range(rows.truths.size):
        while rows.rounds[t] >> sums.exponent[0] >= N_PERIODS:
            _merge_periods(sums)
        period = rows.rounds[t] >> sums.exponent[0]
        nobody = math.isnan(rows.means[t])
        if not nobody:
            sums.period_counts[period, WEIGHED] += 1
            for k in range(filled.size):
                sums.period_experts[period, WEIGHT, k] += rows.weights[t, k]
        mixture, uniform, s = losses.mixture[t], losses.uniform[t], rows.series[t]
        if math.isnan(rows.truths[t]):
            sums.skipped[NO_TRUTH] += 1
        elif nobody:
            sums.skipped[NO_FORECAST] += 1
        elif not math.isfinite(mixture) or math.isnan(uniform):
            sums.skipped[NO_LOSS] += 1
        else:
            _add_to_period(sums, period, filled, losses.experts[t], mixture, uniform)
            _add_to_series(sums.series_counts[s], sums.series_losses[s], mixture, uniform, losses.last[t])
            extend_sequences(sums.sequences[s], leasts[s], filled)
            if sums.gram.size > 0:
                _add_errors(sums.gram, errors, rows.forecasts[t], rows.truths[t], rows.combined[t])


class KeptRows:
    """All scored rows, a missing forecast replaced by that of the mixture; none at all once they are too many.

    The best convex combination is computed from them, for losses whose sums do not suffice.
    """

    def __init__(self, n_experts: int, wanted: bool) -> None:
        self.most = min(_MOST_ROWS, _MOST_NUMBERS // n_experts) if wanted else 0
        self.n_scored = 0
        self._forecasts = np.empty((0, n_experts))
        self._truths = np.empty(0)

    @property
    def complete(self) -> bool:
        """Whether all scored rows are kept."""
        return self.n_scored <= self.most

    @property
    def forecasts(self) -> Matrix:
        """The forecasts of the scored rows; empty if they are not complete."""
        return self._forecasts[: self.n_scored if self.complete else 0]

    @property
    def truths(self) -> Vector:
        """Their truths."""
        return self._truths[: self.n_scored if self.complete else 0]

    def add(self, rows: Rows, losses: Losses) -> None:
        """Add the scored rows of a block."""
        if not self.complete or not self.most:
            return
        scored = np.isfinite(losses.mixture) & ~np.isnan(losses.uniform)
        first, self.n_scored = self.n_scored, self.n_scored + int(scored.sum())
        if not self.complete:
            self._forecasts, self._truths = self._forecasts[:0].copy(), self._truths[:0].copy()
            return
        space = len(self._truths)
        if self.n_scored > space:
            more = min(self.most, max(self.n_scored, 2 * space, _FIRST_SPACE)) - space
            self._forecasts = np.concatenate([self._forecasts, np.empty((more, self._forecasts.shape[1]))])
            self._truths = np.concatenate([self._truths, np.empty(more)])
        given = rows.forecasts[scored]
        self._forecasts[first : self.n_scored] = np.where(np.isnan(given), rows.combined[scored, None], given)
        self._truths[first : self.n_scored] = rows.truths[scored]


class PeriodTimes:
    """The time of each round that begins a period, as text: that of the first row with this round, of any series."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}

    def add(self, rounds: Actions, times: Sequence[Any], exponent: int) -> None:
        """Add the times of a block; periods have 2^exponent rounds after it."""
        inside = (1 << exponent) - 1
        newest = max(self._texts, default=-1)
        # Within a series a round follows the one before it, so new rounds appear in ascending order.
        starts = np.flatnonzero(((rounds & inside) == 0) & (rounds > newest))
        new, places = np.unique(rounds[starts], return_index=True)
        for t, place in zip(new.tolist(), starts[places].tolist(), strict=True):
            self._texts[t] = one_line(str(times[place]))[:_MOST_CHARACTERS]
        self._texts = {t: text for t, text in self._texts.items() if t & inside == 0}

    def texts(self, starts: Actions) -> tuple[str, ...]:
        """Return the times of these rounds; empty unless all are known."""
        found = [self._texts.get(t) for t in starts.tolist()]
        return tuple(text for text in found if text is not None) if None not in found else ()
