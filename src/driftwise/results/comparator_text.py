"""Comparators from text, as the command line, files and `str(comparator)` write them."""

from __future__ import annotations

import re

from driftwise.core.errors import rejection
from driftwise.results.comparators import Comparator, Dynamic, Interval, Static, Switched

__all__ = ["make_comparator"]

_WHOLE = re.compile(r"[0-9]{1,100}")  # more digits than any count has; Python is slow to read millions of digits
_INTERVAL = re.compile(rf"({_WHOLE.pattern})-({_WHOLE.pattern})(?:@({_WHOLE.pattern}))?")


def make_comparator(text: str, owner: str = "simulate") -> Comparator:
    """Return the comparator of ``dynamic``, ``static``, ``switching:N`` or ``interval:FIRST-LAST[@ACTION]``.

    >>> make_comparator("switching:3")
    Switched(n_segments=3)
    """
    kind, _, rest = text.partition(":")
    if kind == "dynamic" and not rest:
        return Dynamic()
    if kind == "static" and not rest:
        return Static()
    if kind == "switching" and _WHOLE.fullmatch(rest):
        return Switched(int(rest))
    if kind == "interval" and (match := _INTERVAL.fullmatch(rest)):
        return Interval(int(match[1]), int(match[2]), None if match[3] is None else int(match[3]))
    raise rejection(owner, "comparator", "dynamic, static, switching:N or interval:FIRST-LAST[@ACTION]", text)
