"""The keys of the rounds of a mixture: what may be a key, and how a file holds it.

A key that is read from a file must be equal to the one that was written, of the same type and with the same hash:
otherwise the truth of a round that waits would not find it. So only values of known types are keys, and anything else
is refused when a round is combined, not when the mixture is saved.

In a file, texts, numbers, true, false and null are written as JSON has them. Others are lists with the name of their
type in front; a zone is null, the name of a time zone, or the difference from UTC in microseconds:

- `["date", "2026-11-17"]`
- `["datetime", "2026-11-17T06:00:00", fold, zone]`
- `["datetime64", 20774, "D", 1]`: the number, and a unit with its multiple
- `["Timestamp", 1794873600, "s", zone]`: the number in UTC, and its unit
- `["tuple", "north", ["date", "2026-11-17"]]`
"""

from __future__ import annotations

import functools
import importlib
import json
import sys
from collections.abc import Callable, Hashable
from datetime import date, datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from driftwise.core.errors import InvalidInput, rejection, shown

_RULE = "a text, a number, a date, a time of `datetime`, NumPy or pandas, or a tuple of these"
_ALWAYS = frozenset((str, bool, date))  # types of which every value is a key
_NUMBERS = "biufU"  # kinds of NumPy whose values Python has too; they are kept as values of Python
_LEAST, _MOST = -(2**63), 2**63 - 1  # whole numbers that are keys; NumPy's least one stands for NaT
_MICROSECOND = timedelta(microseconds=1)
_UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as")
_PANDAS_UNITS = ("s", "ms", "us", "ns")
_MOST_MULTIPLE = 2**31 - 1  # of a unit


def round_key(key: Hashable) -> Hashable:
    """Return the key of a round as it is kept, or reject it; numbers of NumPy become those of Python.

    >>> round_key(("north", np.int64(3)))
    ('north', 3)
    """
    kind = type(key)
    if kind in _ALWAYS or (kind is int and _LEAST < key <= _MOST):  # type: ignore[operator]
        return key
    try:
        if type(key) is tuple and key:
            return tuple(part if part is None else _kept(part) for part in key)
        return _kept(key)
    except ValueError:
        raise rejection("Mixture", "key", _RULE, key) from None


def _kept(key: Any) -> Hashable:
    """Return a key that is no tuple as it is kept; raise `ValueError` if it cannot be one."""
    if isinstance(key, np.generic) and key.dtype.kind in _NUMBERS:
        key = key.item()
    kind = type(key)
    if kind is int:
        allowed = _LEAST < key <= _MOST
    elif kind is float or kind is np.datetime64:
        allowed = bool(key == key)  # not so for NaN and NaT, whose round would never be found again
    elif kind is datetime or kind is _timestamp():
        allowed = key.tzinfo is None or _zone_form(key) is not None
    else:
        allowed = kind in _ALWAYS
    if not allowed:
        raise ValueError
    return key  # type: ignore[no-any-return]


def _timestamp() -> type | None:
    """Return the class of pandas' times; a key can be one only if pandas was imported."""
    return getattr(sys.modules.get("pandas"), "Timestamp", None)


def _zone_form(time: datetime) -> str | int | None:
    """Return the form of the time zone of a time; None if a file cannot hold it.

    Times of pandas are equal if they are so in UTC. So those with a zone of the library pytz may have another one with
    the same name after loading.
    """
    zone = time.tzinfo
    if type(zone) is timezone:
        return zone.utcoffset(None) // _MICROSECOND
    attribute = "key" if type(zone) is ZoneInfo else "zone"
    name = None if type(time) is datetime and attribute == "zone" else getattr(zone, attribute, None)
    return name if type(name) is str and _zone(name) is not None else None


@functools.lru_cache(maxsize=1000)
def _zone(name: str) -> ZoneInfo | None:
    """Return the time zone of a name, None if this machine has none; `ZoneInfo` refuses names of other files."""
    try:
        return ZoneInfo(name)
    except (ValueError, LookupError, OSError):
        return None


def stored_key(key: Any) -> object:
    """Return the form in which a file holds a key that `round_key` returned.

    >>> stored_key(("north", date(2026, 11, 17)))
    ['tuple', 'north', ['date', '2026-11-17']]
    """
    kind = type(key)
    if kind is tuple:
        return ["tuple", *map(stored_key, key)]
    if kind is date:
        return ["date", key.isoformat()]
    if kind is datetime:
        return ["datetime", key.replace(tzinfo=None).isoformat(), key.fold, _zone_form(key)]
    if kind is np.datetime64:
        return ["datetime64", int(key.view(np.int64)), *np.datetime_data(key.dtype)]
    if kind is _timestamp():
        number = key.to_datetime64()  # in UTC
        return ["Timestamp", int(number.view(np.int64)), np.datetime_data(number.dtype)[0], _zone_form(key)]
    return key


def loaded_key(stored: object) -> Hashable:
    """Return the key of a form in a file; what `stored_key` does not write is rejected.

    >>> loaded_key(["tuple", "north", ["date", "2026-11-17"]])
    ('north', datetime.date(2026, 11, 17))
    """
    try:
        key = _read(stored, _READERS)
        key = key if key is None else round_key(key)
        same = json.dumps(stored_key(key)) == json.dumps(stored)  # which 1, 1.0 and true are not
    except InvalidInput:
        raise
    except (ValueError, TypeError, OverflowError, LookupError, NotImplementedError):  # the last is of pandas
        same = False
    if not same:
        raise rejection("Mixture", "key", _RULE, stored)
    return key  # type: ignore[no-any-return]


def _read(stored: Any, readers: dict[str, Callable[..., Any]]) -> Any:
    if not isinstance(stored, list):
        return stored
    kind, *values = stored
    return readers[kind](*values)


def _read_datetime(text: str, fold: int, zone: object) -> datetime:
    return datetime.fromisoformat(text).replace(fold=fold, tzinfo=_read_zone(zone))


def _read_zone(zone: object) -> tzinfo | None:
    if isinstance(zone, str):
        if (named := _zone(zone)) is None:
            raise InvalidInput(f"Mixture: the time zone {shown(zone)} of a key is not known on this machine.")
        return named
    return None if zone is None else timezone(_MICROSECOND * zone)  # type: ignore[operator]


def _read_number(number: int, unit: str, multiple: int, units: tuple[str, ...] = _UNITS) -> np.datetime64:
    if unit not in units or type(multiple) is not int or not 1 <= multiple <= _MOST_MULTIPLE:
        raise ValueError
    time: Any = np.array(number, np.int64).view(f"M8[{multiple}{unit}]")
    return time[()]  # type: ignore[no-any-return]


def _read_timestamp(number: int, unit: str, zone: object) -> Any:
    try:
        pandas: Any = importlib.import_module("pandas")
    except ImportError:
        raise InvalidInput("Mixture: the keys have times of pandas, so pandas must be installed.") from None
    time = pandas.Timestamp(_read_number(number, unit, 1, _PANDAS_UNITS))
    return time if zone is None else time.tz_localize("UTC").tz_convert(_read_zone(zone))


_SINGLE: dict[str, Callable[..., Any]] = {
    "date": date.fromisoformat,
    "datetime": _read_datetime,
    "datetime64": _read_number,
    "Timestamp": _read_timestamp,
}
_READERS = {**_SINGLE, "tuple": lambda *parts: tuple(_read(part, _SINGLE) for part in parts)}
