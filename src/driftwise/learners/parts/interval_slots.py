r"""Families of intervals on which a learner is started afresh, sparse enough to run and dense enough to matter.

A row is a learner that lives on one interval $[s, e]$ of rounds, counted from 1. Two families are in use:

- *dyadic* (Daniely et al., 2015): $[i 2^k, (i+1) 2^k - 1]$ for $i \ge 1$; one row of each level $k \le \log_2 t$ is
  awake in round $t$, and every interval of rounds is a union of fewer than $2 \log_2$ of its length;
- *lasting* (Hazan and Seshadhri, 2009): $[s, s + 4 \cdot 2^k]$, $2^k$ the largest power of two that divides $s$; at
  most three rows of a level are awake, and for every $s \le t$ one that started in $[s, (s+t)/2]$.

Rows of a level take turns in its slots. `start(slot, t)` is the first round of the row that the slot holds in round
$t$, or 0 if it holds none; `slots(t)` is how many slots there are to look at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from driftwise.core.kernel import kernel

__all__ = ["DYADIC", "LASTING", "Family"]

_LEVELS = 40  # enough for 2**40 rounds; later ones would go on with these


class Family(NamedTuple):
    """A family of intervals, by its slots."""

    start: Callable[[int, int], int]
    slots: Callable[[int], int]
    most_slots: int


@kernel
def _levels(t: int) -> int:
    """Count the powers of two up to t."""
    levels = 0
    while t > 0 and levels < _LEVELS:
        t >>= 1
        levels += 1
    return levels


@kernel
def _dyadic_start(slot: int, t: int) -> int:
    return (t >> slot) << slot


@kernel
def _dyadic_slots(t: int) -> int:
    return _levels(t)


@kernel
def _lasting_start(slot: int, t: int) -> int:
    level = slot // 3
    latest = ((t >> level) - 1) >> 1  # rows of the level start at (2 i + 1) 2^level; this is the last i so far
    i = latest - (latest - slot) % 3  # the last that takes this slot: level * 3 does not count modulo 3
    start = (2 * i + 1) << level
    return start if i >= 0 and t <= start + (4 << level) else 0


@kernel
def _lasting_slots(t: int) -> int:
    return 3 * _levels(t)


DYADIC = Family(_dyadic_start, _dyadic_slots, _LEVELS)
LASTING = Family(_lasting_start, _lasting_slots, 3 * _LEVELS)
