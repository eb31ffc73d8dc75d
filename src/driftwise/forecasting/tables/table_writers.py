"""Writes tables block by block into partial files, which can be cut back to an earlier length."""

from __future__ import annotations

import csv as python_csv
import io
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
from pyarrow import compute, csv, types

__all__ = ["CsvWriter", "JsonLinesWriter", "PartialFile", "TableWriter"]

_ESCAPED = {"\\": "\\\\", '"': '\\"', **{chr(i): json.dumps(chr(i))[1:-1] for i in range(32)}}
_TO_ESCAPE = r'[\x00-\x1f"\\]'


class PartialFile:
    """A file that is written from a length on, which must not be larger than that of the file."""

    def __init__(self, path: Path, length: int) -> None:
        self.path = path
        self._file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666), "rb+", buffering=0)
        if not 0 <= length <= os.fstat(self._file.fileno()).st_size:
            self._file.close()
            raise ValueError(f"{self.path.name} is shorter than {length} bytes")
        self._file.truncate(length)
        self._file.seek(length)
        self.length = length

    def append(self, content: Any) -> None:
        """Write bytes at the end."""
        view = memoryview(content).cast("B")
        while len(view):
            written = self._file.write(view)
            view = view[written:]
            self.length += written

    def sync(self) -> None:
        """Make what was written durable."""
        os.fsync(self._file.fileno())

    def content(self) -> bytes:
        """Return all bytes."""
        return self.path.read_bytes()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class TableWriter(Protocol):
    """Writes tables with the same columns, one after the other; it can begin at what `lengths` returned before."""

    def write(self, table: Any) -> None:
        """Append the rows of an Arrow table."""
        ...

    def lengths(self) -> dict[str, int]:
        """Make everything durable and return the lengths of the partial files."""
        ...

    def finish(self) -> int:
        """Complete the file, make it durable and return its length."""
        ...

    def close(self) -> None:
        """Close all files."""
        ...


class _TextWriter(ABC):
    """Writes text: the bytes of each table follow those of the last."""

    def __init__(self, path: Path, lengths: Mapping[str, int] | None = None) -> None:
        self._file = PartialFile(path, 0 if lengths is None else lengths["rows"])

    def write(self, table: Any) -> None:
        """Append the rows of a table, and before the first ones the header."""
        if self._file.length == 0:
            self._file.append(self.header(table))
        self._file.append(self.encoded(table))

    def header(self, table: Any) -> bytes:  # noqa: ARG002
        """Return the bytes before the first row."""
        return b""

    @abstractmethod
    def encoded(self, table: Any) -> Any:
        """Return the bytes of the rows."""

    def lengths(self) -> dict[str, int]:
        """Make everything durable and return the length of the file."""
        self._file.sync()
        return {"rows": self._file.length}

    def finish(self) -> int:
        """Make the file durable and return its length."""
        self._file.sync()
        return self._file.length

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class CsvWriter(_TextWriter):
    """Writes CSV with commas; floats are the shortest decimal numbers that are read back equal, missing ones empty."""

    def header(self, table: Any) -> bytes:
        """Return the names of the columns."""
        line = io.StringIO()
        python_csv.writer(line, lineterminator="\n").writerow(table.schema.names)
        return line.getvalue().encode()

    def encoded(self, table: Any) -> Any:
        """Return the rows; text is quoted only if a text of the same block must be."""
        for i, field in enumerate(table.schema):
            if types.is_temporal(field.type):
                table = table.set_column(i, field.name, table.column(i).cast(pa.string()))
        try:
            return _csv_bytes(table, "none")
        except pa.ArrowInvalid:  # a text has a comma, a quotation mark or a line break
            return _csv_bytes(table, "needed")


def _csv_bytes(table: Any, quoting: str) -> Any:
    sink = pa.BufferOutputStream()
    csv.write_csv(table, sink, csv.WriteOptions(include_header=False, quoting_style=quoting))
    return sink.getvalue()


class JsonLinesWriter(_TextWriter):
    """Writes one JSON object per line; floats are as in CSV, missing values null."""

    def encoded(self, table: Any) -> Any:
        """Return the rows: the texts of the cells are joined column by column, not row by row."""
        parts: list[Any] = []
        for i, name in enumerate(table.schema.names):
            parts.append(("{" if i == 0 else ",") + json.dumps(name, ensure_ascii=False) + ":")
            parts.append(_json_cells(table.column(i).combine_chunks()))
        joined = compute.binary_join_element_wise(*parts, "}\n", "")
        chunks = joined.chunks if isinstance(joined, pa.ChunkedArray) else [joined]
        return b"".join(_text_bytes(chunk) for chunk in chunks)


def _json_cells(column: Any) -> Any:
    """Return the cells as JSON."""
    is_number = types.is_integer(column.type) or types.is_floating(column.type)
    text = column if types.is_string(column.type) else column.cast(pa.string())
    if not is_number:
        if compute.any(compute.match_substring_regex(text, _TO_ESCAPE)).as_py():
            for character, escaped in _ESCAPED.items():
                text = compute.replace_substring(text, character, escaped)
        text = compute.binary_join_element_wise('"', text, '"', "")
    return text.fill_null("null")


def _text_bytes(array: Any) -> bytes:
    """Return the texts of an array one after the other, as Arrow keeps them."""
    offsets = memoryview(array.buffers()[1]).cast("i")
    start, end = offsets[array.offset], offsets[array.offset + len(array)]
    return memoryview(array.buffers()[2])[start:end].tobytes()
