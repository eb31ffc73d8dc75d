"""Atomic writing: a file is written completely or not at all, and keeps its mode.

A symbolic link is followed to its file. A pipe or a character device receives the finished bytes. A folder, a socket
and a block device are rejected.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from driftwise.core.errors import BadFile
from driftwise.core.file_names import Destination, destination, shown_path
from driftwise.core.temporary_files import longest_name, temporary_file

__all__ = ["check_writable", "flush_folder", "write_atomically", "write_bytes_atomically"]


def write_atomically(path: str | os.PathLike[str], write: Callable[[Path], object]) -> None:
    """Call `write` with a temporary file, flush it to disk, and rename it to `path`."""
    with _errors_in_one_line(path):
        target = destination(path)
        _write(target, write, target.suffix)


def write_bytes_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file as `write_atomically` does; the temporary file has no suffix, so `*.parquet` does not match it."""
    with _errors_in_one_line(path):
        _write(destination(path), lambda file: file.write_bytes(content), "")


def _write(target: Destination, write: Callable[[Path], object], suffix: str) -> None:
    if target.is_stream:
        _write_stream(target, write)
        return
    _existing_folder(target.path)
    folder = target.path.parent
    folder.mkdir(parents=True, exist_ok=True)
    with temporary_file(folder, suffix, private=target.before is not None) as temporary:
        write(temporary)
        with temporary.open("rb+") as file:
            if target.before is not None:
                _copy_owner_and_mode(file.fileno(), target.before)
            os.fsync(file.fileno())
        temporary.replace(target.path)
    flush_folder(folder)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise the errors that `write_atomically` would raise for this path; no file and no folder is left behind."""
    with _errors_in_one_line(path):
        target = destination(path)
        if target.is_stream:
            return  # opening a pipe would wait for its reader
        with temporary_file(_existing_folder(target.path), target.suffix, private=True):
            pass  # permissions alone do not decide


def _existing_folder(path: Path) -> Path:
    """Return the nearest existing folder above a path; the names below it must not be too long."""
    missing = [path.name]
    folder = path.parent
    while not os.path.lexists(folder) and folder != folder.parent:
        missing.append(folder.name)
        folder = folder.parent
    limit = longest_name(folder)
    if any(len(os.fsencode(name)) > limit for name in missing):
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
    return folder


@contextlib.contextmanager
def _errors_in_one_line(path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except BadFile:
        raise
    except OSError as error:
        reason = (error.strerror or str(error) or type(error).__name__).splitlines()[0]
        raise BadFile(f"Cannot write {shown_path(path)}: {reason.rstrip('.')}.") from None


def _write_stream(target: Destination, write: Callable[[Path], object]) -> None:
    """Write a temporary file first: writers may seek, and a failed one must leave no partial output in the stream."""
    with temporary_file(Path(tempfile.gettempdir()), target.suffix, private=True) as temporary:
        write(temporary)
        descriptor = os.open(target.path, os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC)
        with temporary.open("rb") as content, os.fdopen(descriptor, "wb") as sink:
            shutil.copyfileobj(content, sink)


def _copy_owner_and_mode(descriptor: int, before: os.stat_result) -> None:
    mode, now = stat.S_IMODE(before.st_mode), os.fstat(descriptor)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        try:
            os.fchown(descriptor, before.st_uid, before.st_gid)
        except PermissionError:
            mode &= ~(stat.S_ISUID | stat.S_ISGID | stat.S_IRWXG)  # they were meant for another owner and group
    os.fchmod(descriptor, mode)


def flush_folder(folder: Path) -> None:
    """Make the new name durable; some file systems cannot, and the folder need not be readable."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
