"""Reads tables from JSON lines: one object per line, missing numbers are null or absent."""

from __future__ import annotations

import json as python_json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyarrow import json

from driftwise.core.errors import shown
from driftwise.forecasting.tables.line_chunks import Chunk, line_chunks
from driftwise.forecasting.tables.table_columns import ColumnChoice, Columns
from driftwise.forecasting.tables.table_faults import json_fault, json_line, json_lines_of
from driftwise.forecasting.tables.table_pieces import START, Piece, Position
from driftwise.forecasting.tables.table_sources import TableSource, closed_on_error, first_line
from driftwise.forecasting.tables.text_pieces import text_pieces

__all__ = ["JsonLines"]

_SAMPLE = 1 << 18  # bytes in which the columns and their kinds are found
_NUMBER, _WHOLE, _TEXT, _OTHER = "a number", "a whole number", "text", "a number or text"
_TYPES = {_NUMBER: pa.float64(), _WHOLE: pa.int64(), _TEXT: pa.string()}


class JsonLines:
    """A file of JSON lines; its columns are the keys of the first lines, 256 kB of them."""

    def __init__(self, source: TableSource) -> None:
        self.source = source
        self._stream = source.open()
        with closed_on_error(self._stream):
            self._sample = self._stream.read(_SAMPLE)
            whole = len(self._sample) < _SAMPLE
            if b"\0" in self._sample:
                raise source.fault(": it has a null byte, so it is not a file of JSON lines.")
            if whole and not self._sample.strip():
                raise source.fault(": it is empty.")
            end = len(self._sample) if whole else self._sample.rfind(b"\n") + 1
            self._kinds = self._found_kinds(Chunk(self._sample[:end], 0, 1))
        self.columns = Columns(tuple(self._kinds), tuple(kind in (_NUMBER, _WHOLE) for kind in self._kinds.values()))

    def settings(self) -> dict[str, Any]:
        """Return nothing: the rows depend on the file only."""
        return {}

    def _found_kinds(self, chunk: Chunk) -> dict[str, str]:
        """Return the kind of the values of each key: a number if at least half are, or all are null."""
        found: dict[str, Counter[str]] = {}
        for line, text in json_lines_of(chunk):
            try:
                record = python_json.loads(text)
            except (ValueError, RecursionError):
                record = None
            if not isinstance(record, dict):
                raise json_fault(self.source, {}, Chunk(text, 0, line), "not an object")
            for name, value in record.items():
                found.setdefault(name, Counter())[_kind(value)] += 1
        return {name: _common(kinds) for name, kinds in found.items()}

    def pieces(self, choice: ColumnChoice, position: Position) -> Iterator[Piece]:
        """Yield the rows from a position on."""
        for name in choice.texts:
            allowed = (_TEXT, _WHOLE) if name == choice.by else (_TEXT, _WHOLE, _NUMBER)
            if self._kinds[name] not in allowed:
                rule = "text or whole numbers" if name == choice.by else "numbers or text, not both"
                raise self.source.fault(f", column {shown(name)}: it must hold {rule}.")
        rest = self._sample
        if position == START:
            position = Position(0, 0, 1)
        else:
            self._stream.restart(position.offset)
            rest = b""
        chunks = line_chunks(self.source, self._stream, rest, position.offset, position.line, None)
        yield from text_pieces(chunks, position.row, lambda chunk: self._parsed(choice, chunk), json_line)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def _parsed(self, choice: ColumnChoice, chunk: Chunk) -> dict[str, Any]:
        kinds = {**dict.fromkeys(choice.numbers, _NUMBER), **{name: self._kinds[name] for name in choice.texts}}
        schema = pa.schema([(name, _TYPES[kind]) for name, kind in kinds.items()])
        if not chunk.data.strip():
            return {name: pa.array([], schema.field(name).type) for name in kinds}
        try:
            table = json.read_json(
                pa.BufferReader(chunk.data),
                json.ReadOptions(use_threads=False, block_size=len(chunk.data) + 1),
                json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
            ).combine_chunks()
            for name in choice.texts:
                table.column(name).validate(full=True)
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise json_fault(self.source, kinds, chunk, first_line(error)) from None
        if table.num_rows != chunk.data.count(b"\n") and table.num_rows != sum(1 for _ in json_lines_of(chunk)):
            raise json_fault(self.source, kinds, chunk, "a line must hold one object")
        columns = {name: table.column(name) for name in kinds}
        return {
            name: column.chunk(0) if column.num_chunks else pa.array([], column.type)
            for name, column in columns.items()
        }


def _kind(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return _TEXT
    if isinstance(value, int) and not isinstance(value, bool):
        return _WHOLE
    return _NUMBER if isinstance(value, float) else _OTHER


def _common(kinds: Counter[str]) -> str:
    given = {kind: n for kind, n in kinds.items() if kind}
    n_numbers = kinds[_NUMBER] + kinds[_WHOLE]
    if 2 * n_numbers >= sum(given.values()):
        return _WHOLE if {*given} == {_WHOLE} else _NUMBER
    return _TEXT if {*given} == {_TEXT} else _OTHER
