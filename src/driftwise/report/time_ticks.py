"""Ticks of an axis of rounds that shows times: a few of the rounds whose times are known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

__all__ = ["short_times", "time_ticks"]

Place = TypeVar("Place", int, float)

_DATE_AND_TIME = re.compile(r"(.+)[T ](\d\d:\d\d\S*)")
_GAP = 3  # characters between two texts
_MOST_TICKS = 7


def time_ticks(rounds: Sequence[Place], times: Sequence[str], most_characters: int) -> list[tuple[Place, str]]:
    """Return evenly spaced rounds and their times, so few that the texts fit in `most_characters` together.

    A round whose time is empty has no tick.

    >>> time_ticks([0, 1, 2, 3], ["2024-01", "2024-02", "2024-03", "2024-04"], 30)
    [(1, '2024-02'), (3, '2024-04')]
    """
    known = [i for i, time in enumerate(times) if time]
    if not known:
        return []
    texts = short_times([times[i] for i in known])
    most = max(1, min(_MOST_TICKS, most_characters // (max(map(len, texts)) + _GAP)))
    every = -(-len(known) // most)
    return [(rounds[known[i]], texts[i]) for i in range(every // 2, len(known), every)]  # away from the ends


def short_times(times: Sequence[str]) -> list[str]:
    """Return times without the time of day, if all have the same, such as midnight.

    >>> short_times(["2024-01-01 00:00:00", "2024-01-02 00:00:00"]), short_times(["10", "20"])
    (['2024-01-01', '2024-01-02'], ['10', '20'])
    """
    parts = [_DATE_AND_TIME.fullmatch(time) for time in times]
    dates = [part[1] for part in parts if part]
    alike = len({part[2] for part in parts if part}) == 1
    return dates if alike and len(dates) == len(times) else list(times)
