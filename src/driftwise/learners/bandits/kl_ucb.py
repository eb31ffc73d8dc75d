"""KL-UCB, and the kernels of its index, which the other learners with KL indices use."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from driftwise.core.corners import TOO_WIDE, Corners
from driftwise.core.divergence import least_mean
from driftwise.core.divergence_bounds import least_mean_exceeds, least_mean_roughly
from driftwise.core.kernel import generic_kernel
from driftwise.core.validation import require_number
from driftwise.learners.parts.index_learner import IndexLearner, IndexMemory, add, index_learner
from driftwise.learners.parts.index_pruning import Pruning

__all__ = ["KLUCB", "Extra", "kl_level", "kl_pruning", "kl_score"]


class Extra(NamedTuple):
    """Parameter as the kernels take it."""

    loglog_scale: float


@generic_kernel
def kl_level(count: float, rates: Any) -> float:
    r"""Return $\ln n + c \ln \ln n$, with negative logarithms replaced by 0."""
    level = np.log(count) if count > 1.0 else 0.0
    return float(level + rates.loglog_scale * np.log(level) if level > 1.0 else level)


@generic_kernel
def kl_score(memory: IndexMemory, rates: Any, action: int, level: float) -> float:  # noqa: ARG001
    """Return the lower confidence bound on the mean loss."""
    n: float = memory.plays[action]
    if n <= 0.0:
        return -np.inf
    return least_mean(memory.total[action] / n, level / n)


@generic_kernel
def _estimate(memory: IndexMemory, rates: Any, action: int, level: float) -> float:  # noqa: ARG001
    n: float = memory.plays[action]
    if n <= 0.0:
        return -np.inf
    return least_mean_roughly(memory.total[action] / n, level / n)


@generic_kernel
def _exceeds(memory: IndexMemory, rates: Any, action: int, level: float, bound: float) -> bool:  # noqa: ARG001
    n: float = memory.plays[action]
    return n > 0.0 and least_mean_exceeds(memory.total[action] / n, level / n, bound)


kl_pruning = Pruning(_estimate, _exceeds)


@index_learner("kl-ucb", keep=add, level=kl_level, score=kl_score, pruning=kl_pruning)
@dataclass(frozen=True)
class KLUCB(IndexLearner[Extra]):
    r"""KL-UCB (Garivier and Cappe, 2011): confidence bounds by the Bernoulli divergence, valid on [0, 1].

    For means that do not change.

    Parameters
    ----------
    loglog_scale : float, default 0.0
        Factor on $\ln \ln t$ in the confidence level ($c$), a finite number >= 0. The theory uses 3, practice 0.

    Notes
    -----
    With $n_i$ plays of action $i$ and $\hat\mu_i$ the mean of their losses, round $t + 1$ plays the action with the
    lowest index

    $$ \min \{ q \le \hat\mu_i : n_i \, kl(\hat\mu_i, q) \le \ln t + c \ln \ln t \} , $$

    where $kl$ is the divergence of Bernoulli distributions, after playing every action once. $\ln \ln t$ is replaced by
    0 where it is negative.

    Regret: the least possible for Bernoulli losses with fixed means. It is proved with $c = 3$: to first order it is
    $\ln T \sum_i \Delta_i / kl(\mu_i, \mu^*)$. There is no guarantee after a change.

    Must know: nothing.

    Time per round: O(K).

    References
    ----------
    A. Garivier, O. Cappe, "The KL-UCB algorithm for bounded stochastic bandits and beyond", COLT 2011.

    Examples
    --------
    >>> learner = KLUCB()
    >>> learner.run(learner.start(n_actions=2), [[0.0, 1.0]] * 5)
    array([0, 1, 0, 0, 0])
    """

    loglog_scale: float = 0.0

    corners = Corners(loglog_scale=(0.0, TOO_WIDE))

    def __post_init__(self) -> None:
        require_number(self, "loglog_scale", lambda x: 0 <= x < math.inf, "a finite number >= 0")

    def rates(self, n_actions: int) -> Extra:
        """Return the parameter."""
        return Extra(self.loglog_scale)
