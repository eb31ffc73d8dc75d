"""Measurements of the landscape: the runs of one learner in one setting, played as cells of sweeps and kept on disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from driftwise.core.errors import DriftwiseError
from driftwise.core.measures import Measures
from driftwise.core.types import Vector
from driftwise.landscape.scans import Participant, Setting
from driftwise.learners import Learner
from driftwise.results.cell_table import CellTable
from driftwise.results.footnotes import Caveat
from driftwise.sweeps import Progress, Source, Sweep, run_sweeps

__all__ = ["Measurement", "Task", "measure_tasks"]


class Measurement(NamedTuple):
    """The outcome of one learner in one setting, one number per run."""

    regrets: Vector
    companion_regrets: Vector  # of the companion on the same losses, NaN without one
    segments: Vector
    drift: Vector
    variance: Vector
    n_actions: int
    n_rounds: int
    caveat: str = ""  # why its tuning rule is meaningless, and in how many runs; "" if there is no caveat

    @property
    def measures(self) -> Measures:
        """The measures, averaged over runs."""
        segments = max(1, min(self.n_rounds, round(float(self.segments.mean()))))
        return Measures(self.n_actions, self.n_rounds, segments, float(self.drift.mean()), float(self.variance.mean()))


class Task(NamedTuple):
    """All learners in one setting: the input of one measurement for each of them."""

    setting: Setting
    description: str
    participants: tuple[Participant, ...]
    companion: Learner | None = None  # plays on the losses of each learner

    def sweeps(self, n_runs: int, seed: int) -> list[Sweep]:
        """Return the sweep of the learners, and one for the companion on the losses of each learner."""
        source, n_rounds = self.setting
        players = {participant.label: participant.player for participant in self.participants}
        found = [Sweep({self.description: source}, players, n_rounds, n_runs, seed)]
        if self.companion is not None:
            found += [
                Sweep(
                    {f"{self.description}, against {label}": Source(source).facing(player)},
                    self.companion,
                    n_rounds,
                    n_runs,
                    seed,
                )
                for label, player in players.items()
            ]
        return found


def measure_tasks(
    tasks: Sequence[Task],
    n_runs: int,
    seed: int,
    folder: Path,
    n_threads: int | None,
    progress: Callable[[int, int], None] | None,
) -> list[list[Measurement]]:
    """Return the measurements of all learners of each task; play the cells that the folder does not have."""

    def report(now: Progress) -> None:
        if progress is not None:
            progress(now.done, now.total)

    sweeps = [task.sweeps(n_runs, seed) for task in tasks]
    results = run_sweeps([one for some in sweeps for one in some], folder, n_threads=n_threads, progress=report)
    for one in results:
        for place, _, run, error in one.failures()[:1]:
            raise DriftwiseError(f"landscape: '{place.learner}' in '{place.environment}', run {run}: {error}")
    tables = iter(one.cells for one in results)
    found = []
    for task in tasks:
        learners = next(tables)
        companions = [None if task.companion is None else next(tables) for _ in task.participants]
        found.append([
            _measurement(learners.take(np.arange(i * n_runs, (i + 1) * n_runs)), companion)
            for i, companion in enumerate(companions)
        ])  # fmt: skip
    return found


def _measurement(table: CellTable, companion: CellTable | None) -> Measurement:
    cells = table.cells
    reasons = [table.texts["caveat"][code] for code in cells["caveat"] if table.texts["caveat"][code]]
    return Measurement(
        regrets=table.final,
        companion_regrets=np.full(len(cells), np.nan) if companion is None else companion.final,
        segments=cells["segments"].astype(np.float64),
        drift=cells["drift"],
        variance=cells["variance"],
        n_actions=int(cells["n_actions"][0]),
        n_rounds=int(cells["n_rounds"][0]),
        caveat=Caveat(len(reasons), reasons[0]).text(len(cells)) if reasons else "",
    )
