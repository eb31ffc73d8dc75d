"""The files of a store: reading, writing, replacing. The caller holds the lock of the store.

A file never changes; its name has a digest of its content. A file that takes the place of others names them in its
header: it is written first, then they are deleted, and if the process ends in between, the next one deletes them.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from driftwise.core.errors import BadFile
from driftwise.core.file_names import shown_path
from driftwise.core.files import write_bytes_atomically
from driftwise.results.cell_files import NewerFormat, cell_bytes, parse_cells
from driftwise.results.cell_table import CellTable
from driftwise.results.merging import FileSize, next_merge

__all__ = ["DamagedFile", "StoredFiles", "is_stored_name", "parse_stored", "stored_name"]

_NAME_DIGITS = 16
_NAME = re.compile(rf"cells-[0-9a-f]{{{_NAME_DIGITS}}}\.parquet")
_MOST_KEPT = 256 << 20  # bytes of tables kept in memory; others are read again


class DamagedFile(NamedTuple):
    """A file that could not be read, and why."""

    name: str
    reason: str


class _File(NamedTuple):
    keys: Any  # array of bytes
    failed: frozenset[str]
    n_bytes: int
    replaces: tuple[str, ...]
    table: CellTable | None


class StoredFiles:
    """The files of a folder, as this process knows them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.keys: set[str] = set()
        self.failed: set[str] = set()
        self.damaged: list[DamagedFile] = []
        self.labels: Mapping[str, Mapping[str, str]] = {}  # for other programs that read the files
        self._files: dict[str, _File] = {}
        self._kept = 0

    def refresh(self) -> None:
        """Read files that are new, forget those that are gone, and delete those that were replaced."""
        names = self._listed()
        added = {}
        for name in sorted(names - self._files.keys() - self._replaced(self._files)):
            try:
                file = self._read(name)
            except FileNotFoundError:  # another process merged it, where the file system has no locks
                return self.refresh()
            if file is not None:
                added[name] = file
        gone = self._files.keys() - names
        if added or gone or self._replaced(self._files) & names:
            self._change(added, gone, names)

    def write(self, table: CellTable, replaced: Iterable[str] = ()) -> None:
        """Write cells to a new file, then delete the files that it replaces."""
        replaced = list(replaced)
        left = [name for old in replaced for name in self._files[old].replaces if (self.folder / name).exists()]
        replaces = sorted({*replaced, *left})
        if len(table):
            content = cell_bytes(table, {"replaces": replaces}, self.labels)
            name = stored_name(content)
            write_bytes_atomically(self.folder / name, content)
            self._change({name: self._known(table, len(content), replaces)}, set(), set(replaces))
        else:
            for path in (self.folder / name for name in replaces):
                path.unlink(missing_ok=True)
            self._change({}, set(replaced), set())

    def merge(self, everything: bool = False) -> None:
        """Merge small files; each merge is complete in itself."""
        while sources := next_merge(self._sizes(), everything):
            self.write(_distinct([*self._tables(sources)]), sources)

    def discard(self, keys: Container[str]) -> None:
        """Remove cells, file by file."""
        for name, file in [*self._files.items()]:
            kept = np.array([key.decode() not in keys for key in file.keys.tolist()], np.bool_)
            if not kept.all():
                self.write(next(self._tables([name])).select(kept), [name])

    def table(self) -> CellTable:
        """Return all cells. A key in two files counts once, without an error if one of them has none."""
        return _distinct([*self._tables(sorted(self._files))])

    def _listed(self) -> set[str]:
        with os.scandir(self.folder) as entries:
            return {entry.name for entry in entries if _NAME.fullmatch(entry.name) and entry.is_file()}

    def _sizes(self) -> Iterator[FileSize]:
        return (FileSize(name, len(file.keys), file.n_bytes) for name, file in self._files.items())

    def _tables(self, names: Iterable[str]) -> Iterator[CellTable]:
        for name in names:
            table = self._files[name].table
            yield parse_cells(self._content(name), self.folder / name)[0] if table is None else table

    def _content(self, name: str) -> bytes:
        try:
            return (self.folder / name).read_bytes()
        except FileNotFoundError:
            raise
        except OSError as error:
            raise BadFile(f"Cannot read {shown_path(self.folder / name)}: {error.strerror or error}.") from None

    def _read(self, name: str) -> _File | None:
        """Return a file, None if it is damaged; then it is moved aside."""
        content = self._content(name)
        try:
            table, replaces = parse_stored(content, name)
        except NewerFormat:
            raise
        except BadFile as error:
            self._move_aside(name, str(error))
            return None
        return self._known(table, len(content), replaces)

    def _known(self, table: CellTable, n_bytes: int, replaces: list[str]) -> _File:
        keep = self._kept + table.nbytes <= _MOST_KEPT
        self._kept += table.nbytes if keep else 0
        failed = [key.decode() for key in table.cells["key"][table.failed].tolist()]
        keys = table.cells["key"].copy()
        return _File(keys, frozenset(failed), n_bytes, tuple(replaces), table if keep else None)

    def _change(self, added: dict[str, _File], gone: set[str], there: set[str]) -> None:
        """Take files into account; of those that are `there`, delete the replaced ones."""
        replaced = self._replaced({**self._files, **added})
        for name in replaced & there:
            self._delete(name)
        added = {name: file for name, file in added.items() if name not in replaced}
        removed = [self._files.pop(name) for name in {*gone, *replaced} & self._files.keys()]
        self._kept -= sum(file.table.nbytes for file in removed if file.table is not None)
        self._files.update(added)
        new = {key.decode() for file in added.values() for key in file.keys.tolist()}
        old = {key.decode() for file in removed for key in file.keys.tolist()}
        self.keys |= new  # first, because other threads may be looking
        self.keys -= old - new
        self.failed = set().union(*(file.failed for file in self._files.values()))
        if len(self.keys) != sum(len(file.keys) for file in self._files.values()):  # a key is in two files
            by_file = [({key.decode() for key in file.keys.tolist()}, file.failed) for file in self._files.values()]
            self.keys = set().union(*(keys for keys, _ in by_file))
            self.failed -= set().union(*(keys - failed for keys, failed in by_file))

    @staticmethod
    def _replaced(files: dict[str, _File]) -> set[str]:
        return {name for file in files.values() for name in file.replaces}

    def _delete(self, name: str) -> None:
        with contextlib.suppress(OSError):  # it is named by a valid file, so a later process can delete it
            (self.folder / name).unlink()

    def _move_aside(self, name: str, reason: str) -> None:
        target = self.folder / "damaged" / name
        try:
            target.parent.mkdir(exist_ok=True)
            (self.folder / name).rename(target)
        except FileNotFoundError:
            return
        except OSError as error:
            raise BadFile(f"Cannot move {shown_path(self.folder / name)} aside: {error.strerror or error}.") from None
        self.damaged.append(DamagedFile(name, reason))


def is_stored_name(name: str) -> bool:
    """Return whether a file of a store has such a name."""
    return _NAME.fullmatch(name) is not None


def stored_name(content: bytes) -> str:
    """Return the name of a file with this content: a digest, which shows damage in columns that are not loaded too."""
    return f"cells-{hashlib.sha256(content).hexdigest()[:_NAME_DIGITS]}.parquet"


def parse_stored(content: bytes, name: str) -> tuple[CellTable, list[str]]:
    """Return the cells in the content of a file, and the names of the files that it replaces."""
    table, extra = parse_cells(content, name)
    if name != stored_name(content):
        raise BadFile(f"{name} is damaged: its content does not have the digest in its name.")
    replaces = extra.get("replaces", [])
    if not isinstance(replaces, list) or not all(isinstance(n, str) and is_stored_name(n) for n in replaces):
        raise BadFile(f"{name} names no files that it replaces.")
    if len(table) and (table.cells["key"] == b"").any():
        raise BadFile(f"{name} is not a file of a store.")
    return table, replaces


def _distinct(tables: list[CellTable]) -> CellTable:
    """Return the cells of all tables, each key once."""
    table = CellTable.concatenate(tables)
    if len(set(table.cells["key"].tolist())) == len(table):
        return table
    order = np.argsort(table.failed, kind="stable")  # cells without an error come first
    _, first = np.unique(table.cells["key"][order], return_index=True)
    mask = np.zeros(len(table), np.bool_)
    mask[order[first]] = True
    return table.select(mask)
