"""The chart of a panel with a row of dots for each series, on a common horizontal axis, and its numbers as a table."""

from __future__ import annotations

from collections.abc import Mapping

from driftwise.core.tuning_caveats import marked
from driftwise.report.number_text import fixed, with_interval
from driftwise.report.page.contents import DotPanel, Series
from driftwise.report.page.markup import Markup, element
from driftwise.report.page.panel_scales import drawable_point, y_scale
from driftwise.report.page.row_charts import LABEL_ABOVE, LEFT, RIGHT, chart_of_rows, row_label
from driftwise.report.page.scales import Scale
from driftwise.report.page.styles import Style
from driftwise.report.tables import number

__all__ = ["dot_chart", "dot_numbers", "heights"]

_SPREAD = 9.0  # the height over which the dots of a row are spread, so that fewer overlap
_CENTER = 8.0  # half of the height of the mark at the centre
_GOLDEN = 0.6180339887498949  # multiples of it, without their integer part, are spread evenly


def dot_chart(panel: DotPanel, styles: Mapping[str, Style]) -> Markup:
    """Return the chart; the rows are in the order of the series."""
    scale = y_scale(panel, LEFT, RIGHT)

    def row(i: int, y: float) -> Markup:
        return _row(panel, panel.series[i], panel.centers[i], styles[panel.series[i].label], scale, y)

    return chart_of_rows(panel, scale, row, panel.rules)


def heights(n: int) -> list[float]:
    """Return heights in [-0.5, 0.5) for the dots of a row, in the order of their values; neighbours are far apart.

    >>> [round(height, 2) for height in heights(3)]
    [-0.5, 0.12, -0.26]
    """
    return [i * _GOLDEN % 1.0 - 0.5 for i in range(n)]


def dot_numbers(panel: DotPanel) -> Markup:
    """Return the centre and the range of each row as a table."""
    heads = ["", panel.center_label, "least", "largest", "points"]
    rows = []
    for one, center in zip(panel.series, panel.centers, strict=True):
        least, largest = (number(end(one.mean, default=float("nan"))) for end in (min, max))
        cells = [number(center), least, largest, str(len(one.mean))]
        name = element("th", marked(one.label, one.caveat), scope="row")
        rows.append(element("tr", name, *(element("td", cell) for cell in cells)))
    head = element("tr", *(element("th", text, scope="col") for text in heads))
    return element("table", element("thead", head), element("tbody", *rows), aria_labelledby=f"{panel.key}-title")


def _row(panel: DotPanel, series: Series, center: float, style: Style, scale: Scale, y: float) -> Markup:
    parts = [row_label(series, y)]
    order = sorted(range(len(series.x)), key=lambda j: series.mean[j])
    for j, height in zip(order, heights(len(order)), strict=True):
        if drawable_point(panel, series.x[j], series.mean[j]):
            place = f"translate({scale.at(series.mean[j]):.1f},{y + _SPREAD * height:.1f})"
            title = element("title", _reading(panel, series, j))
            parts.append(element("path", title, class_="point dot", d="M0,0h0", transform=place))
    if drawable_point(panel, 0.0, center):
        parts.append(element("path", class_="center", d=f"M{scale.at(center):.1f},{y - _CENTER:.1f}v{2 * _CENTER:g}"))
        parts.append(element("text", fixed(center, 2), x=RIGHT, y=y - LABEL_ABOVE, class_="end"))
    return element("g", *parts, class_=f"series {style.classes}", data_series=series.label)


def _reading(panel: DotPanel, series: Series, j: int) -> str:
    measured = with_interval(number(series.mean[j]), number(series.low[j]), number(series.high[j]))
    return f"{marked(series.label, series.caveat)}\n{panel.names[int(series.x[j])]}\n{panel.y.label} {measured}"
