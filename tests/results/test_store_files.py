"""The files of a store: no links and pipes in their places, complete when they appear, named when a disk is full."""

import errno
import os
import sqlite3
import tempfile
import threading
from pathlib import Path

import pytest

from cell_examples import by_key
from driftwise.core.errors import BadFile
from driftwise.results import Store, store
from driftwise.results.store import FILE, read_store
from store_examples import cells, content, expected, fails, names, run_sql

FILES = [FILE, f"{FILE}-journal", f"{FILE}-wal", f"{FILE}-shm", "lock"]
KINDS = {
    "a link": lambda path: path.symlink_to(path.parent.parent / "elsewhere"),
    "a pipe": os.mkfifo,
    "a folder": Path.mkdir,
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_link_or_a_pipe_in_the_place_of_a_file_is_refused(tmp_path, name, kind):
    folder = tmp_path / "store"
    folder.mkdir()
    KINDS[kind](folder / name)
    with pytest.raises(BadFile) as error:
        Store(folder)
    wanted = f"{folder / name} must be a regular file, got {kind}."
    assert str(error.value) == wanted or (name, kind) == (FILE, "a folder")  # which cannot be written anyway
    assert names(tmp_path) == ["store"]  # nothing was made elsewhere
    assert {*names(folder)} <= {name, "lock"}


@pytest.mark.parametrize("name", FILES[1:])
@pytest.mark.parametrize("kind", KINDS)
def test_a_link_or_a_pipe_beside_the_cells_is_refused(tmp_path, name, kind):
    folder = tmp_path / "store"
    with Store(folder) as opened:
        opened.add(cells(0))
        (folder / name).unlink(missing_ok=True)
        KINDS[kind](folder / name)
        with pytest.raises(BadFile, match=rf"{name} must be a regular file, got {kind}\.$"):
            opened.add(cells(1))
        if name != "lock":  # readers need no lock
            with pytest.raises(BadFile, match=rf"{name} must be a regular file, got {kind}\.$"):
                read_store(folder)
        (folder / name).rmdir() if kind == "a folder" else (folder / name).unlink()
        assert opened.add(cells(2)) == 1
        assert content(opened) == expected(0, 2)
    assert not (tmp_path / "elsewhere").exists()


def test_a_link_in_the_place_of_the_cells_is_not_read(tmp_path):
    with Store(tmp_path / "real") as opened:
        opened.add(cells(0))
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / FILE).symlink_to(tmp_path / "real" / FILE)
    with pytest.raises(BadFile, match=r"cells\.sqlite must be a regular file, got a link\.$"):
        read_store(tmp_path / "linked")


def test_damaged_cells_are_not_moved_through_a_link(tmp_path):
    with Store(tmp_path / "store") as opened:
        opened.add(cells(0, 1))
    run_sql(tmp_path / "store", "UPDATE cells SET seed = seed + 1 WHERE id = 1")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "store" / "damaged").symlink_to("../elsewhere")
    with Store(tmp_path / "store") as opened, pytest.raises(BadFile, match=r"damaged must be a folder, got a link\.$"):
        opened.table()
    assert names(tmp_path / "elsewhere") == []


def test_who_reads_a_store_that_is_being_made_sees_no_file_or_a_store(tmp_path):
    seen, stop = set(), threading.Event()

    def read():
        while not stop.is_set():
            for folder in tmp_path.iterdir():
                try:
                    read_store(folder)
                except BadFile as error:
                    seen.add(str(error).replace(str(folder), "FOLDER"))

    thread = threading.Thread(target=read)
    thread.start()
    try:
        for i in range(30):
            Store(tmp_path / str(i)).close()
    finally:
        stop.set()
        thread.join()
    assert seen <= {f"FOLDER is no folder of results: it has no file {FILE}."}


def test_the_file_of_a_new_store_has_its_tables_when_it_appears(tmp_path, monkeypatch):
    schemas = []
    connect = store._connect

    def watched(path, *options):
        if path.name == FILE:  # not the temporary file
            with sqlite3.connect(path) as db:
                schemas.append(len(db.execute("SELECT name FROM sqlite_schema").fetchall()))
        return connect(path, *options)

    monkeypatch.setattr(store, "_connect", watched)
    Store(tmp_path).close()
    assert min(schemas, default=0) > 5


def test_an_empty_file_and_a_journal_without_cells_become_a_store(tmp_path):
    (tmp_path / FILE).touch()
    (tmp_path / f"{FILE}-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(1000))
    with Store(tmp_path) as opened:
        opened.add(cells(0))
        assert content(opened) == expected(0)
    assert names(tmp_path) == [FILE, "lock"]


def test_an_error_in_the_copy_of_a_store_is_not_wrapped(tmp_path, monkeypatch):
    Store(tmp_path).close()
    monkeypatch.setattr(store, "_salvaged", fails(BadFile("It is no store.")))
    with pytest.raises(BadFile, match=r"^It is no store\.$"):
        store._salvaged_copy(tmp_path / FILE)


def test_a_failed_use_closes_the_file_while_it_is_locked(tmp_path, monkeypatch):
    opened = Store(tmp_path)
    closed_by_whom = []

    def disconnect(self):
        other = threading.Thread(target=lambda: closed_by_whom.append(self._threads.acquire(blocking=False)))
        other.start()
        other.join()

    monkeypatch.setattr(Store, "_disconnect", disconnect)
    with pytest.raises(BadFile, match=r"cells\.sqlite: locked"):
        opened._locked(fails(sqlite3.OperationalError("locked")))
    assert closed_by_whom == [False]


# Full disks


def test_a_full_disk_names_the_file_of_a_claim(tmp_path, monkeypatch):
    with Store(tmp_path) as opened:
        with monkeypatch.context() as patch:
            patch.setattr(Path, "write_bytes", fails(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))))
            with pytest.raises(BadFile, match=r"^Cannot use the store .*: \.claim-[0-9a-f]{16}: No space left on dev"):
                opened.claim(["a"], 1)
        assert opened.claim(["a"], 1) == ["a"]


def test_a_full_disk_names_the_cells_that_it_would_replace(tmp_path, monkeypatch):
    with Store(tmp_path) as opened:
        opened.add(cells(0, 1))
    run_sql(tmp_path, "UPDATE cells SET seed = seed + 1 WHERE id = 1")
    with Store(tmp_path) as opened:
        with monkeypatch.context() as patch:
            patch.setattr("os.fsync", fails(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))))
            with pytest.raises(BadFile, match=r"^Cannot write .*cells\.sqlite: No space left on device\.$"):
                opened.table()
        assert by_key(opened.table()) == expected(1)


def test_a_full_disk_for_temporary_files_is_named(tmp_path, monkeypatch):
    Store(tmp_path).close()
    monkeypatch.setattr("shutil.copyfile", fails(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))))
    with pytest.raises(BadFile) as error:
        store._salvaged_copy(tmp_path / FILE)
    assert str(error.value) == f"Cannot copy {tmp_path / FILE} to {tempfile.gettempdir()}: No space left on device."


@pytest.mark.parametrize("name", [".claim-0123456789abcdef", ".driftwise-0123456789abcdef"])
def test_other_links_stay_and_are_not_followed(tmp_path, name):
    folder = tmp_path / "store"
    folder.mkdir()
    outside = tmp_path / "outside"
    outside.write_text("precious")
    (folder / name).symlink_to(outside)
    with Store(folder) as store:
        store.add(cells(0))
    assert (folder / name).is_symlink()
    assert outside.read_text() == "precious"
