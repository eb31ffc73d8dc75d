r"""Families of time intervals: in which rounds a row starts, and until which round it stays awake.

A row is a set of experts, or a base learner, that is awake on one interval of rounds, counted from 1. A learner that
tracks changes needs rows for every interval $[a, b]$. A family has few rows awake in a round, and still splits every
interval into few of its own, the last of them cut short. Write $2^{z(s)}$ for the largest power of two that divides
$s$.

===================  ==========================================  ======================  ===========================
family               a row is awake on                           rows awake in round t   rows that cover n rounds
===================  ==========================================  ======================  ===========================
"single"             $[1, \infty)$                               1                       1, if they start in round 1
"every"              $[s, \infty)$                               $t$                     1
"geometric"          $[s, s + 2^{z(s)} - 1]$                     $\log_2 t + 1$          $\log_2 (n + 1) + 1$
"hazan-seshadhri"    $[s, s + 4 \cdot 2^{z(s)}]$                 $2 \log_2 t + 3$        $\log_2 (n + 1)$
dyadic               $[i 2^k, (i + 1) 2^k - 1]$, $i \ge 1$       $\log_2 t + 1$          $\log_2 (n + 1) + 1$
===================  ==========================================  ======================  ===========================

Dyadic and geometric: all intervals of Daniely et al. (2015), and the longest of them for each start. From $a$ on, the
geometric intervals that each start where the last one ended at least double in length. In round $t = 2^j$ only the new
geometric row is awake; of the dyadic ones, one of each level $k \le \log_2 t$ is. Whole dyadic intervals, none cut
short, make up $n$ rounds too: fewer than $2 \log_2 (n + 1)$ of them.

Hazan-Seshadhri: $[s, (s+t)/2]$ contains a multiple of the largest power of two that is at most
$\lfloor (t-s)/2 \rfloor + 1$, and its row is still awake in round $t$; the rounds before it are less than half as many.
At most three rows with the same $z(s)$ are awake.

There are two views of a family. A `Cover` lists rows by their start: `last_round(code, start)` is the end. `Slots`
assigns rows to a fixed number of slots, in which the rows of a level take turns: `start(slot, t)` is the first round
of the row in the slot in round $t$. The slots of the dyadic family hold the starts of the geometric cover, once for
each level.

References: A. Daniely, A. Gonen, S. Shalev-Shwartz, "Strongly adaptive online learning", ICML 2015; E. Hazan and
C. Seshadhri, "Efficient learning algorithms for changing environments", ICML 2009.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from driftwise.core.kernel import kernel

_SINGLE, _EVERY, _GEOMETRIC, _HAZAN_SESHADHRI = range(4)
_FOREVER = int(np.iinfo(np.int64).max)
_HAZAN_SESHADHRI_LENGTH = 4  # of an interval, as a multiple of the largest power of two that divides its start
_ROWS_PER_LEVEL = 3  # of Hazan and Seshadhri's family, awake at once
_LEVELS = 40  # of slots: enough for 2^40 rounds; after those, rows of higher levels do not start


@kernel
def last_round(cover: int, start: int) -> int:
    """Return the last round in which the row that starts in round `start` is awake, -1 if no row starts there."""
    if cover == _SINGLE:
        return _FOREVER if start == 1 else -1
    if cover == _EVERY:
        return _FOREVER
    power = start & -start
    if cover == _GEOMETRIC:
        return start + power - 1
    return start + _HAZAN_SESHADHRI_LENGTH * power


class Cover(NamedTuple):
    """A family with at most one row per start."""

    code: int  # of the family, for `last_round`
    most_rows: int  # awake at once, up to 2^62 rounds; 0 where their number grows with the rounds

    def rows_to_cover(self, n_rounds: int) -> int:
        """Return a bound on how many rows cover any interval of `n_rounds` rounds.

        >>> COVERS["geometric"].rows_to_cover(7), COVERS["hazan-seshadhri"].rows_to_cover(7)
        (4, 3)
        """
        if self.code in (_SINGLE, _EVERY):
            return 1
        return int(math.log2(n_rounds + 1)) + (self.code == _GEOMETRIC)

    def starts_at(self, t: int) -> list[int]:
        """Return the starts of the rows awake in round `t`, oldest first.

        >>> COVERS["geometric"].starts_at(7), COVERS["hazan-seshadhri"].starts_at(7)
        ([4, 6, 7], [2, 3, 4, 5, 6, 7])
        """
        if self.code == _SINGLE:
            return [1]
        if self.code == _EVERY:
            return list(range(1, t + 1))
        powers = [1 << z for z in range(t.bit_length())]
        latest = [((t // power - 1) // 2 * 2 + 1) * power for power in powers]  # the last odd multiple up to t
        candidates = (
            last - 2 * i * power for last, power in zip(latest, powers, strict=True) for i in range(_ROWS_PER_LEVEL)
        )
        return sorted(start for start in candidates if start > 0 and last_round(self.code, start) >= t)

    def awake_at(self, t: int) -> int:
        """Return the number of rows awake in round `t`."""
        return t if self.code == _EVERY else len(self.starts_at(t))


class Slots(NamedTuple):
    """A family whose rows take turns in a fixed number of slots."""

    start: Callable[[int, int], int]  # (slot, t) -> the first round of the row in the slot in round t, 0 if none
    in_use: Callable[[int], int]  # t -> how many slots may hold a row in round t: the first ones
    n_slots: int


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
def _hazan_seshadhri_start(slot: int, t: int) -> int:
    level = slot // _ROWS_PER_LEVEL
    latest = ((t >> level) - 1) >> 1  # rows of the level start at (2 i + 1) 2^level; this is the last i so far
    i = latest - (latest - slot) % _ROWS_PER_LEVEL  # the last i with this slot, which is i modulo three in its level
    start = (2 * i + 1) << level
    return start if i >= 0 and t <= last_round(_HAZAN_SESHADHRI, start) else 0


@kernel
def _hazan_seshadhri_slots(t: int) -> int:
    return _ROWS_PER_LEVEL * _levels(t)


COVERS = {
    "single": Cover(_SINGLE, 1),
    "every": Cover(_EVERY, 0),
    "geometric": Cover(_GEOMETRIC, 63),
    "hazan-seshadhri": Cover(_HAZAN_SESHADHRI, 127),
}
TRACKING = ("every", "geometric", "hazan-seshadhri")  # the covers that start a row in every round
DYADIC_SLOTS = Slots(_dyadic_start, _levels, _LEVELS)
HAZAN_SESHADHRI_SLOTS = Slots(_hazan_seshadhri_start, _hazan_seshadhri_slots, _ROWS_PER_LEVEL * _LEVELS)
