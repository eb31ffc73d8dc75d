"""From the sums of a running report to the numbers of a `ForecastReport`."""

from __future__ import annotations

import math

import numpy as np

from driftwise.core.types import Vector
from driftwise.forecasting.forecast_report import ForecastReport
from driftwise.forecasting.hindsight import Combination, best_combination, best_square_combination
from driftwise.forecasting.losses import ForecastLoss
from driftwise.forecasting.report_parts import Comparison, Cuts, ExpertSummary, Periods, SeriesTotals
from driftwise.forecasting.report_sums import (
    AFTER_TRUTH,
    ASLEEP,
    LAST,
    LOSS,
    MIXTURE,
    MIXTURE_AFTER_TRUTH,
    NO_FORECAST,
    NO_LOSS,
    NO_TRUTH,
    PERIOD_SCORED,
    ROUNDS,
    SAME_ROUNDS,
    SCORED,
    UNIFORM,
    WEIGHED,
    WEIGHT,
    KeptRows,
    PeriodTimes,
    Sums,
)

__all__ = ["LAST_TRUTH", "MOST_COMBINED", "report_of_sums"]

LAST_TRUTH = "last truth repeated"
MOST_COMBINED = 1000  # experts: the best convex combination takes a matrix of this size squared, and its eigenvalues
_SWITCHES = (1, 3, 10)  # of the sequences that are shown
_LARGE_GAP = 1e-3  # between the loss of a combination and the lower bound, which a note mentions
_SMALL_WEIGHT = 0.005  # not in the text of a combination


def report_of_sums(
    names: tuple[str, ...], loss: ForecastLoss, sums: Sums, rows: KeptRows, times: PeriodTimes, cuts: Cuts | None
) -> ForecastReport:
    """Return the report on all rows of some sums."""
    series = _series(sums)
    periods = _periods(sums, times)
    n_scored = int(series.n_scored.sum())
    combination, note = _combination(loss, sums, rows, n_scored)
    leasts: Vector = sums.sequences.min(axis=2).sum(axis=0)
    return ForecastReport(
        names=names,
        loss=str(loss),
        n_series=len(series.n_rounds),
        n_rounds=int(series.n_rounds.sum()),
        n_scored=n_scored,
        n_without_truth=int(sums.skipped[NO_TRUTH]),
        n_without_forecast=int(sums.skipped[NO_FORECAST]),
        n_without_loss=int(sums.skipped[NO_LOSS]),
        comparators=_comparators(names, series, leasts, combination, note),
        experts=_experts(names, sums, series, periods),
        periods=periods,
        series=series,
        sequence_losses=tuple(leasts.tolist()),
        combination=None if combination is None else tuple(combination.weights.tolist()),
        cuts=cuts,
    )


def _series(sums: Sums) -> SeriesTotals:
    counts, losses = sums.series_counts.copy(), sums.series_losses.copy()
    return SeriesTotals(
        n_rounds=counts[:, ROUNDS],
        n_scored=counts[:, SCORED],
        mixture=losses[:, MIXTURE],
        uniform=losses[:, UNIFORM],
        n_after_truth=counts[:, AFTER_TRUTH],
        last_truth=losses[:, LAST],
        mixture_after_truth=losses[:, MIXTURE_AFTER_TRUTH],
        experts=sums.sequences[:, 0].copy(),
    )


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
            experts=losses,
            weights=sums.period_experts[:n, WEIGHT] / n_weighed[:, None],
            best=np.where(n_scored > 0, of_awake.argmin(axis=1), -1),
            times=times.texts(starts),
        )


def _combination(loss: ForecastLoss, sums: Sums, rows: KeptRows, n_scored: int) -> tuple[Combination | None, str]:
    """Return the best convex combination, None if it is not known, and a note."""
    if not n_scored:
        return None, ""
    if len(sums.given) > MOST_COMBINED:
        return None, f"not computed: there are more than {MOST_COMBINED:,} experts"
    if sums.gram.size:
        found = best_square_combination(sums.gram)
    elif rows.complete:
        with np.errstate(all="ignore"):
            found = best_combination(loss.values, loss.slopes, rows.forecasts, rows.truths)
    else:
        return None, f"not computed: for this loss it needs all scored rounds, and at most {rows.most:,} are kept"
    if found is None:
        return None, "not computed: losses are not finite"
    if found.loss - found.at_least > _LARGE_GAP * abs(found.loss):
        return found, f"the least loss is in [{found.at_least / n_scored:.4g}, {found.loss / n_scored:.4g}]"
    return found, ""


def _comparators(
    names: tuple[str, ...], series: SeriesTotals, leasts: Vector, combination: Combination | None, note: str
) -> tuple[Comparison, ...]:
    n_scored, mixture = int(series.n_scored.sum()), float(series.mixture.sum())
    totals = series.experts.sum(axis=0)
    best = int(totals.argmin())

    def over_all(name: str, detail: str, hindsight: bool, loss: float, note: str = "") -> Comparison:
        return Comparison(name, detail, hindsight, n_scored, loss if n_scored else math.nan, mixture, note)

    found = [
        over_all("mixture", "", False, mixture),
        over_all("best expert", names[best] if n_scored else "", True, float(totals[best])),
    ]
    if len(series.n_rounds) > 1:
        found.append(over_all("best expert of each series", "", True, float(leasts[0])))
    detail = "" if combination is None else _formula(names, combination.weights)
    loss = math.nan if combination is None else combination.loss
    found.append(over_all("best convex combination", detail, True, loss, note))
    for n in _SWITCHES:
        found.append(over_all(f"best sequence, {n} switch{'es' * (n > 1)}", "", True, float(leasts[n])))
    found.append(over_all("uniform mean", "", False, float(series.uniform.sum())))
    n_after, last = int(series.n_after_truth.sum()), float(series.last_truth.sum())
    same = float(series.mixture_after_truth.sum())
    found.append(Comparison(LAST_TRUTH, "", False, n_after, last if n_after else math.nan, same))
    return tuple(found)


def _formula(names: tuple[str, ...], weights: Vector) -> str:
    """Return a combination as text, the largest weights first, without the smallest."""
    order = sorted(range(len(names)), key=lambda k: -weights[k])
    shown = [k for i, k in enumerate(order) if i == 0 or weights[k] >= _SMALL_WEIGHT]
    return " + ".join(f"{weights[k]:.2f} {names[k]}" for k in shown)


def _experts(names: tuple[str, ...], sums: Sums, series: SeriesTotals, periods: Periods) -> tuple[ExpertSummary, ...]:
    totals = sums.period_experts.sum(axis=0)
    n_awake = sums.period_awake.sum(axis=0)
    filled = series.experts.sum(axis=0)
    n_weighed, all_weights = int(sums.period_counts[:, WEIGHED].sum()), float(totals[WEIGHT].sum())
    return tuple(
        ExpertSummary(
            name=name,
            n_given=int(sums.given[k]),
            n_awake=int(n_awake[k]),
            loss=float(totals[LOSS, k]),
            mixture_loss=float(totals[SAME_ROUNDS, k]),
            filled_loss=float(filled[k]),
            weight=float(totals[WEIGHT, k]) / n_weighed if n_weighed else math.nan,
            share=float(totals[WEIGHT, k]) / all_weights if all_weights > 0 else math.nan,
            n_best=int((periods.best == k).sum()),
        )
        for k, name in enumerate(names)
    )
