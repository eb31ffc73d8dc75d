"""Damaged files are moved aside, and merging loses and doubles nothing."""

import errno
import os
import stat
from pathlib import Path

import pytest

from cell_examples import by_key, cell, failed, key, table
from driftwise.results import CellTable, Store, merging, stored_files
from driftwise.results.cell_files import cell_bytes, read_cells
from driftwise.results.merging import FileSize, next_merge
from store_examples import cells, content, damage, expected, fails, file_name, files, hidden, names, put


# Damage
def test_a_damaged_file_is_moved_aside_and_its_cells_are_missing(tmp_path):
    store = Store(tmp_path)
    store.add(cells(0, 1))
    (first,) = files(tmp_path)
    store.add(cells(2))
    damage(tmp_path / first)
    (tmp_path / file_name("b")).write_text("not Parquet")
    without_key = put(tmp_path, CellTable.from_records([cell(5, key="")]))
    elsewhere = put(tmp_path, table(1), {"replaces": ["../manifest.json"]})
    (tmp_path / file_name("c")).write_bytes(cell_bytes(table(1)))  # under the name of another content
    store = Store(tmp_path)
    assert content(store) == expected(2)
    damaged = {first, file_name("b"), file_name("c"), without_key, elsewhere}
    assert {name for name, _ in store.damaged} == damaged
    assert all("\n" not in reason and reason.startswith(name) for name, reason in store.damaged)
    assert {*names(tmp_path / "damaged")} == damaged
    assert Store(tmp_path).damaged == ()
    assert store.add(cells(0, 1, 2)) == 2
    assert (tmp_path / "manifest.json").is_file()


def test_other_files_in_the_folder_are_left_alone(tmp_path):
    Store(tmp_path).add(cells(0))
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / file_name("a")).mkdir()
    os.mkfifo(tmp_path / file_name("b"))  # reading it would wait forever
    (tmp_path / file_name("c")).symlink_to("none")
    store = Store(tmp_path)
    assert content(store) == expected(0)
    assert store.damaged == ()
    assert (tmp_path / "notes.txt").is_file()


def test_abandoned_temporary_files_are_deleted(tmp_path):
    Store(tmp_path)
    (tmp_path / (".driftwise-" + "0" * 16)).write_text("half")
    Store(tmp_path)
    assert hidden(tmp_path) == []


def test_other_programs_see_no_file_before_it_is_complete(tmp_path, monkeypatch):
    seen, write = [], Path.write_bytes
    monkeypatch.setattr(
        Path, "write_bytes", lambda path, content: (write(path, content), seen.append(names(tmp_path)))[0]
    )
    Store(tmp_path).add(cells(0))
    (during,) = seen
    assert hidden(tmp_path) == []
    assert [name for name in during if name.startswith(".")]
    assert not [name for name in during if name.endswith(".parquet")]


def test_a_key_in_two_files_counts_once(tmp_path):
    put(tmp_path, CellTable.from_records([cell(0), failed(1), failed(2)]))
    put(tmp_path, CellTable.from_records([cell(1), failed(2), cell(3)]))
    store = Store(tmp_path)
    assert store.keys == {key(i) for i in range(4)}
    assert store.failed == {key(2)}
    assert content(store) == {**expected(0, 1, 3), **by_key(CellTable.from_records([failed(2)]))}
    store.discard([key(2)])
    assert content(store) == content(Store(tmp_path)) == expected(0, 1, 3)
    store.compact()
    assert content(store) == content(Store(tmp_path)) == expected(0, 1, 3)


def test_a_file_that_vanishes_while_it_is_read_is_not_an_error(tmp_path, monkeypatch):
    Store(tmp_path).add(cells(0))
    (old,) = files(tmp_path)
    read = stored_files.StoredFiles._content

    def merged_by_another(self, name):
        if name == old and (tmp_path / old).exists():
            put(tmp_path, table(1), {"replaces": [old]})
            (tmp_path / old).unlink()
        return read(self, name)

    monkeypatch.setattr(stored_files.StoredFiles, "_content", merged_by_another)
    assert content(Store(tmp_path)) == expected(0)


def test_tables_that_are_not_kept_in_memory_are_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(stored_files, "_MOST_KEPT", 1000)
    store = Store(tmp_path)
    for i in range(20):
        store.add([cell(i, 3)])
    assert content(store) == content(Store(tmp_path)) == by_key(table(20, 3))


@pytest.mark.parametrize("place", [0.05, 0.3, 0.5, 0.7, 0.9])
def test_a_flipped_bit_anywhere_in_a_file_is_noticed(tmp_path, place):
    """Also in columns that only other programs read, and in the statistics of the format."""
    Store(tmp_path).add(cells(0, 1))
    (name,) = files(tmp_path)
    data = bytearray((tmp_path / name).read_bytes())
    data[int(place * len(data))] ^= 4
    (tmp_path / name).write_bytes(data)
    store = Store(tmp_path)
    assert [file.name for file in store.damaged] == [name]
    assert store.keys == set()


# Merging
def test_files_are_merged_as_they_grow(tmp_path, monkeypatch):
    monkeypatch.setattr(merging, "FINAL_CELLS", 100)
    store, n_written = Store(tmp_path), 0
    write = stored_files.cell_bytes

    def counted(cells, extra, labels):
        nonlocal n_written
        n_written += len(cells)
        return write(cells, extra, labels)

    monkeypatch.setattr(stored_files, "cell_bytes", counted)
    for i in range(150):
        store.add(cells(i))
        assert len(files(tmp_path)) <= 7 * 3 + i // 64
    assert n_written <= 150 * 4
    assert content(store) == content(Store(tmp_path)) == expected(*range(150))
    store.compact()
    assert sorted(len(read_cells(tmp_path / name)[0]) for name in files(tmp_path))[-1] >= 100
    assert len(files(tmp_path)) == 2
    before = files(tmp_path)
    store.compact()
    assert files(tmp_path) == before
    assert content(store) == content(Store(tmp_path)) == expected(*range(150))


def test_which_files_are_merged():
    def sizes(*counts, n_bytes=1000):
        return [FileSize(f"{i:02}", n, n_bytes) for i, n in enumerate(counts)]

    assert next_merge(sizes(*[1] * 7)) == []
    assert next_merge(sizes(*[1] * 7, 8)) == []
    assert next_merge(sizes(*[1] * 7, 7)) == [f"{i:02}" for i in range(8)]
    assert next_merge(sizes(10_000, 10_000, 9_999)) == []
    assert next_merge(sizes(8_000, 8_000, 8_000)) == ["00", "01"]
    assert next_merge(sizes(5, 5, 5, n_bytes=30 << 20)) == ["00", "01", "02"]
    assert next_merge(sizes(5, 5, n_bytes=64 << 20)) == []
    assert next_merge(sizes(1, 700, 20_000), everything=True) == ["00", "01"]
    assert next_merge(sizes(700, 20_000), everything=True) == []


@pytest.mark.parametrize("n_left", [0, 1, 2])
def test_a_merge_that_was_interrupted_is_completed(tmp_path, n_left):
    store = Store(tmp_path)
    store.add(cells(0, 1))
    store.add(cells(2))
    sources = files(tmp_path)
    merged = put(tmp_path, table(3), {"replaces": sources})
    for name in sources[n_left:]:
        (tmp_path / name).unlink()
    for each in (store, Store(tmp_path)):
        each.refresh()
        assert each.keys == {key(0), key(1), key(2)}
        assert content(each) == expected(0, 1, 2)
    assert files(tmp_path) == [merged]


def test_an_interrupted_removal_is_completed(tmp_path):
    store = Store(tmp_path)
    store.add(cells(0, 1))
    put(tmp_path, table(1), {"replaces": files(tmp_path)})
    assert Store(tmp_path).keys == {key(0)}
    store.refresh()
    assert store.keys == {key(0)}
    assert content(store) == expected(0)


def test_a_damaged_merged_file_leaves_its_sources(tmp_path):
    store = Store(tmp_path)
    store.add(cells(0))
    sources = files(tmp_path)
    damage(tmp_path / put(tmp_path, table(1), {"replaces": sources}))
    assert content(Store(tmp_path)) == expected(0)
    assert files(tmp_path) == sources


def test_sources_that_cannot_be_deleted_are_deleted_later(tmp_path, monkeypatch):
    store = Store(tmp_path)
    for i in range(3):
        store.add(cells(i))
    sources, unlink = files(tmp_path), Path.unlink
    failing = fails(OSError(errno.EIO, "Input/output error"))
    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", lambda path, **o: (failing if path.name in sources else unlink)(path, **o))
        store.compact()
        assert len(files(tmp_path)) == 4
        store.discard([key(1)])  # a file that replaces the merged one, which is deleted
        assert content(store) == content(Store(tmp_path)) == expected(0, 2)
    assert content(Store(tmp_path)) == content(store) == expected(0, 2)
    assert len(files(tmp_path)) == 1


def test_sources_are_deleted_after_the_merged_file_is_on_the_disk(tmp_path, monkeypatch):
    store, calls = Store(tmp_path), []
    store.add(cells(0))
    store.add(cells(1))
    sources = files(tmp_path)

    def recorded(owner, name, shown):
        call = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *args, **o: (calls.append((name, shown(args))), call(*args, **o))[1])

    recorded(os, "fsync", lambda args: "folder" if stat.S_ISDIR(os.fstat(args[0]).st_mode) else "file")
    recorded(Path, "replace", lambda args: args[1].name[:6])
    recorded(Path, "unlink", lambda args: args[0].name if args[0].name in sources else "")
    store.compact()
    steps = [step for step in calls if step[1]]
    assert steps[:3] == [("fsync", "file"), ("replace", "cells-"), ("fsync", "folder")]
    assert sorted(steps[3:]) == [("unlink", name) for name in sources]
