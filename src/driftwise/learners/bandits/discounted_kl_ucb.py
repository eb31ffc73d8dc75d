"""Discounted KL-UCB: the index of KL-UCB with the discount of discounted UCB."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from driftwise.core.corners import SMALLEST, TOO_WIDE, Corners, NoLearning
from driftwise.core.validation import require_number
from driftwise.learners.bandits.kl_ucb import kl_level, kl_pruning, kl_score
from driftwise.learners.parts.forgetting_index import DiscountedLearner
from driftwise.learners.parts.index_learner import fade, index_learner

__all__ = ["DiscountedKLUCB"]


class Rates(NamedTuple):
    """Parameters as the kernels take them."""

    loglog_scale: float
    discount: float


@index_learner("discounted-kl-ucb", keep=fade, level=kl_level, score=kl_score, pruning=kl_pruning)
@dataclass(frozen=True)
class DiscountedKLUCB(DiscountedLearner[Rates]):
    r"""Discounted KL-UCB (Besson, 2018): KL-UCB with exponentially discounted plays and losses.

    For means that change occasionally.

    Parameters
    ----------
    discount : float, default 0.995
        Factor on past plays and losses per round ($\gamma$), in (0, 1]. 1 keeps all of the past.
    loglog_scale : float, default 0.0
        Factor on $\ln \ln n$ in the confidence level ($c$), a finite number >= 0, as in KL-UCB.

    Notes
    -----
    With $N_i = \sum_{s \le t} \gamma^{t-s} 1[a_s = i]$, $X_i$ the losses of action $i$ discounted in the same way and
    $n = \sum_i N_i$, round $t + 1$ plays the action with the lowest index

    $$ \min \{ q \le X_i / N_i : N_i \, kl(X_i / N_i, q) \le \ln n + c \ln \ln n \} , $$

    where $kl$ is the divergence of Bernoulli distributions. Negative logarithms are replaced by 0. `tuned` sets the
    discount of discounted UCB.

    Regret: no bound known. The combination comes from practice.

    Must know: rounds and segments, through the discount.

    Time per round: O(K).

    References
    ----------
    L. Besson, "SMPyBandits" (2018).

    A. Garivier, E. Moulines, "On upper-confidence bound policies for switching bandit problems", ALT 2011.

    A. Garivier, O. Cappe, "The KL-UCB algorithm for bounded stochastic bandits and beyond", COLT 2011.

    Examples
    --------
    >>> learner = DiscountedKLUCB(discount=0.9)
    >>> learner.run(learner.start(n_actions=2), [[0.0, 1.0]] * 5)
    array([0, 1, 0, 0, 0])
    """

    discount: float = 0.995
    loglog_scale: float = 0.0

    corners = Corners(discount=(NoLearning(SMALLEST, "only the last round counts"), 1.0), loglog_scale=(0.0, TOO_WIDE))

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number(self, "loglog_scale", lambda x: 0 <= x < math.inf, "a finite number >= 0")

    def rates(self, n_actions: int) -> Rates:
        """Return the parameters."""
        return Rates(self.loglog_scale, self.discount)
