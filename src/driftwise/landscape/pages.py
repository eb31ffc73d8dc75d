"""The measured Table 1 as a page: rows, panels with bounds, weights over time, claims, and the command to repeat it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby

from driftwise.core.tuning_caveats import SAYS_NOTHING
from driftwise.landscape.claims import claims
from driftwise.landscape.outcomes import Outcome, rates, span
from driftwise.landscape.participants import CELLS
from driftwise.report.page import Claim, Line, Page, Panel, Series, TableRow, WeightHistory
from driftwise.report.page.rate_formulas import plain

__all__ = ["page", "written"]

_AXES = {"T": "rounds T", "Gamma": "segments Γ", "V": "drift V", "Lambda": "variance Λ"}
_NOTES = (
    "Regret is dynamic pseudo-regret: the loss that a learner can expect, less that of the best action of every round,"
    " in terms of the true means.",
    "Bands and brackets are 95 % intervals over runs: Student's for regrets, and for exponents the bootstrap over runs"
    " of a least-squares slope on logarithmic axes.",
    "A lower bound has the constants that are proved. Against an adversary it is what that construction guarantees,"
    " below which no learner can stay in the mean; another may guarantee more within the same budget. A benign world"
    " with the same measures may be easier than the worst one, so there the multiple may be less than 1.",
    "An upper bound is that of the learner made for the setting, with its constants, and is left out where it says no"
    " more than that regret is at most T. In the bandit, switching setting it is EXP3.S's.",
    "This paper's learners, the cited ones and guests are tuned to the measures of the world where they have a rule for"
    " it, and to the budget of an adversary. Parameter-free ones are told the numbers of actions and rounds only;"
    " yardsticks play with their defaults, and so does every bandit learner in the best-response world.",
    "A learner with a star is tuned by a rule that says nothing about its world, mostly because the means change in so"
    " many rounds that adapting to all of them would cost as much as not learning: its regret and its exponent say"
    " nothing about the algorithm.",
    "The best response is about levels: regret is above the lower bound at every T. Over a decade or two a slope may be"
    " less than a half, where the multiple falls, or above 1, where a learner's constants let it notice less and less.",
    "Algorithm 4 has merged memory and AdaNormalHedge.TV a geometric cover, which keep a round short in long games; the"
    " theorem about Algorithm 4 is about exact memory.",
)


def page(outcomes: Sequence[Outcome], histories: Sequence[WeightHistory], commands: Sequence[str], about: str) -> Page:
    """Return the page of these outcomes; `about` says how much was measured."""
    panels = [_panel(list(group)) for _, group in groupby(outcomes, key=lambda outcome: outcome.sweep.key)]
    return Page(
        title="Tracking the best expert, measured",
        subtitle="Table 1 of Wei, Hong and Lu (NIPS 2016): what is proved about regret in a changing world, beside the"
        f" regret that was measured where segments, drift and variance are known exactly. {about}",
        table=[_row(outcome) for outcome in outcomes],
        panels=panels,
        histories=histories,
        claims=[_written(claim) for claim in claims(outcomes)],
        commands=commands,
        notes=_NOTES,
    )


def written(world: str) -> str:
    """Set the words about a world: Greek letters, and no line broken inside of an equation."""
    return plain(world[:1].upper() + world[1:]).replace(" = ", "\u00a0=\u00a0")


def _written(claim: Claim) -> Claim:
    figures = [(plain(what), much) for what, much in claim.figures]
    return Claim(plain(claim.text), claim.holds, figures)


def _row(outcome: Outcome) -> TableRow:
    sweep, participant, power = outcome.sweep, outcome.participant, outcome.power()
    upper, lower = rates(sweep.cell)
    return TableRow(
        cell=CELLS[sweep.cell],
        world=written(sweep.world),
        learner=participant.label,
        role=participant.role,
        axis=sweep.axis,
        upper=upper.text,
        lower=lower.text,
        exponent=power.exponent,
        low=power.low,
        high=power.high,
        multiple=span(outcome.multiples, " to "),
        caveat=_caveat(outcome),
    )


def _panel(outcomes: list[Outcome]) -> Panel:
    """Return the curves of one sweep with its bounds; where the learners' worlds differ, those of the first."""
    first = outcomes[0]
    sweep = first.sweep
    upper, lower = rates(sweep.cell)
    # A bound that says nothing is not drawn.
    highest = [
        y if y < measurement.n_rounds else math.nan
        for y, measurement in zip(first.upper, first.measurements, strict=True)
    ]
    lowest = [y if y > 0 else math.nan for y in first.lower]
    return Panel(
        key=sweep.key,
        cell=CELLS[sweep.cell],
        title=written(sweep.world),
        x_label=_AXES[sweep.axis],
        y_label="dynamic regret",
        series=[_series(outcome) for outcome in outcomes],
        lines=[
            Line(text, kind, first.x, y)
            for text, kind, y in ((upper.text, "upper", highest), (lower.text, "lower", lowest))
            if not all(map(math.isnan, y))
        ],
    )


def _series(outcome: Outcome) -> Series:
    mean, low, high = zip(*outcome.regrets, strict=True)
    label, role = outcome.participant.label, outcome.participant.role
    return Series(label, role, outcome.x, mean, low, high, *outcome.power(), caveat=_caveat(outcome))


def _caveat(outcome: Outcome) -> str:
    return plain(f"{SAYS_NOTHING}: {outcome.caveat}") if outcome.caveat else ""
