"""Mean curves of regret over rounds, with confidence intervals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from driftwise.core.types import Actions, Vector
from driftwise.results.cell_table import CellTable
from driftwise.results.confidence_intervals import half_width

__all__ = ["MeanCurve", "mean_curve"]


class MeanCurve(NamedTuple):
    """The mean regret of some cells at their marked rounds, with its interval."""

    rounds: Actions
    mean: Vector
    low: Vector
    high: Vector
    n_cells: int


def mean_curve(table: CellTable, members: Actions, confidence: float = 0.95) -> MeanCurve | None:
    """Return the mean curve of cells; those without a curve, or with fewer rounds than others, are left out."""
    played = members[~table.failed[members]]
    longest = int(table.lengths[played].max(initial=0))
    if longest < 2:
        return None
    alike = played[table.lengths[played] == longest]
    rows = table.offsets[:-1][alike][:, np.newaxis] + np.arange(longest)
    rounds = table.round[rows]
    same = (rounds == rounds[0]).all(axis=1)
    regrets = table.regret[rows[same]]
    mean, half = regrets.mean(axis=0), half_width(regrets, confidence)
    return MeanCurve(rounds[0], mean, mean - half, mean + half, int(same.sum()))
