"""Files appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from driftwise.core.errors import BadFile

__all__ = ["write_atomically"]


def write_atomically(path: str | os.PathLike[str], write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary file beside `path`, flush it to disk, and rename it into place."""
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # The suffix stays last: some writers choose their format by it.
        handle, name = tempfile.mkstemp(prefix=f".{target.stem}.", suffix=target.suffix, dir=target.parent)
    except OSError as error:
        raise BadFile(f"Cannot write {target}: {error.strerror}.") from None
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except OSError as error:
        raise BadFile(f"Cannot write {target}: {error.strerror or error}.") from None
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    # There is no way to read the mask but to set it.
    mask = os.umask(0)
    os.umask(mask)
    return mask
