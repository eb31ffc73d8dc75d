r"""Running estimates of segments, drift and variance from the losses of all actions, in memory of fixed size.

The rounds are divided into at most 64 blocks of equal length, a power of two, and the mean losses of each full block
are kept. When all 64 places are taken, neighbouring blocks are merged in pairs, and the length doubles. The squared
differences of consecutive losses are summed for each action.

- Variance: half of the summed squared differences. Movements of the means add to it.
- Drift: the largest mean loss of the first block, plus the differences between the means of neighbouring blocks that
  are larger than noise, each the maximum over actions. A difference of action $k$ is larger than noise if it exceeds
  $\sqrt{8 (v_k / L) \ln(2 K n)}$, with $v_k$ its variance in a round, $L$ the length and $n$ the number of blocks:
  without changes, a normal difference has the variance $2 v_k / L$ and exceeds it with probability at most
  $2 / (2 K n)^2$, so that any of the $K n$ differences does with probability at most $1 / (2 K n)$. The same is
  computed with blocks of two, four, ... times the length, which show smaller changes; the largest drift counts.
- Segments: 1 plus the number of runs of such differences. A change within a block makes two neighbouring differences,
  so a run counts as one change; long blocks have a run of many changes, so the largest number counts.

The estimates are coarse: changes that are shorter than a block, or smaller than noise, are not seen.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from driftwise.core.kernel import generic_kernel
from driftwise.core.types import Matrix, Vector

__all__ = ["N_BLOCKS", "Estimates", "block_contradiction", "estimates", "observe"]

N_BLOCKS = 64
LENGTH, FULL, FILLED = 0, 1, 2  # places in the clock: rounds of a block, full blocks, rounds in the latest block


class Estimates(NamedTuple):
    """Estimates of the measures of the rounds so far."""

    segments: float
    drift: float
    variance: float


@generic_kernel
def observe(memory: Any, losses: Vector) -> None:
    """Add the losses of a round; the memory has the fields `previous`, `squares`, `sums`, `means` and `clock`."""
    clock = memory.clock
    for k in range(losses.size):
        if clock[FULL] + clock[FILLED] > 0:
            moved = losses[k] - memory.previous[k]
            memory.squares[k] += moved * moved
        memory.previous[k] = losses[k]
        memory.sums[k] += losses[k]
    clock[FILLED] += 1
    if clock[FILLED] < clock[LENGTH]:
        return
    for k in range(losses.size):
        memory.means[clock[FULL], k] = memory.sums[k] / clock[LENGTH]
        memory.sums[k] = 0.0
    clock[FULL] += 1
    clock[FILLED] = 0
    if clock[FULL] == N_BLOCKS:
        for j in range(N_BLOCKS // 2):
            for k in range(losses.size):
                memory.means[j, k] = 0.5 * (memory.means[2 * j, k] + memory.means[2 * j + 1, k])
        clock[FULL] = N_BLOCKS // 2
        clock[LENGTH] *= 2


def estimates(memory: Any) -> Estimates:
    """Return the estimates after the rounds so far."""
    length, full, filled = (int(word) for word in memory.clock)
    rounds = length * full + filled
    variance = float(memory.squares.sum()) / 2
    means = memory.means[:full]
    if full == 0:  # before round 1: the first blocks are single rounds
        return Estimates(1.0, 0.0, variance)
    per_round = memory.squares / (2 * max(1, rounds - 1))
    found = [_movements(means, per_round / length)]
    while len(means) >= 4:
        half = len(means) // 2
        means, length = means[: 2 * half].reshape(half, 2, -1).mean(axis=1), 2 * length
        found.append(_movements(means, per_round / length))
    segments, drifts = zip(*found, strict=True)
    return Estimates(max(segments), max(drifts), variance)


def _movements(means: Matrix, variances: Vector) -> tuple[float, float]:
    """Return the numbers of segments and of the drift, from the means of blocks and the variances of these means."""
    noise = np.sqrt(8 * variances * np.log(2 * means.size))
    moved = np.abs(np.diff(means, axis=0))
    sizes = np.where(moved > noise, moved, 0.0).max(axis=1, initial=0.0)
    starts = np.diff((sizes > 0).astype(np.int64), prepend=0) == 1
    return 1.0 + float(starts.sum()), float(means[0].max() + sizes.sum())


def block_contradiction(memory: Any, rounds: int) -> str:
    """Return a rule that the clock or the sums of a memory break after `rounds`, '' if they break none."""
    length, full, filled = (int(word) for word in memory.clock)
    expected = 1
    while rounds >= expected * N_BLOCKS:
        expected *= 2
    if (length, full, filled) != (expected, rounds // expected, rounds % expected):
        return f"`clock` must be {[expected, rounds // expected, rounds % expected]}"
    if not (memory.sums <= filled + 1e-9).all():
        return f"`sums` must be at most {filled}"
    return ""
