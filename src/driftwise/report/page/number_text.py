"""Measured numbers as text on a page."""

from __future__ import annotations

import math

from driftwise.report.page.contents import Line, Series
from driftwise.report.tables import number

__all__ = ["exponent_of", "name_of", "power", "with_interval"]


def power(value: float) -> str:
    """Return an exponent as text.

    >>> power(0.5), power(-0.001), power(float("nan"))
    ('0.50', '0.00', '-')
    """
    return f"{value + 0.0:.2f}".replace("-0.00", "0.00") if math.isfinite(value) else number(value)


def with_interval(value: str, low: str, high: str) -> str:
    """Return a number and, if it is known, its interval, as text."""
    return value if low == high == number(None) else f"{value} [{low}, {high}]"


def exponent_of(series: Series) -> str:
    """Return the exponent of a series with its interval, as text."""
    return with_interval(power(series.exponent), power(series.exponent_low), power(series.exponent_high))


def name_of(line: Line) -> str:
    """Return the name of a line: its kind, unless the label has it, and its rate.

    >>> name_of(Line("sqrt(T)", "upper", [], [])), name_of(Line("lower bound", "lower", [], []))
    ('upper bound sqrt(T)', 'lower bound')
    """
    in_label = line.kind == "guide" or line.kind in line.label.lower()
    return line.label if in_label else f"{line.kind} bound {line.label}"
