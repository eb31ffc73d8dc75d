"""Measured numbers as text, in tables and figures."""

from __future__ import annotations

import math

from driftwise.report.tables import number

__all__ = ["fixed", "power", "with_interval"]


def fixed(value: float, decimals: int) -> str:
    """Return a number as text with a given number of decimals.

    >>> fixed(0.5, 2), fixed(-0.001, 2), fixed(float("nan"), 2)
    ('0.50', '0.00', '-')
    """
    if not math.isfinite(value):
        return number(value)
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def power(value: float) -> str:
    """Return an exponent as text."""
    return fixed(value, 2)


def with_interval(value: str, low: str, high: str) -> str:
    """Return a number and, if it is known, its interval, as text."""
    return value if low == high == number(None) else f"{value} [{low}, {high}]"
