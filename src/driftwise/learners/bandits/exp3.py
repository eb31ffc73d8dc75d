r"""Exp3: exponential weights of estimated gains, mixed with the uniform distribution.

Round $t$ draws $a_t$ from $p_t$ and estimates the gains $1 - \ell_t$ by importance weighting, with $\hat G_t$ the sum
of the estimates before round $t$:

$$ p_{t,i} = (1 - \gamma) \frac{e^{\gamma \hat G_{t,i} / K}}{\sum_j e^{\gamma \hat G_{t,j} / K}} + \frac{\gamma}{K},
   \qquad \hat g_{t,i} = \frac{1 - \ell_{t,i}}{p_{t,i}} 1[a_t = i] . $$

========  ==================  ==========================================================
symbol    name in the code    meaning
========  ==================  ==========================================================
$\gamma$  `exploration_rate`            share of uniform play, and (over $K$) the learning rate
========  ==================  ==========================================================

Against every fixed action: $(e-1) \gamma T + K \ln K / \gamma$, least at $\gamma = \sqrt{K \ln K / ((e-1) T)}$. It
never forgets, so nothing is promised after a change.

Reference: P. Auer, N. Cesa-Bianchi, Y. Freund and R. Schapire, "The nonstochastic multiarmed bandit problem", SIAM
J. Comput. 32 (2002), Section 3, Theorem 3.1. This file sums the estimates instead of multiplying weights, which would
vanish for good.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple, Self

import numpy as np

from driftwise.core.corners import ONLY_EXPLORES, SMALLEST, Corners
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import HUGE, between, chances, generator
from driftwise.core.types import Vector, Words
from driftwise.core.validation import require_number
from driftwise.learners.contract import BanditLearner, Card, bandit
from driftwise.learners.parts.exponential_weights import exponential_weights, share
from driftwise.learners.parts.sampling import chance, draw
from driftwise.theory import adversarial

__all__ = ["Exp3", "learn"]


class Memory(NamedTuple):
    """What the learner carries from round to round."""

    probabilities: Annotated[Vector, chances("actions")]  # of the next play
    totals: Annotated[Vector, between(-HUGE, 0, "actions")]  # -G, so that less is better, as for losses
    generator: Annotated[Words, generator()]


class Rates(NamedTuple):
    """The parameters, as the kernels read them."""

    exploration_rate: float


@kernel
def learn(
    totals: Vector, probabilities: Vector, exploration_rate: float, action: int, loss: float, probability: float
) -> None:
    """Add the estimated gain of a round and write the next probabilities."""
    even = exploration_rate / totals.size
    totals[action] -= (1.0 - loss) / chance(probability, probabilities[action], even)
    exponential_weights(totals, even, probabilities)
    share(probabilities, exploration_rate)


@kernel
def _choose(memory: Memory, rates: Rates) -> tuple[int, float]:  # noqa: ARG001
    return draw(memory.probabilities, memory.generator)


@kernel
def _update(memory: Memory, rates: Rates, action: int, loss: float, probability: float) -> None:
    learn(memory.totals, memory.probabilities, rates.exploration_rate, action, loss, probability)


@bandit(
    "exp3",
    Card(
        title="Exp3",
        in_words="Weigh actions by the exponential of their estimated gains, and play uniformly now and then.",
        knows="rounds, through the exploration_rate",
        cost="O(K)",
        bound="sqrt(T K ln K) against every fixed action",
        reference="Auer, Cesa-Bianchi, Freund, Schapire (2002), Theorem 3.1",
    ),
    choose=_choose,
    update=_update,
)
@dataclass(frozen=True)
class Exp3(BanditLearner[Memory, Rates]):
    """Follow the best fixed action, whoever makes the losses.

    >>> learner = Exp3(exploration_rate=0.5)
    >>> state = learner.start(n_actions=2, seed=1)
    >>> learner.choose(state)
    (1, 0.5)
    >>> learner.update(state, action=1, loss=0.0, probability=0.5)
    >>> state.memory.probabilities
    array([0.438..., 0.561...])
    """

    exploration_rate: float = 0.05

    corners = Corners(exploration_rate=(SMALLEST, ONLY_EXPLORES))

    def __post_init__(self) -> None:
        require_number(self, "exploration_rate", lambda x: 0 < x <= 1, "in (0, 1]")

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Take the exploration_rate that minimises the bound for the number of rounds."""
        return cls(exploration_rate=adversarial.exp3_exploration_rate(measures.n_actions, measures.n_rounds))

    def bound(self, measures: Measures) -> float | None:
        """Return the static bound, where the best action never changes."""
        return adversarial.exp3(measures, self.exploration_rate)

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Start uniform."""
        return Memory(np.full(n_actions, 1.0 / n_actions), np.zeros(n_actions), generator)

    def rates(self, n_actions: int) -> Rates:
        """Return the exploration_rate."""
        return Rates(self.exploration_rate)
