"""Stores for tests: their content, their files, and disks that are full."""

import errno
import os
from pathlib import Path

from cell_examples import by_key, cell
from driftwise.results import CellTable
from driftwise.results.cell_files import cell_bytes
from driftwise.results.stored_files import stored_name


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


def put(folder, table, extra=None):
    """Write a file as another process would, and return its name."""
    content = cell_bytes(table, extra)
    (folder / stored_name(content)).write_bytes(content)
    return stored_name(content)


def damage(path):
    path.write_bytes(path.read_bytes()[:-100])


def fails(error):
    def call(*_, **__):
        raise error

    return call


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
