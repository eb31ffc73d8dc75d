"""Blocks with a fixed number of rows, whatever the pieces that a reader yields; their numbers are checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute, types

from driftwise.core.errors import BadData, shown
from driftwise.core.types import Matrix, Vector
from driftwise.forecasting.losses import ForecastLoss
from driftwise.forecasting.real_values import LARGEST
from driftwise.forecasting.tables.table_columns import ColumnChoice
from driftwise.forecasting.tables.table_pieces import LONGEST_TEXT, Piece, Position
from driftwise.forecasting.tables.table_sources import TableSource

__all__ = ["Block", "block_rows", "row_blocks"]

_MOST_ROWS = 1 << 17
_FEWEST_ROWS = 1 << 8
_MOST_CELLS = 1 << 21


@dataclass(frozen=True)
class Block:
    """Consecutive rows of a table."""

    source: TableSource
    row: int  # the number of rows before it
    truths: Vector
    forecasts: Matrix
    time: Any  # Arrow array, None if there is no such column
    by: Any
    parts: Sequence[tuple[Piece, int, int]]  # the pieces it is made of, and the rows of each

    def __len__(self) -> int:
        return len(self.truths)

    @property
    def position(self) -> Position:
        """A position at or before the end of the block, from where its last row can be read again."""
        return self.parts[-1][0].position

    def fault(self, i: int, column: str, message: str) -> BadData:
        """Return the error about a cell."""
        for piece, start, stop in self.parts:
            if i < stop - start:
                return self.source.fault(f", {piece.place(start + i)}, column {shown(column)}: {message}")
            i -= stop - start
        raise IndexError(i)


def block_rows(n_columns: int) -> int:
    """Return the number of rows of a block: it depends on the number of columns only.

    >>> block_rows(11), block_rows(1000)
    (131072, 2048)
    """
    rows = _MOST_ROWS
    while rows > _FEWEST_ROWS and rows * n_columns > _MOST_CELLS:
        rows //= 2
    return rows


def row_blocks(
    source: TableSource, pieces: Iterator[Piece], choice: ColumnChoice, loss: ForecastLoss, n_rows: int, row: int
) -> Iterator[Block]:
    """Yield blocks of `n_rows` rows, the last one shorter; `row` rows of the table are left out."""
    parts: list[tuple[Piece, int, int]] = []
    size = 0
    for piece in pieces:
        start = max(0, row + size - piece.position.row)
        while start < piece.n_rows:
            stop = min(piece.n_rows, start + n_rows - size)
            parts.append((piece, start, stop))
            size += stop - start
            start = stop
            if size == n_rows:
                yield _block(source, parts, choice, loss, row)
                row += size
                parts, size = [], 0
    if parts:
        yield _block(source, parts, choice, loss, row)


def _block(
    source: TableSource, parts: Sequence[tuple[Piece, int, int]], choice: ColumnChoice, loss: ForecastLoss, row: int
) -> Block:
    n_rows = sum(stop - start for _, start, stop in parts)
    truths, forecasts = np.empty(n_rows), np.empty((n_rows, len(choice.experts)))
    filled = 0
    for piece, start, stop in parts:
        rows = slice(filled, filled + stop - start)
        truths[rows] = _numbers(piece.columns[choice.target], start, stop)
        for k, name in enumerate(choice.experts):
            forecasts[rows, k] = _numbers(piece.columns[name], start, stop)
        filled += stop - start
    texts = {name: _text(parts, name) for name in choice.texts}
    time, by = (None if name is None else texts[name] for name in (choice.time, choice.by))
    block = Block(source, row, truths, forecasts, time, by, parts)
    _check_numbers(block, choice, loss)
    for name, column in texts.items():
        _check_text(block, name, column)
    return block


def _numbers(column: Any, start: int, stop: int) -> Vector:
    numbers: Vector = column.slice(start, stop - start).to_numpy(zero_copy_only=False)
    return numbers


def _text(parts: Sequence[tuple[Piece, int, int]], name: str) -> Any:
    slices = [piece.columns[name].slice(start, stop - start) for piece, start, stop in parts]
    return slices[0] if len(slices) == 1 else pa.concat_arrays(slices)


def _check_numbers(block: Block, choice: ColumnChoice, loss: ForecastLoss) -> None:
    table = [(choice.target, block.truths), *zip(choice.experts, block.forecasts.T, strict=True)]
    faults = [fault for name, column in table if (fault := _fault(name, column, name == choice.target, loss))]
    if faults:
        row, name, message = min(faults, key=lambda fault: fault[0])
        raise block.fault(row, name, message)


def _fault(name: str, column: Vector, is_truth: bool, loss: ForecastLoss) -> tuple[int, str, str] | None:
    """Return the first row of a column with a number that is too large or that the loss rejects, and the rule."""
    size = np.nanmax(np.abs(column), initial=0.0)
    if size > LARGEST:
        row = int(np.argmax(np.abs(np.nan_to_num(column, nan=0.0, posinf=np.inf, neginf=-np.inf)) > LARGEST))
        rule = "finite" if np.isinf(column[row]) else f"at most {LARGEST:g} in size"
        return row, name, f"it must be {rule}, got {float(column[row])}."
    check = loss.truth_fault if is_truth else loss.forecast_fault
    if rule := check(column):
        low, high = 0, len(column)  # the first `low` rows are right, the first `high` are not
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if check(column[:middle]) else (middle, high)
        return low, name, f"it must be {rule}, got {float(column[low])}."
    return None


def _check_text(block: Block, name: str, column: Any) -> None:
    """Reject a row without a time or a series, and texts that are very long or not in UTF-8."""
    missing = compute.is_null(column, nan_is_null=types.is_floating(column.type))
    if types.is_string(column.type):
        length = compute.binary_length(column)
        missing = compute.or_kleene(missing, compute.equal(length, 0)).fill_null(True)
        if (compute.max(length).as_py() or 0) > LONGEST_TEXT:
            row = compute.index(compute.greater(length, LONGEST_TEXT).fill_null(False), True).as_py()
            raise block.fault(row, name, f"the text is longer than {LONGEST_TEXT} bytes.")
    if compute.any(missing).as_py():
        raise block.fault(compute.index(missing, True).as_py(), name, "it is missing.")
