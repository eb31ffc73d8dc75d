"""A weight history: the weights of a learner over time, stacked, above a strip that shows the best action."""

from __future__ import annotations

import math
from collections.abc import Sequence

from driftwise.core.measures import MARK, marked
from driftwise.report.drawing import COLOURS, best_intervals, layers, time_ticks, timed_rounds
from driftwise.report.page.contents import WeightHistory
from driftwise.report.page.markup import (
    Markup,
    chart,
    element,
    figure,
    figure_data,
    joined,
    json_numbers,
    number_table,
    table_row,
)
from driftwise.report.page.scales import LinearScale, steps
from driftwise.report.tables import number

_WIDTH, _HEIGHT = 520, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 34.0, 510.0, 30.0, 204.0
_STRIP, _STRIP_HEIGHT, _FOOT = 212.0, 12.0, 232.0
_ABOVE = 4.0  # by which the marks of change points are higher than the areas
_MOST_CHARACTERS = 52  # of all times below the chart


def history_figure(history: WeightHistory) -> Markup:
    """Return a weight history with its caption, the legend of its colours and its numbers."""
    key = [
        element("li", element("span", class_=f"patch {action_classes(history, k)}"), label, data_label=label)
        for k, label in enumerate(history.labels)
    ]
    name = element("span", marked(history.learner, history.caveat), class_="learner-name")
    notes = [f"{MARK} {history.caveat}." if history.caveat else "", history.note]
    title = joined([history.title, " ", name])
    return figure("history", history.key, title, history_chart(history), key, notes, _numbers(history), _data(history))


def history_chart(history: WeightHistory) -> Markup:
    """Return the chart of a weight history."""
    x_scale = _x_scale(history)
    y_scale = LinearScale(0.0, 1.0, _BOTTOM, _TOP)
    tops = layers(history.weights)
    # Drawn from the top layer down: each layer covers the lower part of the one before.
    areas = [
        element("path", class_=f"area {action_classes(history, k)}", d=_area(history, tops[k], x_scale, y_scale))
        for k in range(len(tops))
    ]
    strip = []
    for action, first, last in best_intervals(history.best):
        if action < 0:
            continue
        left = x_scale.at(history.rounds[first])
        right = x_scale.at(history.rounds[min(last + 1, len(history.rounds) - 1)])
        x, width = f"{left:.2f}", f"{max(0.5, right - left):.2f}"
        classes = f"area {action_classes(history, action)}"
        strip.append(element("rect", class_=classes, x=x, width=width, y=_STRIP, height=_STRIP_HEIGHT))
    inside = [point for point in history.change_points if x_scale.low <= point <= x_scale.high]
    marks = [
        element("path", d=f"M{x_scale.at(point):.2f},{_TOP - _ABOVE:g}V{_STRIP + _STRIP_HEIGHT:g}") for point in inside
    ]
    about = (
        f"{history.title}: {history.what} of each {history.of_what} over the rounds, for {history.learner};"
        f" a strip below shows the best {history.of_what}"
    )
    below = [element("g", *strip, class_="strip"), element("g", *marks, class_="changes")]
    return chart(_WIDTH, _HEIGHT, about, *reversed(areas), *below, _words(history, x_scale, y_scale))


def _x_scale(history: WeightHistory) -> LinearScale:
    first, last = (history.rounds[0], history.rounds[-1]) if len(history.rounds) else (0, 1)
    return LinearScale(int(first), int(max(last, first + 1)), _LEFT, _RIGHT, whole=True)


def _words(history: WeightHistory, x_scale: LinearScale, y_scale: LinearScale) -> Markup:
    shares = [element("text", text, x=_LEFT - 6, y=y_scale.at(v) + 4, class_="end") for v, text in _SHARES]
    rounds = [(v, str(v)) for v in steps(x_scale.low, x_scale.high)]
    if history.times:
        rounds = time_ticks(history.rounds, history.times, _MOST_CHARACTERS)
    ticks = [element("path", d=f"M{x_scale.at(v):.1f},{_FOOT:g}v4") for v, _ in rounds]
    below = [element("text", text, x=x_scale.at(v), y=_FOOT + 17, class_="middle") for v, text in rounds]
    axis = "time" if history.times else "round"
    words = [
        element("text", f"{history.what} of each {history.of_what}", x=4.0, y=14.0, class_="word"),
        element("text", "best", x=_LEFT - 6, y=_STRIP + 10, class_="end"),
        element("text", axis, x=(_LEFT + _RIGHT) / 2, y=_HEIGHT - 6.0, class_="word middle"),
    ]
    return element("g", *shares, element("g", *ticks, *below, class_="across"), *words, class_="axes")


_SHARES = ((0.0, "0"), (0.5, "½"), (1.0, "1"))


def _area(history: WeightHistory, tops: Sequence[float], x_scale: LinearScale, y_scale: LinearScale) -> str:
    line = "L".join(
        f"{x_scale.at(t):.2f},{y_scale.at(min(1.0, top)):.2f}" for t, top in zip(history.rounds, tops, strict=True)
    )
    return f"M{_LEFT:g},{_BOTTOM:g}L{line}V{_BOTTOM:g}z"


def action_classes(history: WeightHistory, k: int) -> str:
    """Return the CSS classes of an action's colour: after the last one the palette repeats, paler. A rest is grey."""
    if history.has_rest and k == len(history.weights) - 1:
        return "grey pale"
    return f"c{k % len(COLOURS)}" + (" pale" if k >= len(COLOURS) else "")


def _data(history: WeightHistory) -> Markup:
    """Return the numbers of a history as they are saved and read out, and the scale of its chart."""
    times = list(history.times)
    best = f"best {history.of_what}"
    heads = ["round", *(["time"] if times else []), best, *(f"{history.what} of {label}" for label in history.labels)]
    data: dict[str, object] = {"heads": heads, "names": history.labels, "times": times}
    rounds = [int(t) for t in history.rounds]
    data |= {"rounds": rounds, "best": [int(k) for k in history.best]}
    data |= {"weights": [json_numbers(row) for row in history.weights]}
    x = {**_x_scale(history).data, "label": "round", "times": timed_rounds(rounds, times)}
    box = [_LEFT, _RIGHT, _TOP - _ABOVE, _STRIP + _STRIP_HEIGHT]
    return figure_data({**data, "x": x, "box": box, "foot": _FOOT})


def _numbers(history: WeightHistory) -> Markup:
    """Return a table of the best actions over time and their weights."""
    heads = ("from round", "to round", f"best {history.of_what}", f"its mean {history.what}", "at the end")
    rows = []
    for action, first, last in best_intervals(history.best):
        ends = history.rounds[last + 1] - 1 if last + 1 < len(history.rounds) else history.rounds[last]
        if action < 0:
            continue
        held = [float(w) for w in history.weights[action][first : last + 1]]
        weights = [w for w in held if math.isfinite(w)]
        mean = sum(weights) / len(weights) if weights else math.nan
        cells = [
            f"{history.rounds[first]} ({history.times[first]})" if history.times else str(history.rounds[first]),
            str(ends),
            history.names[action] if history.names else str(action + 1),
            number(mean, 3),
            number(held[-1], 3),
        ]
        rows.append(table_row(cells))
    return number_table(history.key, heads, element("tbody", *rows))
