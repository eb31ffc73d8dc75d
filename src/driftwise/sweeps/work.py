"""The cells of a sweep that are still to be played: their order, and how many make a batch.

The longest cells come first, so that no long one is left for the end. A batch takes about half a second: little is lost
when a process is killed, and handing it over takes a small part of the time.
"""

from __future__ import annotations

import functools
import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Set

from driftwise.learners import Learner, Player
from driftwise.sweeps.batches import Batch, play_batch
from driftwise.sweeps.sources import Group

_UNKNOWN = 2e-6  # seconds of a round of a learner that was not timed yet
_STORED = 1e-4  # seconds to store a cell
_SAMPLES = (250, 5000)  # rounds; a cell takes some time whatever its rounds


class Costs:
    """Seconds of a cell by player, number of actions and rounds; the least that was seen, without compilation."""

    def __init__(self) -> None:
        self._cells: dict[tuple[str, int, int], float] = {}
        self._rounds: dict[tuple[str, int], dict[int, float]] = {}  # seconds by rounds, by name of learner and actions

    def record(self, player: Player, n_actions: int, n_rounds: int, seconds: float) -> None:
        """Take the time of a cell into account."""
        if not seconds > 0:
            return
        cell, timed = (player.text, n_actions, n_rounds), self._rounds.setdefault((player.name, n_actions), {})
        self._cells[cell] = min(seconds, self._cells.get(cell, seconds))
        timed[n_rounds] = min(seconds, timed.get(n_rounds, seconds))

    def of_cell(self, player: Player, n_actions: int, n_rounds: int) -> float:
        """Return the estimated seconds of a cell."""
        cell_seconds = self._cells.get((player.text, n_actions, n_rounds))
        if cell_seconds is not None:
            return cell_seconds
        timed = self._rounds.get((player.name, n_actions))
        if timed is None:
            return _UNKNOWN * n_rounds
        power = 2 if player.kind.make_room is not Learner.make_room else 1  # its rounds become longer
        short, long = min(timed), max(timed)
        work = long**power - (short**power if short < long else 0)
        slope = max(0.0, timed[long] - (timed[short] if short < long else 0.0)) / work
        return float(max(1e-9, timed[long] + slope * (n_rounds**power - long**power)))

    def of_setup(self, player: Player, n_actions: int) -> float:
        """Return the estimated seconds that a cell takes whatever its rounds; Python's lock has one thread in them."""
        timed = self._rounds.get((player.name, n_actions), {})
        if len(timed) < 2:
            return 0.0
        short, long = min(timed), max(timed)
        slope = max(0.0, timed[long] - timed[short]) / (long - short)
        return max(0.0, timed[short] - slope * short)

    def are_known(self, group: Group) -> bool:
        """Return whether every learner of a group was timed with this number of actions."""
        return all((player.name, group.n_actions) in self._rounds for player in group.players)

    def of_run(self, group: Group) -> float:
        """Return the estimated seconds of one run of all players of a group, more than 0."""
        return max(1e-9, sum(self.of_cell(player, group.n_actions, group.n_rounds) for player in group.players))


def sample_costs(groups: Iterable[Group], costs: Costs, progress: Callable[[int, int], object] | None) -> None:
    """Time all learners of a group together, in a short and in a longer cell; the first time compiles them."""
    progress = progress or (lambda *_: None)
    wanted: dict[object, Group] = {}
    for group in sorted(groups, key=lambda group: -group.n_rounds):
        wanted.setdefault((group.players, group.n_actions, group.source.is_built), group)
    for done, group in enumerate(wanted.values()):
        progress(done, len(wanted))
        one_run = group._replace(runs=group.runs[:1])
        samples = [one_run._replace(n_rounds=n) for n in _SAMPLES if n < group.n_rounds]
        if not all([*map(functools.partial(_time, costs=costs), samples or [one_run])]):
            _time(one_run, costs)  # its environment, or a learner, needs that many rounds
    progress(len(wanted), len(wanted))


def _time(group: Group, costs: Costs) -> bool:
    """Play one run twice, the first time to compile; return whether all learners could play."""
    for _ in range(2):
        records = [record for some in play_batch(Batch.of(group)) for record in some]
    for player, record in zip(group.players, records, strict=True):
        if not record.error:
            costs.record(player, group.n_actions, group.n_rounds, record.seconds)
    return not any(record.error for record in records)


_BATCH_SECONDS = 0.5
_LEAST_SECONDS = 0.05  # of a batch near the end, when the rest is divided among all threads
_MOST_RUNS = 1000  # of a piece; `next` looks at all of them each time
_BUILT_SECONDS = 4.0  # of a batch whose environment is built against its learner, which may take as long


class BatchQueue:
    """Batches to play, longest cells first."""

    def __init__(self, batches: Iterable[Batch], stored: Set[str], costs: Costs, by_learner: bool) -> None:
        self._costs = costs
        self._cells: Counter[tuple[Player, int, int]] = Counter()  # to play, by player, actions and rounds
        pieces: list[Batch] = []
        seen: set[str] = set()  # sweeps may share cells
        for batch in batches:
            for missing in batch.restrict(lambda key: key not in stored and key not in seen):
                seen.update(missing.all_keys)
                self._count(missing.group, 1)
                for part in _parts(missing):
                    pieces += self._by_learner(part) if by_learner else [part]
        # Those of one learner together: a new worker then needs few kernels.
        pieces.sort(key=lambda piece: (-round(math.log2(costs.of_run(piece.group))), piece.group.players[0].name))
        self._pieces = deque(pieces)
        self._postponed: list[Batch] = []

    @property
    def n_cells(self) -> int:
        """The number of cells to play."""
        return self._cells.total()

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to hand out."""
        return not self._pieces and not self._postponed

    @property
    def only_postponed(self) -> bool:
        """Whether all that is left was postponed."""
        return not self._pieces and bool(self._postponed)

    def next(self, stored: Set[str], n_workers: int, most: int = 1) -> list[Batch]:
        """Return the next batches, at most so many, without cells that are stored meanwhile."""
        batches: list[Batch] = []
        while self._pieces and len(batches) < most:
            piece = self._pieces.popleft()
            self._count(piece.group, -1)
            missing = piece.restrict(lambda key: key not in stored)
            for rest in missing:
                self._count(rest.group, 1)
            if missing:
                self._pieces.extendleft(reversed(missing[1:]))
                batches.append(self._portion(missing[0], n_workers))
        return batches

    def drop(self, batch: Batch) -> None:
        """Leave out a batch that `next` returned, since another process has stored it."""
        self._count(batch.group, -1)

    def postpone(self, batch: Batch) -> None:
        """Put a batch aside, since another process plays it."""
        self._postponed.append(batch)

    def resume(self) -> None:
        """Hand out again what was postponed: the other process may have ended, and what it stored is left out."""
        self._pieces.extend(self._postponed)
        self._postponed.clear()

    def finish(self, player: Player, n_actions: int, n_rounds: int) -> None:
        """Count a cell as played."""
        self._cells[player, n_actions, n_rounds] -= 1

    def seconds_left(self) -> float:
        """Return the estimated seconds, on one thread, of the cells that are not finished."""
        return sum(n * self._costs.of_cell(*cell) for cell, n in self._cells.items())

    def wall_seconds(self, n_threads: int) -> float:
        """Return the estimated seconds on so many threads of one process."""
        setup = sum(n * self._costs.of_setup(player, n_actions) for (player, n_actions, _), n in self._cells.items())
        return max(self.seconds_left() / n_threads, setup) + _STORED * self.n_cells

    def _count(self, group: Group, sign: int) -> None:
        for player in group.players:
            self._cells[player, group.n_actions, group.n_rounds] += sign * len(group.runs)

    def _by_learner(self, batch: Batch) -> list[Batch]:
        """Divide a batch by the classes of its learners."""
        names: dict[str, list[int]] = {}
        for i, player in enumerate(batch.group.players):
            names.setdefault(player.name, []).append(i)
        return [batch.select(players) for players in names.values()]

    def _portion(self, piece: Batch, n_workers: int) -> Batch:
        """Return the first runs of a piece, or the first players of its first run, and put back the rest."""
        group = piece.group
        longest = _BUILT_SECONDS if group.source.is_built else _BATCH_SECONDS
        target = max(_LEAST_SECONDS, min(longest, self.seconds_left() / (2 * n_workers)))
        # A learner that was not timed yet may be much slower than is assumed.
        n_runs = max(1, int(target / self._costs.of_run(group))) if self._costs.are_known(group) else 1
        if n_runs < len(group.runs):
            self._pieces.appendleft(piece.select(runs=range(n_runs, len(group.runs))))
            piece = piece.select(runs=range(n_runs))
        if n_runs > 1 or group.source.is_built:
            return piece
        total, n_players = 0.0, 0
        while n_players < len(group.players) and (n_players == 0 or total < target):
            total += self._costs.of_cell(group.players[n_players], group.n_actions, group.n_rounds)
            n_players += 1
        if n_players < len(group.players):
            self._pieces.appendleft(piece.select(range(n_players, len(group.players))))
            piece = piece.select(range(n_players))
        return piece


def _parts(batch: Batch) -> list[Batch]:
    """Divide a batch with very many runs."""
    runs = range(len(batch.group.runs))
    return [batch.select(runs=runs[first : first + _MOST_RUNS]) for first in runs[::_MOST_RUNS]]
