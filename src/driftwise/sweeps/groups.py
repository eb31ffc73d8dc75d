"""Groups of cells with the same losses, and the keys of cells. A cell is one run of one player in one environment.

The key is a digest of everything that the outcome depends on: the specs, the versions of the classes, and the version
of the engine. So a cell that was played once is not played again, whatever sweep it belongs to and whatever its labels.
"""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

from driftwise.core.spec_text import spec_text
from driftwise.engine.version import VERSION
from driftwise.learners import Player
from driftwise.sweeps.sources import Source

__all__ = ["Group", "Outputs", "cell_keys"]

_KEY_DIGITS = 32


class Outputs(NamedTuple):
    """What is measured in a cell."""

    comparator: str = "dynamic"
    play: str = "weights"
    points: int = 1  # marked rounds of the regret curve; 1 is the end only
    best_loss: bool = False  # whether to compute the best loss L*


class Group(NamedTuple):
    """Cells with the same losses: all players and runs of one environment, number of rounds and seed."""

    source: Source
    players: tuple[Player, ...]
    n_rounds: int
    seed: int
    runs: tuple[int, ...]
    outputs: Outputs

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        return len(self.players) * len(self.runs)


def cell_keys(group: Group, player: Player, shared: dict[tuple[str, ...], Any] | None = None) -> list[str]:
    """Return the key of each run of a player.

    `shared` keeps the digests of what cells of several numbers of rounds and seeds have in common, for many groups.
    """
    shared = {} if shared is None else shared
    place = (group.source.text, player.text, str(group.outputs))
    if place not in shared:
        shared[place] = _shared_digest(group, player)
    keys = []
    for run in group.runs:
        content = shared[place].copy()
        content.update(f"\nrounds {group.n_rounds} seed {group.seed} run {run}".encode())
        keys.append(content.hexdigest()[:_KEY_DIGITS])
    return keys


def _shared_digest(group: Group, player: Player) -> Any:
    content = {
        "engine": VERSION,
        "environment": group.source.spec,
        "environment versions": group.source.versions,
        "learner": player.spec,
        "learner versions": player.versions,
        "outputs": group.outputs._asdict(),
    }
    return hashlib.sha256(spec_text(content).encode())
