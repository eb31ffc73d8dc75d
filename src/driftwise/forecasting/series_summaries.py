"""The results of each series of a report: a few rows for its text and its page, the series with the most rounds first.

Losses are means over the scored rounds of the series. The best expert is that of the series, in hindsight, and has the
loss of the mixture where it was asleep. Its ratio is its loss divided by that of the mixture.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from driftwise.forecasting.forecast_report import ForecastReport
from driftwise.report.page import Column, Measured, Table
from driftwise.report.page.table_contents import Cell

__all__ = ["MOST_SERIES", "SeriesSummary", "hidden_text", "series_page_table", "series_summaries"]

MOST_SERIES = 10  # that are shown


class SeriesSummary(NamedTuple):
    """One series; losses are means over its scored rounds, NaN if it has none."""

    name: str
    n_scored: int
    mixture: float
    best_expert: str  # "" without scored rounds
    ratio: float  # of the best expert, to the mixture
    uniform: float


def series_summaries(report: ForecastReport) -> list[SeriesSummary]:
    """Return the series with the most scored rounds; of equal ones, those that come first."""
    of = report.series
    order = np.argsort(-of.n_scored, kind="stable")[:MOST_SERIES].tolist()
    return [_summary(report, s) for s in order]


def hidden_text(report: ForecastReport) -> str:
    """Return a sentence on the series that are not shown, "" if all are."""
    n_hidden = report.n_series - MOST_SERIES
    if n_hidden <= 0:
        return ""
    return f"{n_hidden:,} more series: summary.json of the command, or report.series_table() in Python."


def series_page_table(report: ForecastReport) -> Table:
    """Return the table of the series for the page."""
    columns = [
        Column("series", "Series", card_label=""),
        Column("rounds", "Rounds", "number", decimals=0),
        Column("mixture", "Mixture", "number"),
        Column("best-expert", "Best expert"),
        Column("ratio", "Ratio", "whisker", decimals=3, rules=(1.0,)),
        Column("uniform", "Uniform mean", "number"),
    ]
    rows: list[list[Cell]] = [
        [one.name, one.n_scored, one.mixture, one.best_expert, Measured(one.ratio), one.uniform]
        for one in series_summaries(report)
    ]
    about = (
        "Mean losses of the mixture and the uniform mean over the scored rounds of a series; the series with the most"
        " rounds first. Best expert: that of the series, in hindsight. Ratio: of its loss to that of the mixture; the"
        f" thin line is at 1. {hidden_text(report)}"
    )
    return Table(columns, rows, "Series", about.rstrip())


def _summary(report: ForecastReport, s: int) -> SeriesSummary:
    of, n_scored = report.series, int(report.series.n_scored[s])
    name = str(report.series_names[s]) if report.series_names else f"series {s + 1}"
    if not n_scored:
        return SeriesSummary(name, 0, math.nan, "", math.nan, math.nan)
    best, mixture = int(of.experts[s].argmin()), float(of.mixture[s])
    ratio = float(of.experts[s, best]) / mixture if mixture > 0 else math.nan
    return SeriesSummary(name, n_scored, mixture / n_scored, report.names[best], ratio, float(of.uniform[s]) / n_scored)
