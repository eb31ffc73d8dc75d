"""Reads tables from Parquet files in batches of rows; the sizes of pages are checked before they are unpacked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
from pyarrow import compute, parquet, types

from driftwise.core.errors import BadData, shown
from driftwise.core.machine_memory import memory_bytes
from driftwise.forecasting.tables.parquet_pages import MAGIC, RowGroup, largest_pages, row_groups
from driftwise.forecasting.tables.table_columns import ColumnChoice, Columns
from driftwise.forecasting.tables.table_pieces import LONGEST_TEXT, Piece, Position
from driftwise.forecasting.tables.table_sources import TableSource, first_line

__all__ = ["ParquetTable"]

_BATCH = 1 << 16  # rows that Arrow unpacks at once
_BUFFER = 1 << 20  # bytes of a column that are read at once
_COPIES = 4  # of a page in memory while it is unpacked and converted
_ENCRYPTED = b"PARE"


class ParquetTable:
    """A Parquet file."""

    def __init__(self, source: TableSource) -> None:
        self.source = source
        self._check_ends()
        with Path(source.path).open("rb") as content:
            try:
                self._groups = row_groups(content)
            except ValueError as error:
                raise source.fault(f": it is not a complete Parquet file ({error}).") from None
        with self._opened([]) as file:
            schema = file.schema_arrow
        self._n_rows = sum(group.n_rows for group in self._groups)
        self.columns = Columns(tuple(schema.names), tuple(_is_numeric(field.type) for field in schema))
        self._types = {field.name: field.type for field in schema}
        if self._n_rows <= 0:
            raise source.fault(": it has no rows.")

    def settings(self) -> dict[str, Any]:
        """Return nothing: the rows depend on the file only."""
        return {}

    def close(self) -> None:
        """Do nothing: every use opens the file for itself."""

    def pieces(self, choice: ColumnChoice, position: Position) -> Iterator[Piece]:
        """Yield the rows from a position on."""
        self._check_types(choice)
        names = [*choice.numbers, *choice.texts]
        dictionaries = [name for name in choice.texts if _is_text(self._types[name])]
        row = 0
        with self._opened(dictionaries) as file, Path(self.source.path).open("rb") as content:
            for number, group in enumerate(self._groups):
                if row + group.n_rows <= position.row:
                    row += group.n_rows
                    continue
                self._check_pages(content, group, names, row)
                before = row
                for batch in self._batches(file, number, names, row):
                    skipped = max(0, position.row - row)
                    if skipped < batch.num_rows:
                        yield self._piece(batch.slice(skipped), choice, row + skipped)
                    row += batch.num_rows
                if row - before != group.n_rows:
                    raise self._damaged(row, "rows are missing")

    def _piece(self, batch: Any, choice: ColumnChoice, row: int) -> Piece:
        columns = {name: batch.column(name) for name in batch.schema.names}
        try:
            for name in choice.numbers:
                columns[name] = columns[name].cast(pa.float64(), safe=False)
            for name in choice.texts:
                columns[name] = _plain(columns[name])
        except (pa.ArrowException, ValueError) as error:
            raise self._damaged(row, first_line(error)) from None
        position = Position(row, 0, 0)
        return Piece(
            columns, batch.num_rows, position, lambda i: f"row {row + i + 1}", (row + batch.num_rows) / self._n_rows
        )

    def _batches(self, file: Any, group: int, names: Sequence[str], row: int) -> Iterator[Any]:
        """Yield the batches of a row group, and check that they have the columns of the file."""
        try:
            for batch in file.iter_batches(_BATCH, row_groups=[group], columns=names, use_threads=True):
                batch.validate(full=True)
                yield batch
                row += batch.num_rows
        except GeneratorExit:
            raise
        except BadData:
            raise
        except Exception as error:  # Arrow raises many kinds of error on damaged bytes
            raise self.source.device_fault(error) or self._damaged(row, first_line(error)) from None

    def _check_ends(self) -> None:
        """Reject what is not a Parquet file: Arrow's own messages about it are long."""
        with Path(self.source.path).open("rb") as content:
            start = content.read(len(MAGIC))
            size = content.seek(0, 2)
            content.seek(max(0, size - len(MAGIC)))
            end = content.read()
        if size == 0:
            raise self.source.fault(": it is empty.")
        if _ENCRYPTED in (start, end):
            raise self.source.fault(": it is encrypted.")
        if start != MAGIC:
            raise self.source.fault(": it is not a Parquet file.")
        if end != MAGIC or size < 3 * len(MAGIC):
            raise self.source.fault(": it is cut short: a Parquet file ends as it begins.")

    def _opened(self, dictionaries: Sequence[str]) -> Any:
        try:
            return parquet.ParquetFile(
                self.source.path,
                read_dictionary=list(dictionaries),  # a long text that is repeated often is kept once
                buffer_size=_BUFFER,
                pre_buffer=False,
                page_checksum_verification=True,
            )
        except Exception as error:  # as above
            raise self.source.fault(f": it is not a complete Parquet file ({first_line(error)}).") from None

    def _check_types(self, choice: ColumnChoice) -> None:
        for name in choice.numbers:
            if not _is_numeric(self._types[name]):
                raise self.source.fault(f", column {shown(name)}: it must hold numbers, got {self._types[name]}.")
        if choice.by is not None and not _is_name(self._types[choice.by]):
            kind = self._types[choice.by]
            raise self.source.fault(f", column {shown(choice.by)}: it must hold text or whole numbers, got {kind}.")
        if choice.time is not None and not _is_time(self._types[choice.time]):
            kind = self._types[choice.time]
            raise self.source.fault(f", column {shown(choice.time)}: it must hold times, numbers or text, got {kind}.")

    def _check_pages(self, content: IO[bytes], group: RowGroup, names: Sequence[str], row: int) -> None:
        """Reject pages that do not fit into memory: a page is unpacked as a whole, and a short one may be huge then."""
        try:
            largest = largest_pages(content, group, names)
        except ValueError as error:
            raise self._damaged(row, str(error)) from None
        if _COPIES * largest > memory_bytes():
            raise self.source.fault(
                f", row {row + 1}: its pages unpack to {largest / 1e9:.3g} GB,"
                " which do not fit into the memory of this machine."
            )

    def _damaged(self, row: int, reason: str) -> BadData:
        return self.source.fault(f", row {row + 1}: from here on its content is damaged ({reason}).")


def _is_numeric(kind: Any) -> bool:
    return any(test(kind) for test in (types.is_integer, types.is_floating, types.is_decimal, types.is_null))


def _is_text(kind: Any) -> bool:
    return any(test(kind) for test in (types.is_string, types.is_large_string))


def _is_name(kind: Any) -> bool:
    inner = kind.value_type if types.is_dictionary(kind) else kind
    return _is_text(inner) or types.is_integer(inner)


def _is_time(kind: Any) -> bool:
    inner = kind.value_type if types.is_dictionary(kind) else kind
    return _is_text(inner) or types.is_temporal(inner) or (_is_numeric(inner) and not types.is_null(inner))


def _plain(column: Any) -> Any:
    """Return a column without a dictionary; texts must be short, because each row then has its own."""
    if types.is_dictionary(column.type):
        values = column.dictionary
        if _is_text(values.type) and (compute.max(compute.binary_length(values)).as_py() or 0) > LONGEST_TEXT:
            raise ValueError(f"a text is longer than {LONGEST_TEXT} bytes")
        column = column.dictionary_decode()
    return column.cast(pa.string()) if types.is_large_string(column.type) else column
