"""Reader of losses in .csv files: plain decimal numbers, with or without a row of names.

Unless the caller states whether there is a header, the first row decides: only words are names, only numbers are a
round. A row with both, and the labels `0,1`, `0` and `1`, which could also be losses, are rejected: a wrong guess would
drop a round or play the header as one. Labels with a number above 1, such as `0,1,2` or `1,2`, can only be names.
"""

from __future__ import annotations

import array
import csv
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import numpy as np

from driftwise.core.errors import BadFile, InvalidInput, shown
from driftwise.core.file_names import shown_path
from driftwise.core.types import Matrix

__all__ = ["read_csv"]

_MISSING = ("", "na", "n/a", "nan", "null", "none")  # spellings of a missing value
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_LONGEST = 2**24  # characters of a line: a million numbers of sixteen characters


def read_csv(where: Path, header: bool | None = None) -> tuple[Matrix, tuple[str, ...] | None]:
    """Return the numbers and the names, or None; `header` states whether the first row holds names."""
    file_name = shown_path(where)
    numbers = array.array("d")
    names: tuple[str, ...] | None = None
    width = 0
    try:
        with where.open(newline="", encoding="utf-8-sig") as file:
            rows = csv.reader(_lines(file, file_name))
            for row in rows:
                if not row:
                    continue
                cells = [cell.strip(" \t") for cell in row]
                if not width:
                    width = len(cells)
                    if _is_header(cells, file_name) if header is None else header:
                        names = tuple(cells)
                        continue
                if len(cells) != width:
                    found = f"{len(cells)} value{'s' if len(cells) != 1 else ''}"
                    raise BadFile(f"{file_name}, line {rows.line_num}: {found} where {width} are expected.")
                for k, cell in enumerate(cells):
                    numbers.append(_number(cell, f"{file_name}, line {rows.line_num}, column {k + 1}"))
    except BadFile:
        raise
    except (csv.Error, UnicodeDecodeError) as error:
        raise BadFile(f"{file_name}: not a .csv file ({error}).") from None
    except OSError as error:
        raise BadFile(f"Cannot read {file_name}: {error.strerror or error}.") from None
    return np.frombuffer(numbers).reshape(-1, max(1, width)), names


def _lines(file: TextIO, file_name: str) -> Iterator[str]:
    """Yield lines; a file without line breaks is rejected before it is read completely."""
    while line := file.readline(_LONGEST):
        if len(line) == _LONGEST:
            raise BadFile(f"{file_name}: not a .csv file (a line is longer than {_LONGEST} characters).")
        yield line


def _is_header(cells: list[str], file_name: str) -> bool:
    given = [cell for cell in cells if cell.lower() not in _MISSING]
    n_numbers = sum(map(_looks_like_a_number, given))
    n_words = len(given) - n_numbers
    labels = any(cells == [str(first + k) for k in range(len(cells))] for first in (0, 1))
    if (n_numbers and n_words) or (labels and float(cells[-1]) <= 1):
        raise InvalidInput(
            f"{file_name}: its first row {shown(','.join(cells))} may be names or a round."
            " Say which: --header or --no-header, in Python `header=True` or `header=False`."
        )
    return labels or n_words > 0


def _looks_like_a_number(cell: str) -> bool:
    """Return whether `float` accepts it: also 0_1, inf and other digits, which are neither names nor losses."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _number(cell: str, place: str) -> float:
    if _DECIMAL.fullmatch(cell):
        return float(cell)
    if cell.lower() in _MISSING:
        return math.nan  # reported when the losses are checked
    raise BadFile(f"{place}: {shown(cell)} is not a number.")
