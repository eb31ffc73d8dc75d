r"""A report on a stream of rounds, in memory that does not grow with the rounds: `RunningReport`.

It keeps sums, to which kernels add rows one after the other, some rows, and times.

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

from driftwise.core.errors import InvalidInput, one_line, rejection
from driftwise.core.kernel import generic_kernel, kernel
from driftwise.core.types import Actions, Flags, Matrix, Vector
from driftwise.core.validation import as_losses, count
from driftwise.forecasting.forecast_report import (
    ComparatorLoss,
    Cuts,
    ExpertSummary,
    ForecastReport,
    Periods,
    SeriesTotals,
    largest_weights,
)
from driftwise.forecasting.hindsight import Combination, best_combination, best_square_combination, extend_sequences
from driftwise.forecasting.labelled_values import LARGEST
from driftwise.forecasting.losses import Array, ForecastLoss, forecast_loss

N_PERIODS = 240
MOST_SWITCHES = 10
ROUNDS, SCORED, AFTER_TRUTH = range(3)  # columns of `series_counts`
MIXTURE, UNIFORM, LAST, MIXTURE_AFTER_TRUTH = range(4)  # columns of `series_losses`
TRUTH, FORECAST = 2, 3  # columns of `period_losses`, after those of the mixture and the uniform mean
WEIGHT, LOSS, SAME_ROUNDS, ASLEEP = range(4)  # rows of `period_experts`
WEIGHED, PERIOD_SCORED = range(2)  # columns of `period_counts`
NO_TRUTH, NO_FORECAST, NO_LOSS = range(3)  # places of `skipped`
FORECAST_FAULT, TRUTH_FAULT, COMBINED_FAULT, WEIGHT_FAULT, SERIES_FAULT, N_FAULTS = range(6)  # fields of `Rows`
_MOST_ROWS, _MOST_NUMBERS = 100_000, 10_000_000  # that are kept
_MOST_CHARACTERS = 40  # of a time
PER_SERIES = ("series_counts", "series_losses", "series_awake", "last_truths", "sequences")


class Sums(NamedTuple):
    """All sums of a report, of $S$ series, $P$ periods, $K$ experts and at most $N$ switches."""

    series_counts: Actions  # (S, 3): rounds; scored ones; scored ones with an earlier truth
    series_losses: Matrix  # (S, 4): of the mixture, the uniform mean, the last truth; of the mixture after a truth
    series_awake: Actions  # (S, K): scored rounds in which an expert was awake
    last_truths: Vector  # (S,); NaN before the first
    sequences: Matrix  # (S, N + 1, K): the least loss of a sequence with at most n switches that ends with expert k
    period_counts: Actions  # (P, 2): rounds with weights; scored rounds
    period_losses: Matrix  # (P, 4): of the mixture, the uniform mean; sums of the truths, and of the forecasts
    period_awake: Actions  # (P, K): scored rounds in which an expert was awake
    period_experts: Matrix  # (P, 4, K): weights; losses, and losses of the mixture, awake; of the mixture, asleep
    exponent: Actions  # (1,): a period has 2^exponent rounds
    skipped: Actions  # (3,): rounds without truth; with a truth but nobody awake; with both but no finite loss
    n_given: Actions  # (K,): forecasts given, also in rounds that are not scored
    gram: Matrix  # (K, K): sums of products of errors, where a missing forecast is that of the mixture; or (0, 0)


def empty_sums(n_experts: int, n_series: int, with_gram: bool) -> Sums:
    """Return sums before the first row."""
    size = n_experts if with_gram else 0
    return Sums(
        np.zeros((n_series, 3), np.int64),
        np.zeros((n_series, 4)),
        np.zeros((n_series, n_experts), np.int64),
        np.full(n_series, np.nan),
        np.zeros((n_series, MOST_SWITCHES + 1, n_experts)),
        np.zeros((N_PERIODS, 2), np.int64),
        np.zeros((N_PERIODS, 4)),
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
                sums.n_given[k] += 1
        rows.means[t] = total / n_awake if n_awake > 0 else math.nan
        rows.lasts[t] = sums.last_truths[s]
        if not math.isnan(rows.truths[t]):
            sums.last_truths[s] = rows.truths[t]


@generic_kernel
def _merge_pairs(array: Array) -> None:
    """Add up pairs of rows; the second half becomes 0."""
    rows = array.reshape(N_PERIODS, array.size // N_PERIODS)
    for i in range(N_PERIODS):
        for k in range(rows.shape[1]):
            rows[i, k] = rows[2 * i, k] + rows[2 * i + 1, k] if 2 * i < N_PERIODS else 0


@kernel
def _merge_periods(sums: Sums) -> None:
    _merge_pairs(sums.period_counts)
    _merge_pairs(sums.period_losses)
    _merge_pairs(sums.period_awake)
    _merge_pairs(sums.period_experts)
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
def _add_to_series(
    counts: Actions, totals: Vector, awake: Actions, losses: Vector, mixture: float, uniform: float, last: float
) -> None:
    counts[SCORED] += 1
    for k in range(losses.size):
        if not math.isnan(losses[k]):
            awake[k] += 1
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
            sums.period_losses[period, TRUTH] += rows.truths[t]
            sums.period_losses[period, FORECAST] += rows.combined[t]
            _add_to_series(
                sums.series_counts[s], sums.series_losses[s], sums.series_awake[s], losses.experts[t], mixture, uniform,
                losses.last[t],
            )  # fmt: skip
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
        self.forecasts = [np.empty((0, n_experts))]  # in blocks
        self.truths = [np.empty(0)]

    @property
    def complete(self) -> bool:
        """Whether all scored rows are kept."""
        return self.n_scored <= self.most

    def add(self, rows: Rows, losses: Losses) -> None:
        """Add the scored rows of a block."""
        if not self.complete or not self.most:
            return
        scored = np.isfinite(losses.mixture) & ~np.isnan(losses.uniform)
        self.n_scored += int(scored.sum())
        forecasts = rows.forecasts[scored]
        self.forecasts.append(np.where(np.isnan(forecasts), rows.combined[scored, None], forecasts))
        self.truths.append(rows.truths[scored])
        if not self.complete:
            del self.forecasts[1:], self.truths[1:]


class PeriodTimes:
    """The time of each round that begins a period, as text: that of the first row with this round, of any series."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}

    def add(self, rounds: Actions, times: Sequence[object], exponent: int) -> None:
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
        rounds = starts.tolist()
        return tuple(self._texts[t] for t in rounds) if self._texts.keys() >= {*rounds} else ()


LAST_TRUTH = "last truth repeated"
MOST_COMBINED = 1000  # experts: the best convex combination takes a matrix of this size squared, and its eigenvalues
_SWITCHES = (1, 3, 10)  # of the sequences that are shown
_LARGE_GAP = 1e-3  # between the loss of a combination and the lower bound, which a note mentions


def _series(sums: Sums) -> SeriesTotals:
    n_rounds, n_scored, n_after = sums.series_counts.T.copy()
    mixture, uniform, last, mixture_after = sums.series_losses.T.copy()
    experts = sums.sequences[:, 0].copy()
    awake = sums.series_awake.copy()
    return SeriesTotals(n_rounds, n_scored, mixture, uniform, n_after, last, mixture_after, experts, awake)


def _least_losses(sums: Sums) -> Vector:
    """Return the least total losses of sequences by their switches; none ends with an expert that was never awake."""
    never = (sums.series_awake == 0) & (sums.series_counts[:, SCORED] > 0)[:, None]
    ends: Vector = np.where(never[:, None, :], math.inf, sums.sequences)
    leasts: Vector = ends.min(axis=2).sum(axis=0)
    return leasts


def _periods(sums: Sums, times: PeriodTimes) -> Periods:
    length = 1 << int(sums.exponent[0])
    longest = int(sums.series_counts[:, ROUNDS].max(initial=0))
    starts = np.arange(0, longest, length)
    n = len(starts)
    n_scored, n_weighed = sums.period_counts[:n, PERIOD_SCORED], sums.period_counts[:n, WEIGHED]
    with np.errstate(invalid="ignore"):  # 0 / 0 is NaN
        losses = (sums.period_experts[:n, LOSS] + sums.period_experts[:n, ASLEEP]) / n_scored[:, None]
        of_awake = np.where(sums.period_awake[:n] > 0, losses, np.inf)
        return Periods(
            length=length,
            starts=starts,
            n_scored=n_scored.copy(),
            mixture=sums.period_losses[:n, MIXTURE] / n_scored,
            uniform=sums.period_losses[:n, UNIFORM] / n_scored,
            truth=sums.period_losses[:n, TRUTH] / n_scored,
            forecast=sums.period_losses[:n, FORECAST] / n_scored,
            experts=losses,
            weights=sums.period_experts[:n, WEIGHT] / n_weighed[:, None],
            best=np.where(n_scored > 0, of_awake.argmin(axis=1), -1),
            times=times.texts(starts),
        )


def _combination(loss: ForecastLoss, sums: Sums, rows: KeptRows, n_scored: int) -> tuple[Combination | None, str]:
    """Return the best convex combination, None if it is not known, and a note."""
    if not n_scored:
        return None, ""
    if len(sums.n_given) > MOST_COMBINED:
        return None, f"not computed: there are more than {MOST_COMBINED:,} experts"
    awake = np.flatnonzero(sums.series_awake.any(axis=0))  # the others have no forecasts
    if sums.gram.size:
        best = best_square_combination(sums.gram[np.ix_(awake, awake)])
    elif rows.complete:
        forecasts, truths = np.concatenate(rows.forecasts)[:, awake], np.concatenate(rows.truths)
        with np.errstate(all="ignore"):
            best = best_combination(loss, forecasts, truths)
    else:
        return None, f"not computed: for this loss it needs all scored rounds, and at most {rows.most:,} are kept"
    if best is None:
        return None, "not computed: losses are not finite"
    weights = np.zeros(len(sums.n_given))
    weights[awake] = best.weights
    best = best._replace(weights=weights)
    if best.loss - best.at_least > _LARGE_GAP * abs(best.loss):
        return best, f"the least loss is in [{best.at_least / n_scored:.4g}, {best.loss / n_scored:.4g}]"
    return best, ""


def _comparators(
    names: tuple[str, ...],
    series: SeriesTotals,
    awake: Flags,
    leasts: Vector,
    combination: Combination | None,
    note: str,
) -> tuple[ComparatorLoss, ...]:
    n_scored, mixture = int(series.n_scored.sum()), float(series.mixture.sum())
    totals = np.where(awake, series.experts.sum(axis=0), math.inf)
    best = int(totals.argmin())

    def over_all(name: str, detail: str, hindsight: bool, loss: float, note: str = "") -> ComparatorLoss:
        return ComparatorLoss(name, detail, hindsight, n_scored, loss if n_scored else math.nan, mixture, note)

    detail, loss = "", math.nan
    if combination is not None:
        weights, loss = combination.weights.tolist(), combination.loss
        detail = " + ".join(f"{weights[k]:.2f} {names[k]}" for k in largest_weights(weights))
    n_after, last = int(series.n_after_truth.sum()), float(series.last_truth.sum())
    same = float(series.mixture_after_truth.sum())  # over the same rounds
    of_each = [over_all("best expert of each series", "", True, float(leasts[0]))]
    return (
        over_all("mixture", "", False, mixture),
        over_all("best expert", names[best] if n_scored else "", True, float(totals[best])),
        *(of_each if len(series.n_rounds) > 1 else ()),
        over_all("best convex combination", detail, True, loss, note),
        *(over_all(f"best sequence, {n} switch{'es' * (n > 1)}", "", True, float(leasts[n])) for n in _SWITCHES),
        over_all("uniform mean", "", False, float(series.uniform.sum())),
        ComparatorLoss(LAST_TRUTH, "", False, n_after, last if n_after else math.nan, same),
    )


def _experts(names: tuple[str, ...], sums: Sums, series: SeriesTotals, periods: Periods) -> tuple[ExpertSummary, ...]:
    totals = sums.period_experts.sum(axis=0)
    n_weighed, all_weights = int(sums.period_counts[:, WEIGHED].sum()), float(totals[WEIGHT].sum())
    counts = (sums.n_given, sums.period_awake.sum(axis=0))
    losses = (totals[LOSS], totals[SAME_ROUNDS], series.experts.sum(axis=0))
    weights = (totals[WEIGHT] / (n_weighed or math.nan), totals[WEIGHT] / (all_weights or math.nan))
    n_best = np.bincount(periods.best[periods.best >= 0], minlength=len(names))
    columns: tuple[Array, ...] = (*counts, *losses, *weights, n_best)  # in the order of the fields
    return tuple(map(ExpertSummary, names, *(column.tolist() for column in columns)))


_BLOCK = 4096  # rows that are added at once: their losses stay in the processor's cache
_NUMBERS = f"in [-{LARGEST:g}, {LARGEST:g}] or NaN (missing)"
_RULES = {WEIGHT_FAULT: f"in [0, {LARGEST:g}]", SERIES_FAULT: "from 0 to the number of series - 1"}  # else `_NUMBERS`


class RunningReport:
    """Running sums of a mixture of forecasts, from which a `ForecastReport` is made at any time.

    Memory is proportional to the series and the experts, not to the rounds. For the best convex combination, the square
    of the experts is added for the square loss, and up to 100,000 rows for other losses; with more than 1,000 experts
    it is not computed. The report does not depend on how the rows are
    divided into blocks, bit for bit.

    Parameters
    ----------
    names : sequence of str
        Names of the experts, one for each column of the forecasts and weights.
    loss : str or ForecastLoss
        The loss, such as "square".
    n_series : int, default 1
        Number of series.

    Examples
    --------
    >>> running = RunningReport(["low", "high"], "absolute")
    >>> running.add([[1.0, 3.0], [1.0, float("nan")]], [1.5, 1.5], [2.0, 1.0], [[0.5, 0.5], [1.0, 0.0]])
    >>> running.report()
    ForecastReport(loss='absolute', experts=2, rounds=2, scored=2, mixture=0.5, best_expert='low' 0.5)
    """

    def __init__(self, names: Sequence[str], loss: str | ForecastLoss, n_series: int = 1) -> None:
        self.names = tuple(names)
        if (
            not self.names
            or not all(isinstance(name, str) for name in self.names)
            or len({*self.names}) < len(self.names)
        ):
            raise rejection(self, "names", "distinct texts, at least one", names)
        self.loss = forecast_loss(loss)
        self.n_series = count(self, "n_series", n_series, at_least=0)
        is_square, few = self.loss.name == "square", len(self.names) <= MOST_COMBINED
        self._sums = empty_sums(len(self.names), self.n_series, with_gram=is_square and few)
        self._leasts = self._sums.sequences.min(axis=2)
        self._space = np.empty((2, len(self.names)))
        self._rows = KeptRows(len(self.names), wanted=not is_square and few)
        self._times = PeriodTimes()

    def __repr__(self) -> str:
        n_rounds = int(self._sums.series_counts[:, ROUNDS].sum())
        return f"RunningReport(loss={str(self.loss)!r}, experts={len(self.names)}, rounds={n_rounds})"

    def add(
        self,
        forecasts: Any,
        truths: Any,
        combined: Any,
        weights: Any,
        series: Any = None,
        times: Sequence[Any] | None = None,
    ) -> None:
        """Add a block of rows, one per round of a series.

        Parameters
        ----------
        forecasts : array of shape (n_rows, n_experts)
            Forecasts of the experts, NaN where missing.
        truths : array of shape (n_rows,)
            Truths, NaN where missing.
        combined : array of shape (n_rows,)
            Forecasts of the mixture, NaN where missing.
        weights : array of shape (n_rows, n_experts)
            Weights of the experts, 0 where they are asleep.
        series : array of int64 of shape (n_rows,) or None, default None
            The series of each row, None if all are of the first.
        times : sequence or None, default None
            The time of each row, for the axes of figures: anything with a text. Give it in all blocks or in none.
        """
        rows = self._checked_rows(series, forecasts=forecasts, truths=truths, combined=combined, weights=weights)
        if times is not None and len(times) != len(rows.truths):
            raise rejection(self, "times", f"as long as the {len(rows.truths)} rows", len(times))
        for first in range(0, len(rows.truths), _BLOCK):
            block = Rows._make(part[first : first + _BLOCK] for part in rows)
            prepare_rows(self._sums, block)
            losses = self._losses(block)
            add_rows(self._sums, self._leasts, self._space[0], self._space[1], block, losses)
            self._rows.add(block, losses)
            if times is not None:
                self._times.add(block.rounds, times[first : first + _BLOCK], int(self._sums.exponent[0]))

    def add_series(self, n: int) -> None:
        """Add `n` series at the end."""
        self.n_series += count(self, "n", n, at_least=0)
        space = len(self._leasts)
        if self.n_series <= space:
            return
        more = max(self.n_series, 2 * space) - space  # doubled, so that adding one by one takes constant time each
        empty = empty_sums(len(self.names), more, with_gram=False)
        grown = {name: np.concatenate([getattr(self._sums, name), getattr(empty, name)]) for name in PER_SERIES}
        self._sums = self._sums._replace(**grown)
        self._leasts = self._sums.sequences.min(axis=2)

    def report(self, cuts: tuple[Any, Any] | None = None) -> ForecastReport:
        """Return the report on all rows so far.

        Parameters
        ----------
        cuts : pair or None, default None
            How many losses the mixture cut and their total, as numbers or as arrays of one number per series.
        """
        sums = self._in_use()
        series, periods = _series(sums), _periods(sums, self._times)
        n_scored = int(series.n_scored.sum())
        combination, note = _combination(self.loss, sums, self._rows, n_scored)
        leasts, awake = _least_losses(sums), sums.series_awake.max(axis=0, initial=0) > 0
        return ForecastReport(
            names=self.names,
            loss=str(self.loss),
            n_series=self.n_series,
            n_rounds=int(series.n_rounds.sum()),
            n_scored=n_scored,
            n_without_truth=int(sums.skipped[NO_TRUTH]),
            n_without_forecast=int(sums.skipped[NO_FORECAST]),
            n_without_loss=int(sums.skipped[NO_LOSS]),
            comparators=_comparators(self.names, series, awake, leasts, combination, note),
            experts=_experts(self.names, sums, series, periods),
            periods=periods,
            series=series,
            sequence_losses=tuple(leasts.tolist()),
            combination=None if combination is None else tuple(combination.weights.tolist()),
            cuts=None if cuts is None else Cuts(int(np.sum(cuts[0])), float(np.sum(cuts[1]))),
        )

    def _in_use(self) -> Sums:
        """Return the sums without the space for further series."""
        return self._sums._replace(**{name: getattr(self._sums, name)[: self.n_series] for name in PER_SERIES})

    def _losses(self, rows: Rows) -> Losses:
        with np.errstate(all="ignore"):
            experts = self.loss.values(rows.forecasts, rows.truths[:, None])
            others = (self.loss.values(forecasts, rows.truths) for forecasts in (rows.combined, rows.means, rows.lasts))
            return Losses(experts, *others)

    def _checked_rows(self, series: object, **values: object) -> Rows:
        """Return the rows of a block as arrays; raise if they break a rule."""
        shape: tuple[int | None, int] = (None, len(self.names))
        arrays = {}
        for name, array in values.items():
            arrays[name] = as_losses(self, array, shape if name in ("forecasts", "weights") else shape[:1], name)
            shape = (len(arrays[name]), len(self.names))
        n_rows = len(arrays["truths"])
        numbers = np.zeros(n_rows, np.int64) if series is None else np.asarray(series)
        if numbers.shape != (n_rows,) or numbers.dtype.kind not in "iu":
            rule = f"an array of {n_rows} whole numbers"
            raise rejection(self, "series", rule, f"{numbers.dtype.name} of shape {numbers.shape}")
        numbers = np.require(numbers, np.int64, ["C", "W", "A"])
        means, lasts = np.empty((2, n_rows))
        rows = Rows(**arrays, series=numbers, rounds=np.empty(n_rows, np.int64), means=means, lasts=lasts)
        fault = first_fault(rows, self.n_series)
        if fault >= 0:
            t, place = divmod(fault, N_FAULTS)
            rule, got = _RULES.get(place, _NUMBERS), rows[place][t].tolist()
            raise rejection(self, Rows._fields[place], rule, got, f"In row {t} of the block.")
        for name, check in (("forecasts", self.loss.forecast_fault), ("truths", self.loss.truth_fault)):
            if rule := check(arrays[name]):
                raise InvalidInput(f"{type(self).__name__}: `{name}` must be {rule}.")
        return rows


def report_of(
    names: Sequence[str],
    loss: str | ForecastLoss,
    forecasts: Any,
    truths: Any,
    combined: Any,
    weights: Any,
    series: Any = None,
    times: Sequence[Any] | None = None,
    cuts: tuple[Any, Any] | None = None,
) -> ForecastReport:
    """Return the report on some rows; the arguments are those of `RunningReport` and its methods.

    Without series there is one; else there are as many as the largest of them says.
    """
    n_series = 1 if series is None or len(series) == 0 else int(np.max(series)) + 1
    running = RunningReport(names, loss, max(1, n_series))
    running.add(forecasts, truths, combined, weights, series, times)
    return running.report(cuts)
