"""Reads the entries of a zip archive in which they are stored uncompressed, one after the other.

Only what `np.savez` writes is accepted: no entry is compressed, encrypted, streamed, overlapping or duplicate. So at
most the whole file is read, once.
"""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO

__all__ = ["shown_entry", "stored_entries"]

_MOST_ENTRIES = 1000
_LONGEST_SHOWN = 60
_ENTRY, _DIRECTORY, _END = b"PK\3\4", b"PK\1\2", b"PK\5\6"
_ENTRY_FIELDS = struct.Struct("<4s5H3I2H")
_END_FIELDS = struct.Struct("<4s4H2IH")
_WIDE_SIZES = struct.Struct("<2H2Q")  # the extra field with sizes of 8 bytes
_IN_EXTRA = 0xFFFFFFFF
_UTF8_NAME = 0x800


def stored_entries(stream: IO[bytes], size: int) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents in the order of a file of `size` bytes; raise `ValueError` if it is invalid."""
    names: set[str] = set()
    while (fields := stream.read(_ENTRY_FIELDS.size))[:4] == _ENTRY:
        name, content = _entry(fields, stream, size)
        if name in names:
            raise ValueError(f"it has two entries {shown_entry(name)}")
        names.add(name)
        if len(names) > _MOST_ENTRIES:
            raise ValueError(f"it has more than {_MOST_ENTRIES} entries")
        yield name, content
    if not names:
        raise ValueError("it is cut short, damaged, or of another kind")
    if fields[:4] != _DIRECTORY:
        raise ValueError("it is cut short or damaged")
    stream.seek(-_END_FIELDS.size, os.SEEK_END)
    end, _, _, here, total, *_, comment = _END_FIELDS.unpack(stream.read(_END_FIELDS.size))
    if (end, here, total, comment) != (_END, len(names), len(names), 0):
        raise ValueError("it is cut short or damaged")


def shown_entry(name: str) -> str:
    """Return the name of an entry as a message shows it."""
    return repr(name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}...")


def _entry(fields: bytes, stream: IO[bytes], size: int) -> tuple[str, bytes]:
    if len(fields) < _ENTRY_FIELDS.size:
        raise ValueError("it is cut short")
    _, _, flags, method, _, _, checksum, stored, length, name_length, extra_length = _ENTRY_FIELDS.unpack(fields)
    if flags & ~_UTF8_NAME or method != zipfile.ZIP_STORED:
        raise ValueError("its entries must be stored as they are, neither compressed nor encrypted nor streamed")
    name_bytes, extra = stream.read(name_length), stream.read(extra_length)
    if _IN_EXTRA in (stored, length):
        if len(extra) != _WIDE_SIZES.size:
            raise ValueError("it is cut short or damaged")
        _, _, length, stored = _WIDE_SIZES.unpack(extra)
    if stored != length or length > size - stream.tell():
        raise ValueError("it is cut short or damaged")
    try:
        name = name_bytes.decode()
    except UnicodeDecodeError:
        raise ValueError("the name of an entry is damaged") from None
    content = stream.read(length)
    if len(content) != length or zlib.crc32(content) != checksum:
        raise ValueError(f"the entry {shown_entry(name)} is damaged")
    return name, content
