"""Scales of charts: the positions of numbers on an axis, and ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LEAST_SPAN = math.log10(4.0)  # in decades: holds at least one of 1, 2, 5
_LEAST_RELATIVE_SPAN = 1e-6  # of a linear scale, in units of its largest number: ticks have at most 7 digits
_MOST_TICKS = 7
_MOST_CHARACTERS = 48  # of all ticks of a linear scale, with spaces, so that they fit below a chart
_MOST_POWER, _LEAST_POWER = 6, -4  # ticks of a linear scale from 10^6 on, or closer than 10^-4, have a power of ten
_MARGIN = 0.04  # of the range, on both sides
_LEAST = 1e-300  # beyond this and its inverse, powers of ten and differences overflow or underflow


@dataclass(frozen=True)
class LinearScale:
    """Maps numbers from `low` to `high` to positions from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    whole: bool = False  # ticks are integers

    @staticmethod
    def drawable(value: float) -> bool:
        """Return whether a number can be drawn: all finite numbers, except those beyond 1e300."""
        return abs(value) < 1 / _LEAST

    @classmethod
    def around(cls, values: Iterable[float], start: float, end: float) -> LinearScale:
        """Return a scale that covers all drawable values, with a margin on the sides that do not end at 0."""
        numbers = [float(value) for value in values if cls.drawable(value)] or [0.0, 1.0]
        low, high = min(numbers), max(numbers)
        size = max(abs(low), abs(high))
        if size < _LEAST:
            low, high = 0.0, 1.0
        wide = high - low > _LEAST_RELATIVE_SPAN * size
        margin = _MARGIN * (high - low) if wide else 0.5 * size
        low, high = low - margin if low else low, high + margin if high else high
        return cls(low, high, start, end, all(number.is_integer() for number in numbers))

    @property
    def limits(self) -> tuple[float, float]:
        """The numbers at both ends."""
        return self.low, self.high

    @property
    def below(self) -> float:
        """A number below the scale."""
        return self.low - (self.high - self.low)

    def at(self, value: float) -> float:
        """Return the position of a number."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    @property
    def data(self) -> dict[str, object]:
        """The scale as plain values, for the script that zooms."""
        ends = {"low": self.low, "high": self.high, "start": self.start, "end": self.end}
        return {**ends, "log": isinstance(self, LogScale), "whole": self.whole}

    def ticks(self) -> list[tuple[float, str]]:
        """Return a few round numbers on the scale, with their text."""
        ticks: list[tuple[float, str]] = []
        for multiple, power in self._steps():
            step = float(f"{multiple}e{power}")
            first, last = math.ceil(self.low / step), math.floor(self.high / step)
            if ticks and last <= first:
                break
            places = [k * multiple for k in range(first, last + 1)]
            ticks = [(float(f"{k}e{power}"), text) for k, text in zip(places, _texts(places, power), strict=True)]
            if len(ticks) <= _MOST_TICKS and sum(len(text) + 1 for _, text in ticks) <= _MOST_CHARACTERS:
                break
        return ticks

    def _steps(self) -> Iterator[tuple[int, int]]:
        """Yield 1, 2 and 5 times powers of ten, in ascending order, as factor and power."""
        power = math.floor(math.log10(self.high - self.low)) - 1
        while True:
            if power >= 0 or not self.whole:
                yield from ((1, power), (2, power), (5, power))
            power += 1


class LogScale(LinearScale):
    """Maps positive numbers to positions by their logarithms; `low` and `high` are logarithms to base 10."""

    @staticmethod
    def drawable(value: float) -> bool:
        """Return whether a number can be drawn: positive numbers, except those beyond 1e300 and 1e-300."""
        return _LEAST < value < 1 / _LEAST

    @classmethod
    def around(cls, values: Iterable[float], start: float, end: float) -> LogScale:
        """Return a scale that covers all drawable values, with a margin on both sides."""
        powers = [math.log10(value) for value in values if cls.drawable(value)] or [0.0, 1.0]
        low, high = min(powers), max(powers)
        margin = max(_MARGIN * (high - low), (_LEAST_SPAN - (high - low)) / 2)
        return cls(low - margin, high + margin, start, end)

    @property
    def limits(self) -> tuple[float, float]:
        """The numbers at both ends."""
        return math.pow(10.0, self.low), math.pow(10.0, self.high)

    @property
    def below(self) -> float:
        """A number below the scale."""
        return math.pow(10.0, self.low - 1.0)

    def at(self, value: float) -> float:
        """Return the position of a positive number."""
        return super().at(math.log10(value))

    def ticks(self) -> list[tuple[float, str]]:
        """Return round numbers on the scale, with their text."""
        first, last = math.floor(self.low), math.ceil(self.high)
        every = math.ceil((self.high - self.low) / _MOST_TICKS)
        powers = [power for power in range(first, last + 1) if power % every == 0]
        for multiples in ((1, 2, 5), (1, 3), (1,)):
            numbers = [(m, power) for power in powers for m in multiples]
            inside = [(m, power) for m, power in numbers if self.low <= math.log10(m) + power <= self.high]
            if len(inside) <= _MOST_TICKS:
                break
        return [(float(f"{m}e{power}"), _text(m, power)) for m, power in inside]


SCALES = {"linear": LinearScale, "log": LogScale}


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
    return _with_power(str(multiple), power)


def _texts(numbers: list[int], power: int) -> list[str]:
    """Return the text of equally spaced multiples of a power of ten, all with the same number of decimals.

    >>> _texts([-5, 0, 5, 10], -1), _texts([0, 5, 10], 6)
    (['-0.5', '0', '0.5', '1.0'], ['0', '0.5·10⁷', '1.0·10⁷'])
    """
    size = max(map(abs, numbers))
    top = power + len(str(size)) - 1  # the largest number is at least 10^top
    if power >= _LEAST_POWER and top < _MOST_POWER:
        shown = [str(n * 10**power) if power >= 0 else f"{n / 10**-power:.{-power}f}" for n in numbers]
    else:
        shown = [_with_power(f"{n / 10 ** (top - power):.{top - power}f}", top) for n in numbers]
    return [text if n else "0" for n, text in zip(numbers, shown, strict=True)]


def _with_power(multiple: str, power: int) -> str:
    ten = f"10{str(power).translate(_SUPERSCRIPTS)}"
    return {"1": ten, "-1": f"-{ten}"}.get(multiple, f"{multiple}·{ten}")
