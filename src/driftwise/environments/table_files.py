"""Tables in files: CSV, JSON lines and Parquet, read by Arrow in batches of rows.

What Arrow leaves open is done here: how a CSV file is written is found in its first lines, and the line and the column
of what Arrow refuses are found by reading the text again with Python's own modules. A stream that can be read only once
is copied to an unnamed temporary file for that. The options in messages are those of `driftwise combine`.
"""

from __future__ import annotations

import contextlib
import csv
import errno
import io
import json
import math
import os
import re
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, BinaryIO, NamedTuple, TextIO

import pyarrow as pa
from pyarrow import compute, csv as arrow_csv, json as arrow_json, parquet, types

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


class ColumnChoice(NamedTuple):
    """The columns to read."""

    target: str
    experts: tuple[str, ...]
    time: str | None = None
    by: str | None = None
    guessed: tuple[str, ...] = ()  # the experts, if the user did not name them

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns of numbers: the truths, then the forecasts."""
        return (self.target, *self.experts)

    @property
    def texts(self) -> tuple[str, ...]:
        """The other columns: the times and the series, if they are given."""
        return tuple(name for name in (self.time, self.by) if name is not None)


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

    def sample(self) -> bytes:
        """Return the first bytes, which `read` returns again."""
        self._head = self._read(_SAMPLE)
        return self._head

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


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, short and without a full stop."""
    lines = str(error).strip().splitlines()
    return one_line((lines[0] if lines else type(error).__name__)[:200]).rstrip(".")


# CSV

_DELIMITERS = (",", ";", "\t", "|")
_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
_PARQUET = b"PAR1"  # how such files begin
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MOST_ROWS = 1000  # rows from which delimiter, decimal sign and kinds of columns are found
_WORDS = ("na", "n/a", "#n/a", "#na", "nan", "-nan", "null", "none", "nil", "missing")
_CASES = (str.lower, str.upper, str.capitalize)
_SPELLINGS = ["?", "-", *(case(word) for word in _WORDS for case in _CASES), "NaN", "-NaN"]
#: the cells that are missing numbers; a space may stand around a word
MISSING = frozenset(
    [" " * n for n in range(9)] + [f"{a}{word}{b}" for word in _SPELLINGS for a in ("", " ") for b in ("", " ")]
)


def csv_batches(
    stream: ByteStream,
    n_columns: int,
    kinds: Mapping[int, pa.DataType],
    delimiter: str = ",",
    decimal: str = ".",
    block: int = 0,
) -> Iterator[pa.RecordBatch]:
    """Yield Arrow's batches of the rows of a CSV file from where its stream is; the columns are named by their numbers.

    `kinds` has the types of the columns to read. A row must fit into a `block` of bytes.
    """
    columns = {str(i): kind for i, kind in kinds.items()}  # by number, because names may repeat
    try:
        reader = arrow_csv.open_csv(
            pa.PythonFile(stream, mode="r"),
            arrow_csv.ReadOptions(block_size=block or _BLOCK, column_names=[str(i) for i in range(n_columns)]),
            arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            arrow_csv.ConvertOptions(
                column_types=columns,
                include_columns=list(columns),
                null_values=sorted(MISSING),
                strings_can_be_null=False,
                decimal_point=decimal,
            ),
        )
    except pa.ArrowInvalid as error:
        if str(error) == "Empty CSV file":
            return
        raise
    with reader:
        yield from reader


def csv_rows(file: TextIO, delimiter: str = ",") -> Iterator[tuple[int, int, list[str]]]:
    """Yield the rows that are not blank, each with the numbers of its first and its last line.

    Raise `csv.Error` at text that is not CSV, and at a line that is too long before it is read completely.
    """

    def lines() -> Iterator[str]:
        while line := file.readline(LONGEST):
            if len(line) == LONGEST:
                raise csv.Error(f"a line is longer than {LONGEST} characters")
            yield line

    reader, end = csv.reader(lines(), delimiter=delimiter), 0
    for row in reader:
        if row:
            yield end + 1, reader.line_num, row
        end = reader.line_num


def first_row(sample: bytes, delimiter: str = ",") -> tuple[list[str], int, int]:
    """Return the cells of the first row that is not blank, the bytes up to its end, and the number of its last line."""
    text = _text(sample)
    for _, line, row in csv_rows(io.StringIO(text, newline=""), delimiter):
        lines = io.StringIO(text, newline="")
        start = "".join(lines.readline() for _ in range(line)).encode(errors="surrogateescape")
        return row, len(start) + len(_BYTE_ORDER_MARK) * sample.startswith(_BYTE_ORDER_MARK), line
    return [], 0, 0


class CsvTable:
    """A CSV file with a header; its delimiter and its decimal sign are found if they are not given.

    `target` is a column that it should have, `texts` are columns without numbers. The stream stays open.
    """

    def __init__(
        self, stream: ByteStream, target: str, texts: Sequence[str | None], delimiter: str | None, decimal: str | None
    ) -> None:
        self._source, self._stream, self.fraction = stream.source, stream, stream.fraction
        sample = stream.sample()
        rows = self._sampled(sample, target, delimiter)
        header, start, line = first_row(sample, self._delimiter)
        names = tuple(name.strip() for name in header)
        if _has_wrong_bytes("".join(names)):
            message = "the names of the columns are not in UTF-8; save the file as UTF-8."
            raise self._source.fault(f", line {line}: {message}")
        rows = [row for row in rows if len(row) == len(names)]
        cells = [row[i] for row in rows for i, name in enumerate(names) if name not in texts]
        self._decimal = decimal or _decimal(cells)
        numeric = tuple(_holds_numbers([row[i] for row in rows], self._decimal) for i in range(len(names)))
        self.columns = Columns(names, numeric)
        stream.skip(start)
        self._block = _BLOCK if rows else LONGEST  # very long rows

    def _sampled(self, sample: bytes, target: str, delimiter: str | None) -> list[list[str]]:
        """Choose the delimiter, and return the rows after the header in the first bytes."""
        source, whole = self._source, len(sample) < _SAMPLE
        if (mark := sample[:2]) in _MARKS:
            raise source.fault(f": it is text in {_MARKS[mark]}; save it as UTF-8.")
        if sample.startswith(_PARQUET):
            raise source.fault(": it is a Parquet file; read it from a file, with --input-format parquet.")
        text = _text(sample)
        if b"\0" in sample:
            line = sum(1 for _ in io.StringIO(text[: text.index("\0") + 1], newline=""))
            raise source.fault(f", line {line}: it has a null byte, so it is not a CSV file.")
        if not text.strip():
            raise source.fault(": it is empty." if whole else ": it begins with blank lines only.")
        sampled = {sign: _first_rows(text, sign, whole) for sign in ([delimiter] if delimiter else _DELIMITERS)}
        self._delimiter = max(sampled, key=lambda sign: _score(sampled[sign], target))
        if not sampled[self._delimiter]:
            raise source.fault(": it is not a CSV file.")
        return sampled[self._delimiter][1:]

    def batches(self, choice: ColumnChoice) -> Generator[pa.RecordBatch, None, None]:
        """Yield the chosen columns."""
        places, row = self.columns.places, 0
        names, n_columns = [*choice.numbers, *choice.texts], len(self.columns.names)
        kinds = {places[name]: pa.string() if name in choice.texts else pa.float64() for name in names}
        try:
            for batch in csv_batches(self._stream, n_columns, kinds, self._delimiter, self._decimal, self._block):
                yield pa.RecordBatch.from_arrays(batch.columns, names)
                row += batch.num_rows
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise self._fault(choice, row, first_line(error)) from None

    def _fault(self, choice: ColumnChoice, n_rows: int, reason: str) -> BadData:
        """Return the error about the first row that cannot be read, after `n_rows` that can; `reason` is Arrow's."""
        line = 1
        try:
            for i, (first, last, row) in enumerate(csv_rows(self._stream.text(), self._delimiter)):
                if i > n_rows and (fault := self._row_fault(choice, row)):
                    return self._source.fault(f", line {first}{fault}")
                line = last + 1
        except csv.Error as error:
            return self._source.fault(f", line {line}: it is not CSV ({error}). Is a quotation mark not closed?")
        return self._source.fault(f": its rows after the first {n_rows} cannot be read ({reason}).")

    def _row_fault(self, choice: ColumnChoice, row: list[str]) -> str:
        names, places = self.columns.names, self.columns.places
        if len(row) != len(names):
            amount = f"{len(row)} value{'s' if len(row) != 1 else ''}"
            return f": {amount} where the header has {len(names)} columns."
        if sum(map(len, row)) + len(row) > self._block:
            return f": it is longer than {self._block >> 20} MB."
        for name in (*choice.numbers, *choice.texts):
            cell = row[places[name]]
            if _has_wrong_bytes(cell):
                return f", column {shown(name)}: the text is not in UTF-8; save the file as UTF-8."
            if name not in choice.texts and not _is_number(cell, self._decimal):
                return f", column {shown(name)}: {shown(cell)} is not a number. {self._advice(choice, name, cell)}"
        return ""

    def _advice(self, choice: ColumnChoice, name: str, cell: str) -> str:
        if _is_number(cell, "," if self._decimal == "." else "."):
            return f"The decimal sign of the file is {shown(self._decimal)}; --decimal gives another."
        empty = "If it is missing, leave the cell empty."
        more = " If the column is no expert, name those that are by --experts."
        return f"{empty}{more if name in choice.guessed else ''}"

    def place(self, row: int) -> str:
        """Return the first line of a row."""
        rows = islice(csv_rows(self._stream.text(), self._delimiter), row + 1, None)  # the first one is the header
        with contextlib.suppress(csv.Error, StopIteration):
            return f"line {next(rows)[0]}"
        return f"row {row + 1}"


def _text(sample: bytes) -> str:
    """Return the text; bytes that are not UTF-8 become surrogates, because they matter only in cells that are read."""
    return sample.removeprefix(_BYTE_ORDER_MARK).decode(errors="surrogateescape")


def _has_wrong_bytes(cell: str) -> bool:
    return any("\udc80" <= character <= "\udcff" for character in cell)


def _is_number(cell: str, decimal: str) -> bool:
    """Return whether a cell is a number or missing.

    >>> [_is_number(cell, ",") for cell in ("1,5", "1.5", " 2e3", "NA", "", "x")]
    [True, False, True, True, True, False]
    """
    sign = re.escape(decimal)
    pattern = rf"[+-]?(?:(?:\d+{sign}?\d*|{sign}\d+)(?:[eE][+-]?\d+)?|(?i:inf|infinity|nan))"
    return cell in MISSING or re.fullmatch(pattern, cell.strip(" \t"), re.ASCII) is not None


def _first_rows(text: str, delimiter: str, whole: bool) -> list[list[str]]:
    try:
        rows = [row for _, _, row in islice(csv_rows(io.StringIO(text, newline=""), delimiter), _MOST_ROWS + 1)]
    except csv.Error:
        return []
    return rows if whole or len(rows) < 2 else rows[:-1]  # the last one may be cut


def _score(rows: Sequence[Sequence[str]], target: str) -> tuple[bool, bool, int]:
    """Return a larger value for a better delimiter: the header has the target, rows have equal lengths, many cells."""
    if not rows:
        return False, False, 0
    header = [name.strip() for name in rows[0]]
    return target in header, len({len(row) for row in rows}) == 1 and len(header) > 1, len(header)


def _decimal(cells: Sequence[str]) -> str:
    """Return the decimal sign with which more cells are numbers that have one."""
    commas = sum("," in cell and _is_number(cell, ",") for cell in cells)
    points = sum("." in cell and _is_number(cell, ".") for cell in cells)
    return "," if commas > points else "."


def _holds_numbers(cells: Sequence[str], decimal: str) -> bool:
    """Return whether at least half of the cells that are not missing are numbers: a wrong one is reported later."""
    entries = [cell for cell in cells if cell not in MISSING]
    return 2 * sum(_is_number(cell, decimal) for cell in entries) >= len(entries)


# JSON lines

_NUMBER, _WHOLE, _TEXT, _OTHER = "a number", "a whole number", "text", "a number or text"
_TYPES = {_NUMBER: pa.float64(), _WHOLE: pa.int64(), _TEXT: pa.string()}
_KINDS = {float: _NUMBER, int: _WHOLE, str: _TEXT, type(None): ""}  # of values that JSON has


class JsonLines:
    """A file with one object per line, missing numbers null or absent; its columns are the keys of the first 256 kB."""

    def __init__(self, stream: ByteStream) -> None:
        self._source, self._stream, self.fraction = stream.source, stream, stream.fraction
        sample = stream.sample()
        whole = len(sample) < _SAMPLE
        if b"\0" in sample:
            raise self._source.fault(": it has a null byte, so it is not a file of JSON lines.")
        if whole and not sample.strip():
            raise self._source.fault(": it is empty.")
        self._kinds = self._found_kinds(sample if whole else sample[: sample.rfind(b"\n") + 1])
        self.columns = Columns(tuple(self._kinds), tuple(kind in (_NUMBER, _WHOLE) for kind in self._kinds.values()))

    def _found_kinds(self, sample: bytes) -> dict[str, str]:
        """Return the kind of the values of each key: a number if at least half are, or all are null."""
        kinds: dict[str, Counter[str]] = {}
        for line, text in _filled_lines(sample):
            record = None
            with contextlib.suppress(ValueError, RecursionError):
                record = json.loads(text)
            if not isinstance(record, dict):
                raise self._fault({}, text, line, "not an object")
            for name, value in record.items():
                kinds.setdefault(name, Counter())[_kind(value)] += 1
        return {name: _common(counts) for name, counts in kinds.items()}

    def batches(self, choice: ColumnChoice) -> Generator[pa.RecordBatch, None, None]:
        """Yield the chosen columns."""
        for name in choice.texts:
            allowed = (_TEXT, _WHOLE) if name == choice.by else (_TEXT, _WHOLE, _NUMBER)
            if self._kinds[name] not in allowed:
                rule = "text or whole numbers" if name == choice.by else "numbers or text, not both"
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
_BUFFER = 1 << 20  # bytes of a column that are read at once
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
    return parquet.ParquetFile(
        path,
        read_dictionary=list(dictionaries),  # a long text that is repeated often is kept once
        buffer_size=_BUFFER,
        pre_buffer=False,
        page_checksum_verification=True,
    )


def parquet_batches(
    file: parquet.ParquetFile, name: str, columns: Sequence[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of an open Parquet file in batches; raise `BadData` about the file `name` if they are damaged."""
    row = 0
    for number in range(file.metadata.num_row_groups):
        try:
            group, before = file.metadata.row_group(number), row
            if group.total_byte_size > memory_bytes():
                size = f"{group.total_byte_size / 1e9:.3g} GB"
                advice = "which do not fit into the memory of this machine. Write smaller row groups."
                raise BadData(f"{name}, row {row + 1}: from here on its row group unpacks to {size}, {advice}")
            for batch in file.iter_batches(_BATCH, row_groups=[number], columns=columns, use_threads=True):
                batch.validate(full=True)
                yield batch
                row += batch.num_rows
            if row - before != group.num_rows:
                raise ValueError("rows are missing")
        except BadFile:
            raise
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
        if self._n_rows <= 0:
            raise source.fault(": it has no rows.")

    def _check_ends(self) -> None:
        """Reject what is not a Parquet file: Arrow's own messages about it are long."""
        with opened(self._source.path) as content:
            start = content.read(len(_PARQUET))
            size = content.seek(0, os.SEEK_END)
            content.seek(max(0, size - len(_PARQUET)))
            end = content.read()
        if size == 0:
            raise self._source.fault(": it is empty.")
        if _ENCRYPTED in (start, end):
            raise self._source.fault(": it is encrypted.")
        if start != _PARQUET:
            raise self._source.fault(": it is not a Parquet file.")
        if end != _PARQUET or size < 3 * len(_PARQUET):
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
        rules += [(choice.by, _NAMES, "text or whole numbers")] if choice.by is not None else []
        rules += [(choice.time, _TIMES, "times, numbers or text")] if choice.time is not None else []
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


TableReader = CsvTable | JsonLines | ParquetTable
