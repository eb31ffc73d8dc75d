"""Outcomes of scans: measured regrets, their exponents, and regret as a multiple of the lower bound.

A measurement is the runs of one learner in one setting, played as cells of sweeps and kept on disk.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from driftwise.adversaries import Adversary
from driftwise.core.errors import DriftwiseError
from driftwise.core.measures import Measures, report
from driftwise.core.types import Vector
from driftwise.environments import Environment
from driftwise.landscape.scans import Participant, Scan
from driftwise.regret.statistics import Estimate, Power, estimate, fit_power
from driftwise.results.cells import CellTable
from driftwise.results.results import Caveat
from driftwise.sweeps import Source, Sweep, run_sweeps
from driftwise.theory.table_one import TABLE, Rate


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


@dataclass(frozen=True)
class Outcome:
    """One learner in one scan."""

    scan: Scan
    participant: Participant
    measurements: tuple[Measurement, ...]

    @property
    def x(self) -> list[float]:
        """The measured values of the varied quantity; an adversary may use less than its budget."""
        name = {"T": "n_rounds", "Gamma": "segments", "V": "drift", "Lambda": "variance"}[self.scan.axis]
        return [float(np.mean(getattr(measurement, name))) for measurement in self.measurements]

    @property
    def regrets(self) -> list[Estimate]:
        """The mean regrets with their confidence intervals."""
        return [estimate(measurement.regrets) for measurement in self.measurements]

    @property
    def caveat(self) -> str:
        """Why the learner's tuning rule is meaningless, and at how many values; "" if there is no caveat."""
        caveats = [measurement.caveat for measurement in self.measurements if measurement.caveat]
        if not caveats:
            return ""
        n, total = len(caveats), len(self.measurements)
        where = "every value" if n == total else f"{n} of {total} values"
        return f"at {where} of {self.scan.axis}{', the first' if n > 1 else ''}: {caveats[0]}"

    @functools.cached_property
    def exponent(self) -> Power:
        """The exponent of regret in the varied quantity."""
        return fit_power(self.x, [measurement.regrets for measurement in self.measurements])

    @property
    def lower(self) -> list[float]:
        """The lower bound at each value: the guarantee of the adversary, or the bound for the measures."""
        bound = rates(self.scan.cell)[1].bound
        assert bound is not None
        return [
            source.guarantee(measurement.n_rounds) if isinstance(source, Adversary) else bound(measurement.measures)
            for source, measurement in self._played()
        ]

    @property
    def upper(self) -> list[float]:
        """The upper bound at each value, of the learner made for the cell; at most T."""
        bound = rates(self.scan.cell)[0].bound
        assert bound is not None
        budgets = [
            source.budget(measurement.n_rounds) if isinstance(source, Adversary) else measurement.measures
            for source, measurement in self._played()
        ]
        return [min(bound(budget), budget.n_rounds) for budget in budgets]

    def _played(self) -> Iterator[tuple[Environment | Adversary, Measurement]]:
        """Yield the environment or adversary at each value, and its measurement."""
        for value, measurement in zip(self.scan.values, self.measurements, strict=True):
            yield self.scan.setting(value).source, measurement

    @property
    def multiples(self) -> list[float]:
        """Regret / lower bound, NaN if the bound is 0."""
        pairs = zip(self.regrets, self.lower, strict=True)
        return [regret.mean / lower if lower > 0 else math.nan for regret, lower in pairs]


def measure(
    scans: Sequence[Scan],
    n_runs: int,
    seed: int,
    folder: Path,
    n_threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Outcome]:
    """Return the outcomes of some scans; play the cells that the folder does not have."""
    show = None if progress is None else lambda now: progress(now.done, now.total)
    sweeps = [sweep for scan in scans for value in scan.values for sweep in _sweeps(scan, value, n_runs, seed)]
    results = run_sweeps(sweeps, folder, n_threads=n_threads, progress=show)
    for played in results:
        for place, _, run, error in played.failures()[:1]:
            raise DriftwiseError(f"landscape: '{place.learner}' in '{place.environment}', run {run}: {error}")
    tables = iter(played.cells for played in results)
    outcomes = []
    for scan in scans:
        by_learner = zip(*(_measurements(scan, tables, n_runs) for _ in scan.values), strict=True)
        outcomes += [
            Outcome(scan, participant, measurements)
            for participant, measurements in zip(scan.participants, by_learner, strict=True)
        ]
    for outcome in outcomes:
        if outcome.caveat:
            report(f"landscape: '{outcome.participant.label}' in {outcome.scan.key}", outcome.caveat)
    return outcomes


def _sweeps(scan: Scan, value: float, n_runs: int, seed: int) -> Iterator[Sweep]:
    """Yield the sweep of the learners at one value, and one for the companion on the losses of each learner."""
    source, n_rounds = scan.setting(value)
    description = f"{scan.description}; {scan.axis} = {value:g}"
    players = {participant.label: participant.player for participant in scan.participants}
    yield Sweep({description: source}, players, n_rounds, n_runs, seed)
    if scan.companion is not None:
        for label, player in players.items():
            facing = {f"{description}, against {label}": Source(source).facing(player)}
            yield Sweep(facing, scan.companion, n_rounds, n_runs, seed)


def _measurements(scan: Scan, tables: Iterator[CellTable], n_runs: int) -> list[Measurement]:
    """Return the measurement of each learner at one value, from the next tables, which are those of the sweeps."""
    table = next(tables)
    runs = [table.take(np.arange(i * n_runs, (i + 1) * n_runs)) for i in range(len(scan.participants))]
    return [_measurement(cells, None if scan.companion is None else next(tables)) for cells in runs]


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


def rates(cell: str) -> tuple[Rate, Rate]:
    """Return the upper and the lower rate of a cell; if the paper has no upper rate, that of Garivier and Moulines."""
    feedback, kind = cell.split("-")
    entry = TABLE[feedback, kind]
    upper, lower = entry.this_paper.upper or entry.garivier_moulines.upper, entry.this_paper.lower
    assert upper is not None
    assert lower is not None
    return upper, lower
