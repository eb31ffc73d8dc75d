r"""The index of BanditTracker: a lower confidence bound by the Bernoulli divergence, scaled by the dispersion.

With $n_i$ plays of mean $m_i$ in the window in use, and the dispersion $\phi_i$ (see `segment_plays`), the index is the
least $q$ with $n_i \, kl(m_i, q) \le 0.85 \, \phi_i \ln(a + 1)$, where $a$ counts the rounds of the segment.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from driftwise.core.divergence import least_mean
from driftwise.core.divergence_bounds import least_mean_exceeds, least_mean_roughly
from driftwise.core.kernel import kernel
from driftwise.learners.parts.index_pruning import Pruning, lowest_by_pruning
from driftwise.learners.parts.segment_plays import WINDOWS, Memory, dispersion, overall_dispersion, recent

__all__ = ["Rates", "lowest", "summarise", "window_in_use"]

_LEVEL_SCALE = 0.85  # on the logarithm in the index


class Rates(NamedTuple):
    """Placeholder: there are no parameters, and a kernel needs at least one number."""

    none: float = 0.0


@kernel
def window_in_use(memory: Memory) -> int:
    """Return the window with the smallest error; all plays unless another is clearly better."""
    best = WINDOWS - 1
    least = memory.errors[best] - np.log(memory.clock[0] + 2.0)
    for j in range(WINDOWS - 1):
        if memory.errors[j] < least:
            best, least = j, memory.errors[j]
    return best


@kernel
def summarise(memory: Memory) -> None:
    """Compute mean and budget of each action."""
    window, overall = window_in_use(memory), overall_dispersion(memory)
    level = _LEVEL_SCALE * np.log(memory.clock[0] - memory.clock[1] + 1.0)
    for i in range(memory.plays.size):
        plays, total = recent(memory, i, window)
        if plays > 0.0:
            memory.means[i] = total / plays
            memory.budgets[i] = dispersion(memory, i, overall) * level / plays


@kernel
def _index(memory: Memory, rates: Rates, action: int, level: float) -> float:  # noqa: ARG001
    return least_mean(memory.means[action], memory.budgets[action]) if memory.plays[action] > 0.0 else -np.inf


@kernel
def _estimate(memory: Memory, rates: Rates, action: int, level: float) -> float:  # noqa: ARG001
    return least_mean_roughly(memory.means[action], memory.budgets[action]) if memory.plays[action] > 0.0 else -np.inf


@kernel
def _exceeds(memory: Memory, rates: Rates, action: int, level: float, bound: float) -> bool:  # noqa: ARG001
    return memory.plays[action] > 0.0 and least_mean_exceeds(memory.means[action], memory.budgets[action], bound)


@kernel
def _no_count(memory: Memory, action: int) -> float:  # noqa: ARG001
    return 0.0


@kernel
def _no_level(count: float, rates: Rates) -> float:  # noqa: ARG001
    return 0.0


lowest = lowest_by_pruning(
    "bandit-tracker", Pruning(_estimate, _exceeds), COUNTED=_no_count, LEVEL=_no_level, SCORE=_index, CHANCE=1.0
)
