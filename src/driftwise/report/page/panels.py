"""A panel: a chart of its series, a legend of its bounds, and its numbers as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from driftwise.core.tuning_caveats import MARK, marked
from driftwise.report.page.contents import DotPanel, Line, Panel, RowPanel
from driftwise.report.page.curve_charts import exponent_text, panel_chart
from driftwise.report.page.markup import Markup, element, joined
from driftwise.report.page.panel_scales import drawable_point
from driftwise.report.page.rate_formulas import formula
from driftwise.report.page.row_charts import dot_chart, dot_numbers, row_chart
from driftwise.report.page.styles import Style
from driftwise.report.tables import number

__all__ = ["chart_of", "line_swatch", "panel_figure"]


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
