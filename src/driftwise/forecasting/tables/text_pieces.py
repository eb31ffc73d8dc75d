"""Pieces of a table in a text file: its chunks of lines, parsed in threads."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from typing import Any

from driftwise.forecasting.tables.line_chunks import Chunk
from driftwise.forecasting.tables.read_ahead import in_order
from driftwise.forecasting.tables.table_pieces import Piece, Position

__all__ = ["text_pieces"]


def text_pieces(
    chunks: Iterator[Chunk], row: int, parsed: Callable[[Chunk], dict[str, Any]], line: Callable[[Chunk, int], int]
) -> Iterator[Piece]:
    """Yield the chunks with rows as pieces; `row` rows are before them.

    `parsed` returns the columns of a chunk, and `line` the number of the line of one of its rows.
    """
    for chunk, columns in in_order(chunks, parsed, os.cpu_count() or 1):
        n_rows = len(next(iter(columns.values())))
        if n_rows:
            position = Position(row, chunk.offset, chunk.line)
            yield Piece(columns, n_rows, position, functools.partial(_place, line, chunk), chunk.read)
        row += n_rows


def _place(line: Callable[[Chunk, int], int], chunk: Chunk, i: int) -> str:
    return f"line {line(chunk, i)}"
