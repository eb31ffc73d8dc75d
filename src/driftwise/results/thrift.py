"""A reader of Thrift's compact protocol, as far as the metadata of a Parquet file use it.

A structure becomes a dictionary from field numbers to values. Depth, number of values and lengths are bounded, and
damaged metadata raise a `ValueError`. Arrow's own reader is not used: it ends the process on some damaged metadata.
"""

from __future__ import annotations

import struct
from typing import Any

__all__ = ["Fields", "read_structure"]

Fields = dict[int, Any]

_DEEPEST = 12  # Parquet's own metadata have 8 levels
_MOST_VALUES = 200_000  # about 40 per column of a row group, and a row group has a million rows
_LONGEST_VARINT = 10  # bytes: 64 bits
_STOP, _TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCTURE = range(13)


def read_structure(content: bytes, start: int, end: int, most_values: int = _MOST_VALUES) -> tuple[Fields, int]:
    """Return the structure that begins at `start`, and the position where it ends."""
    reader = _Reader(content, start, end, most_values)
    return reader.structure(0), reader.position


class _Reader:
    def __init__(self, content: bytes, start: int, end: int, most_values: int) -> None:
        self.position = start
        self._content = content
        self._end = min(end, len(content))
        self._values, self._most_values = 0, most_values

    def structure(self, depth: int) -> Fields:
        if depth > _DEEPEST:
            raise ValueError("its metadata are nested too deeply")
        fields: Fields = {}
        number = 0
        while (head := self._take(1)[0]) != _STOP:
            number = number + (head >> 4) if head >> 4 else _signed(self._varint())
            if number in fields:
                raise ValueError("its metadata are damaged")
            kind = head & 0xF
            fields[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        self._values += 1
        if self._values > self._most_values:
            raise ValueError(f"its metadata have more than {self._most_values} values")
        if kind in (_I16, _I32, _I64):
            return _signed(self._varint())
        if kind == _BINARY:
            return self._take(self._varint())
        if kind in (_LIST, _SET):
            return self._list(depth)
        if kind == _STRUCTURE:
            return self.structure(depth + 1)
        if kind == _DOUBLE:
            return struct.unpack("<d", self._take(8))[0]
        if kind in (_BYTE, _TRUE, _FALSE):
            return self._take(1)[0]
        raise ValueError("its metadata are damaged")  # Parquet has no maps

    def _list(self, depth: int) -> list[Any]:
        if depth >= _DEEPEST:
            raise ValueError("its metadata are nested too deeply")
        head = self._take(1)[0]
        length = head >> 4 if head >> 4 != 0xF else self._varint()
        if length > self._end - self.position:  # each value takes at least a byte
            raise ValueError("its metadata are damaged")
        return [self._value(head & 0xF, depth + 1) for _ in range(length)]

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 7 * _LONGEST_VARINT, 7):
            byte = self._take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise ValueError("its metadata are damaged")

    def _take(self, length: int) -> bytes:
        if length > self._end - self.position:
            raise ValueError("its metadata are cut short")
        taken = self._content[self.position : self.position + length]
        self.position += length
        return taken


def _signed(zigzag: int) -> int:
    return (zigzag >> 1) ^ -(zigzag & 1)
