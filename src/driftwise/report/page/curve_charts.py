"""The chart of a panel: curves with bands, bounds, and slopes at the right edge, on logarithmic axes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from driftwise.core.tuning_caveats import MARK, SAYS_NOTHING, marked
from driftwise.report.page.axes import LogAxis, drawable
from driftwise.report.page.contents import Line, Panel, Series
from driftwise.report.page.markup import Markup, element
from driftwise.report.page.number_text import exponent_of, power, with_interval
from driftwise.report.page.styles import Style
from driftwise.report.tables import number

__all__ = ["axes_of", "drawable_parts", "panel_chart"]

_WIDTH, _HEIGHT = 520, 344
_LEFT, _RIGHT, _TOP, _BOTTOM = 50.0, 464.0, 30.0, 298.0
_FAR = 100.0  # bounds further away than this factor are outside of the chart, which shows the measurements
_LABEL_HEIGHT = 15.0
_DASH = 9.0  # half of its length


def panel_chart(panel: Panel, styles: Mapping[str, Style]) -> Markup:
    """Return the chart of a panel; the first learners are drawn last, on top."""
    x_axis, y_axis = axes_of(panel, _LEFT, _RIGHT, _BOTTOM, _TOP)
    clip = f"{panel.key}-clip"
    window = element("rect", x=_LEFT, y=_TOP, width=_RIGHT - _LEFT, height=_BOTTOM - _TOP)
    names = ", ".join(marked(one.label, one.caveat) for one in panel.series)
    about = (
        f"{panel.title}: {panel.y_label} against {panel.x_label}, both axes logarithmic, for {names or 'no learner'}"
    )
    return element(
        "svg",
        element("clipPath", window, id=clip),
        _frame(panel, x_axis, y_axis),
        element("g", *(_bound(line, x_axis, y_axis) for line in panel.lines), clip_path=f"url(#{clip})"),
        *_curves(panel, styles, x_axis, y_axis, clip),
        class_="chart",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
        aria_label=about,
    )


def axes_of(panel: Panel, left: float, right: float, bottom: float, top: float) -> tuple[LogAxis, LogAxis]:
    """Return axes that show all measurements, and the bounds that are not too far from them."""
    x = [value for one in panel.series for value in one.x] + [value for line in panel.lines for value in line.x]
    means = [value for one in panel.series for value in one.mean if drawable(value)]
    bounds = [value for line in panel.lines for value in line.y if drawable(value)]
    y = means or bounds
    if y:
        floor, ceiling = min(y), max(y)
        # An interval that reaches zero has no lower end on this axis.
        ends = [
            value for one in panel.series for value in (*one.low, *one.high) if floor / 3 <= value <= ceiling * _FAR
        ]
        y = y + ends + [value for value in bounds if floor / _FAR <= value <= ceiling * _FAR]
    return LogAxis.around(x, left, right), LogAxis.around(y, bottom, top)


def drawable_parts(points: Iterable[tuple[float, ...]]) -> Iterator[list[tuple[float, ...]]]:
    """Split a sequence of points at those that cannot be drawn: a gap in the data is a gap in the line."""
    part: list[tuple[float, ...]] = []
    for point in points:
        if all(map(drawable, point)):
            part.append(point)
        elif part:
            yield part
            part = []
    if part:
        yield part


def _frame(panel: Panel, x_axis: LogAxis, y_axis: LogAxis) -> Markup:
    """Return the grid lines, the ticks and the labels of the axes."""
    rules = [element("path", d=f"M{_LEFT:g},{y_axis.at(v):.1f}H{_RIGHT:g}") for v, _ in y_axis.ticks()]
    ticks = [element("path", d=f"M{x_axis.at(v):.1f},{_BOTTOM:g}v4") for v, _ in x_axis.ticks()]
    left = [element("text", text, x=_LEFT - 7, y=y_axis.at(v) + 4, class_="end") for v, text in y_axis.ticks()]
    below = [element("text", text, x=x_axis.at(v), y=_BOTTOM + 18, class_="middle") for v, text in x_axis.ticks()]
    words = [
        element("text", panel.y_label, x=4.0, y=14.0, class_="word"),
        element("text", panel.x_label, x=(_LEFT + _RIGHT) / 2, y=_HEIGHT - 6.0, class_="word middle"),
        element("text", "slope", x=_WIDTH - 2.0, y=14.0, class_="word end") if panel.series else "",
    ]
    return element("g", element("g", *rules, class_="rules"), *ticks, *left, *below, *words, class_="axes")


def _bound(line: Line, x_axis: LogAxis, y_axis: LogAxis) -> Markup:
    paths = ""
    for part in drawable_parts(zip(line.x, line.y, strict=True)):
        places = [(x_axis.at(x), y_axis.at(y)) for x, y in part]
        if len(places) == 1:  # a line through one point would not be seen: draw a dash
            ((x, y),) = places
            places = [(x - _DASH, y), (x + _DASH, y)]
        paths += _path(places)
    return element("path", class_=f"bound {line.kind}", d=paths)


def _curves(panel: Panel, styles: Mapping[str, Style], x_axis: LogAxis, y_axis: LogAxis, clip: str) -> list[Markup]:
    """Return the curves of the learners, the first one last, each with its slope at the right edge."""
    places = [_places(one, x_axis, y_axis) for one in panel.series]
    last_heights = {i: points[-1][1] for i, points in enumerate(places) if points}
    label_heights = dict(zip(last_heights, _spread(list(last_heights.values())), strict=True))
    groups = []
    for i, (one, points) in enumerate(zip(panel.series, places, strict=True)):
        style = styles[one.label]
        line = [
            _path((x_axis.at(x), y_axis.at(y)) for x, y in part)
            for part in drawable_parts(zip(one.x, one.mean, strict=True))
        ]
        groups.append(
            element(
                "g",
                element("path", class_="band", d=_band(one, x_axis, y_axis), clip_path=f"url(#{clip})"),
                element("path", class_="curve", d="".join(line)),
                *(_marker(style, x, y, _reading(panel, one, j)) for x, y, j in points),
                *(_slope(one, *points[-1][:2], label_heights[i]) if points else ()),
                class_=f"series {style.classes}",
                data_learner=one.label,
            )
        )
    return groups[::-1]


def _places(series: Series, x_axis: LogAxis, y_axis: LogAxis) -> list[tuple[float, float, int]]:
    """Return the positions and indices of the points of a series that can be drawn."""
    points = enumerate(zip(series.x, series.mean, strict=True))
    return [(x_axis.at(x), y_axis.at(y), j) for j, (x, y) in points if drawable(x) and drawable(y)]


def _slope(series: Series, x: float, y: float, label_height: float) -> list[Markup]:
    """Return a slope at the right edge, with a line to the last point of its curve."""
    return [
        element("path", class_="leader", d=f"M{x + 5:.1f},{y:.1f}L{_RIGHT + 14:g},{label_height:.1f}"),
        element(
            "text",
            power(series.exponent) + (MARK if series.caveat else ""),
            class_="slope end",
            x=_WIDTH - 2.0,
            y=label_height + 4,
        ),
    ]


def _marker(style: Style, x: float, y: float, reading: str) -> Markup:
    """Return a point; its title is shown under the pointer, with or without the script."""
    outline = style.marker.outline
    return element(
        "path", element("title", reading), class_="point", d=outline, transform=f"translate({x:.1f},{y:.1f})"
    )


def _reading(panel: Panel, series: Series, j: int) -> str:
    regret = with_interval(number(series.mean[j]), number(series.low[j]), number(series.high[j]))
    at = f"{panel.x_label} = {number(series.x[j])}"
    name = marked(series.label, series.caveat)
    lines = [name, at, f"{panel.y_label} {regret}", f"slope {exponent_of(series)}"]
    return "\n".join([*lines, f"{MARK} {SAYS_NOTHING}"] if series.caveat else lines)


def _band(series: Series, x_axis: LogAxis, y_axis: LogAxis) -> str:
    """Return the outline of the intervals; one that reaches zero extends to the bottom of the chart."""
    bottom = 10.0 ** (y_axis.low - 1.0)
    lows = [max(low, bottom) for low in series.low]  # NaN stays: the band has a gap there
    pieces = []
    for part in drawable_parts(zip(series.x, lows, series.high, strict=True)):
        upper = [(x_axis.at(x), y_axis.at(high)) for x, _, high in part]
        lower = [(x_axis.at(x), y_axis.at(low)) for x, low, _ in reversed(part)]
        pieces.append(_path([*upper, *lower]) + "z")
    return "".join(pieces)


def _path(points: Iterable[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points)


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
