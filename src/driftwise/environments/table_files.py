"""Tables in files: their bytes and columns, and JSON lines and Parquet, read by Arrow in batches of rows.

What Arrow leaves open is done here: the line and the column of what it refuses are found by reading the text again with
Python's own modules. A stream that can be read only once is copied to an unnamed temporary file for that. The options
in messages are those of `driftwise combine`. CSV is in `csv_tables`.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import math
import os
import re
import resource
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import IO, BinaryIO, NamedTuple, TextIO

import pyarrow as pa
from pyarrow import compute, json as arrow_json, parquet, types

from driftwise.core.errors import BadData, BadFile, one_line, shown
from driftwise.core.files import shown_path
from driftwise.core.validation import memory_bytes

STANDARD_INPUT = "-"
LONGEST = 1 << 24  # bytes of a line
LONGEST_TEXT = 1000  # bytes of a time or of the name of a series
_SAMPLE = 1 << 18  # bytes in which the columns and their kinds are found
_BLOCK = 1 << 21  # bytes of text that are parsed at once
_OF_DEVICES = (errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.ENODEV, errno.ENXIO)  # errors of a disk or a network


class TableSource(NamedTuple):
    """A file or a stream of bytes in a known format."""

    path: str
    format: str = "csv"
    compression: str | None = None
    size: int | None = None  # in bytes, None for a stream

    @property
    def name(self) -> str:
        """The name that errors give it."""
        return "standard input" if self.path == STANDARD_INPUT else shown_path(self.path)

    @property
    def is_stream(self) -> bool:
        """Whether it can be read only once."""
        return self.size is None

    def fault(self, message: str) -> BadData:
        """Return the error about this table."""
        return BadData(f"{self.name}{message}")

    def device_fault(self, error: BaseException) -> BadFile | None:
        """Return the error about a device, None if the content is wrong: later the same bytes may be readable."""
        if not isinstance(error, OSError) or error.errno not in _OF_DEVICES:
            return None
        return BadFile(f"Cannot read {self.name}: {os.strerror(error.errno)}.")


class Columns(NamedTuple):
    """The columns of a table, and which of them hold numbers."""

    names: tuple[str, ...]
    numeric: tuple[bool, ...]

    @property
    def places(self) -> dict[str, int]:
        """The number of each column, from 0; of the first one if a name occurs twice.

        >>> Columns(("a", "b", "a"), (True, True, True)).places
        {'a': 0, 'b': 1}
        """
        return {name: len(self.names) - 1 - i for i, name in enumerate(reversed(self.names))}


def are_times(values: Iterable[object]) -> bool:
    """Return whether all texts that are there are ISO dates or timestamps.

    >>> are_times(["2026-01-01", "", "2026-01-02T06:00:00+01:00"]), are_times(["north"]), are_times([""])
    (True, False, False)
    """
    texts = [text for value in values if value is not None and (text := str(value).strip())]
    try:
        return bool([datetime.fromisoformat(text) for text in texts])
    except ValueError:
        return False


class ColumnChoice(NamedTuple):
    """The columns to read."""

    target: str
    experts: tuple[str, ...]
    times: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()  # the names of series and of experts
    guessed: tuple[str, ...] = ()  # the experts, if the user did not name them

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns of numbers: the truths, then the forecasts."""
        return (self.target, *self.experts)

    @property
    def texts(self) -> tuple[str, ...]:
        """The other columns: the times and the labels."""
        return (*self.times, *self.labels)


class ByteStream:
    """The bytes of a source, one after the other, unpacked if they are compressed; the first can be looked at before.

    It is a file for Arrow, which reads it in a thread of its own.
    """

    closed = False  # Arrow asks for it

    def __init__(self, source: TableSource) -> None:
        self.source = source
        self._file, self._bytes = _unpacked(source)
        self._copy: IO[bytes] | None = tempfile.TemporaryFile() if source.is_stream else None  # noqa: SIM115
        self._copying = threading.Lock()
        self._head = b""
        self.is_sampled = False  # whether the sample has all bytes

    def sample(self) -> bytes:
        """Return the first bytes, which `read` returns again: some lines, or a part of the first one if it is long."""
        data, n_bytes = self._read(_SAMPLE), _SAMPLE
        while len(data) == n_bytes and len(data) <= LONGEST and not re.search(rb"[\r\n]", data):
            data, n_bytes = data + self._read(n_bytes), 2 * n_bytes
        if len(data) > LONGEST and not re.search(rb"[\r\n]", data[: LONGEST + 1]):
            raise self.source.fault(f", line 1: it is longer than {LONGEST >> 20} MB.")
        self._head, self.is_sampled = data, len(data) < n_bytes
        return data

    def skip(self, n_bytes: int) -> None:
        """Leave out the first bytes of the sample."""
        self._head = self._head[n_bytes:]

    def read(self, n_bytes: int) -> bytes:
        """Return the next bytes, as many as asked for unless they end."""
        data, self._head = self._head[:n_bytes], self._head[n_bytes:]
        return data + self._read(n_bytes - len(data)) if len(data) < n_bytes else data

    def _read(self, n_bytes: int) -> bytes:
        try:
            data = bytes(self._bytes.read(n_bytes))
        except (OSError, pa.ArrowException) as error:
            what = "its compressed content is damaged" if self.source.compression else "it cannot be read"
            fault = self.source.fault(f": {what} ({first_line(error)}).")
            raise self.source.device_fault(error) or fault from None
        with self._copying:
            if self._copy is not None:
                self._copy.write(data)
        return data

    def text(self) -> TextIO:
        """Return all bytes so far as text, once: those that are not UTF-8 become surrogates."""
        with self._copying:
            content, self._copy = self._copy, None  # what is read from now on is not copied
        if content is None:
            content = _unpacked(self.source)[1]
        else:
            content.seek(0)
        return io.TextIOWrapper(content, encoding="utf-8-sig", errors="surrogateescape", newline="")

    def fraction(self) -> float | None:
        """Return which part of the file was read, None if its length is unknown."""
        return None if not self.source.size else min(1.0, self._file.tell() / self.source.size)

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self._copy is not None:
            self._copy.close()
        if self.source.path != STANDARD_INPUT:
            self._bytes.close()
            self._file.close()


def _unpacked(source: TableSource) -> tuple[BinaryIO, BinaryIO]:
    """Return the open file of a source, and the file of its unpacked bytes."""
    file = sys.stdin.buffer if source.path == STANDARD_INPUT else opened(source.path)
    if source.compression is None:
        return file, file
    packed = pa.PythonFile(file, mode="r")
    return packed, pa.CompressedInputStream(packed, source.compression)


def opened(path: str) -> BinaryIO:
    """Return an open file; raise `BadData` if it cannot be read."""
    try:
        return Path(path).open("rb")
    except OSError as error:
        raise read_error(path, error) from None


def read_error(path: str, error: Exception) -> BadData:
    """Return the error about a file that cannot be opened."""
    reason = getattr(error, "strerror", None) or first_line(error)
    return BadData(f"Cannot read {shown_path(path)}: {reason}.")


def free_bytes() -> int:
    """Return the memory that this process may take: that of the machine, or what its limit leaves (`ulimit -v`)."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return memory_bytes()
    n_pages = 0
    with contextlib.suppress(OSError):
        n_pages = int(Path("/proc/self/statm").read_text().split()[0])  # on Linux: what it has
    return max(0, min(memory_bytes(), limit - n_pages * os.sysconf("SC_PAGE_SIZE")))


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, short and without a full stop."""
    lines = str(error).strip().splitlines()
    return one_line((lines[0] if lines else type(error).__name__)[:200]).rstrip(".")


# JSON lines

_NUMBER, _WHOLE, _TEXT, _OTHER = "a number", "a whole number", "text", "a number or text"
_TYPES = {_NUMBER: pa.float64(), _WHOLE: pa.int64(), _TEXT: pa.string()}
_KINDS = {float: _NUMBER, int: _WHOLE, str: _TEXT, type(None): ""}  # of values that JSON has


class JsonLines:
    """A file with one object per line, missing numbers null or absent; its columns are the keys of the first 256 kB."""

    def __init__(self, stream: ByteStream) -> None:
        self._source, self._stream, self.fraction = stream.source, stream, stream.fraction
        sample = stream.sample()
        whole = self._stream.is_sampled
        if b"\0" in sample:
            raise self._source.fault(": it has a null byte, so it is not a file of JSON lines.")
        if whole and not sample.strip():
            raise self._source.fault(": it is empty.")
        self._kinds = self._found_kinds(sample if whole else sample[: sample.rfind(b"\n") + 1])
        self.columns = Columns(tuple(self._kinds), tuple(kind in (_NUMBER, _WHOLE) for kind in self._kinds.values()))

    def _found_kinds(self, sample: bytes) -> dict[str, str]:
        """Return the kind of the values of each key: a number if at least half are, or all are null."""
        kinds: dict[str, Counter[str]] = {}
        values: dict[str, list[object]] = {}
        for line, text in _filled_lines(sample):
            record = None
            with contextlib.suppress(ValueError, RecursionError):
                record = json.loads(text)
            if not isinstance(record, dict):
                raise self._fault({}, text, line, "not an object")
            for name, value in record.items():
                kinds.setdefault(name, Counter())[_kind(value)] += 1
                values.setdefault(name, []).append(value)
        found = {name: _common(counts) for name, counts in kinds.items()}
        self.times = {name for name, kind in found.items() if kind == _TEXT and are_times(values[name])}
        return found

    def batches(self, choice: ColumnChoice) -> Generator[pa.RecordBatch, None, None]:
        """Yield the chosen columns."""
        for name in choice.texts:
            allowed = (_TEXT, _WHOLE) if name in choice.labels else (_TEXT, _WHOLE, _NUMBER)
            if self._kinds[name] not in allowed:
                rule = "text or whole numbers" if name in choice.labels else "numbers or text, not both"
                raise self._source.fault(f", column {shown(name)}: it must hold {rule}.")
        kinds = {**dict.fromkeys(choice.numbers, _NUMBER), **{name: self._kinds[name] for name in choice.texts}}
        rest, line, ended = b"", 1, False
        while not ended:
            more = self._stream.read(_BLOCK)
            ended, data = not more, rest + more
            end = len(data) if ended else data.rfind(b"\n") + 1
            block, rest = data[:end], data[end:]
            if len(rest) > LONGEST:
                number = line + block.count(b"\n")
                raise self._source.fault(f", line {number}: it is longer than {LONGEST >> 20} MB.")
            if block.strip():
                yield from self._parsed(kinds, choice, block, line)
            line += block.count(b"\n")

    def _parsed(self, kinds: Mapping[str, str], choice: ColumnChoice, block: bytes, line: int) -> list[pa.RecordBatch]:
        schema = pa.schema([(name, _TYPES[kind]) for name, kind in kinds.items()])
        try:
            table = arrow_json.read_json(
                pa.BufferReader(block),
                arrow_json.ReadOptions(use_threads=False, block_size=len(block) + 1),
                arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
            ).select(list(kinds))
            for name in choice.texts:
                table.column(name).validate(full=True)
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise self._fault(kinds, block, line, first_line(error)) from None
        if table.num_rows != block.count(b"\n") and table.num_rows != sum(1 for _ in _filled_lines(block)):
            raise self._fault(kinds, block, line, "a line must hold one object")
        batches: list[pa.RecordBatch] = table.to_batches()
        return batches

    def _fault(self, kinds: Mapping[str, str], block: bytes, first: int, reason: str) -> BadData:
        """Return the error about the first line that is not an object with values of the given kinds."""
        for line, text in _filled_lines(block, first):
            place = f", line {line}"
            try:
                record = json.loads(text.decode(), object_pairs_hook=_pairs)
            except UnicodeDecodeError:
                return self._source.fault(f"{place}: the text is not in UTF-8; save the file as UTF-8.")
            except KeyError as error:
                return self._source.fault(f"{place}, column {shown(error.args[0])}: it is given twice.")
            except (ValueError, RecursionError):
                return self._source.fault(f"{place}: it is not one JSON object.")
            if not isinstance(record, dict):
                return self._source.fault(f"{place}: it must be a JSON object, got {shown(record)}.")
            for name, kind in kinds.items():
                value = record.get(name)
                if value is not None and not _has_kind(value, kind):
                    rule = "finite" if isinstance(value, float) and math.isinf(value) else kind
                    hint = " A missing number is null." if isinstance(value, str) and kind == _NUMBER else ""
                    message = f"{place}, column {shown(name)}: it must be {rule}, got {shown(value)}.{hint}"
                    return self._source.fault(message)
        last = first + max(0, block.rstrip(b"\n").count(b"\n"))
        return self._source.fault(f", lines {first} to {last}: they are not JSON objects ({reason}).")

    def place(self, row: int) -> str:
        """Return the line of a row."""
        with self._stream.text() as file:
            filled = (i for i, text in enumerate(file.buffer, 1) if text.strip())
            return f"line {next(line for n, line in enumerate(filled) if n == row)}"


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object of JSON; raise `KeyError` if it has a key twice."""
    for name, n_uses in Counter(name for name, _ in pairs).items():
        if n_uses > 1:
            raise KeyError(name)
    return dict(pairs)


def _filled_lines(data: bytes, first: int = 1) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, with their numbers."""
    return ((i, text) for i, text in enumerate(data.split(b"\n"), first) if text.strip())


def _kind(value: object) -> str:
    return _KINDS.get(type(value), _OTHER)


def _common(kinds: Counter[str]) -> str:
    counts = {kind: n for kind, n in kinds.items() if kind}
    if 2 * (kinds[_NUMBER] + kinds[_WHOLE]) >= sum(counts.values()):
        return _WHOLE if {*counts} == {_WHOLE} else _NUMBER
    return _TEXT if {*counts} == {_TEXT} else _OTHER


def _has_kind(value: object, kind: str) -> bool:
    if kind == _NUMBER:
        return type(value) is int or (isinstance(value, float) and not math.isinf(value))
    if kind == _WHOLE:
        return type(value) is int and -(2**63) <= value < 2**63
    return _kind(value) == kind


# Parquet

_BATCH = 1 << 16  # rows that are unpacked at once
_BATCH_CELLS = 1 << 22  # and cells, because a value that is repeated in all rows of many columns takes few bytes
_BUFFER, _BUFFERS = 1 << 20, 1 << 27  # bytes of a column that are read at once, and of all columns
PARQUET_MARK = b"PAR1"  # how such files begin and end
_ENCRYPTED = b"PARE"
# Tests of types, one of which a column must pass.
_TEXTS = [types.is_string, types.is_large_string]
_NAMES = [*_TEXTS, types.is_integer]
_TIMES = [*_NAMES, types.is_temporal, types.is_floating, types.is_decimal]
_NUMBERS = [types.is_integer, types.is_floating, types.is_decimal, types.is_null]


def open_parquet(path: str, dictionaries: Sequence[str] = ()) -> parquet.ParquetFile:
    """Return an open Parquet file; raise an `Exception` of any kind if it is damaged.

    Metadata of its columns must not be asked for: on some damaged footers Arrow then ends the process.
    """
    with parquet.ParquetFile(path) as file:
        n_columns = file.metadata.num_columns
    return parquet.ParquetFile(
        path,
        read_dictionary=list(dictionaries),  # a long text that is repeated often is kept once
        buffer_size=min(_BUFFER, _BUFFERS // max(1, n_columns) + 1),
        pre_buffer=False,
        page_checksum_verification=True,
    )


def parquet_batches(
    file: parquet.ParquetFile, name: str, columns: Sequence[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of an open Parquet file in batches; raise `BadData` about the file `name` if they are damaged."""
    row, n_columns = 0, len(columns or file.schema_arrow)
    n_rows = max(1, min(_BATCH, _BATCH_CELLS // max(1, n_columns)))
    for number in range(file.metadata.num_row_groups):
        try:
            group, before = file.metadata.row_group(number), row
            if group.total_byte_size > free_bytes():
                size = f"{group.total_byte_size / 1e9:.3g} GB"
                advice = "which do not fit into the memory of this machine. Write smaller row groups."
                raise BadData(f"{name}, row {row + 1}: from here on its row group unpacks to {size}, {advice}")
            for batch in file.iter_batches(n_rows, row_groups=[number], columns=columns, use_threads=True):
                batch.validate(full=True)
                yield batch
                row += batch.num_rows
            if row - before != group.num_rows:
                raise ValueError("rows are missing")
        except BadFile:
            raise
        except MemoryError:
            place = f"{name}, row {row + 1}"
            raise BadData(f"{place}: from here on it does not fit into the memory of this machine.") from None
        except Exception as error:  # Arrow raises many kinds of error on damaged bytes
            fault = BadData(f"{name}, row {row + 1}: from here on its content is damaged ({first_line(error)}).")
            raise TableSource(name, "parquet").device_fault(error) or fault from None


class ParquetTable:
    """A Parquet file."""

    def __init__(self, source: TableSource) -> None:
        self._source = source
        self._check_ends()
        self._read = 0
        with self._opened() as file:
            self._n_rows, schema = file.metadata.num_rows, file.schema_arrow
        self.columns = Columns(tuple(schema.names), tuple(_passes(field.type, _NUMBERS) for field in schema))
        self._types = {field.name: field.type for field in schema}
        self.times = {field.name for field in schema if types.is_temporal(field.type)}
        if self._n_rows <= 0:
            raise source.fault(": it has no rows.")

    def _check_ends(self) -> None:
        """Reject what is not a Parquet file: Arrow's own messages about it are long."""
        with opened(self._source.path) as content:
            start = content.read(len(PARQUET_MARK))
            size = content.seek(0, os.SEEK_END)
            content.seek(max(0, size - len(PARQUET_MARK)))
            end = content.read()
        if size == 0:
            raise self._source.fault(": it is empty.")
        if _ENCRYPTED in (start, end):
            raise self._source.fault(": it is encrypted.")
        if start != PARQUET_MARK:
            raise self._source.fault(": it is not a Parquet file.")
        if end != PARQUET_MARK or size < 3 * len(PARQUET_MARK):
            raise self._source.fault(": it is cut short: a Parquet file ends as it begins.")

    def _opened(self, dictionaries: Sequence[str] = ()) -> parquet.ParquetFile:
        try:
            return open_parquet(self._source.path, dictionaries)
        except Exception as error:  # as above
            raise self._source.fault(f": it is not a complete Parquet file ({first_line(error)}).") from None

    def batches(self, choice: ColumnChoice) -> Generator[pa.RecordBatch, None, None]:
        """Yield the chosen columns."""
        self._check_types(choice)
        names = [*choice.numbers, *choice.texts]
        with self._opened([name for name in choice.texts if _passes(self._types[name], _TEXTS)]) as file:
            for batch in parquet_batches(file, self._source.name, names):
                columns = {name: batch.column(name) for name in names}
                try:
                    columns |= {name: columns[name].cast(pa.float64(), safe=False) for name in choice.numbers}
                    columns |= {name: _plain(columns[name]) for name in choice.texts}
                except (pa.ArrowException, ValueError) as error:
                    where = f", row {self._read + 1}: from here on its content is damaged"
                    raise self._source.fault(f"{where} ({first_line(error)}).") from None
                self._read += batch.num_rows
                yield pa.RecordBatch.from_pydict(columns)

    def _check_types(self, choice: ColumnChoice) -> None:
        rules = [(name, _NUMBERS, "numbers") for name in choice.numbers]
        rules += [(name, _NAMES, "text or whole numbers") for name in choice.labels]
        rules += [(name, _TIMES, "times, numbers or text") for name in choice.times]
        for name, tests, rule in rules:
            kind = self._types[name]
            inner = kind.value_type if name in choice.texts and types.is_dictionary(kind) else kind
            if not _passes(inner, tests):
                raise self._source.fault(f", column {shown(name)}: it must hold {rule}, got {kind}.")

    def place(self, row: int) -> str:
        """Return the number of a row."""
        return f"row {row + 1}"

    def fraction(self) -> float | None:
        """Return which part of the rows was read."""
        return self._read / int(self._n_rows)


def _passes(kind: pa.DataType, tests: Sequence[Callable[[pa.DataType], bool]]) -> bool:
    return any(test(kind) for test in tests)


def _plain(column: pa.Array) -> pa.Array:
    """Return a column without a dictionary; texts must be short, because each row then has its own."""
    if types.is_dictionary(column.type):
        values = column.dictionary
        if _passes(values.type, _TEXTS) and (compute.max(compute.binary_length(values)).as_py() or 0) > LONGEST_TEXT:
            raise ValueError(f"a text is longer than {LONGEST_TEXT} bytes")
        column = column.dictionary_decode()
    return column.cast(pa.string()) if types.is_large_string(column.type) else column
