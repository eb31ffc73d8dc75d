"""The results of sweeps as an HTML page: the table, regret over numbers of rounds, and curves over rounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from driftwise.core.measures import SAYS_NOTHING
from driftwise.core.types import Actions
from driftwise.glossary import PAGE_NOTE
from driftwise.report import page
from driftwise.report.page.contents import Cell
from driftwise.results.columns import LISTING, Place, TableColumn, interval_notes, needed_columns
from driftwise.results.summaries import Comparison, Summary, in_order, level_note, mean_curve
from driftwise.results.sweep_figures import regret_label, setting, setting_title
from driftwise.results.sweep_results import SweepResults

_POINTS = 40  # of a curve over rounds
_COMPARATORS = {
    "dynamic": "the best action of every round",
    "static": "the best fixed action",
    "switching": "the best sequence of actions with that number of segments",
    "interval": "the given or the best fixed action in that interval of rounds",
}


def results_page(
    results: SweepResults,
    commands: Sequence[str] = (),
    *,
    title: str = "Results of sweeps",
    confidence: float = 0.95,
    scale: str | None = None,
    against: str | None = None,
    simultaneous: bool = False,
) -> page.Page:
    """Return the page of some results.

    Parameters
    ----------
    results : SweepResults
        The cells.
    commands : sequence of str, default ()
        Commands that write the page.
    title : str, default "Results of sweeps"
        The heading of the page.
    confidence : float, default 0.95
        Level of the intervals.
    scale : {"log", "linear"} or None, default None
        Axes of the figures. None: logarithmic if all mean regrets of a figure are positive; a figure that compares
        learners for one number of rounds is linear.
    against : str or None, default None
        The label of a baseline: the table also has the difference of regret from it, over pairs of cells.
    simultaneous : bool, default False
        Whether the intervals of all differences have the level `confidence` together (Bonferroni).

    Examples
    --------
    >>> import tempfile
    >>> from driftwise import Bernoulli, Environment, Hedge, Sweep, Switching
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = Sweep({"switching": Environment(Switching(3, 4), Bernoulli())}, Hedge(), [100, 200]).run(folder)
    >>> [panel.title for panel in results_page(results).panels]
    ['switching']
    """
    rows = in_order(results.summaries(confidence))
    compared = [] if against is None else results.compare(against, confidence, simultaneous)
    differences = {row.place: row for row in compared}
    level = level_note(compared, confidence, simultaneous)
    panels = [*_regret_panels(rows, scale, against), *_curve_panels(results, rows, confidence, scale, against)]
    return page.Page(
        title=title,
        subtitle=f"{results.counts()}.",
        table=_table(rows, differences, confidence, against, level),
        panels=panels,
        commands=commands,
        notes=[*_notes(results, rows, confidence, against, level), *_interval_notes([*rows, *compared])],
        groups=(page.SeriesGroup(""), page.SeriesGroup("Baseline", "baseline")),
        figures_heading="Mean regret",
        commands_heading="Command that wrote this page",
        guide="sweeps",
    )


def _table(
    rows: Sequence[Summary], differences: dict[Place, Comparison], confidence: float, against: str | None, level: str
) -> page.PageTable:
    shown = [column for column in needed_columns(LISTING, rows) if column.page_heading]
    about = f"Mean over cells with its {100 * confidence:g} % interval. A bound of T or more is trivial."
    if against is not None:  # in place of the ratio: both would be too wide
        shown = [column for column in shown if column.key != "ratio"]
        about += f" Difference: regret minus that of {against} on the same losses. {level}"
    columns = [_page_column(column) for column in shown]
    lines = [[_page_cell(column, row) for column in shown] for row in rows]
    if against is not None:
        columns.append(page.PageColumn("difference", "Difference", "whisker", rules=(0.0,)))
        for row, line in zip(rows, lines, strict=True):
            compared = differences.get(row.place)
            line.append(page.Measured(math.nan) if compared is None else page.Measured(*compared.difference))
    chooser = page.Filter("environment", "Environment", "All environments")
    return page.PageTable(columns, lines, "Table", about + PAGE_NOTE, chooser)


def _page_column(column: TableColumn[Summary]) -> page.PageColumn:
    key, heading = column.heading or column.key, column.page_heading
    if column.kind in ("group", "learner"):
        is_group = column.kind == "group"
        return page.PageColumn(key, heading, "text" if is_group else "series", once=is_group, card_label="")
    if column.kind == "count":
        return page.PageColumn(key, heading, "number", decimals=0)
    if column.kind == "estimate":
        return page.PageColumn(key, heading, "whisker")
    return page.PageColumn(key, heading, order="number" if column.kind == "number" else "")


def _page_cell(column: TableColumn[Summary], row: Summary) -> Cell:
    if column.kind == "learner":
        return page.Text(column.value(row), "", row.caveat)
    if column.kind == "count":
        return float(column.value(row))
    return page.Measured(*column.value(row)) if column.kind == "estimate" else column.text(row)


def _regret_panels(rows: Sequence[Summary], scale: str | None, against: str | None) -> list[page.Panel]:
    """Return a panel for each environment, comparator and play: over numbers of rounds, or with a row per learner."""
    panels: list[page.Panel] = []
    for _, group in groupby(rows, key=setting):
        played = [row for row in group if row.n_cells]
        if not played:
            continue
        series = []
        for learner in dict.fromkeys(row.place.learner for row in _last_rounds_first(played)):
            own = [row for row in played if row.place.learner == learner]
            x = [float(row.place.n_rounds) for row in own]
            points = zip(*(row.regret for row in own), strict=True)
            series.append(_line(learner, against, [row.caveat for row in own], x, *points))
        key, name, label = f"regret-{len(panels) + 1}", setting_title(played[0], rows), regret_label(played[0])
        if len({row.place.n_rounds for row in played}) > 1:
            axes = _scale(scale, (mean for line in series for mean in line.mean))
            panels.append(page.Panel(key, "", name, page.Axis("rounds T", axes), page.Axis(label, axes), series))
        else:
            value = page.Axis(label, scale or "linear")
            at = f"{name}, {played[0].place.n_rounds} rounds"
            panels.append(page.RowPanel(key, "", at, page.Axis("rounds T"), value, series))
    return panels


def _curve_panels(
    results: SweepResults, rows: Sequence[Summary], confidence: float, scale: str | None, against: str | None
) -> list[page.Panel]:
    """Return a panel of regret over rounds for each environment with curves, for its largest number of rounds."""
    if not (results.cells.lengths > 1).any():
        return []
    members = dict(results.places())
    panels: list[page.Panel] = []
    for _, group in groupby(rows, key=setting):
        ordered = _last_rounds_first(list(group))
        means = [(row, mean_curve(results.cells, members[row.place], confidence)) for row in ordered]
        curves = [(row, curve) for row, curve in means if curve is not None]
        longest = [(row, curve) for row, curve in curves if row.place.n_rounds == curves[0][0].place.n_rounds]
        if not longest:
            continue
        axes = _scale(scale, (mean for _, curve in longest for mean in curve.mean))
        series = []
        for row, curve in longest:
            at = _some(curve.rounds, axes)
            points = ([float(value) for value in values[at]] for values in curve[:4])
            series.append(_line(row.place.learner, against, [row.caveat], *points))
        first = longest[0][0]
        key, name = f"curves-{len(panels) + 1}", f"{setting_title(first, rows)}, {first.place.n_rounds} rounds"
        x, value = page.Axis("round", axes), page.Axis(regret_label(first), axes)
        panels.append(page.Panel(key, "Regret over rounds", name, x, value, series))
    return panels


def _line(learner: str, against: str | None, caveats: Sequence[str], *points: Sequence[float]) -> page.Series:
    """Return the line of a learner; points are their x, mean, low and high."""
    caveat = next((f"{SAYS_NOTHING}: {caveat}" for caveat in caveats if caveat), "")
    x, mean, low, high = points
    return page.Series(learner, "Baseline" if learner == against else "", x, mean, low, high, None, caveat)


def _last_rounds_first(rows: Sequence[Summary]) -> list[Summary]:
    """Return rows with the largest number of rounds first; those with as many stay in order."""
    return sorted(rows, key=lambda row: -row.place.n_rounds)


def _scale(scale: str | None, means: Iterable[float]) -> str:
    return scale or ("log" if all(mean > 0 for mean in means) else "linear")


def _some(rounds: Actions, axes: str) -> Actions:
    """Return the positions of a few rounds, evenly spread over the axis."""
    spread: Any = np.geomspace if axes == "log" else np.linspace
    wanted = spread(rounds[0], rounds[-1], min(_POINTS, len(rounds)))
    return np.unique(np.minimum(np.searchsorted(rounds, wanted), len(rounds) - 1))


def _interval_notes(rows: Sequence[Summary | Comparison]) -> list[str]:
    return [f"{note.removeprefix('- ').rstrip('.').capitalize()}." for note in interval_notes(rows)]


def _notes(
    results: SweepResults, rows: Sequence[Summary], confidence: float, against: str | None, level: str
) -> list[str]:
    notes = []
    for comparator in dict.fromkeys(row.place.comparator for row in rows):
        rule = _COMPARATORS.get(comparator.partition(":")[0], "the comparator")
        notes.append(f"Regret ({comparator}): the loss of the learner minus that of {rule}.")
    kinds = {row.kind for row in rows}
    if "pseudo" in kinds:
        notes.append("Pseudo-regret: both losses are computed with the true means instead of the random losses.")
    if "realised" in kinds:
        notes.append("Realised regret: both losses are those that occurred, since the means are unknown.")
    notes.append(
        f"Intervals: Student's {100 * confidence:g} % confidence interval for the mean over cells; a cell is one run of"
        " one seed. One cell has no interval, and cells that are all equal have none."
    )
    if against is not None:
        notes.append(
            f"Difference: the regret minus that of {against} in the same environment, seed and run, so on the same"
            f" losses. Learners against each of which an adversary built its own environment have none. {level}"
        )
    if any(row.caveat for row in rows):
        notes.append("A star marks a learner whose tuning rule is meaningless in the environment.")
    if n_failed := int(results.cells.failed.sum()):
        notes.append(f"{n_failed} cells could not be played and are left out.")
    return notes
