"""Figures with Matplotlib of one run: of its environment, and of a learner in it; and the files of figures.

The figure of an environment has its means and losses; that of a learner its weights, its memory, and the weights of its
bases.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from driftwise.core.errors import InvalidInput, MissingDependency
from driftwise.core.files import write_atomically
from driftwise.core.types import Actions, Matrix, Vector
from driftwise.report.drawing import (
    COLOURS,
    GREY,
    action_fill,
    draw_areas,
    draw_best,
    ignore_missing_glyphs,
    literal,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FORMATS: dict[str, dict[str, None]] = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}  # no dates


def canvas() -> type[Figure]:
    """Return Matplotlib's `Figure`; raise with the command to install it if it is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependency("Drawing a figure", "matplotlib", "figures") from None
    return Figure


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as PNG, SVG or PDF, without a date: equal results give equal files."""
    from matplotlib import rc_context

    dates = _FORMATS[figure_format(path)]
    # Without a salt, identifiers in an SVG are random.
    with ignore_missing_glyphs(), rc_context({"svg.hashsalt": "driftwise"}):
        write_atomically(path, lambda file: figure.savefig(file, dpi=150, metadata=dates))


def drawn_figure(path: str | os.PathLike[str] | None, draw: Callable[[], Figure]) -> Figure:
    """Return a figure; if there is a path, write it there."""
    if path is not None:
        figure_format(path)  # raises before anything is drawn
    figure = draw()
    if path is not None:
        save_figure(figure, path)
    return figure


def figure_format(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a figure's file; raise if it is unknown."""
    suffix = Path(path).suffix.lower()
    if suffix not in _FORMATS:
        raise InvalidInput(f"figure: `path` must end in {', '.join(_FORMATS)}, got {str(path)!r}.")
    return suffix


_MOST_CHANGES = 40  # that can be distinguished
_MOST_DOTS = 60  # of one action
_ENVIRONMENT_TITLE = 110  # the most characters
_ENVIRONMENT_SIZE = (8.0, 3.5)  # inches
_MOST_ACTIONS, _MOST_BASES = 10, 8  # with an area of their own
_HISTORY_TITLE, _AREA_LABEL = 120, 34  # the most characters
_HISTORY_WIDTH, _PANEL_HEIGHTS = 9.0, (2.6, 1.9, 2.2)  # inches: of the figure, and of each panel


class EnvironmentCurves(NamedTuple):
    """The numbers of one run; stretches of rounds begin with `starts`, and the last one ends before `n_rounds`."""

    title: str
    starts: Actions
    n_rounds: int
    losses: Matrix  # (stretches, actions): averages
    means: Matrix | None
    change_points: Sequence[int]


def environment_figure(curves: EnvironmentCurves) -> Figure:
    """Return a figure of the means as steps, of averages of the losses as dots, and of change points."""
    figure = canvas()(figsize=_ENVIRONMENT_SIZE, layout="constrained")
    axes = figure.add_subplot()
    keys: list[tuple[Artist, str]] = []
    together = -(-len(curves.starts) // _MOST_DOTS)
    firsts, losses = _longer_stretches(curves.starts, curves.n_rounds, curves.losses, together)
    centers = (firsts + np.append(firsts[1:], curves.n_rounds)) / 2
    changes = curves.change_points if len(curves.change_points) <= _MOST_CHANGES else ()
    edges, pieces = np.append(curves.starts, curves.n_rounds), _pieces(curves.starts, changes)
    n_actions = losses.shape[1]
    for k in range(n_actions):
        colour, own_keys = _action_key(k, n_actions)
        artist: Artist = axes.plot(centers, losses[:, k], ".", color=colour, markersize=4.5, alpha=0.55)[0]
        if curves.means is not None:
            for first, end in pieces:
                heights = np.append(curves.means[first:end, k], curves.means[end - 1, k])
                artist = axes.step(edges[first : end + 1], heights, where="post", color=colour, linewidth=1.8)[0]
        keys += [(artist, label) for label in own_keys]
    if curves.means is not None:
        keys.append((axes.plot([], [], ".", color="0.4", markersize=4.5)[0], "average of losses"))
    marks = [axes.axvline(t, color="0.6", linewidth=0.8, zorder=1) for t in changes]
    keys += [(mark, "change point") for mark in marks[:1]]
    axes.set(xlabel="round", ylabel="mean loss", xlim=(0, curves.n_rounds), ylim=(-0.03, 1.03))
    axes.set_title(literal(curves.title, _ENVIRONMENT_TITLE), fontsize="medium")
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    artists, labels = zip(*keys, strict=True)
    axes.legend(artists, labels, fontsize="small", frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.03))
    return figure


def _action_key(k: int, n_actions: int) -> tuple[str, list[str]]:
    """Return the colour of an action's curve and its label; of those after the last colour, only the first has one."""
    if k < len(COLOURS):
        return COLOURS[k], [f"action {k + 1}"]
    return GREY, [f"{n_actions - k} other actions"] if k == len(COLOURS) else []


def _pieces(starts: Actions, changes: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first stretch of each segment and the one after its last, so that no line joins two segments.

    >>> _pieces(np.array([0, 10, 20, 30]), [20])
    [(0, 2), (2, 4)]
    """
    firsts = np.unique([0, *np.searchsorted(starts, changes), len(starts)]).tolist()
    return list(itertools.pairwise(firsts))


def _longer_stretches(starts: Actions, n_rounds: int, values: Matrix, together: int) -> tuple[Actions, Matrix]:
    """Return the first rounds of longer stretches, each made of some together, and the averages of values in them."""
    firsts = np.arange(0, len(starts), together)
    lengths = np.diff(starts, append=n_rounds)
    sums = np.add.reduceat(values * lengths[:, None], firsts, axis=0)
    return starts[firsts], sums / np.add.reduceat(lengths, firsts)[:, None]


class HistoryCurves(NamedTuple):
    """The numbers of a history; stretches of rounds begin with `starts`, and the last one ends before `n_rounds`."""

    title: str
    starts: Actions
    n_rounds: int
    what: str  # the weights are weights, or shares of plays
    weights: Matrix  # (stretches, actions)
    best: Actions | None  # the best action of each stretch
    change_points: Sequence[int]
    alarms: Sequence[int]
    memory: Matrix  # (stretches, 1 or actions or 0)
    bases: Mapping[str, Vector]
    together: int = 1  # stretches that make one area of the weights: shares of few plays are ragged


def history_figure(curves: HistoryCurves) -> Figure:
    """Return a figure of weights as stacked areas, of effective memory on a log axis, and of the bases' weights."""
    drawn = [_draw_weights]
    if curves.memory.size:
        drawn.append(_draw_memory)
    if curves.bases:
        drawn.append(_draw_bases)
    heights = [_PANEL_HEIGHTS[(_draw_weights, _draw_memory, _draw_bases).index(draw)] for draw in drawn]
    figure = canvas()(figsize=(_HISTORY_WIDTH, 0.8 + sum(heights)), layout="constrained")
    panels = figure.subplots(len(drawn), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    for axes, draw in zip(panels, drawn, strict=True):
        draw(axes, curves)
        axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle("\n".join(literal(line, _HISTORY_TITLE) for line in curves.title.splitlines()), fontsize="medium")
    panels[-1].set(xlabel="round", xlim=(0, curves.n_rounds))
    return figure


def largest_and_rest(weights: Mapping[str, Vector], most: int) -> tuple[dict[str, Vector], Vector | None]:
    """Return the curves with the largest sums, in their order, and the sum of the others, None if there is none.

    >>> largest_and_rest({"a": np.array([0.5]), "b": np.array([0.125]), "c": np.array([0.375])}, 1)
    ({'a': array([0.5])}, array([0.5]))
    """
    if len(weights) <= most:
        return dict(weights), None
    kept = set(sorted(weights, key=lambda label: -float(weights[label].sum()))[:most])
    rest: Vector = np.sum([curve for label, curve in weights.items() if label not in kept], axis=0)
    return {label: curve for label, curve in weights.items() if label in kept}, rest


def _draw_weights(axes: Axes, curves: HistoryCurves) -> None:
    starts, weights = _longer_stretches(curves.starts, curves.n_rounds, curves.weights, curves.together)
    actions = {f"action {k + 1}": curve for k, curve in enumerate(weights.T)}
    keys = _draw_stack(axes, [*starts.tolist(), curves.n_rounds], actions, _MOST_ACTIONS, "actions")
    keys += _draw_change_points(axes, curves)
    if curves.alarms:
        look: dict[str, Any] = {"marker": "v", "color": "0.1", "markersize": 5, "linestyle": "none", "clip_on": False}
        keys.append((axes.plot(curves.alarms, [1.05] * len(curves.alarms), **look)[0], "alarm"))
    _add_keys(axes, keys)
    if curves.best is not None:
        draw_best(axes, curves.starts.tolist(), curves.best.tolist(), curves.n_rounds)
        axes.text(-0.008, 0.02, "best", transform=axes.transAxes, ha="right", va="center", fontsize="small")
    axes.set(ylim=(0.0 if curves.best is None else -0.1, 1.0), yticks=(0.0, 0.5, 1.0), ylabel=curves.what)


def _draw_bases(axes: Axes, curves: HistoryCurves) -> None:
    keys = _draw_stack(axes, [*curves.starts.tolist(), curves.n_rounds], curves.bases, _MOST_BASES, "bases")
    _draw_change_points(axes, curves)
    _add_keys(axes, keys)
    axes.set(ylim=(0.0, 1.0), yticks=(0.0, 0.5, 1.0), ylabel="weight of base")


def _draw_stack(
    axes: Axes, edges: list[int], curves: Mapping[str, Vector], most: int, what: str
) -> list[tuple[Artist, str]]:
    """Draw areas as steps from edge to edge, and the rest above them; return them with labels, the highest first.

    Actions have the colours of their numbers, bases those of their places.
    """
    shown, rest = largest_and_rest(curves, most)
    order = list(curves if what == "actions" else shown)
    fills = [action_fill(order.index(label)) for label in shown]
    labels = [literal(label, _AREA_LABEL) for label in _without_name(list(shown))]
    stacked = list(shown.values())
    if rest is not None:
        stacked.append(rest)
        fills.append({"color": GREY, "alpha": 0.35})
        labels.append(f"{len(curves) - len(shown)} other {what}")
    heights = [[*curve.tolist(), float(curve[-1])] for curve in stacked]  # the last value holds up to the last edge
    areas = draw_areas(axes, edges, heights, fills, step="post")
    return list(zip(areas, labels, strict=True))[::-1]


def _without_name(labels: list[str]) -> list[str]:
    """Return the parameters only, if all labels are those of learners of one name.

    >>> _without_name(["hedge(learning_rate=1)", "hedge(learning_rate=2)"]), _without_name(["hedge", "hedge(rate=2)"])
    (['learning_rate=1', 'learning_rate=2'], ['hedge', 'hedge(rate=2)'])
    """
    names = {label.partition("(")[0] for label in labels if label.endswith(")")}
    alike = len(names) == 1 and all(label.endswith(")") for label in labels)
    return [label.partition("(")[2][:-1] for label in labels] if alike else labels


def _draw_memory(axes: Axes, curves: HistoryCurves) -> None:
    n_curves = curves.memory.shape[1]
    keys: list[tuple[Artist, str]] = []
    for k in range(n_curves):
        colour, labels = _action_key(k, n_curves)
        line = _draw_line(axes, curves, curves.memory[:, k], colour)
        keys += [(line, "effective memory" if n_curves == 1 else label) for label in labels]
    if curves.change_points:
        since = _rounds_since(curves)
        line = axes.plot(curves.starts, since, color="0.35", linewidth=0.9, linestyle=(0, (1, 1.5)))[0]
        keys.append((line, "segment so far"))
    for t in curves.change_points if len(curves.change_points) <= _MOST_CHANGES else ():
        axes.axvline(t, color="0.6", linewidth=0.8, zorder=1)  # behind the curves
    axes.set(yscale="log", ylabel="effective memory", ylim=(1.0, 1.3 * max(curves.n_rounds, 10)))
    axes.grid(alpha=0.25, linewidth=0.6)
    _add_keys(axes, keys)


def _draw_line(axes: Axes, curves: HistoryCurves, memory: Vector, colour: str) -> Artist:
    """Draw an effective memory at the ends of the stretches; less than one round is drawn as one."""
    ends = np.append(curves.starts[1:], curves.n_rounds)
    marker = "o" if len(ends) == 1 else ""
    return axes.plot(ends, np.maximum(1.0, memory), marker=marker, color=colour, linewidth=1.3)[0]


def _rounds_since(curves: HistoryCurves) -> Vector:
    """Return the number of rounds since the last change point at the start of each stretch, at least one."""
    points = np.array([0, *curves.change_points])
    last = points[np.searchsorted(points, curves.starts, side="right") - 1]
    since: Vector = np.maximum(1.0, curves.starts - last)
    return since


def _draw_change_points(axes: Axes, curves: HistoryCurves) -> list[tuple[Artist, str]]:
    """Draw the true change points as thin lines, with a light edge that shows on dark areas, unless they are many."""
    from matplotlib.patheffects import Normal, Stroke

    if not 0 < len(curves.change_points) <= _MOST_CHANGES:
        return []
    edge = [Stroke(linewidth=2.2, foreground="white", alpha=0.8), Normal()]
    lines = [axes.axvline(t, color="0.1", linewidth=0.8, path_effects=edge) for t in curves.change_points]
    return [(lines[0], "change point")]


def _add_keys(axes: Axes, keys: list[tuple[Artist, str]]) -> None:
    artists, labels = zip(*keys, strict=True)
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.03), "borderaxespad": 0.0}
    axes.legend(artists, labels, fontsize="small", frameon=False, handlelength=1.4, labelspacing=0.3, **place)
