"""Pieces of a table as its reader returns them: some rows, and where they are in the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

from driftwise.forecasting.tables.table_columns import ColumnChoice, Columns
from driftwise.forecasting.tables.table_sources import TableSource

__all__ = ["LONGEST_TEXT", "START", "Piece", "Position", "TableReader"]

LONGEST_TEXT = 1000  # bytes of a time or of the name of a series


class Position(NamedTuple):
    """Where reading can begin: a number of rows, and the byte and the line where the next row is, if it is text."""

    row: int
    offset: int
    line: int


START = Position(0, 0, 0)  # the first row, wherever that is


class Piece(NamedTuple):
    """Consecutive rows of the chosen columns."""

    columns: dict[str, Any]  # Arrow arrays: numbers are float64, times and series have the types of the file
    n_rows: int
    position: Position  # of the first row
    place: Callable[[int], str]  # of a row of this piece in words, such as "line 17"
    read: float | None  # part of the file that was read up to here


class TableReader(Protocol):
    """A table in some format."""

    source: TableSource
    columns: Columns

    def pieces(self, choice: ColumnChoice, position: Position) -> Iterator[Piece]:
        """Yield the rows from a position on, which is `START` or that of a piece."""
        ...

    def close(self) -> None:
        """Close the file."""
        ...

    def settings(self) -> dict[str, Any]:
        """Return what the rows depend on beside the file, as plain values."""
        ...
