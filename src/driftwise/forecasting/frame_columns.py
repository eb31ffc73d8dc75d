"""Columns of a frame of pandas, polars or Arrow, read as arrays through Narwhals. Messages count rows from 0."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from driftwise.core.errors import InvalidInput, MissingDependency, rejection, shown
from driftwise.core.types import Actions, Vector
from driftwise.forecasting.labelled_values import nearest
from driftwise.forecasting.real_values import REAL_VALUE, first_too_large, real_value

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

    Frame = nw.DataFrame[Any]

__all__ = ["OWNER", "codes", "narwhals", "numbers", "opened", "ranks", "require_column", "times", "with_nulls"]

OWNER = "combine"
Times = np.ndarray[Any, Any]


def narwhals() -> Any:
    """Return Narwhals; raise with the command to install it if it is missing."""
    try:
        import narwhals.stable.v2 as nw
    except ImportError:
        raise MissingDependency("Reading a frame", "Narwhals 2", "frames") from None
    return nw


def opened(frame: Any) -> Frame:
    """Return a frame through Narwhals, after a check of its rows and of the names of its columns."""
    nw, kind = narwhals(), type(frame).__name__
    if kind in ("DataFrame", "Table"):
        _check_names(list(frame.column_names if kind == "Table" else frame.columns))
    try:
        read: Frame = nw.from_native(frame, eager_only=True)
    except TypeError:
        hint = " Pass `frame.collect()`." if kind == "LazyFrame" else ""
        rule = "a frame of pandas or polars, or a table of Arrow"
        raise InvalidInput(f"{OWNER}: `frame` must be {rule}, got a {kind}.{hint}") from None
    if not len(read):
        raise InvalidInput(f"{OWNER}: `frame` must have at least one row, got none.")
    return read


def _check_names(names: list[Any]) -> None:
    """Check the names of columns before Narwhals does: its messages have another form."""
    seen = set()
    for name in names:
        if not isinstance(name, str):
            hint = "Write `frame.columns = [str(name) for name in frame.columns]`."
            raise rejection(OWNER, "frame", "a frame whose columns have text as names", name, hint)
        if name in seen:
            raise InvalidInput(f"{OWNER}: `frame` must have different names of columns, got {shown(name)} twice.")
        seen.add(name)


def require_column(frame: Frame, argument: str, name: Any) -> None:
    """Check that a column exists; the message suggests the nearest one."""
    if not isinstance(name, str):
        raise rejection(OWNER, argument, "the name of a column", name)
    if name not in frame.columns:
        hint = nearest(name, frame.columns) or f"Its columns are {shown(frame.columns)}."
        if frame.implementation.is_pandas_like() and name in frame.to_native().index.names:
            hint = "It is in the index: pass `frame.reset_index()`."
        raise rejection(OWNER, argument, "a column of the frame", name, hint)


def numbers(frame: Frame, name: str, fault: Callable[[Any], str]) -> Vector:
    """Return a column of forecasts or truths as a vector; NaN where a value is missing.

    `fault` returns the rule of the loss that some values break, or "".
    """
    nw, column = narwhals(), frame[name]
    if column.dtype.is_numeric() or column.dtype == nw.Boolean:
        values = np.array(column.cast(nw.Float64).to_numpy(), np.float64)
    elif column.null_count() == len(column):
        values = np.full(len(column), np.nan)
    elif column.dtype == nw.Object:
        values = _from_objects(name, column.to_list())
    else:
        hint = (
            "Name the columns of forecasts with `experts`, that of the time with `time`, that of the series with `by`."
        )
        raise InvalidInput(f"{OWNER}: the column {shown(name)} must have numbers, got the type {column.dtype}. {hint}")
    if (k := first_too_large(values)) >= 0:
        raise _bad_value(name, REAL_VALUE, float(values[k]), k)
    if rule := fault(values):
        k = next(k for k in range(len(values)) if fault(values[k : k + 1]))
        raise _bad_value(name, rule, float(values[k]), k)
    return values


def with_nulls(frame: Frame, name: str) -> Frame:
    """Return a frame with nulls for the NaNs of a column; in pandas, where NaN is missing, the same frame."""
    if frame.implementation.is_pandas_like():
        return frame
    nw = narwhals()
    column = nw.col(name)
    return frame.with_columns(nw.when(~column.is_nan()).then(column).alias(name))


def _from_objects(name: str, given: Sequence[Any]) -> Vector:
    values = np.empty(len(given))
    for k, value in enumerate(given):
        real = real_value(value)
        if real is None:
            raise _bad_value(name, "a number", value, k)
        values[k] = real
    return values


def _bad_value(name: str, rule: str, got: Any, row: int) -> InvalidInput:
    return InvalidInput(
        f"{OWNER}: the column {shown(name)} must have {rule} in every row, got {shown(got)} in row {row}."
    )


def codes(frame: Frame, names: Sequence[str]) -> tuple[Actions, list[Any]]:
    """Return for each row the number of its value, or of its values in several columns, and the different values."""
    for name in names:
        _require_present(frame, name)
    columns = [frame[name].to_list() for name in names]
    keys = columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
    known: dict[Any, int] = {}
    numbered = np.fromiter((known.setdefault(key, len(known)) for key in keys), np.int64, len(keys))
    return numbered, list(known)


def times(frame: Frame, name: str) -> Times:
    """Return the column of the time as an array that can be compared."""
    _require_present(frame, name)
    found: Times = frame[name].to_numpy()
    return found


def ranks(name: str, values: Times) -> tuple[Actions, int]:
    """Return the ranks of the times, counted from 0, equal for equal times, and the number of different times."""
    try:
        if values.dtype.kind != "O":
            different, rank = np.unique(values, return_inverse=True)
            return rank.astype(np.int64), len(different)
        ordered = {value: k for k, value in enumerate(sorted(set(values)))}
    except TypeError:
        raise InvalidInput(f"{OWNER}: the times in the column {shown(name)} cannot be compared.") from None
    return np.fromiter((ordered[value] for value in values), np.int64, len(values)), len(ordered)


def _require_present(frame: Frame, name: str) -> None:
    column = frame[name]
    missing = column.is_null()
    if column.dtype.is_float():
        missing = missing | column.is_nan()
    if missing.any():
        row = int(missing.arg_true()[0])
        raise InvalidInput(f"{OWNER}: the column {shown(name)} must have a value in every row, got none in row {row}.")
