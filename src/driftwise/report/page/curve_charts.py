"""The picture in a panel: curves with their bands, bounds, and slopes at the right edge, on logarithmic axes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from driftwise.core.tuning_caveats import MARK, SAYS_NOTHING, marked
from driftwise.report.page.axes import LogAxis, drawable
from driftwise.report.page.contents import Line, Panel, Series
from driftwise.report.page.markup import Markup, element
from driftwise.report.page.number_text import exponent_of, power, with_interval
from driftwise.report.page.styles import Style
from driftwise.report.tables import number

__all__ = ["axes_of", "panel_picture", "runs"]

_WIDTH, _HEIGHT = 520, 344
_LEFT, _RIGHT, _TOP, _BOTTOM = 50.0, 464.0, 30.0, 298.0
_FAR = 100.0  # what is further away than this factor would squeeze the measurements: it leaves the picture
_LABEL_HEIGHT = 15.0
_DASH = 9.0  # half of its length


def panel_picture(panel: Panel, styles: Mapping[str, Style]) -> Markup:
    """Draw a panel, the learners that come first on top."""
    across, up = axes_of(panel, _LEFT, _RIGHT, _BOTTOM, _TOP)
    clip = f"{panel.key}-clip"
    window = element("rect", x=_LEFT, y=_TOP, width=_RIGHT - _LEFT, height=_BOTTOM - _TOP)
    names = ", ".join(marked(one.label, one.caveat) for one in panel.series)
    about = (
        f"{panel.title}: {panel.y_label} against {panel.x_label}, both axes logarithmic, for {names or 'no learner'}"
    )
    return element(
        "svg",
        element("clipPath", window, id=clip),
        _frame(panel, across, up),
        element("g", *(_bound(line, across, up) for line in panel.lines), clip_path=f"url(#{clip})"),
        *_curves(panel, styles, across, up, clip),
        class_="chart",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
        aria_label=about,
    )


def axes_of(panel: Panel, left: float, right: float, bottom: float, top: float) -> tuple[LogAxis, LogAxis]:
    """Choose axes that show all measurements, and of the bounds what is not too far from them."""
    x = [value for one in panel.series for value in one.x] + [value for line in panel.lines for value in line.x]
    means = [value for one in panel.series for value in one.mean if drawable(value)]
    bounds = [value for line in panel.lines for value in line.y if drawable(value)]
    y = means or bounds
    if y:
        floor, ceiling = min(y), max(y)
        # An interval that reaches down to zero has no end on this axis.
        ends = [
            value for one in panel.series for value in (*one.low, *one.high) if floor / 3 <= value <= ceiling * _FAR
        ]
        y = y + ends + [value for value in bounds if floor / _FAR <= value <= ceiling * _FAR]
    return LogAxis.around(x, left, right), LogAxis.around(y, bottom, top)


def runs(points: Iterable[tuple[float, ...]]) -> Iterator[list[tuple[float, ...]]]:
    """Split points where one of them cannot be drawn: a gap in the data is a gap in the line."""
    run: list[tuple[float, ...]] = []
    for point in points:
        if all(map(drawable, point)):
            run.append(point)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _frame(panel: Panel, across: LogAxis, up: LogAxis) -> Markup:
    """Draw rules across, ticks below and the words at the axes."""
    rules = [element("path", d=f"M{_LEFT:g},{up.at(v):.1f}H{_RIGHT:g}") for v, _ in up.ticks()]
    ticks = [element("path", d=f"M{across.at(v):.1f},{_BOTTOM:g}v4") for v, _ in across.ticks()]
    beside = [element("text", text, x=_LEFT - 7, y=up.at(v) + 4, class_="end") for v, text in up.ticks()]
    below = [element("text", text, x=across.at(v), y=_BOTTOM + 18, class_="middle") for v, text in across.ticks()]
    words = [
        element("text", panel.y_label, x=4.0, y=14.0, class_="word"),
        element("text", panel.x_label, x=(_LEFT + _RIGHT) / 2, y=_HEIGHT - 6.0, class_="word middle"),
        element("text", "slope", x=_WIDTH - 2.0, y=14.0, class_="word end") if panel.series else "",
    ]
    return element("g", element("g", *rules, class_="rules"), *ticks, *beside, *below, *words, class_="axes")


def _bound(line: Line, across: LogAxis, up: LogAxis) -> Markup:
    paths = ""
    for run in runs(zip(line.x, line.y, strict=True)):
        places = [(across.at(x), up.at(y)) for x, y in run]
        if len(places) == 1:  # a line from a point to nowhere would not be seen: make it a dash
            ((x, y),) = places
            places = [(x - _DASH, y), (x + _DASH, y)]
        paths += _path(places)
    return element("path", class_=f"bound {line.kind}", d=paths)


def _curves(panel: Panel, styles: Mapping[str, Style], across: LogAxis, up: LogAxis, clip: str) -> list[Markup]:
    """Draw the learners, the first one last, each with its slope at the right edge."""
    places = [_places(one, across, up) for one in panel.series]
    wanted = {i: points[-1][1] for i, points in enumerate(places) if points}
    beside = dict(zip(wanted, _spread(list(wanted.values())), strict=True))
    groups = []
    for i, (one, points) in enumerate(zip(panel.series, places, strict=True)):
        style = styles[one.label]
        line = [_path((across.at(x), up.at(y)) for x, y in run) for run in runs(zip(one.x, one.mean, strict=True))]
        groups.append(
            element(
                "g",
                element("path", class_="band", d=_band(one, across, up), clip_path=f"url(#{clip})"),
                element("path", class_="curve", d="".join(line)),
                *(_marker(style, x, y, _reading(panel, one, j)) for x, y, j in points),
                *(_slope(one, *points[-1][:2], beside[i]) if points else ()),
                class_=f"series {style.classes}",
                data_learner=one.label,
            )
        )
    return groups[::-1]


def _places(series: Series, across: LogAxis, up: LogAxis) -> list[tuple[float, float, int]]:
    """Return where the points of a series lie, and which ones they are."""
    points = enumerate(zip(series.x, series.mean, strict=True))
    return [(across.at(x), up.at(y), j) for j, (x, y) in points if drawable(x) and drawable(y)]


def _slope(series: Series, x: float, y: float, beside: float) -> list[Markup]:
    """Write a slope at the right edge, tied to the last point of its curve."""
    return [
        element("path", class_="leader", d=f"M{x + 5:.1f},{y:.1f}L{_RIGHT + 14:g},{beside:.1f}"),
        element(
            "text",
            power(series.exponent) + (MARK if series.caveat else ""),
            class_="slope end",
            x=_WIDTH - 2.0,
            y=beside + 4,
        ),
    ]


def _marker(style: Style, x: float, y: float, reading: str) -> Markup:
    """Draw a point; its title is what a pointer reads there, with or without a script."""
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


def _band(series: Series, across: LogAxis, up: LogAxis) -> str:
    """Outline the intervals; one that reaches to zero or below reaches to the bottom of the picture."""
    bottom = 10.0 ** (up.low - 1.0)
    lows = [max(low, bottom) for low in series.low]  # NaN stays: the band has a gap there
    pieces = []
    for run in runs(zip(series.x, lows, series.high, strict=True)):
        there = [(across.at(x), up.at(high)) for x, _, high in run]
        back = [(across.at(x), up.at(low)) for x, low, _ in reversed(run)]
        pieces.append(_path([*there, *back]) + "z")
    return "".join(pieces)


def _path(points: Iterable[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _spread(wanted: Sequence[float]) -> list[float]:
    """Move labels apart, each as little as may be, inside the picture."""
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
