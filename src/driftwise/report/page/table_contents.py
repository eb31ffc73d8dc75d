"""The contents of the table of a page, as plain values: columns, rows of cells, and a filter."""

from __future__ import annotations

import numbers
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from driftwise.core.validation import require, require_choice

__all__ = ["KINDS_OF_COLUMNS", "Cell", "Column", "Filter", "Measured", "Table", "Text", "is_key"]

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


@dataclass(frozen=True)
class Column:
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
    rules: Sequence[float] = ()  # the numbers at which a whisker chart has thin lines
    card_label: str | None = None  # replaces the heading on narrow screens, where rows are cards

    def __post_init__(self) -> None:
        require(self, "key", is_key(self.key), "lower-case words joined by hyphens")
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


class Filter(NamedTuple):
    """A choice of one text of a column; only the rows that have it are shown."""

    column: str  # its key
    label: str  # "Environment"
    everything: str = "All"  # the choice that shows all rows


@dataclass(frozen=True)
class Table:
    """A table: each row has one cell for each column."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    heading: str = "Table"
    about: str = ""  # an explanation above the table
    filter: Filter | None = None

    def __post_init__(self) -> None:
        keys = [column.key for column in self.columns]
        require(self, "columns", len(set(keys)) == len(keys), "of distinct keys")
        require(self, "rows", all(len(row) == len(keys) for row in self.rows), f"of {len(keys)} cells each")
        for i, column in enumerate(self.columns):
            types = (Measured, numbers.Real) if column.numeric else (Text, str)
            valid = all(isinstance(row[i], types) for row in self.rows)
            rule = "numbers" if column.numeric else "texts"
            require(self, "rows", valid, f"of {rule} in the column '{column.key}'")
        known = self.filter is None or self.filter.column in keys
        require(self, "filter", known, "of one of the columns " + ", ".join(map(repr, keys)))

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
