"""The rows of a table of forecasts: blocks of a fixed number of rows, their numbers, series and times checked.

Blocks do not depend on the batches in which a reader yields the rows, so neither do the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute, types

from driftwise.core.errors import BadData, shown
from driftwise.core.types import Actions, Matrix, Vector
from driftwise.environments.table_files import LONGEST_TEXT, ColumnChoice
from driftwise.forecasting.labelled_values import LARGEST
from driftwise.forecasting.losses import ForecastLoss

__all__ = ["RowBlock", "SeriesNames", "TimeOrder", "block_rows", "row_blocks"]

Array = np.ndarray[Any, Any]
CellFault = Callable[[int, str, str], BadData]  # of a row of the table, a column and a message

_MOST_ROWS = 1 << 17
_FEWEST_ROWS = 1 << 8
_MOST_CELLS = 1 << 21


@dataclass(frozen=True)
class RowBlock:
    """Consecutive rows of a table."""

    row: int  # the number of rows before it
    truths: Vector
    forecasts: Matrix
    time: Any  # Arrow array, None if there is no such column
    by: Any
    cell_fault: CellFault

    def __len__(self) -> int:
        return len(self.truths)

    def fault(self, i: int, column: str, message: str) -> BadData:
        """Return the error about a cell."""
        return self.cell_fault(self.row + i, column, message)


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
    batches: Iterator[Any], choice: ColumnChoice, loss: ForecastLoss, n_rows: int, cell_fault: CellFault
) -> Iterator[RowBlock]:
    """Yield blocks of `n_rows` rows, the last one shorter."""
    held: list[Any] = []
    row, size = 0, 0
    for batch in batches:
        while batch.num_rows:
            held.append(batch.slice(0, n_rows - size))
            size += held[-1].num_rows
            batch = batch.slice(held[-1].num_rows)
            if size == n_rows:
                yield _block(pa.Table.from_batches(held), choice, loss, row, cell_fault)
                row, held, size = row + size, [], 0
    if held:
        yield _block(pa.Table.from_batches(held), choice, loss, row, cell_fault)


def _block(table: Any, choice: ColumnChoice, loss: ForecastLoss, row: int, cell_fault: CellFault) -> RowBlock:
    truths = table.column(choice.target).to_numpy()
    forecasts = np.empty((table.num_rows, len(choice.experts)))
    for k, name in enumerate(choice.experts):
        forecasts[:, k] = table.column(name).to_numpy()
    texts = {name: _joined(table.column(name)) for name in choice.texts}
    time, by = (None if name is None else texts[name] for name in (choice.time, choice.by))
    block = RowBlock(row, truths, forecasts, time, by, cell_fault)
    columns = [(choice.target, truths, loss.truth_fault)]
    columns += [(name, column, loss.forecast_fault) for name, column in zip(choice.experts, forecasts.T, strict=True)]
    faults = [fault for name, column, check in columns if (fault := _number_fault(name, column, check))]
    if faults:
        raise block.fault(*min(faults, key=lambda fault: fault[0]))
    for name, column in texts.items():
        _check_text(block, name, column)
    return block


def _joined(column: Any) -> Any:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _number_fault(name: str, column: Vector, check: Callable[[Vector], str]) -> tuple[int, str, str] | None:
    """Return the first row of a column with a number that is too large or that the loss rejects, and the rule."""
    size = np.nanmax(np.abs(column), initial=0.0)
    if size > LARGEST:
        row = int(np.argmax(np.abs(np.nan_to_num(column, nan=0.0, posinf=np.inf, neginf=-np.inf)) > LARGEST))
        rule = "finite" if np.isinf(column[row]) else f"at most {LARGEST:g} in size"
        return row, name, f"it must be {rule}, got {float(column[row])}."
    if rule := check(column):
        row = _first_bad(column, lambda part: bool(check(part)))
        return row, name, f"it must be {rule}, got {float(column[row])}."
    return None


def _first_bad(column: Any, is_bad: Callable[[Any], bool]) -> int:
    """Return the first row up to which a column is bad."""
    low, high = 0, len(column)  # the first `low` rows are right, the first `high` are not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_bad(column[:middle]) else (middle, high)
    return low


def _check_text(block: RowBlock, name: str, column: Any) -> None:
    """Reject a row without a time or a series, and texts that are very long."""
    missing = compute.is_null(column, nan_is_null=types.is_floating(column.type))
    if types.is_string(column.type):
        length = compute.binary_length(column)
        missing = compute.or_kleene(missing, compute.equal(length, 0)).fill_null(True)
        if (compute.max(length).as_py() or 0) > LONGEST_TEXT:
            row = compute.index(compute.greater(length, LONGEST_TEXT).fill_null(False), True).as_py()
            raise block.fault(row, name, f"the text is longer than {LONGEST_TEXT} bytes.")
    if compute.any(missing).as_py():
        raise block.fault(compute.index(missing, True).as_py(), name, "it is missing.")


class SeriesNames:
    """The names of the series, texts or whole numbers, in the order in which they appear."""

    def __init__(self, column: str) -> None:
        self._column = column
        self._numbers: dict[str | int, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def names(self) -> tuple[str | int, ...]:
        """The names, in the order of the numbers."""
        return tuple(self._numbers)

    def numbers(self, block: RowBlock) -> Actions:
        """Return the number of the series of each row; series that are new get the next ones."""
        column = block.by
        if not types.is_string(column.type):
            try:
                column = column.cast(pa.int64())
            except pa.ArrowException:
                raise block.fault(0, self._column, "a whole number is beyond 64 bits.") from None
        encoded = column.dictionary_encode()
        known = self._numbers
        places = [known.setdefault(name, len(known)) for name in encoded.dictionary.to_pylist()]
        numbers: Actions = np.array(places, np.int64)[encoded.indices.to_numpy()]
        return numbers


_KINDS = {  # how times in text are compared: the words for the first one, and the types of Arrow that may hold all
    "number": ("a number", [pa.float64()]),
    "time": ("an ISO date or timestamp without an offset", [pa.timestamp("us"), pa.timestamp("ns")]),
    "offset": ("an ISO timestamp with an offset", [pa.timestamp("us", "UTC"), pa.timestamp("ns", "UTC")]),
}
_LONG = "A table with one row for each expert? In Python, driftwise.combine(frame, expert=..., forecast=...) takes it."


class TimeOrder:
    """Checks that the times of each series increase: an equal time is often a table with a row for each expert.

    Times that are numbers, dates or timestamps are compared as such. Text is compared as numbers if the first one is a
    number, as timestamps if the first one is an ISO date or timestamp (with or without an offset from UTC), else as
    text.
    """

    def __init__(self, column: str) -> None:
        self._column = column
        self._kind = ""
        self._last: Array = np.empty(0)  # time of each series
        self._texts: list[str] = []  # the last times, if they are compared as text

    def check(self, block: RowBlock, series: Actions | None, n_series: int) -> None:
        """Reject a time that is not after the last one of the same series."""
        self._kind = self._kind or _kind(block.time)
        known = len(self._texts) if self._kind == "text" else len(self._last)
        order = np.arange(len(block)) if series is None else np.argsort(series, kind="stable")
        sorted_series = np.zeros(len(block), np.int64) if series is None else series[order]
        first = np.append(True, sorted_series[1:] != sorted_series[:-1])
        last = np.append(first[1:], True)
        present = sorted_series[first]
        old = present[present < known]  # series are numbered as they appear, so the known ones are first here
        keys, before = self._compared(block, old)
        keys = keys[order]
        previous = np.empty_like(keys)
        previous[1:] = keys[:-1]
        previous[np.flatnonzero(first)[present < known]] = before
        follows = ~first  # rows with an earlier one of their series
        follows[np.flatnonzero(first)[present < known]] = True
        wrong = np.flatnonzero(follows & (keys <= previous))
        if wrong.size:
            at = int(wrong[order[wrong].argmin()])
            again = bool(keys[at] == previous[at])
            self._reject(block, at, again, order, sorted_series, series is not None)
        self._keep(block, order[last], present, keys[last], n_series)

    def _compared(self, block: RowBlock, old: Actions) -> tuple[Array, Array]:
        """Return the times of the block and the last ones of some series as values that can be compared."""
        if self._kind != "text":
            keys = _keys(block, self._column, self._kind)
            return keys, self._last[old].astype(keys.dtype)
        texts = pa.concat_arrays([block.time, pa.array([self._texts[i] for i in old.tolist()], pa.string())])
        encoded = texts.dictionary_encode()
        ranks = np.empty(len(encoded.dictionary), np.int64)
        ranks[compute.sort_indices(encoded.dictionary).to_numpy()] = np.arange(len(ranks))
        keys = ranks[encoded.indices.to_numpy()]
        return keys[: len(block)], keys[len(block) :]

    def _keep(self, block: RowBlock, rows: Actions, series: Actions, keys: Array, n_series: int) -> None:
        if self._kind == "text":
            self._texts += [""] * (n_series - len(self._texts))
            for i, text in zip(series.tolist(), block.time.take(pa.array(rows)).to_pylist(), strict=True):
                self._texts[i] = text
            return
        more = np.zeros(n_series - len(self._last), keys.dtype)
        self._last = np.concatenate([self._last.astype(keys.dtype), more]) if len(more) else self._last
        self._last[series] = keys

    def _reject(self, block: RowBlock, at: int, again: bool, order: Actions, series: Actions, several: bool) -> None:
        """Raise the error about row `at` in the order of the series; `again`: its time is that of the row before."""
        i = int(order[at])
        now = shown(block.time[i].as_py())
        if again:
            what, hint = f"got {now} again.", _LONG
        else:
            if at > 0 and series[at - 1] == series[at]:
                before = shown(block.time[int(order[at - 1])].as_py())
            else:
                before = shown(self._texts[series[at]]) if self._kind == "text" else "a later one"
            what = f"got {now} after {before}."
            hint = "They are compared as text: write dates as YYYY-MM-DD." if self._kind == "text" else "Sort the rows."
        within = " within a series" if several else ""
        by = "" if several else " If there are several series, name them by --by."
        raise block.fault(i, self._column, f"times must increase{within}, {what} {hint}{by}")


def _kind(column: Any) -> str:
    if types.is_floating(column.type) or types.is_decimal(column.type):
        return "number"
    if not types.is_string(column.type):
        return "whole"  # whole numbers, also the times of a Parquet file
    first = column.slice(0, 1)
    return next((kind for kind in _KINDS if _cast(first, kind) is not None), "text")


def _keys(block: RowBlock, name: str, kind: str) -> Array:
    column = block.time
    if types.is_string(column.type):
        found = _cast(column, kind)
        if found is None:
            row = _first_bad(column, lambda part: _cast(part, kind) is None)
            rule = f"it must be {_KINDS[kind][0]}, as the first one is"
            raise block.fault(row, name, f"{rule}, got {shown(column[row].as_py())}.")
        column = found
    try:
        if kind == "number":
            keys: Array = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        else:
            short = types.is_date32(column.type) or types.is_time32(column.type)
            keys = (column.cast(pa.int32()) if short else column).cast(pa.int64()).to_numpy(zero_copy_only=False)
    except pa.ArrowException:
        raise block.fault(0, name, f"times of the type {column.type} cannot be compared.") from None
    if kind == "number" and not np.isfinite(keys).all():
        row = int(np.argmin(np.isfinite(keys)))
        raise block.fault(row, name, f"it must be finite, got {float(keys[row])}.")
    return keys


def _cast(column: Any, kind: str) -> Any:
    """Return a column of text as numbers or timestamps, None if it has something else."""
    for target in _KINDS[kind][1]:
        try:
            found = compute.utf8_trim_whitespace(column).cast(target)
            return found.cast(pa.timestamp("ns", target.tz)) if kind != "number" else found
        except pa.ArrowException:
            continue
    return None
