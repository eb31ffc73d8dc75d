"""A store keeps each finished cell once, whatever happens to its files, its disk or its processes."""

import builtins
import errno
import json
import os
import stat
import threading
from pathlib import Path

import numpy as np
import pytest

from cell_examples import by_key, cell, failed, key, table
from driftwise.core.errors import BadFile, InvalidInput, MissingDependency
from driftwise.results import CellTable, Store, merging, stored_files, write_cells
from driftwise.results.cell_files import read_cells
from driftwise.results.machine import this_machine
from driftwise.results.merging import FileSize, next_merge


def cells(*numbers):
    return [cell(i) for i in numbers]


def content(store):
    return by_key(store.table())


def expected(*numbers):
    return by_key(CellTable.from_records(cells(*numbers)))


def files(folder):
    return sorted(path.name for path in folder.glob("cells-*.parquet"))


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def hidden(folder):
    return [name for name in names(folder) if name.startswith(".")]


def file_name(digit):
    return f"cells-{digit * 16}.parquet"


# Adding


def test_cells_are_stored_once(tmp_path):
    store = Store(tmp_path / "new" / "store")
    assert store.add(cells(0, 1, 2)) == 3
    assert store.add(cells(1, 2, 3, 3)) == 1
    assert store.add(cells(1)) == store.add([]) == 0
    assert store.keys == {key(i) for i in range(4)}
    for each in (store, Store(store.folder)):
        assert content(each) == expected(0, 1, 2, 3)
        assert each.keys == store.keys
    assert len(files(store.folder)) == 2
    assert hidden(store.folder) == []


def test_a_table_can_be_added(tmp_path):
    assert Store(tmp_path).add(table(5, 3)) == 5
    assert content(Store(tmp_path)) == by_key(table(5, 3))


def test_an_empty_store_has_an_empty_table(tmp_path):
    store = Store(tmp_path)
    assert len(store.table()) == len(store.keys) == len(store.failed) == 0


def test_the_store_sets_the_time(tmp_path):
    store = Store(tmp_path)
    store.add([cell(0, stored=5)])
    assert store.table().cells["stored"][0] > 1_700_000_000_000_000


def test_bad_cells_change_nothing(tmp_path):
    store = Store(tmp_path)
    store.add(cells(0))
    before = files(tmp_path)
    for bad in (cell(1, key=""), cell(1, seed=-1)):
        with pytest.raises(InvalidInput, match=r"^(Store|CellRecord): `(key|seed)` must be .*\.$"):
            store.add([cell(2), bad])
    assert files(tmp_path) == before
    assert store.keys == {key(0)}


def test_failed_cells_are_discarded_and_played_again(tmp_path):
    store = Store(tmp_path)
    store.add([cell(0), failed(1), cell(2)])
    store.add([failed(3)])
    assert store.failed == Store(tmp_path).failed == {key(1), key(3)}
    store.discard([key(1), key(3), key(99)])
    assert store.failed == set()
    assert content(store) == content(Store(tmp_path)) == expected(0, 2)
    assert len(files(tmp_path)) == 1
    store.add(cells(1, 3))
    assert content(Store(tmp_path)) == expected(0, 1, 2, 3)


def test_another_process_is_seen_after_a_refresh(tmp_path):
    one, other = Store(tmp_path), Store(tmp_path)
    one.add(cells(0))
    assert other.keys == set()
    other.refresh()
    assert other.keys == {key(0)}
    assert other.add(cells(0, 1)) == 1
    one.discard([key(1)])
    other.refresh()
    assert other.keys == {key(0)}
    assert content(other) == expected(0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda store: store.claim("ab", 1), "`wanted` must be a list of texts, got 'ab'"),
        (lambda store: store.claim([1], 1), "`wanted` must be a list of texts, got [1]"),
        (lambda store: store.claim(3, 1), "`wanted` must be a list of texts, got [3]"),
        (lambda store: store.claim(["\ud800"], 1), "`wanted` must be valid Unicode, got ['\\ud800']"),
        (lambda store: store.claim(["a"], -1), "`most` must be a whole number >= 0, got -1"),
        (lambda store: store.claim(["a"], True), "`most` must be a whole number >= 0, got True"),
        (lambda store: store.release("a"), "`ids` must be a list of texts, got 'a'"),
        (lambda store: store.discard(key(0)), f"`keys` must be a list of texts, got '{key(0)}'"),
        (lambda store: store.label(learners={"{}": 3}), "`learners` must be a list of texts, got ['{}', 3]"),
        (lambda _: Store(3), "`folder` must be the name of a folder, got 3"),
    ],
)
def test_bad_arguments_are_rejected_in_one_line(tmp_path, call, message):
    store = Store(tmp_path)
    before = names(tmp_path)
    with pytest.raises(InvalidInput) as caught:
        call(store)
    assert str(caught.value) == f"Store: {message}."
    assert names(tmp_path) == before


# The folder


def test_an_unusable_folder_is_rejected(tmp_path):
    (tmp_path / "file").write_text("x")
    for name in ("file", "file/below", "x" * 300, "a\0b"):
        with pytest.raises(BadFile, match=r"^Cannot .*\.$"):
            Store(tmp_path / name)
    assert names(tmp_path) == ["file"]


def test_a_folder_that_is_deleted_is_named(tmp_path):
    store = Store(tmp_path / "store")
    for path in store.folder.iterdir():
        path.unlink()
    store.folder.rmdir()
    with pytest.raises(BadFile, match=r"^Cannot use the store .*store: No such file or directory\.$"):
        store.add(cells(0))


def test_without_arrow_the_missing_library_is_named(tmp_path, monkeypatch):
    imported = builtins.__import__

    def without_arrow(name, *rest):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return imported(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_arrow)
    with pytest.raises(MissingDependency, match=r"^A store of results needs pyarrow: install it with "):
        Store(tmp_path / "store")
    assert names(tmp_path) == []


def test_the_manifest_has_machines_and_labels(tmp_path):
    store = Store(tmp_path)
    store.add(cells(0))
    store.label(environments={'{"name": "é"}': "calm"})
    store.label(learners={"{}": "Hedge"})
    assert Store(tmp_path).labels() == {"environments": {'{"name": "é"}': "calm"}, "learners": {"{}": "Hedge"}}
    manifest = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["format"] == 1
    assert manifest["machines"] == {this_machine().id: this_machine().facts}
    assert {"cpu", "driftwise", "numba", "numpy", "python", "system"} == {*this_machine().facts}


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"format": 1, "machines": 3}', b"\xff", b"[" * 100_000])
def test_a_damaged_manifest_is_replaced(tmp_path, text):
    Store(tmp_path).add(cells(0))
    (tmp_path / "manifest.json").write_bytes(text)
    store = Store(tmp_path)
    assert content(store) == expected(0)
    store.label(learners={"{}": "Hedge"})
    assert json.loads((tmp_path / "manifest.json").read_text())["learners"] == {"{}": "Hedge"}


def test_a_newer_store_is_refused_and_left_as_it_is(tmp_path, monkeypatch):
    (tmp_path / "manifest.json").write_text('{"format": 2}')
    with pytest.raises(BadFile, match=r"manifest\.json has store format 2; this version reads format 1\. Install a"):
        Store(tmp_path)
    (tmp_path / "manifest.json").unlink()
    monkeypatch.setattr("driftwise.results.cell_files.FORMAT", 2)
    write_cells(tmp_path / file_name("a"), table(2))
    monkeypatch.undo()
    with pytest.raises(BadFile, match=r"has format 2 of cells; this version reads format 1\. Install a newer"):
        Store(tmp_path)
    assert files(tmp_path) == [file_name("a")]


# Damage


def damage(path):
    path.write_bytes(path.read_bytes()[:-100])


def test_a_damaged_file_is_moved_aside_and_its_cells_are_missing(tmp_path):
    store = Store(tmp_path)
    store.add(cells(0, 1))
    (first,) = files(tmp_path)
    store.add(cells(2))
    damage(tmp_path / first)
    (tmp_path / file_name("b")).write_text("not Parquet")
    write_cells(tmp_path / file_name("c"), CellTable.from_records([cell(5, key="")]))
    write_cells(tmp_path / file_name("d"), table(1), {"replaces": ["../manifest.json"]})
    write_cells(tmp_path / file_name("e"), table(1), {"replaces": [file_name("e")]})
    store = Store(tmp_path)
    assert content(store) == expected(2)
    damaged = {first, *(file_name(digit) for digit in "bcde")}
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
    write_cells(tmp_path / file_name("a"), CellTable.from_records([cell(0), failed(1), failed(2)]))
    write_cells(tmp_path / file_name("b"), CellTable.from_records([cell(1), failed(2), cell(3)]))
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
            write_cells(tmp_path / file_name("a"), table(1), {"replaces": [old]})
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


# Merging


def test_files_are_merged_as_they_grow(tmp_path, monkeypatch):
    monkeypatch.setattr(merging, "FINAL_CELLS", 100)
    store, n_written = Store(tmp_path), 0
    write = stored_files.write_cells

    def counted(path, cells, extra):
        nonlocal n_written
        n_written += len(cells)
        return write(path, cells, extra)

    monkeypatch.setattr(stored_files, "write_cells", counted)
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
    write_cells(tmp_path / file_name("a"), table(3), {"replaces": sources})
    for name in sources[n_left:]:
        (tmp_path / name).unlink()
    for each in (store, Store(tmp_path)):
        each.refresh()
        assert each.keys == {key(0), key(1), key(2)}
        assert content(each) == expected(0, 1, 2)
    assert files(tmp_path) == [file_name("a")]


def test_an_interrupted_removal_is_completed(tmp_path):
    store = Store(tmp_path)
    store.add(cells(0, 1))
    write_cells(tmp_path / file_name("a"), table(1), {"replaces": files(tmp_path)})
    assert Store(tmp_path).keys == {key(0)}
    store.refresh()
    assert store.keys == {key(0)}
    assert content(store) == expected(0)


def test_a_damaged_merged_file_leaves_its_sources(tmp_path):
    store = Store(tmp_path)
    store.add(cells(0))
    sources = files(tmp_path)
    write_cells(tmp_path / file_name("a"), table(1), {"replaces": sources})
    damage(tmp_path / file_name("a"))
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


def fails(error):
    def call(*_, **__):
        raise error

    return call


# A full disk

CALLS = [(os, "open"), (os, "fsync"), (os, "write"), (Path, "write_bytes"), (Path, "write_text"), (Path, "replace")]
CALLS += [(Path, "unlink")]
FULL = OSError(errno.ENOSPC, "No space left on device")


class FullDisk:
    """Fail from the n-th call on; writes leave half of what they were given. Deleting works on a full disk."""

    def __init__(self, patched, n, once):
        self.n_calls = 0
        for owner, name in CALLS:
            patched.setattr(owner, name, self.counted(getattr(owner, name), name, n, once))

    def counted(self, call, name, n, once):
        def counted(*args, **options):
            if name == "unlink" or (name == "open" and not args[1] & os.O_CREAT) or str(args[0]).endswith("lock"):
                return call(*args, **options)
            self.n_calls += 1
            if self.n_calls == n or (self.n_calls > n and not once):
                if name in ("write_bytes", "write_text"):
                    call(args[0], args[1][: len(args[1]) // 2], **options)
                raise OSError(*FULL.args)
            return call(*args, **options)

        return counted


@pytest.mark.parametrize("once", [True, False])
@pytest.mark.parametrize("n_before", [0, 3, 7])  # the eighth file is merged with the others
def test_a_full_disk_leaves_the_store_as_before_or_after(tmp_path, monkeypatch, once, n_before):
    n, complete = 0, False
    while not complete:
        n += 1
        folder = tmp_path / str(n)
        store = Store(folder)
        for i in range(n_before):
            store.add(cells(i))
        with monkeypatch.context() as patched:
            disk = FullDisk(patched, n, once)
            try:
                assert store.add(cells(100, 101)) == 2
                is_stored = True
            except BadFile as error:
                is_stored = False
                message = str(error)
        complete = disk.n_calls < n
        assert is_stored or (message.startswith("Cannot write ") and message.endswith("No space left on device."))
        wanted = [*range(n_before), *([100, 101] if is_stored else [])]
        assert hidden(folder) == []
        for each in (store, Store(folder)):
            assert each.keys == {key(i) for i in wanted}
            assert content(each) == expected(*wanted)
        assert store.add(cells(100, 101)) == (0 if is_stored else 2)
        assert hidden(folder) == []
    assert n > 4


def remove(store):
    store.discard([key(1)])


@pytest.mark.parametrize("change", [Store.compact, remove])
def test_a_full_disk_in_a_merge_or_a_removal_loses_nothing(tmp_path, monkeypatch, change):
    n, complete = 0, False
    while not complete:
        n += 1
        store = Store(tmp_path / str(n))
        store.add(cells(0, 1))
        store.add(cells(2))
        before = content(store)
        with monkeypatch.context() as patched:
            disk = FullDisk(patched, n, once=False)
            try:
                change(store)
                wanted = expected(0, 2) if change is remove else before
            except BadFile as error:
                wanted, message = before, str(error)
                assert message.endswith("No space left on device.")
        complete = disk.n_calls < n
        assert hidden(store.folder) == []
        assert content(Store(store.folder)) == content(store) == wanted
    assert n > 3


# Claims


def test_no_two_stores_claim_the_same_work(tmp_path):
    with Store(tmp_path) as one, Store(tmp_path) as other:
        assert one.claim(["a", "b", "c", "a"], 2) == ["a", "b"]
        assert other.claim(["a", "b", "c", "d"], 9) == ["c", "d"]
        assert one.claim(["c", "d"], 1) == []
        assert one.claim(["b", "c"], 2) == ["b"]  # its own
        one.release(["a", "unknown"])
        assert other.claim(["a", "b"], 2) == ["a"]
        other.close()
        assert one.claim(["a", "c"], 9) == ["a", "c"]
        assert one.claim(["e"], 0) == []
        assert len(hidden(tmp_path)) == 1
    assert hidden(tmp_path) == []


def test_what_another_finished_is_seen_by_who_claims_next(tmp_path):
    with Store(tmp_path) as one, Store(tmp_path) as other:
        one.claim(["a"], 1)
        one.add(cells(0))
        one.release(["a"])
        assert other.claim(["a"], 1) == ["a"]
        assert other.keys == {key(0)}


def test_dead_and_foreign_claims_hold_nothing(tmp_path):
    store = Store(tmp_path)
    (tmp_path / (".claim-" + "0" * 16)).write_text('["a"]')  # no process has it locked
    (tmp_path / (".claim-" + "1" * 16)).mkdir()
    (tmp_path / (".claim-" + "2" * 16)).symlink_to("manifest.json")
    os.mkfifo(tmp_path / (".claim-" + "3" * 16))
    (tmp_path / ".claim-x").write_text('["b"]')
    assert store.claim(["a", "b"], 2) == ["a", "b"]
    assert not (tmp_path / (".claim-" + "0" * 16)).exists()
    assert (tmp_path / "manifest.json").is_file()
    assert (tmp_path / ".claim-x").is_file()
    store.close()


@pytest.mark.parametrize("text", [b"", b"{", b"3", b'{"a": 1}', b"\xff\xfe", b"[1, null]", b"[" * 100_000])
def test_a_live_claim_without_a_list_holds_nothing(tmp_path, text):
    with Store(tmp_path) as one, Store(tmp_path) as other:
        one.claim(["a"], 1)
        (name,) = hidden(tmp_path)
        (tmp_path / name).write_bytes(text)
        assert other.claim(["a"], 1) == ["a"]


def test_a_full_disk_leaves_claims_as_they_were(tmp_path, monkeypatch):
    with Store(tmp_path) as one, Store(tmp_path) as other:
        one.claim(["a"], 1)
        for n in (1, 2):
            with monkeypatch.context() as patched:
                FullDisk(patched, n, once=False)
                with pytest.raises(BadFile, match=r"^Cannot write .*: No space left on device\.$"):
                    one.claim(["b"], 1)
            assert len(hidden(tmp_path)) == 1
        assert other.claim(["a", "b"], 2) == ["b"]


def test_without_locks_everything_works_but_claims(tmp_path, monkeypatch):
    monkeypatch.setattr("fcntl.flock", fails(OSError(errno.ENOLCK, "No locks available")))
    with Store(tmp_path) as one, Store(tmp_path) as other:
        assert one.claim(["a"], 1) == other.claim(["a"], 1) == ["a"]
        one.add(cells(0))
        assert other.add(cells(0, 1)) == 1
        assert content(one) == expected(0, 1)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # newer versions of Python warn of forks
def test_a_forked_process_does_not_keep_the_claim_of_its_parent(tmp_path):
    one, other = Store(tmp_path), Store(tmp_path)
    one.claim(["a"], 1)
    ready, wait = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:  # lives on after the parent gave up its claim without saying so
        os.write(ready[1], b"x")
        os.read(wait[0], 1)
        os._exit(0)
    try:
        os.read(ready[0], 1)
        assert other.claim(["a"], 1) == []
        one._claim.forget()  # as if the parent was killed
        assert other.claim(["a"], 1) == ["a"]
    finally:
        os.write(wait[1], b"x")
        os.waitpid(child, 0)
        for descriptor in (*ready, *wait):
            os.close(descriptor)
        other.close()


def test_threads_share_a_store(tmp_path):
    store, counts = Store(tmp_path), []

    def work(first):
        for i in range(first, first + 10):
            counts.append(store.add(cells(i, i + 1)))
            store.claim([str(i)], 1)
            store.release([str(i)])

    threads = [threading.Thread(target=work, args=(first,)) for first in (0, 5, 10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(counts) == 21
    assert content(store) == content(Store(tmp_path)) == expected(*range(21))
    assert hidden(tmp_path) == []


def test_keys_are_found_at_once(tmp_path):
    """Membership is that of a set, not a search through columns."""
    store = Store(tmp_path)
    store.add(table(2000))
    assert np.mean([key(i) in store.keys for i in range(4000)]) == 0.5
    assert store.keys is store.keys
