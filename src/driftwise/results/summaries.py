"""Mean regrets of the cells of one learner in one environment with one number of rounds."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from driftwise.core.types import Actions
from driftwise.results.cell_groups import group_codes, members_of
from driftwise.results.cell_table import CellTable
from driftwise.results.confidence_intervals import Estimate, estimate
from driftwise.results.footnotes import Caveat
from driftwise.results.sweep_labels import CellLabels

__all__ = ["Place", "Summary", "by_number", "in_order", "places_of", "summaries_of"]

_NUMBER = re.compile(r"([0-9]{1,300}(?:\.[0-9]+)?)")


class Place(NamedTuple):
    """What the cells of a row of a table have in common."""

    environment: str
    learner: str
    n_rounds: int
    comparator: str
    play: str


class Summary(NamedTuple):
    """The cells of one learner in one environment with one number of rounds."""

    place: Place
    n_cells: int  # that were played
    n_failed: int
    regret: Estimate  # NaN if none was played
    bound: float  # the mean over cells, NaN without one
    caveat: str  # why the tuning rule is meaningless there, "" if there is no caveat
    kind: str  # of regret: "pseudo" or "realised", "" if no cell was played

    @property
    def ratio(self) -> float:
        """The regret divided by the bound; NaN if there is none, or if it is trivial (0, or at least T)."""
        return self.regret.mean / self.bound if 0 < self.bound < self.place.n_rounds else math.nan


def places_of(table: CellTable, environments: CellLabels, learners: CellLabels) -> Iterator[tuple[Place, Actions]]:
    """Yield each place with the positions of its cells, in order of its first cell; its cells are sorted by run.

    The order of the cells of a folder is arbitrary, and sums depend on the order in the last digit.
    """
    cells, texts = table.cells, table.texts
    rank = np.empty(len(table), np.int64)
    rank[np.lexsort((cells["run"], cells["seed"]))] = np.arange(len(table))
    columns = (environments.codes, learners.codes, cells["n_rounds"], cells["comparator"], cells["play"])
    for members in members_of(group_codes(columns, len(table))):
        i = members[0]
        yield (
            Place(
                environments.names[environments.codes[i]],
                learners.names[learners.codes[i]],
                int(cells["n_rounds"][i]),
                texts["comparator"][cells["comparator"][i]],
                texts["play"][cells["play"][i]],
            ),
            members[np.argsort(rank[members])],
        )


def summaries_of(table: CellTable, places: Iterator[tuple[Place, Actions]], confidence: float) -> list[Summary]:
    """Return the mean regret at each place."""
    final, failed, texts = table.final, table.failed, table.texts
    last_bounds = table.bound[table.offsets[1:] - 1]
    rows = []
    for place, members in places:
        played = members[~failed[members]]
        if not len(played):
            nothing = Estimate(math.nan, math.nan, math.nan)
            rows.append(Summary(place, 0, len(members), nothing, math.nan, "", ""))
            continue
        codes = table.cells["caveat"][played]
        reasons = [texts["caveat"][code] for code in codes.tolist() if texts["caveat"][code]]
        caveat = Caveat(len(reasons), reasons[0]).text(len(played)) if reasons else ""
        kind = texts["kind"][table.cells["kind"][played[0]]]
        bound = float(np.mean(last_bounds[played]))
        regret = estimate(final[played], confidence)
        rows.append(Summary(place, len(played), len(members) - len(played), regret, bound, caveat, kind))
    return rows


def in_order(rows: list[Summary]) -> list[Summary]:
    """Return rows in the order of a table: by environment, then by rounds, the least regret first."""

    def key(row: Summary) -> tuple[Any, ...]:
        place, mean = row.place, row.regret.mean
        missing = math.isnan(mean)
        return (
            by_number(place.environment), place.comparator, place.play, place.n_rounds,
            missing, 0.0 if missing else mean, by_number(place.learner),
        )  # fmt: skip

    return sorted(rows, key=key)


def by_number(label: str) -> tuple[list[Any], str]:
    """Return a key that sorts labels by the numbers in them.

    >>> sorted(["10 segments", "2 segments"], key=by_number)
    ['2 segments', '10 segments']
    """
    return [float(part) if i % 2 else part for i, part in enumerate(_NUMBER.split(label))], label
