"""Atomic writing: a file is written completely or not at all, and keeps its mode.

A symbolic link is followed to its file. A pipe or a character device receives the finished bytes. A folder, a socket
and a block device are rejected.

Temporary files are locked while they are written, so that those of a killed process can be found and deleted.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from driftwise.core.errors import BadFile
from driftwise.core.file_locks import try_lock
from driftwise.core.file_names import Destination, destination, shown_path

__all__ = ["check_writable", "write_atomically", "write_bytes_atomically"]


_NAME = re.compile(r"\.driftwise-[0-9a-f]{16}(\..*)?", re.DOTALL)
_USUAL_LIMIT = 255  # bytes of a file's name, if the system gives no limit
_PRIVATE, _USUAL = 0o600, 0o666


@contextlib.contextmanager
def temporary_file(folder: Path, suffix: str, private: bool) -> Iterator[Path]:
    """Create a file in `folder` and yield its path; afterwards delete it, unless it was renamed.

    A `private` file can be read by its owner only; otherwise it has the mode of any new file.
    """
    _delete_abandoned(folder)
    path, descriptor = _create(folder, suffix, _PRIVATE if private else _USUAL)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def longest_name(folder: Path) -> int:
    """Return the largest length in bytes of a file name in `folder`."""
    try:
        return os.pathconf(folder, "PC_NAME_MAX")
    except (OSError, ValueError):
        return _USUAL_LIMIT


def _name_for(folder: Path, suffix: str) -> str:
    """Return a name for a temporary file; it ends in `suffix`, because some writers choose their format by it."""
    name = f".driftwise-{secrets.token_hex(8)}"
    fits = len(os.fsencode(name + suffix)) <= longest_name(folder)
    return name + suffix if fits else name  # no format has a suffix that long


def _delete_abandoned(folder: Path) -> None:
    """Delete the temporary files in `folder` that no process or thread has locked; unreadable files stay."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for name in [entry.name for entry in entries if _NAME.fullmatch(entry.name)]:
            with contextlib.suppress(OSError):
                _delete_if_abandoned(folder / name)


def _delete_if_abandoned(path: Path) -> None:
    # The name may be a link or a pipe of another user: links are not followed, and pipes are not waited for.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode) and try_lock(descriptor):
            path.unlink()
    finally:
        os.close(descriptor)


def _create(folder: Path, suffix: str, mode: int) -> tuple[Path, int]:
    while True:
        path = folder / _name_for(folder, suffix)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        # Until it is locked, another writer may take the file for an abandoned one and delete it.
        if try_lock(descriptor) is not False and os.fstat(descriptor).st_nlink:
            return path, descriptor
        os.close(descriptor)
        path.unlink(missing_ok=True)


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
