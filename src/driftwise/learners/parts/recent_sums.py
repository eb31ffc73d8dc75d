r"""Plays and losses since starting points in the past, the fewer the older.

After $t$ rounds the starting points are $0$ (before the first round) and, for each power of two $2^j$, the last $R$
rounds $u < t$ of the form $(2 q + 1) 2^j$; the interval of $u$ is $u + 1, \dots, t$. These are at most
$1 + R (\log_2 t + 1)$ intervals, and for every $d \le t$ one of them has at least $d$ and less than
$d + 2 d / (2 R - 1)$ rounds, because all multiples of $2^j$ of the last $R 2^{j+1}$ rounds are starting points.

Row 0 has the plays and the total loss of each action up to now, and row 1 those before the first round, which are 0.
The rows from $2 + R j$ on have those up to the rounds with $2^j$, by $q$ modulo $R$. A row that has no round yet is 0,
as row 1 is.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from driftwise.core.kernel import kernel
from driftwise.core.types import Vector

__all__ = [
    "Sums",
    "bounds_on_mean",
    "evict",
    "keep",
    "n_rows",
    "no_sums",
    "record",
    "rows_in_use",
    "since",
    "sums_bytes",
]

Sums = npt.NDArray[np.float64]  # (rows, n_actions, 2)
_POWERS = 48  # enough for 2^48 rounds, which at a microsecond each take nine years


def n_rows(resolution: int) -> int:
    """Return the number of rows for `resolution` starting points per power of two."""
    return 2 + _POWERS * resolution


def no_sums(n_actions: int, resolution: int) -> Sums:
    """Return the sums before the first round."""
    return np.zeros((n_rows(resolution), n_actions, 2))


def sums_bytes(n_actions: int, resolution: int) -> int:
    """Return the size of the sums in bytes."""
    return 8 * n_rows(resolution) * n_actions * 2


@kernel
def record(sums: Sums, action: int, loss: float) -> None:
    """Add a round to the sums up to now."""
    sums[0, action, 0] += 1.0
    sums[0, action, 1] += loss


@kernel
def keep(sums: Sums, rounds: int, resolution: int) -> None:
    """Make the round just played, the `rounds`-th, a starting point, in place of the oldest with its power of two."""
    odd, j = rounds, 0
    while odd % 2 == 0 and j < _POWERS - 1:
        odd //= 2
        j += 1
    row = 2 + resolution * j + odd // 2 % resolution
    for k in range(sums.shape[1]):
        sums[row, k, 0] = sums[0, k, 0]
        sums[row, k, 1] = sums[0, k, 1]


@kernel
def rows_in_use(rounds: int, resolution: int) -> int:
    """Return the number of rows in use after so many rounds: the first ones."""
    j = 0
    while rounds >> j > 0:
        j += 1
    return 2 + resolution * min(j, _POWERS)


@kernel
def since(sums: Sums, row: int, action: int) -> tuple[float, float]:
    """Return the plays of an action since a starting point, and their mean loss (0 if there are none)."""
    n = sums[0, action, 0] - sums[row, action, 0]
    return n, (sums[0, action, 1] - sums[row, action, 1]) / max(1.0, n)


@kernel
def bounds_on_mean(sums: Sums, n_rows: int, action: int, spread: float) -> tuple[float, float]:
    """Return the highest mean less radius, and the lowest mean plus radius, where `n` plays have `spread / sqrt(n)`."""
    lower, upper = 0.0, 1.0
    for row in range(1, n_rows):
        n, mean = since(sums, row, action)
        if n > 0.0:
            radius = spread / np.sqrt(n)
            lower = max(lower, mean - radius)
            upper = min(upper, mean + radius)
    return lower, upper


@kernel
def evict(sums: Sums, n_rows: int, threshold: float, gap: Vector, floor: Vector, ceiling: Vector) -> None:
    """Write the gap of every action whose mean since some starting point is too far above the smallest one since it.

    Only actions without a gap are compared. Too far is by more than the root of `threshold / (n - 1)`. The floor and
    the ceiling are the mean less and plus a quarter of the gap.
    """
    for row in range(1, n_rows):
        best = np.inf
        for k in range(gap.size):
            n, mean = since(sums, row, k)
            if gap[k] == 0.0 and n > 0.0:
                best = min(best, mean)
        for k in range(gap.size):
            n, mean = since(sums, row, k)
            if gap[k] == 0.0 and (n - 1.0) * (mean - best) * (mean - best) > threshold:
                gap[k] = mean - best
                floor[k] = mean - gap[k] / 4.0
                ceiling[k] = mean + gap[k] / 4.0
