"""Files of cells: Parquet with one row per cell and marked round.

Loaded again are the columns `round`, `regret` and `bound`, and a JSON header in the metadata with the numbers of each
cell, packed. The header and these columns are covered by a checksum. All other columns repeat the numbers of the cells
for other programs; unknown values are NULL there.
"""

from __future__ import annotations

import base64
import json
import os
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from driftwise.core.errors import BadFile, one_line, rejection, shown
from driftwise.core.file_names import existing_file, shown_path
from driftwise.core.files import write_bytes_atomically
from driftwise.core.types import Actions
from driftwise.results.cell_checks import first_fault
from driftwise.results.cell_columns import parquet_bytes
from driftwise.results.cell_table import CellTable
from driftwise.results.cells import CELL, TEXTS
from driftwise.results.parquet_columns import Column, file_metadata, parse_columns

__all__ = ["FORMAT", "NewerFormat", "cell_bytes", "parse_cells", "read_cells", "write_cells"]

FORMAT = 1
_KEY = "driftwise cells"
_LENGTH = np.dtype("<i8")
_LEVEL = 1  # of compression: level 6 takes 2.7 times as long and saves 4 %


class NewerFormat(BadFile):
    """A file was written by a newer version of driftwise."""


def write_cells(
    path: str | os.PathLike[str],
    table: CellTable,
    extra: Mapping[str, Any] | None = None,
    labels: Mapping[str, Any] | None = None,
) -> int:
    """Write cells and a small dictionary of plain values; return the bytes written. Equal content gives equal bytes.

    `labels` are for other programs: by spec under "environments" and "learners", or one for each cell in a list. Those
    that are not given are made from the specs.
    """
    content = cell_bytes(table, extra, labels)
    write_bytes_atomically(path, content)
    return len(content)


def cell_bytes(
    table: CellTable, extra: Mapping[str, Any] | None = None, labels: Mapping[str, Any] | None = None
) -> bytes:
    """Return the content of the file that `write_cells` writes."""
    fault = first_fault(table)
    if fault is not None:
        raise rejection("write_cells", *fault)
    if _has_twice(table):
        raise rejection("write_cells", "table", "cells with distinct keys", "a key twice")
    table = _with_sorted_texts(table)
    header: dict[str, Any] = {"format": FORMAT, "n_cells": len(table), "texts": table.texts, "cells": _packed(table)}
    try:
        text = json.dumps({**header, "extra": dict(extra or {})}, sort_keys=True, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        raise rejection("write_cells", "extra", "a dictionary of plain values", extra) from None
    loaded: dict[str, Column] = {"round": table.round, "regret": table.regret, "bound": table.bound}
    return parquet_bytes(table, file_metadata(_KEY, text, loaded), labels or {})


def read_cells(path: str | os.PathLike[str]) -> tuple[CellTable, dict[str, Any]]:
    """Return the cells and the dictionary of a file; raise `BadFile` if anything in it is wrong."""
    file = existing_file(path)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise BadFile(f"Cannot read {shown_path(path)}: {error.strerror or error}.") from None
    return parse_cells(content, path)


def parse_cells(content: bytes, path: str | os.PathLike[str]) -> tuple[CellTable, dict[str, Any]]:
    """Return the cells and the dictionary in the content of a file; `path` is named in errors."""
    opened = parse_columns(content, path, _KEY)
    if opened is None:
        raise BadFile(f"{shown_path(path)} holds no cells of driftwise.")
    try:
        header = json.loads(opened.header, parse_constant=_no_constant)
        version = header["format"]
        if type(version) is int and version > FORMAT:
            raise NewerFormat(
                f"{shown_path(path)} has format {shown(version)} of cells; this version reads format {FORMAT}."
                " Install a newer driftwise."
            )
        if version != FORMAT:
            raise ValueError(f"unknown format {shown(version)}")
        columns = opened.load("regret", "bound", whole=["round"])
        return _table(header, columns), _extra(header)
    except BadFile:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError, zlib.error) as error:
        reason = one_line(str(error) if type(error) is ValueError else repr(error))[:200]
        raise BadFile(f"{shown_path(path)} holds damaged cells: {reason}.") from None


def _table(header: dict[str, Any], columns: Mapping[str, Column]) -> CellTable:
    n_cells, n_rows = header["n_cells"], len(columns["round"])
    if type(n_cells) is not int or not 0 <= n_cells <= n_rows:
        raise ValueError(f"it has {n_rows} rows for {shown(n_cells)} cells")
    texts = {name: tuple(header["texts"][name]) for name in TEXTS}
    if not all(isinstance(text, str) for values in texts.values() for text in values):
        raise ValueError("its texts are not text")
    cells, lengths = _unpacked(header["cells"], n_cells)
    if n_cells and not 1 <= lengths.min() <= lengths.max() <= n_rows:
        raise ValueError("a cell has no rows, or more than there are")
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    table = CellTable(cells, texts, offsets, columns["round"], columns["regret"], columns["bound"])
    fault = first_fault(table)
    if fault is not None:
        raise ValueError(f"`{fault.name}` must be {fault.rule}, got {shown(fault.got)}")
    if _has_twice(table):
        raise ValueError("a key is there twice")
    return table


def _extra(header: dict[str, Any]) -> dict[str, Any]:
    extra = header["extra"]
    if not isinstance(extra, dict):
        raise ValueError("its extra values are not a dictionary")
    return extra


def _packed(table: CellTable) -> str:
    """Return the numbers of the cells, column by column, compressed, as text: other readers require text here."""
    columns = [table.lengths.astype(_LENGTH), *(table.cells[name] for name in CELL.names or ())]
    return base64.b64encode(zlib.compress(b"".join(column.tobytes() for column in columns), _LEVEL)).decode()


def _unpacked(text: str, n_cells: int) -> tuple[npt.NDArray[np.void], Actions]:
    size = n_cells * (_LENGTH.itemsize + CELL.itemsize)  # a cell has a row in the file, so this is not too much
    unpacker = zlib.decompressobj()
    content = unpacker.decompress(base64.b64decode(text, validate=True), size + 1)
    if len(content) != size or not unpacker.eof or unpacker.unused_data:
        raise ValueError(f"its header does not have the length of {n_cells} cells")
    lengths = np.frombuffer(content, _LENGTH, n_cells).astype(np.int64)
    cells = np.empty(n_cells, CELL)
    position = lengths.nbytes
    for name in CELL.names or ():
        column = np.frombuffer(content, CELL[name], n_cells, position)
        cells[name] = column
        position += column.nbytes
    return cells, lengths


def _with_sorted_texts(table: CellTable) -> CellTable:
    """Return the same cells with their texts sorted and without texts that no cell has."""
    cells, texts = table.cells.copy(), {}
    for name in TEXTS:
        used, codes = np.unique(cells[name], return_inverse=True)
        values = [table.texts[name][code] for code in used]
        texts[name] = tuple(sorted(values))
        places = {text: place for place, text in enumerate(texts[name])}
        cells[name] = np.array([places[text] for text in values], np.int32)[codes]
    return CellTable(cells, texts, table.offsets, table.round, table.regret, table.bound)


def _has_twice(table: CellTable) -> bool:
    keys = table.cells["key"][table.cells["key"] != b""].tolist()
    return len(set(keys)) != len(keys)


def _no_constant(name: str) -> float:
    raise ValueError(f"its header has the number {name}")
