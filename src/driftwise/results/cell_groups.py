"""Groups of cells that are equal in some columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from driftwise.core.types import Actions
from driftwise.results.cell_table import CellTable

__all__ = ["IDENTITY", "distinct_cells", "group_codes", "members_of"]

# Two cells that are equal in these columns are the same run of the same learner.
IDENTITY = ("environment", "learner", "n_rounds", "seed", "run", "comparator", "play")


def group_codes(columns: Iterable[Any], n_cells: int) -> Actions:
    """Return a number for each cell: equal if and only if all columns are equal, from 0 on without gaps.

    >>> group_codes([np.array([5, 5, 7]), np.array([1, 2, 1])], 3)
    array([0, 1, 2])
    """
    codes = np.zeros(n_cells, np.int64)
    for column in columns:
        values, places = np.unique(column, return_inverse=True)
        _, combined = np.unique(codes * len(values) + places.reshape(-1), return_inverse=True)
        codes = combined.reshape(-1).astype(np.int64)
    return codes


def members_of(codes: Actions) -> list[Actions]:
    """Return for each code the positions of its cells; groups are in the order of their first cell."""
    if not len(codes):
        return []
    order = np.argsort(codes, kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(codes))[:-1])
    return sorted(groups, key=lambda group: int(group[0]))


def distinct_cells(table: CellTable) -> CellTable:
    """Return the cells without repetitions of the same run of the same learner.

    A folder has such repetitions if the version of a class was raised, or if a sweep with curves was run after one
    without. Of these, a cell without an error is kept, then the one that was stored last, or one that agrees with it
    and has a longer curve.
    """
    codes = group_codes((table.cells[name] for name in IDENTITY), len(table))
    if not len(table) or codes.max() + 1 == len(table):
        return table
    newest = np.lexsort((-table.cells["stored"], table.failed, codes))
    first = newest[np.unique(codes[newest], return_index=True)[1]]
    kept_regret = table.final[first][codes]
    agrees = (table.final == kept_regret) | (np.isnan(table.final) & np.isnan(kept_regret))
    order = np.lexsort((-table.cells["stored"], -table.lengths, ~agrees, codes))
    kept = np.sort(order[np.unique(codes[order], return_index=True)[1]])
    return table.take(kept)
