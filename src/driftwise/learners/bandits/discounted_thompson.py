"""Discounted Thompson sampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from driftwise.core.corners import SMALLEST, Corners, NoLearning
from driftwise.core.kernel import kernel
from driftwise.learners.bandits.thompson import no_level, sampled_mean, to_zero_or_one
from driftwise.learners.parts.forgetting_index import DiscountedLearner
from driftwise.learners.parts.index_learner import IndexMemory, fade, index_learner

__all__ = ["DiscountedThompson"]


class Rates(NamedTuple):
    """Parameter as the kernels take it."""

    discount: float


@kernel
def _keep(memory: IndexMemory, rates: Rates, action: int, loss: float) -> None:
    fade(memory, rates, action, to_zero_or_one(memory, loss))


@index_learner("discounted-thompson", keep=_keep, level=no_level, score=sampled_mean, probability=np.nan)
@dataclass(frozen=True)
class DiscountedThompson(DiscountedLearner[Rates]):
    r"""Discounted Thompson sampling (Raj and Kalyani, 2017): Thompson sampling on discounted losses.

    For means that change occasionally.

    Parameters
    ----------
    discount : float, default 0.995
        Factor on past plays and losses per round ($\gamma$), in (0, 1]. 1 keeps all of the past.

    Notes
    -----
    Let $F_i$ be the sum of the losses of action $i$, each rounded to 0 or 1 at random with its mean kept, and $S_i$ the
    plays of action $i$ less $F_i$, both discounted by $\gamma$ per round. Each round draws

    $$ \theta_i \sim \mathrm{Beta}(F_i + 1, S_i + 1) $$

    and plays $\arg\min_i \theta_i$. `tuned` sets the discount of discounted UCB.

    Regret: no bound proved for this form, with Beta posteriors. With Gaussian ones it is $\sqrt{\Gamma T}$ up to
    logarithms (H. Qi, Y. Wang, L. Zhu, "Discounted Thompson sampling for non-stationary bandit problems", 2023).

    Must know: rounds and segments, through the discount.

    Time per round: O(K).

    References
    ----------
    V. Raj, S. Kalyani, "Taming non-stationary bandits: a Bayesian approach" (2017).

    Examples
    --------
    >>> learner = DiscountedThompson(discount=0.9)
    >>> learner.choose(learner.start(n_actions=1))
    (0, None)
    """

    discount: float = 0.995

    corners = Corners(discount=(NoLearning(SMALLEST, "only the last round counts"), 1.0))

    def rates(self, n_actions: int) -> Rates:
        """Return the parameter."""
        return Rates(self.discount)
