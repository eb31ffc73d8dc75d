"""Many cells, column by column: a Python object for each of 400,000 cells would take too much time and memory."""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from driftwise.core.errors import rejection
from driftwise.core.types import Actions, Flags, Vector
from driftwise.results.cell_checks import first_fault
from driftwise.results.cells import CELL, COUNTS, REALS, TEXTS, CellRecord
from driftwise.results.record_columns import record_columns

__all__ = ["CellTable"]

# A cell without its curve, as its digest has it: texts are digests of their own.
_DIGESTED = np.dtype([(name, "<u8" if name in TEXTS else CELL[name]) for name in CELL.names or ()])


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
        columns = record_columns(list(records))
        offsets = _offsets(columns.lengths)
        table = cls(columns.cells, columns.texts, offsets, columns.rounds, columns.regrets, columns.bounds)
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
        places: dict[str, dict[str, int]] = {name: {} for name in TEXTS}
        first = 0
        for table in tables:
            part = cells[first : first + len(table)]
            for name, known in places.items():
                codes = [known.setdefault(text, len(known)) for text in table.texts[name]]
                part[name] = np.array(codes, np.int32)[part[name]]
            first += len(table)
        return cls(
            cells,
            {name: tuple(known) for name, known in places.items()},
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

    def curves(self) -> list[bytes]:
        """Return the curve of each cell as bytes: its rounds, then its regrets, then its bounds."""
        arrays = ((self.round, "<i8"), (self.regret, "<f8"), (self.bound, "<f8"))
        parts = [np.ascontiguousarray(array, kind).tobytes() for array, kind in arrays]
        places = (8 * self.offsets).tolist()
        return [b"".join([part[i:j] for part in parts]) for i, j in itertools.pairwise(places)]

    def digests(self, curves: Sequence[bytes] | None = None) -> Actions:
        """Return a digest of each cell, of 64 bits: of its key, its numbers, its texts and its curve.

        All NaN count as one, and so do both zeros, but those of curves.
        """
        rows = np.empty(len(self), _DIGESTED)
        for name in ("key", *COUNTS):
            rows[name] = self.cells[name]
        for name in REALS:
            rows[name] = np.where(np.isnan(self.cells[name]), np.nan, self.cells[name] + 0.0)
        for name in TEXTS:
            codes = np.array([_text_digest(text) for text in self.texts[name]], np.uint64)
            rows[name] = codes[self.cells[name]]
        content = rows.view(f"V{_DIGESTED.itemsize}").tolist()  # bytes
        pairs = zip(content, self.curves() if curves is None else curves, strict=True)
        found = [hashlib.blake2b(cell + curve, digest_size=8).digest() for cell, curve in pairs]
        return np.frombuffer(b"".join(found), np.int64)

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


@functools.lru_cache(maxsize=4096)
def _text_digest(text: str) -> int:
    content = text.encode(errors="surrogateescape")  # bytes that are not UTF-8, of a damaged file
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")
