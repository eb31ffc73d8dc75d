r"""Columns of tables of regret: one list of them makes the text, the LaTeX, the page and the plain values of a table.

A column has a kind, which says how its values are shown:

| kind | value | text | LaTeX | page |
|---|---|---|---|---|
| plain | any | | | |
| group | text | above the rows | above the rows | a column, shown once |
| label | text | as it is, aligned left | the same | the same |
| learner | text | with the mark of a caveat | the same | with its line in the figures |
| count | int | as it is | as it is | as it is |
| number | float | with four digits | with the decimals of its column | as text, sorted by its number |
| estimate | `Estimate` | its mean | its mean, in bold where it is the least | with a small chart of its interval |
| interval | `Estimate` | its ends, a dash without them | its ends, empty without them | |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar

from driftwise.core.measures import SAYS_NOTHING, marked
from driftwise.regret.statistics import Estimate
from driftwise.report.tables import number

Row = TypeVar("Row")


class Place(NamedTuple):
    """What the cells of a row of a table have in common."""

    environment: str
    learner: str
    n_rounds: int
    comparator: str
    play: str


@dataclass(frozen=True)
class MeanRegret:
    """The mean regret of one learner in one environment with one number of rounds."""

    place: Place
    regret: Estimate  # NaN if no cell was played
    bound: float  # the mean over cells, NaN without one
    caveat: str  # why the tuning rule is meaningless there, "" if there is no caveat
    no_interval: str  # why the regret has no interval, "" if it has one
    recorded: bool  # whether every run plays the same recording

    @property
    def ratio(self) -> float:
        """The regret divided by the bound; NaN if there is none, or if it is trivial (0, or at least T)."""
        return self.regret.mean / self.bound if 0 < self.bound < self.place.n_rounds else math.nan


@dataclass(frozen=True)
class TableColumn(Generic[Row]):
    """A column: what it has of a row, and where and how it is shown."""

    key: str  # of its plain values; "" if these do not have it
    kind: str
    value: Callable[[Row], Any]
    heading: str = ""  # in text and LaTeX, where {} is the confidence level in percent; "" if these do not have it
    page_heading: str = ""  # "" if pages do not have it
    shown: Callable[[Row], str] | None = None  # its text, if not that of its kind
    is_needed: Callable[[set[object]], bool] | None = None  # whether these values are worth a column; None: always

    @property
    def is_left(self) -> bool:
        """Whether it is aligned left; these columns come first."""
        return self.kind in ("group", "label", "learner")

    @property
    def name(self) -> str:
        """The name by which users choose it; that of the ratio is the same in all tables."""
        return self.key or (self.heading if self.kind == "number" else self.kind)

    def title(self, confidence: float) -> str:
        """Return the heading in a text table."""
        return self.heading.format(f"{100 * confidence:g}")

    def plain(self, row: Row) -> dict[str, Any]:
        """Return the plain values by key: an interval has two."""
        value = self.value(row)
        if self.kind == "interval":
            return {"low": value.low, "high": value.high}
        return {self.key: value.mean if self.kind == "estimate" else value} if self.key else {}

    def text(self, row: Row) -> str:
        """Return a cell of a text table."""
        if self.shown is not None:
            return self.shown(row)
        value = self.value(row)
        if self.kind == "interval":
            return number(None) if math.isnan(value.low) else f"{number(value.low)} .. {number(value.high)}"
        if self.kind in ("number", "estimate"):
            return number(value.mean if self.kind == "estimate" else value)
        return marked(value, caveat_of(row)) if self.kind == "learner" else str(value)


_ONE_RUN = "there is one run"
_RECORDED_ONCE = "the recording is played once"
_RECORDED = "every run plays the same recording, and nothing else is random"
_EQUAL = "all runs are equal"
OVER_DRAWS = "Intervals are over the random draws of learners: every run plays the same recording."


def reason_without_interval(regret: Estimate, n_runs: int, environment: Mapping[str, Any]) -> str:
    """Return why a mean over runs in an environment, given as its spec, has no interval; "" if it has one.

    >>> reason_without_interval(Estimate(2.0, math.nan, math.nan), 3, {"replay": "losses.csv"})
    'no interval: every run plays the same recording, and nothing else is random'
    """
    if not (math.isnan(regret.low) and math.isfinite(regret.mean)):
        return ""
    if n_runs == 1:
        return f"no interval: {_RECORDED_ONCE if is_recording(environment) else _ONE_RUN}"
    return f"no interval: {_RECORDED if is_recording(environment) else _EQUAL}"


def is_recording(environment: Mapping[str, Any]) -> bool:
    """Return whether an environment, given as its spec, has the same losses in every run."""
    return "replay" in environment


def interval_notes(rows: Iterable[MeanRegret | Any], over: str = OVER_DRAWS) -> list[str]:
    """Return why some rows have no interval, and what those of recordings are `over`; comparisons are rows as well."""
    rows = list(rows)
    reasons = [reason for reason in dict.fromkeys(row.no_interval for row in rows) if reason]
    recorded = any(row.recorded and not row.no_interval for row in rows)
    return [*(f"{number(None)} {reason}" for reason in reasons), *([over] if recorded else [])]


def plain_rows(columns: Sequence[TableColumn[Row]], rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the rows of a table as plain values by key."""
    return [{key: value for column in columns for key, value in column.plain(row).items()} for row in rows]


def needed_columns(columns: Sequence[TableColumn[Row]], rows: Sequence[Row]) -> list[TableColumn[Row]]:
    """Return the columns that these rows need, those that are aligned left first."""
    needed = [
        column
        for column in columns
        if column.is_needed is None or column.is_needed({column.value(row) for row in rows})
    ]
    return sorted(needed, key=lambda column: not column.is_left)


def caveat_of(row: object) -> str:
    """Return the caveat of a row, "" if rows of its table have none."""
    return row.caveat if isinstance(row, MeanRegret) else ""


def _differ(values: set[object]) -> bool:
    return len(values) > 1


def _bound_text(row: MeanRegret) -> str:
    """Return the text of a bound; one of at least T is trivial, since losses are <= 1."""
    return "T" if row.bound >= row.place.n_rounds else number(row.bound)


def _pairs_text(row: Any) -> str:
    return str(row.n_pairs) if row.n_pairs == row.n_cells else f"{row.n_pairs} of {row.n_cells}"


# Columns that several tables have.
LEARNER: TableColumn[Any] = TableColumn("learner", "learner", attrgetter("place.learner"), "learner", "Learner")
SETTING: tuple[TableColumn[Any], ...] = (
    TableColumn("n_rounds", "count", attrgetter("place.n_rounds"), "rounds", "Rounds"),
    TableColumn("comparator", "label", attrgetter("place.comparator"), "comparator", "Comparator", is_needed=_differ),
    TableColumn("play", "label", attrgetter("place.play"), "play", "Play", is_needed=_differ),
)
REGRET: tuple[TableColumn[Any], ...] = (
    TableColumn("regret", "estimate", attrgetter("regret"), "regret", "Regret"),
    TableColumn("", "interval", attrgetter("regret"), "{}% interval"),
    TableColumn("bound", "number", attrgetter("bound"), "bound", "Bound", shown=_bound_text),
)
RATIO: TableColumn[Any] = TableColumn(
    "ratio", "number", attrgetter("ratio"), "ratio", "Regret / bound", shown=lambda row: number(row.ratio, 2)
)
CAVEAT: TableColumn[Any] = TableColumn(
    "caveat", "plain", lambda row: f"{SAYS_NOTHING}: {row.caveat}" if row.caveat else ""
)
NO_INTERVAL: TableColumn[Any] = TableColumn("no_interval", "plain", attrgetter("no_interval"))


# The table of mean regrets, in text, LaTeX, on the page and in JSON.
LISTING: tuple[TableColumn[Any], ...] = (
    TableColumn("environment", "group", attrgetter("place.environment"), page_heading="Environment"),
    LEARNER,
    *SETTING,
    TableColumn("kind", "plain", attrgetter("kind")),
    TableColumn("n_cells", "count", attrgetter("n_cells"), "cells", "Cells"),
    TableColumn("n_failed", "count", attrgetter("n_failed"), "failed", "Failed", is_needed=any),
    *REGRET,
    RATIO,
    CAVEAT,
    NO_INTERVAL,
)
# The table of a simulation, in text and in JSON.
SIMULATION: tuple[TableColumn[Any], ...] = (
    LEARNER,
    TableColumn("spec", "plain", attrgetter("spec")),
    TableColumn("played", "plain", attrgetter("played")),
    *REGRET,
    replace(RATIO, key=""),
    CAVEAT,
    NO_INTERVAL,
)
# The table of differences of regret from a baseline, in text and in JSON.
DIFFERENCES: tuple[TableColumn[Any], ...] = (
    TableColumn("environment", "plain", attrgetter("place.environment")),
    LEARNER,
    *SETTING,
    TableColumn("baseline", "plain", attrgetter("baseline")),
    TableColumn("n_pairs", "count", attrgetter("n_pairs"), "pairs", shown=_pairs_text),
    TableColumn("mean", "estimate", attrgetter("difference"), "difference"),
    TableColumn("", "interval", attrgetter("difference"), "{}% interval"),
    NO_INTERVAL,
    TableColumn("regret_is", "count", attrgetter("verdict"), "regret is", shown=lambda row: row.verdict or "-"),
)
