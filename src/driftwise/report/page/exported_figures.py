"""The figures of a page as separate files, drawn by Matplotlib."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from driftwise.core.tuning_caveats import MARK, SAYS_NOTHING, marked
from driftwise.report.figures import canvas, figure_format, save_figure
from driftwise.report.label_text import add_legend, literal
from driftwise.report.number_text import power
from driftwise.report.page.contents import DotPanel, Page, Panel, Series, WeightHistory
from driftwise.report.page.exported_dots import dot_figure
from driftwise.report.page.panel_scales import drawable_parts, drawable_point, x_scale, x_ticks, y_scale
from driftwise.report.page.rate_formulas import plain
from driftwise.report.page.styles import Style, styles_of
from driftwise.report.weight_areas import action_fill, draw_areas, draw_best

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["write_figures"]

_STROKES = {
    "thick": {"linestyle": "-", "linewidth": 2.0},
    "solid": {"linestyle": "-", "linewidth": 1.2},
    "dashed": {"linestyle": (0, (5, 2.5)), "linewidth": 1.2},
    "dash-dotted": {"linestyle": "-.", "linewidth": 1.2},
    "baseline": {"linestyle": ":", "linewidth": 1.6},
}
_PANEL_COLUMNS, _HISTORY_COLUMNS, _KEY_HEIGHT = 2, 6, 0.2  # columns of the legends, and inches of a row
_TITLE, _LABEL = 72, 44  # the most characters of a title and of a label
_BOUNDS = {"upper": (0, (8, 3)), "lower": (0, (2, 2)), "guide": (0, (1, 4))}


def write_figures(folder: str | os.PathLike[str], page: Page, formats: Sequence[str] = ("png", "svg")) -> list[Path]:
    """Write every panel and weight history to a file named by its key, in every format; return the files."""
    styles = styles_of(page.panels, page.groups)
    for form in formats:
        figure_format(f"figure.{form}")  # raises before the first file is written
    written = []
    figures = {
        panel.key: dot_figure(panel, styles) if isinstance(panel, DotPanel) else _panel_figure(panel, styles)
        for panel in page.panels
    }
    figures |= {history.key: _history_figure(history) for history in page.histories}
    for key, figure in figures.items():
        for form in formats:
            written.append(Path(folder) / f"{key}.{form}")
            save_figure(figure, written[-1])
    return written


def _blank(height: float, columns: int, n_keys: int) -> tuple[Figure, Axes]:
    """Return a figure of this height, in inches, with room for a legend below."""
    figure = canvas()(figsize=(6.4, height + _KEY_HEIGHT * math.ceil(n_keys / columns)), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _panel_figure(panel: Panel, styles: Mapping[str, Style]) -> Figure:
    with_caveat = any(one.caveat for one in panel.series)
    figure, axes = _blank(4.0, _PANEL_COLUMNS, len(panel.series) + len(panel.lines) + with_caveat)
    x, y = x_scale(panel, 0.0, 1.0), y_scale(panel, 0.0, 1.0)
    axes.set(xscale=panel.x.scale, yscale=panel.y.scale, xlim=x.limits, ylim=y.limits)
    axes.set(xlabel=literal(panel.x.label, _LABEL), ylabel=literal(panel.y.label, _LABEL))
    axes.set_xticks(*zip(*x_ticks(panel, x), strict=True))
    axes.set_yticks(*zip(*y.ticks(), strict=True))
    axes.minorticks_off()
    axes.set_title(literal(panel.title, _TITLE), fontsize="medium", loc="left")
    axes.grid(alpha=0.25, linewidth=0.6)
    if y.limits[0] < 0 < y.limits[1]:
        axes.axhline(0.0, color="0.5", linewidth=0.8)
    keys = [_draw_series(axes, panel, one, styles[one.label], y.below) for one in panel.series]
    for line in panel.lines:
        look: dict[str, Any] = {"color": "0.35", "linewidth": 1.0, "linestyle": _BOUNDS[line.kind]}
        visible = sum(drawable_point(panel, *point) for point in zip(line.x, line.y, strict=True))
        alone = "_" if visible == 1 else None  # a line through one point would not be visible
        drawn = axes.plot(line.x, line.y, marker=alone, markersize=9.0, **look)[0]
        keys.append((drawn, literal(plain(line.name), _LABEL)))
    if with_caveat:
        keys.append((axes.plot([], [], " ")[0], f"{MARK} {SAYS_NOTHING}"))
    add_legend(figure, keys, _PANEL_COLUMNS, fontsize="small")
    return figure


def _draw_series(axes: Axes, panel: Panel, series: Series, style: Style, below: float) -> tuple[Artist, str]:
    """Draw the line of a series; return it with its label."""
    colour = style.colour
    look: dict[str, Any] = {"color": colour, "marker": "" if series.dense else style.marker.plotted, "markersize": 4.5}
    look |= _STROKES[style.group.style]
    points = zip(series.x, series.mean, strict=True)
    mean = [y if drawable_point(panel, x, y) else float("nan") for x, y in points]
    drawn = axes.plot(series.x, mean, **look)[0]
    lows = [max(low, below) for low in series.low]
    for part in drawable_parts(panel, zip(series.x, lows, series.high, strict=True)):
        x, low, high = zip(*part, strict=True)
        axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
    # The mark is added after the label is cut.
    exponent = "" if series.exponent is None else f" ({power(series.exponent.value)})"
    return drawn, marked(literal(f"{series.label}{exponent}", _LABEL), series.caveat)


def _history_figure(history: WeightHistory) -> Figure:
    figure, axes = _blank(2.8, _HISTORY_COLUMNS, len(history.weights))
    fills = [action_fill(k) for k in range(len(history.weights))]
    areas = draw_areas(axes, history.rounds, history.weights, fills)
    keys = [(area, literal(label, _LABEL)) for area, label in zip(areas, history.labels, strict=False)]
    if len(history.rounds):
        draw_best(axes, history.rounds, history.best, history.rounds[-1])
    for point in history.change_points:
        axes.axvline(point, color="0.2", linewidth=0.8, linestyle=(0, (2, 2)))
    # Below 0 is the strip of the best action.
    axes.set(
        ylim=(-0.1, 1.0),
        yticks=(0.0, 0.5, 1.0),
        xlabel=literal(f"round (strip: the best {history.of_what})", _LABEL),
        ylabel=literal(history.what, _LABEL),
    )
    name = f"{marked(history.learner, history.caveat)}: {f'{SAYS_NOTHING}; ' if history.caveat else ''}{history.title}"
    axes.set_title(literal(name, _TITLE), fontsize="medium", loc="left")
    if len(history.rounds):
        axes.set_xlim(history.rounds[0], max(history.rounds[-1], history.rounds[0] + 1))
    add_legend(figure, keys, _HISTORY_COLUMNS, fontsize="small")
    return figure
