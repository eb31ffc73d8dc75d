"""Reads the footer of a Parquet file and the headers of its pages, before Arrow unpacks anything.

Arrow ends the process on some damaged footers if asked for the metadata of a column, and a page is unpacked as a whole,
whatever its size: so both are read here, by a reader with bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, Any, NamedTuple

from driftwise.results.thrift import read_structure

__all__ = ["ColumnChunk", "RowGroup", "largest_pages", "row_groups"]

MAGIC = b"PAR1"
_LENGTH = 4  # bytes of the length of the footer
_MOST_VALUES = 5_000_000  # about 30 for each column of a row group
_HEADER = 1 << 12  # bytes of the header of a page, usually below 100
_LONGEST_HEADER = 1 << 20
# Numbers of fields in parquet.thrift.
_N_ROWS, _ROW_GROUPS = 3, 4
_COLUMNS, _GROUP_ROWS = 1, 3
_METADATA = 3
_PATH, _PACKED_BYTES, _DATA_PAGES, _DICTIONARY_PAGE = 3, 7, 9, 11
_UNPACKED, _PACKED = 2, 3


class ColumnChunk(NamedTuple):
    """Where the pages of a column of a row group are."""

    start: int
    end: int


class RowGroup(NamedTuple):
    """The rows and the columns of a part of a file; nested columns are left out."""

    n_rows: int
    chunks: dict[str, ColumnChunk]


def row_groups(content: IO[bytes]) -> list[RowGroup]:
    """Return the row groups of a file; raise `ValueError` if its footer is damaged."""
    size = content.seek(0, 2)
    content.seek(max(0, size - len(MAGIC) - _LENGTH))
    tail = content.read()
    length = int.from_bytes(tail[:_LENGTH], "little")
    start = size - len(MAGIC) - _LENGTH - length
    if start < len(MAGIC):
        raise ValueError("it is cut short")
    content.seek(start)
    try:
        footer, _ = read_structure(content.read(length), 0, length, _MOST_VALUES)
        groups = [_row_group(group, size) for group in footer.get(_ROW_GROUPS, [])]
        if footer[_N_ROWS] != sum(group.n_rows for group in groups):
            raise ValueError("its numbers of rows do not agree")
    except (KeyError, TypeError, AttributeError, UnicodeDecodeError):
        raise ValueError("its footer is damaged") from None
    return groups


def _row_group(group: Any, size: int) -> RowGroup:
    chunks = {}
    for column in group[_COLUMNS]:
        about = column[_METADATA]
        starts = [about[_DATA_PAGES], about.get(_DICTIONARY_PAGE, 0)]
        start = min(position for position in starts if position > 0) if max(starts) > 0 else 0
        end = start + about[_PACKED_BYTES]
        if not 0 < start <= end <= size:
            raise ValueError("its footer is damaged")
        if len(about[_PATH]) == 1:
            chunks[about[_PATH][0].decode()] = ColumnChunk(start, end)
    n_rows = group[_GROUP_ROWS]
    if type(n_rows) is not int or n_rows < 0:
        raise ValueError("its footer is damaged")
    return RowGroup(n_rows, chunks)


def largest_pages(content: IO[bytes], group: RowGroup, names: Sequence[str]) -> int:
    """Return the bytes that the largest pages of some columns take together, unpacked."""
    try:
        return sum(_largest_page(content, *group.chunks[name]) for name in names)
    except (KeyError, TypeError, OSError):
        raise ValueError("the header of a page is damaged") from None


def _largest_page(content: IO[bytes], position: int, end: int) -> int:
    largest = 0
    while position < end:
        content.seek(position)
        head = content.read(_HEADER)
        try:
            page, length = read_structure(head, 0, len(head))
        except ValueError:  # a long text in its statistics
            head += content.read(_LONGEST_HEADER)
            page, length = read_structure(head, 0, len(head))
        unpacked, packed = page[_UNPACKED], page[_PACKED]
        if not (type(unpacked) is type(packed) is int and unpacked >= 0 and packed >= 0):
            raise ValueError("the header of a page is damaged")
        largest = max(largest, unpacked)
        position += length + packed
    return largest
