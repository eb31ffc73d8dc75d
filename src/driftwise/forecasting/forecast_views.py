"""A report on forecasts as text, as a figure and as a page."""

from __future__ import annotations

import contextlib
import math
import os
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from driftwise.core.types import Vector
from driftwise.forecasting.forecast_report import (
    SHOWN_SWITCHES,
    ComparatorLoss,
    ExpertSummary,
    ForecastReport,
    largest_weights,
)
from driftwise.glossary import PAGE_NOTE
from driftwise.report import page
from driftwise.report.drawing import COLOURS, GREY, action_fill, best_intervals, draw_areas, literal, time_ticks
from driftwise.report.figures import canvas
from driftwise.report.page.contents import Cell
from driftwise.report.tables import fixed, number, shortened, text_table, text_width

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_TEXT_WIDTH = 80
_COMPARATOR, _EXPERT, _STRETCH, _TIME = 46, 26, 36, 24  # the widest names and times
_SERIES, _BEST = 18, 14  # and those in the table of the series, if it is too wide
_MOST_SERIES = 10
_MOST_EXPERTS = 30
_MOST_TERMS = 12  # of the best convex combination
_LARGE_RATIO = 1000
_LARGE = 1e7  # from here on, numbers have a power of ten
MARK = "*"
_RIVALS = ("best expert", "best convex combination", "uniform mean", "last truth repeated")  # of the headline
_RATIO_TEXT = "Ratio: the loss divided by that of the mixture over the same rounds; below 1, the mixture was worse."


def report_text(report: ForecastReport) -> str:
    """Return a report as text, at most 80 columns wide."""
    head = [f"Mixture of {len(report.names)} expert{'s' * (len(report.names) != 1)}, {report.loss} loss."]
    head += counts_text(report)
    lines = [*_wrapped(report.timing), *(shortened(line, _TEXT_WIDTH) for line in head)]
    parts = ["\n".join([*lines, *_wrapped(" ".join(cuts_text(report)))])]
    if report.n_scored:
        parts += ["\n".join(_wrapped(" ".join(headline(report)))), _comparators(report), _experts(report)]
        parts += [_series(report)] if report.n_series > 1 else []
        parts.append(_stretches(report))
    return "\n\n".join(parts)


def counts_text(report: ForecastReport) -> list[str]:
    """Return sentences on the numbers of rounds."""
    series = f" of {report.n_series:,} series" if report.n_series != 1 else ""
    lines = [f"{report.n_rounds:,} round{'s' * (report.n_rounds != 1)}{series}, {report.n_scored:,} scored."]
    skipped = [
        (report.n_without_truth, "without truth"),
        (report.n_without_forecast, "without forecast"),
        (report.n_without_loss, "without a finite loss"),
    ]
    if any(n for n, _ in skipped):
        lines.append(f"Not scored: {', '.join(f'{n:,} {why}' for n, why in skipped if n)}.")
    return lines


def cuts_text(report: ForecastReport) -> list[str]:
    """Return a sentence on the rounds that were cut; none if there are none, or if this is not known."""
    if report.cuts is None or not report.cuts.n_cuts:
        return []
    n_cuts, total = report.cuts
    rounds = f"{n_cuts:,} round{'s' * (n_cuts != 1)}"
    why = "the losses were too large to be learned in full"
    return [f"In {rounds} {why} (cut); {short_number(total)} in total was left out."]


def headline(report: ForecastReport) -> list[str]:
    """Return sentences on the loss of the mixture and of its rivals, the strongest first, whichever it is.

    The rivals are the best expert and the best convex combination in hindsight, the uniform mean, and the last truth
    repeated; all numbers are the ratios of the table. Best sequences, which switch in hindsight, are in the table only.
    """
    mixture = report.comparators[0]
    sentences = [f"The mean {report.loss} loss of the mixture is {short_number(mixture.mean)}."]
    rivals = [row for row in report.comparators[1:] if row.name in _RIVALS and not math.isnan(row.loss)]
    rivals.sort(key=lambda row: (_relative(row), row.mean, row.hindsight))
    if rivals:
        strongest, *others = rivals
        relative, name = _relative(strongest), _rival_name(strongest)
        if ratio_text(relative) == ratio_text(1.0):
            verdict = f"The {name} is as good"
        elif relative < 1:
            verdict = f"The {name} is better"
        else:
            verdict = f"The strongest rival without switches, the {name}, is worse"
        sentences.append(f"{verdict}: {_rival_loss(strongest, ' the loss of the mixture')}.")
        if others:
            sentences.append(f"Others: {'; '.join(f'{_rival_name(row)}, {_rival_loss(row)}' for row in others)}.")
    return sentences


def _relative(row: ComparatorLoss) -> float:
    """Return the ratio; if the mixture has no positive loss, 1 for an equal loss, 0 for a smaller, else infinity."""
    if row.mixture_loss > 0:
        return row.ratio
    if row.loss == row.mixture_loss:
        return 1.0
    return 0.0 if row.loss < row.mixture_loss else math.inf


def _rival_name(row: ComparatorLoss) -> str:
    hindsight = " in hindsight" if row.hindsight else ""
    detail = f" ({shortened(row.detail, _EXPERT)})" if row.name == "best expert" else ""
    return f"{row.name}{hindsight}{detail}"


def _rival_loss(row: ComparatorLoss, of_what: str = "") -> str:
    """Return the loss of a rival in words: as a multiple of that of the mixture, if there is such a number."""
    if math.isfinite(row.ratio):
        return f"{ratio_text(row.ratio)} times{of_what}"
    same = short_number(row.mixture_loss / row.n_rounds)
    return f"a mean loss of {short_number(row.mean)}, where that of the mixture is {same}"


def _wrapped(text: str) -> list[str]:
    """Return a text in lines of at most 80 columns; a word that is wider has a line of its own and is shortened."""
    lines: list[str] = []
    for word in text.split():
        if lines and text_width(f"{lines[-1]} {word}") <= _TEXT_WIDTH:
            lines[-1] += f" {word}"
        else:
            lines.append(shortened(word, _TEXT_WIDTH))
    return lines


def ratio_text(ratio: float) -> str:
    """Return a ratio as text."""
    return fixed(ratio, 3) if abs(ratio) < _LARGE_RATIO else short_number(ratio)


def short_number(value: float) -> str:
    """Return a number with four digits, in at most ten characters.

    >>> short_number(1234567.8), short_number(-1.25e40)
    ('1234568', '-1.25e+40')
    """
    return f"{value:.4g}" if abs(value) >= _LARGE else number(value)


def round_text(report: ForecastReport, t: int) -> str:
    """Return a round as text, with the time of the period that begins with it if it is known.

    The end of the last period has none.
    """
    place = t // report.periods.length
    if t % report.periods.length == 0 and place < len(report.periods.times):
        return f"{t} ({shortened(report.periods.times[place], _TIME)})"
    return str(t)


def _comparators(report: ForecastReport) -> str:
    rows = []
    for row in report.comparators:
        name = row.name + (MARK if row.note else "")
        if row.detail and row.name == "best expert":  # the weights of a combination have lines of their own
            name = f"{name}: {row.detail}"
        numbers = short_number(row.mean), ratio_text(row.ratio)
        rows.append([shortened(name, _COMPARATOR), _yes_or_no(row.hindsight), *numbers])
    table = text_table(["", "hindsight", "mean loss", "ratio"], rows, left=2)
    lines = [_RATIO_TEXT]
    if any(expert.n_awake < report.n_scored for expert in report.experts):
        lines.append("In hindsight, an expert that was asleep has the loss of the mixture.")
    if report.n_series > 1:
        lines.append(
            "Losses are summed over all series. The best expert and the best convex combination are one for all series,"
            " the best sequences one for each."
        )
    lines += [f"{MARK} {comparator.name}: {comparator.note}." for comparator in report.comparators if comparator.note]
    return _with_notes("\n".join([table, *_combination(report)]), lines)


def _combination(report: ForecastReport) -> list[str]:
    """Return lines with the weights of the best convex combination, the largest first."""
    if report.combination is None:
        return []
    shown = largest_weights(report.combination)
    terms = [f"{report.combination[k]:.2f} {shortened(report.names[k], _EXPERT)}" for k in shown[:_MOST_TERMS]]
    terms += [f"{len(shown) - _MOST_TERMS} more"] if len(shown) > _MOST_TERMS else []
    terms[-1] += "."
    lines = ["Best convex combination:"]
    for i, term in enumerate(terms):
        added = f" + {term}" if i else f" {term}"
        if text_width(lines[-1] + added) > _TEXT_WIDTH:
            lines.append(" ")
        lines[-1] += added
    return lines


def _yes_or_no(value: bool) -> str:
    return "yes" if value else "no"


def _from_best(report: ForecastReport) -> list[ExpertSummary]:
    """Return the experts in the order of their loss, with that of the mixture where they were asleep.

    Those that were never awake are the last.
    """
    return sorted(report.experts, key=lambda expert: (not expert.n_awake, expert.filled_loss))


def _experts(report: ForecastReport) -> str:
    """Return the table of experts, the best first; the columns about sleep only if somebody was asleep."""
    ordered = _from_best(report)
    slept = any(expert.n_awake < report.n_scored for expert in ordered)
    headers = ["expert", "weight", "mean loss", "ratio", *(["awake", "filled"] if slept else [])]
    rows = []
    for expert in ordered[:_MOST_EXPERTS]:
        numbers = [fixed(expert.weight, 3), short_number(expert.mean), ratio_text(expert.ratio)]
        awake, filled = expert.n_awake / report.n_scored, expert.filled_loss / report.n_scored
        row = [shortened(expert.name, _EXPERT), *numbers, f"{100 * awake:.0f} %", short_number(filled)]
        rows.append(row[: len(headers)])
    lines = []
    if len(ordered) > _MOST_EXPERTS:
        lines.append(f"{len(ordered) - _MOST_EXPERTS} more experts are not shown.")
    if slept:
        lines.append(
            "Mean loss and ratio: over the rounds in which the expert was awake. Filled: mean loss over all scored"
            " rounds, with the loss of the mixture where the expert was asleep."
        )
    return _with_notes(text_table(headers, rows), lines)


class SeriesRow(NamedTuple):
    """One series; losses are means over its scored rounds, NaN if it has none."""

    name: str
    n_scored: int
    mixture: float
    best_expert: str  # in hindsight, with the loss of the mixture where it was asleep; "" without scored rounds
    ratio: float  # of its loss to that of the mixture
    uniform: float


def series_rows(report: ForecastReport) -> list[SeriesRow]:
    """Return the series with the most scored rounds; of equal ones, those that come first."""
    totals, means, rows = report.series, report.series_table(), []
    for s in np.argsort(-totals.n_scored, kind="stable")[:_MOST_SERIES].tolist():
        name = str(report.series_names[s]) if report.series_names else f"series {s + 1}"
        least, mixture = float(totals.of_awake[s].min()), float(totals.mixture[s])
        ratio = least / mixture if mixture > 0 else math.nan
        n_scored, best = int(totals.n_scored[s]), means["best_expert"][s]
        rows.append(SeriesRow(name, n_scored, float(means["mixture"][s]), best, ratio, float(means["uniform"][s])))
    return rows


def _hidden_text(report: ForecastReport) -> str:
    """Return a sentence on the series that are not shown, "" if all are."""
    n_hidden = report.n_series - _MOST_SERIES
    text = f"{n_hidden:,} more series: summary.json of the command, or report.series_table() in Python."
    return text if n_hidden > 0 else ""


def _series(report: ForecastReport) -> str:
    """Return the table of the series with the most rounds."""
    headers = ["series", "best expert", "rounds", "mixture", "ratio", "uniform"]
    for widest_name, widest_expert in ((_EXPERT, _EXPERT), (_SERIES, _BEST)):
        rows = []
        for row in series_rows(report):
            texts = [shortened(row.name, widest_name), shortened(row.best_expert, widest_expert) or "-"]
            numbers = [short_number(row.mixture), ratio_text(row.ratio), short_number(row.uniform)]
            rows.append([*texts, f"{row.n_scored:,}", *numbers])
        table = text_table(headers, rows, left=2)
        if max(map(text_width, table.splitlines())) <= _TEXT_WIDTH:
            break
    about = (
        "Mean losses of the mixture and the uniform mean; the best expert of the series in hindsight, and the ratio of"
        " its loss to that of the mixture."
    )
    return _with_notes(table, [about, _hidden_text(report)])


def _stretches(report: ForecastReport) -> str:
    """Return the best sequence of experts with few switches as a table."""
    stretches = report.best_sequence()
    length = report.periods.length
    where = f" between periods of {length} rounds" if length > 1 else ""
    series = ", the same for all series" if report.n_series > 1 else ""
    head = f"Best sequence of experts in hindsight, at most {SHOWN_SWITCHES} switches{where}{series}:"
    rows = [[round_text(report, stretch.first), shortened(stretch.expert, _STRETCH)] for stretch in stretches]
    return "\n".join([*textwrap.wrap(head, _TEXT_WIDTH), text_table(["from round", "expert"], rows, left=2)])


def _with_notes(table: str, notes: Sequence[str]) -> str:
    """Return a table with wrapped lines below it."""
    return "\n".join([table, *(line for note in notes for line in textwrap.wrap(note, _TEXT_WIDTH))])


_MOST_AREAS = 10  # of experts with one of their own
_LABEL, _TITLE = 28, 100  # the most characters
_WIDTH, _HEIGHTS = 9.0, (2.8, 0.32, 2.2)  # inches: of the figure, and of each panel
_LINES = 60  # characters of time labels that fit below the axes
Looks = dict[str, Any]  # arguments of Matplotlib
_REST: Looks = {"color": GREY, "alpha": 0.45}


class Shown(NamedTuple):
    """The experts with an area of their own, and the areas of all; the rest share the last one."""

    names: list[str]  # of the areas
    weights: list[Vector]  # of the areas, by period
    area_of: list[int]  # of each expert
    has_rest: bool

    def best(self, report: ForecastReport) -> list[int]:
        """Return the area of the best expert of each period, -1 if nothing was scored."""
        return [self.area_of[k] if k >= 0 else -1 for k in report.periods.best.tolist()]


def shown_experts(report: ForecastReport) -> Shown:
    """Return the experts with the largest weights or best in the most periods, these first, and the sum of the others.

    If there is an area for everyone, they are in their own order.
    """
    n_experts = len(report.names)
    weights = np.nan_to_num(report.periods.weights)
    if n_experts <= _MOST_AREAS:
        return Shown(list(report.names), list(weights.T), list(range(n_experts)), False)
    n_best = np.array([expert.n_best for expert in report.experts]) / max(1, len(report.periods.starts))
    merit = weights.sum(axis=0) / max(1e-300, weights.sum()) + n_best
    kept = sorted(range(n_experts), key=lambda k: -merit[k])[:_MOST_AREAS]
    others = [k for k in range(n_experts) if k not in kept]
    area_of = [kept.index(k) if k in kept else _MOST_AREAS for k in range(n_experts)]
    names = [*(report.names[k] for k in kept), f"{len(others)} other experts"]
    return Shown(names, [*weights[:, kept].T, weights[:, others].sum(axis=1)], area_of, True)


def report_figure(report: ForecastReport) -> Figure:
    """Return the weights as stacked areas above a strip of the best experts, and mean losses by period."""
    figure = canvas()(figsize=(_WIDTH, 0.9 + sum(_HEIGHTS)), layout="constrained")
    panels = figure.subplots(3, 1, sharex=True, height_ratios=_HEIGHTS)
    edges = [*report.periods.starts.tolist(), max(1, report.longest)]
    shown = shown_experts(report)
    fills = [action_fill(k) for k in range(len(shown.names))]
    if shown.has_rest:
        fills[-1] = _REST
    if report.n_rounds:
        heights = [[*curve.tolist(), float(curve[-1])] for curve in shown.weights]  # the last holds to the last edge
        areas = draw_areas(panels[0], edges, heights, fills, step="post")
        _add_keys(panels[0], list(zip(areas, shown.names, strict=True))[::-1])
        for area, first, last in best_intervals(shown.best(report)):
            if area >= 0:  # else no round was scored
                panels[1].axvspan(edges[first], edges[last + 1], linewidth=0, **fills[area])
        _draw_losses(panels[2], edges, report)
    title = f"Mixture of {len(report.names)} experts, {report.loss} loss, {report.n_scored:,} rounds scored"
    figure.suptitle(literal(title, _TITLE), fontsize="medium")
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
    panels[1].spines[["left", "bottom"]].set_visible(False)
    panels[0].set(ylim=(0.0, 1.0), yticks=(0.0, 0.5, 1.0), ylabel="weight")
    panels[1].set(ylim=(0.0, 1.0), yticks=())
    panels[1].set_ylabel("best", rotation=0, ha="right", va="center")
    panels[1].tick_params(bottom=False)
    panels[2].set(ylabel=literal(f"mean {report.loss} loss", _LABEL), xlim=(0, edges[-1]))
    panels[2].grid(alpha=0.25, linewidth=0.6)
    panels[2].set_xlabel("time" if report.periods.times else "round")
    if report.periods.times:
        ticks = time_ticks(report.periods.starts.tolist(), report.periods.times, _LINES)
        panels[2].set_xticks([t for t, _ in ticks], [literal(text, _LABEL) for _, text in ticks])
    return figure


def _draw_losses(axes: Axes, edges: list[int], report: ForecastReport) -> None:
    periods = report.periods
    curves = [("mixture", periods.mixture, COLOURS[0], "-", 1.8), ("uniform mean", periods.uniform, GREY, ":", 1.6)]
    if report.n_scored:
        name, means = _best_expert(report)
        curves.insert(1, (f"best expert: {name}", means, COLOURS[1], "-", 1.2))
    keys: list[tuple[Artist, str]] = []
    for name, means, colour, stroke, width in curves:
        heights = [*means.tolist(), float(means[-1])]
        line = axes.step(edges, heights, stroke, where="post", color=colour, linewidth=width)[0]
        keys.append((line, name))
    if (np.nan_to_num(periods.mixture) >= 0).all():
        axes.set_ylim(bottom=0.0)
    _add_keys(axes, keys)


def _best_expert(report: ForecastReport) -> tuple[str, Vector]:
    """Return the name of the best expert in hindsight, and its mean losses by period."""
    name = report.comparators[1].detail
    return name, report.periods.experts[:, report.names.index(name)]


def _add_keys(axes: Axes, keys: list[tuple[Artist, str]]) -> None:
    artists, labels = zip(*keys, strict=True)
    place: Looks = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.03), "borderaxespad": 0.0}
    look: Looks = {"fontsize": "small", "frameon": False, "handlelength": 1.4, "labelspacing": 0.3}
    legend = axes.legend(artists, [str(i) for i in range(len(labels))], **look, **place)
    for text, label in zip(legend.get_texts(), labels, strict=True):  # Matplotlib omits labels with an underscore
        text.set_text(literal(label, _LABEL))


_EXPERTS = page.SeriesGroup("Experts")
_MIXTURE = page.SeriesGroup("Mixture", "thick")
_UNIFORM = page.SeriesGroup("Reference", "baseline")
_TRUTH = page.SeriesGroup("Truth")
_RATIO = page.PageColumn("ratio", "Ratio", "whisker", decimals=3, rules=(1.0,))
_PAGE_TITLE = "Mixture of forecasts"
_HEAD = 4096  # bytes at the start of a page, in which its title is
_NOTES = (
    "Scored rounds: those with a truth, at least one expert awake (with a forecast), and a finite loss of the mixture.",
    "Mean loss: over the rounds given beside it. For an expert these are the scored rounds in which it was awake, and"
    " for the last truth those with an earlier truth; for all others, the scored rounds.",
    _RATIO_TEXT,
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
    path: str | os.PathLike[str],
    report: ForecastReport,
    commands: Sequence[str] = (),
    title: str = _PAGE_TITLE,
    follow_link: bool = True,
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
    follow_link : bool, default True
        Whether the file is written to which a symbolic link leads; if not, the link is replaced.
    """
    page.write_page(path, report_page(report, commands, title), follow_link)


def is_report_page(path: Path) -> bool:
    """Return whether a file is a page that `write_report_page` wrote with the usual title; a link is none."""
    try:
        with contextlib.closing(os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb")) as file:
            head = file.read(_HEAD)
    except OSError:
        return False
    return f"<title>{_PAGE_TITLE}</title>".encode() in head


def report_page(report: ForecastReport, commands: Sequence[str] = (), title: str = _PAGE_TITLE) -> page.Page:
    """Return the page of a report; the arguments are those of `write_report_page`."""
    shown = shown_experts(report)
    scored = report.n_scored > 0
    sentences = [report.timing] if report.timing else []
    sentences += [*counts_text(report), *(headline(report) if scored else ()), *cuts_text(report)]
    return page.Page(
        title=title,
        subtitle=" ".join(sentences),
        table=_table(report) if scored else None,
        series_table=_series_table(report) if scored and report.n_series > 1 else None,
        panels=[_differences(report, shown), _truths(report), _losses(report)] if scored else (),
        histories=[_history(report, shown)] if report.n_rounds else (),
        commands=commands,
        notes=_notes(report),
        groups=(_EXPERTS, _MIXTURE, _UNIFORM, _TRUTH),
        figures_heading="Forecasts and losses over time",
        commands_heading="Command that wrote this page",
        guide="forecasting",
    )


def _table(report: ForecastReport) -> page.PageTable:
    columns = [
        page.PageColumn("name", "Name", "series", card_label=""),
        page.PageColumn("kind", "Kind"),
        page.PageColumn("hindsight", "In hindsight"),
        page.PageColumn("rounds", "Rounds", "number", decimals=0),
        page.PageColumn("loss", "Mean loss", "number"),
        _RATIO,
        page.PageColumn("weight", "Weight", "number", decimals=3),
        page.PageColumn("best", "Best in periods", "number", decimals=0),
    ]
    rows: list[list[Cell]] = []
    for row in report.comparators:
        name = page.Text(row.name, "; ".join(filter(None, (row.detail, row.note))))
        texts = (name, "comparator", _yes_or_no(row.hindsight))
        rows.append([*texts, row.n_rounds, row.mean, page.Measured(row.ratio), math.nan, math.nan])
    for expert in _from_best(report):
        measured = (expert.n_awake, expert.mean, page.Measured(expert.ratio), expert.weight, expert.n_best)
        rows.append([_label(report, expert.name), "expert", "no", *measured])
    about = (
        f"{_RATIO_TEXT} The thin line is at 1. Experts are in the order of their loss over all scored rounds, with that"
        " of the mixture where they were asleep."
    )
    heading = "Comparators and experts"
    return page.PageTable(columns, rows, heading, about + PAGE_NOTE, page.Filter("kind", "Show", heading))


def _series_table(report: ForecastReport) -> page.PageTable:
    columns = [
        page.PageColumn("series", "Series", card_label=""),
        page.PageColumn("rounds", "Rounds", "number", decimals=0),
        page.PageColumn("mixture", "Mixture", "number"),
        page.PageColumn("best-expert", "Best expert"),
        _RATIO,
        page.PageColumn("uniform", "Uniform mean", "number"),
    ]
    rows: list[list[Cell]] = [[*row[:4], page.Measured(row.ratio), row.uniform] for row in series_rows(report)]
    about = (
        "Mean losses of the mixture and the uniform mean over the scored rounds of a series; the series with the most"
        " rounds first. Best expert: that of the series, in hindsight. Ratio: its loss divided by that of the mixture;"
        f" the thin line is at 1. {_hidden_text(report)}"
    )
    return page.PageTable(columns, rows, "Series", about.rstrip())


def _differences(report: ForecastReport, shown: Shown) -> page.Panel:
    """Return the panel of total losses so far, minus those of the mixture."""
    periods = report.periods
    counts = periods.n_scored
    x = [*map(float, periods.starts), float(report.longest)]
    mixture = np.nan_to_num(periods.mixture) * counts

    def so_far(means: Vector) -> list[float]:
        return [0.0, *np.cumsum(np.nan_to_num(means) * counts - mixture).tolist()]

    series = [  # of the experts with an area of their own, in the order of the areas, so that colours agree
        _curve(_label(report, name), _EXPERTS, x, so_far(periods.experts[:, shown.area_of.index(area)]))
        for area, name in enumerate(shown.names[: len(shown.names) - shown.has_rest])
    ]
    series.append(_curve("uniform mean", _UNIFORM, x, so_far(periods.uniform)))
    label = "loss so far, minus that of the mixture"
    return page.Panel("differences", "", "Above 0 the mixture is ahead", _rounds_axis(report), page.Axis(label), series)


def _truths(report: ForecastReport) -> page.Panel:
    """Return the panel of the truth and the forecast over time."""
    periods = report.periods
    x = list(map(float, periods.starts))
    series = [
        _curve("mixture", _MIXTURE, x, periods.forecast.tolist()),
        _curve("truth", _TRUTH, x, periods.truth.tolist()),
    ]
    of = [f"{periods.length} rounds"] * (periods.length > 1) + [f"{report.n_series:,} series"] * (report.n_series > 1)
    title = f"Truth and forecast{', means of ' if of else ''}{' of '.join(of)}"
    return page.Panel("truths", "", title, _rounds_axis(report), page.Axis("truth, forecast"), series)


def _losses(report: ForecastReport) -> page.Panel:
    """Return the panel of mean losses by period."""
    periods = report.periods
    x = list(map(float, periods.starts))
    best, means = _best_expert(report)
    series = [
        _curve("mixture", _MIXTURE, x, periods.mixture.tolist()),
        _curve(_label(report, best), _EXPERTS, x, means.tolist()),
        _curve("uniform mean", _UNIFORM, x, periods.uniform.tolist()),
    ]
    length = f"periods of {periods.length} rounds" if periods.length > 1 else "rounds"
    title = f"Mean loss in {length}"
    return page.Panel("losses", "", title, _rounds_axis(report), page.Axis(f"mean {report.loss} loss"), series)


def _history(report: ForecastReport, shown: Shown) -> page.WeightHistory:
    periods = report.periods
    starts = periods.starts.tolist()
    ends = [report.longest - 1] if report.longest - 1 > starts[-1] else []  # the last weights hold to the last round
    best = shown.best(report)
    times = [*periods.times, *([""] if ends else [])] if periods.times else []
    return page.WeightHistory(
        key="weights-of-experts",
        title="Weights of the experts",
        learner="",
        rounds=[*starts, *ends],
        weights=[[*curve.tolist(), *([float(curve[-1])] if ends else [])] for curve in shown.weights],
        best=[*best, *(best[-1:] if ends else [])],
        change_points=[stretch.first for stretch in report.best_sequence()[1:]] if report.n_scored else [],
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
    stretches = [f"{span.expert} from round {round_text(report, span.first)}" for span in report.best_sequence()]
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


def _rounds_axis(report: ForecastReport) -> page.Axis:
    periods = report.periods
    return page.Axis("round", times=dict(zip(map(float, periods.starts), periods.times, strict=False)))


def _label(report: ForecastReport, name: str) -> str:
    """Return the name of an expert as its label; it must differ from those of the comparators."""
    taken = {row.name for row in report.comparators}
    return f"{name} (expert)" if name in taken else name


def _curve(label: str, group: page.SeriesGroup, x: Sequence[float], y: Sequence[float]) -> page.Series:
    missing = [math.nan] * len(x)
    return page.Series(label, group.name, x, y, missing, missing)
