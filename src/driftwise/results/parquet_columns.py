"""Columns of numbers and a header in one Parquet file, with a checksum.

Any program that reads Parquet can read the file. Columns that this module loads again are neither compressed nor
encoded, so they can be read without Arrow and take no more memory than the file.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from driftwise.core.errors import BadFile, MissingDependency
from driftwise.core.file_names import existing_file, shown_path
from driftwise.results.thrift import Fields, read_structure

__all__ = ["Stored", "arrow", "file_metadata", "open_columns", "parse_columns"]

Column = np.ndarray[Any, Any]  # of numbers of 64 bits

_MAGIC = b"PAR1"
_INT64, _DOUBLE = 2, 5  # constants of the Parquet format, as are the next
_REQUIRED, _UNCOMPRESSED, _DATA_PAGE, _PLAIN = 0, 0, 0, 0
_TYPES = {_INT64: np.dtype("<i8"), _DOUBLE: np.dtype("<f8")}
_ITEM = 8  # bytes of a number


def arrow(task: str) -> tuple[Any, Any]:
    """Return the modules that write Parquet; raise with the command to install them if they are missing."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingDependency(task, "pyarrow", "files") from None
    return pyarrow, pyarrow.parquet


def file_metadata(key: str, header: bytes, loaded: Mapping[str, Column]) -> dict[str, bytes]:
    """Return the metadata of a file: the header, and a digest of the header and the columns to be loaded."""
    return {key: header, f"{key} sha256": _digest(header, loaded)}


class Stored(NamedTuple):
    """A file and its header. The columns are parsed on request, after the header's format was checked."""

    header: bytes
    path: str | os.PathLike[str]
    content: bytes
    metadata: Fields
    digest: bytes | None

    def load(self, *names: str, whole: Sequence[str] = ()) -> dict[str, Column]:
        """Return columns of real numbers, and those named in `whole` of whole numbers.

        The names must be all that are in the checksum.
        """
        kinds = {**dict.fromkeys(names, _DOUBLE), **dict.fromkeys(whole, _INT64)}
        try:
            columns = {name: _column(self.content, self.metadata, name, kind) for name, kind in kinds.items()}
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            raise _incomplete(self.path, error) from None
        if self.digest != _digest(self.header, columns):
            raise BadFile(f"{shown_path(self.path)} is damaged: its checksum does not match its content.")
        return columns


def open_columns(path: str | os.PathLike[str], key: str) -> Stored | None:
    """Return a file and its header, None if it has no header under this key."""
    file = existing_file(path)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise BadFile(f"Cannot read {shown_path(path)}: {error.strerror or error}.") from None
    return parse_columns(content, path, key)


def parse_columns(content: bytes, path: str | os.PathLike[str], key: str) -> Stored | None:
    """Return the content of a file with its header, None if it has no header under this key."""
    try:
        metadata = _metadata(content)
        entries = {entry[1]: entry.get(2, b"") for entry in metadata.get(5, [])}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _incomplete(path, error) from None
    header = entries.get(key.encode())
    if not isinstance(header, bytes):
        return None
    return Stored(header, path, content, metadata, entries.get(f"{key} sha256".encode()))


def _digest(header: bytes, columns: Mapping[str, Column]) -> bytes:
    content = hashlib.sha256(header)
    for name in sorted(columns):
        content.update(f"\n{name} {len(columns[name])}\n".encode())
        content.update(np.ascontiguousarray(columns[name], columns[name].dtype.newbyteorder("<")).data)
    return content.hexdigest().encode()


def _metadata(content: bytes) -> Fields:
    """Return the metadata at the end of the file."""
    if len(content) < 12 or content[:4] != _MAGIC or content[-4:] != _MAGIC:
        raise ValueError("it does not begin and end as a Parquet file does")
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    if start < 4:
        raise ValueError("it is cut short")
    return read_structure(content, start, len(content) - 8)[0]


def _column(content: bytes, metadata: Fields, name: str, kind: int) -> Column:
    kinds = [(part.get(1), part.get(3)) for part in metadata[2] if part.get(4) == name.encode()]
    if kinds != [(kind, _REQUIRED)]:
        raise ValueError(f"it has no column '{name}' of numbers")
    chunks = [chunk[3] for group in metadata[4] for chunk in group[1] if chunk[3][3] == [name.encode()]]
    if sum(chunk[5] for chunk in chunks) != metadata[3] or metadata[3] * _ITEM > len(content):
        raise ValueError(f"it is too short for the {metadata[3]} rows in its metadata")
    pages = [page for chunk in chunks for page in _pages(content, chunk, kind)]
    column = np.concatenate([np.empty(0, _TYPES[kind]), *pages]).astype(_TYPES[kind].newbyteorder("="), copy=False)
    if len(column) != metadata[3]:
        raise ValueError(f"the column '{name}' is damaged")
    return column


def _pages(content: bytes, chunk: Fields, kind: int) -> Iterator[Column]:
    if chunk[1] != kind or chunk[4] != _UNCOMPRESSED or 11 in chunk:
        raise ValueError("its numbers must be neither compressed nor encoded")
    position, left = chunk[9], chunk[5]
    while left > 0:
        if not 0 <= position < len(content):
            raise ValueError("it is cut short")
        page, position = read_structure(content, position, len(content))
        n_values, length = page[5][1], page[3]
        if (page[1], page[5][2]) != (_DATA_PAGE, _PLAIN) or not 0 < n_values <= left or length != n_values * _ITEM:
            raise ValueError("its numbers must be neither compressed nor encoded")
        yield np.frombuffer(content, _TYPES[kind], n_values, position)
        position += length
        left -= n_values


def _incomplete(path: str | os.PathLike[str], error: Exception) -> BadFile:
    reason = str(error) if type(error) is ValueError else "its metadata are damaged"
    return BadFile(f"{shown_path(path)} is not a complete Parquet file: {reason}.")
