"""Archives of named arrays and a JSON header in the format of `np.savez`, with a strict reader.

Only what `np.savez` writes is accepted: no entry is compressed, encrypted, streamed, overlapping or duplicate, and the
declared size of each array must equal the bytes that are there. So at most the whole file is read, once, and the memory
that reading takes is bounded by its length. Nothing in a file is executed or evaluated.

NumPy parses the header of an array (.npy) with Python's own parser, which raises many kinds of error on hostile text
and can exhaust the stack. Here a regular expression matches only what it may contain: a plain type of numbers, an
order, a shape.
"""

from __future__ import annotations

import json
import math
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn

import numpy as np

from driftwise.core.errors import BadFile, InvalidInput, shown
from driftwise.core.files import existing_file, shown_path

LONGEST_HEADER = 10_000  # bytes, magic and length included; NumPy's own limit for files it does not trust
_MAGIC = b"\x93NUMPY"
_LENGTH_BYTES = {1: 2, 2: 4, 3: 4}  # of the header's length, by version
_MOST_DIMENSIONS = 32
_ITEM = re.compile(
    r"""\s*(?: (['"])descr\1\s*:\s*(?P<descr> '[^']*' | "[^"]*" | \([^()]*\) | [^,]* )
    | (['"])fortran_order\3\s*:\s*(?P<fortran_order> True | False )
    | (['"])shape\5\s*:\s*\((?P<shape> [^()]* )\) )
    \s*(?:,|$)""",
    re.VERBOSE,
)
_PLAIN_KIND = re.compile(r"""(['"])([<>|=]?[biufcSU][0-9]{1,9})\1""")
_SHAPE = re.compile(r"\s*([0-9]{1,18}L?\s*(,\s*|\Z))*")


class NpyHeader(NamedTuple):
    """Type, order, shape and position of the data."""

    dtype: np.dtype[Any]
    fortran_order: bool
    shape: tuple[int, ...]
    offset: int  # of the data

    @property
    def nbytes(self) -> int:
        """The length of the data."""
        return math.prod(self.shape) * self.dtype.itemsize


def npy_header(beginning: bytes) -> NpyHeader:
    """Parse the first `LONGEST_HEADER` bytes of a file (fewer if it is shorter); raise `ValueError` if it is invalid.

    >>> npy_header(b"\\x93NUMPY\\1\\0\\x3a\\0{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2)}\\n").shape
    (3, 2)
    """
    if beginning[:6] != _MAGIC:
        raise ValueError("it does not begin like a .npy file" if len(beginning) >= 6 else "it is too short")
    width = _LENGTH_BYTES.get(beginning[6] if len(beginning) > 6 else 0)
    if width is None:
        raise ValueError("its .npy version is unknown")
    start = 8 + width
    end = start + int.from_bytes(beginning[8:start], "little")
    if end > LONGEST_HEADER:
        raise ValueError(f"its header is longer than {LONGEST_HEADER} bytes")
    if len(beginning) < end:
        raise ValueError("it ends within its header")
    try:
        items = _items(beginning[start:end].decode("ascii"))
        return NpyHeader(_dtype(items["descr"]), items["fortran_order"] == "True", _shape(items["shape"]), end)
    except (KeyError, UnicodeDecodeError):
        raise ValueError("its header is damaged") from None


def _items(text: str) -> dict[str | None, str]:
    """Return the values of a header as texts, by name."""
    text = text.strip()
    body, position = text[1:-1].rstrip(), 0
    items: dict[str | None, str] = {}
    while position < len(body):
        item = _ITEM.match(body, position)
        if text[0] + text[-1] != "{}" or item is None or item.lastgroup in items:
            raise ValueError("its header is damaged")
        items[item.lastgroup] = item[item.lastgroup or 0]
        position = item.end()
    return items


def _dtype(text: str) -> np.dtype[Any]:
    name = _PLAIN_KIND.fullmatch(text)
    try:
        return np.dtype(name[2] if name else "")
    except (TypeError, ValueError):
        raise ValueError("its values are not plain numbers") from None


def _shape(text: str) -> tuple[int, ...]:
    dimensions = re.findall("[0-9]+", text)
    if len(dimensions) > _MOST_DIMENSIONS or not _SHAPE.fullmatch(text):
        raise ValueError("its shape is damaged")
    return tuple(map(int, dimensions))


Array = np.ndarray[Any, Any]
_SUFFIX = ".npy"
_LONGEST_TEXT = 1 << 20  # characters of the JSON header
_LONGEST_INTEGER = 19  # digits, the number of those of 2**62
_DEEPEST = 32  # levels of nesting in the JSON header
_MOST_ENTRIES = 1000
_LONGEST_SHOWN = 60
_ENTRY, _DIRECTORY, _END = b"PK\3\4", b"PK\1\2", b"PK\5\6"
_ENTRY_FIELDS = struct.Struct("<4s5H3I2H")
_END_FIELDS = struct.Struct("<4s4H2IH")
_WIDE_SIZES = struct.Struct("<2H2Q")  # the extra field with sizes of 8 bytes
_IN_EXTRA = 0xFFFFFFFF
_UTF8_NAME = 0x800


def write_archive(file: Path | IO[bytes], kind: str, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write arrays and a header as `np.savez` does; reject an array of objects."""

    def reject(value: Any) -> NoReturn:
        raise InvalidInput(f"{kind}: parameters must be numbers, texts, or lists of them, got {shown(value)}.")

    text = np.array(json.dumps(header, sort_keys=True, default=reject))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name, value in {_header_name(kind): text, **arrays}.items():
            array = np.asanyarray(value)
            if array.dtype.hasobject:
                raise InvalidInput(f"{kind}: the array '{name}' must hold numbers, got {array.dtype.name}.")
            with archive.open(name + _SUFFIX, "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def read_archive(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the header and the arrays of a file; raise `BadFile` if anything in it is wrong."""
    file = existing_file(path)
    try:
        with file.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            entries = dict(stored_entries(stream, size))
        text = entries.pop(_header_name(kind) + _SUFFIX, None)
        if text is None:
            raise BadFile(f"{shown_path(path)} holds no driftwise {kind}.")
        return _header(text), {_array_name(name): _array(name, entries[name], size) for name in entries}
    except BadFile:
        raise
    except OSError as error:
        raise BadFile(f"Cannot read {shown_path(path)}: {error.strerror or error}.") from None
    except ValueError as error:
        raise BadFile(f"{shown_path(path)} is not a complete {kind} file: {error}.") from None
    except MemoryError:
        raise BadFile(f"{shown_path(path)} does not fit into memory.") from None


def _header_name(kind: str) -> str:
    return f"driftwise_{kind}"


def _array_name(entry: str) -> str:
    if not entry.endswith(_SUFFIX):
        raise ValueError(f"the entry {shown_entry(entry)} is not an array")
    return entry.removesuffix(_SUFFIX)


def _array(entry: str, content: bytes, size: int) -> Array:
    header = _described(entry, content)
    if header.dtype.kind not in "biuf":
        raise ValueError(f"the entry {shown_entry(entry)} must hold numbers, got {header.dtype.name}")
    if any(length > size for length in header.shape):  # an empty array may have any shape
        raise ValueError(f"the entry {shown_entry(entry)} has a shape larger than the file")
    values = np.frombuffer(content, header.dtype, offset=header.offset)
    if header.dtype.kind == "b" and values.view(np.uint8).max(initial=0) > 1:
        raise ValueError(f"the entry {shown_entry(entry)} must hold truth values, 0 or 1")
    values = values.reshape(header.shape, order="F" if header.fortran_order else "C")
    return np.array(values, header.dtype.newbyteorder("="), order="C")


def _described(entry: str, content: bytes) -> NpyHeader:
    try:
        header = npy_header(content[:LONGEST_HEADER])
    except ValueError as error:
        raise ValueError(f"the entry {shown_entry(entry)} is not an array: {error}") from None
    if header.nbytes != len(content) - header.offset:
        raise ValueError(f"the entry {shown_entry(entry)} does not have the length of its shape")
    return header


def _header(content: bytes) -> dict[str, Any]:
    described = _described("header", content)
    if described.dtype.kind != "U" or described.shape or described.nbytes > 4 * _LONGEST_TEXT:
        raise ValueError("its header is not a short text")
    order = "be" if described.dtype.byteorder == ">" else "le"
    try:
        text = content[described.offset :].decode(f"utf-32-{order}").rstrip("\0")
        header = json.loads(text, parse_int=_integer, parse_constant=_constant)
    except (ValueError, RecursionError):
        raise ValueError("its header is not JSON") from None
    if not isinstance(header, dict):
        raise ValueError("its header is not a JSON object")
    _require_shallow(header)
    return header


def _require_shallow(header: dict[str, Any]) -> None:
    """Reject deep nesting, because readers of the header may recurse into it."""
    level: list[Any] = [header]
    for _ in range(_DEEPEST):
        level = [inner for value in level for inner in _inside(value)]
        if not level:
            return
    raise ValueError("its header is nested too deeply")


def _inside(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) > _LONGEST_INTEGER:
        raise ValueError("too many digits")
    return int(digits)


def _constant(name: str) -> float:
    if name == "NaN":  # infinity is a valid learning rate, NaN is not
        raise ValueError("not a number")
    return float(name)


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
