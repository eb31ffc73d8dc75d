"""The scales of a panel: which numbers its axes cover, and which points can be drawn on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from driftwise.report.page.contents import Panel
from driftwise.report.page.scales import SCALES, LinearScale, Scale
from driftwise.report.time_ticks import time_ticks

__all__ = ["drawable_parts", "drawable_point", "x_scale", "x_ticks", "y_scale"]

# Bounds further away than this are outside of the chart, which shows the measurements.
_FAR_FACTOR = 100.0  # on a logarithmic scale
_FAR_MULTIPLE = 2.0  # on a linear scale, of the largest measurement
_MOST_CHARACTERS = 52  # of all times below a chart


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
