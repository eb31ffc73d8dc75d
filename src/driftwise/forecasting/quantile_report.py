r"""What a mixture of forecasts of quantiles gained and lost: `QuantileReport`.

Definitions. With the truth $y_t$ and the combined quantile $f_{t,j}$ of level $q_j$, sorted over $j$, in the rounds
that are scored for this level (a known truth, and at least one expert with a forecast of this quantile):

- its loss is the mean of the pinball losses $\rho_j(f_{t,j}, y_t)$,
  $\rho_j(f, y) = q_j\,(y - f)_+ + (1 - q_j)\,(f - y)_+$;
- *below* is the share of rounds with $y_t \le f_{t,j}$: near $q_j$ if the quantile is calibrated;
- the interval of two levels $q_i = 1 - q_j < 1/2$ has the nominal share $q_j - q_i$, its *coverage* is the share of
  rounds, scored for both, with $f_{t,i} \le y_t \le f_{t,j}$, and its width the mean of $f_{t,j} - f_{t,i}$;
- the CRPS is the mean over the levels of twice the loss: the continuous ranked probability score
  $2 \int_0^1 \rho_q\, dq$, by these levels instead of all.

The best expert in hindsight is that with the least loss, where an expert without a forecast has the loss of the
mixture. For the CRPS it is one expert for all levels.
"""

from __future__ import annotations

import math
import os
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from driftwise.core.errors import rejection
from driftwise.core.types import Vector
from driftwise.core.validation import as_losses
from driftwise.forecasting.forecast_report import ForecastReport, plain_values
from driftwise.forecasting.losses import Array, ForecastLoss
from driftwise.forecasting.options import quantile_levels
from driftwise.forecasting.running_report import RunningReport

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from driftwise.forecasting.forecast_report import Printer
    from driftwise.report.page import Page

_SAME = 1e-9  # distance of two probabilities that are equal
_TEXT_WIDTH, _EXPERT = 80, 26
_TITLE = "Mixture of forecasts"


class LevelSummary(NamedTuple):
    """One level. Losses are means over its scored rounds, NaN if there are none."""

    level: float
    n_scored: int
    loss: float  # of the mixture
    best_expert: str  # in hindsight, '' without scored rounds
    best_expert_loss: float
    uniform: float  # loss of the mean of the experts
    below: float  # share of the truths at or below the combined quantile


class IntervalSummary(NamedTuple):
    """The interval between two levels that are as far from 1/2."""

    low: float
    high: float
    nominal: float  # the share of truths that it should have
    n_scored: int
    coverage: float  # the share that it has
    width: float  # mean


class ContinuousScore(NamedTuple):
    """The CRPS by the levels of a report."""

    mixture: float
    best_expert: str
    best_expert_score: float
    uniform: float


@dataclass(frozen=True, eq=False)
class QuantileReport:
    """Report of a mixture of forecasts of quantiles.

    `Mixture.report` and `quantile_report_of` return it; the module has the definitions of all quantities.

    Parameters
    ----------
    names : tuple of str
        The names of the experts.
    quantiles : tuple of float
        The levels.
    levels : tuple of ForecastReport
        The report of each level under its pinball loss, of the combined quantiles after sorting.
    summaries : tuple of LevelSummary
        One for each level.
    intervals : tuple of IntervalSummary
        One for each pair of levels that are as far from 1/2, the widest first.

    Examples
    --------
    >>> forecasts = [[[1.0, 3.0], [2.0, 5.0]]] * 4  # two experts, two quantiles
    >>> equal = [[[0.5, 0.5], [0.5, 0.5]]] * 4
    >>> report = quantile_report_of(["a", "b"], [0.1, 0.9], forecasts, [2.0, 1.0, 3.0, 3.5], [[1.5, 4.0]] * 4, equal)
    >>> report
    QuantileReport(quantiles=[0.1, 0.9], experts=2, rounds=4, crps=0.375, best_expert='a' 0.325)
    >>> report.intervals[0].coverage
    0.75
    """

    names: tuple[str, ...]
    quantiles: tuple[float, ...]
    levels: tuple[ForecastReport, ...]
    summaries: tuple[LevelSummary, ...]
    intervals: tuple[IntervalSummary, ...]

    def __repr__(self) -> str:
        score, n_rounds = self.crps, self.levels[0].n_rounds
        counts = f"quantiles={list(self.quantiles)}, experts={len(self.names)}, rounds={n_rounds}"
        best = f", best_expert={score.best_expert!r} {score.best_expert_score:.4g}" if score.best_expert else ""
        return f"QuantileReport({counts}, crps={score.mixture:.4g}{best})"

    def _repr_pretty_(self, printer: Printer, cycle: bool) -> None:
        printer.text(repr(self) if cycle else self.text())

    @property
    def n_scored(self) -> int:
        """The number of rounds that are scored for the level with the most of them."""
        return max(row.n_scored for row in self.summaries)

    @property
    def crps(self) -> ContinuousScore:
        """The CRPS of the mixture, of the best expert for all levels in hindsight, and of the mean of the experts."""
        of_experts: Vector = np.mean([_expert_losses(level) for level in self.levels], axis=0)
        of_experts[~np.any([[expert.n_awake for expert in level.experts] for level in self.levels], axis=0)] = np.inf
        is_known = not np.isnan(of_experts).any()
        best = int(of_experts.argmin()) if is_known else 0
        name = self.names[best] if is_known else ""
        mixture = float(np.mean([row.loss for row in self.summaries]))
        uniform = float(np.mean([row.uniform for row in self.summaries]))
        return ContinuousScore(2 * mixture, name, 2 * float(of_experts[best]), 2 * uniform)

    def without(self, comparator: str) -> QuantileReport:
        """Return the report without one of the comparators of its levels."""
        return replace(self, levels=tuple(level.without(comparator) for level in self.levels))

    def text(self) -> str:
        """Return the report as tables of at most 80 columns."""
        from driftwise.forecasting.forecast_views import counts_text, short_number
        from driftwise.report.tables import fixed, shortened, text_table

        levels = ", ".join(f"{level:g}" for level in self.quantiles)
        head = f"Mixture of {len(self.names)} expert{'s' * (len(self.names) != 1)}, quantiles {levels}."
        parts = [_wrapped([self.levels[0].timing, head, " ".join(counts_text(self.levels[0]))])]
        if not any(row.n_scored for row in self.summaries):
            return parts[0]
        score = self.crps
        best = f"{short_number(score.best_expert_score)} ({shortened(score.best_expert, _EXPERT)})"
        others = f"best expert in hindsight {best}, uniform mean {short_number(score.uniform)}"
        parts.append(_wrapped([f"CRPS by these quantiles: mixture {short_number(score.mixture)}, {others}."]))
        headers = ["quantile", "best expert", "mean loss", "mixture", "uniform", "below"]
        rows = []
        for row in self.summaries:
            losses = [short_number(loss) for loss in (row.best_expert_loss, row.loss, row.uniform)]
            rows.append([f"{row.level:g}", shortened(row.best_expert, _EXPERT) or "-", *losses, fixed(row.below, 3)])
        about = (
            "Mean pinball losses of the best expert of the quantile in hindsight, of the mixture and of the uniform"
            " mean. Below: the share of the truths at or below the quantile."
        )
        parts.append(f"{text_table(headers, rows, left=2)}\n{_wrapped([about])}")
        if self.intervals:
            headers = ["interval", "nominal", "coverage", "width"]
            rows = [
                [f"{i.low:g} to {i.high:g}", fixed(i.nominal, 3), fixed(i.coverage, 3), short_number(i.width)]
                for i in self.intervals
            ]
            about = "Coverage: the share of the truths inside the interval. Width: the mean."
            parts.append(f"{text_table(headers, rows)}\n{about}")
        return "\n\n".join(parts)

    def record(self) -> dict[str, Any]:
        """Return the report as plain values for JSON, with those of the levels; a number that is not known is None."""
        record = {
            "timing": self.levels[0].timing,
            "names": self.names,
            "quantiles": self.quantiles,
            "crps": self.crps._asdict(),
            "summaries": [row._asdict() for row in self.summaries],
            "intervals": [row._asdict() for row in self.intervals],
        }
        plain = {name: plain_values(value) for name, value in record.items()}
        return {**plain, "levels": [level.record() for level in self.levels]}

    @property
    def middle(self) -> int:
        """The place of the level nearest to 1/2: that of the figure and of the page."""
        return int(np.argmin(np.abs(np.array(self.quantiles) - 0.5)))

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Return a Matplotlib figure of the level nearest to 1/2, see `ForecastReport.plot`; write it to `path`."""
        return self.levels[self.middle].plot(path)


def _expert_losses(level: ForecastReport) -> Vector:
    """Return the mean loss of each expert, with that of the mixture where it has no forecast."""
    return np.array([expert.filled_loss for expert in level.experts]) / (level.n_scored or math.nan)


def _wrapped(paragraphs: Sequence[str]) -> str:
    return "\n".join(line for text in paragraphs for line in textwrap.wrap(text, _TEXT_WIDTH))


def quantile_report_of(
    names: Sequence[str],
    quantiles: Sequence[float],
    forecasts: Any,
    truths: Any,
    combined: Any,
    weights: Any,
    series: Any = None,
    times: Sequence[Any] | None = None,
    cuts: Sequence[tuple[Any, Any]] | None = None,
    series_names: tuple[str | int, ...] = (),
    timing: str = "",
) -> QuantileReport:
    """Return the report on $T$ rounds of $K$ experts and $Q$ quantiles.

    Parameters
    ----------
    names : sequence of str
        Names of the experts.
    quantiles : sequence of float
        The levels, in (0, 1), increasing.
    forecasts : array of shape (T, K, Q)
        Forecasts of the experts, NaN where missing.
    truths : array of shape (T,)
        Truths, NaN where missing.
    combined : array of shape (T, Q)
        Combined quantiles, which do not decrease with the level; NaN where missing.
    weights : array of shape (T, K, Q)
        Weights of the experts, 0 where they are asleep.
    series : array of int of shape (T,) or None, default None
        The series of each row, None if all are of the first.
    times : sequence or None, default None
        The time of each row.
    cuts : sequence of pairs or None, default None
        For each level, what `RunningReport.report` takes.
    series_names : tuple, default ()
        Names of the series; empty if they have none, then there are as many as the largest number says.
    timing : str, default ""
        When truths were taken as known.
    """
    levels = quantile_levels("quantile_report_of", quantiles)
    owner, shape = "quantile_report_of", (len(names), len(levels))
    answers = as_losses(owner, truths, (None,), "truths")
    values = as_losses(owner, forecasts, (len(answers), *shape), "forecasts")
    played = as_losses(owner, weights, (len(answers), *shape), "weights")
    together = as_losses(owner, combined, (len(answers), len(levels)), "combined")
    if (np.diff(together, axis=1) < 0).any():
        t = int((np.diff(together, axis=1) < 0).any(axis=1).argmax())
        raise rejection(owner, "combined", "quantiles that do not decrease with the level", together[t].tolist())
    n_series = len(series_names) or (1 if series is None or not len(series) else int(np.max(series)) + 1)
    reports = []
    for j, level in enumerate(levels):
        running = RunningReport(names, ForecastLoss("pinball", level=level), n_series)
        running.add(values[:, :, j], answers, together[:, j], played[:, :, j], series, times)
        reports.append(
            replace(running.report(None if cuts is None else cuts[j]), series_names=series_names, timing=timing)
        )
    scored = ~np.isnan(answers)[:, None] & ~np.isnan(together) & ~np.isnan(values).all(axis=1)
    summaries = [_summary(*parts, answers) for parts in zip(levels, reports, together.T, scored.T, strict=True)]
    pairs = [(i, j) for i in range(len(levels)) for j in range(i) if abs(levels[i] + levels[j] - 1) < _SAME]
    intervals = [_interval(levels, j, i, together, scored, answers) for i, j in reversed(pairs)]
    return QuantileReport(tuple(names), levels, tuple(reports), tuple(summaries), tuple(intervals))


def _summary(level: float, report: ForecastReport, combined: Vector, scored: Array, truths: Vector) -> LevelSummary:
    rows = {row.name: row for row in report.comparators}
    best, loss = rows["best expert"], rows["mixture"].mean
    below = _share(truths <= combined, scored)
    return LevelSummary(level, report.n_scored, loss, best.detail, best.mean, rows["uniform mean"].mean, below)


def _interval(
    levels: Sequence[float], i: int, j: int, combined: Array, scored: Array, truths: Vector
) -> IntervalSummary:
    both, low, high = scored[:, i] & scored[:, j], combined[:, i], combined[:, j]
    coverage = _share((low <= truths) & (truths <= high), both)
    width = float((high - low)[both].mean()) if both.any() else math.nan
    return IntervalSummary(levels[i], levels[j], levels[j] - levels[i], int(both.sum()), coverage, width)


def _share(holds: Array, where: Array) -> float:
    return float(holds[where].mean()) if where.any() else math.nan


def quantile_page(report: QuantileReport, commands: Sequence[str] = (), title: str = _TITLE) -> Page:
    """Return the page of a report: a table of the levels, and the figures of the level nearest to 1/2."""
    from driftwise.forecasting.forecast_views import report_page
    from driftwise.glossary import PAGE_NOTE
    from driftwise.report import page
    from driftwise.report.page.contents import Cell

    of_middle = report.levels[report.middle]
    middle = report_page(replace(of_middle, timing=""), commands, title)
    columns = [
        page.PageColumn("level", "Quantile", card_label=""),
        page.PageColumn("rounds", "Rounds", "number", decimals=0),
        page.PageColumn("mixture", "Mixture", "number"),
        page.PageColumn("best-expert", "Best expert"),
        page.PageColumn("loss", "Mean loss", "number"),
        page.PageColumn("uniform", "Uniform mean", "number"),
        page.PageColumn("below", "Below", "number", decimals=3),
    ]
    rows: list[list[Cell]] = [
        [f"{row.level:g}", row.n_scored, row.loss, row.best_expert, row.best_expert_loss, row.uniform, row.below]
        for row in report.summaries
    ]
    about = (
        "Mean pinball losses over the scored rounds: of the mixture, of the best expert of the quantile in hindsight,"
        " beside its name, and of the uniform mean. Below: the share of the truths at or below the quantile."
    )
    of_intervals = [
        f"{i.low:g} to {i.high:g}: nominal {i.nominal:.3g}, coverage {i.coverage:.3g}, mean width {i.width:.4g}"
        for i in report.intervals
    ]
    notes = [f"Intervals: {'; '.join(of_intervals)}."] if of_intervals else []
    score, level = report.crps, report.quantiles[report.middle]
    sentences = [of_middle.timing] if of_middle.timing else []
    sentences.append(f"CRPS by these quantiles: mixture {score.mixture:.4g}, uniform mean {score.uniform:.4g}.")
    sentences += [f"The figures are those of the quantile {level:g}.", middle.subtitle]
    return replace(
        middle,
        subtitle=" ".join(sentences),
        table=page.PageTable(columns, rows, "Quantiles", about + PAGE_NOTE) if middle.table else None,
        notes=[*notes, *middle.notes],
    )
