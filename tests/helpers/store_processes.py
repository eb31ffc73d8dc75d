"""Processes that share a store, and are killed: a program for `test_store_processes.py`.

The processes are forked, because importing the libraries takes longer than all they do.
"""

import contextlib
import os
import random
import signal
import sys
import time
import warnings
from pathlib import Path

from cell_examples import by_key, cell, key
from driftwise.results import CellTable, Store


def forked(work):
    """Run `work` in a forked process and return its id, and a file of the lines that it wrote."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with contextlib.suppress(BaseException):
            work(lambda line: os.write(writer, f"{line}\n".encode()))
            os._exit(0)
        os._exit(1)
    os.close(writer)
    return child, os.fdopen(reader)


def grow(folder, first):
    """Add and remove cells until the process is killed; tell which cells were added."""

    def work(tell):
        store = Store(folder)
        for i in range(first, first + 100_000, 2):
            store.add([cell(i), cell(i + 1)])
            tell(i)
            if i % 14 == 0:
                store.discard([key(first + 1)])

    return work


def kill(folder, n_times):
    moments = random.Random(5)
    told, first = {}, 0
    for _ in range(n_times):
        child, lines = forked(grow(folder, first))
        lines.readline()  # the first cells are stored
        told |= dict.fromkeys([first, first + 1])
        time.sleep(moments.uniform(0.0, 0.15))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        added = [int(line) for line in lines if line.endswith("\n")]
        told |= dict.fromkeys([each + n for each in added for n in (0, 1)])
        store = Store(folder)
        check(store, told, {first + 1})
        first = max([first, *added]) + 10
        store.discard([key(i) for i in range(first - 8, first)])  # cells that were added, but not told
        told = {i: None for i in told if key(i) in store.keys}
    print(len(told))


def check(store, told, may_be_missing):
    cells = by_key(store.table())
    missing = [i for i in told if key(i) not in cells and i not in may_be_missing]
    assert not missing, f"lost: {missing}"
    numbers = range(max(told) + 10)
    wanted = by_key(CellTable.from_records(cell(i) for i in numbers))
    assert all(cells[each] == wanted[each] for each in cells), "changed"
    files = [path.name for path in store.folder.iterdir()]
    assert not [name for name in files if name.startswith(".")], files
    assert len(store.table()) == len(cells) == len(store.keys), "a cell twice"
    assert not store.damaged, store.damaged


def add_at_once(folder):
    """Three processes add the same cells, in batches that overlap."""

    def work(start):
        def add(tell):
            store = Store(folder)
            for i in range(start, 60, 3):
                tell(store.add([cell(n) for n in range(i, i + 5)]))

        return add

    workers = [forked(work(start)) for start in range(3)]
    counts = [int(line) for _, lines in workers for line in lines]
    assert all(os.waitpid(child, 0)[1] == 0 for child, _ in workers)
    check(Store(folder), dict.fromkeys(range(64)), set())
    print(sum(counts))


def claim(folder):
    """A process claims work and is killed."""

    def work(tell):
        store = Store(folder)
        tell(" ".join(store.claim(["a", "b"], 1)))
        time.sleep(600)

    child, lines = forked(work)
    with Store(folder) as store:
        print(lines.readline().strip(), *store.claim(["a", "b"], 2))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        print(*store.claim(["a", "b"], 2))


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # newer versions of Python warn of forks
    {"kill": lambda folder: kill(folder, 20), "add": add_at_once, "claim": claim}[sys.argv[1]](Path(sys.argv[2]))
