"""Writes a Parquet file with one row group per table; it can be cut back to an earlier row group and continued."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet, types

from driftwise.forecasting.tables.parquet_footers import (
    MAGIC,
    check_metadata,
    moved_row_group,
    parquet_end,
    split_file,
    without_row_groups,
)
from driftwise.forecasting.tables.table_writers import PartialFile

__all__ = ["ParquetTableWriter"]

_LENGTH = 8  # bytes of the length in front of the metadata of a row group


class ParquetTableWriter:
    """Writes the row groups into one file and their metadata into another, until the footer is written."""

    def __init__(self, path: Path, lengths: Mapping[str, int] | None = None) -> None:
        begin = {"rows": 0, "groups": 0, "n_groups": 0} if lengths is None else lengths
        self._n_groups = begin["n_groups"]
        with contextlib.ExitStack() as opened:  # closes the files if one is damaged
            self._file, self._groups = (
                opened.enter_context(contextlib.closing(PartialFile(each, begin[name])))
                for name, each in (("rows", path), ("groups", path.with_name(path.name + ".groups")))
            )
            self._check()
            opened.pop_all()

    def _check(self) -> None:
        """Raise `ValueError` if the metadata of an unfinished run are damaged."""
        stored = self._stored()
        if len(stored) != self._n_groups + (self._n_groups > 0):
            raise ValueError(f"{self._groups.path.name} has another number of row groups")
        try:
            if stored:
                check_metadata(stored[0], stored[1:])
        except ValueError as error:
            raise ValueError(f"{self._groups.path.name}: {error}") from None

    def write(self, table: Any) -> None:
        """Append a row group; the metadata of the file are stored before those of the first one."""
        chunks, metadata = split_file(_parquet_bytes(table))
        if self._n_groups == 0:
            self._file.append(MAGIC)
            self._store(without_row_groups(metadata))
        self._store(moved_row_group(metadata, self._file.length - len(MAGIC), self._n_groups))
        self._file.append(chunks)
        self._n_groups += 1

    def _store(self, metadata: bytes) -> None:
        self._groups.append(len(metadata).to_bytes(_LENGTH, "little") + metadata)

    def _stored(self) -> list[bytes]:
        """Return the metadata of the file, and those of each row group."""
        content, position, stored = self._groups.content(), 0, []
        while position < self._groups.length:
            length = int.from_bytes(content[position : position + _LENGTH], "little")
            stored.append(content[position + _LENGTH : position + _LENGTH + length])
            position += _LENGTH + length
        return stored

    def lengths(self) -> dict[str, int]:
        """Make everything durable and return the lengths of both files."""
        self._file.sync()
        self._groups.sync()
        return {"rows": self._file.length, "groups": self._groups.length, "n_groups": self._n_groups}

    def finish(self) -> int:
        """Write the footer, make the file durable and return its length."""
        stored = self._stored()
        self._file.append(parquet_end(stored[0], stored[1:]))
        self._file.sync()
        return self._file.length

    def close(self) -> None:
        """Close both files."""
        self._file.close()
        self._groups.close()


def _parquet_bytes(table: Any) -> Any:
    sink = pa.BufferOutputStream()
    texts = [field.name for field in table.schema if types.is_string(field.type)]
    parquet.write_table(table, sink, row_group_size=max(1, table.num_rows), compression="snappy", use_dictionary=texts)
    return sink.getvalue()
