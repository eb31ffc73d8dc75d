"""The contents of a page, as plain values: its tables, its figures, and all others.

A missing number is NaN: the page shows a dash, and figures leave it out. Labels of bounds such as
``sqrt(Gamma Lambda) + sqrt(K) Gamma`` are plain text; the page shows them as formulas.
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from driftwise.core.validation import require, require_choice
from driftwise.report.page.scales import SCALES
from driftwise.report.tables import number, text_table

KINDS_OF_COLUMNS = ("text", "series", "formula", "number", "whisker")
_ORDERS = ("", "text", "number", "none")
_KEY = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")  # for file names, and for anchors and addresses of the page


class Measured(NamedTuple):
    """A number with its interval; NaN where it is not known."""

    value: float
    low: float = float("nan")
    high: float = float("nan")


class Text(NamedTuple):
    """A text with a second one in small letters, and a caveat."""

    text: str
    small: str = ""
    caveat: str = ""  # why the numbers of the row say nothing; "" if there is no caveat


Cell = str | Text | float | Measured
Row = TypeVar("Row")


@dataclass(frozen=True)
class PageColumn:
    """A column of the table.

    The kind says what its cells are: `text`, the name of a `series` (shown with its line), a `formula`, a `number`, or
    a number with a small chart of its interval (`whisker`). Numbers are floats or `Measured`.
    """

    key: str
    heading: str
    kind: str = "text"
    once: bool = False  # of consecutive rows that are equal in all such columns, only the first shows them
    order: str = ""  # sorted as "text", as "number" (a text by the first number in it), or "none"; "": by its kind
    decimals: int | None = None  # of numbers; None: four significant digits
    rules: tuple[float, ...] = ()  # the numbers at which a whisker chart has thin lines
    card_label: str | None = None  # replaces the heading on narrow screens, where rows are cards

    def __post_init__(self) -> None:
        _require_key(self)
        require_choice(self, "kind", KINDS_OF_COLUMNS)
        require_choice(self, "order", _ORDERS)

    @property
    def numeric(self) -> bool:
        """Whether the cells are numbers."""
        return self.kind in ("number", "whisker")

    @property
    def sorted_as(self) -> str:
        """The order of the column: "text", "number" or "none"."""
        return self.order or ("number" if self.numeric else "text")

    @property
    def label_in_card(self) -> str:
        """The label of a cell on narrow screens."""
        return self.heading if self.card_label is None else self.card_label


class ReportColumn(NamedTuple, Generic[Row]):
    """What a report says about each of its rows: a column of its CSV file, of its text, of its page, or of several."""

    key: str = ""  # in the CSV file
    value: Callable[[Row], str | float] = lambda _: ""
    heading: str = ""  # in the text
    text: Callable[[Row], str] | None = None  # in the text, if it is not the value
    page: PageColumn | None = None
    cell: Callable[[Row], Cell] | None = None  # on the page, if it is not the value


def report_text(columns: Iterable[ReportColumn[Row]], rows: Sequence[Row], left: int = 1) -> str:
    """Return the text table of a report; its first `left` columns are aligned left."""
    written = [column for column in columns if column.heading]
    texts = [[column.text(row) if column.text else str(column.value(row)) for column in written] for row in rows]
    return text_table([column.heading for column in written], texts, left)


def page_columns(columns: Iterable[ReportColumn[Row]]) -> dict[PageColumn, Callable[[Row], Cell]]:
    """Return the columns of the page of a report, each with what makes its cells."""
    return {column.page: column.cell or column.value for column in columns if column.page is not None}


class Filter(NamedTuple):
    """A choice of one text of a column; only the rows that have it are shown."""

    column: str  # its key
    label: str  # "Environment"
    everything: str = "All"  # the choice that shows all rows


@dataclass(frozen=True)
class PageTable:
    """A table: each row has one cell for each column."""

    columns: Sequence[PageColumn]
    rows: Sequence[Sequence[Cell]]
    heading: str = "Table"
    about: str = ""  # an explanation above the table
    filter: Filter | None = None

    def __post_init__(self) -> None:
        keys = [column.key for column in self.columns]
        _require_distinct(self, "columns", keys, "keys")
        require(self, "rows", all(len(row) == len(keys) for row in self.rows), f"of {len(keys)} cells each")
        for i, column in enumerate(self.columns):
            types = (Measured, numbers.Real) if column.numeric else (Text, str)
            valid = all(isinstance(row[i], types) for row in self.rows)
            rule = "numbers" if column.numeric else "texts"
            require(self, "rows", valid, f"of {rule} in the column '{column.key}'")
        is_column = self.filter is None or self.filter.column in keys
        require(self, "filter", is_column, "of one of the columns " + ", ".join(map(repr, keys)))

    def column(self, key: str) -> list[Cell]:
        """Return the cells of a column."""
        (i,) = [i for i, column in enumerate(self.columns) if column.key == key]
        return [row[i] for row in self.rows]


def is_key(text: str) -> bool:
    """Return whether a text can be used in file names, anchors and addresses.

    >>> is_key("full-drifting"), is_key("../x")
    (True, False)
    """
    return _KEY.fullmatch(text) is not None


GROUP_STYLES = ("thick", "solid", "dashed", "dash-dotted", "baseline")
KINDS = ("upper", "lower", "guide")
_MANY_POINTS = 60
_SECTIONS = ("findings", "table", "series", "figures", "weights", "commands", "notes")
_IDS = {*_SECTIONS, "theme", "tip", "said", "figure-style", "hint", "filter", "count"}  # of the page's own elements


@dataclass(frozen=True)
class Axis:
    """An axis of a panel: what is on it, and whether it is "linear" or "log"."""

    label: str
    scale: str = "linear"
    times: Mapping[float, str] = field(default_factory=dict)  # texts of numbers; if there are any, ticks show these

    def __post_init__(self) -> None:
        require_choice(self, "scale", tuple(SCALES))

    def text(self, value: float) -> str:
        """Return a number on the axis as text, with its time if it has one.

        >>> Axis("round", times={8.0: "May"}).text(8.0), Axis("round").text(8.0)
        ('round = 8 (May)', 'round = 8')
        """
        time = self.times.get(value)
        return f"{self.label} = {number(value)}" + (f" ({time})" if time is not None else "")


@dataclass(frozen=True)
class SeriesGroup:
    """A group of series: its name, and the style of their lines; "baseline" is grey and dotted."""

    name: str
    style: str = "solid"

    def __post_init__(self) -> None:
        require_choice(self, "style", GROUP_STYLES)


@dataclass(frozen=True)
class Series:
    """One curve: means with intervals, usually a learner's regret at each value of a varied quantity."""

    label: str
    group: str  # any text; "" if the legend should not name a group
    x: Sequence[float]
    mean: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    exponent: Measured | None = None  # the mean grew as this power of x; None if no power was fitted
    caveat: str = ""  # why the numbers say nothing about the learner; "" if there is no caveat

    def __post_init__(self) -> None:
        for name in ("mean", "low", "high"):
            _require_length(self, name, len(self.x), "values of `x`")

    @property
    def dense(self) -> bool:
        """Whether it has so many points that their markers are left out."""
        return len(self.x) > _MANY_POINTS


@dataclass(frozen=True)
class Line:
    """A bound, or a guide line."""

    label: str
    kind: str
    x: Sequence[float]
    y: Sequence[float]

    def __post_init__(self) -> None:
        require_choice(self, "kind", KINDS)
        _require_length(self, "y", len(self.x), "values of `x`")

    @property
    def name(self) -> str:
        """Its kind, unless the label has it, and its label.

        >>> Line("sqrt(T)", "upper", [], []).name, Line("lower bound", "lower", [], []).name
        ('upper bound sqrt(T)', 'lower bound')
        """
        in_label = self.kind == "guide" or self.kind in self.label.lower()
        return self.label if in_label else f"{self.kind} bound {self.label}"


@dataclass(frozen=True)
class Panel:
    """A figure of series and lines. Panels of one section have one legend; "" is a section without a heading."""

    key: str
    section: str
    title: str
    x: Axis
    y: Axis
    series: Sequence[Series]
    lines: Sequence[Line] = ()

    def __post_init__(self) -> None:
        _require_key(self)
        _require_distinct(self, "series", [series.label for series in self.series], "labels")


@dataclass(frozen=True)
class RowPanel(Panel):
    """A figure that compares series of one point each: every series has a row with its mean and interval."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "series", all(len(series.x) == 1 for series in self.series), "of one point each")
        require(self, "lines", not self.lines, "absent")


@dataclass(frozen=True)
class DotPanel(Panel):
    """A figure that compares distributions: each series has a row with a dot for each mean and a mark at its centre."""

    names: Sequence[str] = ()  # of the points; `x` of a series is the index of a name
    centers: Sequence[float] = ()  # of the series, such as geometric means
    center_label: str = "mean"
    rules: Sequence[float] = ()  # the numbers at which there are lines through all rows

    def __post_init__(self) -> None:
        super().__post_init__()
        is_named = all(x in range(len(self.names)) for series in self.series for x in series.x)
        require(self, "names", is_named, "one for each value of `x` of a series")
        _require_length(self, "centers", len(self.series), "series")
        require(self, "lines", not self.lines, "absent")


@dataclass(frozen=True)
class WeightHistory:
    """A learner's weights on one path of losses, averaged over a few hundred intervals of rounds."""

    key: str
    title: str
    learner: str
    rounds: Sequence[int]  # the first round of each interval
    weights: Sequence[Sequence[float]]  # one sequence per action
    best: Sequence[int]  # the best action of each interval, -1 if it is not known
    change_points: Sequence[int]
    what: str = "weight"  # "weight", or "share": of the rounds in which an action was chosen (bandit feedback)
    caveat: str = ""  # why the weights say nothing about the learner; "" if there is no caveat
    of_what: str = "action"  # what has weights
    names: Sequence[str] = ()  # of the actions; () if they have numbers
    has_rest: bool = False  # whether the last sequence of weights is the sum of those of all other actions
    times: Sequence[str] = ()  # of the first rounds of the intervals, "" if not known; () if the axis shows rounds
    note: str = ""  # a text below the chart

    @property
    def labels(self) -> list[str]:
        """The names of the actions, or the word for them with numbers."""
        return list(self.names) or [f"{self.of_what} {k + 1}" for k in range(len(self.weights))]

    def __post_init__(self) -> None:
        _require_key(self)
        n_rounds = len(self.rounds)
        _require_length(self, "names", len(self.weights) if self.names else 0, "sequences of `weights`")
        _require_length(self, "times", n_rounds if self.times else 0, "`rounds`")
        require(self, "weights", all(len(row) == n_rounds for row in self.weights), f"{n_rounds} numbers per action")
        _require_length(self, "best", n_rounds, "`rounds`")
        increasing = all(first < second for first, second in zip(self.rounds, self.rounds[1:], strict=False))
        require(self, "rounds", increasing, "increasing")
        valid = all(-1 <= action < len(self.weights) for action in self.best)
        require(self, "best", valid, f"actions from 0 to {len(self.weights) - 1}, or -1")


@dataclass(frozen=True)
class Claim:
    """A sentence, whether the measurements confirm it, and the numbers that decide it."""

    text: str
    holds: bool
    figures: Sequence[tuple[str, str]]  # what, value


@dataclass(frozen=True)
class Page:
    """A whole report; parts that are empty are left out.

    Groups are in the order of the legends. A group of a series that is not among them comes after these and has solid
    lines.
    """

    title: str
    subtitle: str = ""
    table: PageTable | None = None
    panels: Sequence[Panel] = ()
    histories: Sequence[WeightHistory] = ()
    claims: Sequence[Claim] = ()
    commands: Sequence[str] = ()  # to repeat the measurements
    notes: Sequence[str] = ()
    groups: Sequence[SeriesGroup] = ()
    figures_heading: str = "Figures"
    figures_first: bool = False  # whether they are above the table
    commands_heading: str = "Commands to repeat the measurements"
    hint: str = "Click on a name in a legend to hide or show it in all figures."
    series_table: PageTable | None = None  # without a filter; the script does not sort it
    guide: str = "command-line"  # the page of the documentation on it

    def __post_init__(self) -> None:
        keys = [panel.key for panel in self.panels] + [history.key for history in self.histories]
        _require_distinct(self, "panels", keys, "keys, histories included")
        # A title and a clipping path have ids made from the key.
        ids = [*keys, *(f"{key}-title" for key in keys), *(f"{key}-clip" for key in keys)]
        free = len(set(ids)) == len(ids) and not _IDS.intersection(ids)
        require(self, "panels", free, f"without keys that end in -title or -clip, or are {', '.join(sorted(_IDS))}")
        plain = self.series_table is None or self.series_table.filter is None
        require(self, "series_table", plain, "without a filter")
        _require_distinct(self, "groups", [group.name for group in self.groups], "names")


def _require_length(owner: object, name: str, length: int, of_what: str) -> None:
    require(owner, name, len(getattr(owner, name)) == length, f"as long as the {length} {of_what}")


def _require_key(owner: PageColumn | Panel | WeightHistory) -> None:
    require(owner, "key", is_key(owner.key), "lower-case words joined by hyphens")


def _require_distinct(owner: object, name: str, values: Sequence[str], what: str) -> None:
    require(owner, name, len(set(values)) == len(values), f"of distinct {what}")
