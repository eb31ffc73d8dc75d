"""What figures share: colours, labels and legends, ticks that are times, and weights as stacked areas.

Labels are literal text: Matplotlib must not interpret one as a formula or as an instruction. `STYLE` are settings for
figures of one's own that look like these.
"""

from __future__ import annotations

import contextlib
import math
import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Any, TypeVar

from driftwise.core.errors import one_line
from driftwise.report.maths_text import GREEK

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette, which most colour-blind readers can distinguish.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# The same hues, lighter, for a dark background.
DARK_COLOURS = ("#3D97DB", "#EF7B32", "#1FBF92", "#DE9CC0", "#F2B435", "#94D5FA", "#E8E8E8")
# Baselines are grey.
GREY, DARK_GREY = "#6E7781", "#9BA3AD"
# Their numbers have no common divisor, so that many turns of the colours differ.
_LINES: tuple[Any, ...] = ("-", "-.", (0, (7, 2)))
_MARKERS = ("", "o", "s", "^", "D", "v", "P")
# For `matplotlib.rc_context`.
STYLE = {
    "axes.grid": True,
    "axes.prop_cycle": f"cycler('color', {list(COLOURS)})",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    "figure.constrained_layout.use": True,
    "figure.figsize": (7.0, 3.5),
    "grid.alpha": 0.25,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "savefig.dpi": 170,
}


# The name of a Greek letter as a formula, or before an equals sign, perhaps with an index.
_GREEK = re.compile(
    rf"\$\\(?P<formula>{'|'.join(GREEK)})\$|(?<![^\W_])\\?(?P<name>{'|'.join(GREEK)})(?=(?:_\w{{1,3}}|\d{{1,2}})?\s*=)"
)


def literal(text: str, most: int) -> str:
    r"""Return text in one line, cut to `most` characters, with dollars escaped so that they do not start a formula.

    The name of a Greek letter becomes the letter, as a formula or before an equals sign.

    >>> print(literal("cost in $", 20), literal("a name of many words", 10))
    cost in \$ a name of…
    >>> print(literal(r"hedge(eta=0.3), $\eta$", 30), literal("Gamma = 8, the beta version", 30))
    hedge(η=0.3), η Γ = 8, the beta version
    """
    shown = one_line(_GREEK.sub(lambda match: GREEK[match["formula"] or match["name"]], text))
    return (shown if len(shown) <= most else f"{shown[: most - 1]}…").replace("$", r"\$")


def line_style(i: int) -> dict[str, Any]:
    """Return the colour, line style and marker of the curve `i`: where the colours start again, the others change.

    >>> [line_style(i)["marker"] for i in (0, len(COLOURS), 2 * len(COLOURS))]
    ['', 'o', 's']
    """
    turn = i // len(COLOURS)
    return {
        "color": COLOURS[i % len(COLOURS)],
        "linestyle": _LINES[turn % len(_LINES)],
        "marker": _MARKERS[turn % len(_MARKERS)],
        "markersize": 5,
        "markevery": (0.03 + 0.02 * (i % len(COLOURS)), 0.16),  # parts of the diagonal: markers of curves are apart
    }


def add_legend(owner: Figure | Axes, keys: Sequence[tuple[Artist, str]], **look: Any) -> None:
    """Put a legend below a figure or into axes: artists and their labels, as `literal` returns them.

    The text is set afterwards, because Matplotlib omits labels that start with an underscore.
    """
    if not keys:
        return
    artists, labels = zip(*keys, strict=True)
    numbers = [str(i) for i in range(len(keys))]
    legend = owner.legend(artists, numbers, **look)
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set_text(label)


@contextlib.contextmanager
def ignore_missing_glyphs() -> Iterator[None]:
    """Suppress the warning about a character that the font does not have; a box is drawn for it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        yield


Place = TypeVar("Place", int, float)

_DATE_AND_TIME = re.compile(r"(.+)[T ](\d\d:\d\d\S*)")
_GAP = 3  # characters between two texts
_MOST_TICKS = 7


def time_ticks(rounds: Sequence[Place], times: Sequence[str], most_characters: int) -> list[tuple[Place, str]]:
    """Return evenly spaced rounds and their times, so few that the texts fit in `most_characters` together.

    A round whose time is empty has no tick.

    >>> time_ticks([0, 1, 2, 3], ["2024-01", "2024-02", "2024-03", "2024-04"], 30)
    [(1, '2024-02'), (3, '2024-04')]
    """
    places, texts = timed_rounds(rounds, times)
    if not texts:
        return []
    most = max(1, min(_MOST_TICKS, most_characters // (max(map(len, texts)) + _GAP)))
    every = -(-len(texts) // most)
    return [(places[i], texts[i]) for i in range(every // 2, len(texts), every)]  # away from the ends


def timed_rounds(rounds: Sequence[Place], times: Sequence[str]) -> tuple[list[Place], list[str]]:
    """Return the rounds that have a time, and their times as short texts.

    >>> timed_rounds([0, 1, 2], ["2024-01-01 00:00", "", "2024-01-03 00:00"])
    ([0, 2], ['2024-01-01', '2024-01-03'])
    """
    indices = [i for i, time in enumerate(times) if time]
    return [rounds[i] for i in indices], short_times([times[i] for i in indices])


def short_times(times: Sequence[str]) -> list[str]:
    """Return times without the time of day, if all have the same, such as midnight.

    >>> short_times(["2024-01-01 00:00:00", "2024-01-02 00:00:00"]), short_times(["10", "20"])
    (['2024-01-01', '2024-01-02'], ['10', '20'])
    """
    parts = [_DATE_AND_TIME.fullmatch(time) for time in times]
    dates = [part[1] for part in parts if part]
    alike = len({part[2] for part in parts if part}) == 1
    return dates if alike and len(dates) == len(times) else list(times)


def layers(weights: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return the cumulative sums of weights, one sequence per action; a missing weight counts as 0.

    >>> layers([[0.25, 1.0], [0.75, math.nan]])
    [[0.25, 1.0], [1.0, 1.0]]
    """
    columns = zip(*weights, strict=True)
    sums = [list(accumulate(w if math.isfinite(w) and w > 0 else 0.0 for w in column)) for column in columns]
    return [list(line) for line in zip(*sums, strict=True)]


def best_intervals(best: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yield each best action with the first and the last index of the interval on which it is the best.

    >>> list(best_intervals([2, 2, 0]))
    [(2, 0, 1), (0, 2, 2)]
    """
    for action, group in groupby(range(len(best)), key=lambda i: best[i]):
        places = list(group)
        yield int(action), places[0], places[-1]


def draw_areas(
    axes: Axes, rounds: Sequence[int], weights: Sequence[Sequence[float]], fills: Sequence[dict[str, Any]], **look: Any
) -> list[Artist]:
    """Draw one area per sequence of weights, each above the one before; return them. Without rounds there are none."""
    drawn: list[Artist] = []
    below = [0.0] * len(rounds)
    for top, fill in zip(layers(weights), fills, strict=len(rounds) > 0):
        drawn.append(axes.fill_between(rounds, below, top, linewidth=0, **fill, **look))
        below = top
    return drawn


def draw_best(axes: Axes, rounds: Sequence[int], best: Sequence[int], end: int) -> None:
    """Draw a strip at the lower end of the axes in the colours of the best actions; the last interval ends at `end`."""
    for action, first, last in best_intervals(best):
        if action < 0:  # not known
            continue
        right = rounds[last + 1] if last + 1 < len(rounds) else end
        axes.axvspan(rounds[first], right, ymin=0.0, ymax=0.06, linewidth=0, **action_fill(action))


def action_fill(k: int) -> dict[str, Any]:
    """Return the colour of an action; after the last colour the palette repeats, paler."""
    return {"color": COLOURS[k % len(COLOURS)], "alpha": 0.72 if k < len(COLOURS) else 0.35}
