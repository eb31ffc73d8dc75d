"""Columns of records: their fields as arrays, with checks of types. The rules about values are in `cell_checks`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from driftwise.core.errors import rejection
from driftwise.core.types import Actions, Vector
from driftwise.results.cells import CELL, COUNTS, KEY_LENGTH, REALS, TEXTS, CellRecord

__all__ = ["RecordColumns", "record_columns"]

_KEY = re.compile(rf"[0-9a-f]{{{KEY_LENGTH}}}|")
_WHOLE, _REAL = (int, np.integer), (int, float, np.integer, np.floating)


class RecordColumns(NamedTuple):
    """The fields of many records."""

    cells: npt.NDArray[np.void]
    texts: dict[str, tuple[str, ...]]
    lengths: Actions
    rounds: Actions
    regrets: Vector
    bounds: Vector


def record_columns(records: Sequence[CellRecord]) -> RecordColumns:
    """Return the fields of records column by column; raise `InvalidInput` for a field of another type."""
    for record in records:
        if not isinstance(record, CellRecord):
            raise rejection("CellTable", "records", "a list of CellRecord", record)
    fields = [*zip(*records, strict=True)] or [()] * len(CellRecord._fields)
    columns = dict(zip(CellRecord._fields, fields, strict=True))
    cells = np.empty(len(records), CELL)
    _check_keys(columns["key"])
    cells["key"] = columns["key"]
    for name in COUNTS:
        cells[name] = _numbers(name, columns[name], np.int64, "a whole number", _WHOLE)
    for name in REALS:
        cells[name] = _numbers(name, columns[name], np.float64, "a number", _REAL)
    texts = {name: _encode(name, columns[name], cells[name]) for name in TEXTS}
    lengths = _lengths("rounds", columns["rounds"])
    for name in ("regrets", "bounds"):
        for wanted, length in zip(lengths, _lengths(name, columns[name]), strict=True):
            if wanted != length:
                raise rejection("CellRecord", name, f"as long as rounds, {wanted}", length)
    rounds = _joined("rounds", columns["rounds"], np.int64, "an array of whole numbers", "iu")
    regrets = _joined("regrets", columns["regrets"], np.float64, "an array of numbers", "iuf")
    bounds = _joined("bounds", columns["bounds"], np.float64, "an array of numbers", "iuf")
    return RecordColumns(cells, texts, np.array(lengths, np.int64), rounds, regrets, bounds)


def _check_keys(keys: Sequence[Any]) -> None:
    for key in keys:
        if not isinstance(key, str) or not _KEY.fullmatch(key):
            raise rejection("CellRecord", "key", "32 hex digits, or empty", key)


def _numbers(name: str, column: Sequence[Any], dtype: type, rule: str, types: tuple[type, ...]) -> Any:
    for kind in set(map(type, column)):
        if issubclass(kind, bool) or not issubclass(kind, types):
            raise rejection("CellRecord", name, rule, next(value for value in column if type(value) is kind))
    try:
        return np.array(column, dtype)
    except OverflowError:
        raise rejection("CellRecord", name, f"{rule} of 64 bits", max(column, key=abs)) from None


def _encode(name: str, column: Sequence[Any], codes: npt.NDArray[np.int32]) -> tuple[str, ...]:
    """Write the index of each text into `codes`; return the distinct texts."""
    for kind in set(map(type, column)) - {str}:
        raise rejection("CellRecord", name, "text", next(value for value in column if type(value) is kind))
    places: dict[str, int] = {}
    codes[:] = [places.setdefault(text, len(places)) for text in column]
    return tuple(places)


def _lengths(name: str, curves: Sequence[Any]) -> list[int]:
    try:
        return [len(curve) for curve in curves]
    except TypeError:
        bad = next(curve for curve in curves if not hasattr(curve, "__len__") or np.ndim(curve) == 0)
        raise rejection("CellRecord", name, "an array", bad) from None


def _joined(name: str, curves: Sequence[Any], dtype: type, rule: str, kinds: str) -> Any:
    """Return the curves of all cells in one array."""
    arrays: list[Any] = [np.empty(0, dtype)]
    for curve in curves:
        try:
            array = curve if isinstance(curve, np.ndarray) else np.asarray(curve)
        except ValueError:  # rows of different lengths
            raise rejection("CellRecord", name, rule, curve) from None
        if array.ndim != 1 or (array.size and array.dtype.kind not in kinds):
            raise rejection("CellRecord", name, rule, curve)
        arrays.append(array)
    return np.concatenate(arrays, dtype=dtype, casting="unsafe")  # uint64 beyond 2^63 becomes negative: rejected later
