"""Open stores that share a folder do not claim the same work."""

import os
import threading

import numpy as np
import pytest

from cell_examples import key, table
from driftwise.results import Store
from store_examples import cells, content, expected, hidden


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
    (tmp_path / (".claim-" + "2" * 16)).symlink_to("cells.sqlite")
    os.mkfifo(tmp_path / (".claim-" + "3" * 16))
    (tmp_path / ".claim-x").write_text('["b"]')
    assert store.claim(["a", "b"], 2) == ["a", "b"]
    assert not (tmp_path / (".claim-" + "0" * 16)).exists()
    assert (tmp_path / "cells.sqlite").is_file()
    assert (tmp_path / ".claim-x").is_file()
    store.close()


@pytest.mark.parametrize("text", [b"", b"{", b"3", b'{"a": 1}', b"\xff\xfe", b"[1, null]", b"[" * 100_000])
def test_a_live_claim_without_a_list_holds_nothing(tmp_path, text):
    with Store(tmp_path) as one, Store(tmp_path) as other:
        one.claim(["a"], 1)
        (name,) = hidden(tmp_path)
        (tmp_path / name).write_bytes(text)
        assert other.claim(["a"], 1) == ["a"]


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
