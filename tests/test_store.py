"""A store keeps each finished cell once, and rejects what it cannot use in one line."""

import builtins
import json

import pytest

from cell_examples import by_key, cell, failed, key, table
from driftwise.core.errors import BadFile, InvalidInput, MissingDependency
from driftwise.results import Store
from driftwise.results.machine import this_machine
from store_examples import cells, content, expected, files, hidden, names, put


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
    name = put(tmp_path, table(2))
    monkeypatch.undo()
    with pytest.raises(BadFile, match=r"has format 2 of cells; this version reads format 1\. Install a newer"):
        Store(tmp_path)
    assert files(tmp_path) == [name]
