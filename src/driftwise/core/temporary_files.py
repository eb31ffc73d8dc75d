"""Temporary files, locked while they are written, so that those of a killed process can be found and deleted."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

from driftwise.core.file_locks import try_lock

__all__ = ["longest_name", "temporary_file"]

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
