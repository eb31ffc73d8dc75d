"""Estimated times of cells: from cells that were played, or from a sample of rounds."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable

from driftwise.learners import Learner, Player
from driftwise.results.cells import CellRecord
from driftwise.sweeps.batches import Batch, play_batch
from driftwise.sweeps.groups import Group

__all__ = ["Costs", "sample_costs"]

_UNKNOWN = 2e-6  # seconds of a round of a learner that was not timed yet
_SAMPLE_ROUNDS = 2000


class Costs:
    """Seconds of a cell by player, number of actions and rounds; the least that was seen, without compilation."""

    def __init__(self) -> None:
        self._cells: dict[tuple[str, int, int], float] = {}
        # Seconds of a round, and the rounds of the cell that was timed, by name of the learner and actions.
        self._rounds: dict[tuple[str, int], tuple[float, int]] = {}

    def record(self, player: Player, n_actions: int, n_rounds: int, seconds: float) -> None:
        """Take the time of a cell into account."""
        if not seconds > 0:
            return
        cell, rate = (player.text, n_actions, n_rounds), (player.name, n_actions)
        self._cells[cell] = min(seconds, self._cells.get(cell, seconds))
        self._rounds[rate] = min((seconds / n_rounds, n_rounds), self._rounds.get(rate, (math.inf, 1)))

    def of_cell(self, player: Player, n_actions: int, n_rounds: int) -> float:
        """Return the estimated seconds of a cell."""
        known = self._cells.get((player.text, n_actions, n_rounds))
        if known is not None:
            return known
        seconds, timed = self._rounds.get((player.name, n_actions), (_UNKNOWN, n_rounds))
        growth = n_rounds / timed if player.kind.make_room is not Learner.make_room else 1.0  # its rounds become longer
        return seconds * growth * n_rounds

    def are_known(self, group: Group) -> bool:
        """Return whether every learner of a group was timed with this number of actions."""
        n_actions = group.source.origin.n_actions
        return all((player.name, n_actions) in self._rounds for player in group.players)

    def of_run(self, group: Group) -> float:
        """Return the estimated seconds of one run of all players of a group."""
        n_actions = group.source.origin.n_actions
        return sum(self.of_cell(player, n_actions, group.n_rounds) for player in group.players)


def sample_costs(groups: Iterable[Group], costs: Costs, progress: Callable[[int, int], None] | None = None) -> None:
    """Time a few thousand rounds of each learner, or its shortest cell; the first time compiles it."""
    wanted: dict[tuple[str, int], Group] = {}
    for group in groups:
        for player in group.players:
            one = group._replace(players=(player,), runs=group.runs[:1])
            known = wanted.setdefault((player.name, group.source.origin.n_actions), one)
            if group.n_rounds < known.n_rounds:
                wanted[player.name, group.source.origin.n_actions] = one
    for done, ((_, n_actions), group) in enumerate(wanted.items()):
        if progress is not None:
            progress(done, len(wanted))
        short = group._replace(n_rounds=min(group.n_rounds, _SAMPLE_ROUNDS))
        _time(short, n_actions, costs) or (short == group or _time(group, n_actions, costs))
    if progress is not None:
        progress(len(wanted), len(wanted))


def _time(group: Group, n_actions: int, costs: Costs) -> bool:
    """Play one cell twice, the first time to compile; return whether that was possible."""
    for _ in range(2):
        began = time.perf_counter()
        records: list[CellRecord] = [record for some in play_batch(Batch.of(group)) for record in some]
        seconds = time.perf_counter() - began
        if not records or records[0].error:
            return False
    costs.record(group.players[0], n_actions, group.n_rounds, seconds)
    return True
