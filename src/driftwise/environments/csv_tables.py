"""CSV files, read by Arrow in batches of rows.

What Arrow leaves open is done here. How a file is written, its delimiter and its decimal sign, is found in its first
lines. Quotation marks are followed through all bytes, because Arrow takes a cell whose quotation mark is not closed for
the rest of the file. A number such as `1,900`, which may have a decimal sign or a separator of thousands, is refused
unless another number of its column or the user says which. The line and the column of what Arrow refuses are found by
reading the text again with Python's own module. The options in messages are those of `driftwise combine`.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple, TextIO

import numpy as np
import pyarrow as pa
from pyarrow import compute, csv as arrow_csv

from driftwise.core.errors import BadData, shown
from driftwise.environments.table_files import (
    LONGEST,
    PARQUET_MARK,
    ByteStream,
    ColumnChoice,
    Columns,
    TableSource,
    are_times,
    first_line,
    free_bytes,
)

MOST_COLUMNS = 100_000
_MOST_NUMBERS = 20_000  # columns of a table
_COLUMN_BYTES, _WORD_BYTES = 6000, 380  # of memory that Arrow takes for a column, and for a word that may be in it
_BLOCK = 1 << 21  # bytes of text that are parsed at once
_DELIMITERS = (",", ";", "\t", "|")
_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MOST_ROWS = 1000  # rows from which delimiter, decimal sign and kinds of columns are found


# Quotation marks

_QUOTE = ord('"')
_SHORT_TEXT = 1000  # bytes; a longer text is looked at as an array first
_OUTSIDE, _INSIDE, _DOUBLED = range(3)  # a cell in quotation marks; after the first of two quotation marks inside it


class Quotes:
    """Follows the quotation marks of a CSV file; raises `BadData` at a cell in quotation marks that has no clear end.

    Such a cell begins with a quotation mark, has two for each of its own, and ends with one before a delimiter or the
    end of a line. Other quotation marks, inside of a cell that does not begin with one, are text.
    """

    def __init__(self, source: TableSource, delimiter: str, line: int = 1) -> None:
        self._source, self._line = source, line  # the line that begins next
        self._borders = b"\r\n" + delimiter.encode()
        self._at_ends = np.isin(np.arange(256), [*self._borders, _QUOTE])
        self._rest = b"\n"  # the last byte that was looked at, then the one whose next byte is not there yet
        self._place = _OUTSIDE
        self._opened = 0  # the line of the cell that is not closed

    def add(self, data: bytes) -> None:
        """Follow the next bytes."""
        text = self._rest + data
        last = len(text) - 1
        is_text = self._place == _OUTSIDE and text[0] == _QUOTE  # a quotation mark inside of a cell
        if len(text) < _SHORT_TEXT or is_text or not self._follow_at_once(text, last):
            self._follow(text, last)
        self._line += _line_ends(text, last)
        self._rest = text[max(0, last - 1) :]

    def end(self) -> None:
        """Follow the end of the file."""
        self.add(b"\n")
        if self.is_open:
            raise self.unclosed("none closes it")

    @property
    def is_open(self) -> bool:
        """Whether a cell in quotation marks is not closed yet."""
        return self._place != _OUTSIDE

    def unclosed(self, what: str) -> BadData:
        """Return the error about the cell that is not closed."""
        return self._source.fault(f", line {self._opened}: a quotation mark opens a cell here, and {what}.")

    def _follow_at_once(self, text: bytes, last: int) -> bool:
        """Follow a text in which quotation marks open and close cells in turn, the usual case; return whether it is.

        Two inside of a cell are then the end of one cell and the beginning of the next one.
        """
        values = np.frombuffer(text, np.uint8)
        marks = np.flatnonzero(values[1:last] == _QUOTE) + 1
        is_inside = self._place == _INSIDE
        opening, closing = marks[is_inside::2], marks[1 - is_inside :: 2]
        befores, afters = values[opening - 1], values[closing + 1]
        if not (self._at_ends[befores].all() and self._at_ends[afters].all()):
            return False
        if (begins := opening[befores != _QUOTE]).size:
            self._opened = self._line + _line_ends(text, int(begins[-1]))
        if (is_inside + len(marks)) % 2:
            self._place = _INSIDE
        elif len(marks):
            self._place = _DOUBLED if values[marks[-1] + 1] == _QUOTE else _OUTSIDE
        return True

    def _follow(self, text: bytes, last: int) -> None:
        opened, at = -1, text.find(b'"', 1, last)
        while at > 0:
            if self._place == _DOUBLED:
                self._place = _INSIDE
            elif self._place == _OUTSIDE:
                if text[at - 1] in self._borders:
                    self._place, opened = _INSIDE, at
            elif text[at + 1] == _QUOTE:
                self._place = _DOUBLED
            elif text[at + 1] in self._borders:
                self._place = _OUTSIDE
            else:
                self._opened = self._line + _line_ends(text, opened) if opened > 0 else self._opened
                where = f"on line {self._line + _line_ends(text, at)} text follows the next one"
                raise self.unclosed(f"{where}. Is it not closed? Inside of a cell, write two")
            at = text.find(b'"', at + 1, last)
        if self._place != _OUTSIDE and opened > 0:
            self._opened = self._line + _line_ends(text, opened)


def _line_ends(text: bytes, last: int) -> int:
    r"""Return how many lines end from the second byte on before the byte `last`: with \n, \r or \r\n."""
    return text.count(b"\n", 1, last) + text.count(b"\r", 1, last) - text.count(b"\r\n", 1, last + 1)


class _CheckedBytes:
    """The bytes of a stream as a file for Arrow, which reads it in a thread of its own; quotation marks are checked."""

    closed = False  # Arrow asks for it

    def __init__(self, stream: ByteStream, delimiter: str, line: int) -> None:
        self._stream, self._quotes = stream, Quotes(stream.source, delimiter, line)
        self._mark = _BYTE_ORDER_MARK if line == 1 else b""

    def read(self, n_bytes: int) -> bytes:
        """Return the next bytes."""
        data = self._stream.read(n_bytes)
        if data:
            self._quotes.add(data.removeprefix(self._mark))
            self._mark = b""
        else:
            self._quotes.end()
        return data


# How numbers are written

_WORDS = ("na", "n/a", "#n/a", "#na", "nan", "-nan", "null", "none", "nil", "missing")
_CASES = (str.lower, str.upper, str.capitalize)
_SPELLINGS = ["?", "-", *(case(word) for word in _WORDS for case in _CASES), "NaN", "-NaN"]
#: the cells that are missing numbers; a space may stand around a word
MISSING = frozenset(
    [" " * n for n in range(9)] + [f"{a}{word}{b}" for word in _SPELLINGS for a in ("", " ") for b in ("", " ")]
)
_MISSING = pa.array(sorted(MISSING))
_OTHER_SIGN = {",": ".", ".": ","}
_SEPARATORS = "[.,'\u2019 \u00a0\u2009\u202f]"  # of thousands, in different countries
_GROUPS = r"[+-]?[1-9][0-9]{{0,2}}(?:{0}[0-9]{{3}})+"  # with a separator of thousands
_ONE_SIGN = r"[+-]?[1-9][0-9]{{0,2}}{0}[0-9]{{3}}"  # which may be one, or the decimal sign


def _is_number(cell: str, decimal: str) -> bool:
    """Return whether a cell is a number or missing.

    >>> [_is_number(cell, ",") for cell in ("1,5", "1.5", " 2e3", "NA", "", "x")]
    [True, False, True, True, True, False]
    """
    sign = re.escape(decimal)
    pattern = rf"[+-]?(?:(?:\d+{sign}?\d*|{sign}\d+)(?:[eE][+-]?\d+)?|(?i:inf|infinity|nan))"
    return cell in MISSING or re.fullmatch(pattern, cell.strip(" \t"), re.ASCII) is not None


def _is_grouped(cell: str, separator: str = _SEPARATORS) -> bool:
    """Return whether a cell looks like a number with a separator of thousands, with or without decimals.

    >>> [_is_grouped(cell) for cell in ("1,900", "12.345.678", "1 000", "1.234,56", "0,125", "1,5", "1900")]
    [True, True, True, True, False, False, False]
    """
    return re.fullmatch(_GROUPS.format(separator) + "(?:[.,][0-9]+)?", cell.strip(" \t")) is not None


def _is_doubtful(cell: str, decimal: str) -> bool:
    """Return whether the decimal sign of a cell may be a separator of thousands.

    >>> [_is_doubtful(cell, ",") for cell in ("1,900", "1,5", "0,125", "1900,125", "1,900,000", "1900")]
    [True, False, False, False, False, False]
    """
    return decimal in cell and re.fullmatch(_ONE_SIGN.format(re.escape(decimal)), cell.strip(" \t")) is not None


def _shows(cell: str, decimal: str) -> bool:
    """Return whether a cell is a number that can only have this decimal sign.

    >>> [_shows(cell, ",") for cell in ("1,5", "1.234,56", "0,125", "1,900", "1.5", "1900")]
    [True, True, True, False, False, False]
    """
    if decimal not in cell or _is_doubtful(cell, decimal):
        return False
    separator = re.escape(_OTHER_SIGN[decimal])
    grouped = re.fullmatch(_GROUPS.format(separator) + re.escape(decimal) + "[0-9]+", cell.strip(" \t"))
    return _is_number(cell, decimal) or grouped is not None


class _Decimals(NamedTuple):
    """The decimal sign of a file, and the columns in which it may be a separator of thousands."""

    sign: str
    doubtful: frozenset[int] = frozenset()

    @classmethod
    def of_sample(cls, columns: Mapping[int, Sequence[str]], delimiter: str) -> _Decimals:
        """Return the sign that most numbers show.

        A point is doubtful only if numbers have commas too, or beside semicolons, the delimiters where commas are
        decimal signs, if no number shows that it is the decimal sign.
        """
        showing = {sign: {i: sum(_shows(cell, sign) for cell in columns[i]) for i in columns} for sign in _OTHER_SIGN}
        n_doubtful = {sign: sum(_is_doubtful(cell, sign) for i in columns for cell in columns[i]) for sign in showing}
        total = {sign: (sum(counts.values()), n_doubtful[sign]) for sign, counts in showing.items()}
        sign = "," if total[","] > total["."] else "."
        has_commas = total[","][0] or (total[","][1] and not total["."][0])
        if sign == "." and not has_commas and (delimiter != ";" or total["."][0]):
            return cls(sign)
        return cls(sign, frozenset(i for i, n_cells in showing[sign].items() if not n_cells))


def _holds_numbers(cells: Sequence[str]) -> bool:
    """Return whether at least half of the cells that are not missing are numbers: a wrong one is reported later.

    Numbers with another decimal sign or with separators are reported too; else the column would be left out.
    """
    entries = [cell for cell in cells if cell not in MISSING]
    n_numbers = sum(_is_number(cell, ".") or _is_number(cell, ",") or _is_grouped(cell) for cell in entries)
    return 2 * n_numbers >= len(entries)


def _as_numbers(column: pa.Array, decimal: str) -> pa.Array:
    """Return cells as Arrow's reader of CSV does if they are numbers; raise `pa.ArrowInvalid` if one is none."""
    is_missing = compute.is_in(column, _MISSING)
    cells = compute.if_else(is_missing, pa.scalar(None, pa.string()), compute.utf8_trim(column, " \t"))
    if decimal != ".":
        if compute.any(compute.match_substring(cells, ".")).as_py():
            raise pa.ArrowInvalid("a number has a point")
        cells = compute.replace_substring(cells, decimal, ".")
    return cells.cast(pa.float64())


def _first_marks(column: pa.Array, decimal: str) -> tuple[int, int]:
    """Return the rows of the first doubtful cell and of the first that has the sign otherwise; the length if none."""
    cells = compute.utf8_trim(column, " \t")
    is_doubtful = compute.match_substring_regex(cells, f"^{_ONE_SIGN.format(re.escape(decimal))}$")
    is_clear = compute.and_not(compute.match_substring(cells, decimal), is_doubtful)
    doubt, end = (compute.index(values, True).as_py() for values in (is_doubtful, is_clear))
    return doubt if doubt >= 0 else len(column), end if end >= 0 else len(column)


# Rows and tables


def csv_batches(
    stream: ByteStream,
    n_columns: int,
    kinds: Mapping[int, pa.DataType],
    delimiter: str = ",",
    decimal: str = ".",
    block: int = 0,
    line: int = 1,
    missing: Iterable[str] = MISSING,
) -> Iterator[pa.RecordBatch]:
    """Yield Arrow's batches of the rows of a CSV file from where its stream is; the columns are named by their numbers.

    `kinds` has the types of the columns to read. A row must fit into a `block` of bytes. `line` is the number of the
    next line; cells in `missing` are missing numbers.
    """
    columns = {str(i): kind for i, kind in kinds.items()}  # by number, because names may repeat
    words = sorted(missing)
    n_bytes = len(kinds) * (_COLUMN_BYTES + _WORD_BYTES * len(words))
    if n_bytes > free_bytes():  # Arrow would end the process
        amount = f"its {len(kinds)} columns of numbers take {n_bytes / 1e9:.3g} GB"
        raise stream.source.fault(f": {amount}, which do not fit into the memory of this machine.")
    try:
        reader = arrow_csv.open_csv(
            pa.PythonFile(_CheckedBytes(stream, delimiter, line), mode="r"),
            arrow_csv.ReadOptions(block_size=block or _BLOCK, column_names=[str(i) for i in range(n_columns)]),
            arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            arrow_csv.ConvertOptions(
                column_types=columns,
                include_columns=list(columns),
                null_values=words,
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


def csv_rows(file: TextIO, delimiter: str = ",", quotes: Quotes | None = None) -> Iterator[tuple[int, int, list[str]]]:
    """Yield the rows that are not blank, each with the numbers of its first and its last line.

    Raise `csv.Error` at text that is not CSV, and at a line that is too long before it is read completely; with
    `quotes`, raise `BadData` at a cell in quotation marks without an end.
    """

    def lines() -> Iterator[str]:
        while line := file.readline(LONGEST):
            if len(line) == LONGEST:
                raise csv.Error(f"a line is longer than {LONGEST} characters")
            if quotes is not None:
                quotes.add(line.encode(errors="surrogateescape"))
            yield line
        if quotes is not None:
            quotes.end()

    remaining, end = lines(), 0
    reader = csv.reader(remaining, delimiter=delimiter)
    try:
        for row in reader:
            if row:
                yield end + 1, reader.line_num, row
            end = reader.line_num
    except csv.Error:
        while quotes is not None and quotes.is_open and next(remaining, ""):
            pass  # a cell that is too long: is it closed at all?
        raise


def first_row(stream: ByteStream, sample: bytes, delimiter: str = ",") -> tuple[list[str], int, int]:
    """Return the cells of the first row that is not blank, the bytes up to its end, and the number of its last line."""
    check_width(stream.source, sample, [delimiter])
    text = _text(sample)
    for _, line, row in csv_rows(io.StringIO(text, newline=""), delimiter):
        lines = io.StringIO(text, newline="")
        start = "".join(lines.readline() for _ in range(line)).encode(errors="surrogateescape")
        quotes = Quotes(stream.source, delimiter)
        quotes.add(start)
        quotes.end()
        if not stream.is_sampled and not start.endswith((b"\r", b"\n")):
            raise stream.source.fault(f", line {line}: its first row does not end in its first {len(sample)} bytes.")
        return row, len(start) + len(_BYTE_ORDER_MARK) * sample.startswith(_BYTE_ORDER_MARK), line
    return [], 0, 0


def check_width(source: TableSource, sample: bytes, delimiters: Sequence[str]) -> None:
    """Reject a first line with too many columns before it is split."""
    first = re.match(rb"[\r\n]*([^\r\n]*)", sample.removeprefix(_BYTE_ORDER_MARK))
    n_columns = 1 + max(first[1].count(sign.encode()) for sign in delimiters) if first else 0
    if n_columns > MOST_COLUMNS:
        raise source.fault(f": it must have at most {MOST_COLUMNS} columns, its first line has {n_columns}.")


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
        header, start, self._line = first_row(stream, sample, self._delimiter)
        names = tuple(name.strip() for name in header)
        if _has_wrong_bytes("".join(names)):
            message = "the names of the columns are not in UTF-8; save the file as UTF-8."
            raise self._source.fault(f", line {self._line}: {message}")
        rows = [row for row in rows if len(row) == len(names)]
        cells = {i: [row[i] for row in rows] for i in range(len(names))}
        numbers = {i: cells[i] for i, name in enumerate(names) if name not in texts}
        self._decimals = _Decimals(decimal) if decimal else _Decimals.of_sample(numbers, self._delimiter)
        self.columns = Columns(names, tuple(_holds_numbers(cells[i]) for i in range(len(names))))
        numeric = self.columns.numeric
        self.times = {name for i, name in enumerate(names) if not numeric[i] and are_times(cells[i])}
        stream.skip(start)
        self._block = _BLOCK if rows else LONGEST  # very long rows
        guesses = [] if delimiter or self._delimiter == "," else [f"the delimiter {shown(self._delimiter)}"]
        guesses += [] if decimal or self._decimals.sign == "." else [f"the decimal sign {shown(self._decimals.sign)}"]
        self.guesses = " and ".join(guesses)  # how the file is written, if that was found and is not usual

    def _sampled(self, sample: bytes, target: str, delimiter: str | None) -> list[list[str]]:
        """Choose the delimiter, and return the rows after the header in the first bytes."""
        source, whole = self._source, self._stream.is_sampled
        if (mark := sample[:2]) in _MARKS:
            raise source.fault(f": it is text in {_MARKS[mark]}; save it as UTF-8.")
        if sample.startswith(PARQUET_MARK):
            raise source.fault(": it is a Parquet file; read it from a file, with --input-format parquet.")
        text = _text(sample)
        if b"\0" in sample:
            line = sum(1 for _ in io.StringIO(text[: text.index("\0") + 1], newline=""))
            raise source.fault(f", line {line}: it has a null byte, so it is not a CSV file.")
        if not text.strip():
            raise source.fault(": it is empty." if whole else ": it begins with blank lines only.")
        delimiters = [delimiter] if delimiter else _DELIMITERS
        check_width(source, sample, delimiters)
        sampled = {sign: _first_rows(text, sign, whole) for sign in delimiters}
        self._delimiter = max(sampled, key=lambda sign: _score(sampled[sign], target))
        if not sampled[self._delimiter]:
            raise source.fault(": it is not a CSV file.")
        return sampled[self._delimiter][1:]

    def batches(self, choice: ColumnChoice) -> Generator[pa.RecordBatch, None, None]:
        """Yield the chosen columns."""
        if len(choice.numbers) > _MOST_NUMBERS:
            amount = f"at most {_MOST_NUMBERS} columns of numbers are read from CSV, got {len(choice.numbers)}"
            raise self._source.fault(f": {amount}. Name fewer by --experts, or write Parquet.")
        places, sign, row = self.columns.places, self._decimals.sign, 0
        names, n_columns = [*choice.numbers, *choice.texts], len(self.columns.names)
        as_text = [name for name in choice.numbers if places[name] in self._decimals.doubtful]
        texts, doubtful = {*choice.texts, *as_text}, as_text
        kinds = {places[name]: pa.string() if name in texts else pa.float64() for name in names}
        batches = csv_batches(self._stream, n_columns, kinds, self._delimiter, sign, self._block, self._line + 1)
        try:
            for batch in batches:
                columns = dict(zip(names, batch.columns, strict=True))
                doubtful = self._still_doubtful(columns, doubtful, row)
                columns |= {name: _as_numbers(columns[name], sign) for name in as_text}
                yield pa.RecordBatch.from_pydict(columns)
                row += batch.num_rows
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise self._fault(choice, row, first_line(error)) from None

    def _still_doubtful(self, columns: Mapping[str, pa.Array], names: Sequence[str], n_rows: int) -> list[str]:
        """Return the columns that do not show the decimal sign yet; reject a number that may be two."""
        sign = self._decimals.sign
        firsts = {name: _first_marks(columns[name], sign) for name in names}
        doubts = [(doubt, name) for name, (doubt, end) in firsts.items() if doubt < end]
        if not doubts:
            return [name for name, (_, end) in firsts.items() if end == len(columns[name])]
        row, name = min(doubts, key=lambda doubt: doubt[0])
        cell = columns[name][row].as_py().strip(" \t")
        plain, fraction, other = cell.replace(sign, ""), cell.replace(sign, "."), _OTHER_SIGN[sign]
        place = f", {self.place(n_rows + row)}, column {shown(name)}"
        advice = f"with --decimal {sign} it is {fraction}, with --decimal {other} it must be written as {plain}."
        raise self._source.fault(f"{place}: {shown(cell)} may be {fraction} or {plain}; {advice}")

    def _fault(self, choice: ColumnChoice, n_rows: int, reason: str) -> BadData:
        """Return the error about the first row that cannot be read, after `n_rows` that can; `reason` is Arrow's."""
        line, quotes = 1, Quotes(self._source, self._delimiter)
        try:
            with self._stream.text() as file:
                for i, (first, last, row) in enumerate(csv_rows(file, self._delimiter, quotes)):
                    if i > n_rows and (fault := self._row_fault(choice, row)):
                        return self._source.fault(f", line {first}{fault}")
                    line = last + 1
        except csv.Error as error:
            return self._source.fault(f", line {line}: it is not CSV ({error}).")
        except BadData as error:
            return error
        return self._source.fault(f": its rows after the first {n_rows} cannot be read ({reason}).")

    def _row_fault(self, choice: ColumnChoice, row: list[str]) -> str:
        names, places = self.columns.names, self.columns.places
        if len(row) != len(names):
            amount = f"{len(row)} value{'s' if len(row) != 1 else ''}"
            return f": {amount} where the header has {len(names)} columns."
        if sum(map(len, row)) + 3 * len(row) > self._block:  # with a delimiter and two quotation marks for each cell
            return f": it is longer than {self._block >> 20} MB."
        for name in (*choice.numbers, *choice.texts):
            cell = row[places[name]]
            if _has_wrong_bytes(cell):
                return f", column {shown(name)}: the text is not in UTF-8; save the file as UTF-8."
            if name not in choice.texts and not _is_number(cell, self._decimals.sign):
                return f", column {shown(name)}: {shown(cell)} is not a number. {self._advice(choice, name, cell)}"
        return ""

    def _advice(self, choice: ColumnChoice, name: str, cell: str) -> str:
        sign = self._decimals.sign
        advice = "If it is missing, leave the cell empty."
        if _is_doubtful(cell, _OTHER_SIGN[sign]):
            advice = f"The decimal sign is {shown(sign)}, and thousands have no separator; --decimal gives another."
        elif _is_number(cell, _OTHER_SIGN[sign]):
            advice = f"The decimal sign of the file is {shown(sign)}; --decimal gives another."
        elif _is_grouped(cell):
            advice = "Write it without separators of thousands."
        more = " If the column is no expert, name those that are by --experts."
        return f"{advice}{more if name in choice.guessed else ''}"

    def place(self, row: int) -> str:
        """Return the first line of a row."""
        with self._stream.text() as file, contextlib.suppress(csv.Error, StopIteration):
            rows = islice(csv_rows(file, self._delimiter), row + 1, None)  # the first one is the header
            return f"line {next(rows)[0]}"
        return f"row {row + 1}"


def _text(sample: bytes) -> str:
    """Return the text; bytes that are not UTF-8 become surrogates, because they matter only in cells that are read."""
    return sample.removeprefix(_BYTE_ORDER_MARK).decode(errors="surrogateescape")


def _has_wrong_bytes(cell: str) -> bool:
    return any("\udc80" <= character <= "\udcff" for character in cell)


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
