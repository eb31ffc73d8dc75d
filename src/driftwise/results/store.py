"""A store of finished cells: a folder with one SQLite file, which several processes may fill and no kill can damage.

Its table `cells` has one row per cell, with a digest; its view `results` joins the texts, each of which is kept once.

All writing is done under a lock on the file `lock` of the folder, one process at a time, so nobody waits for SQLite's
own lock, whose waiting is not fair. The journal is the rollback journal, not the write-ahead log: versions of SQLite
before 3.51.3 can damage the latter when several connections write it back, it needs shared memory, which network file
systems lack, and it leaves the newest cells in a second file.

Nothing in the file is trusted. Rows whose digest does not agree, and those that SQLite cannot read, are left out; a
store that is opened for writing then copies the others to a new file and keeps the old one in the folder `damaged`.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import itertools
import json
import os
import re
import secrets
import shutil
import sqlite3
import stat
import tempfile
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

import numpy as np

from driftwise.core.errors import BadFile, rejection
from driftwise.core.files import check_writable, locked, shown_path, try_lock, write_atomically
from driftwise.core.fork_locks import fork_lock
from driftwise.core.sqlite_files import connect, journal, require_regular_files
from driftwise.core.types import Flags
from driftwise.registry import is_unicode
from driftwise.results.cells import CELL, COUNTS, REALS, TEXTS, CellRecord, CellTable, Machine, first_fault

T = TypeVar("T")
FILE = "cells.sqlite"
_FORMAT = 1
_APPLICATION = int.from_bytes(b"drfw", "big")  # the mark of the program in the head of an SQLite file
_PATIENCE = 60.0  # seconds to wait for readers of the file
_LABELS = ("environments", "learners")
_NUMBERS = (*COUNTS, *REALS)
_ROW = ("key", "failed", "regret", "bound", *_NUMBERS, *TEXTS, "digest", "curve")
_CHUNK = 1 << 14  # rows that are read at once
_ROWS_A_PAGE = 64  # more than there are: so many ids in a damaged table may have no row before the rest is given up
_MISSING = "\0"  # in the place of a text that cannot be read: no digest agrees with it
_POINT = 24  # bytes of a point of a curve: round, regret, bound
_SCHEMA = f"""
CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE cells (
  id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL, failed INTEGER NOT NULL, regret REAL, bound REAL,
  {", ".join(f"{name} INTEGER NOT NULL" for name in COUNTS)}, {", ".join(f"{name} REAL" for name in REALS)},
  {", ".join(f"{name} INTEGER NOT NULL REFERENCES texts" for name in TEXTS)}, digest INTEGER NOT NULL,
  curve BLOB NOT NULL
);
CREATE TABLE labels (section TEXT, spec TEXT, label TEXT NOT NULL, PRIMARY KEY (section, spec));
CREATE TABLE machines (id TEXT PRIMARY KEY, facts TEXT NOT NULL);
CREATE TABLE facts (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
CREATE VIEW results AS SELECT
  key, coalesce(e.label, t_environment.text) AS environment, coalesce(l.label, t_learner.text) AS learner,
  n_rounds, seed, run, regret, bound, nullif(t_error.text, '') AS error, t_comparator.text AS comparator,
  t_play.text AS play, t_kind.text AS kind, n_actions, nullif(segments, 0) AS segments, {", ".join(REALS)},
  nullif(t_caveat.text, '') AS caveat, t_machine.text AS machine,
  strftime('%Y-%m-%dT%H:%M:%fZ', stored / 1e6, 'unixepoch') AS stored,
  t_environment.text AS environment_spec, t_learner.text AS learner_spec
FROM cells
  {" ".join(f"JOIN texts AS t_{name} ON t_{name}.id = cells.{name}" for name in TEXTS)}
  LEFT JOIN labels AS e ON e.section = 'environments' AND e.spec = t_environment.text
  LEFT JOIN labels AS l ON l.section = 'learners' AND l.spec = t_learner.text;
INSERT INTO facts VALUES ('format', {_FORMAT}), ('removals', 0);
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_FORMAT};
"""
_INSERT = f"INSERT INTO cells ({', '.join(_ROW)}) VALUES ({', '.join('?' * len(_ROW))})"
_WITHOUT_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)
_NO_LOCKS = "its file system has no locks, as some network file systems; use a folder on a local disk"
_CLAIM = re.compile(r"\.claim-[0-9a-f]{16}")
_LONGEST_CLAIM = 1 << 26  # bytes


class DamagedFile(NamedTuple):
    """A file that could not be read completely, and why."""

    name: str
    reason: str


class Snapshot(NamedTuple):
    """What could be read of a store; `fault` is "" if that is everything."""

    table: CellTable
    labels: dict[str, dict[str, str]]
    machines: Sequence[tuple[str, ...]] = ()  # ids and facts
    fault: str = ""

    @property
    def damaged(self) -> tuple[DamagedFile, ...]:
        """The file of the store if it is damaged, with the reason."""
        return (DamagedFile(FILE, f"{self.fault}; its other cells were read."),) if self.fault else ()


class Store:
    """A folder of finished cells.

    Threads and processes may share a folder. Whatever is killed, each cell that was added is there, once.

    Parameters
    ----------
    folder : path
        Made if it is missing. Its file `cells.sqlite` has one row per cell, for any program that reads SQLite. The
        folder may be a link; a link or a pipe in the place of one of its files is refused.

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
        self.folder = Path(folder)
        self._path = self.folder / FILE
        check_writable(self._path)  # this also deletes abandoned temporary files
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadFile(f"Cannot make the folder {shown_path(folder)}: {error.strerror or error}.") from None
        self._threads = fork_lock()  # SQLite's record of its locks must not be copied while it changes
        self._db: sqlite3.Connection | None = None
        self._opened: os.stat_result  # of the open file: another process may have replaced it
        self._keys: set[str] = set()
        self._failed: set[str] = set()
        self._last, self._removals = 0, 0  # the last row and the number of removals that the keys reflect
        self._damaged: list[DamagedFile] = []
        self._claim = _Claim(self.folder)
        self._locked(lambda _: self._claim.others())  # deletes those of processes that ended
        _open_stores.add(self)

    @property
    def keys(self) -> Set[str]:
        """The keys of the stored cells, as of the last refresh; it is not a copy."""
        return self._keys

    @property
    def failed(self) -> Set[str]:
        """The keys of the cells that were stored with an error."""
        return self._failed

    @property
    def damaged(self) -> Sequence[DamagedFile]:
        """What this process moved to the folder `damaged`, with the reason; the cells lost with it are missing."""
        return tuple(self._damaged)

    def refresh(self) -> None:
        """Take notice of what other processes stored."""
        self._locked(lambda _: None)

    def table(self) -> CellTable:
        """Return all cells, in no particular order; those whose digests do not agree are removed."""

        def read(db: sqlite3.Connection) -> CellTable:
            content = _read(db)
            if content.fault:
                raise _DamagedStore(content.fault)
            _check(content.table, self._path)
            return content.table

        return self._locked(read)

    def add(self, records: Iterable[CellRecord] | CellTable, machines: Iterable[Machine] = ()) -> int:
        """Store cells and the machines that played them; return how many cells were new.

        When it returns, they are on the disk. Without `machines`, this machine played them.
        """
        table = records if isinstance(records, CellTable) else CellTable.from_records(records)
        keys = table.keys()
        if "" in keys:
            raise rejection(self, "key", "32 hex digits in each cell", "")
        if table is records and (fault := first_fault(table)) is not None:
            raise rejection(self, *fault)
        first = {key: i for i, key in reversed([*enumerate(keys)])}
        facts = {machine.id: json.dumps(machine.facts) for machine in (*machines,) or (Machine.here(),)}

        def write(db: sqlite3.Connection) -> int:
            new = sorted(i for key, i in first.items() if key not in self._keys)
            if new:
                with db:  # commits, or rolls back after an error
                    db.execute("BEGIN IMMEDIATE")
                    _insert(db, table.take(np.array(new)).stored_at(time.time_ns() // 1000))
                    db.executemany("INSERT OR REPLACE INTO machines VALUES (?, ?)", facts.items())
                self._refresh(db)
            return len(new)

        return self._locked(write)

    def discard(self, keys: Iterable[str]) -> None:
        """Remove cells, for example those that failed, so that they can be played again."""
        unwanted = _texts(self, "keys", keys)

        def remove(db: sqlite3.Connection) -> None:
            if self._keys.isdisjoint(unwanted):
                return
            with db:  # commits, or rolls back after an error
                db.execute("BEGIN IMMEDIATE")
                ids = [(id,) for id, key in db.execute("SELECT id, key FROM cells") if key in unwanted]
                db.executemany("DELETE FROM cells WHERE id = ?", ids)
                db.execute("UPDATE facts SET value = value + 1 WHERE name = 'removals'")
            self._refresh(db)

        self._locked(remove)

    def claim(self, wanted: Sequence[str], most: int) -> list[str]:
        """Claim the first `most` ids of `wanted` that no other open store holds, and return them.

        The keys are refreshed first, and those of stored cells are not claimed.
        """
        wanted = [*_texts(self, "wanted", wanted)]
        if type(most) is not int or most < 0:
            raise rejection(self, "most", "a whole number >= 0", most)

        def take(_: sqlite3.Connection) -> list[str]:
            taken = self._claim.others()
            granted = [id for id in wanted if id not in taken and id not in self._keys][:most]
            self._claim.replace(dict.fromkeys([*self._claim.ids, *granted]))
            return granted

        return self._locked(take)

    def release(self, ids: Iterable[str]) -> None:
        """Give up claims; ids that are not held are ignored."""
        given_up = _texts(self, "ids", ids)
        self._locked(lambda _: self._claim.replace({id: None for id in self._claim.ids if id not in given_up}))

    def label(self, environments: Mapping[str, str] | None = None, learners: Mapping[str, str] | None = None) -> None:
        """Record labels of specs (as JSON text), for people and for reports."""
        sections = dict(zip(_LABELS, (environments or {}, learners or {}), strict=True))
        for name, labels in sections.items():
            _texts(self, name, [*labels, *labels.values()])
        rows = {(name, spec, label) for name, labels in sections.items() for spec, label in labels.items()}

        def write(db: sqlite3.Connection) -> None:
            if new := rows - {*db.execute("SELECT section, spec, label FROM labels")}:
                with db:  # commits, or rolls back after an error
                    db.execute("BEGIN IMMEDIATE")
                    db.executemany("INSERT OR REPLACE INTO labels VALUES (?, ?, ?)", sorted(new))

        self._locked(write)

    def labels(self) -> dict[str, dict[str, str]]:
        """Return the labels of specs, under "environments" and "learners"."""
        return self._locked(_read_labels)

    def close(self) -> None:
        """Give up all claims and close the file."""
        with self._threads:
            self._claim.replace({})
            self._disconnect()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _locked(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do some work as the only process that writes, with fresh keys; a damaged file is replaced, once."""
        try:
            with self._threads, locked(self.folder / "lock"):
                try:
                    try:
                        return work(self._connected())
                    except sqlite3.DatabaseError as error:
                        self._replace(_damage(error))
                        return work(self._connected())
                except sqlite3.Error:
                    self._disconnect()  # whatever is half done is rolled back
                    raise
        except BadFile:
            raise
        except sqlite3.Error as error:
            busy = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
            reason = f"another program keeps reading {FILE} ({error})" if busy else f"{FILE}: {error}"
        except OSError as error:
            name = Path(error.filename2 or error.filename or "lock").name  # only errors of locks have no name
            reason = _NO_LOCKS if error.errno in _WITHOUT_LOCKS else f"{shown_path(name)}: {error.strerror or error}"
        raise BadFile(f"Cannot use the store {shown_path(self.folder)}: {reason}.")

    def _connected(self) -> sqlite3.Connection:
        """Return the connection; open the file if it is not open, or is another one than before."""
        require_regular_files(self._path)
        with contextlib.suppress(FileNotFoundError):
            if self._db is not None and os.path.samestat(self._path.stat(), self._opened):
                self._refresh(self._db)
                return self._db
        self._disconnect()
        if not self._path.exists() or not self._path.stat().st_size:
            journal(self._path).unlink(missing_ok=True)  # it would be played back into the new file
            _write(self._path, Snapshot(CellTable.concatenate([]), {}))
        db = _connect(self._path, "rw")
        try:
            db.execute("PRAGMA journal_mode = DELETE")
            _check_schema(db, self._path)
            self._opened = self._path.stat()
            self._keys.clear()
            self._failed.clear()
            self._last = self._removals = 0
            self._refresh(db)
        except BaseException:
            db.close()
            raise
        self._db = db
        return db

    def _disconnect(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def _refresh(self, db: sqlite3.Connection) -> None:
        removals = dict(db.execute("SELECT name, value FROM facts")).get("removals")
        if type(removals) is not int:
            raise _DamagedStore("it does not count removals")
        first = self._last if removals == self._removals else 0
        rows = db.execute("SELECT id, key, failed FROM cells WHERE id > ?", (first,)).fetchall()
        ids = [first, *(id for id, _, _ in rows)]
        if not all(id < following for id, following in itertools.pairwise(ids)):  # a later cell would not be found
            raise _DamagedStore("its rows are not in order")
        if first == 0 and self._keys:
            self._keys &= {key for _, key, _ in rows}
            self._failed.clear()
        self._keys.update(key for _, key, _ in rows)
        self._failed.update(key for _, key, failed in rows if failed)
        self._last, self._removals = ids[-1], removals

    def _replace(self, fault: str) -> None:
        """Write what can be read to a new file in the place of the old one, which is kept under another name."""
        self._disconnect()
        content = _salvaged(self._path)
        _check(content.table, self._path)
        kept = self.folder / "damaged" / f"cells-{time.time_ns()}.sqlite"
        if kept.parent.is_symlink():
            raise BadFile(f"{shown_path(kept.parent)} must be a folder, got a link.")
        kept.parent.mkdir(exist_ok=True)
        shutil.copyfile(self._path, kept)
        with contextlib.suppress(FileNotFoundError):  # it would be played back into the new file
            journal(self._path).replace(journal(kept))
        _write(self._path, content)
        n_kept = len(content.table)
        reason = f"{content.fault or fault}; {n_kept} cell{'s were' if n_kept != 1 else ' was'} kept."
        self._damaged.append(DamagedFile(FILE, reason))


def read_store(folder: str | os.PathLike[str]) -> Snapshot:
    """Return what a folder of finished cells has now; nothing is changed, and a process that fills it waits."""
    path = Path(folder) / FILE
    if not path.is_file():
        raise BadFile(f"{shown_path(folder)} is no folder of results: it has no file {FILE}.")
    with fork_lock():  # a child would have a copy of SQLite's own locks
        content = _salvaged(path, read_only=True)
    _check(content.table, path)
    return content


class _DamagedStore(sqlite3.DatabaseError):
    """The content of a file breaks a rule of stores."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


def _damage(error: sqlite3.Error) -> str:
    """Return what is damaged; raise an error that has another cause."""
    codes = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)  # the last: a table is missing
    if getattr(error, "sqlite_errorcode", 0) & 0xFF not in codes:
        raise error
    return str(error)


def _connect(path: Path, mode: str, salvage: bool = False) -> sqlite3.Connection:
    """Open a file; text that is not UTF-8 is kept: its digest rejects it."""
    return connect(path, mode, _PATIENCE, salvage)


def _check_schema(db: sqlite3.Connection, path: Path) -> None:
    """Raise `BadFile` for the file of another program or format, `_DamagedStore` if this one is damaged."""
    schema = {*db.execute("SELECT name, sql FROM sqlite_schema")}
    names = {name for name, _ in schema}
    application, version = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    if application != _APPLICATION and "cells" not in names:
        raise BadFile(f"{shown_path(path)} is not a store of driftwise.")
    if "facts" in names:
        stated = dict(db.execute("SELECT name, value FROM facts")).get("format")
        if stated == version != _FORMAT:
            raise BadFile(f"{shown_path(path)} has store format {version}; this version reads format {_FORMAT}.")
    if not _expected_schema() <= schema or application != _APPLICATION or version != _FORMAT:
        raise _DamagedStore("its tables are not those of a store")
    if db.execute("PRAGMA encoding").fetchone() != ("UTF-8",):
        raise BadFile(f"{shown_path(path)} has texts in another encoding than UTF-8.")
    if db.execute("SELECT 1 FROM sqlite_schema WHERE type = 'trigger'").fetchone():
        raise BadFile(f"{shown_path(path)} has triggers, which a store has not.")


@functools.cache
def _expected_schema() -> set[tuple[str, str]]:
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        db.executescript(_SCHEMA)
        return {*db.execute("SELECT name, sql FROM sqlite_schema")}


def _write(path: Path, content: Snapshot) -> None:
    """Write a new file in the place of the old one; who reads the folder meanwhile sees the old one."""

    def write(file: Path) -> None:
        with contextlib.closing(_connect(file, "rw&nolock=1")) as db:
            db.execute("PRAGMA journal_mode = OFF")
            db.executescript(f"BEGIN; {_SCHEMA} COMMIT")
            with db:  # commits, or rolls back after an error
                db.execute("BEGIN IMMEDIATE")
                _insert(db, content.table)
                labels = [(name, *pair) for name, some in content.labels.items() for pair in some.items()]
                db.executemany("INSERT INTO labels VALUES (?, ?, ?)", labels)
                db.executemany("INSERT OR IGNORE INTO machines VALUES (?, ?)", content.machines)

    write_atomically(path, write)


def _insert(db: sqlite3.Connection, table: CellTable) -> None:
    """Add rows; texts that are there already are used again."""
    ids = {text: id for id, text in db.execute("SELECT id, text FROM texts")}
    used = dict.fromkeys(table.texts[name][code] for name in TEXTS for code in np.unique(table.cells[name]))
    new = [text for text in used if text not in ids]
    ids |= zip(new, itertools.count(max(ids.values(), default=0) + 1))
    db.executemany("INSERT INTO texts VALUES (?, ?)", [(ids[text], text) for text in new])
    curves = table.curves()
    columns = {
        "key": table.keys(),
        "failed": table.failed.tolist(),
        "regret": table.final.tolist(),
        "bound": table.bound[table.offsets[1:] - 1].tolist(),
        **{name: table.cells[name].tolist() for name in _NUMBERS},
        **{name: [ids[table.texts[name][code]] for code in table.cells[name].tolist()] for name in TEXTS},
        "digest": table.digests(curves).tolist(),
        "curve": curves,
    }
    db.executemany(_INSERT, zip(*(columns[name] for name in _ROW), strict=True))


def _salvaged(path: Path, read_only: bool = False) -> Snapshot:
    """Return what can be read of a file that may be damaged; a write that was interrupted is undone first."""
    require_regular_files(path)
    try:
        with contextlib.closing(_connect(path, "ro" if read_only else "rw", salvage=True)) as db:
            fault = ""
            try:
                _check_schema(db, path)
            except sqlite3.DatabaseError as error:
                fault = _damage(error)
            content = _read(db)
            return content._replace(fault=content.fault or fault)
    except sqlite3.Error as error:
        if read_only and getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_READONLY_ROLLBACK:
            return _salvaged_copy(path)
        with contextlib.suppress(sqlite3.Error):
            return Snapshot(CellTable.concatenate([]), {name: {} for name in _LABELS}, fault=_damage(error))
        raise BadFile(f"Cannot read {shown_path(path)}: {error}.") from None


def _salvaged_copy(path: Path) -> Snapshot:
    """Read a copy of a file, beside which a killed process left the journal of an unfinished write."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / FILE
            shutil.copyfile(path, copy)
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(journal(path), journal(copy))
            return _salvaged(copy)
    except BadFile:
        raise
    except OSError as error:
        raise BadFile(f"Cannot copy {shown_path(path)} to {tempfile.gettempdir()}: {error.strerror}.") from None


def _read(db: sqlite3.Connection) -> Snapshot:
    """Return all rows that can be read and whose digests agree, each key once."""
    faults: list[str] = []
    db.execute("BEGIN")  # one state of the file, whoever writes meanwhile
    try:
        chunks = _chunks(db, "id, text", "texts", faults)
        texts = {id: text for rows in chunks for _, id, text in rows if isinstance(text, str)}
        columns = ", ".join(["CAST(key AS BLOB)", *_ROW[1:]])
        parts = [_decoded(rows, texts) for rows in _chunks(db, columns, "cells", faults)]
        machines, labels = _text_rows(db, "id, facts", "machines"), _read_labels(db)
    finally:
        with contextlib.suppress(sqlite3.Error):  # of a damaged file, this may not end a transaction
            db.execute("ROLLBACK")
    table = CellTable.concatenate([table for tables, _ in parts for table in tables])
    _, first = np.unique(table.cells["key"], return_index=True)
    n_bad = sum(n for _, n in parts) + len(table) - len(first)
    if n_bad:
        faults.insert(0, f"{n_bad} of its rows {'are' if n_bad > 1 else 'is'} damaged")
    return Snapshot(table.take(np.sort(first)), labels, machines, next(iter(faults), ""))


def _read_labels(db: sqlite3.Connection) -> dict[str, dict[str, str]]:
    labels: dict[str, dict[str, str]] = {name: {} for name in _LABELS}
    for section, spec, label in _text_rows(db, "section, spec, label", "labels"):
        if section in labels:
            labels[section][spec] = label
    return labels


def _text_rows(db: sqlite3.Connection, columns: str, table: str) -> list[tuple[str, ...]]:
    """Return rows of texts; those that cannot be used are left out: the cells are complete without them."""
    rows = [row[1:] for rows in _chunks(db, columns, table, []) for row in rows]
    return [row for row in rows if all(isinstance(value, str) and is_unicode(value) for value in row)]


def _chunks(db: sqlite3.Connection, columns: str, table: str, faults: list[str]) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the rows of a table that SQLite can read, each after its id; say in `faults` why it cannot read others."""
    if table not in {name for name, _ in _expected_schema() & {*db.execute("SELECT name, sql FROM sqlite_schema")}}:
        faults.append(f"its table `{table}` is not that of a store")  # it may be a view, which computes anything
        return
    query = f"SELECT rowid, {columns} FROM {table} WHERE rowid > ? ORDER BY rowid LIMIT ?"
    last, size, n_left_out = 0, _CHUNK, 0
    ((n_pages,),) = db.execute("PRAGMA page_count")
    while n_left_out < _ROWS_A_PAGE * n_pages:
        try:
            rows = db.execute(query, (last, size)).fetchall()
        except sqlite3.DatabaseError as error:  # read fewer rows at once, and leave out a single row
            fault = _damage(error)
            faults += [] if faults else [fault]
            last, n_left_out, size = last + (size == 1), n_left_out + (size == 1), max(1, size // 16)
            continue
        if not rows:
            return
        last, size = max(last + 1, *(row[0] for row in rows)), min(2 * size, _CHUNK)  # they may be in disorder
        yield rows


def _decoded(rows: list[tuple[Any, ...]], texts: Mapping[Any, str]) -> tuple[list[CellTable], int]:
    """Return the rows as tables, without those that are damaged, and how many these are."""
    try:
        table, agree = _checked(dict(zip(("id", *_ROW), zip(*rows, strict=True), strict=True)), texts)
    except (TypeError, ValueError, OverflowError):  # a value of a row has another type
        middle = len(rows) // 2
        if not middle:
            return [], 1
        (first, n_first), (second, n_second) = _decoded(rows[:middle], texts), _decoded(rows[middle:], texts)
        return first + second, n_first + n_second
    good = [row for row, agrees in zip(rows, agree.tolist(), strict=True) if agrees]
    if 0 < len(good) < len(rows):
        table = _decoded(good, texts)[0][0]  # without the texts of damaged rows
    return [table] if good else [], len(rows) - len(good)


def _checked(columns: Mapping[str, Sequence[Any]], texts: Mapping[Any, str]) -> tuple[CellTable, Flags]:
    """Return the table of some rows, and whether the digest of each row and the copies of its values agree."""
    sizes = np.fromiter(map(len, columns["curve"]), np.int64, len(columns["curve"]))
    lengths = sizes // _POINT
    if (sizes != _POINT * lengths).any() or (lengths < 1).any():
        raise ValueError("a curve is cut short")
    cells = np.empty(len(lengths), CELL)
    cells["key"] = columns["key"]
    for name in _NUMBERS:
        cells[name] = np.array(columns[name], CELL[name])  # None becomes NaN
    used: dict[str, tuple[str, ...]] = {}
    for name in TEXTS:
        ids, codes = np.unique(np.array(columns[name], np.int64), return_inverse=True)
        distinct: dict[str, int] = {}
        places = [distinct.setdefault(texts.get(id, _MISSING), len(distinct)) for id in ids.tolist()]
        cells[name], used[name] = np.array(places, np.int32)[codes], tuple(distinct)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    points = np.frombuffer(b"".join(columns["curve"]), "<i8")
    within = np.arange(offsets[-1]) + np.repeat(2 * offsets[:-1], lengths)
    rounds, *reals = (points[within + np.repeat(i * lengths, lengths)] for i in range(3))
    table = CellTable(cells, used, offsets, rounds, *(real.view("<f8") for real in reals))
    agree = table.digests(columns["curve"]) == np.array(columns["digest"], np.int64)
    agree &= np.array(columns["failed"], np.int64) == table.failed
    for name, values in (("regret", table.final), ("bound", table.bound[offsets[1:] - 1])):
        agree &= np.isclose(np.array(columns[name], np.float64), values, rtol=0.0, atol=0.0, equal_nan=True)
    return table, agree


def _check(table: CellTable, path: Path) -> None:
    """Raise if rows with right digests break a rule: another program wrote them."""
    if (fault := first_fault(table)) is not None:
        raise BadFile(f"{shown_path(path)} has cells whose `{fault.name}` is not {fault.rule}.")


class _Claim:
    """What an open store is working on, so that no other process plays the same cells.

    A claim is a file with a list of ids, which its process has locked, so that the claim of a process that ended is
    free. Claims are read and changed only under the lock of the store. They save work and protect nothing: a store
    drops cells that it has already.
    """

    def __init__(self, folder: Path) -> None:
        self.ids: dict[str, None] = {}  # in the order in which they were claimed
        self._folder = folder
        self._file: IO[bytes] | None = None

    def replace(self, ids: dict[str, None]) -> None:
        """Claim exactly these ids."""
        if [*ids] == [*self.ids]:
            return
        if self._file is None:
            self._file = (self._folder / f".claim-{secrets.token_hex(8)}").open("xb")
            try_lock(self._file.fileno())
        path = Path(self._file.name)
        if ids:
            try:
                path.write_bytes(json.dumps([*ids]).encode())
            except OSError as error:  # of a full disk, it has no name
                raise OSError(error.errno, error.strerror, str(path)) from None
        else:
            path.unlink(missing_ok=True)
            self.forget()
        self.ids = ids

    def others(self) -> set[str]:
        """Return what other open stores have claimed; delete the claims of processes that ended."""
        ids: set[str] = set()
        for path in self._folder.glob(".claim-*"):
            if _CLAIM.fullmatch(path.name):
                with contextlib.suppress(OSError, ValueError, RecursionError):  # deleted, of another user, or no list
                    ids.update(_claimed(path))
        return ids - self.ids.keys()

    def forget(self) -> None:
        """Close the file without giving up the lock: in a forked process the claim belongs to the parent."""
        if self._file is not None:
            self._file.close()
        self.ids, self._file = {}, None


def _claimed(path: Path) -> list[str]:
    # The name may be a link or a pipe of another user: links are not followed, and pipes are not waited for.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return []
        if try_lock(descriptor):
            path.unlink()
            return []
        ids = json.loads(file.read(_LONGEST_CLAIM))
        return [id for id in ids if isinstance(id, str)] if isinstance(ids, list) else []


def _texts(store: Store, name: str, texts: Iterable[str]) -> dict[str, None]:
    """Return distinct texts in their order; reject anything else, and text that cannot be written as UTF-8."""
    values = [texts] if isinstance(texts, str) or not isinstance(texts, Iterable) else [*texts]
    if isinstance(texts, str) or not all(isinstance(text, str) for text in values):
        raise rejection(store, name, "a list of texts", texts if isinstance(texts, str) else values)
    if not all(map(is_unicode, values)):
        raise rejection(store, name, "valid Unicode", values)
    return dict.fromkeys(values)


_open_stores: weakref.WeakSet[Store] = weakref.WeakSet()
_forgotten: list[sqlite3.Connection | None] = []


def _after_fork_in_child() -> None:
    for store in _open_stores:
        _forgotten.append(store._db)  # it belongs to the parent, and must not be used here, nor closed
        store._db = None
        store._claim.forget()


os.register_at_fork(after_in_child=_after_fork_in_child)
