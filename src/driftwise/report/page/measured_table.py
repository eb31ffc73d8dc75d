"""The measured Table 1: one row per learner and environment, with the measured exponent and the paper's rates."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import groupby

from driftwise.core.tuning_caveats import MARK, SAYS_NOTHING
from driftwise.report.page.axes import LinearAxis
from driftwise.report.page.contents import TableRow
from driftwise.report.page.markup import Markup, element
from driftwise.report.page.number_text import power, with_interval
from driftwise.report.page.rate_formulas import formula
from driftwise.report.page.styles import ROLE_NAMES, Style, swatch

__all__ = ["cells_of", "measured_table"]

_WIDTH, _HEIGHT = 80, 18
_SHARED = ("cell", "environment", "axis", "upper", "lower")  # shown once for all learners of an environment
_LETTERS_A_LINE = 14  # that fit the narrowest of these columns
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")
_HEADS = (
    ("environment", "Setting and environment"),
    ("learner", "Learner"),
    ("axis", "Varied"),
    ("upper", "Upper rate"),
    ("lower", "Lower rate"),
    ("exponent", "Measured exponent"),
    ("multiple", "× lower bound"),
)


def cells_of(rows: Sequence[TableRow]) -> list[str]:
    """Return the settings in order of appearance."""
    return list(dict.fromkeys(row.cell for row in rows))


def measured_table(rows: Sequence[TableRow], styles: Mapping[str, Style]) -> Markup:
    """Return the table; the script makes it sortable, and narrow screens show its rows as cards."""
    ends = [value for row in rows for value in (row.exponent, row.low, row.high) if math.isfinite(value)]
    x_axis = LinearAxis(min(0.0, *ends, 0.0), max(1.0, *ends, 1.0), 4.0, _WIDTH - 4.0)
    heads = [element("th", head, scope="col", data_sort=key) for key, head in _HEADS]
    lines = [
        _line(row, styles, x_axis, i, len(group))
        for _, one in groupby(rows, key=_shared)
        for group in [list(one)]
        for i, row in enumerate(group)
    ]
    return element("table", element("thead", element("tr", *heads)), element("tbody", *lines), class_="measured")


def _shared(row: TableRow) -> tuple[str, ...]:
    return tuple(getattr(row, key) for key in _SHARED)


def _line(row: TableRow, styles: Mapping[str, Style], x_axis: LinearAxis, place: int, size: int) -> Markup:
    """Return row number `place` of a group of `size` rows that share their environment and rates."""
    style = styles.get(row.learner)
    role = element("span", ROLE_NAMES[row.role].lower(), class_="role")
    caveat = element("span", f"{MARK} {SAYS_NOTHING}", class_="caveat", title=row.caveat) if row.caveat else ""
    learner = [swatch(style) if style else "", element("span", row.learner, " ", role, caveat)]
    written = with_interval(power(row.exponent), power(row.low), power(row.high))
    exponent = [_whisker(row, x_axis), written]
    contents: tuple[list[str], ...] = (
        [row.cell, " ", element("span", row.environment, class_="role")],
        learner,
        [formula(row.axis)],
        [formula(row.upper)],
        [formula(row.lower)],
        exponent,
        [row.multiple],
    )
    number = _NUMBER.search(row.multiple)  # a range is sorted by its lower end
    multiple = number[0] if number else ""
    values = (
        f"{row.cell} {row.environment}",
        row.learner,
        row.axis,
        row.upper,
        row.lower,
        f"{row.exponent:.6f}",
        multiple,
    )
    cells = [
        element(
            "td",
            element("span", *parts),
            class_=f"{key} {_shared_class(value, place, size)}" if key in _SHARED else key,
            data_label=head,
            data_value=value,
        )
        for (key, head), parts, value in zip(_HEADS, contents, values, strict=True)
    ]
    return element("tr", *cells, data_cell=row.cell, class_="goes-on" if place else False)


def _shared_class(text: str, place: int, size: int) -> str:
    """Return the CSS class of a shared cell: shown in the first row only, over the empty cells below if it fits."""
    if place:
        return "same"
    return "leads" if len(text) <= _LETTERS_A_LINE * size else "alone"


def _whisker(row: TableRow, x_axis: LinearAxis) -> Markup:
    """Return a small chart of an exponent and its interval, with lines at 0, 1/2 and 1."""
    middle = _HEIGHT / 2
    rules = "".join(f"M{x_axis.at(v):.1f},2V{_HEIGHT - 2}" for v in (0.0, 0.5, 1.0))
    shapes = [element("path", class_="rules", d=rules)]
    if math.isfinite(row.low) and math.isfinite(row.high):
        shapes.append(
            element("path", class_="whisker", d=f"M{x_axis.at(row.low):.1f},{middle:g}H{x_axis.at(row.high):.1f}")
        )
    if math.isfinite(row.exponent):
        shapes.append(element("path", class_="middle", d=f"M{x_axis.at(row.exponent):.1f},4V{_HEIGHT - 4}"))
    return element(
        "svg",
        *shapes,
        class_="glyph",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        width=_WIDTH,
        height=_HEIGHT,
        aria_hidden="true",
    )
