r"""Families of worlds in the regret study: every learner plays the same drawn arrays, and is scored as in `study.py`.

A family draws a world for a seed, a number of rounds and a number of actions: losses, their means, and which rounds
reach the learner (`seen`). In a round that is not seen a learner plays and is charged, but it is not updated: weights
stay as they are, and a bandit learner chooses again.

**Regret.** Where the rounds of a family are independent given the means, the regret is the pseudo-regret: the mean of
the play less the least mean, summed over rounds. Where rounds depend on each other, the past of the losses tells
something of the next ones, and means do not: there the regret is realised, the loss of the play less that of the action
with the least mean in the round. It may be below 0.

**Tuning by theorems** needs the measures of a world. Segments and drift are those of the means; the total variance is
estimated by the squares of losses less means, which have its expectation.

**The interval of a score** is a bootstrap over runs: even and odd runs are drawn again among themselves, the best tuned
learner is chosen again, and the interval has the middle 95 % of the scores. So it includes that choice. The worst cell
of a learner is the largest of many scores, so its score is too large on average; the interval does not mend that.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import itertools
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from driftwise.core.errors import DriftwiseError
from driftwise.core.measures import Measures, collected
from driftwise.core.types import Matrix, Vector
from driftwise.engine.run import VERSION, default_block
from driftwise.environments.measures_accumulator import MeasuresAccumulator
from driftwise.learners import Learner, Player
from driftwise.learners.base.kernel_learner import BanditLearner, ExpertLearner
from driftwise.regret_study import attacks, held_out
from driftwise.regret_study.held_out import Bools, Drawn, Family
from driftwise.regret_study.study import (
    OFFSETS,
    CellRegrets,
    Effort,
    Pending,
    Score,
    Stage,
    at_offset,
    best_tuned,
    measure_until_precise,
    offset,
)
from driftwise.regret_study.study_design import ScoredLearner, rival_learners, tuned_learners
from driftwise.results.cells import KEY_LENGTH, CellRecord, Machine
from driftwise.results.store import Store
from driftwise.sweeps import Progress

#: the families by name, in two sets: what the defaults were tuned on, and what they were not
FAMILY_SETS: dict[str, Mapping[str, Family]] = {"attacks": attacks.FAMILIES, "held-out": held_out.FAMILIES}
_FIRST_RUNS = ((10_000, 16), (30_000, 12), (sys.maxsize, 8))  # most rounds, and runs of such a cell
_MOST_RUNS = 64
# A learner with a row for every round updates K T^2 / 2 numbers in a run, in 25 ns each: 2.5 s with this many, and an
# hour with K = 100 and T = 50,000. Beyond, such learners are left out of the tuned ones.
_MOST_UPDATES = 1e8
_RESAMPLES = 1000
_MIDDLE = (2.5, 97.5)  # per cent


@dataclass(frozen=True)
class FamilyCell:
    """A family with a number of actions and a number of rounds."""

    family_name: str
    family: Family
    n_actions: int
    n_rounds: int

    @property
    def name(self) -> str:
        """Everything that distinguishes the cell."""
        return f"{self.family_name}, K = {self.n_actions}, T = {self.n_rounds}"

    @property
    def regret_kind(self) -> str:
        """The kind of regret: "pseudo", or "realised" where rounds depend on each other."""
        return "pseudo" if self.family.independent else "realised"

    def draw(self, seed: int, run: int) -> Drawn:
        """Return the world of a run: the same for all learners."""
        digest = hashlib.sha256(f"{self.name} {seed} {run}".encode()).digest()
        return self.family.draw(np.random.default_rng([*digest]), self.n_rounds, self.n_actions)


def family_cells(families: Mapping[str, Family]) -> list[FamilyCell]:
    """Return the cells of families."""
    return [
        FamilyCell(name, family, n_actions, n_rounds)
        for name, family in families.items()
        for n_actions, n_rounds in family.cells
    ]


def world_measures(world: Drawn) -> Measures:
    """Return the measures of a world; its variance is estimated from its losses."""
    accumulator = MeasuresAccumulator(world.means.shape[1])
    accumulator.update(np.ascontiguousarray(world.means), (world.losses - world.means) ** 2)
    return accumulator.measures()


def play(learner: Learner, world: Drawn, independent: bool, seed: int) -> float:
    """Return the regret of a learner in a world: pseudo-regret if rounds are independent, else realised regret.

    >>> from driftwise.learners import Hedge
    >>> means = np.tile([0.25, 0.75], (4, 1))
    >>> world = Drawn(means, means, np.zeros(4, dtype=np.bool_))  # nothing is seen: the weights stay (1/2, 1/2)
    >>> play(Hedge(), world, independent=True, seed=1)
    1.0
    """
    charged = world.means if independent else world.losses
    state = learner.start(charged.shape[1], seed)
    total = 0.0
    for rounds, seen in _stretches(world.seen, default_block(charged.shape[1])):
        block = charged[rounds]
        if isinstance(learner, ExpertLearner):
            weights = learner.run(state, world.losses[rounds]) if seen else learner.predict(state)
            total += float((weights * block).sum())
        else:
            assert isinstance(learner, BanditLearner)
            n_unseen = 0 if seen else len(block)
            unseen = [learner.choose(state)[0] for _ in range(n_unseen)]  # each is a decision without outcome
            actions = learner.run(state, world.losses[rounds]) if seen else np.array(unseen)
            total += float(block[np.arange(len(block)), actions].sum())
    best = world.means.argmin(axis=1)
    return total - float(charged[np.arange(len(charged)), best].sum())


def _stretches(seen: Bools, longest: int) -> Iterator[tuple[slice, bool]]:
    """Yield rounds that are all seen, or all unseen, in order."""
    edges = [0, *(np.flatnonzero(np.diff(seen)) + 1).tolist(), len(seen)]
    for first, end in itertools.pairwise(edges):
        for start in range(first, end, longest):
            yield slice(start, min(end, start + longest)), bool(seen[first])


class FamilyScore(NamedTuple):
    """The score of a learner in a cell, its interval, and the scores with other offsets."""

    cell: FamilyCell
    feedback: str
    learner: ScoredLearner
    score: Score
    interval: tuple[float, float]
    at_offsets: tuple[float | None, ...]  # of `OFFSETS`
    tuned: tuple[Player, ...]


def cell_scores(regrets: CellRegrets[FamilyCell]) -> list[FamilyScore]:
    """Return the scores of all scored learners in a cell."""
    rows = []
    for learner in regrets.scored:
        value = regrets.score(learner)
        mine = regrets.regrets[learner.player]
        others = tuple(at_offset(value, a) for a in OFFSETS)
        interval = bootstrap_interval(
            mine,
            np.array([regrets.regrets[player] for player in regrets.contestants]),
            offset(regrets.feedback, regrets.cell.n_rounds),
        )
        rows.append(FamilyScore(regrets.cell, regrets.feedback, learner, value, interval, others, regrets.best_players))
    return rows


def bootstrap_interval(regrets: Vector, tuned: Matrix, offset: float) -> tuple[float, float]:
    """Return the middle 95 % of the score if runs are drawn again, even and odd ones among themselves."""
    generator, half = np.random.default_rng(0), len(regrets) // 2
    scores = np.empty(_RESAMPLES)
    again = np.empty(2 * half, dtype=np.int64)
    for i in range(_RESAMPLES):
        again[0::2] = 2 * generator.integers(half, size=half)
        again[1::2] = 2 * generator.integers(half, size=half) + 1
        best = best_tuned(tuned[:, again]).regrets.mean()
        scores[i] = (max(0.0, regrets[again].mean()) + offset) / (max(0.0, best) + offset)
    low, high = np.percentile(scores, _MIDDLE)
    return float(low), float(high)


def family_rivals(feedback: str, cell: FamilyCell) -> list[Player]:
    """Return the tuned learners of a cell: those of the study, and those that are not of the default's own kind."""
    affordable = cell.n_actions * cell.n_rounds**2 / 2 <= _MOST_UPDATES
    return [
        player
        for player in dict.fromkeys([*tuned_learners(feedback), *rival_learners(feedback)])
        if affordable or not _keeps_every_row(player)
    ]


def _keeps_every_row(player: Player) -> bool:
    """Return whether a learner updates a row of actions for every past round, in every round."""
    return player.settings.get("cover") == "every" or player.settings.get("memory") == "exact"


def run_families(
    cells: Sequence[FamilyCell],
    learners: Mapping[str, Sequence[ScoredLearner]],
    seed: int,
    folder: Path,
    n_threads: int | None,
    stage: Stage,
    rivals: Callable[[str, FamilyCell], Sequence[Player]] = family_rivals,
    effort: Effort | None = None,
) -> list[FamilyScore]:
    """Return the scores of learners in all cells; runs that the folder has are not played again."""
    scores = []
    by_name = {cell.name: cell for cell in cells}
    effort = effort or Effort({cell.n_rounds: first_runs(cell.n_rounds) for cell in cells}, most_runs=_MOST_RUNS)
    with Store(folder) as store, ThreadPoolExecutor(n_threads) as pool:

        def play_pending(title: str, pending: Pending) -> dict[str, dict[Player, Vector]]:
            with stage(title) as progress:
                return _play_pending(pending, by_name, seed, store, pool, progress)

        for feedback, scored in learners.items():
            if scored:
                own_rivals = functools.partial(rivals, feedback)
                measured = measure_until_precise(cells, feedback, scored, own_rivals, effort, play_pending)
                scores += [row for regrets in measured for row in cell_scores(regrets)]
    return scores


def first_runs(n_rounds: int) -> int:
    """Return the number of runs with which a cell starts."""
    return next(runs for most, runs in _FIRST_RUNS if n_rounds <= most)


def _play_pending(
    pending: Pending,
    cells: Mapping[str, FamilyCell],
    seed: int,
    store: Store,
    pool: ThreadPoolExecutor,
    progress: Callable[[Progress], None] | None,
) -> dict[str, dict[Player, Vector]]:
    """Return the regrets of all that is pending; what is not stored is played, and stored world by world."""
    keys = {
        (name, run, player): _key(cells[name], player, seed, run)
        for name, (players, n_runs) in pending.items()
        for run in range(n_runs)
        for player in players
    }
    store.refresh()
    missing: dict[tuple[str, int], list[Player]] = {}
    for (name, run, player), key in keys.items():
        if key not in store.keys:
            missing.setdefault((name, run), []).append(player)
    done, began, n_missing = len(keys) - sum(map(len, missing.values())), time.monotonic(), len(missing)
    for n_worlds, ((name, run), players) in enumerate(missing.items(), 1):
        records = _play_world(cells[name], players, seed, run, pool)
        store.add(records)
        done += len(records)
        left = (time.monotonic() - began) / n_worlds * (n_missing - n_worlds)
        if progress:
            progress(Progress(done, len(keys), 0, left, ""))
    table = store.table()
    stored = dict(zip(table.keys(), table.final.tolist(), strict=True))
    return {
        name: {player: np.array([stored[keys[name, run, player]] for run in range(n_runs)]) for player in players}
        for name, (players, n_runs) in pending.items()
    }


def _play_world(
    cell: FamilyCell, players: Sequence[Player], seed: int, run: int, pool: ThreadPoolExecutor
) -> list[CellRecord]:
    """Return the records of the players in one world."""
    world = cell.draw(seed, run)
    measures = world_measures(world)

    def record(player: Player) -> CellRecord:
        began = time.perf_counter()
        key = _key(cell, player, seed, run)
        try:
            with collected():  # that a rule is meaningless in this world is no news: the best of all counts
                learner = player.learner(cell.n_actions, cell.n_rounds, measures)
            regret = play(learner, world, cell.family.independent, seed=int(key[:15], 16))
        except DriftwiseError as error:
            raise DriftwiseError(f"regret: '{player.label}' in '{cell.name}', run {run}: {error}") from None
        return CellRecord(
            key,
            json.dumps({"family": cell.family_name}),
            player.text,
            cell.n_actions,
            cell.n_rounds,
            seed,
            run,
            "dynamic",
            "weights" if player.kind.feedback == "full" else "actions",
            cell.regret_kind,
            np.array([cell.n_rounds]),
            np.array([regret]),
            np.array([np.nan]),
            machine=Machine.here().id,
            seconds=time.perf_counter() - began,
        )

    return [*pool.map(record, players)]


def _key(cell: FamilyCell, player: Player, seed: int, run: int) -> str:
    """Return the digest of all that a regret depends on; for the family, this is the source of its module."""
    parts = (VERSION, cell.name, _source_digest(cell.family.draw.__module__), player.text, player.versions, seed, run)
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:KEY_LENGTH]


@functools.cache
def _source_digest(module: str) -> str:
    return hashlib.sha256(inspect.getsource(sys.modules[module]).encode()).hexdigest()
