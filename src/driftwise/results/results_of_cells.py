"""Results of one simulation, made from its cells."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from driftwise.core.errors import DriftwiseError, InvalidInput
from driftwise.core.measures import Measures
from driftwise.core.tuning_caveats import collected
from driftwise.learners import Player
from driftwise.registry import to_spec
from driftwise.results.cell_table import CellTable
from driftwise.results.cells import MEASURES, REALISED
from driftwise.results.footnotes import Caveat
from driftwise.results.realised import Realised
from driftwise.results.results import Results

__all__ = ["results_of_cells"]

_SHARED = ("environment", "n_actions", "n_rounds", "seed", "comparator", "play", "kind")


def results_of_cells(table: CellTable, labels: Sequence[str]) -> Results:
    """Return the results of cells with one environment, number of rounds and seed, and all runs of each learner."""
    cells = table.cells
    for name in _SHARED:
        if len(np.unique(cells[name])) != 1:
            n_values = len(np.unique(cells[name]))
            raise InvalidInput(
                f"SweepResults: results need cells of one `{name}`, got {n_values}. `select` chooses one."
            )
    order = list(dict.fromkeys(labels))
    runs = np.unique(cells["run"])
    places = {(label, run): i for i, (label, run) in enumerate(zip(labels, cells["run"].tolist(), strict=True))}
    if len(places) != len(labels) or len(labels) != len(order) * len(runs) or (runs != np.arange(len(runs))).any():
        raise InvalidInput("SweepResults: results need every run of every learner, once.")
    table = table.take(np.array([places[label, int(run)] for label in order for run in runs], np.int64))
    if (table.lengths != table.lengths[0]).any():
        raise InvalidInput("SweepResults: results need curves with the same rounds for all learners.")
    cells, first, shape = table.cells.reshape(len(order), len(runs)), table.record(0), (len(order), len(runs), -1)
    measured = tuple(
        Measures(first.n_actions, first.n_rounds, int(cell["segments"]), *cell[[*MEASURES]].item())
        for cell in cells[0]
        if cell["segments"] > 0
    )
    bounds = table.bound.reshape(shape)
    bounded = np.flatnonzero(~np.isnan(bounds).all(axis=(0, 1)))
    bounded = bounded if len(bounded) else np.array([len(first.rounds) - 1])
    players = [Player.from_spec(json.loads(table.texts["learner"][row["learner"][0]])) for row in cells]
    caveats = {}
    for label, row in zip(order, cells, strict=True):
        reasons = [table.texts["caveat"][code] for code in row["caveat"] if table.texts["caveat"][code]]
        if reasons:
            caveats[label] = Caveat(len(reasons), reasons[0])
    return Results(
        labels=tuple(order),
        learners=tuple(player.spec for player in players),
        played=tuple(_played(player, measured, first.n_actions, first.n_rounds) for player in players),
        environment=json.loads(first.environment),
        comparator=first.comparator,
        play=first.play,
        kind=first.kind,
        n_actions=first.n_actions,
        n_rounds=first.n_rounds,
        n_runs=len(runs),
        seed=first.seed,
        rounds=first.rounds,
        regrets=table.regret.reshape(shape),
        measures=measured,
        realised=tuple(Realised(*(float(cell[name]) for name in REALISED)) for cell in cells[0]),
        bound_rounds=first.rounds[bounded],
        bounds=bounds[:, :, bounded],
        caveats=caveats,
    )


def _played(player: Player, measured: Sequence[Measures], n_actions: int, n_rounds: int) -> dict[str, Any]:
    """Return the spec of the learner in the first run; that of the player where cells do not tell what it was told."""
    if player.tuned == "budget":
        return player.spec
    try:
        with collected():
            return to_spec(player.learner(n_actions, n_rounds, measured[0] if measured else None))
    except DriftwiseError:  # the rule needs change points, which cells do not hold
        return player.spec
