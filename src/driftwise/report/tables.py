"""Text tables for a terminal, and numbers as text in tables and figures."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from unicodedata import combining, east_asian_width

from driftwise.core.errors import one_line


def number(value: float | None, digits: int = 4) -> str:
    """Return a number as text with a few significant digits, a dash for None or NaN.

    >>> [number(x) for x in (3.14159, 123456.7, 0.0, None)]
    ['3.142', '123457', '0', '-']
    """
    if value is None or math.isnan(value):
        return "-"
    if math.isinf(value) or value == 0:
        return f"{value:.0f}"
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:.0f}"
    return f"{value:.{digits}g}"


def text_table(headers: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1, width: int | None = None) -> str:
    """Return a text table; the first `left` columns are aligned left, the others right.

    If all columns are aligned left and there is a `width`, text in the last column is wrapped to fit it.

    >>> print(text_table(["learner", "regret"], [["optimistic-gd", "12.5"]]))
    learner        regret
    -------------  ------
    optimistic-gd    12.5
    """
    cells = [[one_line(cell) for cell in row] for row in (headers, *rows)]
    if width is not None and left == len(headers):
        cells = _wrap_last(cells, width)
    widths = [max(text_width(row[i]) for row in cells) for i in range(len(headers))]

    def line(row: Sequence[str]) -> str:
        spaces = [" " * (width - text_width(cell)) for cell, width in zip(row, widths, strict=True)]
        padded = [cell + spaces[i] if i < left else spaces[i] + cell for i, cell in enumerate(row)]
        return "  ".join(padded).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return "\n".join([line(cells[0]), rule, *(line(row) for row in cells[1:])])


class TableGroup(NamedTuple):
    """Rows of a table below a heading, and lines below them."""

    heading: str
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()


def grouped_table(headers: Sequence[str], groups: Sequence[TableGroup], left: int = 1) -> str:
    """Return a text table in which groups of rows have a heading; all groups have the same columns.

    >>> print(grouped_table(["learner", "regret"], [TableGroup("switching", [["hedge", "12.5"]])]))
    learner  regret
    -------  ------
    switching
      hedge    12.5
    """
    rows = [[f"  {row[0]}", *row[1:]] for group in groups for row in group.rows]
    head, rule, *lines = text_table(headers, rows, left).splitlines()
    parts, first = [head, rule], 0
    for group in groups:
        parts += [one_line(group.heading), *lines[first : first + len(group.rows)], *group.notes]
        first += len(group.rows)
    return "\n".join(parts)


def shortened(text: str, width: int) -> str:
    """Return a text in one line, cut to a width in a terminal.

    >>> shortened("a name of many words", 10)
    'a name of…'
    """
    text = one_line(text)
    if text_width(text) <= width:
        return text
    used = 1  # for the ellipsis
    for i, character in enumerate(text):
        used += text_width(character)
        if used > width:
            return f"{text[:i]}…"
    return text


def text_width(text: str) -> int:
    """Return the width of a text in a terminal: two columns for wide characters, none for combining accents."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _wrap_last(cells: list[list[str]], width: int) -> list[list[str]]:
    """Wrap the text of the last column into several rows."""
    used = sum(max(len(row[i]) for row in cells) + 2 for i in range(len(cells[0]) - 1))
    wrapped = []
    for *front, last in cells:
        for i, line in enumerate(textwrap.wrap(last, max(20, width - used)) or [""]):
            wrapped.append([*(front if i == 0 else [""] * len(front)), line])
    return wrapped


def fixed(value: float, decimals: int) -> str:
    """Return a number as text with a given number of decimals.

    >>> fixed(0.5, 2), fixed(-0.001, 2), fixed(float("nan"), 2)
    ('0.50', '0.00', '-')
    """
    if not math.isfinite(value):
        return number(value)
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def even_decimals(values: Iterable[float], digits: int = 4) -> int:
    """Return the number of decimals that gives the largest of some numbers a few digits, at most 9.

    >>> even_decimals([0.5, 123.4, float("nan")]), even_decimals([0.00012]), even_decimals([12345.6])
    (1, 7, 0)
    """
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    return 0 if largest == 0 else min(9, max(0, digits - 1 - math.floor(math.log10(largest))))


def with_interval(value: str, low: str, high: str) -> str:
    """Return a number and, if it is known, its interval, as text."""
    return value if low == high == number(None) else f"{value} [{low}, {high}]"
