"""Resolves the names of files to read, and of files and streams to write."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import NamedTuple

from driftwise.core.errors import BadFile, rejection

__all__ = ["Destination", "destination", "existing_file", "shown_path"]

_MOST_LINKS = 40  # as many as Linux follows
_LONGEST_SHOWN = 300


class Destination(NamedTuple):
    """A file to write, which may exist already, or a stream."""

    path: Path
    suffix: str  # of the given name, which may be a link: writers choose their format by it
    before: os.stat_result | None  # of the existing file

    @property
    def is_stream(self) -> bool:
        """Whether it is a pipe or a character device, which can be written but not replaced."""
        return self.before is not None and not stat.S_ISREG(self.before.st_mode)


def destination(path: str | os.PathLike[str]) -> Destination:
    """Follow symbolic links and return the destination; raise `OSError` if it cannot be written."""
    given = _checked(path)
    try:
        before = given.stat()
    except FileNotFoundError:
        before = None
    if before is None:
        return Destination(_follow(given), given.suffix, None)
    _require_writable(given, before.st_mode)
    if not stat.S_ISREG(before.st_mode):
        return Destination(given, given.suffix, before)  # the system follows links, also to an unnamed pipe
    target = _follow(given)
    if not target.exists():
        raise OSError(0, "it is a link to a file without a name")
    return Destination(target, given.suffix, before)


def existing_file(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file to read; raise `BadFile` if there is none or its name is impossible."""
    if not os.path.isfile(path):  # noqa: PTH113 (a Path raises where the name is too long)
        raise BadFile(f"There is no file {shown_path(path)}.")
    return Path(path)


def shown_path(path: str | os.PathLike[str]) -> str:
    """Return a path as a message shows it: on one line, printable, not too long.

    >>> print(shown_path("a/b.npz"), shown_path("a\\nb"))
    a/b.npz 'a\\nb'
    """
    text = os.fsdecode(path)
    text = text if text and text.isprintable() else repr(text)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def _checked(path: str | os.PathLike[str]) -> Path:
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise rejection("write", "path", "the name of a file", path)
    name = os.fspath(path)
    if not name:
        raise OSError(0, "the name is empty")
    if "\0" in name:
        raise OSError(0, "the name has a null character")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise OSError(0, "the name is not valid UTF-8") from None
    if name.endswith("/") and not Path(name).is_dir():
        raise OSError(0, "the name ends in a slash, as a folder's does")
    return Path(name)


def _follow(path: Path) -> Path:
    """Return the path at the end of a chain of links; nothing need exist there."""
    for _ in range(_MOST_LINKS):
        if not path.is_symlink():
            return path
        named = os.readlink(path)  # noqa: PTH115 (a Path would drop a slash at the end)
        path = path.parent / _checked(named)
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _require_writable(path: Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    if stat.S_ISSOCK(mode):
        raise OSError(0, "it is a socket")
    if stat.S_ISBLK(mode):
        raise OSError(0, "it is a block device")
    if not os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))
