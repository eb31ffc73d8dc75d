"""The figure of a report on forecasts: weights over time, the best expert, and losses by period."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from driftwise.core.types import Vector
from driftwise.forecasting.forecast_report import ForecastReport
from driftwise.report.figures import canvas
from driftwise.report.label_text import literal
from driftwise.report.palette import COLOURS, GREY
from driftwise.report.time_ticks import time_ticks
from driftwise.report.weight_areas import action_fill, best_intervals, draw_areas

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Shown", "report_figure", "shown_experts"]

MOST_EXPERTS = 10  # with an area of their own
_LABEL, _TITLE = 28, 100  # the most characters
_WIDTH, _HEIGHTS = 9.0, (2.8, 0.32, 2.2)  # inches: of the figure, and of each panel
_LINES = 60  # characters of time labels that fit below the axes
_REST: dict[str, Any] = {"color": GREY, "alpha": 0.45}


class Shown(NamedTuple):
    """The experts with an area of their own, and the areas of all; the rest share the last one."""

    names: list[str]  # of the areas
    weights: list[Vector]  # of the areas, by period
    area_of: list[int]  # of each expert
    has_rest: bool


def shown_experts(report: ForecastReport, most: int = MOST_EXPERTS) -> Shown:
    """Return the experts with the largest weights or best in the most periods, these first, and the sum of the others.

    If there is an area for everyone, they are in their own order.
    """
    n_experts = len(report.names)
    weights = np.nan_to_num(report.periods.weights)
    if n_experts <= most:
        return Shown(list(report.names), list(weights.T), list(range(n_experts)), False)
    n_best = np.array([one.n_best for one in report.experts]) / max(1, len(report.periods.starts))
    merit = weights.sum(axis=0) / max(1e-300, weights.sum()) + n_best
    kept = sorted(range(n_experts), key=lambda k: -merit[k])[:most]
    others = [k for k in range(n_experts) if k not in kept]
    area_of = [kept.index(k) if k in kept else most for k in range(n_experts)]
    names = [*(report.names[k] for k in kept), f"{len(others)} other experts"]
    return Shown(names, [*weights[:, kept].T, weights[:, others].sum(axis=1)], area_of, True)


def report_figure(report: ForecastReport) -> Figure:
    """Return the weights as stacked areas above a strip of the best experts, and mean losses by period."""
    figure = canvas()(figsize=(_WIDTH, 0.9 + sum(_HEIGHTS)), layout="constrained")
    panels = figure.subplots(3, 1, sharex=True, height_ratios=_HEIGHTS)
    edges = [*report.periods.starts.tolist(), max(1, report.longest)]
    shown = shown_experts(report)
    fills = [action_fill(k) for k in range(len(shown.names))]
    if shown.has_rest:
        fills[-1] = _REST
    if report.n_rounds:
        _draw_weights(panels[0], edges, shown, fills)
        _draw_best(panels[1], edges, report, shown, fills)
        _draw_losses(panels[2], edges, report)
    title = f"Mixture of {len(report.names)} experts, {report.loss} loss, {report.n_scored:,} rounds scored"
    figure.suptitle(literal(title, _TITLE), fontsize="medium")
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
    panels[1].spines[["left", "bottom"]].set_visible(False)
    panels[0].set(ylim=(0.0, 1.0), yticks=(0.0, 0.5, 1.0), ylabel="weight")
    panels[1].set(ylim=(0.0, 1.0), yticks=())
    panels[1].set_ylabel("best", rotation=0, ha="right", va="center")
    panels[1].tick_params(bottom=False)
    panels[2].set(ylabel=literal(f"mean {report.loss} loss", _LABEL), xlim=(0, edges[-1]))
    panels[2].grid(alpha=0.25, linewidth=0.6)
    _set_times(panels[2], report)
    return figure


def _draw_weights(axes: Axes, edges: list[int], shown: Shown, fills: Sequence[dict[str, Any]]) -> None:
    heights = [[*curve.tolist(), float(curve[-1])] for curve in shown.weights]  # the last value holds to the last edge
    areas = draw_areas(axes, edges, heights, fills, step="post")
    _add_keys(axes, list(zip(areas, shown.names, strict=True))[::-1])


def _draw_best(
    axes: Axes, edges: list[int], report: ForecastReport, shown: Shown, fills: Sequence[dict[str, Any]]
) -> None:
    """Draw the strip of the best expert of each period; one without scored rounds stays empty."""
    areas = [shown.area_of[k] if k >= 0 else -1 for k in report.periods.best.tolist()]
    for area, first, last in best_intervals(areas):
        if area >= 0:
            axes.axvspan(edges[first], edges[last + 1], linewidth=0, **fills[area])


def _draw_losses(axes: Axes, edges: list[int], report: ForecastReport) -> None:
    periods = report.periods
    curves = [("mixture", periods.mixture, COLOURS[0], "-", 1.8), ("uniform mean", periods.uniform, GREY, ":", 1.6)]
    if report.n_scored:
        best = report.names.index(report.comparators[1].detail)
        name = f"best expert: {report.names[best]}"
        curves.insert(1, (name, periods.experts[:, best], COLOURS[1], "-", 1.2))
    keys: list[tuple[Artist, str]] = []
    for name, means, colour, stroke, width in curves:
        heights = [*means.tolist(), float(means[-1])]
        line = axes.step(edges, heights, stroke, where="post", color=colour, linewidth=width)[0]
        keys.append((line, name))
    if (np.nan_to_num(periods.mixture) >= 0).all():
        axes.set_ylim(bottom=0.0)
    _add_keys(axes, keys)


def _set_times(axes: Axes, report: ForecastReport) -> None:
    """Set the ticks: times if they are known, else rounds."""
    if report.periods.times:
        ticks = time_ticks(report.periods.starts.tolist(), report.periods.times, _LINES)
        axes.set_xticks([t for t, _ in ticks], [literal(text, _LABEL) for _, text in ticks])
        axes.set_xlabel("time")
    else:
        axes.set_xlabel("round")


def _add_keys(axes: Axes, keys: list[tuple[Artist, str]]) -> None:
    artists, labels = zip(*keys, strict=True)
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.03), "borderaxespad": 0.0}
    look: dict[str, Any] = {"fontsize": "small", "frameon": False, "handlelength": 1.4, "labelspacing": 0.3}
    legend = axes.legend(artists, [str(i) for i in range(len(labels))], **look, **place)
    for text, label in zip(legend.get_texts(), labels, strict=True):  # Matplotlib omits labels with an underscore
        text.set_text(literal(label, _LABEL))
