"""Which files of a store to merge, as it grows: a cell is written again a few times, however many cells there are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["FINAL_BYTES", "FINAL_CELLS", "FileSize", "next_merge"]

FINAL_CELLS = 10_000  # files of this many cells, or of this many bytes, are not merged
FINAL_BYTES = 64 << 20
_MOST_FILES = 8  # of one size class; a class reaches from n to 8 n cells


class FileSize(NamedTuple):
    """A file: its name, its number of cells and its bytes."""

    name: str
    n_cells: int
    n_bytes: int


def next_merge(files: Iterable[FileSize], everything: bool = False) -> list[str]:
    """Return the names of files to merge into one, or none: files of one size class, or all small ones."""
    classes: dict[int, list[FileSize]] = {}
    for file in sorted(files):
        if not _is_final([file]):
            size_class = 0 if everything else (file.n_cells.bit_length() - 1) // 3
            classes.setdefault(size_class, []).append(file)
    for _, members in sorted(classes.items()):
        if len(members) >= (2 if everything else _MOST_FILES) or (_is_final(members) and len(members) > 1):
            return _until_final(members)
    return []


def _until_final(files: list[FileSize]) -> list[str]:
    for n in range(2, len(files)):
        if _is_final(files[:n]):
            return [file.name for file in files[:n]]
    return [file.name for file in files]


def _is_final(files: list[FileSize]) -> bool:
    return sum(f.n_cells for f in files) >= FINAL_CELLS or sum(f.n_bytes for f in files) >= FINAL_BYTES
