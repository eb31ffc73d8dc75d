"""The times of a table on one axis: values that can be compared and stored, and their ranks.

========  ======================================================  ===================================
kind      times                                                   a stored value
========  ======================================================  ===================================
number    numbers                                                 the number
time      dates and timestamps without a time zone                nanoseconds since 1970
offset    timestamps with a time zone or an offset                nanoseconds since 1970 in UTC
text      other texts                                             the text
========  ======================================================  ===================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple

import numpy as np

from driftwise.core.types import Actions, Flags
from driftwise.forecasting.losses import Array

NUMBER, TIME, OFFSET, TEXT = "number", "time", "offset", "text"
KINDS = {NUMBER: "numbers", TIME: "times without a time zone", OFFSET: "times with a time zone", TEXT: "texts"}
_CHANGES, _LATEST_HOUR = (3, 4, 9, 10, 11), 3  # months and hours in which clocks go back
LARGEST_EXACT = 2.0**53  # up to it every whole number is a float


class TimeColumn(NamedTuple):
    """A column of times: where they are, and those that are there."""

    values: Array
    present: Flags

    def take(self, rows: Actions) -> TimeColumn:
        """Return the column of some rows."""
        has = self.present[rows]
        return TimeColumn(self.values[(np.cumsum(self.present) - 1)[rows[has]]], has)


class TimeAxis(NamedTuple):
    """Columns of times, by option such as "time" or "issued", which can be compared with each other."""

    columns: dict[str, TimeColumn]
    ranks: dict[str, Actions]  # from 0, equal for equal times; -1 where one is missing
    kind: str = ""  # "": by the types of the values

    def stored(self) -> tuple[str, dict[str, TimeColumn]]:
        """Return the kind of the times, and the columns with values as they are stored: whole numbers, floats or texts.

        Raises `ValueError` with the reason if they cannot be stored.
        """
        parts = {
            option: (*_stored(column.values, self.kind), column.present) for option, column in self.columns.items()
        }
        kinds = {kind for kind, values, _ in parts.values() if len(values)}
        if len(kinds) > 1:
            raise ValueError("its columns of times have different kinds")
        return min(kinds, default=TEXT), {option: TimeColumn(*part[1:]) for option, part in parts.items()}


def time_axis(columns: Mapping[str, TimeColumn], kind: str = "") -> TimeAxis:
    """Return the axis of some columns; raise `TypeError` if their times cannot be compared."""
    parts = [column.values for column in columns.values()]
    if len({part.dtype for part in parts if part.dtype.kind in "iufO" and len(part)}) > 1:
        parts = [part.astype(object) if part.dtype.kind in "iuf" else part for part in parts]  # compared exactly
    rank = _ranks(np.concatenate([part for part in parts if len(part)] or [np.empty(0)]))
    ranks, first = {}, 0
    for option, (values, present) in columns.items():
        ranks[option] = np.full(len(present), -1)
        ranks[option][present] = rank[first : first + len(values)]
        first += len(values)
    return TimeAxis(dict(columns), ranks, kind)


def _ranks(values: Array) -> Actions:
    if values.dtype.kind != "O":
        return np.unique(values, return_inverse=True)[1].astype(np.int64)
    ordered = {value: k for k, value in enumerate(sorted(set(values.tolist())))}
    return np.fromiter((ordered[value] for value in values.tolist()), np.int64, len(values))


def clocks_hint(value: object, before: object = None) -> str:
    """Return a sentence on clocks that go back if a time that occurs again may be due to them, else "".

    Such a local time has no offset, and is at night, in spring or autumn, less than an hour before the time `before`.

    >>> clocks_hint("2026-10-25 02:30")
    'Local times that occur twice when clocks go back: write UTC or offsets.'
    """
    times = [_moment(time) for time in (value, value if before is None else before)]
    now, last = times
    if now is None or last is None or now.tzinfo is not None or last.tzinfo is not None:
        return ""
    is_near = timedelta(0) <= last - now < timedelta(hours=1)
    is_change = now.month in _CHANGES and now.hour <= _LATEST_HOUR
    return "Local times that occur twice when clocks go back: write UTC or offsets." if is_near and is_change else ""


def _moment(value: object) -> datetime | None:
    """Return a time or a text with date and hour as a time, None for others."""
    if isinstance(value, datetime):
        return value
    try:
        return datetime.fromisoformat(value.strip()) if isinstance(value, str) and ":" in value else None
    except ValueError:
        return None


def loaded(values: Sequence[int | float | str | None]) -> TimeColumn:
    """Return a column of stored values; None is a missing one."""
    present = np.fromiter((value is not None for value in values), bool, len(values))
    some = [value for value in values if value is not None]
    whole = all(type(value) is int for value in some)
    return TimeColumn(np.array(some, np.int64) if whole else _objects(some), present)


def stored_time(value: object) -> tuple[str, int | float | str]:
    """Return the kind of a time, and its value as it is stored; raise `ValueError` if it is no time."""
    kind, values = _stored(np.array([value]) if isinstance(value, np.datetime64) else _objects([value]), "")
    stored: int | float | str = values.tolist()[0]
    return kind, stored


def _objects(values: Sequence[Any]) -> Array:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _stored(values: Array, kind: str) -> tuple[str, Array]:
    """Return the kind of an array of times, and its values as they are stored."""
    if values.dtype.kind == "M":
        return kind or TIME, _nanoseconds(values)
    if values.dtype.kind == "i":
        return kind or NUMBER, values.astype(np.int64)
    if values.dtype.kind == "f":
        return kind or NUMBER, _whole(values)
    if values.dtype.kind in "UT":
        return kind or TEXT, values.astype(object)
    objects = values.tolist()
    types = {type(value) for value in objects}
    if types <= {str}:
        return kind or TEXT, _objects(objects)
    if types <= {int, float}:
        if any(abs(value) >= 2**63 for value in objects):
            raise ValueError("its times must be below 2^63")
        return kind or NUMBER, _objects(objects)
    if all(issubclass(kind, date) for kind in types):
        aware = isinstance(objects[0], datetime) and objects[0].tzinfo is not None
        return kind or (OFFSET if aware else TIME), _nanoseconds(np.array([*map(_in_utc, objects)]))
    raise ValueError(f"times of the type {types.pop().__name__} cannot be stored")


def _nanoseconds(values: Array) -> Array:
    exact = values.astype("M8[ns]")
    if (exact.astype(values.dtype) != values).any():
        raise ValueError("its times must be between the years 1678 and 2262")
    whole: Array = exact.view(np.int64)
    return whole


def _whole(values: Array) -> Array:
    """Return floats as whole numbers if all are: a column of them with a missing one is read as floats."""
    if np.isnan(values).any():
        raise ValueError("its times must not be NaN")
    if (np.abs(values) < LARGEST_EXACT).all() and (values % 1 == 0).all():
        return values.astype(np.int64)
    return _objects(values.tolist())


def _in_utc(value: Any) -> np.datetime64:
    if hasattr(value, "to_datetime64"):  # of pandas: in UTC
        stamp: np.datetime64 = value.to_datetime64()
        return stamp
    if not isinstance(value, datetime):
        value = datetime.combine(value, time())
    return np.datetime64(value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None), "us")
