r"""Discounted Thompson sampling: Thompson sampling on a past that fades.

With the losses $F_i$ and the spared losses $S_i$ of action $i$, all of them discounted by $\gamma$ a round, each round
draws $\theta_i \sim \mathrm{Beta}(F_i + 1, S_i + 1)$ and plays the least of them.

========  ==================  ========================================
symbol    name in the code    meaning
========  ==================  ========================================
$\gamma$  `discount`          what a play still counts one round later
========  ==================  ========================================

A loss between 0 and 1 is first rounded to one of the two at random. The authors prove no bound on the regret; the
tuned discount is that of discounted UCB.

Reference: V. Raj and S. Kalyani, "Taming non-stationary bandits: a Bayesian approach" (2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from driftwise.core.corners import SMALLEST, Corners, NoLearning
from driftwise.core.kernel import kernel
from driftwise.learners.bandits.thompson import no_level, sampled_mean, to_zero_or_one
from driftwise.learners.contract import Card
from driftwise.learners.parts.forgetting_index import DiscountedLearner
from driftwise.learners.parts.index_learner import IndexMemory, fade, index_learner

__all__ = ["DiscountedThompson"]


class Rates(NamedTuple):
    """The parameter, as the kernels read it."""

    discount: float


@kernel
def _keep(memory: IndexMemory, rates: Rates, action: int, loss: float) -> None:
    fade(memory, rates, action, to_zero_or_one(memory, loss))


@index_learner(
    "discounted-thompson",
    Card(
        title="Discounted Thompson sampling",
        in_words="Draw a mean for every action that a fading past makes plausible, and play the best of them.",
        knows="rounds and segments, through the discount",
        cost="O(K)",
        bound="none proved",
        reference="Raj, Kalyani (2017)",
    ),
    keep=_keep,
    level=no_level,
    score=sampled_mean,
    probability=np.nan,
)
@dataclass(frozen=True)
class DiscountedThompson(DiscountedLearner[Rates]):
    """Choose among actions whose means change now and then, at random.

    >>> learner = DiscountedThompson(discount=0.9)
    >>> learner.choose(learner.start(n_actions=1))
    (0, None)
    """

    discount: float = 0.995

    corners = Corners(discount=(NoLearning(SMALLEST, "only the last round counts"), 1.0))

    def rates(self, n_actions: int) -> Rates:
        """Return the parameter."""
        return Rates(self.discount)
