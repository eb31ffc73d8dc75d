r"""Plays of each action in the current segment: where their mean may have changed, and how noisy they are.

The plays of an action are kept in an exponential histogram (`core.exponential_histograms`): sums over buckets of 1, 2,
4, ... plays, the latest in the smallest, at most three of a size. Older buckets can be discarded.

Evidence. With $n$ plays of mean $m$, and $s$ plays of mean $x$ after a border of buckets and $n - s$ of mean $y$ before
it, the evidence that the mean changed there is

$$ s\, h(|x - m|) + (n - s)\, h(|y - m|) , \qquad h(d) = (v + d) \ln(1 + d / v) - d , $$

the exponent in Bennett's inequality for losses in [0, 1] of variance $v$. It grows like $d^2 / 2v$ for small $d$, but
only like $d \ln d$ for large ones, so that a rare large loss is no change. Since $h(d) \le d^2 / 2v$, most borders
cannot have the largest evidence and need no logarithm.

Dispersion. $\phi_i$ is the variance of the losses of action $i$ relative to that of losses 0 and 1 with the same mean:

$$ \phi_i = \frac{A_i + \phi / 2}{B_i + 1/2} , \qquad \phi = \frac{\sum_i A_i + 1/2}{\sum_i B_i + 1/2} , $$

both in [1/50, 1]. $A_i$ sums half of the squared difference of successive losses, whose mean is the variance even if
the mean drifts; $B_i$ sums $m (1 - m)$, $m$ being the mean of the earlier plays and of half a loss of 1 and half a loss
of 0. So $v = \phi_i \max(m (1 - m), \frac{1}{4 (n + 1)})$.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from driftwise.core.exponential_histograms import merging
from driftwise.core.kernel import kernel
from driftwise.core.memory_fields import HUGE, between, generator, packed, scratch
from driftwise.core.types import Actions, Matrix, Vector, Words
from driftwise.learners.parts.alarm_log import alarm_log

__all__ = [
    "BUCKETS",
    "WINDOWS",
    "Memory",
    "discard_before",
    "dispersion",
    "learn_noise",
    "overall_dispersion",
    "recent",
    "record",
    "segment_contradiction",
    "strongest_change",
]

Buckets = npt.NDArray[np.float64]  # (n_actions, BUCKETS, 2)

WINDOWS = 4  # that are compared: of 1, 8, 64 plays, and all plays
_RESOLUTION = 3  # buckets of a size
BUCKETS = _RESOLUTION * 48 + 1  # enough for 2^48 plays, and one more before buckets are merged
_LEAST_DISPERSION = 0.02
_PRIOR = 0.5  # what a dispersion of 1, or that of all actions, counts for


class Memory(NamedTuple):
    """State of the learner between rounds."""

    plays: Annotated[Vector, between(0, "rounds", "actions")]  # since the start of the segment
    total: Annotated[Vector, between(0, "rounds", "actions")]  # their sum of losses
    buckets: Annotated[Buckets, packed("actions", BUCKETS, 2)]  # plays and sum of losses, oldest first
    n_buckets: Annotated[Actions, between(0, BUCKETS - 1, "actions")]
    differences: Annotated[Vector, between(0, "rounds", "actions")]  # A
    variances: Annotated[Vector, between(0, "rounds", "actions")]  # B
    errors: Annotated[Vector, between(0, HUGE, WINDOWS)]  # of the mean of each window as a prediction
    last_rounds: Annotated[Actions, between(0, "rounds", "actions")]  # rounds before the last play
    haste: Annotated[Vector, between(1, HUGE, "actions")]  # the evidence that the mean loss has fallen, as a factor
    delays: Annotated[Vector, between(0.5, 1.5, "actions")]  # random factors on the time to the next probe
    clock: Annotated[Actions, between(0, "rounds", 2)]  # rounds so far, and those before the segment
    alarms: Annotated[Actions, alarm_log()]  # the changes
    drift: Annotated[Vector, between(0, "rounds", 1)]  # how far the mean losses of their actions jumped, in all
    means: Annotated[Vector, scratch("actions")]  # in the window in use
    budgets: Annotated[Vector, scratch("actions")]  # divergence from the mean within which an index lies
    generator: Annotated[Words, generator()]


@kernel
def _size(buckets: Matrix, at: int) -> float:
    return float(buckets[at, 0])


@kernel
def _merge_pair(buckets: Matrix, at: int, n_buckets: int) -> None:
    buckets[at, 0] += buckets[at + 1, 0]
    buckets[at, 1] += buckets[at + 1, 1]
    for j in range(at + 1, n_buckets - 1):
        buckets[j, 0] = buckets[j + 1, 0]
        buckets[j, 1] = buckets[j + 1, 1]


_merge = merging("segment-plays", _size, _merge_pair)


@kernel
def record(memory: Memory, action: int, loss: float) -> None:
    """Add a play to the segment."""
    at = memory.n_buckets[action]
    memory.buckets[action, at, 0], memory.buckets[action, at, 1] = 1.0, loss
    memory.n_buckets[action] = _merge(memory.buckets[action], at + 1, _RESOLUTION)
    memory.plays[action] += 1.0
    memory.total[action] += loss


@kernel
def discard_before(memory: Memory, action: int, first: int) -> None:
    """Discard the buckets of an action before the bucket `first`."""
    plays, total, at = 0.0, 0.0, 0
    for j in range(first, memory.n_buckets[action]):
        memory.buckets[action, at, 0] = memory.buckets[action, j, 0]
        memory.buckets[action, at, 1] = memory.buckets[action, j, 1]
        plays += memory.buckets[action, at, 0]
        total += memory.buckets[action, at, 1]
        at += 1
    memory.n_buckets[action] = at
    memory.plays[action], memory.total[action] = plays, total


@kernel
def recent(memory: Memory, action: int, window: int) -> tuple[float, float]:
    """Return plays and sum of losses of the latest buckets: 1, 8 or 64 plays or slightly more, or all plays."""
    least = 8.0**window
    if window == WINDOWS - 1 or memory.plays[action] <= least:
        return memory.plays[action], memory.total[action]
    plays, total, at = 0.0, 0.0, memory.n_buckets[action]
    while plays < least:
        at -= 1
        plays += memory.buckets[action, at, 0]
        total += memory.buckets[action, at, 1]
    return plays, total


@kernel
def overall_dispersion(memory: Memory) -> float:
    """Return the dispersion of all losses, in (0, 1]."""
    differences, variances = _PRIOR, _PRIOR
    for i in range(memory.plays.size):
        differences += memory.differences[i]
        variances += memory.variances[i]
    return min(1.0, differences / variances)


@kernel
def dispersion(memory: Memory, action: int, overall: float) -> float:
    """Return the dispersion of the losses of an action."""
    ratio = (memory.differences[action] + _PRIOR * overall) / (memory.variances[action] + _PRIOR)
    return float(min(1.0, max(_LEAST_DISPERSION, ratio)))


@kernel
def learn_noise(memory: Memory, action: int, loss: float) -> float:
    """Update the dispersion with a loss that is not the first of the action; return the loss's variance."""
    step = loss - memory.buckets[action, memory.n_buckets[action] - 1, 1]  # the last bucket holds the last play
    m = (memory.total[action] + 0.5) / (memory.plays[action] + 1.0)
    memory.differences[action] += 0.5 * step * step
    memory.variances[action] += m * (1.0 - m)
    return float(dispersion(memory, action, overall_dispersion(memory)) * m * (1.0 - m))


@kernel
def _bennett(distance: float, variance: float) -> float:
    return float((variance + distance) * np.log1p(distance / variance) - distance)


@kernel
def strongest_change(memory: Memory, action: int) -> tuple[float, int, float]:
    """Return the largest evidence of a change, the first bucket after it, and the plays since a fall of the mean loss.

    The latter is 0 if the mean loss has risen.
    """
    n, total = memory.plays[action], memory.total[action]
    mean = total / n
    v = dispersion(memory, action, overall_dispersion(memory)) * max(mean * (1.0 - mean), 0.25 / (n + 1.0))
    evidence, first, fallen_for = 0.0, 0, 0.0
    after, sum_after = 0.0, 0.0
    for j in range(memory.n_buckets[action] - 1, 0, -1):
        after += memory.buckets[action, j, 0]
        sum_after += memory.buckets[action, j, 1]
        near = abs(sum_after / after - mean)
        far = abs((total - sum_after) / (n - after) - mean)
        if after * near * near + (n - after) * far * far <= 2.0 * v * evidence:
            continue
        here = after * _bennett(near, v) + (n - after) * _bennett(far, v)
        if here > evidence:
            evidence, first, fallen_for = here, j, after if sum_after < after * mean else 0.0
    return evidence, first, fallen_for


def segment_contradiction(memory: Memory) -> str:
    """Return the fault of the buckets, or of the sums over them, '' if there is none."""
    for buckets, n_buckets, plays, total in zip(
        memory.buckets, memory.n_buckets, memory.plays, memory.total, strict=True
    ):
        sizes, sums = buckets[:n_buckets].T
        known = [float(2**j) for j in range(48) for _ in range(int((sizes == 2.0**j).sum()))]
        if sizes[::-1].tolist() != known or (n_buckets and sizes[-1] != 1.0):
            return "`buckets` must have sizes that are powers of two, the smallest 1 and last"
        if max((known.count(size) for size in known), default=0) > _RESOLUTION:
            return f"`buckets` must have at most {_RESOLUTION} of a size"
        if plays != sizes.sum():
            return "`plays` must count the plays in the buckets"
        room = 1e-9 * (1.0 + plays)
        if not ((sums >= 0.0) & (sums <= sizes)).all() or not abs(total - sums.sum()) <= room or total > plays:
            return "`total` must be the sum of the losses in the buckets, each in [0, 1]"
    return ""
