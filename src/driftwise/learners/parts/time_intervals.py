r"""Covers of time: which rounds start a row of experts, and how long the row stays awake.

A learner that would track changes wants experts for every stretch of rounds $[a, b]$; a cover offers few rows
and still splits every stretch into few of their lives, cut short where need be. Write $2^{z(s)}$ for the largest
power of two that divides $s$.

===================  ================================  =====================  ====================================
cover                row $s$ is awake on               rows awake at $t$      lives that make up $n$ rounds
===================  ================================  =====================  ====================================
"single"             $[1, \infty)$, only $s = 1$       1                      1, if they start at round 1
"every"              $[s, \infty)$                     $t$                    1
"geometric"          $[s, s + 2^{z(s)} - 1]$           $\log_2 t + 1$         $\log_2 (n + 1) + 1$
"hazan-seshadhri"    $[s, s + 4 \cdot 2^{z(s)}]$       $2 \log_2 t + 3$       $\log_2 (n + 1)$
===================  ================================  =====================  ====================================

Geometric: the lives from $a$ on, each started where the last one ended, double at least. At $t = 2^j$ only the
new row is awake, so it forgets everything. Hazan-Seshadhri: $[s, (s+t)/2]$ holds a multiple of the largest power
of two that is at most $\lfloor (t-s)/2 \rfloor + 1$, and its row is still awake at $t$; the rounds before it are
less than half as many.

Reference: A. Daniely, A. Gonen, S. Shalev-Shwartz, "Strongly adaptive online learning", ICML 2015 (the
compact geometric cover keeps its longest interval per start); E. Hazan and C. Seshadhri, "Efficient learning
algorithms for changing environments", ICML 2009.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from driftwise.core.kernel import kernel

__all__ = ["COVERS", "TRACKING", "Cover", "last_round"]

_SINGLE, _EVERY, _GEOMETRIC, _HAZAN_SESHADHRI = range(4)
_FOREVER = int(np.iinfo(np.int64).max)
_STRETCH = 4  # Hazan and Seshadhri's lives, in powers of two that divide the start


class Cover(NamedTuple):
    """A cover of time, as the kernels and the memory know it."""

    code: int
    most_rows: int  # ever awake at once, up to 2^62 rounds; 0 where they grow with the rounds

    def pieces(self, n_rounds: int) -> int:
        """Bound the lives that make up any stretch of `n_rounds` rounds.

        >>> COVERS["geometric"].pieces(7), COVERS["hazan-seshadhri"].pieces(7)
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
        candidates = (last - 2 * i * power for last, power in zip(latest, powers, strict=True) for i in range(3))
        return sorted(start for start in candidates if start > 0 and last_round(self.code, start) >= t)

    def awake_at(self, t: int) -> int:
        """Count the rows awake in round `t`."""
        return t if self.code == _EVERY else len(self.starts_at(t))


COVERS = {
    "single": Cover(_SINGLE, 1),
    "every": Cover(_EVERY, 0),
    "geometric": Cover(_GEOMETRIC, 63),
    "hazan-seshadhri": Cover(_HAZAN_SESHADHRI, 127),
}
TRACKING = ("every", "geometric", "hazan-seshadhri")  # those that start a row in every round


@kernel
def last_round(cover: int, start: int) -> int:
    """Return the last round in which the row that starts at round `start` is awake, -1 if none starts."""
    if cover == _SINGLE:
        return _FOREVER if start == 1 else -1
    if cover == _EVERY:
        return _FOREVER
    power = start & -start
    if cover == _GEOMETRIC:
        return start + power - 1
    return start + _STRETCH * power
