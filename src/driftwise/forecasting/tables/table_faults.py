"""Finds the line and the column of what Arrow rejects in a text file; slow, and used for one chunk of lines only."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from driftwise.core.errors import BadData, shown
from driftwise.forecasting.tables.csv_dialects import CsvDialect, csv_rows, has_wrong_bytes, is_number
from driftwise.forecasting.tables.line_chunks import Chunk, n_lines
from driftwise.forecasting.tables.table_columns import ColumnChoice
from driftwise.forecasting.tables.table_sources import TableSource

__all__ = ["csv_fault", "csv_line", "json_fault", "json_line", "json_lines_of"]


def csv_fault(source: TableSource, dialect: CsvDialect, choice: ColumnChoice, chunk: Chunk, reason: str) -> BadData:
    """Return the error about the first line of a chunk that cannot be read; `reason` is Arrow's."""
    names = dialect.columns.names
    line = 0
    try:
        for line, row in csv_rows(_text(chunk), dialect.delimiter):
            if fault := _row_fault(dialect, choice, row):
                return source.fault(f", line {chunk.line + line}{fault}")
    except csv.Error as error:
        return source.fault(f", line {chunk.line + line + 1}: it is not CSV ({error}).")
    last = chunk.line + max(0, n_lines(chunk.data) - 1)
    return source.fault(f", lines {chunk.line} to {last}: {len(names)} cells cannot be read in a line ({reason}).")


def csv_line(chunk: Chunk, delimiter: str, i: int) -> int:
    """Return the number of the line where row `i` of a chunk begins."""
    for k, (line, _) in enumerate(csv_rows(_text(chunk), delimiter)):
        if k == i:
            return chunk.line + line
    return chunk.line


def _row_fault(dialect: CsvDialect, choice: ColumnChoice, row: list[str]) -> str:
    names = dialect.columns.names
    if len(row) != len(names):
        found = f"{len(row)} value{'s' if len(row) != 1 else ''}"
        return f": {found} where the header has {len(names)} columns."
    places, texts = dialect.columns.places, set(choice.texts)
    for name in (*choice.numbers, *choice.texts):
        cell = row[places[name]]
        if has_wrong_bytes(cell):
            return f", column {shown(name)}: the text is not in UTF-8; save the file as UTF-8."
        if name not in texts and not is_number(cell, dialect.decimal):
            return f", column {shown(name)}: {shown(cell)} is not a number. {_hint(name, cell, dialect, choice)}"
    return ""


def _hint(name: str, cell: str, dialect: CsvDialect, choice: ColumnChoice) -> str:
    if is_number(cell, "," if dialect.decimal == "." else "."):
        return f"The decimal sign of the file is {shown(dialect.decimal)}; --decimal gives another."
    empty = "If it is missing, leave the cell empty."
    return f"{empty} If the column is no expert, name those that are by --experts." if name in choice.guessed else empty


def json_fault(source: TableSource, kinds: Mapping[str, str], chunk: Chunk, reason: str) -> BadData:
    """Return the error about the first line of a chunk that is not an object with values of the given kinds."""
    for line, text in json_lines_of(chunk):
        place = f", line {line}"
        try:
            record = json.loads(text.decode(), object_pairs_hook=_pairs)
        except UnicodeDecodeError:
            return source.fault(f"{place}: the text is not in UTF-8; save the file as UTF-8.")
        except _Twice as error:
            return source.fault(f"{place}, column {shown(error.args[0])}: it is given twice.")
        except (ValueError, RecursionError):
            return source.fault(f"{place}: it is not one JSON object.")
        if not isinstance(record, dict):
            return source.fault(f"{place}: it must be a JSON object, got {shown(record)}.")
        for name, kind in kinds.items():
            value = record.get(name)
            if value is not None and not _has_kind(value, kind):
                rule = "finite" if isinstance(value, float) and math.isinf(value) else kind
                hint = " A missing number is null." if isinstance(value, str) and kind == "a number" else ""
                return source.fault(f"{place}, column {shown(name)}: it must be {rule}, got {shown(value)}.{hint}")
    last = chunk.line + max(0, n_lines(chunk.data) - 1)
    return source.fault(f", lines {chunk.line} to {last}: they are not JSON objects ({reason}).")


def json_line(chunk: Chunk, i: int) -> int:
    """Return the number of the line of row `i` of a chunk."""
    for k, (line, _) in enumerate(json_lines_of(chunk)):
        if k == i:
            return line
    return chunk.line


def json_lines_of(chunk: Chunk) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, with their numbers."""
    for i, text in enumerate(chunk.data.split(b"\n")):
        if text.strip():
            yield chunk.line + i, text


class _Twice(Exception):
    """A key is in an object twice."""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        names = [name for name, _ in pairs]
        raise _Twice(next(name for name in names if names.count(name) > 1))
    return record


def _has_kind(value: Any, kind: str) -> bool:
    if kind == "text":
        return isinstance(value, str)
    whole = isinstance(value, int) and not isinstance(value, bool)
    if kind == "a whole number":
        return whole and -(2**63) <= value < 2**63
    return whole or (isinstance(value, float) and not math.isinf(value))


def _text(chunk: Chunk) -> str:
    return chunk.data.decode(errors="surrogateescape")
