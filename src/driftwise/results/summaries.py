"""Groups of cells: which ones are chosen, their mean regrets, and comparisons with a baseline."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from driftwise.core.errors import DriftwiseError, UnknownName, one_line, rejection, shown
from driftwise.core.types import Actions, Flags, Vector
from driftwise.regret.statistics import Estimate, half_width, of_any_numbers
from driftwise.results.cells import CellTable
from driftwise.results.columns import MeanRegret, Place
from driftwise.results.labels import CellLabels

# Two cells that are equal in these columns are the same run of the same learner.
IDENTITY = ("environment", "learner", "n_rounds", "seed", "run", "comparator", "play")


def group_codes(columns: Iterable[Any], n_cells: int) -> Actions:
    """Return a number for each cell: equal if and only if all columns are equal, from 0 on without gaps.

    >>> group_codes([np.array([5, 5, 7]), np.array([1, 2, 1])], 3)
    array([0, 1, 2])
    """
    codes = np.zeros(n_cells, np.int64)
    for column in columns:
        values, places = np.unique(column, return_inverse=True)
        _, combined = np.unique(codes * len(values) + places.reshape(-1), return_inverse=True)
        codes = combined.reshape(-1).astype(np.int64)
    return codes


def members_of(codes: Actions) -> list[Actions]:
    """Return for each code the positions of its cells; groups are in the order of their first cell."""
    if not len(codes):
        return []
    order = np.argsort(codes, kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(codes))[:-1])
    return sorted(groups, key=lambda group: int(group[0]))


def distinct_cells(table: CellTable) -> CellTable:
    """Return the cells without repetitions of the same run of the same learner.

    A folder has such repetitions if the version of a class was raised, or if a sweep with curves was run after one
    without. Of these, a cell without an error is kept, then the one that was stored last, or one that agrees with it
    and has a longer curve.
    """
    codes = group_codes((table.cells[name] for name in IDENTITY), len(table))
    if not len(table) or codes.max() + 1 == len(table):
        return table
    newest = np.lexsort((-table.cells["stored"], table.failed, codes))
    first = newest[np.unique(codes[newest], return_index=True)[1]]
    kept_regret = table.final[first][codes]
    agrees = (table.final == kept_regret) | (np.isnan(table.final) & np.isnan(kept_regret))
    order = np.lexsort((-table.cells["stored"], -table.lengths, ~agrees, codes))
    kept = np.sort(order[np.unique(codes[order], return_index=True)[1]])
    return table.take(kept)


_NUMBER = re.compile(r"([0-9]{1,300}(?:\.[0-9]+)?)")


@dataclass(frozen=True)
class Summary(MeanRegret):
    """The cells of one learner in one environment with one number of rounds."""

    n_failed: int
    kind: str  # of regret: "pseudo" or "realised", "" if no cell was played
    table: CellTable = field(repr=False, compare=False)
    played: Actions = field(repr=False, compare=False)  # the positions of the cells that were played in the table

    @property
    def n_cells(self) -> int:
        """The number of cells that were played."""
        return len(self.played)

    @property
    def regrets(self) -> Vector:
        """The regrets of the cells that were played, at their last marked rounds."""
        return self.table.final.take(self.played)

    def mean_of(self, name: str) -> float:
        """Return the mean of a number of the cells that were played, such as "drift"; NaN without any."""
        return float(np.mean(self.table.cells[name][self.played])) if self.n_cells else math.nan


def in_order(rows: list[Summary]) -> list[Summary]:
    """Return rows in the order of a table: by environment, then by rounds, the least regret first."""

    def key(row: Summary) -> tuple[Any, ...]:
        missing = math.isnan(row.regret.mean)
        return *place_order(row.place), missing, 0.0 if missing else row.regret.mean, by_number(row.place.learner)

    return sorted(rows, key=key)


def place_order(place: Place) -> tuple[Any, ...]:
    """Return a key that sorts places but for their learners."""
    return by_number(place.environment), place.comparator, place.play, place.n_rounds


def by_number(label: str) -> tuple[list[Any], str]:
    """Return a key that sorts labels by the numbers in them.

    >>> sorted(["10 segments", "2 segments"], key=by_number)
    ['2 segments', '10 segments']
    """
    return [float(part) if i % 2 else part for i, part in enumerate(_NUMBER.split(label))], label


def varied_columns(places: Iterable[Place]) -> list[str]:
    """Return which of comparator and play differ between places; these are columns of a table."""
    places = list(places)
    return [name for name in ("comparator", "play") if len({getattr(place, name) for place in places}) > 1]


BUILT = "an adversary built the environment against each learner, so the losses differ"
ABSENT = "the baseline has no cells there"
APART = "no seed and run in common with the baseline"
CHANGED = "the losses differ from those of the baseline; the environment may be of another version"
_TOLERANCE = 1e-9  # of quantities of the losses, which another processor may round differently


class Comparison(NamedTuple):
    """The regret of a learner minus that of a baseline, over the seeds and runs that both have."""

    place: Place
    baseline: str
    n_pairs: int
    difference: Estimate
    n_cells: int  # of the learner, with or without a partner
    no_interval: str  # why the difference has no interval, "" if it has one
    recorded: bool  # whether every run plays the same recording

    @property
    def verdict(self) -> str:
        """Whether the regret is "lower" or "higher" than the baseline's; "" if the interval includes 0."""
        return "lower" if self.difference.high < 0 else "higher" if self.difference.low > 0 else ""


def level_note(comparisons: Sequence[Comparison], confidence: float, simultaneous: bool) -> str:
    """Return a sentence that says which level the intervals of comparisons have together.

    >>> level_note([], 0.95, False)
    'There is no interval.'
    """
    n, percent = sum(not math.isnan(row.difference.low) for row in comparisons), f"{100 * confidence:g} %"
    if n < 2:
        return f"The interval has the level {percent}." if n else "There is no interval."
    if simultaneous:
        return f"All {n} intervals together have the level {percent} (Bonferroni)."
    return f"Each interval has the level {percent} on its own; the {n} comparisons are not corrected for their number."


class Unpaired(NamedTuple):
    """Cells of a learner without partner among those of the baseline, and why."""

    place: Place
    reason: str


def partners(table: CellTable, candidates: Flags) -> Actions:
    """Return for each cell the position of the candidate with the same losses, -1 without one."""
    codes = group_codes((table.cells[name] for name in IDENTITY if name != "learner"), len(table))
    partner = np.full(len(table) + 1, -1, np.int64)
    positions = np.flatnonzero(candidates)
    partner[codes[positions]] = positions
    return partner[codes]


@of_any_numbers
def same_losses(table: CellTable, partner: Actions) -> Flags:
    """Return for each cell whether quantities of its losses agree with those of its partner."""
    same = np.ones(len(table), np.bool_)
    for name in ("deviation", "movement"):
        mine, other = table.cells[name], table.cells[name][partner]
        unknown = np.isnan(mine) | np.isnan(other)
        same &= unknown | np.isclose(mine, other, rtol=_TOLERANCE, atol=0.0)
    return same


class MeanCurve(NamedTuple):
    """The mean regret of some cells at their marked rounds, with its interval."""

    rounds: Actions
    mean: Vector
    low: Vector
    high: Vector
    n_cells: int
    bound: Vector  # the mean bound, NaN at rounds without one


@of_any_numbers
def mean_curve(table: CellTable, members: Actions, confidence: float = 0.95) -> MeanCurve | None:
    """Return the mean curve of cells; those without a curve, or with fewer rounds than others, are left out."""
    played = members[~table.failed[members]]
    longest = int(table.lengths[played].max(initial=0))
    if longest < 2:
        return None
    alike = played[table.lengths[played] == longest]
    rows = table.offsets[:-1][alike][:, np.newaxis] + np.arange(longest)
    rounds = table.round[rows]
    same = (rounds == rounds[0]).all(axis=1)
    regrets = table.regret[rows[same]]
    mean, half = regrets.mean(axis=0), half_width(regrets, confidence)
    bound = table.bound[rows[same]].mean(axis=0)
    return MeanCurve(rounds[0], mean, mean - half, mean + half, int(same.sum()), bound)


_MOST_SHOWN = 10
_LONGEST_COMPARED = 300  # characters; comparing texts takes the product of their lengths


class UnknownLabel(UnknownName):
    """No cell has a label that was asked for. The message names the nearest label.

    >>> print(UnknownLabel("environment", "switchin", ["switching(n_segments=3)", "drifting"]))
    There is no environment 'switchin' in these cells. Did you mean 'switching(n_segments=3)'?
    """

    def __init__(self, kind: str, wanted: str, labels: Sequence[str]) -> None:
        near = _nearest(wanted, labels)
        near = near if len(near) <= _LONGEST_COMPARED else f"{near[: _LONGEST_COMPARED - 3]}..."
        advice = f"Did you mean '{near}'?" if near else "There are none."
        DriftwiseError.__init__(self, one_line(f"There is no {kind} {shown(wanted)} in these cells. {advice}"))


def cells_with_labels(kind: str, labels: CellLabels, wanted: str | Sequence[str]) -> Flags:
    """Return which cells have one of these labels; in a text that is no label, * stands for any text."""
    chosen = np.zeros(len(labels.names) + 1, np.bool_)
    present = {labels.names[code]: code for code in np.unique(labels.codes).tolist()}
    for text in wanted if isinstance(wanted, Iterable) and not isinstance(wanted, str) else [wanted]:
        if not isinstance(text, str):
            raise rejection("SweepResults", kind, "a label or a list of labels", wanted)
        matches = [text] if text in present else [label for label in present if _matches(text, label)]
        if not matches:
            raise UnknownLabel(kind, text, [*present])
        chosen[[present[label] for label in matches]] = True
    return chosen.take(labels.codes)


def cells_with_numbers(name: str, column: Actions, wanted: int | Sequence[int]) -> Flags:
    """Return which cells have one of these numbers."""
    numbers = [*wanted] if isinstance(wanted, Sequence) else [wanted]
    for number in numbers:
        if np.ndim(number) or number not in column:
            present = np.unique(column).tolist()
            more = f" or {len(present) - _MOST_SHOWN} others" if len(present) > _MOST_SHOWN else ""
            rule = f"one of {', '.join(map(str, present[:_MOST_SHOWN]))}{more}" if present else "absent, without cells"
            raise rejection("SweepResults", name, rule, number)
    return np.isin(column, numbers)


def _matches(pattern: str, label: str) -> bool:
    """Return whether a label has the form of a pattern, without regular expressions: many stars would take long."""
    if "*" not in pattern:
        return pattern == label
    first, *between, last = pattern.split("*")
    if not label.startswith(first) or not label.endswith(last) or len(label) < len(first) + len(last):
        return False
    position, end = len(first), len(label) - len(last)
    for part in between:
        position = label.find(part, position, end)
        if position < 0:
            return False
        position += len(part)
    return True


def _nearest(wanted: str, labels: Sequence[str]) -> str:
    plain = re.sub(r"\*+", "", wanted).lower()
    containing = [label for label in labels if plain and plain in label.lower()]
    if containing:
        return min(containing, key=len)
    compared = {label[:_LONGEST_COMPARED]: label for label in labels}
    near = difflib.get_close_matches(plain[:_LONGEST_COMPARED], compared, n=1, cutoff=0.0)
    return compared[near[0]] if near else ""
