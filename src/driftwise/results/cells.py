"""Cells: runs of one learner in one environment, one by one and in columns, and the rules that they obey.

A Python object for each of 400,000 cells would take too much time and memory: a table has columns.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import itertools
import json
import math
import platform
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from driftwise.core.errors import rejection
from driftwise.core.measures import Measures
from driftwise.core.types import Actions, Flags, Vector
from driftwise.core.validation import MAX_COUNT
from driftwise.registry import is_unicode

KEY_LENGTH = 32  # hex digits
TEXTS = ("environment", "learner", "comparator", "play", "kind", "caveat", "error", "machine")
COUNTS = ("n_actions", "n_rounds", "seed", "run", "segments", "stored")
MEASURES = ("drift", "variance", "drift_within", "squared_drift")
REALISED = ("deviation", "deviation_max", "oscillation", "movement", "best_loss")
REALS = (*MEASURES, *REALISED, "seconds")

# One cell in memory: its key, its numbers, and for each text its place in the list of distinct texts.
CELL = np.dtype(
    [("key", f"S{KEY_LENGTH}")]
    + [(name, "<i8") for name in COUNTS]
    + [(name, "<f8") for name in REALS]
    + [(name, "<i4") for name in TEXTS]
)


class CellRecord(NamedTuple):
    """One run of one learner in one environment. NaN stands for a number that is unknown or was not computed."""

    key: str  # 32 hex digits that identify the cell, or "" outside a store
    environment: str  # spec, as JSON text
    learner: str  # spec, as JSON text
    n_actions: int
    n_rounds: int
    seed: int  # in [0, 2^63)
    run: int
    comparator: str
    play: str
    kind: str  # of regret: "pseudo" or "realised"
    rounds: Actions  # the marked rounds, counted from 1, increasing
    regrets: Vector  # at the marked rounds
    bounds: Vector  # at the marked rounds, NaN where there is none
    segments: int = 0  # 0 if unknown
    drift: float = math.nan
    variance: float = math.nan
    drift_within: float = math.nan
    squared_drift: float = math.nan
    deviation: float = math.nan
    deviation_max: float = math.nan
    oscillation: float = math.nan
    movement: float = math.nan
    best_loss: float = math.nan
    caveat: str = ""  # why the tuning rule is meaningless here, "" if there is no caveat
    error: str = ""  # why the cell could not be played, "" if it was; then its one regret is NaN
    machine: str = ""  # short id of the machine and its libraries
    seconds: float = math.nan
    stored: int = 0  # time in microseconds since 1970 (UTC), set by the store; 0 if unknown


_MACHINE_DIGITS = 8  # of the id


class Machine(NamedTuple):
    """A machine: a short id, which is a digest of its facts, and the facts."""

    id: str
    facts: dict[str, str]

    @classmethod
    @functools.cache
    def here(cls) -> Machine:
        """Return the machine on which this process runs."""
        facts = {
            "cpu": _cpu(),
            **{package: _version(package) for package in ("driftwise", "numba", "numpy")},
            "python": platform.python_version(),
            "system": platform.platform(),
        }
        return cls(hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:_MACHINE_DIGITS], facts)


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:  # run from its sources
        return "unknown"


def _cpu() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def measured_fields(measures: Measures | None) -> dict[str, Any]:
    """Return the fields of a cell that are measures of its environment; none if they are unknown."""
    return {} if measures is None else {name: getattr(measures, name) for name in ("segments", *MEASURES)}


_KINDS = ("pseudo", "realised")
_SPEC_TEXTS = ("environment", "learner")
_LATEST = 253_402_300_799_999_999  # the last microsecond of the year 9999
_MOST_SEED = 2**63 - 1
_RANGES = {
    **dict.fromkeys(("n_actions", "n_rounds"), (1, MAX_COUNT, "a whole number in [1, 2^62]")),
    **dict.fromkeys(("run", "segments"), (0, MAX_COUNT, "a whole number in [0, 2^62]")),
    "seed": (0, _MOST_SEED, "a whole number in [0, 2^63)"),
    "stored": (0, _LATEST, "a time in microseconds, before the year 10000"),
}
_IS_HEX = np.isin(np.arange(256), np.frombuffer(b"0123456789abcdef", np.uint8))


class Fault(NamedTuple):
    """A broken rule: the column, the rule and the value that breaks it."""

    name: str
    rule: str
    got: object


def first_fault(table: CellTable) -> Fault | None:
    """Return the first broken rule of a table, None if it obeys all."""
    rules = (_shape_faults, _text_faults, _number_faults, _curve_faults)  # later ones rely on earlier ones
    return next(itertools.chain.from_iterable(rule(table) for rule in rules), None)


def _shape_faults(table: CellTable) -> Iterator[Fault]:
    n_rows = len(table.round)
    if len(table.offsets) != len(table.cells) + 1 or table.offsets[0] != 0 or table.offsets[-1] != n_rows:
        yield Fault("offsets", "one more than the cells, from 0 to the number of rows", table.offsets)
    elif (np.diff(table.offsets) < 1).any():
        yield Fault("rounds", "at least one round", [])
    if not len(table.regret) == len(table.bound) == n_rows:
        yield Fault("rounds", "as long as regrets and bounds", [n_rows, len(table.regret), len(table.bound)])


def _text_faults(table: CellTable) -> Iterator[Fault]:
    for name in TEXTS:
        values, codes = table.texts[name], table.cells[name]
        if len(codes) and not 0 <= codes.min() <= codes.max() < len(values):
            yield Fault(name, "an index into the list of its texts", int(codes.max()))
        if len(set(values)) != len(values):
            yield Fault(name, "a list of distinct texts", values)
        for value in values:
            if not is_unicode(value):
                yield Fault(name, "valid Unicode", value)
            elif name in _SPEC_TEXTS and not _is_spec(value):
                yield Fault(name, "a spec as JSON text", value)
            elif name == "kind" and value not in _KINDS:
                yield Fault(name, "'pseudo' or 'realised'", value)


def _number_faults(table: CellTable) -> Iterator[Fault]:
    raw = np.ascontiguousarray(table.cells["key"]).view(np.uint8).reshape(-1, KEY_LENGTH)
    bad_keys = ~(_IS_HEX[raw].all(axis=1) | (raw == 0).all(axis=1))
    if bad_keys.any():
        yield Fault("key", "32 hex digits, or empty", table.cells["key"][bad_keys][0])
    for name in COUNTS:
        least, most, rule = _RANGES[name]
        column = table.cells[name]
        yield from _first(name, rule, (column < least) | (column > most), column)


def _curve_faults(table: CellTable) -> Iterator[Fault]:
    starts, ends = table.offsets[:-1], table.offsets[1:] - 1
    steps = np.diff(table.round, prepend=0)
    steps[starts] = table.round[starts]
    yield from _first("rounds", "increasing, counted from 1", (table.round < 1) | (steps < 1), table.round)
    last = table.round[ends]
    yield from _first("rounds", "at most n_rounds", last > table.cells["n_rounds"], last)
    failed = table.failed
    if (failed & ((starts != ends) | ~np.isnan(table.final))).any():
        yield Fault("regrets", "a single NaN where there is an error", table.final[failed][0])


def _first(name: str, rule: str, bad: Flags, column: Any) -> Iterator[Fault]:
    if bad.any():
        yield Fault(name, rule, column[bad][0].item())


@functools.lru_cache(maxsize=4096)
def _is_spec(text: str) -> bool:
    try:
        spec = json.loads(text)
        return isinstance(spec, dict) and is_unicode(json.dumps(spec, ensure_ascii=False))  # also what is escaped
    except (ValueError, RecursionError):
        return False


_KEY = re.compile(rf"[0-9a-f]{{{KEY_LENGTH}}}|")
_WHOLE, _REAL = (int, np.integer), (int, float, np.integer, np.floating)


def _table_of(records: Sequence[CellRecord]) -> CellTable:
    """Return the table of some records; raise `InvalidInput` for a field of another type."""
    for record in records:
        if not isinstance(record, CellRecord):
            raise rejection("CellTable", "records", "a list of CellRecord", record)
    fields = [*zip(*records, strict=True)] or [()] * len(CellRecord._fields)
    columns = dict(zip(CellRecord._fields, fields, strict=True))
    cells = np.empty(len(records), CELL)
    for key in columns["key"]:
        if not isinstance(key, str) or not _KEY.fullmatch(key):
            raise rejection("CellRecord", "key", "32 hex digits, or empty", key)
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
    return CellTable(cells, texts, _offsets(np.array(lengths, np.int64)), rounds, regrets, bounds)


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
            array = np.asarray(curve)
        except ValueError:  # rows of different lengths
            raise rejection("CellRecord", name, rule, curve) from None
        if array.ndim != 1 or (array.size and array.dtype.kind not in kinds):
            raise rejection("CellRecord", name, rule, curve)
        arrays.append(array)
    return np.concatenate(arrays, dtype=dtype, casting="unsafe")  # uint64 beyond 2^63 becomes negative: rejected later


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
        table = _table_of(list(records))
        if (fault := first_fault(table)) is not None:
            raise rejection("CellRecord", *fault)
        return table

    @classmethod
    def concatenate(cls, tables: Sequence[CellTable]) -> CellTable:
        """Return the cells of all tables, in this order."""
        if len(tables) == 1:
            return tables[0]

        def joined(column: str, kind: npt.DTypeLike) -> Any:
            return np.concatenate([np.empty(0, kind), *(getattr(table, column) for table in tables)])

        cells, texts = joined("cells", CELL), {}
        codes = np.split(cells, np.cumsum([len(table) for table in tables])[:-1])  # views
        for name in TEXTS:
            places: dict[str, int] = {}
            for table, part in zip(tables, codes, strict=False):
                own = [places.setdefault(text, len(places)) for text in table.texts[name]]
                part[name] = np.array(own, np.int32)[part[name]]
            texts[name] = tuple(places)
        offsets, rounds = _offsets(joined("lengths", np.int64)), joined("round", np.int64)
        return cls(cells, texts, offsets, rounds, joined("regret", np.float64), joined("bound", np.float64))

    def select(self, mask: Flags) -> CellTable:
        """Return the cells where `mask` is true."""
        if mask.shape != self.cells.shape or mask.dtype != np.bool_:
            raise rejection("CellTable", "mask", f"{len(self)} truth values", mask)
        return self if mask.all() else self.take(np.flatnonzero(mask))

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
        digests = [hashlib.blake2b(cell + curve, digest_size=8).digest() for cell, curve in pairs]
        return np.frombuffer(b"".join(digests), np.int64)

    def keys(self) -> list[str]:
        """Return the keys of the cells."""
        return [key.decode() for key in self.cells["key"].tolist()]

    @property
    def final(self) -> Vector:
        """The regret of each cell at its last marked round."""
        return self.regret.take(self.offsets[1:] - 1)

    @property
    def failed(self) -> Flags:
        """Whether each cell has an error."""
        return np.array([text != "" for text in self.texts["error"]], np.bool_).take(self.cells["error"])

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


def final_bounds(table: CellTable) -> Vector:
    """Return the bound of each cell at its last marked round."""
    return table.bound.take(table.offsets[1:] - 1)


def cell_texts(table: CellTable, name: str) -> npt.NDArray[np.object_]:
    """Return the text of each cell in a column of texts."""
    return np.array([*table.texts[name], ""], np.object_).take(table.cells[name])


def _offsets(lengths: Actions) -> Actions:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])


@functools.lru_cache(maxsize=4096)
def _text_digest(text: str) -> int:
    content = text.encode(errors="surrogateescape")  # bytes that are not UTF-8, of a damaged file
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")
