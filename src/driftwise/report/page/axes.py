"""Axes of charts: the positions of numbers, and ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["LinearAxis", "LogAxis", "drawable", "steps"]

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LEAST_SPAN = math.log10(4.0)  # in decades: holds at least one of 1, 2, 5
_MOST_TICKS = 7
_LEAST = 1e-300  # beyond this and its inverse, powers of ten overflow or underflow


@dataclass(frozen=True)
class LinearAxis:
    """Maps numbers from `low` to `high` to positions from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Return the position of a number."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


@dataclass(frozen=True)
class LogAxis:
    """Maps positive numbers to positions by their logarithms; `low` and `high` are logarithms to base 10."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def around(cls, values: Iterable[float], start: float, end: float) -> LogAxis:
        """Return an axis that covers all drawable values, with a margin on both sides."""
        powers = [math.log10(value) for value in values if drawable(value)] or [0.0, 1.0]
        low, high = min(powers), max(powers)
        margin = max(0.04 * (high - low), (_LEAST_SPAN - (high - low)) / 2)
        return cls(low - margin, high + margin, start, end)

    def at(self, value: float) -> float:
        """Return the position of a positive number."""
        return self.start + (math.log10(value) - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self) -> list[tuple[float, str]]:
        """Return round numbers on the axis, with their text."""
        first, last = math.floor(self.low), math.ceil(self.high)
        every = math.ceil((self.high - self.low) / _MOST_TICKS)
        powers = [power for power in range(first, last + 1) if power % every == 0]
        for multiples in ((1, 2, 5), (1, 3), (1,)):
            numbers = [(m, power) for power in powers for m in multiples]
            inside = [(m, power) for m, power in numbers if self.low <= math.log10(m) + power <= self.high]
            if len(inside) <= _MOST_TICKS:
                break
        return [(float(f"{m}e{power}"), _text(m, power)) for m, power in inside]


def drawable(value: float) -> bool:
    """Return whether a number can be drawn on a logarithmic axis."""
    return _LEAST < value < 1 / _LEAST


def steps(low: float, high: float) -> list[int]:
    """Return integers between two numbers, spaced by a round number.

    >>> steps(1, 1000)
    [200, 400, 600, 800, 1000]
    """
    width = 1
    for factor in (2, 2.5, 2) * 20:
        if (high - low) / width < _MOST_TICKS - 1:
            break
        width = int(width * factor)
    return list(range(math.ceil(low / width) * width, math.floor(high) + 1, width))


def _text(multiple: int, power: int) -> str:
    if -3 < power < 5:
        return f"{multiple * 10**power}" if power >= 0 else f"{multiple * 10.0**power:g}"
    ten = f"10{str(power).translate(_SUPERSCRIPTS)}"
    return ten if multiple == 1 else f"{multiple}·{ten}"
