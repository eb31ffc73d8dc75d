"""The tables of sweeps: as text, LaTeX and CSV."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from operator import attrgetter

import numpy as np

from driftwise.core.errors import one_line
from driftwise.core.files import write_atomically
from driftwise.core.measures import SAYS_NOTHING
from driftwise.core.types import Vector
from driftwise.report.tables import TableGroup, grouped_table, text_table
from driftwise.results.cells import COUNTS, REALS, TEXTS, CellTable, cell_texts, final_bounds
from driftwise.results.columns import (
    CAVEAT,
    LEARNER,
    RATIO,
    REGRET,
    SETTING,
    Place,
    Row,
    TableColumn,
    escaped,
    needed_columns,
)
from driftwise.results.labels import CellLabels
from driftwise.results.results import footnote, regret_name, write_csv
from driftwise.results.summaries import Comparison, Summary, Unpaired, by_number


def counts_text(table: CellTable, n_environments: int, n_learners: int) -> str:
    """Return how many cells there are, and of what, in one line."""
    n_failed = int(table.failed.sum())
    counts = [
        _counted(n_environments, "environment"),
        _counted(n_learners, "learner"),
        _counted(len(np.unique(table.cells["n_rounds"])), "number", " of rounds"),
        _counted(len(np.unique(table.cells["seed"])), "seed"),
        f"{n_failed or 'none'} failed",
    ]
    return f"{_counted(len(table), 'cell')}: {', '.join(counts)}" if len(table) else "no cells"


# The table of mean regrets, in text, LaTeX, on the page and in JSON.
LISTING: tuple[TableColumn[Summary], ...] = (
    TableColumn("environment", "group", attrgetter("place.environment"), page_heading="Environment"),
    LEARNER,
    *SETTING,
    TableColumn("kind", "plain", attrgetter("kind")),
    TableColumn("n_cells", "count", attrgetter("n_cells"), "cells", "Cells"),
    TableColumn("n_failed", "count", attrgetter("n_failed"), "failed", "Failed", is_needed=any),
    *REGRET,
    RATIO,
    CAVEAT,
)


def _pairs_text(row: Comparison) -> str:
    return str(row.n_pairs) if row.n_pairs == row.n_cells else f"{row.n_pairs} of {row.n_cells}"


# The table of differences of regret from a baseline.
DIFFERENCES: tuple[TableColumn[Comparison], ...] = (
    LEARNER,
    *SETTING,
    TableColumn("n_pairs", "count", attrgetter("n_pairs"), "pairs", shown=_pairs_text),
    TableColumn("mean", "estimate", attrgetter("difference"), "difference"),
    TableColumn("", "interval", attrgetter("difference"), "{}% interval"),
    TableColumn("regret_is", "count", attrgetter("verdict"), "regret is", shown=lambda row: row.verdict or "-"),
)


def listing_text(rows: Sequence[Summary], confidence: float) -> str:
    """Return the table of mean regrets: rows in order, those of an environment below its name."""
    return _grouped_text(LISTING, rows, confidence, _headings(rows), _footnotes) if rows else ""


def _headings(rows: Sequence[Summary]) -> Callable[[Summary], str]:
    """Return what gives the heading above a row: its environment and its kind of regret."""
    differing = "comparator" in varied_columns(row.place for row in rows)

    def heading(row: Summary) -> str:
        comparator = "" if differing else f"{row.place.comparator} "
        return f"{row.place.environment}: {comparator}{regret_name(row.kind or 'pseudo')}"

    return heading


def _grouped_text(
    columns: Sequence[TableColumn[Row]],
    rows: Sequence[Row],
    confidence: float,
    heading: Callable[[Row], str],
    notes: Callable[[Sequence[Row]], Sequence[str]],
) -> str:
    shown = [column for column in needed_columns(columns, rows) if column.heading]
    groups = []
    for name, members in groupby(rows, key=heading):
        some = list(members)
        groups.append(TableGroup(name, [[column.text(row) for column in shown] for row in some], notes(some)))
    headers = [column.title(confidence) for column in shown]
    return grouped_table(headers, groups, left=sum(column.is_left for column in shown))


def comparison_text(rows: Sequence[Comparison], unpaired: Sequence[Unpaired], baseline: str, confidence: float) -> str:
    """Return the table of differences of regret from a baseline, and why some learners are not in it."""
    rows = sorted(rows, key=lambda row: (*_order(row.place), row.difference.mean))
    parts = [f"Regret minus that of '{one_line(baseline)}' on the same losses (same environment, seed and run)."]
    if rows:
        parts += ["", _grouped_text(DIFFERENCES, rows, confidence, attrgetter("place.environment"), lambda _: ())]
        parts.append("lower, higher: the interval excludes 0; no correction is made for the number of comparisons.")
    else:
        parts.append("There are no such pairs.")
    reasons: dict[tuple[str, str], dict[str, None]] = {}
    for place, reason in sorted(unpaired, key=lambda absent: _order(absent.place)):
        reasons.setdefault((place.environment, reason), {})[place.learner] = None
    parts += ["", "Not compared:"] if reasons else []
    for (environment, reason), learners in reasons.items():
        parts.append(f"  {one_line(', '.join(learners))} in {one_line(environment)}: {reason}.")
    return "\n".join(parts)


def failures_text(failures: Sequence[tuple[Place, int, int, str]], width: int) -> str:
    """Return a table of cells that could not be played; the runs of a learner with the same error share a row."""
    if not failures:
        return "No cell failed."
    varied = varied_columns(place for place, *_ in failures)
    runs: dict[tuple[Place, int, str], list[int]] = {}
    for place, seed, run, error in failures:
        runs.setdefault((place, seed, error), []).append(run)
    ordered = sorted(runs.items(), key=lambda item: (*_order(item[0][0]), by_number(item[0][0].learner), item[0][1:]))
    names = ("learner", *varied, "n_rounds")
    headers = ["learner", *varied, "rounds", "seed", "runs", "error"]
    parts = []
    for environment, members in groupby(ordered, key=lambda item: item[0][0].environment):
        lines = [
            [*(str(getattr(place, name)) for name in names), str(seed), _ranges(sorted(numbers)), one_line(error)]
            for (place, seed, error), numbers in members
        ]
        parts.append(f"{one_line(environment)}\n{text_table(headers, lines, len(headers), width)}")
    return "\n\n".join(parts)


def varied_columns(places: Iterable[Place]) -> list[str]:
    """Return which of comparator and play differ between places; these are columns of a table."""
    places = list(places)
    return [name for name in ("comparator", "play") if len({getattr(place, name) for place in places}) > 1]


def _footnotes(rows: Sequence[Summary]) -> list[str]:
    several = len({row.place.n_rounds for row in rows}) > 1
    reasons = {}
    for row in rows:
        if row.caveat:
            rounds = f" ({row.place.n_rounds} rounds)" if several else ""
            reasons[one_line(f"{row.place.learner}{rounds}")] = one_line(row.caveat)
    return [f"  {line}" for line in footnote(reasons).splitlines()]


def _order(place: Place) -> tuple[object, ...]:
    return by_number(place.environment), place.comparator, place.play, place.n_rounds


def _counted(n: int, noun: str, rest: str = "") -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}{rest}"


def _ranges(numbers: Sequence[int]) -> str:
    """Return numbers as text, consecutive ones as a range.

    >>> _ranges([0, 1, 2, 5])
    '0-2, 5'
    """
    consecutive = groupby(enumerate(numbers), key=lambda place: place[1] - place[0])
    parts = [[number for _, number in places] for _, places in consecutive]
    return ", ".join(f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts)


def write_latex(path: str | os.PathLike[str], rows: Sequence[Summary], confidence: float) -> None:
    r"""Write a table of mean regrets, to be read by \input; rows are in order."""
    columns = [column for column in needed_columns(LISTING, rows) if column.heading]
    headers = [column.title(confidence).capitalize().replace("%", r"\,\%") for column in columns]
    alignment = "".join("l" if column.is_left else "r" for column in columns)
    lines = [
        "% Mean regrets of sweeps, written by `driftwise results`. Needs \\usepackage{booktabs}.",
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        " & ".join(headers) + r" \\",
    ]
    for heading, members in groupby(rows, key=_headings(rows)):
        lines += [r"\midrule", rf"\multicolumn{{{len(headers)}}}{{l}}{{\textit{{{escaped(heading)}}}}} \\"]
        lines += [" & ".join(column.latex(row) for column in columns) + r" \\" for row in members]
    lines += [r"\bottomrule", r"\end{tabular}"]
    reasons = dict.fromkeys(
        f"{row.place.learner} in {row.place.environment}: {row.caveat}" for row in rows if row.caveat
    )
    if reasons:
        lines += [r"\par\smallskip", rf"{{\footnotesize\textsuperscript{{*}} {SAYS_NOTHING}:"]
        lines += [f"{escaped(reason)}." for reason in reasons]
        lines[-1] += r"\par}"
    content = "\n".join(lines) + "\n"
    write_atomically(path, lambda file: file.write_text(content, encoding="utf-8"))


_FIRST = ("environment", "learner", "n_rounds", "seed", "run", "regret", "bound", "error")
_LATER = ("comparator", "play", "kind", "n_actions", "segments", *REALS, "caveat", "machine")
CSV_COLUMNS = (*_FIRST, *_LATER, "environment_spec", "learner_spec")


def write_cells_csv(
    path: str | os.PathLike[str], table: CellTable, environments: CellLabels, learners: CellLabels
) -> None:
    """Write one line per cell, with the regret and the bound at its last marked round.

    A number that is unknown is an empty field; others have enough digits to be read back equal.
    """
    texts = {name: cell_texts(table, name).tolist() for name in TEXTS}
    columns: dict[str, list[object]] = {
        **{name: table.cells[name].tolist() for name in COUNTS},
        **{name: _numbers(table.cells[name]) for name in REALS},
        **texts,
        "environment": environments.texts.tolist(),
        "learner": learners.texts.tolist(),
        "regret": _numbers(table.final),
        "bound": _numbers(final_bounds(table)),
        "segments": [n or "" for n in table.cells["segments"].tolist()],
        **{f"{name}_spec": [text.rstrip(" ") for text in texts[name]] for name in ("environment", "learner")},
    }
    write_csv(path, CSV_COLUMNS, zip(*(columns[name] for name in CSV_COLUMNS), strict=True))


def _numbers(values: Vector) -> list[object]:
    return ["" if math.isnan(value) else value for value in values.tolist()]
