"""The measured Table 1 as an HTML page: table, figures with bounds, weights over time, claims, and the command."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import groupby

from driftwise.core.tuning_caveats import SAYS_NOTHING, collected
from driftwise.engine import record
from driftwise.glossary import PAGE_NOTE
from driftwise.landscape.claims import claims
from driftwise.landscape.outcomes import Outcome, rates, span
from driftwise.landscape.participants import CELLS, Participant
from driftwise.landscape.scans import Scan
from driftwise.report.page import (
    Axis,
    Claim,
    Column,
    Filter,
    Group,
    Line,
    Measured,
    Page,
    Panel,
    Series,
    Table,
    Text,
    WeightHistory,
)
from driftwise.report.page.markup import plain
from driftwise.report.page.table_contents import Cell
from driftwise.sweeps import Source

__all__ = ["FIGURES_HEADING", "GROUPS", "HINT", "page", "table_one", "table_one_row", "weight_histories"]

GROUPS = {
    "paper": Group("This paper", "thick"),
    "cited": Group("Cited", "solid"),
    "parameter-free": Group("Parameter-free", "dashed"),
    "added": Group("Added", "dash-dotted"),
    "baseline": Group("Baseline", "baseline"),
}  # by role
FIGURES_HEADING = "Regret against the varied quantity"
HINT = "Click on a learner to hide or show it in all figures."
_COLUMNS = (
    Column("environment", "Setting and environment", once=True, card_label=""),
    Column("learner", "Learner", "series", card_label=""),
    Column("axis", "Varied", "formula", once=True),
    Column("upper", "Upper rate", "formula", once=True),
    Column("lower", "Lower rate", "formula", once=True),
    Column("exponent", "Measured exponent", "whisker", decimals=2, rules=(0.0, 0.5, 1.0), card_label=""),
    Column("multiple", "× lower bound", order="number", card_label="×"),
)
_ABOUT_TABLE = (
    "The rates are those of the paper's Table 1. Measured exponent: the power of the varied quantity with which regret"
    " grew, with its 95 % interval; the thin lines are at 0, ½ and 1. × lower bound: regret divided by the lower bound."
    + PAGE_NOTE
)

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
_INTERVALS = 250  # of rounds, in each of which weights are averaged
_MOST_CHANGES = 40  # that can be distinguished in a figure


def page(outcomes: Sequence[Outcome], histories: Sequence[WeightHistory], commands: Sequence[str], about: str) -> Page:
    """Return the page of these outcomes; `about` is a sentence on the extent of the measurements."""
    panels = [_panel(list(group)) for _, group in groupby(outcomes, key=lambda outcome: outcome.scan.key)]
    return Page(
        title="Tracking the best expert, measured",
        subtitle="Table 1 of Wei, Hong and Lu (NIPS 2016): proved regret bounds in changing environments, and the"
        f" regret measured in environments whose segments, drift and variance are known exactly. {about}",
        table=table_one([_row(outcome) for outcome in outcomes]),
        panels=panels,
        histories=histories,
        claims=[_with_greek_letters(claim) for claim in claims(outcomes)],
        commands=commands,
        notes=_NOTES,
        groups=tuple(GROUPS.values()),
        figures_heading=FIGURES_HEADING,
        hint=HINT,
    )


def table_one(rows: Sequence[Sequence[Cell]]) -> Table:
    """Return the measured Table 1, one row per learner and environment."""
    return Table(_COLUMNS, rows, "Table 1, measured", _ABOUT_TABLE, Filter("environment", "Setting", "All settings"))


def table_one_row(
    cell: str,
    environment: str,
    learner: str,
    role: str,
    axis: str,
    rates: tuple[str, str],
    exponent: Measured,
    multiple: str,
    caveat: str = "",
) -> Sequence[Cell]:
    """Return one row of the measured Table 1; `axis` is the varied quantity, the rates are the upper and the lower."""
    name = Text(learner, GROUPS[role].name.lower(), caveat)
    return Text(cell, environment), name, axis, *rates, exponent, multiple


def heading(description: str) -> str:
    """Return the description of an environment as a heading: Greek letters, and no line break in an equation."""
    return plain(_capitalised(description)).replace(" = ", "\u00a0=\u00a0")


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _with_greek_letters(claim: Claim) -> Claim:
    figures = [(plain(what), value) for what, value in claim.figures]
    return Claim(plain(claim.text), claim.holds, figures)


def _row(outcome: Outcome) -> Sequence[Cell]:
    scan, participant = outcome.scan, outcome.participant
    upper, lower = rates(scan.cell)
    return table_one_row(
        CELLS[scan.cell],
        heading(scan.description),
        participant.label,
        participant.role,
        scan.axis,
        (upper.text, lower.text),
        Measured(*outcome.power()),
        span(outcome.multiples, " to "),
        _caveat(outcome),
    )


def _panel(outcomes: list[Outcome]) -> Panel:
    """Return the curves of one scan with its bounds; if the learners' environments differ, those of the first."""
    first = outcomes[0]
    scan = first.scan
    upper, lower = rates(scan.cell)
    # Trivial bounds (regret <= T, regret >= 0) are not drawn.
    highest = [
        y if y < measurement.n_rounds else math.nan
        for y, measurement in zip(first.upper, first.measurements, strict=True)
    ]
    lowest = [y if y > 0 else math.nan for y in first.lower]
    return Panel(
        key=scan.key,
        section=_capitalised(CELLS[scan.cell]),
        title=heading(scan.description),
        x=Axis(_AXES[scan.axis], "log"),
        y=Axis("dynamic regret", "log"),
        series=[_series(outcome) for outcome in outcomes],
        lines=[
            Line(text, kind, first.x, y)
            for text, kind, y in ((upper.text, "upper", highest), (lower.text, "lower", lowest))
            if not all(map(math.isnan, y))
        ],
    )


def _series(outcome: Outcome) -> Series:
    mean, low, high = zip(*outcome.regrets, strict=True)
    group = GROUPS[outcome.participant.role].name
    exponent = Measured(*outcome.power())
    return Series(outcome.participant.label, group, outcome.x, mean, low, high, exponent, _caveat(outcome))


def _caveat(outcome: Outcome) -> str:
    return plain(f"{SAYS_NOTHING}: {outcome.caveat}") if outcome.caveat else ""


def weight_histories(
    scans: Sequence[Scan], seed: int, progress: Callable[[int, int], None] | None = None
) -> list[WeightHistory]:
    """Return the weights over time of the first learner of the paper and the first baseline of each scan."""
    wanted = [
        (scan, participant, scan.shown)
        for scan in scans
        if scan.shown is not None
        for participant in dict.fromkeys((_first(scan, "paper"), _first(scan, "baseline")))
    ]
    found = []
    for done, (scan, participant, value) in enumerate(wanted, start=1):
        found.append(_history(scan, participant, value, seed))
        if progress is not None:
            progress(done, len(wanted))
    return found


def _first(scan: Scan, role: str) -> Participant:
    return next((participant for participant in scan.participants if participant.role == role), scan.participants[0])


def _history(scan: Scan, participant: Participant, value: float, seed: int) -> WeightHistory:
    setting = scan.setting(value)
    source = Source(setting.source).facing(participant.player).environment(setting.n_rounds, seed)
    with collected():
        history = record(participant.player, source, setting.n_rounds, seed, points=_INTERVALS)
    assert history.best is not None  # environments and adversaries have means
    changes = history.change_points or ()
    return WeightHistory(
        key=f"history-{scan.key}-{participant.label}",
        title=heading(f"{scan.description}, {scan.axis} = {value:g}"),
        learner=participant.label,
        rounds=history.starts.tolist(),
        weights=history.weights.T.tolist(),
        best=history.best.tolist(),
        change_points=list(changes) if len(changes) <= _MOST_CHANGES else [],
        what="weight" if history.learner.feedback == "full" else "share",
        caveat=f"{SAYS_NOTHING}: {history.caveat}" if history.caveat else "",
    )
