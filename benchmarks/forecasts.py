"""Mean losses of mixtures on real forecasts, beside the best expert and the best tuned learner in hindsight.

`python benchmarks/forecasts.py` measures the data sets with which the defaults were chosen, `--untouched` the others.
All losses are squares. A number of a data set is the mean over its series; in each series, losses are divided by that
of the best expert in hindsight among those that are never missing.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from forecast_data import CHOOSING, UNTOUCHED, ForecastData, MissingPackage, load

from driftwise.core.types import Matrix, Vector
from driftwise.forecasting import MixtureOptions, MixtureStack
from driftwise.learners import (
    BOA,
    AdaHedge,
    AdaNormalHedge,
    AdaptMLProd,
    CalibratedHedge,
    ExpertLearner,
    FixedShare,
    Hedge,
    MLPoly,
    OptimisticAdaptMLProd,
    OptimisticFixedShare,
    OptimisticGD,
    OptimisticHedge,
    Squint,
)
from driftwise.report.tables import number, text_table

__all__ = ["Scores", "last_truths", "tuned_learners"]

WILD = 1000.0  # factor of one truth in the middle of each series
LEARNING_RATES = [2.0**i for i in range(-6, 8)]
SWITCH_RATES = (1e-6, 1e-4, 1e-3, 1e-2, 3e-2, 0.1, 0.3)
DEFAULT = MixtureOptions()


def tuned_learners() -> Iterator[ExpertLearner]:
    """Return the learners from which the best is chosen in hindsight."""
    for rate in LEARNING_RATES:
        for switch_rate in SWITCH_RATES:
            yield FixedShare(rate, switch_rate)
            yield OptimisticFixedShare(rate, switch_rate)
        yield Hedge(rate)
        yield OptimisticHedge(rate)
        yield OptimisticGD(rate)
    yield from (Hedge(), AdaHedge(), CalibratedHedge(), MLPoly(), BOA(), Squint())
    yield from (AdaptMLProd(), OptimisticAdaptMLProd(), AdaNormalHedge())


def last_truths(data: ForecastData) -> Vector:
    """Return the last known truth of the series before each row, NaN before the first."""
    found, last = np.empty(len(data.truths)), np.full(data.n_series, np.nan)
    for t, (series, truth) in enumerate(zip(data.series, data.truths, strict=True)):
        found[t] = last[series]
        if not np.isnan(truth):
            last[series] = truth
    return found


class Scores:
    """The losses of forecasts of one data set, as multiples of the best expert in hindsight.

    Rounds without a truth and those before the first truth of a series have no loss.
    """

    def __init__(self, data: ForecastData) -> None:
        self.data = data
        self.last = last_truths(data)
        self.scored = ~np.isnan(data.truths) & ~np.isnan(self.last)
        experts = np.array([self.by_series(column) for column in data.forecasts.T])  # NaN: sometimes missing
        best = np.nanargmin(experts, axis=0)
        self.best = experts[best, np.arange(data.n_series)]
        self.best_names = [data.names[k] for k in best]

    def by_series(self, forecasts: Vector, rows: Vector | None = None) -> Vector:
        """Return the mean loss of each series, in the scored rows or some of them."""
        kept = self.scored if rows is None else self.scored & rows
        losses, series = (forecasts - self.data.truths)[kept] ** 2, self.data.series[kept]
        return np.bincount(series, losses, self.data.n_series) / np.bincount(series, minlength=self.data.n_series)

    def relative(self, forecasts: Vector) -> float:
        """Return the mean over series of the loss divided by that of the best expert."""
        return float(np.mean(self.by_series(forecasts) / self.best))

    def mixed(self, options: MixtureOptions, truths: Vector | None = None) -> Vector:
        """Return the forecasts of mixtures, one per series."""
        data = self.data
        stack = MixtureStack(options, len(data.names), data.n_series)
        return stack.run(data.forecasts, data.truths if truths is None else truths, data.series).combined

    def with_learner(self, learner: ExpertLearner) -> float:
        """Return the relative loss of the default options with another learner."""
        return self.relative(self.mixed(replace(DEFAULT, learner=learner)))

    def best_convex(self) -> float:
        """Return the relative loss of the best convex combination in hindsight of the experts never missing."""
        found = []
        for i in range(self.data.n_series):
            rows = self.scored & (self.data.series == i)
            inputs, truths = self.data.forecasts[rows], self.data.truths[rows]
            found.append(_convex_loss(inputs[:, ~np.isnan(inputs).any(axis=0)], truths))
        return float(np.mean(found / self.best))

    def after_wild_truth(self) -> float:
        """Return the loss after one truth was multiplied by 1,000, divided by the loss without that; the largest."""
        truths, later = self.data.truths.copy(), np.zeros(len(self.data.truths), dtype=bool)
        for i in range(self.data.n_series):
            rows = np.flatnonzero((self.data.series == i) & self.scored)
            middle = len(rows) // 2
            truths[rows[middle]] *= WILD
            later[rows[middle + 1 :]] = True
        with_it, without = (self.by_series(self.mixed(DEFAULT, each), later) for each in (truths, None))
        return float(np.max(with_it / without))


def _convex_loss(inputs: Matrix, truths: Vector) -> float:
    """Return the least mean square loss of convex combinations, by the Frank-Wolfe method with away steps."""
    errors = inputs - truths[:, None]
    gram, n_experts = errors.T @ errors / len(truths), inputs.shape[1]
    weights = np.zeros(n_experts)
    weights[np.argmin(np.diag(gram))] = 1.0
    for _ in range(20_000):
        slopes = gram @ weights
        toward, away = int(np.argmin(slopes)), int(np.argmax(np.where(weights > 0, slopes, -np.inf)))
        value = weights @ slopes
        if value - slopes[toward] <= 1e-9 * value:
            break
        if value - slopes[toward] >= slopes[away] - value:
            step, longest = -weights, 1.0
            step[toward] += 1.0
        else:
            step, longest = weights.copy(), weights[away] / (1.0 - weights[away])
            step[away] -= 1.0
        weights = weights + min(longest, -(step @ slopes) / (step @ gram @ step)) * step
        weights[weights < 1e-15] = 0.0
    return float(weights @ gram @ weights)


class Tuned(NamedTuple):
    """The best learner in hindsight, one for all series."""

    loss: float
    learner: ExpertLearner


def best_tuned(scores: Scores) -> Tuned:
    """Return the learner with the least loss."""
    return min((Tuned(scores.with_learner(learner), learner) for learner in tuned_learners()), key=lambda one: one.loss)


LINES: dict[str, Callable[[Scores], float]] = {
    "mixture, defaults": lambda scores: scores.relative(scores.mixed(DEFAULT)),
    "best convex combination in hindsight": lambda scores: scores.best_convex(),
    "mean of the experts": lambda scores: scores.relative(np.nanmean(scores.data.forecasts, axis=1)),
    "last truth repeated": lambda scores: scores.relative(scores.last),
    "ML-Poly": lambda scores: scores.with_learner(MLPoly()),
    "BOA": lambda scores: scores.with_learner(BOA()),
    "AdaHedge": lambda scores: scores.with_learner(AdaHedge()),
    "defaults, hint: last losses": lambda scores: scores.relative(scores.mixed(MixtureOptions(hint="last-losses"))),
    "defaults, hint: none": lambda scores: scores.relative(scores.mixed(MixtureOptions(hint="none"))),
    "defaults without gradient trick": lambda scores: scores.relative(scores.mixed(MixtureOptions(gradient=False))),
    "defaults + last truth": lambda scores: scores.relative(scores.mixed(MixtureOptions(extras=("last-truth",)))),
    "defaults + scaled": lambda scores: scores.relative(scores.mixed(MixtureOptions(extras=("scaled",)))),
    "defaults + shifted": lambda scores: scores.relative(scores.mixed(MixtureOptions(extras=("shifted",)))),
    "after one truth x 1,000, largest ratio": lambda scores: scores.after_wild_truth(),
}


def column(name: str) -> dict[str, str]:
    """Return the numbers of a data set, by line."""
    data = load(name)
    scores = Scores(data)
    names = sorted(set(scores.best_names), key=scores.best_names.count, reverse=True)
    tuned = best_tuned(scores)
    return {
        "rows": f"{len(data.truths):,}",
        "experts": str(len(data.names)),
        "series": str(data.n_series),
        "best expert in hindsight": names[0] if len(names) == 1 else f"{len(names)} experts",
        "its mean loss": number(float(scores.best[0])) if data.n_series == 1 else "-",
        **{line: f"{measure(scores):.4f}" for line, measure in LINES.items()},
        "best tuned learner in hindsight": f"{tuned.loss:.4f}",
        "that learner": str(tuned.learner),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--untouched", action="store_true", help="the data sets not used to choose the defaults")
    parser.add_argument("--only", choices=(*CHOOSING, *UNTOUCHED), help="one data set")
    given = parser.parse_args()
    columns = {}
    for name in [given.only] if given.only else UNTOUCHED if given.untouched else CHOOSING:
        try:
            columns[name] = column(name)
        except MissingPackage as missing:
            print(missing)
    lines = list(next(iter(columns.values()), ()))
    learners = lines.pop() if lines else ""
    print(text_table(["", *columns], [[line, *(found[line] for found in columns.values())] for line in lines]))
    for name, found in columns.items():
        print(f"{name}, {learners}: {found[learners]}")


if __name__ == "__main__":
    main()
