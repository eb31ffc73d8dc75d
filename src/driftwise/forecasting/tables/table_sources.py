"""Where a table comes from: a file or standard input, its format, and what identifies its content."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from driftwise.core.errors import BadData, BadFile, InvalidInput, one_line
from driftwise.core.file_names import shown_path

__all__ = ["FORMATS", "STANDARD_INPUT", "ByteStream", "TableSource", "closed_on_error", "first_line", "table_source"]

FORMATS = ("csv", "parquet", "jsonl")
STANDARD_INPUT = "-"
_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
_COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
_IDENTIFYING = 1 << 20  # bytes at the start of a file, of which the digest is kept
_SKIP = 1 << 22  # bytes that are read at once to reach a position in a stream
_OF_DEVICES = (errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.ENODEV, errno.ENXIO)  # errors of a disk or a network


class TableSource(NamedTuple):
    """A file or a stream of bytes in a known format."""

    path: str
    format: str
    compression: str | None
    size: int | None  # in bytes, None for a stream

    @property
    def name(self) -> str:
        """The name that errors give it."""
        return "standard input" if self.path == STANDARD_INPUT else shown_path(self.path)

    @property
    def is_stream(self) -> bool:
        """Whether it can be read only once."""
        return self.size is None

    def fault(self, message: str) -> BadData:
        """Return the error about this table."""
        return BadData(f"{self.name}{message}")

    def device_fault(self, error: BaseException) -> BadFile | None:
        """Return the error about a device, None if the content is wrong: later the same bytes may be readable."""
        if not isinstance(error, OSError) or error.errno not in _OF_DEVICES:
            return None
        return BadFile(f"Cannot read {self.name}: {os.strerror(error.errno)}.")

    def open(self) -> ByteStream:
        """Return the bytes, unpacked if they are compressed."""
        return ByteStream(self)

    def identity(self) -> dict[str, Any]:
        """Return values that differ if the content differs: size, time of the last change, digest of the start."""
        try:
            with Path(self.path).open("rb") as file:
                about = os.fstat(file.fileno())
                digest = hashlib.sha256(file.read(_IDENTIFYING)).hexdigest()
        except OSError as error:
            raise _unreadable(self.path, error) from None
        return {"size": about.st_size, "changed": about.st_mtime_ns, "start": digest}


class ByteStream:
    """The bytes of a source, one after the other."""

    def __init__(self, source: TableSource) -> None:
        self._source = source
        self._open()

    def _open(self) -> None:
        source = self._source
        self._file: Any = sys.stdin.buffer if source.path == STANDARD_INPUT else _opened(source.path)
        self._bytes: Any = self._file
        if source.compression is not None:
            self._file = pa.PythonFile(self._file, mode="r")
            self._bytes = pa.CompressedInputStream(self._file, source.compression)

    def read(self, n_bytes: int) -> bytes:
        """Return the next bytes, as many as asked for unless they end."""
        try:
            return bytes(self._bytes.read(n_bytes))
        except (OSError, pa.ArrowException) as error:
            what = "its compressed content is damaged" if self._source.compression else "it cannot be read"
            fault = self._source.fault(f": {what} ({first_line(error)}).")
            raise self._source.device_fault(error) or fault from None

    def restart(self, n_bytes: int) -> None:
        """Open the file again and skip its first bytes."""
        self.close()
        self._open()
        if self._source.compression is None and not self._source.is_stream:
            self._file.seek(n_bytes)
            return
        while n_bytes > 0 and (skipped := len(self.read(min(n_bytes, _SKIP)))):
            n_bytes -= skipped

    def fraction(self) -> float | None:
        """Return which part of the file was read, None if its length is unknown."""
        return None if not self._source.size else min(1.0, self._file.tell() / self._source.size)

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self._source.path != STANDARD_INPUT:
            self._bytes.close()
            self._file.close()


@contextlib.contextmanager
def closed_on_error(stream: ByteStream) -> Iterator[None]:
    """Close a stream if its first bytes are rejected."""
    try:
        yield
    except BaseException:
        stream.close()
        raise


def table_source(path: str, format: str | None = None) -> TableSource:
    """Return the source of a path, or of "-"; without a `format` the suffix gives it."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    compression = _COMPRESSED.get(suffixes[-1]) if suffixes and path != STANDARD_INPUT else None
    if compression is not None:
        suffixes.pop()
    size = None if path == STANDARD_INPUT else _size(path)
    if format is None:
        format = "csv" if path == STANDARD_INPUT else _SUFFIXES.get(suffixes[-1] if suffixes else "")
        if format is None:
            raise InvalidInput(
                f"combine: the format of {shown_path(path)} is not known by its suffix;"
                f" give --input-format, one of {', '.join(FORMATS)}."
            )
    if format == "parquet" and (size is None or compression is not None):
        what = "a stream" if size is None else "a compressed file"
        raise InvalidInput(f"combine: Parquet cannot be read from {what}; unpack it into a file first.")
    return TableSource(path, format, compression, size)


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, short and without a full stop."""
    lines = str(error).strip().splitlines()
    return one_line((lines[0] if lines else type(error).__name__)[:200]).rstrip(".")


def _size(path: str) -> int | None:
    """Return the length of a file, None for a pipe; reject what cannot be read."""
    try:
        about = Path(path).stat()
    except FileNotFoundError:
        raise BadData(f"There is no file {shown_path(path)}.") from None
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    if stat.S_ISDIR(about.st_mode):
        raise BadData(f"{shown_path(path)} is a folder; give a file.")
    if stat.S_ISFIFO(about.st_mode) or stat.S_ISCHR(about.st_mode):
        return None
    _opened(path).close()
    return about.st_size


def _opened(path: str) -> Any:
    try:
        return Path(path).open("rb")
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: str, error: Exception) -> BadData:
    reason = getattr(error, "strerror", None) or first_line(error)
    return BadData(f"Cannot read {shown_path(path)}: {reason}.")
