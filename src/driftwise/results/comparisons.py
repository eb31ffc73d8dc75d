"""Paired comparisons: the regret of a learner minus that of a baseline on the same losses."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from driftwise.core.types import Actions, Flags
from driftwise.results.cell_groups import IDENTITY, group_codes
from driftwise.results.cell_table import CellTable
from driftwise.results.confidence_intervals import Estimate, estimate
from driftwise.results.summaries import Place

__all__ = ["Comparison", "Unpaired", "comparisons_of"]

BUILT = "an adversary built the environment against each learner, so the losses differ"
ABSENT = "the baseline has no cells there"
APART = "no seed and run in common with the baseline"
CHANGED = "the losses differ from those of the baseline; the environment may be of another version"
_TOLERANCE = 1e-9  # of quantities of the losses, which another processor may round differently


class Comparison(NamedTuple):
    """The regret of a learner minus that of a baseline, over the seeds and runs that both have."""

    place: Place
    baseline: str
    n_pairs: int
    difference: Estimate
    n_cells: int  # of the learner, with or without a partner

    @property
    def verdict(self) -> str:
        """Whether the regret is "lower" or "higher" than the baseline's; "" if the interval includes 0."""
        return "lower" if self.difference.high < 0 else "higher" if self.difference.low > 0 else ""


class Unpaired(NamedTuple):
    """Cells of a learner without partner among those of the baseline, and why."""

    place: Place
    reason: str


def comparisons_of(
    table: CellTable, places: Iterable[tuple[Place, Actions]], baseline: str, confidence: float
) -> tuple[list[Comparison], list[Unpaired]]:
    """Return the comparison at each place, and the places where there is none.

    A pair has the same spec of the environment, number of rounds, seed, run, comparator and play. Quantities of the
    losses must agree as well: an environment of an earlier version, or a recording that was replaced, has the same spec
    and other losses.
    """
    places = list(places)
    played = ~table.failed
    is_baseline = np.zeros(len(table), np.bool_)
    for place, members in places:
        is_baseline[members] = place.learner == baseline
    partner = _partners(table, is_baseline & played)
    same = _same_losses(table, partner)
    final, there = table.final, {place for place, members in places if played[members].any()}
    found, unpaired = [], []
    for place, members in places:
        if place.learner == baseline or not played[members].any():
            continue
        with_partner = members[played[members] & (partner[members] >= 0)]
        pairs = with_partner[same[with_partner]]
        if len(pairs):
            difference = estimate(final[pairs] - final[partner[pairs]], confidence)
            found.append(Comparison(place, baseline, len(pairs), difference, int(played[members].sum())))
        elif len(with_partner):
            unpaired.append(Unpaired(place, CHANGED))
        elif place._replace(learner=baseline) not in there:
            unpaired.append(Unpaired(place, ABSENT))
        else:
            spec = json.loads(table.texts["environment"][table.cells["environment"][members[0]]])
            unpaired.append(Unpaired(place, BUILT if "against" in spec else APART))
    return found, unpaired


def _partners(table: CellTable, candidates: Flags) -> Actions:
    """Return for each cell the position of the candidate with the same losses, -1 without one."""
    codes = group_codes((table.cells[name] for name in IDENTITY if name != "learner"), len(table))
    partner = np.full(len(table) + 1, -1, np.int64)
    positions = np.flatnonzero(candidates)
    partner[codes[positions]] = positions
    return partner[codes]


def _same_losses(table: CellTable, partner: Actions) -> Flags:
    same = np.ones(len(table), np.bool_)
    for name in ("deviation", "movement"):
        mine, other = table.cells[name], table.cells[name][partner]
        unknown = np.isnan(mine) | np.isnan(other)
        same &= unknown | np.isclose(mine, other, rtol=_TOLERANCE, atol=0.0)
    return same
