"""A full disk leaves a store as before or after a change."""

import pytest

from cell_examples import key
from driftwise.core.errors import BadFile
from driftwise.results import Store
from store_examples import FullDisk, cells, content, expected, hidden


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
