"""Recorded losses as an environment, from arrays and from files: .npy, .csv and .parquet.

A row is a round, a column an action. In a .csv file are plain decimal numbers, with or without a row of names. Unless
the caller states whether there is a header, the first row decides: only words are names, only numbers are a round. A
row with both, and the labels `0,1`, `0` and `1`, which could also be losses, are rejected: a wrong guess would drop a
round or play the header as one. Labels with a number above 1, such as `0,1,2` or `1,2`, can only be names.
"""

from __future__ import annotations

import array
import contextlib
import csv
import math
import os
import re
import weakref
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import DTypeLike

from driftwise.core.archives import LONGEST_HEADER, npy_header
from driftwise.core.errors import BadFile, InvalidInput, MissingDependency, rejection, shown
from driftwise.core.files import existing_file, shown_path
from driftwise.core.types import Matrix
from driftwise.core.validation import LOSS_KINDS, count, first_bad_loss
from driftwise.environments.environment import Block, LossSource, Seed, Stream

Array = np.ndarray[Any, Any]
_ROWS = 4096  # checked at a time, so that a file is never completely in memory
_COPIES = 3  # of the numbers of a file: what Arrow has, the matrix, and what `Replay` keeps
_SUFFIXES = (".csv", ".npy", ".parquet")
_MISSING = ("", "na", "n/a", "nan", "null", "none")  # spellings of a missing value
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


class NpyFile:
    """A matrix in a .npy file, read from disk block by block; the file is closed with this object.

    It is read and not mapped into memory: if a mapped file is truncated during a run, the system ends the process.
    Several threads may read from it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)
        try:
            self._descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            weakref.finalize(self, os.close, self._descriptor)
            self._header = header = npy_header(os.pread(self._descriptor, LONGEST_HEADER, 0))
            self.shape, self.ndim, self.size = header.shape, len(header.shape), math.prod(header.shape)
            self.dtype = header.dtype  # in the file; `rows` returns float64
            self._n_bytes = os.fstat(self._descriptor).st_size
            if self._n_bytes < header.offset + header.nbytes:
                raise ValueError(f"it is too short for the shape {self.shape}")
        except ValueError as error:
            raise BadFile(f"{shown_path(path)}: cut short, or not a .npy file ({error}).") from None
        except OSError as error:
            raise BadFile(f"Cannot read {shown_path(path)}: {error.strerror or error}.") from None

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._path,)

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        return self.rows(0, len(self)).astype(dtype or np.float64, copy=False)

    def rows(self, first: int, n: int) -> Matrix:
        """Return up to `n` rows from the row `first` on, as a new array; there must be two dimensions."""
        n_rows, n_columns = self.shape
        n = max(0, min(n, n_rows - first))
        if os.fstat(self._descriptor).st_size != self._n_bytes:
            raise self._changed()
        by_column = self._header.fortran_order
        block = np.empty((n_columns, n) if by_column else (1, n * n_columns), self.dtype)
        for k, part in enumerate(block):
            self._fill(part, k * n_rows + first if by_column else first * n_columns)
        return np.require(block.T if by_column else block.reshape(n, n_columns), np.float64, ["C", "W", "E"])

    def _fill(self, target: Array, first: int) -> None:
        """Read values in the order of the file, from the value `first` on."""
        left = target.view(np.uint8).data
        position = self._header.offset + first * self.dtype.itemsize
        while left:
            try:
                got = os.preadv(self._descriptor, [left], position)
            except OSError as error:
                raise BadFile(f"Cannot read {shown_path(self._path)}: {error.strerror or error}.") from None
            if not got:
                raise self._changed()
            left, position = left[got:], position + got

    def _changed(self) -> BadFile:
        now = os.fstat(self._descriptor).st_size
        return BadFile(f"{shown_path(self._path)}: it had {self._n_bytes} bytes when it was opened, and now has {now}.")


Losses = Array | NpyFile
Recording = tuple[Losses, tuple[str, ...] | None]  # the numbers, and the names of the actions or None


def _read_losses(file: str | os.PathLike[str], header: bool | None) -> Recording:
    """Read a recording; the suffix of the file's name gives its format."""
    where = Path(file)
    suffix = where.suffix.lower()
    if suffix not in _SUFFIXES:
        raise BadFile(f"{shown_path(where)}: a recording must be one of {', '.join(_SUFFIXES)}, got {where.suffix!r}.")
    existing_file(where)
    if header is not None and (not isinstance(header, bool) or suffix != ".csv"):
        raise rejection(shown_path(where), "header", "True or False, and only for a .csv file", header)
    if suffix == ".npy":
        return NpyFile(where), None
    try:
        return _read_csv(where, header) if suffix == ".csv" else _read_parquet(where)
    except ModuleNotFoundError:
        raise MissingDependency(f"Reading a {suffix} file", "pyarrow", "files") from None


def _read_parquet(where: Path) -> Recording:
    from pyarrow import types

    from driftwise.environments.table_files import first_line, free_bytes, open_parquet, parquet_batches

    name, row = shown_path(where), 0
    try:
        with open_parquet(str(where)) as file:
            schema, n_rounds = file.schema_arrow, file.metadata.num_rows
            if _COPIES * 8 * n_rounds * len(schema) > free_bytes():
                size = f"{n_rounds} rounds of {len(schema)} actions"
                raise BadFile(f"{name}: {size} do not fit into the memory of this machine.")
            for column in schema:
                if not any(test(column.type) for test in (types.is_boolean, types.is_floating, types.is_integer)):
                    raise BadFile(f"{name}: column {column.name!r} must hold numbers, got {column.type}.")
            numbers = np.empty((n_rounds, len(schema)))
            for batch in parquet_batches(file, name):
                for k, column in enumerate(batch.columns):
                    values = column.cast("double", safe=False).to_numpy(zero_copy_only=False)
                    numbers[row : row + len(values), k] = values
                row += batch.num_rows
            if row != n_rounds:
                raise ValueError("rows are missing")
    except BadFile:
        raise
    except Exception as error:  # Arrow raises many kinds of error on damaged bytes, some in several lines
        raise BadFile(f"{name}: cut short, or not a .parquet file ({first_line(error)}).") from None
    return numbers, tuple(schema.names)


def _read_csv(where: Path, header: bool | None) -> Recording:
    import pyarrow

    from driftwise.environments.csv_tables import csv_batches, first_row
    from driftwise.environments.table_files import LONGEST, ByteStream, TableSource, free_bytes

    source = TableSource(str(where), size=where.stat().st_size)
    refusals = (csv.Error, UnicodeEncodeError, pyarrow.ArrowInvalid)
    with contextlib.closing(ByteStream(source)) as stream, contextlib.suppress(*refusals):
        cells, start, line = first_row(stream, stream.sample())
        if not cells:  # blank lines only
            return _read_slowly(where, header)
        cells = [cell.strip(" \t") for cell in cells]
        has_names = _is_header(cells, source.name) if header is None else header
        "".join(cells).encode()  # names in another encoding are surrogates here
        stream.skip(start if has_names else 0)
        kinds = dict.fromkeys(range(len(cells)), pyarrow.float64())
        next_line = line + 1 if has_names else 1
        batches = csv_batches(stream, len(cells), kinds, block=LONGEST, line=next_line, missing=("",))
        parts: list[Array] = []
        for batch in batches:
            parts.append(np.column_stack(batch.columns))
            if _COPIES * sum(part.nbytes for part in parts) > free_bytes():
                rounds = sum(map(len, parts))
                raise BadFile(f"{source.name}: {rounds} rounds and more do not fit into the memory of this machine.")
        numbers = np.concatenate([np.empty((0, max(1, len(cells)))), *parts])
        if np.isfinite(numbers).all():
            return numbers, tuple(cells) if has_names else None
    return _read_slowly(where, header)


def _read_slowly(where: Path, header: bool | None) -> Recording:
    """Read a .csv file that Arrow refuses or that has no finite numbers somewhere: raise the error with the place."""
    from driftwise.environments.csv_tables import Quotes, csv_rows
    from driftwise.environments.table_files import TableSource

    name = shown_path(where)
    numbers = array.array("d")
    names: tuple[str, ...] | None = None
    width = 0
    try:
        with where.open(newline="", encoding="utf-8-sig") as file:
            for _, line, row in csv_rows(file, quotes=Quotes(TableSource(str(where)), ",")):
                cells = [cell.strip(" \t") for cell in row]
                if not width:
                    width = len(cells)
                    if _is_header(cells, name) if header is None else header:
                        names = tuple(cells)
                        continue
                if len(cells) != width:
                    amount = f"{len(cells)} value{'s' if len(cells) != 1 else ''}"
                    raise BadFile(f"{name}, line {line}: {amount} where {width} are expected.")
                numbers.extend(_number(cell, f"{name}, line {line}, column {k}") for k, cell in enumerate(cells, 1))
    except BadFile:
        raise
    except (csv.Error, UnicodeDecodeError) as error:
        raise BadFile(f"{name}: not a .csv file ({error}).") from None
    except OSError as error:
        raise BadFile(f"Cannot read {name}: {error.strerror or error}.") from None
    return np.frombuffer(numbers).reshape(-1, max(1, width)), names


def _is_header(cells: list[str], name: str) -> bool:
    entries = [cell for cell in cells if cell.lower() not in _MISSING]
    n_numbers = sum(map(_looks_like_a_number, entries))
    n_words = len(entries) - n_numbers
    labels = any(cells == [str(first + k) for k in range(len(cells))] for first in (0, 1))
    if (n_numbers and n_words) or (labels and float(cells[-1]) <= 1):
        raise InvalidInput(
            f"{name}: its first row {shown(','.join(cells))} may be names or a round."
            " Say which: --header or --no-header, in Python `header=True` or `header=False`."
        )
    return labels or n_words > 0


def _looks_like_a_number(cell: str) -> bool:
    """Return whether `float` accepts it: also 0_1, inf and other digits, which are neither names nor losses."""
    with contextlib.suppress(ValueError):
        float(cell)
        return True
    return False


def _number(cell: str, place: str) -> float:
    if _DECIMAL.fullmatch(cell):
        return float(cell)
    if cell.lower() in _MISSING:
        return math.nan  # reported when the losses are checked
    raise BadFile(f"{place}: {shown(cell)} is not a number.")


def _block(losses: Losses, first: int, n: int) -> Matrix:
    if isinstance(losses, NpyFile):
        return losses.rows(first, n)
    return np.array(losses[first : first + n], dtype=np.float64, order="C")


class _ReplayStream(Stream):
    def __init__(self, n_rounds: int, losses: Losses) -> None:
        super().__init__(n_rounds, losses.shape[1])
        self._losses = losses

    def _next(self, n: int) -> Block:
        return Block(_block(self._losses, self._drawn, n), None, None)


@dataclass(frozen=True, eq=False)
class Replay(LossSource):
    """Recorded losses, played from an array or a file. There are no means, so there are no measures.

    Parameters
    ----------
    losses : array_like of shape (n_rounds, n_actions)
        Losses in [0, 1], at least one round and one action; the array is copied. A memory-mapped array (`np.memmap`) is
        not copied: if its file is truncated, the system ends the process. `Replay.from_file` reads block by block
        instead.
    names : sequence of str, default None
        Names of the actions, one per action.
    origin : str, default "Replay"
        Source of the losses, such as the name of the file; shown in messages and in `to_spec`.

    Notes
    -----
    A run over $T$ rounds plays the first $T$ rows in order. The seed has no effect.

    Examples
    --------
    >>> replay = Replay([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]])
    >>> replay.n_rounds, replay.start(n_rounds=2).draw(2).losses[:, 0]
    (3, array([0.1, 0.2]))
    """

    losses: Any = field(repr=False)
    names: tuple[str, ...] | None = None
    origin: str = "Replay"
    has_means: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if isinstance(self.losses, str | os.PathLike):
            raise InvalidInput("Replay: `losses` must be an array, got the name of a file. Use `Replay.from_file`.")
        try:
            losses: Losses = self.losses if isinstance(self.losses, NpyFile) else np.asanyarray(self.losses)
        except ValueError:
            hint = "Are its rows of one length?"
            raise rejection(self.origin, "losses", "an array of numbers", self.losses, hint) from None
        if losses.ndim != 2 or losses.size == 0:
            rule = "have shape (n_rounds, n_actions), at least one of each"
            raise InvalidInput(f"{self.origin}: `losses` must {rule}, got {losses.shape}.")
        if losses.dtype.kind not in LOSS_KINDS:
            raise rejection(self.origin, "losses", "an array of real numbers", losses.dtype.name)
        if isinstance(losses, np.ma.MaskedArray):  # masked values are missing
            losses = np.ma.filled(losses.astype(np.float64), np.nan)
        if not isinstance(losses, np.memmap | NpyFile):
            losses = np.array(losses, dtype=np.float64, order="C")
        object.__setattr__(self, "losses", losses)
        if self.names is not None:
            names = () if isinstance(self.names, str) else tuple(self.names)
            if len(names) != self.n_actions or not all(isinstance(name, str) for name in names):
                raise rejection(self.origin, "names", f"{self.n_actions} words, one per action", self.names)
            object.__setattr__(self, "names", names)
        self._check()

    @classmethod
    def from_file(cls, file: str | os.PathLike[str], header: bool | None = None) -> Replay:
        """Read losses from a .csv, .npy or .parquet file; a .npy file is read block by block.

        `header` states whether the first row of a .csv file holds names. By default a row of words does and a row of
        numbers does not; a row that may be either is rejected.
        """
        losses, names = _read_losses(file, header)
        return cls(losses, names, origin=os.fspath(file))

    @property
    def n_actions(self) -> int:
        """The number of actions."""
        return int(self.losses.shape[1])

    @property
    def n_rounds(self) -> int:
        """The number of rounds recorded."""
        return len(self.losses)

    def start(self, n_rounds: int, seed: Seed = 0) -> Stream:  # noqa: ARG002
        """Return a run over the first `n_rounds` of the recording; `seed` has no effect."""
        n_rounds = count(self, "n_rounds", n_rounds)
        if n_rounds > self.n_rounds:
            raise rejection(self, "n_rounds", f"<= {self.n_rounds}, the rounds recorded", n_rounds)
        return _ReplayStream(n_rounds, self.losses)

    def measures(self, n_rounds: int, seed: Seed = 0) -> NoReturn:  # noqa: ARG002
        """Raise `InvalidInput`: measures are computed from means, and a recording has none."""
        raise InvalidInput(
            "Replay: a recording has losses but no means, so its measures are unknown."
            " If you know or guess them, write `Measures(...)`."
        )

    def to_spec(self) -> dict[str, Any]:
        """Return the origin of the losses."""
        return {"replay": self.origin}

    def _check(self) -> None:
        for first in range(0, self.n_rounds, _ROWS):
            block = _block(self.losses, first, _ROWS)
            bad = first_bad_loss(block.reshape(-1))
            if bad >= 0:
                t, k = divmod(bad, self.n_actions)
                name = f" ({self.names[k]!r})" if self.names else ""
                hint = "Is a value missing?" if math.isnan(block[t, k]) else "Rescale them by their known range."
                raise InvalidInput(
                    f"{self.origin}: losses must be in [0, 1], got {block[t, k]} at round {first + t},"
                    f" action {k}{name}. {hint}"
                )
