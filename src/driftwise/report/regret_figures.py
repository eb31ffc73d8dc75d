"""Figures of regret with Matplotlib: curves over rounds, means of learners, and a heat map over two parameters.

Each is drawn into axes: those of a new figure, or axes of the user. The panels of a new figure have one scale.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from driftwise.core.errors import rejection
from driftwise.core.measures import MARK, SAYS_NOTHING, marked
from driftwise.core.types import Actions, Matrix, Vector
from driftwise.regret.statistics import Estimate
from driftwise.report.drawing import COLOURS, add_legend, line_style, literal
from driftwise.report.figures import canvas
from driftwise.report.tables import even_decimals, fixed

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

SCALES = ("log", "linear", "log-log")  # of the axis of regret; "log-log" of both axes
_GREY_LINES = ("-.", ":", (0, (6, 2)), (0, (3, 1, 1, 1, 1, 1)))
_LONGEST_TITLE, _LONGEST_LABEL = 100, 90  # the most characters
_HALF_LABEL = 46  # of the label of an axis
_ROWS, _ROW_HEIGHT = 8, 0.24  # rows of labels that fit, and inches for one more
_FEW = 12  # points of a curve, each of which has a marker
_MOST_TICKS = 8  # at numbers of rounds
_CHARACTER, _LEGEND_LINE = 0.075, 6  # inches, and characters in place of a line in a legend
_SIZE, _PANEL_SIZE = (8.0, 5.0), (4.2, 3.4)  # inches: of a figure of one panel, and of one of several panels
_MOST_COLUMNS = 3
_MAP_CELL, _MAP_BORDER = (0.75, 0.45), (2.6, 1.4)  # inches
_MOST_NUMBERS = 200  # that are written into a heat map
_WIDE_RANGE = 30  # the largest by the smallest mean; above, the colours are on a logarithmic scale
_LEGEND_INSIDE: dict[str, Any] = {"loc": "best", "fontsize": "small", "framealpha": 0.8, "edgecolor": "none"}


class Curve(NamedTuple):
    """One learner's regret: its mean over runs, the ends of the interval, and the bound of its theorem."""

    label: str
    rounds: Actions
    mean: Vector
    low: Vector
    high: Vector
    bound_rounds: Actions
    bound: Vector  # at `bound_rounds`; NaN if there is none
    has_caveat: bool = False  # its tuning says nothing here
    number: int = 0  # of the line style

    @property
    def has_bound(self) -> bool:
        """Whether the bound is somewhere less than the round; losses are <= 1, so a larger one is trivial."""
        return bool((self.bound < self.bound_rounds).any())


class CurvePanel(NamedTuple):
    """Curves in one pair of axes; `lines` are further ones, in grey, over the rounds of the first curve."""

    curves: Sequence[Curve]
    ylabel: str
    title: str = ""
    lines: Mapping[str, Vector] = {}
    over_lengths: bool = False  # over numbers of rounds, each of other runs; not over the rounds of the same runs


class RegretRows(NamedTuple):
    """Mean regrets by learner in one pair of axes, one below the other."""

    regrets: Mapping[str, Estimate]
    xlabel: str
    title: str = ""


class HeatMap(NamedTuple):
    """Mean regrets over the values of two parameters; NaN where there is none."""

    xlabel: str
    ylabel: str
    x: Sequence[str]
    y: Sequence[str]
    means: Matrix  # (y, x)
    colour_label: str


Keys = list[tuple["Line2D", str]]


def curves_figure(
    panels: Sequence[CurvePanel],
    scale: str = "log",
    size: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw panels of mean curves with their bands, of bounds as dashed lines of the same colour, and of grey lines.

    One panel may be drawn into the axes `ax`. Negative regret is drawn on a linear axis, whatever the `scale`; the
    label of the axis says so. All panels have the same axis of regret.
    """
    curves = [curve for panel in panels for curve in panel.curves]
    is_signed = any(curve.mean.min() < 0 for curve in curves)  # regret can be negative against a weaker comparator
    floor = _floor(curves)
    if ax is not None:
        (panel,) = panels
        keys = _draw_curves(ax, panel, scale, is_signed, floor)
        if title is not None:
            _set_title(ax, title)
        add_legend(ax, keys, **_LEGEND_INSIDE)
        return _figure_of(ax)
    labels = {label for panel in panels for label in (*panel.lines, *(curve.label for curve in panel.curves))}
    longest = max((len(literal(label, _LONGEST_LABEL)) for label in labels), default=0)
    width = size[0] if size is not None else _size(len(panels))[0]
    fitting = int(width / (_CHARACTER * (longest + _LEGEND_LINE)))
    columns = max(1, min(fitting, 2, len(labels) + 2) if len(panels) <= 2 else min(fitting, _MOST_COLUMNS))
    n_rows = math.ceil((len(labels) + 2) / columns)
    figure, axes = _grid(len(panels), _ROW_HEIGHT * max(0, n_rows - _ROWS), size, title, "y")
    shared: dict[tuple[str, ...], tuple[Artist, str]] = {}  # panels share those of the same look
    for i, (place, panel) in enumerate(zip(axes, panels, strict=True)):
        for line, label in _draw_curves(place, panel, scale, is_signed, floor):
            look = (label, str(line.get_color()), str(line.get_linestyle()), str(line.get_marker()))
            shared.setdefault(look, (line, label))
        if i % _n_columns(len(panels)) and panel.ylabel == panels[0].ylabel:
            place.set_ylabel("")
    add_legend(figure, [*shared.values()], loc="outside lower center", ncols=columns, frameon=False)
    return figure


def _draw_curves(axes: Axes, panel: CurvePanel, scale: str, is_signed: bool, floor: float) -> Keys:
    """Draw one panel into axes; return the artists with their labels."""
    others = [other for other in axes.get_shared_y_axes().get_siblings(axes) if other is not axes and other.has_data()]
    is_linear = scale == "linear" or is_signed or any(other.get_yscale() == "linear" for other in others)
    ends = [other.get_ylim()[0] for other in others]
    lowest = 0.0 if is_linear else min([floor, *ends])
    least = -np.inf if is_linear else lowest
    keys: Keys = []
    for curve in panel.curves:
        keys.append(_draw_curve(axes, curve, least, panel.over_lengths))
    for i, (label, values) in enumerate(panel.lines.items()):
        dashes, grey = _GREY_LINES[i % len(_GREY_LINES)], str(0.2 + 0.2 * (i % 2))
        line = axes.plot(panel.curves[0].rounds, values, linestyle=dashes, color=grey, linewidth=1.4)[0]
        keys.append((line, literal(label, _LONGEST_LABEL)))
    if any(curve.has_bound for curve in panel.curves):
        sample = axes.plot([], [], "--", color="0.4", linewidth=1.0)[0]
        keys.append((sample, "bound (same colour)"))
    if any(curve.has_caveat for curve in panel.curves):
        sample = axes.plot([], [], ":", color="0.4", linewidth=1.6)[0]
        keys.append((sample, f"{MARK} {SAYS_NOTHING}"))
    ylabel = literal(panel.ylabel, _HALF_LABEL)
    if is_signed and scale != "linear":
        ylabel += "\n(linear: some of it is below 0)"
    axes.set(xlabel="rounds $T$" if panel.over_lengths else "round", ylabel=ylabel)
    if scale == "log-log":
        axes.set(xscale="log")
    lengths = sorted({*itertools.chain.from_iterable(curve.rounds.tolist() for curve in panel.curves)})
    if panel.over_lengths and len(lengths) <= _MOST_TICKS:
        axes.set_xticks(lengths, [str(length) for length in lengths])
        axes.set_xticks([], minor=True)
    elif all(len(curve.rounds) > _FEW for curve in panel.curves):
        axes.margins(x=0.0)
    axes.set(yscale="linear" if is_linear else "log")
    axes.autoscale(axis="y")
    axes.autoscale_view(scalex=False)  # now, with the axes that share it: later their limits would be kept
    if not is_signed and min(ends, default=0.0) >= 0:
        axes.set_ylim(bottom=lowest)
    _finish(axes, panel.title)
    return keys


def _draw_curve(axes: Axes, curve: Curve, least: float, over_lengths: bool) -> tuple[Line2D, str]:
    """Draw the mean of a curve, its band and its bound; values below `least` are drawn there."""
    look = line_style(curve.number)
    if curve.has_caveat:
        look["linestyle"] = ":"
    if len(curve.rounds) <= _FEW:  # a line needs two points
        look |= {"marker": look["marker"] or "o", "markevery": None}
    label = marked(literal(curve.label, _LONGEST_LABEL), curve.has_caveat)
    line = axes.plot(curve.rounds, np.maximum(curve.mean, least), label=label, linewidth=1.6, **look)[0]
    if np.isfinite(curve.low).all():
        low, high = np.maximum(curve.low, least), np.maximum(curve.high, least)
        axes.fill_between(curve.rounds, low, high, color=look["color"], alpha=0.2, linewidth=0)
    if curve.has_bound:
        dashes: dict[str, Any] = {"linestyle": "--", "color": look["color"], "linewidth": 1.0, "alpha": 0.8}
        dashes |= {"marker": "_", "markersize": 9} if np.isfinite(curve.bound).sum() == 1 else {}
        # Regret does not decrease, so between two marks the bound of the later one holds: steps, not slopes.
        dashes |= {} if over_lengths else {"drawstyle": "steps-pre"}
        axes.plot(curve.bound_rounds, curve.bound, **dashes)
    return line, label


def dots_figure(
    panels: Sequence[RegretRows],
    scale: str = "linear",
    size: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw panels of mean regrets with their intervals; all have the same lines of learners and axis of regret."""
    labels = [*dict.fromkeys(label for panel in panels for label in panel.regrets)]
    if ax is not None:
        _draw_dots(ax, panels[0], labels, scale)
        if title is not None:
            _set_title(ax, title)
        return _figure_of(ax)
    longest = max(len(literal(label, _LONGEST_LABEL)) for label in labels)
    wider, higher = _CHARACTER * longest, _ROW_HEIGHT * max(0, len(labels) - _ROWS)
    if size is None:
        size = (_PANEL_SIZE[0] * _n_columns(len(panels)) + wider, _PANEL_SIZE[1] * _n_rows(len(panels)) + higher)
    figure, axes = _grid(len(panels), 0.0, size, title, "xy")
    for place, panel in zip(axes, panels, strict=True):
        _draw_dots(place, panel, labels, scale)
    return figure


def _draw_dots(axes: Axes, panel: RegretRows, labels: Sequence[str], scale: str) -> None:
    for i, label in enumerate(labels):
        mean, low, high = panel.regrets.get(label, (math.nan, math.nan, math.nan))
        ends = [[mean - low], [high - mean]] if math.isfinite(low) else None
        axes.errorbar([mean], [i], xerr=ends, fmt="o", capsize=3, color=COLOURS[0])
    axes.set_yticks(range(len(labels)), [literal(label, _LONGEST_LABEL) for label in labels])
    axes.set(ylim=(len(labels) - 0.5, -0.5), xlabel=literal(panel.xlabel, _HALF_LABEL))
    if scale != "linear" and all(estimate.mean > 0 for estimate in panel.regrets.values()):
        axes.set_xscale("log", nonpositive="clip")
    _finish(axes, panel.title)


def heat_map_figure(
    values: HeatMap, size: tuple[float, float] | None = None, title: str | None = None, ax: Axes | None = None
) -> Figure:
    """Draw mean regrets as colours with numbers; the least one has a frame."""
    if ax is None:
        (width, height), (left, below) = _MAP_CELL, _MAP_BORDER
        size = size or (max(4.5, left + width * len(values.x)), max(3.2, below + height * len(values.y)))
        figure = canvas()(figsize=size, layout="constrained")
        ax = figure.add_subplot()
    from matplotlib.colors import LogNorm, Normalize
    from matplotlib.patches import Rectangle

    means = np.ma.masked_invalid(values.means)
    low, high = (float(means.min()), float(means.max())) if means.count() else (0.0, 1.0)
    norm = LogNorm(low, high) if low > 0 and high / low > _WIDE_RANGE else Normalize(low, high)
    image = ax.imshow(means, origin="lower", aspect="auto", cmap="cividis", norm=norm)
    ax.set_xticks(range(len(values.x)), [literal(text, _HALF_LABEL) for text in values.x])
    ax.set_yticks(range(len(values.y)), [literal(text, _HALF_LABEL) for text in values.y])
    ax.set(xlabel=literal(values.xlabel, _HALF_LABEL), ylabel=literal(values.ylabel, _HALF_LABEL))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    decimals = even_decimals(values.means.ravel().tolist(), digits=3)
    if means.size <= _MOST_NUMBERS:
        for (j, i), mean in np.ndenumerate(values.means):
            light = math.isnan(mean) or norm(mean) > 0.5
            ax.text(
                i, j, fixed(mean, decimals), ha="center", va="center", fontsize="small", color="0.1" if light else "1"
            )
    if means.count():
        j, i = np.unravel_index(int(means.argmin()), means.shape)
        frame: dict[str, Any] = {"fill": False, "edgecolor": COLOURS[1], "linewidth": 2.2, "zorder": 3}
        ax.add_patch(Rectangle((i - 0.5, j - 0.5), 1, 1, clip_on=False, **frame))
    bar = ax.figure.colorbar(image, ax=ax, label=literal(values.colour_label, _HALF_LABEL))
    bar.outline.set_visible(False)
    if title is not None:
        _set_title(ax, title)
    return _figure_of(ax)


def check_look(owner: object, size: object, title: object, ax: object) -> None:
    """Reject a size, a title or axes that are none, and a size for axes that exist."""
    if size is not None:
        numbers = size if isinstance(size, tuple | list) and len(size) == 2 else ()
        if not numbers or not all(isinstance(n, int | float) and 0 < n < math.inf for n in numbers):
            raise rejection(owner, "size", "None or two numbers > 0, the width and the height in inches", size)
    if title is not None and not isinstance(title, str):
        raise rejection(owner, "title", "None or text", title)
    if ax is not None:
        canvas()
        from matplotlib.axes import Axes

        if not isinstance(ax, Axes):
            raise rejection(owner, "ax", "None or axes of Matplotlib, such as those of `plt.subplots()`", ax)
        if size is not None:
            raise rejection(owner, "size", "None with `ax`, whose figure has a size", size)


def _grid(
    n: int, legend_height: float, size: tuple[float, float] | None, title: str | None, shared: str
) -> tuple[Figure, list[Axes]]:
    """Return a new figure and the axes of its panels, row by row."""
    rows, columns = _n_rows(n), _n_columns(n)
    width, height = _size(n)
    figure = canvas()(figsize=size or (width, height + legend_height), layout="constrained")
    places = figure.subplots(rows, columns, squeeze=False, sharex="x" in shared, sharey="y" in shared).ravel()
    for place in places[n:]:
        place.remove()
    if title is not None and n > 1:
        figure.suptitle(_title_text(title), fontsize="medium")
    elif title is not None:
        _set_title(places[0], title)
    return figure, list(places[:n])


def _size(n_panels: int) -> tuple[float, float]:
    width, height = _PANEL_SIZE
    return _SIZE if n_panels == 1 else (width * _n_columns(n_panels), height * _n_rows(n_panels) + 1.0)


def _n_columns(n_panels: int) -> int:
    return 2 if n_panels == 4 else min(n_panels, _MOST_COLUMNS)


def _n_rows(n_panels: int) -> int:
    return math.ceil(n_panels / _n_columns(n_panels))


def _finish(axes: Axes, title: str) -> None:
    if title:
        _set_title(axes, title)
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def _set_title(axes: Axes, title: str) -> None:
    axes.set_title(_title_text(title), fontsize="medium")


def _title_text(title: str) -> str:
    return "\n".join(literal(line, _LONGEST_TITLE) for line in title.splitlines())


def _figure_of(axes: Axes) -> Figure:
    figure: Figure = axes.figure.figure  # not a part of one
    return figure


def _floor(curves: Sequence[Curve]) -> float:
    """Return the lower end of a logarithmic axis: below the least mean, at most three decades below the largest."""
    means = np.concatenate([np.empty(0), *(curve.mean for curve in curves)])
    top = float(means.max(initial=1e-6))
    return max(min(1.0, top / 1000.0), float(means[means > 0].min(initial=top)) / 2.0)
