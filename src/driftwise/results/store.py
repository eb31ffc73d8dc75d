"""A folder of finished cells, which several processes may fill at once and which no killed process can damage."""

from __future__ import annotations

import contextlib
import os
import threading
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

import numpy as np

from driftwise.core.errors import BadFile, rejection
from driftwise.core.file_locks import locked
from driftwise.core.file_names import shown_path
from driftwise.core.files import check_writable
from driftwise.results.cell_table import CellTable
from driftwise.results.cells import CellRecord
from driftwise.results.machine import Machine, this_machine
from driftwise.results.manifest import read_manifest, update_manifest
from driftwise.results.parquet_columns import arrow
from driftwise.results.stored_files import DamagedFile, StoredFiles
from driftwise.results.work_claims import WorkClaim

__all__ = ["Store"]


class Store:
    """A folder of finished cells.

    Threads and processes may share a folder. Whatever is killed, each cell that was added is there, once.

    Parameters
    ----------
    folder : path
        Made if it is missing. Files in it are Parquet, one row per cell and marked round.

    Examples
    --------
    >>> import tempfile
    >>> from driftwise.results import CellRecord
    >>> cell = CellRecord("0" * 32, "{}", "{}", 2, 100, 0, 0, "dynamic", "weights", "pseudo", [100], [1.5], [9.0])
    >>> with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
    ...     store.add([cell]), store.add([cell]), store.table().final
    (1, 0, array([1.5]))
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        if not isinstance(folder, str | os.PathLike) or not isinstance(os.fspath(folder), str):
            raise rejection(self, "folder", "the name of a folder", folder)
        arrow("A store of results")  # raises if the library is missing
        self.folder = Path(folder)
        self._manifest = self.folder / "manifest.json"
        check_writable(self._manifest)  # this also deletes abandoned temporary files
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadFile(f"Cannot make the folder {shown_path(folder)}: {error.strerror or error}.") from None
        self._files = StoredFiles(self.folder)
        self._claim = WorkClaim(self.folder)
        self._threads = threading.Lock()
        self._machines: set[str] = set()  # those in the manifest
        with self._locked():
            update_manifest(self._manifest)
            self._claim.others()  # deletes those of processes that ended
            self._files.refresh()
            self._files.labels = self.labels()
        _open_stores.add(self)

    @property
    def keys(self) -> Set[str]:
        """The keys of the stored cells, as of the last refresh; it is not a copy."""
        return self._files.keys

    @property
    def failed(self) -> Set[str]:
        """The keys of the cells that were stored with an error."""
        return self._files.failed

    @property
    def damaged(self) -> Sequence[DamagedFile]:
        """The files that this process moved to the folder `damaged`, with the reason; their cells are missing."""
        return tuple(self._files.damaged)

    def refresh(self) -> None:
        """Take notice of what other processes stored."""
        with self._locked():
            self._files.refresh()

    def table(self) -> CellTable:
        """Return all cells, in no particular order."""
        with self._locked():
            self._files.refresh()
            return self._files.table()

    def add(self, records: Iterable[CellRecord] | CellTable, machines: Iterable[Machine] = ()) -> int:
        """Store cells and the machines that played them; return how many cells were new.

        When it returns, they are on the disk. Without `machines`, this machine played them.
        """
        table = records if isinstance(records, CellTable) else CellTable.from_records(records)
        keys = table.keys()
        if "" in keys:
            raise rejection(self, "key", "32 hex digits in each cell", "")
        with self._locked():
            self._files.refresh()
            new, seen = np.zeros(len(keys), np.bool_), set()
            for i, key in enumerate(keys):
                new[i] = key not in self._files.keys and key not in seen
                seen.add(key)
            if new.any():
                facts = {machine.id: machine.facts for machine in (*machines,) or (this_machine(),)}
                if not facts.keys() <= self._machines:
                    update_manifest(self._manifest, machines=facts)
                    self._machines |= facts.keys()
                self._files.write(table.select(new).stored_at(time.time_ns() // 1000))
                with contextlib.suppress(OSError):  # the cells are stored; the next call tries again
                    self._files.merge()
        return int(new.sum())

    def discard(self, keys: Iterable[str]) -> None:
        """Remove cells, for example those that failed, so that they can be played again."""
        unwanted = _texts(self, "keys", keys)
        with self._locked():
            self._files.refresh()
            self._files.discard(unwanted)

    def compact(self) -> None:
        """Merge all small files."""
        with self._locked():
            self._files.refresh()
            self._files.merge(everything=True)

    def claim(self, wanted: Sequence[str], most: int) -> list[str]:
        """Claim the first `most` ids of `wanted` that no other open store holds, and return them.

        The keys are refreshed first, and those of stored cells are not claimed.
        """
        wanted = [*_texts(self, "wanted", wanted)]
        if type(most) is not int or most < 0:
            raise rejection(self, "most", "a whole number >= 0", most)
        with self._locked():
            self._files.refresh()
            taken = self._claim.others()
            granted = [each for each in wanted if each not in taken and each not in self._files.keys][:most]
            self._claim.replace([*dict.fromkeys([*self._claim.ids, *granted])])
            return granted

    def release(self, ids: Iterable[str]) -> None:
        """Give up claims; ids that are not held are ignored."""
        given_up = _texts(self, "ids", ids)
        with self._locked():
            self._claim.replace([each for each in self._claim.ids if each not in given_up])

    def label(self, environments: Mapping[str, str] | None = None, learners: Mapping[str, str] | None = None) -> None:
        """Record labels of specs (as JSON text) in the manifest, for people and for reports."""
        sections = {"environments": dict(environments or {}), "learners": dict(learners or {})}
        for name, labels in sections.items():
            _texts(self, name, [*labels, *labels.values()])
        with self._locked():
            update_manifest(self._manifest, **sections)
            self._files.labels = self.labels()

    def labels(self) -> dict[str, dict[str, str]]:
        """Return the labels of specs, under "environments" and "learners"."""
        manifest = read_manifest(self._manifest)
        return {name: manifest[name] for name in ("environments", "learners")}

    def close(self) -> None:
        """Give up all claims."""
        with self._locked():
            self._claim.replace([])

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            with self._threads, locked(self.folder / "lock"):
                yield
        except BadFile:
            raise
        except OSError as error:
            raise BadFile(f"Cannot use the store {shown_path(self.folder)}: {error.strerror or error}.") from None

    def _after_fork(self) -> None:
        self._threads = threading.Lock()
        self._claim.forget()


def _texts(store: Store, name: str, texts: Iterable[str]) -> dict[str, None]:
    """Return distinct texts in their order; reject anything else, and text that cannot be written as UTF-8."""
    given = [texts] if isinstance(texts, str) or not isinstance(texts, Iterable) else [*texts]
    if isinstance(texts, str) or not all(isinstance(text, str) for text in given):
        raise rejection(store, name, "a list of texts", texts if isinstance(texts, str) else given)
    try:
        "".join(given).encode()
    except UnicodeEncodeError:
        raise rejection(store, name, "valid Unicode", given) from None
    return dict.fromkeys(given)


_open_stores: weakref.WeakSet[Store] = weakref.WeakSet()


def _after_fork() -> None:
    for store in _open_stores:
        store._after_fork()


os.register_at_fork(after_in_child=_after_fork)
