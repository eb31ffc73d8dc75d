"""Reads tables from CSV files, in chunks of lines that Arrow parses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyarrow import csv

from driftwise.forecasting.tables.csv_dialects import MISSING, csv_dialect
from driftwise.forecasting.tables.line_chunks import Chunk, line_chunks
from driftwise.forecasting.tables.table_columns import ColumnChoice, Wanted
from driftwise.forecasting.tables.table_faults import csv_fault, csv_line
from driftwise.forecasting.tables.table_pieces import START, Piece, Position
from driftwise.forecasting.tables.table_sources import TableSource, closed_on_error, first_line
from driftwise.forecasting.tables.text_pieces import text_pieces

__all__ = ["CsvTable"]

_SAMPLE = 1 << 18  # bytes in which the dialect is found


class CsvTable:
    """A CSV file with a header."""

    def __init__(
        self, source: TableSource, wanted: Wanted, delimiter: str | None = None, decimal: str | None = None
    ) -> None:
        self.source = source
        self._stream = source.open()
        with closed_on_error(self._stream):
            self._sample = self._stream.read(_SAMPLE)
            whole = len(self._sample) < _SAMPLE
            self._dialect = csv_dialect(source, self._sample, whole, wanted, delimiter, decimal)
        self.columns = self._dialect.columns

    def settings(self) -> dict[str, Any]:
        """Return the dialect."""
        return {"delimiter": self._dialect.delimiter, "decimal": self._dialect.decimal}

    def pieces(self, choice: ColumnChoice, position: Position) -> Iterator[Piece]:
        """Yield the rows from a position on."""
        dialect = self._dialect
        if position == START:
            rest, position = self._sample[dialect.start :], Position(0, dialect.start, dialect.line)
        else:
            self._stream.restart(position.offset)
            rest = b""
        chunks = line_chunks(self.source, self._stream, rest, position.offset, position.line, dialect.delimiter)
        yield from text_pieces(
            chunks,
            position.row,
            lambda chunk: self._parsed(choice, chunk),
            lambda chunk, i: csv_line(chunk, dialect.delimiter, i),
        )

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def _parsed(self, choice: ColumnChoice, chunk: Chunk) -> dict[str, Any]:
        """Return the chosen columns of some lines; the columns have numbers for names, because names may repeat."""
        dialect = self._dialect
        columns = {name: str(place) for name, place in dialect.columns.places.items()}
        kinds = {**dict.fromkeys(choice.numbers, pa.float64()), **dict.fromkeys(choice.texts, pa.string())}
        types = {columns[name]: kind for name, kind in kinds.items()}
        try:
            table = csv.read_csv(
                pa.BufferReader(chunk.data),
                csv.ReadOptions(
                    use_threads=False,
                    block_size=len(chunk.data) + 1,
                    column_names=[str(i) for i in range(len(dialect.columns.names))],
                ),
                csv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True),
                csv.ConvertOptions(
                    column_types=types,
                    include_columns=list(types),
                    null_values=sorted(MISSING),
                    strings_can_be_null=False,
                    decimal_point=dialect.decimal,
                ),
            )
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise csv_fault(self.source, dialect, choice, chunk, first_line(error)) from None
        return {name: _joined(table.column(columns[name])) for name in kinds}


def _joined(column: Any) -> Any:
    return (
        column.chunk(0)
        if column.num_chunks == 1
        else pa.concat_arrays(column.chunks)
        if column.num_chunks
        else pa.array([], column.type)
    )
