"""What the sweeps found: curves, exponents, and regret as a multiple of the lower bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from driftwise.adversaries import Adversary
from driftwise.core.tuning_caveats import marked, report
from driftwise.landscape.measurements import Job, Measurement, MeasurementStore, run_jobs
from driftwise.landscape.participants import CELLS, Participant
from driftwise.landscape.sweeps import Sweep
from driftwise.report.page import number_text
from driftwise.report.tables import number, text_table
from driftwise.results.confidence_intervals import Estimate, estimate
from driftwise.results.footnotes import footnote
from driftwise.results.power_fits import Power, fit_power
from driftwise.theory.table_one import TABLE, Rate

__all__ = ["Outcome", "measure", "rates", "span", "table"]


@dataclass(frozen=True)
class Outcome:
    """One learner through one sweep."""

    sweep: Sweep
    participant: Participant
    measurements: tuple[Measurement, ...]

    @property
    def x(self) -> list[float]:
        """What varied, as measured: budgets may be spent in part."""
        axis = self.sweep.axis
        if axis == "T":
            return [float(measurement.n_rounds) for measurement in self.measurements]
        name = {"Gamma": "segments", "V": "drift", "Lambda": "variance"}[axis]
        return [float(getattr(measurement, name).mean()) for measurement in self.measurements]

    @property
    def regrets(self) -> list[Estimate]:
        """The mean regrets with their intervals."""
        return [estimate(measurement.regrets) for measurement in self.measurements]

    @property
    def caveat(self) -> str:
        """Why the learner's tuning says nothing, and at how many values; "" where it says something at all of them."""
        told = [measurement.caveat for measurement in self.measurements if measurement.caveat]
        if not told:
            return ""
        where = (
            "every value" if len(told) == len(self.measurements) else f"{len(told)} of {len(self.measurements)} values"
        )
        return f"at {where} of {self.sweep.axis}{', the first' if len(told) > 1 else ''}: {told[0]}"

    def power(self, divide: Callable[[Measurement], float] | None = None) -> Power:
        """Fit the exponent of regret in what varied, after dividing by a factor if one is given."""
        samples = [measurement.regrets / (divide(measurement) if divide else 1.0) for measurement in self.measurements]
        return fit_power(self.x, samples)

    @property
    def lower(self) -> list[float]:
        """The lower bound for each value: what an adversary guarantees, or what the measures of a world admit."""
        bound = rates(self.sweep.cell)[1].bound
        assert bound is not None
        sources = [self.sweep.setting(value).source for value in self.sweep.values]
        return [
            source.guarantee(measurement.n_rounds) if isinstance(source, Adversary) else bound(measurement.measures)
            for source, measurement in zip(sources, self.measurements, strict=True)
        ]

    @property
    def upper(self) -> list[float]:
        """The upper bound for each value, for the learner made for the cell; T at most."""
        bound = rates(self.sweep.cell)[0].bound
        assert bound is not None
        sources = [self.sweep.setting(value).source for value in self.sweep.values]
        known = [
            source.budget(measurement.n_rounds) if isinstance(source, Adversary) else measurement.measures
            for source, measurement in zip(sources, self.measurements, strict=True)
        ]
        return [min(bound(measures), measures.n_rounds) for measures in known]

    @property
    def multiples(self) -> list[float]:
        """Regret over the lower bound, NaN where that is nothing."""
        pairs = zip(self.regrets, self.lower, strict=True)
        return [regret.mean / lower if lower > 0 else math.nan for regret, lower in pairs]


def measure(
    chosen: Sequence[Sweep],
    n_runs: int,
    seed: int,
    folder: Path,
    n_threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Outcome]:
    """Play what is missing and return what was found, sweep by sweep."""
    keys = [(sweep, participant) for sweep in chosen for participant in sweep.participants]
    jobs = [
        Job(sweep.setting(value), participant.label, participant.player, n_runs, seed, sweep.companion)
        for sweep, participant in keys
        for value in sweep.values
    ]
    measurements = iter(run_jobs(jobs, MeasurementStore(folder), n_threads, progress))
    outcomes = [
        Outcome(sweep, participant, tuple(next(measurements) for _ in sweep.values)) for sweep, participant in keys
    ]
    for outcome in outcomes:
        if outcome.caveat:
            report(f"landscape: '{outcome.participant.label}' in {outcome.sweep.key}", outcome.caveat)
    return outcomes


def rates(cell: str) -> tuple[Rate, Rate]:
    """Return the upper and the lower rate of a cell; where the paper has no upper one, Garivier and Moulines do."""
    feedback, kind = cell.split("-")
    entry = TABLE[feedback, kind]
    upper, lower = entry.this_paper.upper or entry.garivier_moulines.upper, entry.this_paper.lower
    assert upper is not None
    assert lower is not None
    return upper, lower


def span(values: Sequence[float], to: str = " .. ") -> str:
    """Write the least and the largest of some numbers."""
    finite = [value for value in values if not math.isnan(value)]
    if not finite:
        return "-"
    low, high = number(min(finite), 2), number(max(finite), 2)
    return low if low == high else f"{low}{to}{high}"


def table(outcomes: Sequence[Outcome]) -> str:
    """Return the measured Table 1 as text."""
    lines = []
    for cell, title in CELLS.items():
        mine = [outcome for outcome in outcomes if outcome.sweep.cell == cell]
        if not mine:
            continue
        upper, lower = rates(cell)
        lines += ["", f"{title}: upper {upper.text}; lower {lower.text}"]
        for sweep in dict.fromkeys(outcome.sweep.key for outcome in mine):
            here = [outcome for outcome in mine if outcome.sweep.key == sweep]
            rows = []
            for outcome in here:
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
            first, x = here[0].sweep, here[0].x
            lines += ["", f"  {first.world}; {first.axis} from {number(x[0])} to {number(x[-1])}"]
            headers = ["learner", "part", "at the end", "exponent", "95% interval", "x lower bound"]
            below = footnote({outcome.participant.label: outcome.caveat for outcome in here if outcome.caveat})
            told = [*text_table(headers, rows, left=2).splitlines(), *below.splitlines()]
            lines += ["  " + line for line in told]
    return "\n".join(lines).lstrip("\n")
