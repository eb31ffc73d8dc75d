"""The figure of a panel with a row of dots for each series, drawn by Matplotlib."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from driftwise.core.tuning_caveats import marked
from driftwise.report.figures import canvas
from driftwise.report.label_text import literal
from driftwise.report.number_text import fixed
from driftwise.report.page.contents import DotPanel
from driftwise.report.page.dot_charts import heights
from driftwise.report.page.panel_scales import drawable_point, y_scale
from driftwise.report.page.styles import Style
from driftwise.report.palette import GREY

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["dot_figure"]

_WIDTH, _ROW, _ABOVE_AND_BELOW = 8.0, 0.27, 1.0  # inches
_SPREAD, _CENTER = 0.42, 0.36  # of the height of a row: of the dots, and half of the mark at the centre
_TITLE, _LABEL = 96, 48  # the most characters of a title and of a label


def dot_figure(panel: DotPanel, styles: Mapping[str, Style]) -> Figure:
    """Return the figure; rows are in the order of the series, and the centre of each is also written beside it."""
    n_rows = max(1, len(panel.series))
    figure = canvas()(figsize=(_WIDTH, _ABOVE_AND_BELOW + _ROW * n_rows), layout="constrained")
    axes = figure.add_subplot()
    scale = y_scale(panel, 0.0, 1.0)
    axes.set(xscale=panel.y.scale, xlim=scale.limits, ylim=(n_rows - 0.4, -0.6), xlabel=literal(panel.y.label, _TITLE))
    axes.set_xticks(*zip(*scale.ticks(), strict=True))
    axes.minorticks_off()
    axes.grid(axis="x", alpha=0.25, linewidth=0.6)
    for value in panel.rules:
        axes.axvline(value, color="0.35", linewidth=0.9, zorder=1)
    labels = [literal(marked(one.label, one.caveat), _LABEL) for one in panel.series]
    axes.set_yticks(range(len(labels)), labels, fontsize="small")
    for text, one in zip(axes.get_yticklabels(), panel.series, strict=True):
        if styles[one.label].colour != GREY:
            text.set(color=styles[one.label].colour, fontweight="bold")
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    for i, (one, center) in enumerate(zip(panel.series, panel.centers, strict=True)):
        values = sorted(mean for x, mean in zip(one.x, one.mean, strict=True) if drawable_point(panel, x, mean))
        rows = [i + _SPREAD * height for height in heights(len(values))]
        colour = styles[one.label].colour
        alpha = 0.4 if colour == GREY else 0.7
        axes.plot(values, rows, "o", markersize=3.4, markeredgewidth=0, color=colour, alpha=alpha, zorder=2)
        if drawable_point(panel, 0.0, center):
            axes.plot([center, center], [i - _CENTER, i + _CENTER], color="0.1", linewidth=1.8, zorder=3)
        axes.annotate(
            fixed(center, 2), (1.0, i), xycoords=("axes fraction", "data"), xytext=(4, 0), textcoords="offset points",
            va="center", fontsize="small",
        )  # fmt: skip
    if panel.center_label:
        axes.annotate(
            literal(panel.center_label, _LABEL), (1.0, -0.6), xycoords=("axes fraction", "data"), xytext=(30, 3),
            textcoords="offset points", ha="right", va="bottom", fontsize="small", color="0.35",
        )  # fmt: skip
    figure.suptitle(literal(panel.title, _TITLE), fontsize="medium", x=0.01, ha="left")
    return figure
