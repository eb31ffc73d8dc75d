"""A process may fork while a thread stores; the child opens the file itself, and the file stays whole."""

import contextlib
import os
import sqlite3

import pytest

from cell_examples import by_key, cell
from driftwise.results import Store
from driftwise.results.store import FILE, read_store
from forked_children import N_FORKS, result_of_child, thread_that_repeats
from store_examples import cells, content, expected

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork"),
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),  # it is multi-threaded, on purpose
]
FIRST = 100_000  # number of the first cell of a child


def test_both_processes_store_after_a_fork(tmp_path):
    with Store(tmp_path) as store:
        stored = []
        connection = store._db

        def add(i):
            store.add(cells(i))
            stored.append(i)

        def adds_two(number):
            both = cells(FIRST + 2 * number, FIRST + 2 * number + 1)
            return (
                store._db is not connection
                and store.add(both[:1]) == 1
                and store.add(both) == 1
                and {both[0].key, both[1].key} <= store.keys
            )

        with thread_that_repeats(add):
            connection = store._db
            codes = [result_of_child(lambda i=i: adds_two(i)) for i in range(N_FORKS)]
        assert codes == [0] * N_FORKS
        store.refresh()
        assert content(store) == expected(*stored, *range(FIRST, FIRST + 2 * N_FORKS))
    with contextlib.closing(sqlite3.connect(tmp_path / FILE)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_child_reads_while_threads_of_the_parent_read_and_store(tmp_path):
    with Store(tmp_path / "read") as store:
        store.add([cell(i, 20) for i in range(300)])
        wanted = content(store)

    def reads(number):
        same = by_key(read_store(tmp_path / "read").table) == wanted
        with Store(tmp_path / "written") as mine:
            return same and mine.add(cells(number)) == 1

    with thread_that_repeats(lambda _: read_store(tmp_path / "read")):
        assert [result_of_child(lambda i=i: reads(i)) for i in range(N_FORKS)] == [0] * N_FORKS
    with Store(tmp_path / "written") as store:
        assert content(store) == expected(*range(N_FORKS))


def test_a_thread_that_forks_while_it_stores_gives_its_child_a_usable_store(tmp_path):
    with Store(tmp_path) as store:
        codes = []

        def fork_and_add(i):
            store.add(cells(i))
            if not codes:
                codes.append(result_of_child(lambda: store.add(cells(FIRST)) == 1))

        with thread_that_repeats(fork_and_add):
            for i in range(50):
                store.add(cells(1000 + i))
            while not codes:
                store.refresh()
    assert codes == [0]
