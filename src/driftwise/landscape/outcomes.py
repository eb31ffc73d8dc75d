"""Outcomes of scans: regret curves, exponents, and regret as a multiple of the lower bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from driftwise.adversaries import Adversary
from driftwise.core.tuning_caveats import marked, report
from driftwise.landscape.measurements import Measurement, Task, measure_tasks
from driftwise.landscape.scans import CELLS, Participant, Scan
from driftwise.report import number_text
from driftwise.report.tables import number, text_table
from driftwise.results.confidence_intervals import Estimate, estimate
from driftwise.results.footnotes import footnote
from driftwise.results.power_fits import Power, fit_power
from driftwise.theory.table_one import TABLE, Rate

__all__ = ["Outcome", "measure", "rates", "span", "table"]


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
