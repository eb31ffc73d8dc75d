"""Weights over rounds as stacked areas in Matplotlib, and the strip that shows the best action."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Any

from driftwise.report.palette import COLOURS

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["action_fill", "best_intervals", "draw_areas", "draw_best", "layers"]


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
