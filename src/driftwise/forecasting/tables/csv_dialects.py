"""How a CSV file is written: delimiter, decimal sign and header, found in its first lines."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from driftwise.core.errors import InvalidInput, shown
from driftwise.forecasting.tables.line_chunks import n_lines
from driftwise.forecasting.tables.table_columns import Columns, Wanted
from driftwise.forecasting.tables.table_sources import TableSource

__all__ = ["MISSING", "CsvDialect", "check_delimiter", "csv_dialect", "csv_rows", "has_wrong_bytes", "is_number"]

_DELIMITERS = (",", ";", "\t", "|")
_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
_PARQUET = b"PAR1"  # how such files begin
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MOST_ROWS = 1000  # rows from which delimiter, decimal sign and kinds of columns are found
_WORDS = ("na", "n/a", "#n/a", "#na", "nan", "-nan", "null", "none", "nil", "missing")
_SPELLINGS = [
    "?",
    "-",
    *(each(word) for word in _WORDS for each in (str.lower, str.upper, str.capitalize)),
    "NaN",
    "-NaN",
]
#: the cells that are missing numbers; a space may stand around a word
MISSING = frozenset(
    [" " * n for n in range(9)] + [f"{a}{word}{b}" for word in _SPELLINGS for a in ("", " ") for b in ("", " ")]
)


class CsvDialect(NamedTuple):
    """How a CSV file is written, and its columns."""

    delimiter: str
    decimal: str
    columns: Columns
    start: int  # bytes before the first row
    line: int  # of the first row


def csv_dialect(
    source: TableSource, sample: bytes, whole: bool, wanted: Wanted, delimiter: str | None, decimal: str | None
) -> CsvDialect:
    """Find the dialect in the first bytes of a file; `whole`: there are no more."""
    text = _decoded(source, sample)
    if not text.strip():
        raise source.fault(": it is empty." if whole else ": it begins with blank lines only.")
    sampled = {each: _sampled(text, each, whole) for each in ([delimiter] if delimiter else _DELIMITERS)}
    chosen = max(sampled, key=lambda each: _score(sampled[each], wanted.target))
    if not sampled[chosen]:
        raise source.fault(": it is not a CSV file.")
    header, *rows = sampled[chosen]
    names = tuple(name.strip() for name in header)
    start = _header_bytes(text, chosen)
    line = 1 + n_lines(start)
    if any(has_wrong_bytes(name) for name in names):
        raise source.fault(f", line {line - 1}: the names of the columns are not in UTF-8; save the file as UTF-8.")
    rows = [row for row in rows if len(row) == len(names)]
    if decimal is None:
        texts = {wanted.time, wanted.by}
        decimal = _decimal([row[i] for row in rows for i, name in enumerate(names) if name not in texts])
    numeric = tuple(_holds_numbers([row[i] for row in rows], decimal) for i in range(len(names)))
    marked = len(_BYTE_ORDER_MARK) if sample.startswith(_BYTE_ORDER_MARK) else 0
    return CsvDialect(chosen, decimal, Columns(names, numeric), marked + len(start), line)


def csv_rows(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, each with the number of its first line, from 0."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    while True:
        line = reader.line_num
        try:
            row = next(reader)
        except StopIteration:
            return
        if row:
            yield line, row


def has_wrong_bytes(cell: str) -> bool:
    """Return whether a cell has bytes that are not UTF-8."""
    return any("\udc80" <= character <= "\udcff" for character in cell)


def is_number(cell: str, decimal: str) -> bool:
    """Return whether a cell is a number or missing.

    >>> [is_number(cell, ",") for cell in ("1,5", "1.5", " 2e3", "NA", "", "x")]
    [True, False, True, True, True, False]
    """
    return cell in MISSING or re.fullmatch(_pattern(decimal), cell.strip(" \t"), re.ASCII) is not None


def _pattern(decimal: str) -> str:
    sign = re.escape(decimal)
    return rf"[+-]?(?:(?:\d+{sign}?\d*|{sign}\d+)(?:[eE][+-]?\d+)?|(?i:inf|infinity|nan))"


def _decoded(source: TableSource, sample: bytes) -> str:
    """Return the text; bytes that are not UTF-8 become surrogates, because they matter only in cells that are read."""
    if (mark := sample[:2]) in _MARKS:
        raise source.fault(f": it is text in {_MARKS[mark]}; save it as UTF-8.")
    if sample.startswith(_PARQUET):
        raise source.fault(": it is a Parquet file; read it from a file, with --input-format parquet.")
    if b"\0" in sample:
        line = 1 + n_lines(sample[: sample.index(b"\0")])
        raise source.fault(f", line {line}: it has a null byte, so it is not a CSV file.")
    return sample.removeprefix(_BYTE_ORDER_MARK).decode(errors="surrogateescape")


def _sampled(text: str, delimiter: str, whole: bool) -> list[list[str]]:
    rows = []
    try:
        for _, row in csv_rows(text, delimiter):
            rows.append(row)
            if len(rows) > _MOST_ROWS:
                break
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
    commas = sum("," in cell and is_number(cell, ",") for cell in cells)
    points = sum("." in cell and is_number(cell, ".") for cell in cells)
    return "," if commas > points else "."


def _holds_numbers(cells: Sequence[str], decimal: str) -> bool:
    """Return whether at least half of the cells that are not missing are numbers: a wrong one is reported later."""
    given = [cell for cell in cells if cell not in MISSING]
    return 2 * sum(is_number(cell, decimal) for cell in given) >= len(given)


def _header_bytes(text: str, delimiter: str) -> bytes:
    """Return the header and the blank lines before it."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    while not next(reader):
        pass
    lines = io.StringIO(text, newline="")
    return "".join(lines.readline() for _ in range(reader.line_num)).encode(errors="surrogateescape")


def check_delimiter(delimiter: str) -> str:
    """Return the delimiter that a user gives: one character, or a name for the tabulator."""
    found = {"tab": "\t", "\\t": "\t"}.get(delimiter, delimiter)
    if len(found) != 1 or not found.isascii() or found in '"\r\n\0':
        raise InvalidInput(f"combine: --delimiter must be one ASCII character or `tab`, got {shown(delimiter)}.")
    return found
