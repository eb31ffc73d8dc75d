"""Playing of batches: some players and runs of one group, in one thread."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from driftwise.core.errors import message_of, one_line
from driftwise.core.measures import collected
from driftwise.core.types import Vector
from driftwise.engine.run import LabelledPlayer, Run, SimulationPlan, play_run
from driftwise.environments import LossSource
from driftwise.regret.comparators import make_comparator
from driftwise.results.cells import CellRecord, Machine, measured_fields
from driftwise.sweeps.sources import Group, Source, cell_keys

LONGEST_REASON = 500  # characters of the error of a cell
_ROUNDING = 1e-6  # relative


class Batch(NamedTuple):
    """Cells that are played together: all players of `group` in all its runs."""

    group: Group
    keys: tuple[tuple[str, ...], ...]  # by player and run

    @classmethod
    def of(cls, group: Group) -> Batch:
        """Return all cells of a group."""
        return cls.of_all([group])[0]

    @classmethod
    def of_all(cls, groups: Iterable[Group]) -> list[Batch]:
        """Return all cells of some groups, a batch for each."""
        shared: dict[tuple[str, ...], Any] = {}
        return [cls(group, tuple(tuple(cell_keys(group, own, shared)) for own in group.players)) for group in groups]

    def select(self, players: Sequence[int] | None = None, runs: Sequence[int] | None = None) -> Batch:
        """Return the cells of some players and runs, given by position; None selects all."""
        group = self.group
        players = range(len(group.players)) if players is None else players
        runs = range(len(group.runs)) if runs is None else runs
        chosen = group._replace(
            players=tuple(group.players[i] for i in players), runs=tuple(group.runs[j] for j in runs)
        )
        return Batch(chosen, tuple(tuple(self.keys[i][j] for j in runs) for i in players))

    @property
    def all_keys(self) -> list[str]:
        """The keys of all cells."""
        return [key for row in self.keys for key in row]

    def restrict(self, wanted: Callable[[str], bool]) -> list[Batch]:
        """Return the cells whose keys are wanted, in batches of runs with the same players."""
        alike: dict[tuple[int, ...], list[int]] = {}
        for j in range(len(self.group.runs)):
            players = tuple(i for i, row in enumerate(self.keys) if wanted(row[j]))
            if players:
                alike.setdefault(players, []).append(j)
        if alike == {tuple(range(len(self.group.players))): [*range(len(self.group.runs))]}:
            return [self]
        return [self.select(players, runs) for players, runs in alike.items()]

    def halves(self) -> list[Batch]:
        """Return two batches of half of the runs each, or of the players if there is one run; a cell stays whole."""
        n_players, n_runs = len(self.group.players), len(self.group.runs)
        if n_runs > 1:
            return [self.select(runs=runs) for runs in (range(n_runs // 2), range(n_runs // 2, n_runs))]
        if n_players > 1:
            return [self.select(players) for players in (range(n_players // 2), range(n_players // 2, n_players))]
        return [self]

    def single_cells(self) -> list[Batch]:
        """Return a batch for each cell."""
        return [self.select([i], [j]) for i in range(len(self.group.players)) for j in range(len(self.group.runs))]


def play_batch(batch: Batch, stop: threading.Event | None = None) -> Iterator[list[CellRecord]]:
    """Yield the records of each run; a cell that fails is recorded with its error.

    If `stop` is set, the run that is being played is given up.
    """
    stop = threading.Event() if stop is None else stop
    try:
        with collected():  # the records have the caveats
            plan = dataclasses.replace(_plan(batch.group), stop=stop)
    except (Exception, SystemExit) as error:  # whatever a class of the user raises; `sys.exit` would end the sweep
        yield failed_records(batch, _reason(error))
        return
    for j in range(len(batch.group.runs)):
        records = _play_run(batch, j, plan)
        if stop.is_set():
            return
        yield records


def _play_run(batch: Batch, j: int, plan: SimulationPlan) -> list[CellRecord]:
    """Play all players in one run; if one of them fails, play each by itself, so that only that one fails."""
    n_players, began = len(batch.group.players), time.perf_counter()
    try:
        outcome = play_run(plan, batch.group.runs[j])
    except (Exception, SystemExit) as error:
        if n_players == 1:
            return failed_records(batch.select([0], [j]), _reason(error))
        return [
            record
            for i, player in enumerate(plan.players)
            for record in _play_run(batch.select([i], [j]), 0, dataclasses.replace(plan, players=[player]))
        ]
    if plan.stop.is_set():  # the outcome is not complete
        return []
    shared = (time.perf_counter() - began - outcome.compiling - float(outcome.seconds.sum())) / n_players
    return [_record(batch, plan, outcome, i, j, shared) for i in range(n_players)]


@functools.lru_cache(maxsize=16)
def _built_environment(source: str, n_rounds: int, seed: int) -> LossSource:
    """Return an environment that an adversary builds against a learner; several batches play in it."""
    return Source.from_spec(json.loads(source)).environment(n_rounds, seed)


def _plan(group: Group) -> SimulationPlan:
    source, outputs = group.source, group.outputs
    make = functools.partial(_built_environment, source.text) if source.is_built else source.environment
    environment = make(group.n_rounds, group.seed)
    players = [LabelledPlayer(player.label, player) for player in group.players]
    comparator = make_comparator(outputs.comparator, "Sweep")
    return SimulationPlan(
        environment, players, group.n_rounds, group.seed, comparator, outputs.play, outputs.best_loss, outputs.points,
        n_threads=os.cpu_count() or 1,  # as many batches may be played at once, and they share the memory
    )  # fmt: skip


def _record(batch: Batch, plan: SimulationPlan, outcome: Run, i: int, j: int, shared_seconds: float) -> CellRecord:
    """Return the record of player `i`; `shared_seconds` is its part of the time that all players needed together."""
    if reason := regret_fault(outcome.regrets[i], plan.n_rounds):
        return failed_records(batch.select([i], [j]), f"{batch.group.players[i].label}: {reason}"[:LONGEST_REASON])[0]
    bounds = np.full(len(plan.rounds), np.nan)
    bounds[np.searchsorted(plan.rounds, plan.bound_rounds)] = outcome.bounds[i]
    return _cell(
        batch,
        i,
        j,
        n_actions=plan.environment.n_actions,
        kind="pseudo" if plan.environment.has_means else "realised",
        rounds=plan.rounds + 1,
        regrets=outcome.regrets[i],
        bounds=bounds,
        **measured_fields(outcome.measures),
        **outcome.realised._asdict(),
        caveat=outcome.caveats[i],
        seconds=float(outcome.seconds[i]) + shared_seconds,
    )


def regret_fault(regrets: Vector, n_rounds: int) -> str:
    """Return why no play with losses and weights in [0, 1] has these regrets, "" if there is no reason."""
    possible = np.abs(regrets) <= n_rounds * (1.0 + _ROUNDING)  # NaN is not
    if possible.all():
        return ""
    got = float(regrets[~possible][0])
    return f"the regret must be in [-{n_rounds}, {n_rounds}], got {got}. Are its weights >= 0, with sum 1?"


def failed_records(batch: Batch, reason: str) -> list[CellRecord]:
    """Return records of cells that could not be played."""
    group = batch.group
    _, end = make_comparator(group.outputs.comparator, "Sweep").span(group.n_rounds)
    nan = np.array([np.nan])
    curve = {"rounds": np.array([end]), "regrets": nan, "bounds": nan}
    places = itertools.product(range(len(group.players)), range(len(group.runs)))
    return [_cell(batch, i, j, n_actions=group.n_actions, kind="pseudo", error=reason, **curve) for i, j in places]


def _cell(batch: Batch, i: int, j: int, **values: Any) -> CellRecord:
    """Return the record of player `i` in run `j`; `values` are what its play gave."""
    group = batch.group
    return CellRecord(
        key=batch.keys[i][j],
        environment=group.source.text,
        learner=group.players[i].text,
        n_rounds=group.n_rounds,
        seed=group.seed,
        run=group.runs[j],
        comparator=group.outputs.comparator,
        play=group.outputs.play,
        machine=Machine.here().id,
        **values,
    )


def _reason(error: BaseException) -> str:
    """Return why a cell failed: the message, and the notes, which name the round of a learner in plain Python."""
    notes = one_line(" ".join(dict.fromkeys(map(str, getattr(error, "__notes__", ())))))[-LONGEST_REASON // 2 :]
    return f"{message_of(error)[: LONGEST_REASON - 1 - len(notes)]} {notes}".strip()
