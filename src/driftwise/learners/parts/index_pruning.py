"""Choose the lowest index while computing few of them, where an index is expensive.

Two cheap kernels are needed. `estimate(memory, rates, action, level)` is close to the index; it only decides which
index is computed first. `exceeds(memory, rates, action, level, bound)` returns True only if the index, as `score`
computes it, is certainly above `bound`; it may return False in doubt.

An action whose index is above one that was computed cannot be the lowest, nor tie with it. So the choice is that of a
scan of all indices, ties included: of equal indices that of the action played least, then of the first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from driftwise.core.kernel import clone, unbound

__all__ = ["Pruning", "lowest_by_pruning"]

Kernel = Callable[..., Any]
COUNTED: Kernel = unbound
LEVEL: Kernel = unbound
SCORE: Kernel = unbound
ESTIMATE: Kernel = unbound
EXCEEDS: Kernel = unbound
LIKELY: Kernel = unbound
CHANCE = 1.0  # the probability of the choice; `clone` binds it


class Pruning(NamedTuple):
    """The cheap kernels of an index."""

    estimate: Kernel
    exceeds: Kernel


def _likely(memory: Any, rates: Any) -> int:
    """Return the action with the lowest estimate, the first if no estimate is finite."""
    likely, lowest, last, level = 0, np.inf, -1.0, 0.0
    for i in range(memory.plays.size):
        count = COUNTED(memory, i)
        if count != last:  # mostly the same for all actions, and a logarithm is slow
            last, level = count, LEVEL(count, rates)
        estimate = ESTIMATE(memory, rates, i, level)
        if estimate < lowest:
            likely, lowest = i, estimate
    return likely


def _choose(memory: Any, rates: Any) -> tuple[int, float]:
    if memory.plays.size == 1:
        return 0, CHANCE
    likely = LIKELY(memory, rates)
    best, least, last, level = likely, np.inf, -1.0, 0.0
    for turn in range(-1, memory.plays.size):  # first the likely one, in the same loop: the index is inlined, and long
        i = likely if turn < 0 else turn
        count = COUNTED(memory, i)
        if count != last:
            last, level = count, LEVEL(count, rates)
        if turn >= 0 and (i == likely or EXCEEDS(memory, rates, i, level, least)):
            continue
        score = SCORE(memory, rates, i, level)
        if score > least:
            continue
        plays, fewest = memory.plays[i], memory.plays[best]
        if score < least or plays < fewest or (plays == fewest and i < best):
            best, least = i, score
    return best, CHANCE


def lowest_by_pruning(name: str, pruning: Pruning, **parts: Any) -> Kernel:
    """Return the kernel that chooses the lowest index; `parts` are `COUNTED`, `LEVEL`, `SCORE` and `CHANCE`."""
    likely = clone(_likely, name, **parts, ESTIMATE=pruning.estimate)
    return clone(_choose, name, **parts, EXCEEDS=pruning.exceeds, LIKELY=likely)
