"""Charts of panels with a row for each series, on a common horizontal axis; here of rows with a mean and interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from driftwise.core.tuning_caveats import marked
from driftwise.report.page.contents import Panel, Series
from driftwise.report.page.curve_charts import marker, reading
from driftwise.report.page.markup import Markup, element
from driftwise.report.page.panel_scales import drawable_point, y_scale
from driftwise.report.page.scales import Scale
from driftwise.report.page.styles import Style

__all__ = ["LABEL_ABOVE", "LEFT", "RIGHT", "chart_of_rows", "row_chart", "row_label"]

_WIDTH = 520
LEFT, RIGHT = 14.0, 506.0
_TOP, _ROW, _BELOW = 6.0, 38.0, 46.0
_MIDDLE = 0.72  # where the interval of a row is, below its label
LABEL_ABOVE = 11.0  # of the middle of a row
_LONGEST = 56  # characters of a label that fit the chart on narrow screens


def row_chart(panel: Panel, styles: Mapping[str, Style]) -> Markup:
    """Return the chart; the rows are in the order of the series, and the mean of each is on the horizontal axis."""
    scale = y_scale(panel, LEFT, RIGHT)

    def row(i: int, y: float) -> Markup:
        return _row(panel, panel.series[i], styles[panel.series[i].label], scale, y)

    return chart_of_rows(panel, scale, row)


def chart_of_rows(
    panel: Panel, scale: Scale, row: Callable[[int, float], Markup], marked_values: Sequence[float] = ()
) -> Markup:
    """Return a chart whose rows are drawn by a function of their number and height; the first is drawn last, on top."""
    bottom = _TOP + _ROW * max(1, len(panel.series))
    height = bottom + _BELOW
    names = ", ".join(marked(one.label, one.caveat) for one in panel.series)
    rows = [row(i, _TOP + _ROW * (i + _MIDDLE)) for i in range(len(panel.series))]
    return element(
        "svg",
        _axis(panel, scale, bottom, height, marked_values),
        *rows[::-1],
        class_="chart",
        viewBox=f"0 0 {_WIDTH} {height:g}",
        role="img",
        aria_label=f"{panel.title}: {panel.y.label}, for {names or 'no series'}",
    )


def row_label(series: Series, y: float) -> Markup:
    """Return the label of a row, above its middle."""
    label = marked(series.label, series.caveat)
    shown = label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"
    return element("text", shown, x=LEFT, y=y - LABEL_ABOVE, class_="row")


def _row(panel: Panel, series: Series, style: Style, scale: Scale, y: float) -> Markup:
    (x,), (mean,), (low,), (high,) = series.x, series.mean, series.low, series.high
    parts = [row_label(series, y)]
    first, last = max(low, scale.limits[0]), min(high, scale.limits[1])  # NaN stays: then there is no interval
    if drawable_point(panel, x, first, last):
        parts.append(element("path", class_="whisker", d=f"M{scale.at(first):.1f},{y:.1f}H{scale.at(last):.1f}"))
    if drawable_point(panel, x, mean):
        parts.append(marker(style, scale.at(mean), y, reading(panel, series, 0)))
    return element("g", *parts, class_=f"series {style.classes}", data_series=series.label)


def _axis(panel: Panel, scale: Scale, bottom: float, height: float, marked_values: Sequence[float]) -> Markup:
    ticks = scale.ticks()
    dark = [*marked_values, *([0.0] if scale.limits[0] < 0 < scale.limits[1] else [])]
    values = dict.fromkeys([value for value, _ in ticks] + [value for value in marked_values if _is_on(scale, value)])
    rules = [
        element("path", d=f"M{scale.at(v):.1f},{_TOP:g}V{bottom:g}", class_="zero" if v in dark else False)
        for v in values
    ]
    texts = [element("text", text, x=scale.at(v), y=bottom + 18.0, class_="middle") for v, text in ticks]
    word = element("text", panel.y.label, x=(LEFT + RIGHT) / 2, y=height - 6.0, class_="word middle")
    return element("g", element("g", *rules, class_="rules"), *texts, word, class_="axes")


def _is_on(scale: Scale, value: float) -> bool:
    return scale.limits[0] <= value <= scale.limits[1]
