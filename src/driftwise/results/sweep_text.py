"""Results of sweeps as text: counts, the table of regrets, comparisons with a baseline, and failures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from driftwise.core.errors import one_line
from driftwise.core.tuning_caveats import marked
from driftwise.report.tables import TableGroup, grouped_table, number, text_table
from driftwise.results.cell_table import CellTable
from driftwise.results.comparisons import Comparison, Unpaired
from driftwise.results.footnotes import footnote
from driftwise.results.results_text import bound_texts, regret_name
from driftwise.results.summaries import Place, Summary, by_number

__all__ = ["comparison_text", "counts_text", "failures_text", "heading_of", "listing_text", "varied_columns"]


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


def listing_text(rows: Sequence[Summary], confidence: float) -> str:
    """Return the table of regrets: rows in order, those of an environment below its name."""
    if not rows:
        return ""
    varied = varied_columns(row.place for row in rows)
    failed = any(row.n_failed for row in rows)
    headers = ["learner", *varied, "rounds", "cells", *(["failed"] if failed else [])]
    headers += ["regret", f"{100 * confidence:g}% interval", "bound", "ratio"]
    groups = []
    for _, members in groupby(rows, key=lambda row: (row.place.environment, row.kind or "pseudo")):
        some = list(members)
        lines = [
            [
                marked(row.place.learner, row.caveat),
                *(getattr(row.place, name) for name in varied),
                str(row.place.n_rounds),
                str(row.n_cells),
                *([str(row.n_failed)] if failed else []),
                number(row.regret.mean),
                _interval(row.regret.low, row.regret.high),
                *bound_texts(row.place.n_rounds, row.regret.mean, row.bound),
            ]
            for row in some
        ]
        groups.append(TableGroup(heading_of(some[0], varied), lines, _footnotes(some)))
    return grouped_table(headers, groups, left=1 + len(varied))


def comparison_text(rows: Sequence[Comparison], unpaired: Sequence[Unpaired], baseline: str, confidence: float) -> str:
    """Return the table of differences of regret from a baseline, and why some learners are not in it."""
    rows = sorted(rows, key=lambda row: (*_order(row.place), row.difference.mean))
    varied = varied_columns(row.place for row in rows)
    headers = ["learner", *varied, "rounds", "pairs", "difference", f"{100 * confidence:g}% interval", "regret is"]
    groups = []
    for environment, members in groupby(rows, key=lambda row: row.place.environment):
        lines = [
            [
                row.place.learner,
                *(getattr(row.place, name) for name in varied),
                str(row.place.n_rounds),
                str(row.n_pairs) if row.n_pairs == row.n_cells else f"{row.n_pairs} of {row.n_cells}",
                number(row.difference.mean),
                _interval(row.difference.low, row.difference.high),
                row.verdict or "-",
            ]
            for row in members
        ]
        groups.append(TableGroup(environment, lines))
    parts = [f"Regret minus that of '{one_line(baseline)}' on the same losses (same environment, seed and run)."]
    parts += ["", grouped_table(headers, groups, left=1 + len(varied))] if rows else ["There are no such pairs."]
    if rows:
        parts.append("lower, higher: the interval excludes 0; no correction is made for the number of comparisons.")
    reasons: dict[tuple[str, str], dict[str, None]] = {}
    for place, reason in sorted(unpaired, key=lambda one: _order(one.place)):
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
    headers = ["learner", *varied, "rounds", "seed", "runs", "error"]
    parts = []
    for environment, members in groupby(ordered, key=lambda item: item[0][0].environment):
        lines = [
            [
                place.learner,
                *(getattr(place, name) for name in varied),
                str(place.n_rounds),
                str(seed),
                _ranges(sorted(numbers)),
                one_line(error),
            ]
            for (place, seed, error), numbers in members
        ]
        parts.append(f"{one_line(environment)}\n{text_table(headers, lines, len(headers), width)}")
    return "\n\n".join(parts)


def varied_columns(places: Iterator[Place]) -> list[str]:
    """Return which of comparator and play differ between places; these are columns of a table."""
    seen = [(place.comparator, place.play) for place in places]
    return [name for i, name in enumerate(("comparator", "play")) if len({one[i] for one in seen}) > 1]


def heading_of(row: Summary, varied: Sequence[str]) -> str:
    """Return the heading of the rows of an environment: its name and the kind of regret."""
    comparator = "" if "comparator" in varied else f"{row.place.comparator} "
    return f"{row.place.environment}: {comparator}{regret_name(row.kind or 'pseudo')}"


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


def _interval(low: float, high: float) -> str:
    return "-" if np.isnan(low) else f"{number(low)} .. {number(high)}"


def _counted(n: int, noun: str, rest: str = "") -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}{rest}"


def _ranges(numbers: Sequence[int]) -> str:
    """Return numbers as text, consecutive ones as a range.

    >>> _ranges([0, 1, 2, 5])
    '0-2, 5'
    """
    parts: list[list[int]] = []
    for one in numbers:
        if parts and one == parts[-1][-1] + 1:
            parts[-1] = [parts[-1][0], one]
        else:
            parts.append([one])
    return ", ".join("-".join(map(str, part)) for part in parts)
