"""The cells of a folder as they are now, read without changing anything in it.

Another process may be filling the folder. Nothing is locked, so it does not wait. A file never changes, and files that
are merged are deleted after the merged file is there: if a listed file is gone, the folder is listed again.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from driftwise.core.errors import BadFile
from driftwise.core.file_names import shown_path
from driftwise.results.cell_files import NewerFormat
from driftwise.results.cell_table import CellTable
from driftwise.results.manifest import read_manifest
from driftwise.results.parquet_columns import arrow
from driftwise.results.stored_files import DamagedFile, is_stored_name, parse_stored

__all__ = ["Snapshot", "read_store"]

_MOST_TRIES = 100  # a folder that changes during each of so many listings is read as far as it was seen
_MANIFEST = "manifest.json"


class Snapshot(NamedTuple):
    """The cells and labels of a store, and the files that could not be read; they were left where they are."""

    table: CellTable
    labels: dict[str, dict[str, str]]
    damaged: tuple[DamagedFile, ...]


def read_store(folder: str | os.PathLike[str]) -> Snapshot:
    """Return what a folder of finished cells has now; the folder may be on a disk that is read-only."""
    arrow("A store of results")
    folder = Path(folder)
    tables: dict[str, CellTable] = {}
    replaced: set[str] = set()
    damaged: dict[str, DamagedFile] = {}
    names: set[str] = set()
    for _ in range(_MOST_TRIES):
        before, names = names, _listed(folder)
        for name in sorted(names - tables.keys() - damaged.keys() - replaced):
            try:
                tables[name], replaces = parse_stored((folder / name).read_bytes(), name)
                replaced.update(replaces)
            except FileNotFoundError:
                continue
            except NewerFormat:
                raise
            except OSError as error:  # `BadFile` is one
                reason = str(error) if isinstance(error, BadFile) else f"{error.strerror or error}."
                damaged[name] = DamagedFile(name, reason)
        if names == before and names <= tables.keys() | damaged.keys() | replaced:
            break
    if not names and not (folder / _MANIFEST).is_file():
        raise BadFile(f"{shown_path(folder)} is no folder of results: it has no manifest.json and no files of cells.")
    current = [tables[name] for name in sorted(names & tables.keys() - replaced)]
    return Snapshot(CellTable.concatenate(current), _labels(folder), tuple(damaged[n] for n in sorted(damaged)))


def _listed(folder: Path) -> set[str]:
    try:
        with os.scandir(folder) as entries:
            return {entry.name for entry in entries if is_stored_name(entry.name) and entry.is_file()}
    except OSError as error:
        raise BadFile(f"Cannot read the folder {shown_path(folder)}: {error.strerror or error}.") from None


def _labels(folder: Path) -> dict[str, dict[str, str]]:
    manifest = read_manifest(folder / _MANIFEST)
    return {name: manifest[name] for name in ("environments", "learners")}
