"""A panel: a chart of its series, a legend of its bounds, and its numbers as a table.

`curve_charts` draws curves. Here are the charts with a row for each series, on a common horizontal axis: a mean and its
interval, or dots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from driftwise.core.tuning_caveats import MARK, marked
from driftwise.report.number_text import fixed, with_interval
from driftwise.report.page.contents import DotPanel, Line, Panel, RowPanel, Series
from driftwise.report.page.curve_charts import drawable_point, exponent_text, marker, panel_chart, reading, y_scale
from driftwise.report.page.markup import Markup, element, formula, joined
from driftwise.report.page.scales import Scale
from driftwise.report.page.styles import Style
from driftwise.report.tables import number, shortened

__all__ = ["chart_of", "heights", "line_swatch", "panel_figure"]

_WIDTH = 520
_LEFT, _RIGHT = 14.0, 506.0
_TOP, _ROW, _BELOW = 6.0, 38.0, 46.0
_MIDDLE = 0.72  # where the interval of a row is, below its label
_LABEL_ABOVE = 11.0  # of the middle of a row
_LONGEST = 56  # characters of a label that fit the chart on narrow screens
_SPREAD = 9.0  # the height over which the dots of a row are spread, so that fewer overlap
_CENTER = 8.0  # half of the height of the mark at the centre
_GOLDEN = 0.6180339887498949  # multiples of it, without their integer part, are spread evenly


def row_chart(panel: Panel, styles: Mapping[str, Style]) -> Markup:
    """Return a chart with a row for each series, in their order; the means are on the horizontal axis."""
    scale = y_scale(panel, _LEFT, _RIGHT)

    def row(i: int, y: float) -> Markup:
        return _row(panel, panel.series[i], styles[panel.series[i].label], scale, y)

    return _chart_of_rows(panel, scale, row)


def _chart_of_rows(
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


def _row_label(series: Series, y: float) -> Markup:
    """Return the label of a row, above its middle."""
    shown = shortened(marked(series.label, series.caveat), _LONGEST)
    return element("text", shown, x=_LEFT, y=y - _LABEL_ABOVE, class_="row")


def _row(panel: Panel, series: Series, style: Style, scale: Scale, y: float) -> Markup:
    (x,), (mean,), (low,), (high,) = series.x, series.mean, series.low, series.high
    parts = [_row_label(series, y)]
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
    word = element("text", panel.y.label, x=(_LEFT + _RIGHT) / 2, y=height - 6.0, class_="word middle")
    return element("g", element("g", *rules, class_="rules"), *texts, word, class_="axes")


def _is_on(scale: Scale, value: float) -> bool:
    return scale.limits[0] <= value <= scale.limits[1]


def dot_chart(panel: DotPanel, styles: Mapping[str, Style]) -> Markup:
    """Return the chart; the rows are in the order of the series."""
    scale = y_scale(panel, _LEFT, _RIGHT)

    def row(i: int, y: float) -> Markup:
        return _dot_row(panel, panel.series[i], panel.centers[i], styles[panel.series[i].label], scale, y)

    return _chart_of_rows(panel, scale, row, panel.rules)


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


def _dot_row(panel: DotPanel, series: Series, center: float, style: Style, scale: Scale, y: float) -> Markup:
    parts = [_row_label(series, y)]
    order = sorted(range(len(series.x)), key=lambda j: series.mean[j])
    for j, height in zip(order, heights(len(order)), strict=True):
        if drawable_point(panel, series.x[j], series.mean[j]):
            place = f"translate({scale.at(series.mean[j]):.1f},{y + _SPREAD * height:.1f})"
            title = element("title", _reading(panel, series, j))
            parts.append(element("path", title, class_="point dot", d="M0,0h0", transform=place))
    if drawable_point(panel, 0.0, center):
        parts.append(element("path", class_="center", d=f"M{scale.at(center):.1f},{y - _CENTER:.1f}v{2 * _CENTER:g}"))
        parts.append(element("text", fixed(center, 2), x=_RIGHT, y=y - _LABEL_ABOVE, class_="end"))
    return element("g", *parts, class_=f"series {style.classes}", data_series=series.label)


def _reading(panel: DotPanel, series: Series, j: int) -> str:
    measured = with_interval(number(series.mean[j]), number(series.low[j]), number(series.high[j]))
    return f"{marked(series.label, series.caveat)}\n{panel.names[int(series.x[j])]}\n{panel.y.label} {measured}"


def panel_figure(panel: Panel, styles: Mapping[str, Style]) -> Markup:
    """Return a panel with its caption, the legend of its lines and its numbers."""
    key = [element("li", line_swatch(line), formula(line.name)) for line in panel.lines]
    missing = sum(not drawable_point(panel, x, y) for one in panel.series for x, y in zip(one.x, one.mean, strict=True))
    why = "zero, negative or missing" if "log" in (panel.x.scale, panel.y.scale) else "missing"
    note = f"Not shown: {missing} of the values, which are {why}."
    return element(
        "figure",
        element("h4", panel.title, id=f"{panel.key}-title"),
        element("div", chart_of(panel, styles), class_="picture"),
        element("ul", *key, class_="lines") if key else "",
        element("p", note, class_="note") if missing else "",
        *(element("p", f"{MARK} {one.label}: {one.caveat}.", class_="note") for one in panel.series if one.caveat),
        element("details", element("summary", "Numbers"), element("div", _numbers(panel), class_="scroll")),
        class_="panel",
        id=panel.key,
    )


def chart_of(panel: Panel, styles: Mapping[str, Style]) -> Markup:
    """Return the chart of a panel."""
    if isinstance(panel, DotPanel):
        return dot_chart(panel, styles)
    return (row_chart if isinstance(panel, RowPanel) else panel_chart)(panel, styles)


def line_swatch(line: Line) -> Markup:
    """Return a short piece of a bound, for a legend."""
    stroke = element("path", class_=f"bound {line.kind}", d="M1,7H27")
    return element("svg", stroke, class_="swatch", viewBox="0 0 28 14", width=28, height=14, aria_hidden="true")


def _numbers(panel: Panel) -> Markup:
    """Return every number of the chart as a table; of dots, the centre and the range of each row."""
    if isinstance(panel, DotPanel):
        return dot_numbers(panel)
    heads = [element("th", head, scope="col") for head in (panel.x.label, panel.y.label, "from", "to")]
    bodies = [
        _body(
            ", ".join(filter(None, (marked(one.label, one.caveat), exponent_text(panel, one)))),
            zip(one.x, one.mean, one.low, one.high, strict=True),
        )
        for one in panel.series
    ]
    bodies += [_body(formula(line.name), zip(line.x, line.y, strict=True)) for line in panel.lines]
    return element("table", element("thead", element("tr", *heads)), *bodies, aria_labelledby=f"{panel.key}-title")


def _body(title: str, rows: Iterable[Sequence[float]]) -> Markup:
    head = element("tr", element("th", title, colspan=4, scope="rowgroup"))
    cells = [element("tr", *(element("td", number(value)) for value in row)) for row in rows]
    return element("tbody", head, joined(cells))
