"""The chart of a panel with a row for each series: its mean and interval, on a common horizontal axis."""

from __future__ import annotations

from collections.abc import Mapping

from driftwise.core.tuning_caveats import marked
from driftwise.report.page.contents import Panel, Series
from driftwise.report.page.curve_charts import marker, reading
from driftwise.report.page.markup import Markup, element
from driftwise.report.page.panel_scales import drawable_point, y_scale
from driftwise.report.page.scales import Scale
from driftwise.report.page.styles import Style

__all__ = ["row_chart"]

_WIDTH = 520
_LEFT, _RIGHT = 14.0, 506.0
_TOP, _ROW, _BELOW = 6.0, 38.0, 46.0
_MIDDLE = 0.72  # where the interval of a row is, below its label
_LABEL_ABOVE = 11.0  # of the middle of a row
_LONGEST = 56  # characters of a label that fit the chart on narrow screens


def row_chart(panel: Panel, styles: Mapping[str, Style]) -> Markup:
    """Return the chart; the rows are in the order of the series, and the mean of each is on the horizontal axis."""
    scale = y_scale(panel, _LEFT, _RIGHT)
    bottom = _TOP + _ROW * max(1, len(panel.series))
    height = bottom + _BELOW
    names = ", ".join(marked(one.label, one.caveat) for one in panel.series)
    rows = [
        _row(panel, one, styles[one.label], scale, _TOP + _ROW * (i + _MIDDLE)) for i, one in enumerate(panel.series)
    ]
    return element(
        "svg",
        _axis(panel, scale, bottom, height),
        *rows[::-1],
        class_="chart",
        viewBox=f"0 0 {_WIDTH} {height:g}",
        role="img",
        aria_label=f"{panel.title}: {panel.y.label}, for {names or 'no series'}",
    )


def _row(panel: Panel, series: Series, style: Style, scale: Scale, y: float) -> Markup:
    (x,), (mean,), (low,), (high,) = series.x, series.mean, series.low, series.high
    label = marked(series.label, series.caveat)
    shown = label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"
    parts = [element("text", shown, x=_LEFT, y=y - _LABEL_ABOVE, class_="row")]
    first, last = max(low, scale.limits[0]), min(high, scale.limits[1])  # NaN stays: then there is no interval
    if drawable_point(panel, x, first, last):
        parts.append(element("path", class_="whisker", d=f"M{scale.at(first):.1f},{y:.1f}H{scale.at(last):.1f}"))
    if drawable_point(panel, x, mean):
        parts.append(marker(style, scale.at(mean), y, reading(panel, series, 0)))
    return element("g", *parts, class_=f"series {style.classes}", data_series=series.label)


def _axis(panel: Panel, scale: Scale, bottom: float, height: float) -> Markup:
    ticks = scale.ticks()
    zero = scale.limits[0] < 0 < scale.limits[1]
    rules = [
        element("path", d=f"M{scale.at(v):.1f},{_TOP:g}V{bottom:g}", class_="zero" if zero and v == 0 else False)
        for v, _ in ticks
    ]
    texts = [element("text", text, x=scale.at(v), y=bottom + 18.0, class_="middle") for v, text in ticks]
    word = element("text", panel.y.label, x=(_LEFT + _RIGHT) / 2, y=height - 6.0, class_="word middle")
    return element("g", element("g", *rules, class_="rules"), *texts, word, class_="axes")
