"""Joins row groups into one Parquet file: their bytes follow each other, and the footer lists them all.

Every row group is first written as a Parquet file of its own, in memory. Its column chunks are copied as they are; only
the positions in its metadata change. So a file can be continued at any row group without reading what was written.
The metadata are in Thrift's compact protocol; their fields are in `parquet.thrift` of the Parquet format.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from driftwise.results.thrift import read_structure

__all__ = ["MAGIC", "check_metadata", "moved_row_group", "parquet_end", "split_file", "without_row_groups"]

MAGIC = b"PAR1"
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCTURE = range(1, 13)
_WHOLE = (_I16, _I32, _I64)
_LENGTH = 4  # bytes of the length of the footer
_MOST_ORDINAL = 2**15 - 1  # the number of a row group has 16 bits, and may be left out
# Numbers of fields in parquet.thrift.
_N_ROWS, _ROW_GROUPS = 3, 4
_COLUMNS, _GROUP_ROWS, _GROUP_OFFSET, _ORDINAL = 1, 3, 5, 7
_CHUNK_OFFSET, _METADATA = 2, 3
_CHUNK_POSITIONS = (_CHUNK_OFFSET, 4, 6)  # of the chunk, its offset index and its column index
_PAGE_POSITIONS = (9, 10, 11, 14)  # data pages, index pages, dictionary page, Bloom filter

Field = tuple[int, Any]  # the type and the value
Structure = dict[int, Field]


def split_file(content: bytes | memoryview) -> tuple[memoryview, Structure]:
    """Return the column chunks of a Parquet file, and its metadata."""
    view = memoryview(content)
    end = len(view) - _LENGTH - len(MAGIC)
    start = end - int.from_bytes(view[end : end + _LENGTH], "little")
    return view[len(MAGIC) : start], _Reader(bytes(view[start:end])).structure()


def moved_row_group(metadata: Structure, shift: int, ordinal: int) -> bytes:
    """Return the metadata of the only row group of a file, whose bytes are moved by `shift`."""
    (group,) = metadata[_ROW_GROUPS][1][1]
    _move(group, (_GROUP_OFFSET,), shift)
    group.pop(_ORDINAL, None)
    if ordinal <= _MOST_ORDINAL:
        group[_ORDINAL] = (_I16, ordinal)
    for chunk in group[_COLUMNS][1][1]:
        _move(chunk, _CHUNK_POSITIONS, shift)
        _move(chunk[_METADATA][1], _PAGE_POSITIONS, shift)
    return _structure_bytes(group)


def without_row_groups(metadata: Structure) -> bytes:
    """Return the metadata of a file, with no row groups."""
    return _structure_bytes({**metadata, _N_ROWS: (_I64, 0), _ROW_GROUPS: (_LIST, (_STRUCTURE, []))})


def check_metadata(metadata: bytes, row_groups: Sequence[bytes]) -> None:
    """Raise `ValueError` if metadata that were stored are damaged."""
    for content, field in ((metadata, _N_ROWS), *((group, _GROUP_ROWS) for group in row_groups)):
        fields, end = read_structure(content, 0, len(content), len(content))
        if end != len(content) or type(fields.get(field)) is not int:
            raise ValueError("its metadata are damaged")


def parquet_end(metadata: bytes, row_groups: Sequence[bytes]) -> bytes:
    """Return the end of a file: its metadata, with these row groups."""
    groups = [_Reader(content).structure() for content in row_groups]
    n_rows = sum(group[_GROUP_ROWS][1] for group in groups)
    about = _Reader(metadata).structure()
    footer = _structure_bytes({**about, _N_ROWS: (_I64, n_rows), _ROW_GROUPS: (_LIST, (_STRUCTURE, groups))})
    return footer + len(footer).to_bytes(_LENGTH, "little") + MAGIC


def _move(structure: Structure, positions: Sequence[int], shift: int) -> None:
    for field in positions:
        if field in structure and structure[field][1]:  # 0 stands for a position that is not used
            structure[field] = (_I64, structure[field][1] + shift)


class _Reader:
    """Reads metadata that Arrow has just written or that are checked, so nothing is checked here."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._position = 0

    def structure(self) -> Structure:
        fields: Structure = {}
        number = 0
        while head := self._take(1)[0]:
            number = number + (head >> 4) if head >> 4 else _signed(self._varint())
            kind = head & 0xF
            fields[number] = (kind, None if kind in (_TRUE, _FALSE) else self._value(kind))
        return fields

    def _value(self, kind: int) -> Any:
        if kind in _WHOLE:
            return _signed(self._varint())
        if kind == _BINARY:
            return self._take(self._varint())
        if kind in (_LIST, _SET):
            head = self._take(1)[0]
            length = head >> 4 if head >> 4 < 15 else self._varint()
            return head & 0xF, [self._value(head & 0xF) for _ in range(length)]
        if kind == _STRUCTURE:
            return self.structure()
        if kind in (_TRUE, _FALSE, _BYTE):
            return self._take(1)
        if kind == _DOUBLE:
            return self._take(8)
        raise ValueError(f"a field of the type {kind} of Thrift is not known in Parquet")

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def _take(self, length: int) -> bytes:
        self._position += length
        return self._content[self._position - length : self._position]


def _structure_bytes(fields: Structure) -> bytes:
    parts, last = [], 0
    for number in sorted(fields):
        kind, value = fields[number]
        step = number - last
        parts.append(bytes([step << 4 | kind]) if step < 16 else bytes([kind]) + _varint(_zigzag(number)))
        parts.append(b"" if kind in (_TRUE, _FALSE) else _value_bytes(kind, value))
        last = number
    return b"".join(parts) + b"\0"


def _value_bytes(kind: int, value: Any) -> bytes:
    if kind in _WHOLE:
        return _varint(_zigzag(value))
    if kind == _BINARY:
        return _varint(len(value)) + bytes(value)
    if kind in (_LIST, _SET):
        inner, items = value
        head = bytes([len(items) << 4 | inner]) if len(items) < 15 else bytes([0xF0 | inner]) + _varint(len(items))
        return head + b"".join(_value_bytes(inner, item) for item in items)
    if kind == _STRUCTURE:
        return _structure_bytes(value)
    return bytes(value)


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def _zigzag(value: int) -> int:
    return value << 1 if value >= 0 else (-value << 1) - 1


def _signed(zigzag: int) -> int:
    return (zigzag >> 1) ^ -(zigzag & 1)
