"""The parts of `docs/landscape.md` that come from measurements: the 2 x 2 table, its pictures, the claims, the page.

The text of the table and of the claims is written into the page by `python docs/generate.py`. The pictures and the
interactive page are made when the site is built. A picture takes its colours from the page, so it is also right on a
dark background. All four have as many decades on both axes, so slopes can be compared by eye.
"""

from __future__ import annotations

import itertools
import math
import re
import textwrap
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from driftwise.core.measures import collected
from driftwise.landscape.claims import DRIFTING, FLAT, SPREAD, claims
from driftwise.landscape.outcomes import Outcome, rates
from driftwise.landscape.pages import page, weight_histories
from driftwise.landscape.scans import CELLS
from driftwise.report.page import write_page
from driftwise.report.page.markup import Markup, element, plain
from driftwise.report.tables import fixed, number
from driftwise.theory.table_one import Rate
from landscape_results import COMMAND, RESULTS, SEED, read_results
from related_files import ROOT

__all__ = [
    "INTERACTIVE",
    "TableCell",
    "claims_text",
    "picture",
    "table_cells",
    "table_text",
    "with_parts",
    "write_site",
]

INTERACTIVE = "landscape-interactive.html"  # in the site
PICTURES = "_landscape"  # folder in `docs`, made by the build
# What is shown in each cell: regret as T grows, for the learner of its upper bound. With full information and drift it
# is regret against the adversary, because sinusoids are easier than the bound.
_SHOWN = {
    "full-switching": ("full-switching-rounds", "optimistic-gd"),
    "full-drifting": ("full-drifting-low", "restarted-adaptive-gd"),
    "bandit-switching": ("bandit-switching-rounds", "sliding-window-ucb"),
    "bandit-drifting": ("bandit-drifting-long", "rerun-ucbv"),
}
_SECTIONS = {
    "full-switching": "why-switching",
    "full-drifting": "why-drifting",
    "bandit-switching": "why-hidden",
    "bandit-drifting": "why-hidden-drift",
}  # that say why
_NAME = re.compile(r"Theorem [\d.]+|.*?\(\d{4}\)")  # of a source, without its remarks
_DECIMALS = 3

_HEIGHT = 140  # of a picture, in pixels; the rest is in per cent of its width and height
_LEFT, _RIGHT, _TOP, _BOTTOM = 17.0, 97.0, 5.0, 82.0
_DECADES = 2.0  # on each axis
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class TableCell(NamedTuple):
    """One of the four cells."""

    key: str
    upper: Rate
    lower: Rate
    outcome: Outcome  # of the learner that is shown

    @property
    def printed(self) -> Fraction:
        """The exponent of T in the printed rate, for fixed measures: the largest of its terms."""
        return max(term.get("T", Fraction(0)) for term in self.lower.exponents)

    @property
    def measured(self) -> str:
        """The measured exponent of T with its interval."""
        return _with_ends(*self.outcome.exponent)


def table_cells(outcomes: Sequence[Outcome]) -> list[TableCell]:
    """Return the four cells."""
    by_name = {(outcome.scan.key, outcome.participant.label): outcome for outcome in outcomes}
    return [TableCell(cell, *rates(cell), by_name[_SHOWN[cell]]) for cell in CELLS]


def table_text(cells: Sequence[TableCell]) -> str:
    """Return the 2 x 2 table as Markdown: a grid of cards."""
    return "\n\n".join(["::::{grid} 2\n:gutter: 2\n:class-container: table-one", *map(_card, cells), "::::"])


def long_runs_text(outcomes: Sequence[Outcome]) -> str:
    """Return how the slope of Algorithm 1 falls as T grows."""
    found = {outcome.scan.key: outcome for outcome in outcomes if outcome.participant.label == "rerun-ucbv"}
    short, long = found["bandit-drifting-rounds"], found[_SHOWN["bandit-drifting"][0]]
    points = [(math.log(x), math.log(regret.mean)) for x, regret in zip(long.x, long.regrets, strict=True)]
    slopes = ", ".join(fixed((d - b) / (c - a), 2) for (a, b), (c, d) in itertools.pairwise(points))
    return _filled(
        f"The slopes of Algorithm 1 between neighbouring dots are {slopes}. In shorter runs"
        f" ({plain(short.scan.description)}; T from {short.x[0]:,.0f} to {short.x[-1]:,.0f}) its exponent is"
        f" {_with_ends(*short.exponent)}: there, most rounds of a block are spent on exploration."
    )


def _card(cell: TableCell) -> str:
    x = cell.outcome.x
    upper, lower = (_NAME.match(rate.source) for rate in (cell.upper, cell.lower))
    assert upper is not None
    assert lower is not None
    name = CELLS[cell.key]
    learner, environment = cell.outcome.participant.label, plain(cell.outcome.scan.description)
    about = f"`{learner}`: {environment}; T from {x[0]:,.0f} to {x[-1]:,.0f}."
    bounds = f"Upper bound: {upper[0]}. Lower bound: {lower[0]}."
    links = f'[Why?](#{_SECTIONS[cell.key]}) <a href="{INTERACTIVE}#{cell.outcome.scan.key}">All learners</a>'
    return f""":::{{grid-item-card}} {name[:1].upper()}{name[1:]}
${_latex(cell.lower.text)}$

Exponent of $T$: printed {cell.printed}, measured **{cell.measured}**

```{{raw}} html
:file: {PICTURES}/{cell.key}.svg
```

{_filled(about)}
{bounds}

{links}
:::"""


def claims_text(outcomes: Sequence[Outcome]) -> str:
    """Return the claims of the paper with their numbers, and why their limits are what they are."""
    flat_growth, third = 100**FLAT, fixed(DRIFTING - 1 / 3, 2)
    reasons = (
        f"The limit {FLAT} is a small growth: from 1,000 to 100,000 rounds a regret with this exponent grows by the"
        f" factor {flat_growth:.2f}. A regret proportional to $\\ln T$ grows by 1.67 and has the exponent 0.11, so it"
        " would not pass. Algorithm 4 has $\\ln(KT)$ in its bound, so its regret is divided by it first. Hedge does not"
        f" forget; its exponent must be above {FLAT}, or the environment would be too easy to show anything.",
        "The limit 1 is Theorem 4.1: no learner can be below the guarantee of the adversary. With full information"
        " regret must be below the constant of Theorem 3.2, and the same at every $T$: the largest is at most"
        f" {100 * FLAT:g} % above the smallest.",
        f"The limit {DRIFTING} is 1/3 with the same margin as above, {third}. The ratio {SPREAD:g} allows for constants"
        " that depend on rounding block lengths to whole rounds; over two decades of $T$, an exponent that is wrong by"
        " 0.24 gives a ratio of 3. Regret must be at least the guarantee of the adversary, so that the environment is"
        " as hard as Theorem 4.3 says.",
    )
    found = claims(outcomes)
    assert len(found) == len(reasons)
    parts = []
    for roman, claim, reason in zip(("i", "ii", "iii"), found, reasons, strict=True):
        rows = [f"- {plain(what)}: **{value}**" for what, value in claim.figures]
        verdict = "Holds." if claim.holds else "Does not hold."
        parts += [_filled(f"**({roman}) {plain(claim.text)}** {verdict}"), "\n".join(rows), _filled(reason)]
    return "\n\n".join(parts)


def with_parts(text: str, outcomes: Sequence[Outcome]) -> str:
    """Return the text of the page with the parts that come from these outcomes between their comments."""
    parts = {
        "table": table_text(table_cells(outcomes)),
        "long runs": long_runs_text(outcomes),
        "claims": claims_text(outcomes),
    }
    for name, part in parts.items():
        start, end = f"<!-- {name}: `python docs/generate.py` -->", f"<!-- end of {name} -->"
        before, _, rest = text.partition(start)
        _, _, after = rest.partition(end)
        text = f"{before}{start}\n\n{part}\n\n{end}{after}"
    return text


def write_site(folder: Path) -> None:
    """Write the pictures into a folder, and the interactive page into `site/` there, if they are old."""
    package = ROOT / "src" / "driftwise"
    sources = [
        *(package / "landscape").iterdir(),
        *(package / "report" / "page").iterdir(),
        *Path(__file__).parent.glob("landscape_*"),
    ]
    newest = max(file.stat().st_mtime for file in (RESULTS, *sources) if file.is_file())
    target = folder / "site" / INTERACTIVE
    if target.exists() and target.stat().st_mtime > newest:
        return
    outcomes = read_results()
    folder.mkdir(parents=True, exist_ok=True)
    for cell in table_cells(outcomes):
        (folder / f"{cell.key}.svg").write_text(f"{picture(cell)}\n", encoding="utf-8")
    scans = list({outcome.scan.key: outcome.scan for outcome in outcomes}.values())
    print("weights over time, for the interactive page of the landscape", flush=True)
    with collected():
        histories = weight_histories(scans, SEED)
    about = "Preset standard: 24 runs per point, and 8 of the longest runs."
    target.parent.mkdir(exist_ok=True)
    write_page(target, page(outcomes, histories, [COMMAND], about))


def picture(cell: TableCell) -> Markup:
    """Return regret against T on logarithmic axes: means with intervals, the fitted power, and the printed slope."""
    outcome = cell.outcome
    x = [math.log10(value) for value in outcome.x]
    y = [math.log10(estimate.mean) for estimate in outcome.regrets]
    x_mid, y_mid = (x[0] + x[-1]) / 2, (min(y) + max(y)) / 2
    frame = _Frame(x_mid - 1.05 * _DECADES / 2, y_mid - 1.05 * _DECADES / 2)
    slope = outcome.exponent.exponent
    height = sum(y) / len(y) + slope * (x_mid - sum(x) / len(x))  # of the fitted line, in the middle
    points = [
        element("circle", cx=frame.across(a), cy=frame.down(b), r=3, fill="currentColor")
        for a, b in zip(x, y, strict=True)
    ]
    whiskers = [
        frame.line((a, math.log10(low)), (a, math.log10(high)), stroke_width=1.5)
        for a, (_, low, high) in zip(x, outcome.regrets, strict=True)
        if low > 0
    ]
    ends = (x[0], x[-1])
    fitted = frame.line(*((a, height + slope * (a - x_mid)) for a in ends), stroke_width=1.5)
    printed = frame.line(
        *((a, height + float(cell.printed) * (a - x_mid)) for a in ends), class_="printed", stroke_dasharray="5 4"
    )
    values = "; ".join(
        f"{number(estimate.mean)} at {value:,.0f}" for value, estimate in zip(outcome.x, outcome.regrets, strict=True)
    )
    about = f"Regret of {outcome.participant.label} against T, both axes logarithmic: {values}"
    data = element("g", *whiskers, fitted, *points, class_="data")
    return element(
        "svg", frame.axes(), printed, data, class_="cell", role="img", aria_label=about, width="100%", height=_HEIGHT
    )


class _Frame(NamedTuple):
    """Two decades from these logarithms on; positions are in per cent, so that text and lines keep their size."""

    left: float
    bottom: float

    def across(self, x: float) -> str:
        return f"{_LEFT + (_RIGHT - _LEFT) * (x - self.left) / (1.05 * _DECADES):.2f}%"

    def down(self, y: float) -> str:
        return f"{_BOTTOM - (_BOTTOM - _TOP) * (y - self.bottom) / (1.05 * _DECADES):.2f}%"

    def line(self, start: tuple[float, float], end: tuple[float, float], **look: str | float) -> Markup:
        (x1, y1), (x2, y2) = ((self.across(x), self.down(y)) for x, y in (start, end))
        return element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke="currentColor", **look)

    def axes(self) -> Markup:
        right, top = self.left + 1.05 * _DECADES, self.bottom + 1.05 * _DECADES
        parts = []
        for power in range(math.ceil(self.left), math.floor(right) + 1):
            parts.append(self.line((power, self.bottom), (power, top), class_="rule"))
            parts.append(self._text(_power(power), self.across(power), "93%", "middle"))
        for power in range(math.ceil(self.bottom), math.floor(top) + 1):
            parts.append(self.line((self.left, power), (right, power), class_="rule"))
            parts.append(self._text(_power(power), f"{_LEFT - 2:g}%", self.down(power), "end", dy="0.35em"))
        parts.append(self._text("regret against T", f"{_LEFT + 1.5:g}%", "13%", "start"))
        return element("g", *parts, class_="axes")

    def _text(self, text: str, x: str, y: str, anchor: str, **more: str) -> Markup:
        return element("text", text, x=x, y=y, text_anchor=anchor, fill="currentColor", **more)


def _power(power: int) -> str:
    return "10" + str(power).translate(_SUPERSCRIPTS)


def _with_ends(value: float, low: float, high: float) -> str:
    text = fixed(value, _DECIMALS)
    return text if math.isnan(low) else f"{text} ({fixed(low, _DECIMALS)} .. {fixed(high, _DECIMALS)})"


def _latex(rate: str) -> str:
    """Return a rate as a formula.

    >>> _latex("(V Lambda T)^(1/3) + sqrt(V T)")
    '(V \\\\Lambda T)^{1/3} + \\\\sqrt{V T}'
    """
    text = re.sub(r"sqrt\((.*?)\)", r"\\sqrt{\1}", rate)
    text = re.sub(r"\^\((.*?)\)", r"^{\1}", text)
    return re.sub(r"Gamma|Lambda", r"\\\g<0>", text)


def _filled(text: str) -> str:
    return textwrap.fill(text, 118, break_on_hyphens=False, break_long_words=False)
