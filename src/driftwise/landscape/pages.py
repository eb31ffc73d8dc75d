"""The measured Table 1: as text, and as an HTML page with figures, weights over time, claims, and the command."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import groupby

from driftwise.core.measures import SAYS_NOTHING, collected, marked
from driftwise.engine import record
from driftwise.glossary import PAGE_NOTE
from driftwise.landscape.claims import claims
from driftwise.landscape.outcomes import Outcome, rates
from driftwise.landscape.scans import CELLS, Participant, Scan
from driftwise.report.page import (
    Axis,
    Claim,
    Filter,
    Line,
    Measured,
    Page,
    PageColumn,
    PageTable,
    Panel,
    Series,
    SeriesGroup,
    Text,
    WeightHistory,
)
from driftwise.report.page.contents import Cell, ReportColumn, page_columns, report_text
from driftwise.report.page.markup import plain
from driftwise.report.tables import fixed, number
from driftwise.results.results import footnote
from driftwise.sweeps import Source

GROUPS = {
    "paper": SeriesGroup("This paper", "thick"),
    "cited": SeriesGroup("Cited", "solid"),
    "parameter-free": SeriesGroup("Parameter-free", "dashed"),
    "added": SeriesGroup("Added", "dash-dotted"),
    "baseline": SeriesGroup("Baseline", "baseline"),
}  # by role
FIGURES_HEADING = "Regret against the varied quantity"
HINT = "Click on a learner to hide or show it in all figures."
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
    " least-squares slope on logarithmic axes for exponents. Runs that are all equal have none: nothing in them is"
    " random.",
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


def _interval_text(outcome: Outcome) -> str:
    _, low, high = outcome.exponent
    return f"{fixed(low, 2)} .. {fixed(high, 2)}" if math.isfinite(low) else "-"


def span(values: Sequence[float], to: str = " .. ") -> str:
    """Return the least and the largest of some numbers as text."""
    finite = [value for value in values if not math.isnan(value)]
    if not finite:
        return "-"
    low, high = number(min(finite), 2), number(max(finite), 2)
    return low if low == high else f"{low}{to}{high}"


COLUMNS: tuple[ReportColumn[Outcome], ...] = (
    ReportColumn(
        page=PageColumn("environment", "Setting and environment", once=True, card_label=""),
        cell=lambda outcome: Text(CELLS[outcome.scan.cell], heading(outcome.scan.description)),
    ),
    ReportColumn(
        heading="learner",
        text=lambda outcome: marked(outcome.participant.label, outcome.caveat),
        page=PageColumn("learner", "Learner", "series", card_label=""),
        cell=lambda outcome: Text(outcome.participant.label, _group(outcome).lower(), _caveat(outcome)),
    ),
    ReportColumn(heading="role", value=lambda outcome: outcome.participant.role),
    ReportColumn(heading="last regret", value=lambda outcome: number(outcome.regrets[-1].mean)),
    ReportColumn(page=PageColumn("axis", "Varied", "formula", once=True), value=lambda outcome: outcome.scan.axis),
    ReportColumn(
        page=PageColumn("upper", "Upper rate", "formula", once=True),
        value=lambda outcome: rates(outcome.scan.cell)[0].text,
    ),
    ReportColumn(
        page=PageColumn("lower", "Lower rate", "formula", once=True),
        value=lambda outcome: rates(outcome.scan.cell)[1].text,
    ),
    ReportColumn(
        heading="exponent",
        text=lambda outcome: fixed(outcome.exponent.exponent, 2),
        page=PageColumn("exponent", "Measured exponent", "whisker", decimals=2, rules=(0.0, 0.5, 1.0), card_label=""),
        cell=lambda outcome: Measured(*outcome.exponent),
    ),
    ReportColumn(heading="95% interval", value=_interval_text),
    ReportColumn(
        heading="x lower bound",
        text=lambda outcome: span(outcome.multiples),
        page=PageColumn("multiple", "× lower bound", order="number", card_label="×"),
        cell=lambda outcome: span(outcome.multiples, " to "),
    ),
)


def table(outcomes: Sequence[Outcome]) -> str:
    """Return the measured Table 1 as text."""
    lines = []
    for cell, in_cell in groupby(outcomes, key=lambda outcome: outcome.scan.cell):
        upper, lower = rates(cell)
        lines += ["", f"{CELLS[cell]}: upper {upper.text}; lower {lower.text}"]
        for _, group in groupby(in_cell, key=lambda outcome: outcome.scan.key):
            in_scan = list(group)
            scan, x = in_scan[0].scan, in_scan[0].x
            reasons = footnote({outcome.participant.label: outcome.caveat for outcome in in_scan if outcome.caveat})
            body = report_text(COLUMNS, in_scan, left=2)
            lines += ["", f"  {scan.description}; {scan.axis} from {number(x[0])} to {number(x[-1])}"]
            lines += ["  " + line for line in (*body.splitlines(), *reasons.splitlines())]
    return "\n".join(lines).lstrip("\n")


def page_table(rows: Sequence[Sequence[Cell]]) -> PageTable:
    """Return the measured Table 1 of the page, one row per learner and environment."""
    choice = Filter("environment", "Setting", "All settings")
    return PageTable([*page_columns(COLUMNS)], rows, "Table 1, measured", _ABOUT_TABLE, choice)


def page(outcomes: Sequence[Outcome], histories: Sequence[WeightHistory], commands: Sequence[str], about: str) -> Page:
    """Return the page of these outcomes; `about` is a sentence on the extent of the measurements."""
    panels = [_panel(list(group)) for _, group in groupby(outcomes, key=lambda outcome: outcome.scan.key)]
    return Page(
        title="Tracking the best expert, measured",
        subtitle="Table 1 of Wei, Hong and Lu (NIPS 2016): proved regret bounds in changing environments, and the"
        f" regret measured in environments whose segments, drift and variance are known exactly. {about}",
        table=page_table([[cell(outcome) for cell in page_columns(COLUMNS).values()] for outcome in outcomes]),
        panels=panels,
        histories=histories,
        claims=[_with_greek_letters(claim) for claim in claims(outcomes)],
        commands=commands,
        notes=_NOTES,
        groups=tuple(GROUPS.values()),
        figures_heading=FIGURES_HEADING,
        hint=HINT,
        guide="landscape",
    )


def heading(description: str) -> str:
    """Return the description of an environment as a heading: Greek letters, and no line break in an equation."""
    return plain(_capitalised(description)).replace(" = ", "\u00a0=\u00a0")


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _with_greek_letters(claim: Claim) -> Claim:
    figures = [(plain(what), value) for what, value in claim.figures]
    return Claim(plain(claim.text), claim.holds, figures)


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
    exponent = Measured(*outcome.exponent)
    return Series(outcome.participant.label, _group(outcome), outcome.x, mean, low, high, exponent, _caveat(outcome))


def _group(outcome: Outcome) -> str:
    return GROUPS[outcome.participant.role].name


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
    histories = []
    for done, (scan, participant, value) in enumerate(wanted, start=1):
        histories.append(_history(scan, participant, value, seed))
        if progress is not None:
            progress(done, len(wanted))
    return histories


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
