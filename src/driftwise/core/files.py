"""Files appear whole or not at all."""

from __future__ import annotations

import os
import secrets
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
