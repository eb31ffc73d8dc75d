"""What the sweeps found: curves, exponents, and regret as a multiple of the lower bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from driftwise.adversaries import Adversary
from driftwise.core.caveats import marked, report
from driftwise.landscape.pieces import Order, Piece, Store, play_all
from driftwise.landscape.sweeps import Sweep
from driftwise.landscape.teams import CELLS, Member
from driftwise.report.page import wording
from driftwise.report.tables import number, text_table
from driftwise.results.fits import Power, fit_power
from driftwise.results.footnotes import footnote
from driftwise.results.intervals import Estimate, estimate
from driftwise.theory.table_one import TABLE, Rate

__all__ = ["Outcome", "measure", "rates", "span", "table"]


@dataclass(frozen=True)
class Outcome:
    """One learner through one sweep."""

    sweep: Sweep
    member: Member
    pieces: tuple[Piece, ...]

    @property
    def x(self) -> list[float]:
        """What varied, as measured: budgets may be spent in part."""
        axis = self.sweep.axis
        if axis == "T":
            return [float(piece.n_rounds) for piece in self.pieces]
        name = {"Gamma": "segments", "V": "drift", "Lambda": "variance"}[axis]
        return [float(getattr(piece, name).mean()) for piece in self.pieces]

    @property
    def regrets(self) -> list[Estimate]:
        """The mean regrets with their intervals."""
        return [estimate(piece.regrets) for piece in self.pieces]

    @property
    def caveat(self) -> str:
        """Why the learner's tuning says nothing, and at how many values; "" where it says something at all of them."""
        told = [piece.caveat for piece in self.pieces if piece.caveat]
        if not told:
            return ""
        where = "every value" if len(told) == len(self.pieces) else f"{len(told)} of {len(self.pieces)} values"
        return f"at {where} of {self.sweep.axis}{', the first' if len(told) > 1 else ''}: {told[0]}"

    def power(self, divide: Callable[[Piece], float] | None = None) -> Power:
        """Fit the exponent of regret in what varied, after dividing by a factor if one is given."""
        samples = [piece.regrets / (divide(piece) if divide else 1.0) for piece in self.pieces]
        return fit_power(self.x, samples)

    @property
    def lower(self) -> list[float]:
        """The lower bound for each value: what an adversary guarantees, or what the measures of a world admit."""
        bound = rates(self.sweep.cell)[1].bound
        assert bound is not None
        sources = [self.sweep.setting(value).source for value in self.sweep.values]
        return [
            source.guarantee(piece.n_rounds) if isinstance(source, Adversary) else bound(piece.measures)
            for source, piece in zip(sources, self.pieces, strict=True)
        ]

    @property
    def upper(self) -> list[float]:
        """The upper bound for each value, for the learner made for the cell; T at most."""
        bound = rates(self.sweep.cell)[0].bound
        assert bound is not None
        sources = [self.sweep.setting(value).source for value in self.sweep.values]
        known = [
            source.budget(piece.n_rounds) if isinstance(source, Adversary) else piece.measures
            for source, piece in zip(sources, self.pieces, strict=True)
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
    keys = [(sweep, member) for sweep in chosen for member in sweep.members]
    orders = [
        Order(sweep.setting(value), member.label, member.player, n_runs, seed, sweep.companion)
        for sweep, member in keys
        for value in sweep.values
    ]
    pieces = iter(play_all(orders, Store(folder), n_threads, progress))
    outcomes = [Outcome(sweep, member, tuple(next(pieces) for _ in sweep.values)) for sweep, member in keys]
    for outcome in outcomes:
        if outcome.caveat:
            report(f"landscape: '{outcome.member.label}' in {outcome.sweep.key}", outcome.caveat)
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
                exponent, low, high = map(wording.power, power)
                interval = f"{low} .. {high}" if math.isfinite(power.exponent) else "-"
                rows.append(
                    [marked(outcome.member.label, outcome.caveat), outcome.member.role, number(last.mean), exponent,
                     interval, span(outcome.multiples)]
                )  # fmt: skip
            first, x = here[0].sweep, here[0].x
            lines += ["", f"  {first.world}; {first.axis} from {number(x[0])} to {number(x[-1])}"]
            headers = ["learner", "part", "at the end", "exponent", "95% interval", "x lower bound"]
            below = footnote({outcome.member.label: outcome.caveat for outcome in here if outcome.caveat})
            told = [*text_table(headers, rows, left=2).splitlines(), *below.splitlines()]
            lines += ["  " + line for line in told]
    return "\n".join(lines).lstrip("\n")
