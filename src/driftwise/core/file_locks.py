"""Locks on files, which the system releases when the process ends.

The lock is `flock`'s: it belongs to an open file, so it distinguishes threads as well as processes. It does not depend
on process ids, which are reused and have no meaning in another container.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

__all__ = ["locked", "try_lock"]

_HELD = (errno.EWOULDBLOCK, errno.EACCES)


def try_lock(descriptor: int) -> bool | None:
    """Return whether an open file could be locked, None where the file system has no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return False if error.errno in _HELD else None
    return True


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait for the lock on a file, which is made if it is missing; raise `OSError` where there are no locks."""
    descriptor = _open_locked(path)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # a process forked in between has a copy of the open file
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _open_locked(path: Path) -> int:
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except PermissionError:  # the file of another user
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.fstat(descriptor).st_nlink:  # else someone deleted the file while this process waited
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
