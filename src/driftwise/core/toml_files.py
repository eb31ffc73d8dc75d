"""Reading of TOML files, with errors in one line."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from driftwise.core.errors import BadFile
from driftwise.core.file_names import shown_path

__all__ = ["read_toml"]

_MOST_BYTES = 2**20  # of a file


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """Return the tables of a TOML file and its text."""
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise BadFile(f"Cannot read {shown_path(path)}: {error.strerror}.") from None
    if len(content) > _MOST_BYTES:
        raise BadFile(f"{shown_path(path)} is longer than the {_MOST_BYTES} bytes that a spec may have.")
    try:
        text = content.decode()
        return tomllib.loads(text), text
    except RecursionError:
        raise BadFile(f"{shown_path(path)} cannot be read: its TOML is nested too deeply.") from None
    except ValueError as error:  # not UTF-8, not TOML, or a number of more than 4,300 digits
        raise BadFile(f"{shown_path(path)} is not TOML: {str(error).rstrip('.')}.") from None
