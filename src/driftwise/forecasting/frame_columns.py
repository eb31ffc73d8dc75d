"""Columns of frames of pandas, polars or Arrow as arrays: numbers, the numbers of series, and times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import UTC, datetime
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from driftwise.core.errors import InvalidInput, MissingDependency, rejection, shown
from driftwise.core.types import Actions, Vector
from driftwise.forecasting.labelled_values import REAL_VALUE, first_too_large, nearest, real_value
from driftwise.forecasting.losses import Array
from driftwise.forecasting.time_axis import OFFSET, TimeAxis, TimeColumn, time_axis

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

    Frame = nw.DataFrame[Any]


OWNER = "combine"
_MOST_SHOWN = 12  # names in a message
_ROLES = "Name the columns of forecasts with `experts`, that of the time with `time`, that of the series with `by`."


def narwhals() -> ModuleType:
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


def _check_names(names: list[object]) -> None:
    """Check the names of columns before Narwhals does: its messages have another form."""
    seen = set()
    for name in names:
        if not isinstance(name, str):
            hint = "Write `frame.columns = [str(name) for name in frame.columns]`."
            raise rejection(OWNER, "frame", "a frame whose columns have text as names", name, hint)
        if name in seen:
            raise InvalidInput(f"{OWNER}: `frame` must have different names of columns, got {shown(name)} twice.")
        seen.add(name)


def require_column(frame: Frame, argument: str, name: object) -> str:
    """Return the name of a column, after a check that it exists; the message suggests the nearest one."""
    if not isinstance(name, str):
        raise rejection(OWNER, argument, "the name of a column", name)
    if name not in frame.columns:
        hint = nearest(name, frame.columns) or f"Its columns are {shown(frame.columns)}."
        if frame.implementation.is_pandas_like() and name in frame.to_native().index.names:
            hint = "It is in the index: pass `frame.reset_index()`."
        raise rejection(OWNER, argument, "a column of the frame", name, hint)
    return name


def require_experts(frame: Frame, experts: Sequence[object]) -> None:
    """Check that columns of experts exist."""
    columns = {*frame.columns}
    for name in experts:
        if not isinstance(name, str) or name not in columns:
            require_column(frame, "experts", name)  # raises


def check_different(names: list[str]) -> None:
    """Check that no column has two uses."""
    for name, n_uses in Counter(names).items():
        if n_uses > 1:
            raise InvalidInput(f"{OWNER}: a column must have one role, got {shown(name)} twice.")


def listed(names: Sequence[str]) -> str:
    """Return the first names as a message shows them."""
    more = f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
    return ", ".join(shown(name) for name in names[:_MOST_SHOWN]) + more


def numbers(frame: Frame, name: str, fault: Callable[[Vector], str]) -> Vector:
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
        got = f"got the type {column.dtype}. {_ROLES}"
        raise InvalidInput(f"{OWNER}: the column {shown(name)} must have numbers, {got}")
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


def _from_objects(name: str, objects: Sequence[object]) -> Vector:
    values = [real_value(value) for value in objects]
    if None in values:
        k = values.index(None)
        raise _bad_value(name, "a number", objects[k], k)
    return np.array(values, np.float64)


def _bad_value(name: str, rule: str, got: object, row: int) -> InvalidInput:
    where = f"got {shown(got)} in row {row}"
    return InvalidInput(f"{OWNER}: the column {shown(name)} must have {rule} in every row, {where}.")


def codes(frame: Frame, names: Sequence[str]) -> tuple[Actions, list[Hashable]]:
    """Return for each row the number of its value, or of its values in several columns, and the different values."""
    for name in names:
        _require_present(frame, name)
    columns = [frame[name].to_list() for name in names]
    keys = columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
    places: dict[Hashable, int] = {}
    numbered = np.fromiter((places.setdefault(key, len(places)) for key in keys), np.int64, len(keys))
    return numbered, list(places)


def times(frame: Frame, names: Mapping[str, str], optional: Sequence[str] = (), parse: bool = False) -> TimeAxis:
    """Return columns of times on one axis; `names` are the columns by option.

    Only a column of an option that is `optional` may have missing values. A single column of texts is compared as
    text, unless it is to be parsed and begins with an ISO date or timestamp.
    """
    for option, name in names.items():
        if option not in optional:
            _require_present(frame, name)
    columns = [*names.values()]
    values, kind = _comparable(frame, columns, parse)
    present = [np.array((~_missing(frame, name)).to_numpy(), bool) for name in columns]
    present = [
        has & ~np.isnat(array) if array.dtype.kind == "M" else has for has, array in zip(present, values, strict=True)
    ]
    parts = [TimeColumn(array[has], has) for array, has in zip(values, present, strict=True)]
    try:
        return time_axis(dict(zip(names, parts, strict=True)), kind)
    except TypeError:
        what = ("column " if len(names) == 1 else "columns ") + " and ".join(map(shown, columns))
        raise InvalidInput(f"{OWNER}: the times in the {what} cannot be compared.") from None


def _comparable(frame: Frame, names: Sequence[str], parse: bool) -> tuple[list[Array], str]:
    """Return columns of times as arrays that can be compared, and their kind if the arrays do not show it.

    Text is read as ISO times where another column needs it, or if it is to be parsed.
    """
    nw = narwhals()
    zones = {name: getattr(frame[name].dtype, "time_zone", None) is not None for name in names}
    values: dict[str, Array] = {name: frame[name].to_numpy() for name in names}
    texts = [
        name for name in names if frame[name].dtype in (nw.String, nw.Categorical, nw.Enum) or _has_text(values[name])
    ]
    if texts and (len(names) > 1 or (parse and _is_iso(frame[names[0]][0]))):
        for name in texts:
            values[name], zones[name] = _iso_times(name, frame[name].to_list())
    of_times = {zones[name] for name in names if values[name].dtype.kind in "MO" and not _is_empty(frame, name)}
    if len(of_times) > 1:
        listed = ", ".join(shown(name) for name in names)
        raise InvalidInput(f"{OWNER}: of the times in the columns {listed} all or none must have a time zone.")
    return [values[name] for name in names], OFFSET if True in of_times else ""


def _is_empty(frame: Frame, name: str) -> bool:
    return bool(frame[name].null_count() == len(frame))


def _is_iso(text: object) -> bool:
    try:
        datetime.fromisoformat(str(text).strip())
    except ValueError:
        return False
    return True


def _has_text(values: Array) -> bool:
    return values.dtype.kind in "UT" or (
        values.dtype.kind == "O" and any(isinstance(value, str) for value in values[:1])
    )


def _iso_times(name: str, texts: Sequence[object]) -> tuple[Array, bool]:
    """Return texts as times, in UTC if they have offsets, and whether they have; a missing one is NaT."""
    times, aware = np.full(len(texts), np.datetime64("NaT"), "M8[us]"), set()
    parsed: dict[str, datetime] = {}
    for row, text in enumerate(texts):
        if isinstance(text, str) and text:
            try:
                moment = parsed.get(text) or parsed.setdefault(text, datetime.fromisoformat(text.strip()))
            except ValueError:
                raise _bad_value(name, "ISO dates or timestamps", text, row) from None
            aware.add(moment.tzinfo is not None)
            plain = moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
            times[row] = np.datetime64(plain, "us")
    if len(aware) > 1:
        raise InvalidInput(f"{OWNER}: of the times in the column {shown(name)} all or none must have an offset.")
    return times, True in aware


def _missing(frame: Frame, name: str) -> Any:
    column = frame[name]
    missing = column.is_null()
    return missing | column.is_nan() if column.dtype.is_float() else missing


def _require_present(frame: Frame, name: str) -> None:
    missing = _missing(frame, name)
    if missing.any():
        row = int(missing.arg_true()[0])
        raise InvalidInput(f"{OWNER}: the column {shown(name)} must have a value in every row, got none in row {row}.")
