"""Times in the columns of a table: whether they increase within a series, and those that are text on one axis.

Times that are numbers, dates or timestamps are compared as such; whole numbers of any size are compared exactly. Text
is compared as numbers if the first one is a number, as timestamps if the first one is an ISO date or timestamp (with or
without an offset from UTC), else as text.
"""

from __future__ import annotations

import contextlib
from bisect import bisect_left
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
from pyarrow import compute, types

from driftwise.core.errors import BadData, shown
from driftwise.core.types import Actions, Matrix, Vector
from driftwise.forecasting.losses import Array
from driftwise.forecasting.time_axis import (
    LARGEST_EXACT,
    NUMBER,
    OFFSET,
    TEXT,
    TIME,
    TimeAxis,
    TimeColumn,
    clocks_hint,
    time_axis,
)

Column = TypeVar("Column", Vector, pa.Array)
CellFault = Callable[[int, str, str], BadData]  # of a row, a column and a message


class RowBlock(NamedTuple):
    """Consecutive rows of a table."""

    truths: Vector
    forecasts: Matrix
    texts: dict[str, pa.Array]  # the columns of times and of labels
    fault: CellFault


def first_bad(column: Column, is_bad: Callable[[Column], bool]) -> int:
    """Return the first row up to which a column is bad."""
    return bisect_left(range(1, len(column)), True, key=lambda n_rows: is_bad(column[:n_rows]))


_KINDS = {  # how times in text are compared: the words for the first one, and the types of Arrow that may hold all
    NUMBER: ("a number", [pa.float64()]),
    TIME: ("an ISO date or timestamp without an offset", [pa.timestamp("us"), pa.timestamp("ns")]),
    OFFSET: ("an ISO timestamp with an offset", [pa.timestamp("us", "UTC"), pa.timestamp("ns", "UTC")]),
}
_CURES = (
    "A table with one row for each expert? Name its columns by --expert and --forecast. Issued at different times? Name"
    " the column of these times by --issued, or that of the steps ahead by --step."
)


class TimeOrder:
    """Checks that the times of each series increase: an equal time is often a table with a row for each expert."""

    def __init__(self, column: str) -> None:
        self._column = column
        self._kind = ""
        self._last: Array = np.empty(0)  # time of each series

    def check(self, block: RowBlock, series: Actions | None, n_series: int) -> None:
        """Reject a time that is not after the last one of the same series."""
        times = block.texts[self._column]
        self._kind = self._kind or _kind(times)
        order = np.arange(len(times)) if series is None else np.argsort(series, kind="stable")
        series_of = np.zeros(len(times), np.int64) if series is None else series[order]
        keys = _keys(block, self._column, self._kind)[order]
        is_first, n_before = np.append(True, series_of[1:] != series_of[:-1]), len(self._last)
        continues = is_first & (series_of < n_before)  # a series of an earlier block
        if n_before and keys.dtype != self._last.dtype:  # Python compares whole numbers and floats exactly
            keys, self._last = keys.astype(object), self._last.astype(object)
        previous = np.append(keys[:1], keys[:-1])
        previous[continues] = self._last[series_of[continues]]
        wrong = np.flatnonzero((~is_first | continues) & (keys <= previous))
        if wrong.size:
            at = int(wrong[order[wrong].argmin()])
            before = "a later one" if is_first[at] else shown(times[int(order[at - 1])].as_py())
            before = shown(previous[at]) if self._kind == TEXT else before
            row, is_again = int(order[at]), bool(keys[at] == previous[at])
            last = None if is_first[at] else times[int(order[at - 1])].as_py()
            clocks = clocks_hint(times[row].as_py(), last) if is_again or last is not None else ""
            raise self._fault(block, row, "" if is_again else before, clocks, series is not None)
        self._last = np.append(self._last[:n_before].astype(keys.dtype), np.empty(n_series - n_before, keys.dtype))
        is_last = np.append(is_first[1:], True)
        self._last[series_of[is_last]] = keys[is_last]

    def _fault(self, block: RowBlock, row: int, before: str, clocks: str, several: bool) -> BadData:
        """Return the error about a row whose time is less than the one before, or equal to it if that is ""."""
        sort = "Sort the rows. If each time is forecast several times: --issued or --step."
        hint = "They are compared as text: write dates as YYYY-MM-DD." if self._kind == TEXT else sort
        order = f"after {before}. {hint}" if before else f"again. {_CURES}"
        if clocks:
            order = f"{order} {clocks}"
        within = " within a series" if several else ""
        by = "" if several else " If there are several series, name them by --by."
        got = f"got {shown(block.texts[self._column][row].as_py())} {order}{by}"
        return block.fault(row, self._column, f"times must increase{within}, {got}")


def _kind(column: pa.Array) -> str:
    if types.is_floating(column.type) or types.is_decimal(column.type):
        return NUMBER
    if not types.is_string(column.type):
        return "whole"  # whole numbers, also the times of a Parquet file
    return next((kind for kind in _KINDS if _cast(column[:1], kind) is not None), TEXT)


def _keys(block: RowBlock, name: str, kind: str) -> Array:
    """Return the times of a block as values that can be compared."""
    column = block.texts[name]
    if kind == TEXT:
        return np.array(column.to_pylist(), object)
    if types.is_string(column.type):
        parsed = _cast(column, kind)
        if parsed is None:
            row = first_bad(column, lambda part: _cast(part, kind) is None)
            rule = f"it must be {_KINDS[kind][0]}, as the first one is"
            raise block.fault(row, name, f"{rule}, got {shown(column[row].as_py())}.")
        column = parsed
    if types.is_decimal(column.type):
        return np.array(column.to_pylist(), object)
    keys: Array
    try:
        if types.is_uint64(column.type):
            keys = column.to_numpy()
        elif kind == NUMBER:
            keys = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        else:
            short = types.is_date32(column.type) or types.is_time32(column.type)
            keys = (column.cast(pa.int32()) if short else column).cast(pa.int64()).to_numpy(zero_copy_only=False)
    except pa.ArrowException:
        raise block.fault(0, name, f"times of the type {column.type} cannot be compared.") from None
    if kind == NUMBER and not np.isfinite(keys).all():
        row = int(np.argmin(np.isfinite(keys)))
        raise block.fault(row, name, f"it must be finite, got {float(keys[row])}.")
    is_text = types.is_string(block.texts[name].type)
    return _exact(block.texts[name], keys) if is_text and kind == NUMBER else keys


def _exact(column: pa.Array, keys: Vector) -> Array:
    """Return times in text that are read as floats; if some are too large for that, as whole numbers."""
    if np.abs(keys).max() < LARGEST_EXACT:
        return keys
    texts = compute.utf8_trim_whitespace(column)
    for target in (pa.int64(), pa.uint64()):
        with contextlib.suppress(pa.ArrowException):
            whole: Array = texts.cast(target).to_numpy()
            return whole
    return np.array([int(text) if text.lstrip("-").isdecimal() else float(text) for text in texts.to_pylist()], object)


def _cast(column: pa.Array, kind: str) -> pa.Array | None:
    """Return a column of text as numbers or timestamps, None if it has something else."""
    for target in _KINDS[kind][1]:
        with contextlib.suppress(pa.ArrowException):
            parsed = compute.utf8_trim_whitespace(column).cast(target)
            return parsed.cast(pa.timestamp("ns", target.tz)) if kind != NUMBER else parsed
    return None


def text_times(block: RowBlock, columns: Mapping[str, str]) -> TimeAxis | None:
    """Return times that are all text on one axis; `columns` are their names by option.

    None: a column is not text; then `driftwise.forecasting.frame_columns.times` compares them.
    """
    arrays = {option: block.texts[name] for option, name in columns.items()}
    if not all(types.is_string(array.type) for array in arrays.values()):
        return None
    present = {option: np.array(compute.not_equal(array.fill_null(""), "")) for option, array in arrays.items()}
    kind = _kind(arrays["time"])
    if kind == TEXT and len(columns) > 1:
        row, name = 0, columns["time"]
        rule = "beside other times it must be a number or an ISO date or timestamp"
        raise block.fault(row, name, f"{rule}, got {shown(arrays['time'][row].as_py())}.")
    parts = {}
    for option, array in arrays.items():
        rows = np.flatnonzero(present[option])

        def fault(row: int, name: str, message: str, rows: Actions = rows) -> BadData:
            return block.fault(int(rows[row]), name, message)

        name = columns[option]
        of_column = RowBlock(block.truths, block.forecasts, {name: array.take(pa.array(rows))}, fault)
        values = _keys(of_column, name, kind) if len(rows) else np.empty(0, np.int64)
        parts[option] = TimeColumn(values, present[option])
    return time_axis(parts, kind)
