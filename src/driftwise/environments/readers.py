"""Losses from files: .npy (memory-mapped), .csv (with or without a row of names), .parquet.

A row is a round, a column an action. Here a file is only made into numbers; `Replay` checks that they are losses.
"""

from __future__ import annotations

import array
import csv
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from driftwise.core.errors import BadFile, MissingDependency

__all__ = ["Recording", "read_losses"]

Recording = tuple[np.ndarray[Any, Any], tuple[str, ...] | None]  # the numbers, and the actions' names if given


_MISSING = ("", "na", "n/a", "null", "none")  # how files say that a value is missing; "nan" is a number


def read_losses(file: str | os.PathLike[str]) -> Recording:
    """Read a recording; its kind is told by the end of the file's name."""
    where = Path(file)
    read = _READERS.get(where.suffix.lower())
    if read is None:
        raise BadFile(f"{where}: a recording must be one of {', '.join(_READERS)}, got '{where.suffix}'.")
    if not where.is_file():
        raise BadFile(f"{where}: there is no such file.")
    return read(where)


def _read_npy(where: Path) -> Recording:
    try:
        return np.lib.format.open_memmap(where, mode="r"), None
    except (ValueError, EOFError, OSError) as error:
        raise BadFile(f"{where}: cut short, or not a .npy file ({error}).") from None


def _read_csv(where: Path) -> Recording:
    numbers = array.array("d")
    names: tuple[str, ...] | None = None
    width = 0
    try:
        with where.open(newline="", encoding="utf-8-sig") as lines:
            rows = csv.reader(lines)
            for row in rows:
                if not row:
                    continue
                if not width:
                    width = len(row)
                    if _is_header(row):
                        names = tuple(name.strip() for name in row)
                        continue
                if len(row) != width:
                    found = f"{len(row)} value{'s' if len(row) != 1 else ''}"
                    raise BadFile(f"{where}, line {rows.line_num}: {found} where {width} are expected.")
                numbers.extend(_number(cell, where, rows.line_num) for cell in row)
    except (csv.Error, UnicodeDecodeError) as error:
        raise BadFile(f"{where}: not a .csv file ({error}).") from None
    return np.frombuffer(numbers).reshape(-1, max(1, width)), names


def _is_header(row: list[str]) -> bool:
    """Take words for names, and the numbers 0, 1, 2, ... with which data frames head unnamed columns."""
    counted = len(row) > 2 and [cell.strip() for cell in row] == [str(k) for k in range(len(row))]
    missing = any(cell.strip().lower() in _MISSING for cell in row)
    return counted or not (missing or any(map(_is_number, row)))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _number(cell: str, where: Path, line: int) -> float:
    if cell.strip().lower() in _MISSING:
        return math.nan  # which the check of the losses will name
    if not _is_number(cell):
        raise BadFile(f"{where}, line {line}: {cell!r} is not a number.")
    return float(cell)


def _read_parquet(where: Path) -> Recording:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingDependency("Reading a .parquet file", "pyarrow", "files") from None
    try:
        table = parquet.ParquetFile(where).read()
    except (pyarrow.ArrowException, OSError) as error:
        raise BadFile(f"{where}: cut short, or not a .parquet file ({error}).") from None
    numbers = np.empty((table.num_rows, table.num_columns))
    for k, field in enumerate(table.schema):
        if not (pyarrow.types.is_floating(field.type) or pyarrow.types.is_integer(field.type)):
            raise BadFile(f"{where}: column '{field.name}' must hold numbers, got {field.type}.")
        numbers[:, k] = table.column(k).to_numpy()
    return numbers, tuple(table.column_names)


_READERS: dict[str, Callable[[Path], Recording]] = {
    ".csv": _read_csv,
    ".npy": _read_npy,
    ".parquet": _read_parquet,
}
