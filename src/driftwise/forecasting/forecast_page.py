"""A report on forecasts as an HTML page: comparators and experts, losses and weights over time."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

import numpy as np

from driftwise.core.types import Vector
from driftwise.forecasting.forecast_figure import Shown, shown_experts
from driftwise.forecasting.forecast_report import SHOWN_SWITCHES, ForecastReport, series_page_table
from driftwise.forecasting.forecast_text import counts_text, cuts_text, ratio_text, round_text, short_number
from driftwise.glossary import PAGE_NOTE
from driftwise.report.page import (
    Axis,
    Column,
    Filter,
    Group,
    Measured,
    Page,
    Panel,
    Series,
    Table,
    Text,
    WeightHistory,
    write_page,
)
from driftwise.report.page.table_contents import Cell

__all__ = ["report_page", "write_report_page"]

_EXPERTS, _MIXTURE, _UNIFORM = Group("Experts"), Group("Mixture", "thick"), Group("Reference", "baseline")
_TITLE = "Mixture of forecasts"
_NOTES = (
    "Scored rounds: those with a truth, at least one expert awake (with a forecast), and a finite loss of the mixture.",
    "Mean loss: over the rounds given beside it. For an expert these are the scored rounds in which it was awake, and"
    " for the last truth those with an earlier truth; for all others, the scored rounds.",
    "Ratio: the loss divided by that of the mixture over the same rounds. Above 1, the mixture was better.",
    "In hindsight: chosen with knowledge of all truths. There an expert that is asleep has the forecast and the loss of"
    " the mixture, so all scored rounds count.",
    "Best expert: the single one with the least loss. Best convex combination: the fixed weights, not negative and of"
    " sum 1, with the least loss. Best sequence: the least loss with at most that many changes of expert in each"
    " series.",
    "Uniform mean: the mean of all forecasts of the round. Last truth repeated: the last known truth of the series as"
    " the forecast.",
    "Weight: the mean over all rounds in which an expert was awake.",
)


def write_report_page(
    path: str | os.PathLike[str], report: ForecastReport, commands: Sequence[str] = (), title: str = _TITLE
) -> None:
    """Write a report as one HTML file that needs no network.

    Parameters
    ----------
    path : path
        The file.
    report : ForecastReport
        What it shows.
    commands : sequence of str, default ()
        Commands that write the page.
    title : str, default "Mixture of forecasts"
        The heading of the page.
    """
    write_page(path, report_page(report, commands, title))


def report_page(report: ForecastReport, commands: Sequence[str] = (), title: str = _TITLE) -> Page:
    """Return the page of a report; the arguments are those of `write_report_page`."""
    shown = shown_experts(report)
    scored = report.n_scored > 0
    return Page(
        title=title,
        subtitle=_findings(report),
        table=_table(report) if scored else None,
        series_table=series_page_table(report) if scored and report.n_series > 1 else None,
        panels=[_differences(report, shown), _losses(report)] if scored else (),
        histories=[_history(report, shown)] if report.n_rounds else (),
        commands=commands,
        notes=_notes(report),
        groups=(_EXPERTS, _MIXTURE, _UNIFORM),
        figures_heading="Losses over time",
        commands_heading="Command that wrote this page",
    )


def _findings(report: ForecastReport) -> str:
    """Return the counts, and how the mixture compares with the main comparators."""
    sentences = counts_text(report)
    if report.n_scored:
        mixture = report.comparators[0]
        parts = []
        for one in report.comparators[1:]:
            if one.name in ("best expert", "best convex combination", "uniform mean") and math.isfinite(one.ratio):
                name = f"{one.name} ({one.detail})" if one.name == "best expert" else one.name
                parts.append(f"{ratio_text(1 / one.ratio) if one.ratio else 'inf'} times that of the {name}")
        compared = f": {', '.join(parts)}" if parts else ""
        sentences.append(f"The mean {report.loss} loss of the mixture is {short_number(mixture.mean)}{compared}.")
    if report.cuts is not None:
        sentences.append(cuts_text(report))
    return " ".join(sentences)


def _table(report: ForecastReport) -> Table:
    columns = [
        Column("name", "Name", "series", card_label=""),
        Column("kind", "Kind"),
        Column("hindsight", "In hindsight"),
        Column("rounds", "Rounds", "number", decimals=0),
        Column("loss", "Mean loss", "number"),
        Column("ratio", "Ratio", "whisker", decimals=3, rules=(1.0,)),
        Column("weight", "Weight", "number", decimals=3),
        Column("best", "Best in periods", "number", decimals=0),
    ]
    rows: list[list[Cell]] = []
    for one in report.comparators:
        name = Text(one.name, "; ".join(filter(None, (one.detail, one.note))))
        hindsight = "yes" if one.hindsight else "no"
        measured: list[Cell] = [one.n_rounds, one.mean, Measured(one.ratio), math.nan, math.nan]
        rows.append([name, "comparator", hindsight, *measured])
    for expert in sorted(report.experts, key=lambda one: one.filled_loss):
        measured = [expert.n_awake, expert.mean, Measured(expert.ratio), expert.weight, expert.n_best]
        rows.append([_label(report, expert.name), "expert", "no", *measured])
    about = (
        "Ratio: to the loss of the mixture over the same rounds; the thin line is at 1. Experts are in the order of"
        " their loss over all scored rounds, with that of the mixture where they were asleep."
    )
    return Table(
        columns, rows, "Comparators and experts", about + PAGE_NOTE, Filter("kind", "Show", "Comparators and experts")
    )


def _differences(report: ForecastReport, shown: Shown) -> Panel:
    """Return the panel of total losses so far, minus those of the mixture."""
    periods = report.periods
    counts = periods.n_scored
    x = [*map(float, periods.starts), float(report.longest)]
    mixture = np.nan_to_num(periods.mixture) * counts

    def so_far(means: Vector) -> list[float]:
        return [0.0, *np.cumsum(np.nan_to_num(means) * counts - mixture).tolist()]

    series = [
        _curve(_label(report, name), _EXPERTS, x, so_far(periods.experts[:, k]))
        for k, name in _own_areas(report, shown)
    ]
    series.append(_curve("uniform mean", _UNIFORM, x, so_far(periods.uniform)))
    label = "loss so far, minus that of the mixture"
    return Panel("differences", "", "Above 0 the mixture is ahead", _rounds_axis(report), Axis(label), series)


def _losses(report: ForecastReport) -> Panel:
    """Return the panel of mean losses by period."""
    periods = report.periods
    x = list(map(float, periods.starts))
    best = report.comparators[1].detail
    series = [
        _curve("mixture", _MIXTURE, x, periods.mixture.tolist()),
        _curve(_label(report, best), _EXPERTS, x, periods.experts[:, report.names.index(best)].tolist()),
        _curve("uniform mean", _UNIFORM, x, periods.uniform.tolist()),
    ]
    length = f"periods of {periods.length} rounds" if periods.length > 1 else "rounds"
    title = f"Mean loss in {length}"
    return Panel("losses", "", title, _rounds_axis(report), Axis(f"mean {report.loss} loss"), series)


def _history(report: ForecastReport, shown: Shown) -> WeightHistory:
    periods = report.periods
    starts = periods.starts.tolist()
    ends = [report.longest - 1] if report.longest - 1 > starts[-1] else []  # the last weights hold to the last round
    best = [shown.area_of[k] if k >= 0 else -1 for k in periods.best.tolist()]
    times = [*periods.times, *([""] if ends else [])] if periods.times else []
    return WeightHistory(
        key="weights-of-experts",
        title="Weights of the experts",
        learner="",
        rounds=[*starts, *ends],
        weights=[[*curve.tolist(), *([float(curve[-1])] if ends else [])] for curve in shown.weights],
        best=[*best, *(best[-1:] if ends else [])],
        change_points=[one.first for one in report.best_sequence()[1:]] if report.n_scored else [],
        of_what="expert",
        names=shown.names,
        has_rest=shown.has_rest,
        times=times,
        note=_history_note(report),
    )


def _history_note(report: ForecastReport) -> str:
    if not report.n_scored:
        return ""
    length = f"period of {report.periods.length} rounds" if report.periods.length > 1 else "round"
    stretches = [f"{one.expert} from round {round_text(report, one.first)}" for one in report.best_sequence()]
    return (
        f"Strip: the expert with the least loss in each {length}. Dashed lines: changes of the best sequence of experts"
        f" in hindsight with at most {SHOWN_SWITCHES} switches: {', '.join(stretches)}."
    )


def _notes(report: ForecastReport) -> list[str]:
    notes = list(_NOTES)
    length = report.periods.length
    if report.n_series > 1:
        notes.append(
            "Rounds are counted within each series, and a period has the same rounds of all series. Losses are summed"
            " over all series. The best expert, the best convex combination and the sequence whose changes are shown in"
            " the figure of the weights are one for all series; the best sequences in the table are one for each."
        )
    if report.periods.times:
        notes.append("Times are those of the first rounds of the periods.")
    return [*notes, f"Periods have {length} round{'s' * (length > 1)}; the last one may have fewer."]


def _rounds_axis(report: ForecastReport) -> Axis:
    periods = report.periods
    return Axis("round", times=dict(zip(map(float, periods.starts), periods.times, strict=False)))


def _own_areas(report: ForecastReport, shown: Shown) -> list[tuple[int, str]]:
    """Return the experts with an area of their own, in the order of the areas, so that colours agree."""
    n_own = len(shown.names) - shown.has_rest
    experts = {area: k for k, area in enumerate(shown.area_of)}
    return [(experts[area], report.names[experts[area]]) for area in range(n_own)]


def _label(report: ForecastReport, name: str) -> str:
    """Return the name of an expert as its label; it must differ from those of the comparators."""
    taken = {one.name for one in report.comparators}
    return f"{name} (expert)" if name in taken else name


def _curve(label: str, group: Group, x: Sequence[float], y: Sequence[float]) -> Series:
    missing = [math.nan] * len(x)
    return Series(label, group.name, x, y, missing, missing)
