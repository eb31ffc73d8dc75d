"""The hidden folder of a run in its output folder: locked, so that two processes cannot write to the same place."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from driftwise.core.errors import BadFile, InvalidInput
from driftwise.core.file_locks import try_lock
from driftwise.core.file_names import shown_path
from driftwise.core.files import flush_folder

__all__ = ["CHECKPOINT", "PartialFolder", "partial_folder"]

_NAME = ".driftwise-partial"
_LOCK = "lock"
CHECKPOINT = "checkpoint.npz"


class PartialFolder:
    """The files of an unfinished run."""

    def __init__(self, out: Path, path: Path) -> None:
        self.out, self.path = out, path

    @property
    def checkpoint(self) -> Path:
        """The file of the last checkpoint."""
        return self.path / CHECKPOINT

    def is_empty(self) -> bool:
        """Return whether no run left files here."""
        return not self._files()

    def clear(self) -> None:
        """Delete the files of an earlier run, the checkpoint first: without it, no run continues from the others."""
        self.checkpoint.unlink(missing_ok=True)
        for path in self._files():
            path.unlink(missing_ok=True)

    def put(self, name: str, target: Path) -> None:
        """Move a finished file to its final name."""
        (self.path / name).replace(target)
        flush_folder(target.parent)

    def remove(self) -> None:
        """Delete the folder; the lock is held until the end."""
        self.clear()
        (self.path / _LOCK).unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # another process may be waiting for the lock
            self.path.rmdir()

    def _files(self) -> list[Path]:
        return [path for path in self.path.iterdir() if path.name != _LOCK and not path.is_dir()]


@contextlib.contextmanager
def partial_folder(out: Path) -> Iterator[PartialFolder]:
    """Create the hidden folder in the output folder `out` and lock it; folders that stay empty are deleted."""
    path = out / _NAME
    created = [folder for folder in (out, *out.parents) if not folder.exists()]
    try:
        descriptor = _locked(out, path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise BadFile(f"Cannot write to {shown_path(out)}: {reason}.") from None
    try:
        yield PartialFolder(out, path)
    finally:
        try:
            _delete_empty(path, created)
        finally:
            os.close(descriptor)


def _delete_empty(path: Path, created: Sequence[Path]) -> None:
    """Delete the hidden folder, and those that were created with it, if nothing is in them."""
    with contextlib.suppress(OSError):
        if [*path.iterdir()] == [path / _LOCK]:
            (path / _LOCK).unlink()
            path.rmdir()
    with contextlib.suppress(OSError):
        for folder in created:
            folder.rmdir()


def _locked(out: Path, path: Path) -> int:
    while True:
        path.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        except OSError as error:
            if error.errno == errno.ENOENT:  # another process has just deleted the folder
                continue
            raise
        if try_lock(descriptor) is False:
            os.close(descriptor)
            raise InvalidInput(f"combine: another process is writing to {shown_path(out)}; give another --out.")
        if os.fstat(descriptor).st_nlink:  # else the other process has deleted the file it had locked
            return descriptor
        os.close(descriptor)
