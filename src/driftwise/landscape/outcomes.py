"""Outcomes of scans: measured regrets, their exponents, and regret as a multiple of the lower bound.

A measurement is the runs of one learner in one setting, played as cells of sweeps and kept on disk.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from driftwise.adversaries import Adversary
from driftwise.core.errors import DriftwiseError
from driftwise.core.measures import Measures
from driftwise.core.tuning_caveats import marked, report
from driftwise.core.types import Vector
from driftwise.landscape.participants import CELLS, Participant
from driftwise.landscape.scans import Scan, Setting
from driftwise.learners import Learner
from driftwise.report import number_text
from driftwise.report.tables import number, text_table
from driftwise.results.cells import CellTable
from driftwise.results.results import Caveat, footnote
from driftwise.results.statistics import Estimate, Power, estimate, fit_power
from driftwise.sweeps import Progress, Source, Sweep, run_sweeps
from driftwise.theory.table_one import TABLE, Rate

__all__ = ["Measurement", "Outcome", "Task", "measure", "measure_tasks", "rates", "span", "table"]


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


@dataclass(frozen=True)
class Outcome:
    """One learner in one scan."""

    scan: Scan
    participant: Participant
    measurements: tuple[Measurement, ...]

    @property
    def x(self) -> list[float]:
        """The measured values of the varied quantity; an adversary may use less than its budget."""
        axis = self.scan.axis
        if axis == "T":
            return [float(measurement.n_rounds) for measurement in self.measurements]
        name = {"Gamma": "segments", "V": "drift", "Lambda": "variance"}[axis]
        return [float(getattr(measurement, name).mean()) for measurement in self.measurements]

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

    def power(self, divide: Callable[[Measurement], float] | None = None) -> Power:
        """Fit the exponent of regret in the varied quantity; `divide` returns a factor to divide regret by first."""
        samples = [measurement.regrets / (divide(measurement) if divide else 1.0) for measurement in self.measurements]
        return fit_power(self.x, samples)

    @property
    def lower(self) -> list[float]:
        """The lower bound at each value: the guarantee of the adversary, or the bound for the measures."""
        bound = rates(self.scan.cell)[1].bound
        assert bound is not None
        sources = [self.scan.setting(value).source for value in self.scan.values]
        return [
            source.guarantee(measurement.n_rounds) if isinstance(source, Adversary) else bound(measurement.measures)
            for source, measurement in zip(sources, self.measurements, strict=True)
        ]

    @property
    def upper(self) -> list[float]:
        """The upper bound at each value, of the learner made for the cell; at most T."""
        bound = rates(self.scan.cell)[0].bound
        assert bound is not None
        sources = [self.scan.setting(value).source for value in self.scan.values]
        known = [
            source.budget(measurement.n_rounds) if isinstance(source, Adversary) else measurement.measures
            for source, measurement in zip(sources, self.measurements, strict=True)
        ]
        return [min(bound(measures), measures.n_rounds) for measures in known]

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
    tasks = [
        Task(scan.setting(value), f"{scan.description}; {scan.axis} = {value:g}", scan.participants, scan.companion)
        for scan in scans
        for value in scan.values
    ]
    measurements = iter(measure_tasks(tasks, n_runs, seed, folder, n_threads, progress))
    outcomes = []
    for scan in scans:
        by_participant = zip(*(next(measurements) for _ in scan.values), strict=True)
        outcomes += [
            Outcome(scan, participant, some)
            for participant, some in zip(scan.participants, by_participant, strict=True)
        ]
    for outcome in outcomes:
        if outcome.caveat:
            report(f"landscape: '{outcome.participant.label}' in {outcome.scan.key}", outcome.caveat)
    return outcomes


def rates(cell: str) -> tuple[Rate, Rate]:
    """Return the upper and the lower rate of a cell; if the paper has no upper rate, that of Garivier and Moulines."""
    feedback, kind = cell.split("-")
    entry = TABLE[feedback, kind]
    upper, lower = entry.this_paper.upper or entry.garivier_moulines.upper, entry.this_paper.lower
    assert upper is not None
    assert lower is not None
    return upper, lower


def span(values: Sequence[float], to: str = " .. ") -> str:
    """Return the least and the largest of some numbers as text."""
    finite = [value for value in values if not math.isnan(value)]
    if not finite:
        return "-"
    low, high = number(min(finite), 2), number(max(finite), 2)
    return low if low == high else f"{low}{to}{high}"


def table(outcomes: Sequence[Outcome]) -> str:
    """Return the measured Table 1 as text."""
    lines = []
    for cell, title in CELLS.items():
        in_cell = [outcome for outcome in outcomes if outcome.scan.cell == cell]
        if not in_cell:
            continue
        upper, lower = rates(cell)
        lines += ["", f"{title}: upper {upper.text}; lower {lower.text}"]
        for scan in dict.fromkeys(outcome.scan.key for outcome in in_cell):
            in_scan = [outcome for outcome in in_cell if outcome.scan.key == scan]
            rows = []
            for outcome in in_scan:
                power, last = outcome.power(), outcome.regrets[-1]
                exponent, low, high = map(number_text.power, power)
                interval = f"{low} .. {high}" if math.isfinite(power.exponent) else "-"
                rows.append(
                    [
                        marked(outcome.participant.label, outcome.caveat),
                        outcome.participant.role,
                        number(last.mean),
                        exponent,
                        interval,
                        span(outcome.multiples),
                    ]
                )
            first, x = in_scan[0].scan, in_scan[0].x
            lines += ["", f"  {first.description}; {first.axis} from {number(x[0])} to {number(x[-1])}"]
            headers = ["learner", "role", "last regret", "exponent", "95% interval", "x lower bound"]
            reasons = footnote({outcome.participant.label: outcome.caveat for outcome in in_scan if outcome.caveat})
            body = [*text_table(headers, rows, left=2).splitlines(), *reasons.splitlines()]
            lines += ["  " + line for line in body]
    return "\n".join(lines).lstrip("\n")
