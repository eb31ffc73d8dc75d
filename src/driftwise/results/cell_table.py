"""Many cells, column by column: a Python object for each of 400,000 cells would take too much time and memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from driftwise.core.errors import rejection
from driftwise.core.types import Actions, Flags, Vector
from driftwise.results.cell_checks import first_fault
from driftwise.results.cells import CELL, COUNTS, KEY_LENGTH, REALS, TEXTS, CellRecord

__all__ = ["CellTable"]

_KEY = re.compile(rf"([0-9a-f]{{{KEY_LENGTH}}})?")
_CURVES = {"rounds": "iu", "regrets": "iuf", "bounds": "iuf"}  # kinds of NumPy's types


@dataclass(frozen=True, eq=False)
class CellTable:
    """Cells in columns. Row `offsets[i]` to `offsets[i + 1]` of `round`, `regret` and `bound` is the curve of cell i.

    Parameters
    ----------
    cells : structured array
        One entry per cell: `cells["seed"]`, `cells["drift"]` and so on are columns; `cells["key"]` is in ASCII, and the
        column of a text has its index in `texts`.
    texts : dict of tuples of str
        The distinct texts of each column of texts, such as `texts["learner"]`; some may be used by no cell.
    offsets, round : arrays of int
    regret, bound : arrays of float
    """

    cells: npt.NDArray[np.void]
    texts: Mapping[str, tuple[str, ...]]
    offsets: Actions
    round: Actions
    regret: Vector
    bound: Vector

    @classmethod
    def from_records(cls, records: Iterable[CellRecord]) -> CellTable:
        """Return a table of records; raise `InvalidInput` if one of them breaks a rule."""
        records = list(records)
        columns = dict(zip(CellRecord._fields, zip(*records, strict=True) if records else ((),) * 99, strict=False))
        cells = np.empty(len(records), CELL)
        if not all(isinstance(key, str) and _KEY.fullmatch(key) for key in columns["key"]):
            bad = next(key for key in columns["key"] if not (isinstance(key, str) and _KEY.fullmatch(key)))
            raise rejection("CellRecord", "key", "32 hex digits, or empty", bad)
        cells["key"] = columns["key"]
        for name in COUNTS:
            cells[name] = _numbers(name, columns[name], "a whole number", int, np.integer)
        for name in REALS:
            cells[name] = _numbers(name, columns[name], "a number", float, int, np.floating, np.integer)
        texts = {name: _encode(name, columns[name], cells[name]) for name in TEXTS}
        lengths = [_length(curve) for curve in columns["rounds"]]
        for name in ("regrets", "bounds"):
            for length, curve in zip(lengths, columns[name], strict=True):
                if _length(curve) != length:
                    raise rejection("CellRecord", name, f"as long as rounds ({length})", curve)
        curves = [_joined(name, columns[name]) for name in _CURVES]
        table = cls(cells, texts, _offsets(np.array(lengths, np.int64)), curves[0].astype(np.int64), *curves[1:])
        fault = first_fault(table)
        if fault is not None:
            raise rejection("CellRecord", *fault)
        return table

    @classmethod
    def concatenate(cls, tables: Sequence[CellTable]) -> CellTable:
        """Return the cells of all tables, in this order."""
        if len(tables) == 1:
            return tables[0]
        cells = np.concatenate([np.empty(0, CELL), *(table.cells for table in tables)])
        texts = {}
        for name in TEXTS:
            places: dict[str, int] = {}
            codes = [
                np.array([places.setdefault(text, len(places)) for text in table.texts[name]], np.int32)[
                    table.cells[name]
                ]
                for table in tables
            ]
            cells[name] = np.concatenate([np.empty(0, np.int32), *codes])
            texts[name] = tuple(places)
        return cls(
            cells,
            texts,
            _offsets(np.concatenate([np.empty(0, np.int64), *(table.lengths for table in tables)])),
            np.concatenate([np.empty(0, np.int64), *(table.round for table in tables)]),
            np.concatenate([np.empty(0), *(table.regret for table in tables)]),
            np.concatenate([np.empty(0), *(table.bound for table in tables)]),
        )

    def select(self, mask: Flags) -> CellTable:
        """Return the cells where `mask` is true."""
        if mask.shape != self.cells.shape or mask.dtype != np.bool_:
            raise rejection("CellTable", "mask", f"{len(self)} truth values", mask)
        if mask.all():
            return self
        rows = np.repeat(mask, self.lengths)
        offsets = _offsets(self.lengths[mask])
        return CellTable(self.cells[mask], self.texts, offsets, self.round[rows], self.regret[rows], self.bound[rows])

    def take(self, places: Actions) -> CellTable:
        """Return the cells at these places, in this order."""
        lengths = self.lengths[places]
        offsets = _offsets(lengths)
        rows = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - self.offsets[:-1][places], lengths)
        return CellTable(self.cells[places], self.texts, offsets, self.round[rows], self.regret[rows], self.bound[rows])

    def stored_at(self, microseconds: int) -> CellTable:
        """Return the same cells, stored at this time."""
        cells = self.cells.copy()
        cells["stored"] = microseconds
        return replace(self, cells=cells)

    def record(self, i: int) -> CellRecord:
        """Return one cell."""
        cell, curve = self.cells[i], slice(self.offsets[:-1][i], self.offsets[1:][i])
        return CellRecord(
            key=cell["key"].decode(),
            rounds=self.round[curve],
            regrets=self.regret[curve],
            bounds=self.bound[curve],
            **{name: cell[name].item() for name in (*COUNTS, *REALS)},
            **{name: self.texts[name][cell[name]] for name in TEXTS},
        )

    def keys(self) -> list[str]:
        """Return the keys of the cells."""
        return [key.decode() for key in self.cells["key"].tolist()]

    @property
    def final(self) -> Vector:
        """The regret of each cell at its last marked round."""
        last: Vector = self.regret[self.offsets[1:] - 1]
        return last

    @property
    def failed(self) -> Flags:
        """Whether each cell has an error."""
        is_error = np.array([text != "" for text in self.texts["error"]], np.bool_)
        flags: Flags = is_error[self.cells["error"]]
        return flags

    @property
    def lengths(self) -> Actions:
        """The number of marked rounds of each cell."""
        return np.diff(self.offsets)

    @property
    def nbytes(self) -> int:
        """The memory of the arrays, in bytes."""
        return sum(array.nbytes for array in (self.cells, self.offsets, self.round, self.regret, self.bound))

    def __len__(self) -> int:
        return len(self.cells)


def _offsets(lengths: Actions) -> Actions:
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _numbers(name: str, column: Sequence[Any], rule: str, *types: type) -> Any:
    for kind in set(map(type, column)):
        if issubclass(kind, bool) or not issubclass(kind, types):
            raise rejection("CellRecord", name, rule, next(value for value in column if type(value) is kind))
    try:
        return np.array(column, np.int64 if rule == "a whole number" else np.float64)
    except OverflowError:
        raise rejection("CellRecord", name, f"{rule} of 64 bits", max(column, key=abs)) from None


def _encode(name: str, column: Sequence[Any], codes: npt.NDArray[np.int32]) -> tuple[str, ...]:
    """Write the index of each text into `codes`; return the distinct texts."""
    for kind in set(map(type, column)) - {str}:
        raise rejection("CellRecord", name, "text", next(value for value in column if type(value) is kind))
    places: dict[str, int] = {}
    codes[:] = [places.setdefault(text, len(places)) for text in column]
    return tuple(places)


def _length(curve: Any) -> int:
    try:
        return len(curve)
    except TypeError:
        raise rejection("CellRecord", "rounds", "arrays, as are regrets and bounds", curve) from None


def _joined(name: str, curves: Sequence[Any]) -> Any:
    """Return the curves of all cells in one array."""
    try:
        joined = np.concatenate([np.empty(0, np.int64 if name == "rounds" else np.float64), *curves])
    except (ValueError, TypeError):
        joined = np.empty((0, 0))
    if joined.ndim != 1 or joined.dtype.kind not in _CURVES[name]:
        rule = "an array of whole numbers" if name == "rounds" else "an array of numbers"
        raise rejection("CellRecord", name, rule, next((c for c in curves if not _is_curve(name, c)), curves))
    return joined


def _is_curve(name: str, curve: Any) -> bool:
    try:
        array = np.asarray(curve)
    except ValueError:
        return False
    return array.ndim == 1 and array.dtype.kind in _CURVES[name]
