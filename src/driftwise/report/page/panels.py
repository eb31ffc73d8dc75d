"""A panel: a chart of its series, a legend of its bounds, and its numbers as a table.

First the scales of a panel: which numbers its axes cover, and which points can be drawn on them. A chart has curves
with bands, bounds, and exponents at the right edge; or a row for each series, on a common horizontal axis: a mean and
its interval, or dots.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from driftwise.core.measures import MARK, SAYS_NOTHING, marked
from driftwise.report.drawing import time_ticks, timed_rounds
from driftwise.report.page.contents import DotPanel, Line, Panel, RowPanel, Series
from driftwise.report.page.markup import (
    Markup,
    Style,
    chart,
    element,
    figure,
    figure_data,
    formula,
    glyph,
    json_numbers,
    number_table,
    plain,
    table_row,
)
from driftwise.report.page.scales import SCALES, LinearScale, LogScale
from driftwise.report.tables import fixed, number, shortened, with_interval

# Bounds further away than this are outside of the chart, which shows the measurements.
_FAR_FACTOR = 100.0  # on a logarithmic scale
_FAR_MULTIPLE = 2.0  # on a linear scale, of the largest measurement
_MOST_CHARACTERS = 52  # of all times below a chart
_WIDTH, _CURVE_HEIGHT = 520, 344
_LEFT, _RIGHT, _TOP, _BOTTOM = 50.0, 464.0, 30.0, 298.0
_RIGHT_ALONE = 496.0  # without exponents beside the curves
_TICK_GAP, _DIGIT_WIDTH = 7.0, 8.4  # of a tick's text: its distance from the chart, a digit on narrow screens
_LABEL_HEIGHT = 15.0
_DASH = 9.0  # half of its length


def x_scale(panel: Panel, left: float, right: float) -> LinearScale:
    """Return the horizontal scale of a panel."""
    x = [value for series in panel.series for value in series.x] + [value for line in panel.lines for value in line.x]
    return SCALES[panel.x.scale].around(x, left, right)


def x_ticks(panel: Panel, scale: LinearScale) -> list[tuple[float, str]]:
    """Return the ticks of the horizontal axis: those of its times that can be drawn, or else round numbers."""
    if not panel.x.times:
        return scale.ticks()
    low, high = scale.limits
    times = {x: time for x, time in panel.x.times.items() if scale.drawable(x) and low <= x <= high}
    return time_ticks(list(times), list(times.values()), _MOST_CHARACTERS)


def y_scale(panel: Panel, bottom: float, top: float) -> LinearScale:
    """Return a vertical scale that shows all measurements, and the bounds that are not too far from them."""
    scale = SCALES[panel.y.scale]
    means = [value for series in panel.series for value in series.mean if scale.drawable(value)]
    bounds = [value for line in panel.lines for value in line.y if scale.drawable(value)]
    ends = [value for series in panel.series for value in (*series.low, *series.high) if scale.drawable(value)]
    y = means or bounds
    if y:
        low, high = min(y), max(y)
        if scale is LinearScale:
            reach = _FAR_MULTIPLE * max(abs(low), abs(high)) or math.inf
            least_end, least_bound, largest = low - reach, low - reach, high + reach
        else:  # an interval that reaches zero has no lower end here
            least_end, least_bound, largest = low / 3, low / _FAR_FACTOR, high * _FAR_FACTOR
        y = y + [v for v in ends if least_end <= v <= largest] + [v for v in bounds if least_bound <= v <= largest]
        low, high = min(y), max(y)
        if scale is LinearScale and max(low, -high, 0.0) <= high - low:  # zero is not far away
            y.append(0.0)
    return scale.around(y, bottom, top)


def drawable_point(panel: Panel, x: float, *y: float) -> bool:
    """Return whether all numbers of a point can be drawn on the axes of a panel."""
    return SCALES[panel.x.scale].drawable(x) and all(map(SCALES[panel.y.scale].drawable, y))


def drawable_parts(panel: Panel, points: Iterable[tuple[float, ...]]) -> Iterator[list[tuple[float, ...]]]:
    """Split a sequence of points at those that cannot be drawn: a gap in the data is a gap in the line."""
    for drawable, part in groupby(points, key=lambda point: drawable_point(panel, *point)):
        if drawable:
            yield list(part)


class _Frame(NamedTuple):
    """A panel with its scales and the left and right end of its chart."""

    panel: Panel
    x: LinearScale
    y: LinearScale
    left: float
    right: float


def panel_chart(panel: Panel, styles: Mapping[str, Style]) -> Markup:
    """Return the chart of a panel; the first series are drawn last, on top."""
    frame = _frame_of(panel)
    clip = f"{panel.key}-clip"
    window = element("rect", x=frame.left, y=_TOP, width=frame.right - frame.left, height=_BOTTOM - _TOP)
    bounds = element("g", *(_bound(line, frame) for line in panel.lines), clip_path=f"url(#{clip})")
    about = f"{panel.title}: {panel.y.label} against {panel.x.label}{_scales_text(panel)}, for {_names(panel)}"
    parts = [element("clipPath", window, id=clip), _axes(frame), bounds, *_curves(frame, styles, clip)]
    return chart(_WIDTH, _CURVE_HEIGHT, about, *parts)


def _names(panel: Panel) -> str:
    return ", ".join(marked(series.label, series.caveat) for series in panel.series) or "no series"


def exponent_text(panel: Panel, series: Series) -> str:
    """Return the exponent of a series with its interval, as text; "" if it has none."""
    if series.exponent is None:
        return ""
    return f"{_exponent_word(panel)} {with_interval(*(fixed(value, 2) for value in series.exponent))}"


def _exponent_word(panel: Panel) -> str:
    """Return the word for an exponent: it is the slope of a curve if both axes are logarithmic."""
    return "slope" if panel.x.scale == panel.y.scale == "log" else "exponent"


def _scales_text(panel: Panel) -> str:
    if panel.x.scale == panel.y.scale:
        return ", both axes logarithmic" if panel.x.scale == "log" else ""
    return f", the {'horizontal' if panel.x.scale == 'log' else 'vertical'} axis logarithmic"


def _frame_of(panel: Panel) -> _Frame:
    y = y_scale(panel, _BOTTOM, _TOP)
    longest = 0 if isinstance(y, LogScale) else max(len(text) for _, text in y.ticks())
    left = max(_LEFT, 2 * _TICK_GAP + _DIGIT_WIDTH * longest)
    right = _RIGHT if _has_exponents(panel) else _RIGHT_ALONE
    return _Frame(panel, x_scale(panel, left, right), y, left, right)


def _has_exponents(panel: Panel) -> bool:
    return any(series.exponent is not None for series in panel.series)


def _axes(frame: _Frame) -> Markup:
    """Return the grid lines, the ticks and the labels of the axes."""
    panel, x, y, left, right = frame
    rules = [element("path", d=f"M{left:g},{y.at(v):.1f}H{right:g}", class_=_rule_class(y, v)) for v, _ in y.ticks()]
    ticks = [element("path", d=f"M{x.at(v):.1f},{_BOTTOM:g}v4") for v, _ in x_ticks(panel, x)]
    beside = [element("text", text, x=left - _TICK_GAP, y=y.at(v) + 4, class_="end") for v, text in y.ticks()]
    below = [element("text", text, x=x.at(v), y=_BOTTOM + 18, class_="middle") for v, text in x_ticks(panel, x)]
    exponent = element("text", _exponent_word(panel), x=_WIDTH - 2.0, y=14.0, class_="word end")
    axis = "time" if panel.x.times else panel.x.label
    words = [
        element("text", panel.y.label, x=4.0, y=14.0, class_="word"),
        element("text", axis, x=(left + right) / 2, y=_CURVE_HEIGHT - 6.0, class_="word middle"),
        exponent if _has_exponents(panel) else "",
    ]
    across, up = element("g", *ticks, *below, class_="across"), element("g", *beside, class_="up")
    return element("g", element("g", *rules, class_="rules"), across, up, *words, class_="axes")


def _rule_class(y: LinearScale, value: float) -> str | bool:
    """Return the CSS class of a grid line: zero is marked if there are numbers on both sides of it."""
    return "zero" if value == 0 and y.limits[0] < 0 < y.limits[1] else False


def _bound(line: Line, frame: _Frame) -> Markup:
    paths = ""
    for part in drawable_parts(frame.panel, zip(line.x, line.y, strict=True)):
        places = [(frame.x.at(x), frame.y.at(y)) for x, y in part]
        if len(places) == 1:  # a line through one point would not be seen: draw a dash
            ((x, y),) = places
            places = [(x - _DASH, y), (x + _DASH, y)]
        paths += _path(places)
    return element("path", class_=f"bound {line.kind}", d=paths)


def _curves(frame: _Frame, styles: Mapping[str, Style], clip: str) -> list[Markup]:
    """Return the curves, the first one last, each with its exponent at the right edge."""
    panel = frame.panel
    places = [_places(series, frame) for series in panel.series]
    labelled = [i for i, series in enumerate(panel.series) if places[i] and series.exponent is not None]
    label_heights = dict(zip(labelled, _spread([places[i][-1][1] for i in labelled]), strict=True))
    groups = []
    for i, (series, points) in enumerate(zip(panel.series, places, strict=True)):
        style = styles[series.label]
        line = [
            _path((frame.x.at(x), frame.y.at(y)) for x, y in part)
            for part in drawable_parts(panel, zip(series.x, series.mean, strict=True))
        ]
        groups.append(
            element(
                "g",
                element("path", class_="band", d=_band(series, frame), clip_path=f"url(#{clip})"),
                element("path", class_="curve", d="".join(line)),
                *(marker(style, x, y, reading(panel, series, j)) for x, y, j in points),
                *(_exponent(series, *points[-1][:2], label_heights[i]) if i in label_heights else ()),
                class_=f"series {style.classes}{' dense' * series.dense}",
                data_series=series.label,
            )
        )
    return groups[::-1]


def _places(series: Series, frame: _Frame) -> list[tuple[float, float, int]]:
    """Return the positions and indices of the points of a series that can be drawn."""
    points = enumerate(zip(series.x, series.mean, strict=True))
    return [(frame.x.at(x), frame.y.at(y), j) for j, (x, y) in points if drawable_point(frame.panel, x, y)]


def _exponent(series: Series, x: float, y: float, label_height: float) -> list[Markup]:
    """Return an exponent at the right edge, with a line to the last point of its curve."""
    if series.exponent is None:
        return []
    shown = fixed(series.exponent.value, 2) + (MARK if series.caveat else "")
    return [
        element("path", class_="leader", d=f"M{x + 5:.1f},{y:.1f}L{_RIGHT + 14:g},{label_height:.1f}"),
        element("text", shown, class_="slope end", x=_WIDTH - 2.0, y=label_height + 4),
    ]


def marker(style: Style, x: float, y: float, title: str) -> Markup:
    """Return a point; its title is shown under the pointer, with or without the script."""
    place = f"translate({x:.2f},{y:.2f})"
    return element("path", element("title", title), class_="point", d=style.marker, transform=place)


def reading(panel: Panel, series: Series, j: int) -> str:
    """Return the text of a point of a series."""
    measured = with_interval(number(series.mean[j]), number(series.low[j]), number(series.high[j]))
    at = panel.names[int(series.x[j])] if isinstance(panel, DotPanel) else panel.x.text(series.x[j])
    lines = [marked(series.label, series.caveat), at, f"{panel.y.label} {measured}"]
    if not isinstance(panel, DotPanel):
        lines += [exponent_text(panel, series), f"{MARK} {SAYS_NOTHING}" if series.caveat else ""]
    return "\n".join(filter(None, lines))


def _band(series: Series, frame: _Frame) -> str:
    """Return the outline of the intervals; one without a lower end on the scale extends to the bottom of the chart."""
    lows = [max(low, frame.y.below) for low in series.low]  # NaN stays: the band has a gap there
    pieces = []
    for part in drawable_parts(frame.panel, zip(series.x, lows, series.high, strict=True)):
        upper = [(frame.x.at(x), frame.y.at(high)) for x, _, high in part]
        lower = [(frame.x.at(x), frame.y.at(low)) for x, low, _ in reversed(part)]
        pieces.append(_path([*upper, *lower]) + "z")
    return "".join(pieces)


def _path(points: Iterable[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.2f},{y:.2f}" for x, y in points)


def _spread(wanted: Sequence[float]) -> list[float]:
    """Move labels apart until they do not overlap, inside the chart."""
    gap = min(_LABEL_HEIGHT, (_BOTTOM - _TOP) / max(1, len(wanted) - 1))
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    places = [0.0] * len(wanted)
    highest = _TOP
    for i in order:
        places[i] = max(wanted[i], highest)
        highest = places[i] + gap
    lowest = _BOTTOM
    for i in reversed(order):
        places[i] = min(places[i], lowest)
        lowest = places[i] - gap
    return places


_ROW_LEFT, _ROW_RIGHT = 14.0, 506.0
_ROW_TOP, _ROW_HEIGHT, _BELOW_ROWS = 6.0, 38.0, 46.0
_MIDDLE = 0.72  # where the interval of a row is, below its label
_LABEL_ABOVE = 11.0  # of the middle of a row
_LONGEST = 56  # characters of a label that fit the chart on narrow screens
_SPREAD = 9.0  # the height over which the dots of a row are spread, so that fewer overlap
_CENTER = 8.0  # half of the height of the mark at the centre
_GOLDEN = 0.6180339887498949  # multiples of it, without their integer part, are spread evenly


def row_chart(panel: DotPanel | RowPanel, styles: Mapping[str, Style]) -> Markup:
    """Return a chart with a row for each series, the means on the horizontal axis; the first is drawn last, on top."""
    scale, bottom = y_scale(panel, _ROW_LEFT, _ROW_RIGHT), _bottom_of_rows(panel)
    height = bottom + _BELOW_ROWS
    rows = []
    for i, series in enumerate(panel.series):
        style, y = styles[series.label], _ROW_TOP + _ROW_HEIGHT * (i + _MIDDLE)
        shown = shortened(marked(series.label, series.caveat), _LONGEST)
        label = element("text", shown, x=_ROW_LEFT, y=y - _LABEL_ABOVE, class_="row")
        if isinstance(panel, DotPanel):
            marks = _dots(panel, series, panel.centers[i], scale, y)
        else:
            marks = _interval(panel, series, style, scale, y)
        rows.append(element("g", label, *marks, class_=f"series {style.classes}", data_series=series.label))
    about = f"{panel.title}: {panel.y.label}, for {_names(panel)}"
    return chart(_WIDTH, height, about, _axis(panel, scale, bottom, height), *rows[::-1])


def _bottom_of_rows(panel: DotPanel | RowPanel) -> float:
    return _ROW_TOP + _ROW_HEIGHT * max(1, len(panel.series))


def _interval(panel: RowPanel, series: Series, style: Style, scale: LinearScale, y: float) -> Iterator[Markup]:
    (x,), (mean,), (low,), (high,) = series.x, series.mean, series.low, series.high
    first, last = max(low, scale.limits[0]), min(high, scale.limits[1])  # NaN stays: then there is no interval
    if drawable_point(panel, x, first, last):
        yield element("path", class_="whisker", d=f"M{scale.at(first):.2f},{y:.1f}H{scale.at(last):.2f}")
    if drawable_point(panel, x, mean):
        yield marker(style, scale.at(mean), y, reading(panel, series, 0))


def _axis(panel: DotPanel | RowPanel, scale: LinearScale, bottom: float, height: float) -> Markup:
    ticks, (low, high) = scale.ticks(), scale.limits
    marked_values = panel.rules if isinstance(panel, DotPanel) else ()
    dark = [*marked_values, *([0.0] if low < 0 < high else [])]
    values = dict.fromkeys([value for value, _ in ticks] + [value for value in marked_values if low <= value <= high])
    rules = [
        element("path", d=f"M{scale.at(v):.1f},{_ROW_TOP:g}V{bottom:g}", class_="zero" if v in dark else False)
        for v in values
    ]
    texts = [element("text", text, x=scale.at(v), y=bottom + 18.0, class_="middle") for v, text in ticks]
    word = element("text", panel.y.label, x=(_ROW_LEFT + _ROW_RIGHT) / 2, y=height - 6.0, class_="word middle")
    return element(
        "g", element("g", *rules, class_="rules"), element("g", *texts, class_="across"), word, class_="axes"
    )


def heights(n: int) -> list[float]:
    """Return heights in [-0.5, 0.5) for the dots of a row, in the order of their values; neighbours are far apart.

    >>> [round(height, 2) for height in heights(3)]
    [-0.5, 0.12, -0.26]
    """
    return [i * _GOLDEN % 1.0 - 0.5 for i in range(n)]


def dot_numbers(panel: DotPanel) -> Markup:
    """Return the centre and the range of each row as a table."""
    rows = []
    for series, center in zip(panel.series, panel.centers, strict=True):
        least, largest = (number(end(series.mean, default=math.nan)) for end in (min, max))
        name = element("th", marked(series.label, series.caveat), scope="row")
        rows.append(table_row([number(center), least, largest, str(len(series.mean))], name))
    return number_table(panel.key, ["", panel.center_label, "least", "largest", "points"], element("tbody", *rows))


def _dots(panel: DotPanel, series: Series, center: float, scale: LinearScale, y: float) -> Iterator[Markup]:
    order = sorted(range(len(series.x)), key=lambda j: series.mean[j])
    for j, height in zip(order, heights(len(order)), strict=True):
        if drawable_point(panel, series.x[j], series.mean[j]):
            place = f"translate({scale.at(series.mean[j]):.2f},{y + _SPREAD * height:.1f})"
            title = element("title", reading(panel, series, j))
            yield element("path", title, class_="point dot", d="M0,0h0", transform=place)
    if drawable_point(panel, 0.0, center):
        yield element("path", class_="center", d=f"M{scale.at(center):.2f},{y - _CENTER:.1f}v{2 * _CENTER:g}")
        yield element("text", fixed(center, 2), x=_ROW_RIGHT, y=y - _LABEL_ABOVE, class_="end")


def panel_figure(panel: Panel, styles: Mapping[str, Style]) -> Markup:
    """Return a panel with its caption, the legend of its lines and its numbers."""
    key = [element("li", line_swatch(line), formula(line.name), data_label=plain(line.name)) for line in panel.lines]
    missing = sum(not drawable_point(panel, x, y) for row in panel.series for x, y in zip(row.x, row.mean, strict=True))
    why = "zero, negative or missing" if "log" in (panel.x.scale, panel.y.scale) else "missing"
    notes = [f"Not shown: {missing} of the values, which are {why}."] if missing else []
    notes += [f"{MARK} {series.label}: {series.caveat}." for series in panel.series if series.caveat]
    return figure("panel", panel.key, panel.title, chart_of(panel, styles), key, notes, _numbers(panel), _data(panel))


def chart_of(panel: Panel, styles: Mapping[str, Style]) -> Markup:
    """Return the chart of a panel."""
    return row_chart(panel, styles) if isinstance(panel, DotPanel | RowPanel) else panel_chart(panel, styles)


def line_swatch(line: Line) -> Markup:
    """Return a short piece of a bound, for a legend."""
    return glyph(28, 14, "swatch", element("path", class_=f"bound {line.kind}", d="M1,7H27"))


def _data(panel: Panel) -> Markup:
    """Return the numbers of a panel as they are saved, and the scales of its chart.

    A part has texts that are the same in all of its rows, and columns; it may lack the last columns.
    """
    parts: list[tuple[list[str], list[Sequence[float | str | None]]]] = []
    for series in panel.series:
        bounds = (json_numbers(values) for values in (series.mean, series.low, series.high))
        parts.append(([series.label, "series"], [*_places_of(panel, series.x), *bounds]))
    for line in panel.lines:
        kind = "guide line" if line.kind == "guide" else f"{line.kind} bound"
        parts.append(([plain(line.label), kind], [*_places_of(panel, line.x), json_numbers(line.y)]))
    if isinstance(panel, DotPanel):
        for series, center in zip(panel.series, panel.centers, strict=True):
            parts.append(([series.label, panel.center_label], [[""], json_numbers([center])]))
    heads = ["name", "kind", panel.x.label, *["time"] * bool(panel.x.times), panel.y.label, "low", "high"]
    return figure_data({"heads": heads, "parts": parts, **_view(panel)})


def _places_of(panel: Panel, x: Sequence[float]) -> list[Sequence[float | str | None]]:
    """Return the columns that say where points are: the name of each, or its x, and its time if the axis has times."""
    if isinstance(panel, DotPanel):
        return [[panel.names[int(value)] for value in x]]
    times = panel.x.times
    return [json_numbers(x), *([[times.get(value, "") for value in x]] if times else [])]


def _view(panel: Panel) -> dict[str, object]:
    """Return what the script needs to zoom the chart of a panel."""
    if isinstance(panel, DotPanel | RowPanel):
        bottom = _bottom_of_rows(panel)
        box = [_ROW_LEFT, _ROW_RIGHT, _ROW_TOP, bottom]
        scale = y_scale(panel, _ROW_LEFT, _ROW_RIGHT).data
        return {"x": {**scale, "label": panel.y.label}, "box": box, "foot": bottom, "rules": "x"}
    frame, times = _frame_of(panel), panel.x.times
    x = {**frame.x.data, "label": panel.x.label, "times": timed_rounds(list(times), list(times.values()))}
    y = {**frame.y.data, "label": panel.y.label}
    return {"x": x, "y": y, "box": [frame.left, frame.right, _TOP, _BOTTOM], "foot": _BOTTOM, "rules": "y"}


def _numbers(panel: Panel) -> Markup:
    """Return every number of the chart as a table; of dots, the centre and the range of each row."""
    if isinstance(panel, DotPanel):
        return dot_numbers(panel)
    bodies = [
        _body(
            ", ".join(filter(None, (marked(series.label, series.caveat), exponent_text(panel, series)))),
            zip(series.x, series.mean, series.low, series.high, strict=True),
        )
        for series in panel.series
    ]
    bodies += [_body(formula(line.name), zip(line.x, line.y, strict=True)) for line in panel.lines]
    return number_table(panel.key, [panel.x.label, panel.y.label, "from", "to"], *bodies)


def _body(title: str, rows: Iterable[Sequence[float]]) -> Markup:
    head = element("tr", element("th", title, colspan=4, scope="rowgroup"))
    return element("tbody", head, *(table_row(map(number, row)) for row in rows))
