"""Readers of losses in files: .npy (read block by block), .csv (with or without a row of names), .parquet.

A row is a round, a column an action. Files are only converted to numbers here; `Replay` checks that they are losses.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from driftwise.core.errors import BadFile, MissingDependency, rejection
from driftwise.core.file_names import existing_file, shown_path
from driftwise.core.machine_memory import memory_bytes
from driftwise.environments.csv_reader import read_csv
from driftwise.environments.npy_file import NpyFile

__all__ = ["Recording", "read_losses"]

Losses = np.ndarray[Any, Any] | NpyFile
Recording = tuple[Losses, tuple[str, ...] | None]  # the numbers, and the names of the actions or None

_COPIES = 3  # of the numbers of a .parquet file: Arrow's table, the matrix, and what `Replay` keeps


def read_losses(file: str | os.PathLike[str], header: bool | None = None) -> Recording:
    """Read a recording; the suffix of the file's name gives its format.

    `header` states whether the first row of a .csv file holds names; with None, the row decides.
    """
    where = Path(file)
    read = _READERS.get(where.suffix.lower())
    if read is None:
        raise BadFile(f"{shown_path(where)}: a recording must be one of {', '.join(_READERS)}, got {where.suffix!r}.")
    existing_file(where)
    if header is None:
        return read(where)
    if not isinstance(header, bool) or read is not read_csv:
        raise rejection(shown_path(where), "header", "True or False, and only for a .csv file", header)
    return read_csv(where, header)


def _read_npy(where: Path) -> Recording:
    return NpyFile(where), None


def _read_parquet(where: Path) -> Recording:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingDependency("Reading a .parquet file", "pyarrow", "files") from None
    try:
        opened = parquet.ParquetFile(where)
        _require_memory(where, opened.metadata.num_rows, len(opened.schema_arrow))
        table = opened.read()
        names = tuple(table.column_names)
    except BadFile:
        raise
    except Exception as error:  # Arrow raises many kinds of error on damaged bytes, some in several lines
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise BadFile(f"{shown_path(where)}: cut short, or not a .parquet file ({reason}).") from None
    numbers = np.empty((table.num_rows, table.num_columns))
    for k, field in enumerate(table.schema):
        truth = pyarrow.types.is_boolean(field.type)  # losses of 0 and 1
        if not (truth or pyarrow.types.is_floating(field.type) or pyarrow.types.is_integer(field.type)):
            raise BadFile(f"{shown_path(where)}: column {field.name!r} must hold numbers, got {field.type}.")
        column = table.column(k)
        numbers[:, k] = (column.cast("double") if truth else column).to_numpy()
    return numbers, names


def _require_memory(where: Path, n_rounds: int, n_actions: int) -> None:
    """Reject a file that unpacks to more than the memory of this machine: a compressed file may be small."""
    if _COPIES * 8 * n_rounds * n_actions > memory_bytes():
        size = f"{n_rounds} rounds of {n_actions} actions"
        raise BadFile(f"{shown_path(where)}: {size} do not fit into the memory of this machine.")


_READERS: dict[str, Callable[[Path], Recording]] = {
    ".csv": read_csv,
    ".npy": _read_npy,
    ".parquet": _read_parquet,
}
