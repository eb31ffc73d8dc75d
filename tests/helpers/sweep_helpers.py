"""Small sweeps, and what the tests compare of their results."""

import re
from pathlib import Path

import numpy as np

from driftwise import Bernoulli, Environment, Sweep, Switching
from driftwise.learners import UCB1, Hedge
from driftwise.sweeps.sources import cell_keys

SWITCHING = Environment(Switching(3, 3), Bernoulli())
SMALL = Sweep(SWITCHING, [Hedge(), UCB1()], 30, n_runs=4, seed=[1, 2])
TOGETHER = Sweep(SWITCHING, [Hedge(), UCB1()], [2000, 3000], n_runs=40, seed=[1, 2])


def content(results):
    """Return everything in results that depends on no clock, as bytes."""
    table = results.cells
    columns = [name for name in table.cells.dtype.names if name not in ("seconds", "stored", *table.texts)]
    texts = [
        [table.texts[name][code] for code in table.cells[name]] for name in sorted(table.texts) if name != "machine"
    ]
    arrays = [np.ascontiguousarray(table.cells[name]) for name in columns]
    arrays += [table.offsets, table.round, table.regret, table.bound]
    return [array.tobytes() for array in arrays], texts


def keys(sweep):
    """Return the keys of all cells of a sweep."""
    return [key for group in sweep.groups() for player in group.players for key in cell_keys(group, player)]


def leftovers(folder):
    """Return the names in a folder that no finished sweep leaves behind."""
    usual = re.compile(r"cells\.sqlite|lock")
    return [path.name for path in Path(folder).iterdir() if not usual.fullmatch(path.name)]
