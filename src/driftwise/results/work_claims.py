"""Claims: what each process that shares a store is working on, so that no other process plays the same cells.

A claim is a file with a list of ids. Its process holds a lock on it, so the claim of a process that ended can be taken
by the next. Claims are read and changed only under the lock of the store. They save work; they protect nothing: a
store drops cells that it has already.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from driftwise.core.errors import BadFile
from driftwise.core.file_locks import try_lock
from driftwise.core.file_names import shown_path

__all__ = ["WorkClaim", "claimed_by_others"]

_NAME = re.compile(r"\.claim-[0-9a-f]{16}")
_LONGEST = 1 << 26  # bytes of a claim


class WorkClaim:
    """The claim of one open store."""

    def __init__(self, folder: Path) -> None:
        self.ids: dict[str, None] = {}  # in the order in which they were claimed
        self._folder = folder
        self._path: Path | None = None
        self._descriptor = -1

    def replace(self, ids: Sequence[str]) -> None:
        """Claim exactly these ids. A new file takes the place of the old one, which stays if the disk is full."""
        if [*ids] == [*self.ids]:
            return
        old_path, old_descriptor = self._path, self._descriptor
        if ids:
            self._path, self._descriptor = _write(self._folder, ids)
        else:
            self._path, self._descriptor = None, -1
        self.ids = dict.fromkeys(ids)
        if old_path is not None:
            with contextlib.suppress(OSError):
                old_path.unlink()
            os.close(old_descriptor)

    def others(self) -> set[str]:
        """Return what other open stores have claimed; delete the claims of processes that ended."""
        return claimed_by_others(self._folder, self._path)

    def forget(self) -> None:
        """Close the file without giving up the lock: in a forked process the claim belongs to the parent."""
        if self._path is not None:
            os.close(self._descriptor)
        self.ids, self._path, self._descriptor = {}, None, -1


def claimed_by_others(folder: Path, own: Path | None = None) -> set[str]:
    """Return the ids in all claims but `own`; delete the claims of processes that ended."""
    ids: set[str] = set()
    with os.scandir(folder) as entries:
        paths = [folder / entry.name for entry in entries if _NAME.fullmatch(entry.name)]
    for path in paths:
        if path != own:
            with contextlib.suppress(OSError):  # deleted, or of another user
                ids.update(_read_or_delete(path))
    return ids


def _write(folder: Path, ids: Sequence[str]) -> tuple[Path, int]:
    path = folder / f".claim-{secrets.token_hex(8)}"
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            try_lock(descriptor)
            content = json.dumps([*ids]).encode()
            while content:
                content = content[os.write(descriptor, content) :]
        except BaseException:
            path.unlink(missing_ok=True)
            os.close(descriptor)
            raise
    except OSError as error:
        raise BadFile(f"Cannot write {shown_path(path)}: {error.strerror or error}.") from None
    return path, descriptor


def _read_or_delete(path: Path) -> Iterator[str]:
    # The name may be a link or a pipe of another user: links are not followed, and pipes are not waited for.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return
        free = try_lock(descriptor)
        if free:
            path.unlink()
        elif free is False:  # where there are no locks, nothing says whether its process lives: it is ignored
            with contextlib.suppress(ValueError, RecursionError):
                ids = json.loads(file.read(_LONGEST))
                yield from (each for each in ids if isinstance(each, str)) if isinstance(ids, list) else ()
