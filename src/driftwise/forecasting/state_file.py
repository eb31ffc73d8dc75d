"""The file of a state: one SQLite file with the mixtures of all series and the rounds that wait for their truths.

A run is one transaction, from `BEGIN IMMEDIATE` to the commit, so runs that share a file follow each other, and a kill
leaves the file as it was before. The journal is the rollback journal, as that of stores (`driftwise.results.store`).

A file that is begun is empty until its first commit. Nothing in it is trusted: every row has a digest, which is checked
when the row is used, and what it says is checked by those who use it.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from zlib import crc32

from driftwise.core.errors import BadFile, rejection
from driftwise.core.files import shown_path
from driftwise.core.memory_fields import MOST_ROUNDS
from driftwise.core.sqlite_files import connect, journal, require_regular_files
from driftwise.forecasting.labelled_values import LARGEST

FORMAT = 1
PATIENCE = 60.0  # seconds to wait for another run
MOST_TRUTHS = 100  # of each series: for rounds that come after it, and to notice that one is revised
MOST_STEPS = 1 << 31
_APPLICATION = int.from_bytes(b"drfm", "big")  # the mark of the program in the head of an SQLite file
_SCHEMA = f"""
CREATE TABLE facts (name TEXT PRIMARY KEY, digest INTEGER NOT NULL, value TEXT NOT NULL);
CREATE TABLE series (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, digest INTEGER NOT NULL, n_truths INTEGER NOT NULL
);
CREATE TABLE mixtures (
  id INTEGER PRIMARY KEY, series INTEGER NOT NULL, step INTEGER NOT NULL, n_rounds INTEGER NOT NULL,
  waiting INTEGER NOT NULL, newest INTEGER NOT NULL, last NOT NULL, digest INTEGER NOT NULL, arrays BLOB NOT NULL,
  UNIQUE (series, step)
);
CREATE TABLE rounds (
  id INTEGER PRIMARY KEY, series INTEGER NOT NULL, mixture INTEGER NOT NULL, place INTEGER NOT NULL, time NOT NULL,
  issued, known, digest INTEGER NOT NULL, numbers BLOB NOT NULL
);
CREATE INDEX rounds_by_time ON rounds (series, time);
CREATE INDEX rounds_with_truths ON rounds (series) WHERE known IS NOT NULL;
CREATE TABLE truths (
  series INTEGER, place INTEGER, time NOT NULL, known, digest INTEGER NOT NULL, truth REAL NOT NULL,
  PRIMARY KEY (series, place)
) WITHOUT ROWID;
CREATE INDEX truths_by_time ON truths (series, time);
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {FORMAT};
"""
Row = tuple[Any, ...]


class FactRow(NamedTuple):
    """What the whole state has in common."""

    name: str
    digest: int
    value: str  # JSON


class StateSeries(NamedTuple):
    """A series, by the values of its columns as JSON."""

    id: int
    name: str
    digest: int = 0
    n_truths: int = 0  # that came


class MixtureRow(NamedTuple):
    """A mixture: its series and step ahead, and where it stopped."""

    id: int
    series: int
    step: int  # 0: one mixture for all steps
    n_rounds: int  # that were issued
    waiting: int  # of them, those whose truth was not learned
    newest: int  # the id of the round that was combined last, -1 if a truth was learned since
    last: int | float | str  # when its last round was issued
    digest: int
    arrays: bytes = b""


class RoundRow(NamedTuple):
    """A round that waits for its truth, or whose truth was not learned yet."""

    id: int
    series: int
    mixture: int
    place: int  # among the rounds of its mixture
    time: int | float | str
    issued: int | float | str | None
    known: int | float | str | None  # None: the truth is not known
    digest: int
    numbers: bytes


class TruthRow(NamedTuple):
    """A truth that came."""

    series: int
    place: int  # among those that are kept
    time: int | float | str
    known: int | float | str | None  # None: at its time
    digest: int
    truth: float


StoredRow = TypeVar("StoredRow", FactRow, StateSeries, MixtureRow, RoundRow, TruthRow)


def digest_of(row: FactRow | StateSeries | MixtureRow | RoundRow | TruthRow) -> int:
    """Return the digest of a row, which is its last value but one."""
    *others, _, last = row
    content = last if isinstance(last, bytes) else repr(last).encode("utf-8", "surrogateescape")
    return crc32(content, crc32(repr(tuple(others)).encode("utf-8", "surrogateescape")))


def with_digest(row: StoredRow) -> StoredRow:
    """Return a row with its digest."""
    return row._replace(digest=digest_of(row))


def fault(path: Path, message: str) -> BadFile:
    """Return the error that a state cannot be used."""
    return BadFile(f"Cannot use the state {shown_path(path)}: {message}.")


def state_path(path: object) -> Path:
    """Return the path of a state, checked."""
    if not isinstance(path, str | os.PathLike) or not isinstance(name := os.fspath(path), str) or not name.strip("/"):
        raise rejection("combine", "state", "the name of a file", path)
    if "\0" in name:
        raise rejection("combine", "state", "the name of a file, without a null character", path)
    return Path(name)


class StateFile:
    """The file of a state in a transaction, which `commit` ends; without it, `close` leaves the file as it was."""

    def __init__(self, path: str | os.PathLike[str], patience: float | None = None) -> None:
        self.path = state_path(path)
        self._patience = PATIENCE if patience is None else patience
        self._changes: list[tuple[str, Sequence[Sequence[object]]]] = []
        self._db = self._begun()
        try:
            with self.errors():
                self.is_new = not self._db.execute("SELECT 1 FROM sqlite_schema").fetchone()
                if not self.is_new:
                    check_schema(self._db, self.path)
        except BaseException:
            self.close()
            raise

    def _begun(self) -> sqlite3.Connection:
        """Return a connection that has the lock; the file may be deleted while it waits."""
        while True:
            require_regular_files(self.path)
            if not self.path.parent.is_dir():
                raise fault(self.path, "there is no such folder")
            existed = self.path.exists()
            with self.errors():
                db = connect(self.path, "rwc", self._patience)
                try:
                    before = self.path.stat()
                    db.execute("PRAGMA temp_store = MEMORY")
                    db.execute("BEGIN IMMEDIATE")
                    with contextlib.suppress(FileNotFoundError):
                        if os.path.samestat(before, self.path.stat()):
                            self._created = not existed
                            return db
                except FileNotFoundError:
                    pass
                except BaseException:
                    db.close()
                    raise
                db.close()

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Turn errors of SQLite into those of the file."""
        try:
            yield
        except sqlite3.Error as error:
            raise fault(self.path, _reason(error, self._patience)) from None
        except OverflowError:
            raise fault(self.path, "it is damaged: a number is beyond 64 bits") from None
        except OSError as error:
            if isinstance(error, BadFile):
                raise
            raise fault(self.path, error.strerror or str(error)) from None

    def rows(self, query: str, values: Sequence[object] = ()) -> list[Row]:
        """Return the rows of a query, of a new file none."""
        with self.errors():
            return [] if self.is_new else self._db.execute(query, values).fetchall()

    def next_id(self, table: str) -> int:
        """Return an id that is larger than those of a table."""
        rows = self.rows(f"SELECT max(id) FROM {table}")
        return 1 + (rows[0][0] or 0 if rows else 0)

    def change(self, query: str, rows: Sequence[Sequence[object]]) -> None:
        """Execute a command for every row when `write` is called: until then nothing need be undone."""
        self._changes.append((query, rows))

    def write(self) -> None:
        """Make all changes in the transaction; a new file gets its tables."""
        with self.errors():
            for command in _SCHEMA.strip().removesuffix(";").split(";\n") if self.is_new else ():
                self._db.execute(command)
            self.is_new = False
            for query, rows in self._changes:
                self._db.executemany(query, rows)
            self._changes.clear()

    def facts(self) -> dict[str, Any]:
        """Return what the whole state has in common."""
        return _facts(self.rows("SELECT * FROM facts"), self.path)

    def series(self, name: str) -> StateSeries | None:
        """Return the series of a name, None if there is none."""
        found = [StateSeries(*row) for row in self.rows("SELECT * FROM series WHERE name = ?", (name,))]
        check_digests(found, self.path)
        if found and not (type(found[0].id) is int and type(found[0].n_truths) is int and found[0].n_truths >= 0):
            raise fault(self.path, "it is damaged: a series has no number")
        return found[0] if found else None

    def select(self, series: Sequence[int], times: Iterable[tuple[int, Any]]) -> None:
        """Choose the series, and the times of series, of the queries below."""
        if self.is_new:
            return
        with self.errors():
            self._db.execute("CREATE TEMP TABLE chosen_series (id INTEGER PRIMARY KEY)")
            self._db.execute(
                "CREATE TEMP TABLE chosen (series INTEGER, time, PRIMARY KEY (series, time)) WITHOUT ROWID"
            )
            self._db.executemany("INSERT INTO chosen_series VALUES (?)", ((id,) for id in series))
            self._db.executemany("INSERT OR IGNORE INTO chosen VALUES (?, ?)", times)

    def mixtures(self) -> list[MixtureRow]:
        """Return the mixtures of the chosen series, without their arrays."""
        columns = ", ".join(f"m.{name}" for name in MixtureRow._fields[:-1])
        query = f"SELECT {columns} FROM chosen_series AS c CROSS JOIN mixtures AS m ON m.series = c.id"
        return [MixtureRow(*row) for row in self.rows(query)]

    def with_arrays(self, mixtures: Sequence[MixtureRow]) -> list[MixtureRow]:
        """Return mixtures with their arrays, after a check of their digests."""
        found = []
        with self.errors():
            for row in mixtures:
                arrays = self._db.execute("SELECT arrays FROM mixtures WHERE id = ?", (row.id,)).fetchone()[0]
                found.append(row._replace(arrays=arrays))
        check_digests(found, self.path)
        return found

    def rounds(self) -> list[RoundRow]:
        """Return the rounds at the chosen times, and those of the chosen series whose truth is known."""
        columns = ", ".join(f"r.{name}" for name in RoundRow._fields)
        of_times = "chosen AS c CROSS JOIN rounds AS r ON r.series = c.series AND r.time = c.time"
        known = "chosen_series AS c CROSS JOIN rounds AS r ON r.series = c.id AND r.known IS NOT NULL"
        found = [RoundRow(*row) for row in self.rows(f"SELECT {columns} FROM {of_times}")]
        ids = {row.id for row in found}
        found += [
            row for row in (RoundRow(*row) for row in self.rows(f"SELECT {columns} FROM {known}")) if row.id not in ids
        ]
        check_digests(found, self.path)
        return sorted(found)

    def truths(self) -> list[TruthRow]:
        """Return the truths of the chosen times that are kept."""
        query = "SELECT t.* FROM chosen AS c CROSS JOIN truths AS t ON t.series = c.series AND t.time = c.time"
        found = [TruthRow(*row) for row in self.rows(query)]
        check_digests(found, self.path)
        if not all(type(row.truth) is float and abs(row.truth) <= LARGEST for row in found):
            raise fault(self.path, "it is damaged: a truth is no number")
        return found

    def keep_truths(self, series: StateSeries, truths: Sequence[tuple[Any, Any, float]]) -> None:
        """Keep truths of a series that came: times, when they were known, and values, of which the latest are kept."""
        rows = []
        for k, (time, known, truth) in enumerate(truths[-MOST_TRUTHS:]):
            rows.append(with_digest(TruthRow(series.id, (series.n_truths + k) % MOST_TRUTHS, time, known, 0, truth)))
        self.change("INSERT OR REPLACE INTO truths VALUES (?, ?, ?, ?, ?, ?)", rows)
        series = with_digest(series._replace(n_truths=series.n_truths + len(rows)))
        self.change("INSERT OR REPLACE INTO series VALUES (?, ?, ?, ?)", [series])

    def commit(self) -> None:
        """Make all changes, which are on the disk when it returns."""
        with self.errors():
            self._db.execute("COMMIT")
        self._created = False

    def close(self) -> None:
        """Undo what was not committed; a file that was made for it is deleted, unless another run has begun it."""
        try:
            if self._created:
                with contextlib.suppress(sqlite3.Error, OSError):
                    if self._db.in_transaction:
                        self._db.execute("ROLLBACK")
                    self._db.execute("PRAGMA busy_timeout = 0")
                    self._db.execute("BEGIN IMMEDIATE")
                    if not self._db.execute("SELECT 1 FROM sqlite_schema").fetchone():
                        self.path.unlink()
        finally:
            self._db.close()


def _reason(error: sqlite3.Error, patience: float) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return f"another program has used it for {patience:g} s; try again when it has ended"
    if code == sqlite3.SQLITE_NOTADB:
        return "it is not a state of driftwise"
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR):
        return f"it is damaged ({error}); continue with a copy, or begin a new state with all rows"
    if code == sqlite3.SQLITE_READONLY:
        return "no permission to write it (or its folder)"
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return "no permission to open or write it (or its folder)"
    return str(error)


def check_digests(rows: Sequence[FactRow | StateSeries | MixtureRow | RoundRow | TruthRow], path: Path) -> None:
    """Refuse rows that changed since they were written."""
    for row in rows:
        is_whole = not isinstance(row, MixtureRow | RoundRow) or type(row[-1]) is bytes
        if not is_whole or row.digest != digest_of(row):
            raise fault(path, "it is damaged: a digest does not agree")


def rows_fault(mixtures: Sequence[MixtureRow], rounds: Sequence[RoundRow], has_issues: bool, width: int) -> str:
    """Return what no run has written in rows of mixtures and of their rounds, '' if there is nothing.

    `has_issues` says whether rounds have times of issue, and `width` how many bytes their numbers have.
    """
    place_of = {row.id: k for k, row in enumerate(mixtures)}
    for row in mixtures:
        whole = all(type(value) is int for value in row[:6])
        if not whole or not (0 <= row.step < MOST_STEPS and 0 <= row.waiting <= row.n_rounds <= MOST_ROUNDS):
            return "a mixture has numbers outside their range"
    for one in rounds:
        place = place_of.get(one.mixture)
        if place is None or mixtures[place].series != one.series or type(one.place) is not int:
            return "a round belongs to no mixture"
        if not 0 <= one.place < mixtures[place].n_rounds:
            return "a round has a place that its mixture has not"
        if (one.issued is None) == has_issues:
            return "a round has no time of issue"
        if len(one.numbers) != width:
            return "a round has not as many numbers as it must have"
    return ""


def check_schema(db: sqlite3.Connection, path: Path) -> None:
    """Raise `BadFile` for the file of another program or format, or with other tables."""
    application, version = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    if application != _APPLICATION:
        raise fault(path, "it is not a state of driftwise")
    if version != FORMAT:
        raise fault(path, f"it has format {version}, and this version reads format {FORMAT}")
    if _expected_schema() != {*db.execute("SELECT name, sql FROM sqlite_schema")}:
        raise fault(path, "it is damaged: its tables are not those of a state")
    if db.execute("PRAGMA encoding").fetchone() != ("UTF-8",):
        raise fault(path, "it has texts in another encoding than UTF-8")


@functools.cache
def _expected_schema() -> set[tuple[str, str]]:
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        db.executescript(_SCHEMA)
        return {*db.execute("SELECT name, sql FROM sqlite_schema")}


def _facts(rows: list[Row], path: Path) -> dict[str, Any]:
    found = [FactRow(*row) for row in rows]
    check_digests(found, path)
    try:
        return {row.name: json.loads(row.value) for row in found}
    except (ValueError, TypeError, RecursionError):
        raise fault(path, "it is damaged: its facts cannot be read") from None


@contextlib.contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection that cannot write; a journal that a killed run left is played back into a copy."""
    require_regular_files(path)
    if not path.exists():
        raise BadFile(f"There is no file {shown_path(path)}.")
    if not path.stat().st_size:
        raise fault(path, "it is empty: no run with it has ended")
    try:
        with _opened(path) as db:
            yield db
    except sqlite3.Error as error:
        raise fault(path, _reason(error, PATIENCE)) from None


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.ExitStack() as stack:
        db = stack.enter_context(contextlib.closing(connect(path, "ro", PATIENCE)))
        try:
            db.execute("BEGIN")
            db.execute("SELECT 1 FROM sqlite_schema").fetchone()
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) != sqlite3.SQLITE_READONLY_ROLLBACK:
                raise
            copy = Path(stack.enter_context(tempfile.TemporaryDirectory())) / path.name
            shutil.copyfile(path, copy)
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(journal(path), journal(copy))
            db = stack.enter_context(contextlib.closing(connect(copy, "rw", PATIENCE)))
            db.execute("BEGIN")
        check_schema(db, path)
        yield db


def read_facts(db: sqlite3.Connection, path: Path) -> dict[str, Any]:
    """Return what the whole state has in common."""
    return _facts(db.execute("SELECT * FROM facts").fetchall(), path)
