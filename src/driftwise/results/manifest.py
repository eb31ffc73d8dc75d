"""The manifest of a store: its format, the machines that played its cells, and labels chosen by users.

It is for people. The cells are complete without it, so a manifest that cannot be read is replaced by a new one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from driftwise.core.errors import BadFile, shown
from driftwise.core.file_names import shown_path
from driftwise.core.files import write_atomically
from driftwise.core.spec_text import is_unicode

__all__ = ["FORMAT", "SECTIONS", "read_manifest", "update_manifest"]

FORMAT = 1
SECTIONS = ("machines", "environments", "learners")


def read_manifest(path: Path) -> dict[str, Any]:
    """Return the sections of a manifest, empty ones if there is none; raise if it is of a newer format.

    Labels that are no text are left out, and so are machines whose facts are no texts.
    """
    try:
        manifest = json.loads(path.read_bytes())
        version = manifest["format"]
    except FileNotFoundError:
        return {name: {} for name in SECTIONS}
    except OSError as error:
        raise BadFile(f"Cannot read {shown_path(path)}: {error.strerror or error}.") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        return {name: {} for name in SECTIONS}
    if type(version) is int and version > FORMAT:
        raise BadFile(
            f"{shown_path(path)} has store format {shown(version)}; this version reads format {FORMAT}."
            " Install a newer driftwise."
        )
    return {name: _entries(manifest.get(name), _is_facts if name == "machines" else _is_text) for name in SECTIONS}


def _entries(section: Any, is_valid: Callable[[Any], bool]) -> dict[str, Any]:
    """Return the entries of a section that can be used and written again."""
    entries = section.items() if isinstance(section, dict) else ()
    return {key: value for key, value in entries if is_unicode(key) and is_valid(value)}


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and is_unicode(value)


def _is_facts(value: Any) -> bool:
    return isinstance(value, dict) and all(is_unicode(name) and _is_text(fact) for name, fact in value.items())


def update_manifest(path: Path, **sections: Mapping[str, Any]) -> None:
    """Add entries to sections of a manifest; the caller holds the lock of the store."""
    before = read_manifest(path)
    after = {name: {**before[name], **sections.get(name, {})} for name in SECTIONS}
    if after != before or not path.exists():
        text = json.dumps({"format": FORMAT, **after}, indent=2, sort_keys=True, ensure_ascii=False)
        write_atomically(path, lambda file: file.write_text(text + "\n", encoding="utf-8"))
