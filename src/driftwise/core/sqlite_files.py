"""SQLite files that are not trusted: no link is followed, the schema runs no functions, and pages are checked."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from driftwise.core.files import require_regular


def connect(path: Path, mode: str, patience: float, salvage: bool = False) -> sqlite3.Connection:
    """Open a file and wait so many seconds for locks; text that is not UTF-8 is kept."""
    address = f"{path.absolute().as_uri()}?mode={mode}"
    db = sqlite3.connect(address, patience, isolation_level=None, check_same_thread=False, uri=True)
    db.text_factory = lambda content: content.decode(errors="surrogateescape")
    if salvage:  # else SQLite reads nothing of a file that is cut short
        db.execute("PRAGMA writable_schema = ON")
    for setting in ("trusted_schema = OFF", "cell_size_check = ON", "synchronous = EXTRA"):
        db.execute(f"PRAGMA {setting}")
    return db


def journal(path: Path) -> Path:
    """Return the path of the journal that SQLite keeps beside a file."""
    return path.with_name(f"{path.name}-journal")


def require_regular_files(path: Path) -> None:
    """Raise `BadFile` for a link or a pipe in the place of a file: SQLite would follow it, or wait for ever."""
    for suffix in ("", "-journal", "-wal", "-shm"):
        require_regular(path.with_name(path.name + suffix))
