"""Files appear whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Callable
from pathlib import Path

from driftwise.core.errors import BadFile, one_line

__all__ = ["check_writable", "write_atomically"]


def check_writable(path: str | os.PathLike[str]) -> None:
    """Reject a path at which no file could be written; nothing is created."""
    target = Path(path)
    try:
        os.fspath(target).encode()
    except UnicodeEncodeError:
        raise BadFile(f"Cannot write {one_line(str(target))}: its name is not UTF-8.") from None
    try:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if target.exists():
            folder, reachable = target, os.access(target, os.W_OK)
        else:
            folder = next(parent for parent in target.absolute().parents if parent.exists())
            if not folder.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            reachable = os.access(folder, os.W_OK | os.X_OK)
        if not reachable:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise BadFile(f"Cannot write {one_line(str(target))}: {error.strerror}.") from None


def write_atomically(path: str | os.PathLike[str], write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary file beside `path`, flush it to disk, and rename it into place."""
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # The suffix stays last: some writers choose their format by it.
        temporary = target.with_name(f".{target.stem}.{secrets.token_hex(8)}{target.suffix}")
        temporary.touch(exist_ok=False)
    except OSError as error:
        raise BadFile(f"Cannot write {target}: {error.strerror}.") from None
    try:
        write(temporary)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(target)
    except OSError as error:
        raise BadFile(f"Cannot write {target}: {error.strerror or error}.") from None
    finally:
        temporary.unlink(missing_ok=True)
