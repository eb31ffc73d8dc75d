"""Reads tables from JSON lines: one object per line, missing numbers are null or absent."""

from __future__ import annotations

import json as python_json
import os
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyarrow import json

from driftwise.forecasting.tables.line_chunks import Chunk, line_chunks
from driftwise.forecasting.tables.read_ahead import in_order
from driftwise.forecasting.tables.table_columns import ColumnChoice, Columns
from driftwise.forecasting.tables.table_faults import json_fault, json_line, json_lines_of
from driftwise.forecasting.tables.table_pieces import START, Piece, Position
from driftwise.forecasting.tables.table_sources import TableSource, first_line

__all__ = ["JsonLines"]

_SAMPLE = 1 << 18  # bytes in which the columns and their kinds are found
_NUMBER, _WHOLE, _TEXT, _OTHER = "a number", "a whole number", "text", "a number or text"
_TYPES = {_NUMBER: pa.float64(), _WHOLE: pa.int64(), _TEXT: pa.string()}


class JsonLines:
    """A file of JSON lines; its columns are the keys of the first lines, 256 kB of them."""

    def __init__(self, source: TableSource) -> None:
        self.source = source
        self._stream = source.open()
        self._sample = self._stream.read(_SAMPLE)
        whole = len(self._sample) < _SAMPLE
        if b"\0" in self._sample[:_SAMPLE]:
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
        """Return the kinds of the values of each key; a key that is always null is taken for a missing number."""
        kinds: dict[str, str] = {}
        for line, text in json_lines_of(chunk):
            try:
                record = python_json.loads(text)
            except (ValueError, RecursionError):
                record = None
            if not isinstance(record, dict):
                raise json_fault(self.source, {}, Chunk(text, 0, line), "not an object")
            for name, value in record.items():
                found = _kind(value)
                before = kinds.get(name, "")
                kinds[name] = before if not found else found if not before else _both(before, found)
        return {name: kind or _NUMBER for name, kind in kinds.items()}

    def pieces(self, choice: ColumnChoice, position: Position) -> Iterator[Piece]:
        """Yield the rows from a position on."""
        for name in choice.texts:
            if self._kinds[name] == _OTHER:
                raise self.source.fault(f", column {name!r}: it must hold either numbers or text.")
        rest = self._sample
        if position == START:
            position = Position(0, 0, 1)
        else:
            self._stream.close()
            self._stream = self.source.open()
            self._stream.skip(position.offset)
            rest = b""
        chunks = line_chunks(self.source, self._stream, rest, position.offset, position.line, None)
        row = position.row
        try:
            for chunk, columns in in_order(chunks, lambda chunk: self._parsed(choice, chunk), os.cpu_count() or 1):
                n_rows = len(columns[choice.target])
                if n_rows:
                    yield Piece(
                        columns,
                        n_rows,
                        Position(row, chunk.offset, chunk.line),
                        lambda i, chunk=chunk: f"line {json_line(chunk, i)}",  # type: ignore[misc]
                        chunk.read,
                    )
                row += n_rows
        finally:
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


def _both(first: str, second: str) -> str:
    if first == second:
        return first
    return _NUMBER if {first, second} == {_NUMBER, _WHOLE} else _OTHER
