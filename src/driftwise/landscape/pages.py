"""The measured Table 1 as an HTML page: table, figures with bounds, weights over time, claims, and the command."""

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

__all__ = ["heading", "page"]

_AXES = {"T": "rounds T", "Gamma": "segments Γ", "V": "drift V", "Lambda": "variance Λ"}
_NOTES = (
    "Regret is dynamic pseudo-regret: the expected loss of a learner minus that of the best action of every round, both"
    " computed with the true means.",
    "Bands and brackets are 95 % confidence intervals over runs: Student's for regrets, the bootstrap over runs of a"
    " least-squares slope on logarithmic axes for exponents.",
    "Lower bounds have the constants that are proved. Against an adversary, the lower bound is the guarantee of its"
    " construction: the expected regret of every learner is at least that. Another construction may guarantee more"
    " within the same budget. A benign environment may be easier than the worst one with the same measures, so there"
    " the multiple may be less than 1.",
    "Upper bounds are those of the learner made for the setting, with their constants. A bound of T or more is not"
    " shown, since regret is at most T. In the setting with bandit feedback and switching it is the bound of EXP3.S.",
    "Learners of this paper, cited and added learners are tuned to the measures of the environment, or to the budget of"
    " the adversary, if they have a tuning rule. Parameter-free learners get the numbers of actions and rounds only."
    " Baselines, and all bandit learners in the best-response environment, use their default parameters.",
    "A star marks a learner whose tuning rule is meaningless in the environment, usually because the means change in"
    " so many rounds that adapting to every change costs as much as not learning. Its regret and exponent say nothing"
    " about the algorithm.",
    "Best-response environment: regret is above the lower bound at every T. Over one or two decades of T the slope may"
    " be less than 1/2, if the multiple decreases, or above 1, if a learner detects fewer changes as T grows.",
    "Algorithm 4 uses merged memory and AdaNormalHedge.TV a geometric cover, to limit the time per round. The theorem"
    " on Algorithm 4 is about exact memory.",
)


def page(outcomes: Sequence[Outcome], histories: Sequence[WeightHistory], commands: Sequence[str], about: str) -> Page:
    """Return the page of these outcomes; `about` is a sentence on the extent of the measurements."""
    panels = [_panel(list(group)) for _, group in groupby(outcomes, key=lambda outcome: outcome.sweep.key)]
    return Page(
        title="Tracking the best expert, measured",
        subtitle="Table 1 of Wei, Hong and Lu (NIPS 2016): proved regret bounds in changing environments, and the"
        f" regret measured in environments whose segments, drift and variance are known exactly. {about}",
        table=[_row(outcome) for outcome in outcomes],
        panels=panels,
        histories=histories,
        claims=[_with_greek_letters(claim) for claim in claims(outcomes)],
        commands=commands,
        notes=_NOTES,
    )


def heading(description: str) -> str:
    """Return the description of an environment as a heading: Greek letters, and no line break in an equation."""
    return plain(description[:1].upper() + description[1:]).replace(" = ", "\u00a0=\u00a0")


def _with_greek_letters(claim: Claim) -> Claim:
    figures = [(plain(what), value) for what, value in claim.figures]
    return Claim(plain(claim.text), claim.holds, figures)


def _row(outcome: Outcome) -> TableRow:
    sweep, participant, power = outcome.sweep, outcome.participant, outcome.power()
    upper, lower = rates(sweep.cell)
    return TableRow(
        cell=CELLS[sweep.cell],
        environment=heading(sweep.description),
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
    """Return the curves of one sweep with its bounds; if the learners' environments differ, those of the first."""
    first = outcomes[0]
    sweep = first.sweep
    upper, lower = rates(sweep.cell)
    # Trivial bounds (regret <= T, regret >= 0) are not drawn.
    highest = [
        y if y < measurement.n_rounds else math.nan
        for y, measurement in zip(first.upper, first.measurements, strict=True)
    ]
    lowest = [y if y > 0 else math.nan for y in first.lower]
    return Panel(
        key=sweep.key,
        cell=CELLS[sweep.cell],
        title=heading(sweep.description),
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
