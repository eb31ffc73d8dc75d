"""The chart of a panel: curves with bands, bounds, and exponents at the right edge, on linear or logarithmic axes.

First the scales of a panel: which numbers its axes cover, and which points can be drawn on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from driftwise.core.tuning_caveats import MARK, SAYS_NOTHING, marked
from driftwise.report.number_text import power, with_interval
from driftwise.report.page.contents import Line, Panel, Series
from driftwise.report.page.markup import Markup, element
from driftwise.report.page.scales import SCALES, LinearScale, LogScale, Scale
from driftwise.report.page.styles import Style
from driftwise.report.tables import number
from driftwise.report.time_ticks import time_ticks

__all__ = ["drawable_point", "exponent_text", "marker", "panel_chart", "reading", "y_scale"]

# Bounds further away than this are outside of the chart, which shows the measurements.
_FAR_FACTOR = 100.0  # on a logarithmic scale
_FAR_MULTIPLE = 2.0  # on a linear scale, of the largest measurement
_MOST_CHARACTERS = 52  # of all times below a chart
_WIDTH, _HEIGHT = 520, 344
_LEFT, _RIGHT, _TOP, _BOTTOM = 50.0, 464.0, 30.0, 298.0
_RIGHT_ALONE = 496.0  # without exponents beside the curves
_TICK_GAP, _DIGIT_WIDTH = 7.0, 8.4  # of a tick's text: its distance from the chart, a digit on narrow screens
_LABEL_HEIGHT = 15.0
_DASH = 9.0  # half of its length


def x_scale(panel: Panel, left: float, right: float) -> Scale:
    """Return the horizontal scale of a panel."""
    x = [value for one in panel.series for value in one.x] + [value for line in panel.lines for value in line.x]
    return SCALES[panel.x.scale].around(x, left, right)


def x_ticks(panel: Panel, scale: Scale) -> list[tuple[float, str]]:
    """Return the ticks of the horizontal axis: times if it has any, else round numbers."""
    times = panel.x.times
    return time_ticks(list(times), list(times.values()), _MOST_CHARACTERS) if times else scale.ticks()


def y_scale(panel: Panel, bottom: float, top: float) -> Scale:
    """Return a vertical scale that shows all measurements, and the bounds that are not too far from them."""
    scale = SCALES[panel.y.scale]
    means = [value for one in panel.series for value in one.mean if scale.drawable(value)]
    bounds = [value for line in panel.lines for value in line.y if scale.drawable(value)]
    ends = [value for one in panel.series for value in (*one.low, *one.high) if scale.drawable(value)]
    y = means or bounds
    if y:
        near_end, near_bound = _linear_limits(y) if scale is LinearScale else _log_limits(y)
        y = y + list(filter(near_end, ends)) + list(filter(near_bound, bounds))
    if y and scale is LinearScale and _distance_of_zero(y) <= max(y) - min(y):
        y.append(0.0)
    return scale.around(y, bottom, top)


def drawable_point(panel: Panel, x: float, *y: float) -> bool:
    """Return whether all numbers of a point can be drawn on the axes of a panel."""
    return SCALES[panel.x.scale].drawable(x) and all(map(SCALES[panel.y.scale].drawable, y))


def drawable_parts(panel: Panel, points: Iterable[tuple[float, ...]]) -> Iterator[list[tuple[float, ...]]]:
    """Split a sequence of points at those that cannot be drawn: a gap in the data is a gap in the line."""
    part: list[tuple[float, ...]] = []
    for point in points:
        if drawable_point(panel, *point):
            part.append(point)
        elif part:
            yield part
            part = []
    if part:
        yield part


_Test = Callable[[float], bool]


def _log_limits(y: list[float]) -> tuple[_Test, _Test]:
    """Return tests of the ends of intervals and of bounds; an interval that reaches zero has no lower end here."""
    floor, ceiling = min(y), max(y)
    return (
        lambda value: floor / 3 <= value <= ceiling * _FAR_FACTOR,
        lambda value: floor / _FAR_FACTOR <= value <= ceiling * _FAR_FACTOR,
    )


def _linear_limits(y: list[float]) -> tuple[_Test, _Test]:
    low, high = min(y), max(y)
    reach = _FAR_MULTIPLE * max(abs(low), abs(high))

    def near(value: float) -> bool:
        return reach == 0 or low - reach <= value <= high + reach

    return near, near


def _distance_of_zero(y: list[float]) -> float:
    return max(min(y), -max(y), 0.0)


class _Frame(NamedTuple):
    """A panel with its scales and the left and right end of its chart."""

    panel: Panel
    x: Scale
    y: Scale
    left: float
    right: float


def panel_chart(panel: Panel, styles: Mapping[str, Style]) -> Markup:
    """Return the chart of a panel; the first series are drawn last, on top."""
    frame = _frame_of(panel)
    clip = f"{panel.key}-clip"
    window = element("rect", x=frame.left, y=_TOP, width=frame.right - frame.left, height=_BOTTOM - _TOP)
    names = ", ".join(marked(one.label, one.caveat) for one in panel.series)
    about = f"{panel.title}: {panel.y.label} against {panel.x.label}{_scales_text(panel)}, for {names or 'no series'}"
    return element(
        "svg",
        element("clipPath", window, id=clip),
        _axes(frame),
        element("g", *(_bound(line, frame) for line in panel.lines), clip_path=f"url(#{clip})"),
        *_curves(frame, styles, clip),
        class_="chart",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
        aria_label=about,
    )


def exponent_text(panel: Panel, series: Series) -> str:
    """Return the exponent of a series with its interval, as text; "" if it has none."""
    if series.exponent is None:
        return ""
    return f"{_exponent_word(panel)} {with_interval(*map(power, series.exponent))}"


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
    return any(one.exponent is not None for one in panel.series)


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
        element("text", axis, x=(left + right) / 2, y=_HEIGHT - 6.0, class_="word middle"),
        exponent if _has_exponents(panel) else "",
    ]
    return element("g", element("g", *rules, class_="rules"), *ticks, *beside, *below, *words, class_="axes")


def _rule_class(y: Scale, value: float) -> str | bool:
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
    places = [_places(one, frame) for one in panel.series]
    last_heights = {
        i: points[-1][1]
        for i, (one, points) in enumerate(zip(panel.series, places, strict=True))
        if points and one.exponent is not None
    }
    label_heights = dict(zip(last_heights, _spread(list(last_heights.values())), strict=True))
    groups = []
    for i, (one, points) in enumerate(zip(panel.series, places, strict=True)):
        style = styles[one.label]
        line = [
            _path((frame.x.at(x), frame.y.at(y)) for x, y in part)
            for part in drawable_parts(panel, zip(one.x, one.mean, strict=True))
        ]
        groups.append(
            element(
                "g",
                element("path", class_="band", d=_band(one, frame), clip_path=f"url(#{clip})"),
                element("path", class_="curve", d="".join(line)),
                *(marker(style, x, y, reading(panel, one, j)) for x, y, j in points),
                *(_exponent(one, *points[-1][:2], label_heights[i]) if i in label_heights else ()),
                class_=f"series {style.classes}{' dense' * one.dense}",
                data_series=one.label,
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
    shown = power(series.exponent.value) + (MARK if series.caveat else "")
    return [
        element("path", class_="leader", d=f"M{x + 5:.1f},{y:.1f}L{_RIGHT + 14:g},{label_height:.1f}"),
        element("text", shown, class_="slope end", x=_WIDTH - 2.0, y=label_height + 4),
    ]


def marker(style: Style, x: float, y: float, title: str) -> Markup:
    """Return a point; its title is shown under the pointer, with or without the script."""
    place = f"translate({x:.1f},{y:.1f})"
    return element("path", element("title", title), class_="point", d=style.marker, transform=place)


def reading(panel: Panel, series: Series, j: int) -> str:
    """Return the text of a point of a series."""
    measured = with_interval(number(series.mean[j]), number(series.low[j]), number(series.high[j]))
    at = panel.x.text(series.x[j])
    name = marked(series.label, series.caveat)
    caveat = f"{MARK} {SAYS_NOTHING}" if series.caveat else ""
    lines = [name, at, f"{panel.y.label} {measured}", exponent_text(panel, series), caveat]
    return "\n".join(line for line in lines if line)


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
