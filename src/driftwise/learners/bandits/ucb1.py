"""UCB1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from driftwise.core.corners import TOO_NARROW, TOO_WIDE, Corners
from driftwise.core.kernel import generic_kernel
from driftwise.core.measures import Measures
from driftwise.core.validation import require_number
from driftwise.learners.parts.index_learner import IndexLearner, IndexMemory, add, index_learner, log_level

__all__ = ["UCB1", "Width", "mean_less_radius"]


class Width(NamedTuple):
    """Parameter as the kernels take it."""

    width: float  # xi


@generic_kernel
def mean_less_radius(memory: IndexMemory, rates: Any, action: int, level: float) -> float:
    r"""Return $\hat\mu - \sqrt{\xi \cdot level / n}$."""
    n: float = memory.plays[action]
    if n <= 0.0:
        return -np.inf
    return float(memory.total[action] / n - np.sqrt(rates.width * level / n))


@index_learner("ucb1", keep=add, level=log_level, score=mean_less_radius)
@dataclass(frozen=True)
class UCB1(IndexLearner[Width]):
    r"""UCB1 (Auer, Cesa-Bianchi and Fischer, 2002): plays the lowest confidence bound on the mean loss.

    For means that do not change.

    Parameters
    ----------
    log_scale : float, default 2.0
        Factor on the logarithm in the confidence radius ($\xi$), a finite number > 0. The theory uses 2.

    Notes
    -----
    With $n_i$ the plays of action $i$ so far and $\hat\mu_i$ the mean of their losses, round $t + 1$ plays

    $$ \arg\min_i \hat\mu_i - \sqrt{\frac{\xi \ln t}{n_i}} , $$

    after playing every action once.

    Regret: sqrt(K T ln T), or ln T over the gaps, for fixed means. With $\xi = 2$ the expected regret is at most
    $\sum_i 8 \ln T / \Delta_i + (1 + \pi^2/3) \sum_i \Delta_i$ over the actions with a gap $\Delta_i > 0$, and for any
    gaps at most $\sqrt{8 K T \ln T} + (1 + \pi^2/3) K$. There is no guarantee after a change.

    Must know: nothing.

    Time per round: O(K).

    References
    ----------
    P. Auer, N. Cesa-Bianchi, P. Fischer, "Finite-time analysis of the multiarmed bandit problem", Machine Learning 47
    (2002), Theorem 1.

    Examples
    --------
    >>> learner = UCB1()
    >>> learner.run(learner.start(n_actions=2), [[0.0, 1.0]] * 5)
    array([0, 1, 0, 0, 0])
    """

    log_scale: float = 2.0

    corners = Corners(log_scale=(TOO_NARROW, TOO_WIDE))

    def __post_init__(self) -> None:
        require_number(self, "log_scale", lambda x: 0 < x < math.inf, "a finite number > 0")

    def bound(self, measures: Measures) -> float | None:
        """Return the bound that holds for any gaps, or None if the means change or `log_scale` is not 2."""
        if measures.segments > 1 or self.log_scale != 2.0:
            return None
        K, T = measures.n_actions, measures.n_rounds
        if K == 1:
            return 0.0
        return min(T, math.sqrt(8 * K * T * math.log(T)) + (1 + math.pi**2 / 3) * K)

    def rates(self, n_actions: int) -> Width:
        """Return the factor on the logarithm."""
        return Width(self.log_scale)
