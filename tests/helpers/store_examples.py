"""Stores for tests: their content, and damage to their files."""

import contextlib
import sqlite3

from cell_examples import by_key, cell
from driftwise.results import CellTable
from driftwise.results.store import FILE


def cells(*numbers):
    return [cell(i) for i in numbers]


def content(store):
    return by_key(store.table())


def expected(*numbers):
    return by_key(CellTable.from_records(cells(*numbers)))


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def hidden(folder):
    return [name for name in names(folder) if name.startswith(".")]


def run_sql(folder, script):
    """Change the file of a store as another program would."""
    with contextlib.closing(sqlite3.connect(folder / FILE)) as db:
        db.executescript(script)


def flip(path, position, bit=0):
    """Flip one bit of a file."""
    with path.open("r+b") as file:
        file.seek(position)
        (byte,) = file.read(1)
        file.seek(position)
        file.write(bytes([byte ^ (1 << bit)]))


def fails(error):
    def call(*_, **__):
        raise error

    return call
