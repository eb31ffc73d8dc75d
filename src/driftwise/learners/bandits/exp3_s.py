r"""Exp3.S: Exp3 that never quite gives up on anyone.

Round $t$ draws $a_t$ from $p_t$ and estimates the gains as Exp3 does; every weight then gets a share of all the weights
before the round:

$$ p_{t,i} = (1 - \gamma) \frac{w_{t,i}}{W_t} + \frac{\gamma}{K}, \qquad
   w_{t+1,i} = w_{t,i}\, e^{\gamma \hat g_{t,i} / K} + \frac{e \alpha}{K} W_t, \qquad
   \hat g_{t,i} = \frac{1 - \ell_{t,i}}{p_{t,i}} 1[a_t = i], \quad W_t = \sum_j w_{t,j} . $$

========  ==================  ==========================================================
symbol    name in the code    meaning
========  ==================  ==========================================================
$\gamma$  `exploration_rate`            share of uniform play, and (over $K$) the learning rate
$\alpha$  `switch_rate`           what is shared out each round, over $e$ times all weights
========  ==================  ==========================================================

Against every sequence of actions with $S$ segments: $K (S \ln(K/\alpha) + e \alpha T) / \gamma + (e-1) \gamma T$; with
$\alpha = 1/T$ and the $\gamma$ for $S = \Gamma$ that is $2 \sqrt{e-1} \sqrt{K T (\Gamma \ln(KT) + e)}$.

Reference: P. Auer, N. Cesa-Bianchi, Y. Freund and R. Schapire, "The nonstochastic multiarmed bandit problem", SIAM
J. Comput. 32 (2002), Section 8, Theorem 8.1 and Corollary 8.3. This file scales the weights to $W_t = 1$.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple, Self

import numpy as np

from driftwise.core.corners import ONLY_EXPLORES, SMALLEST, Corners
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import chances, distribution, generator
from driftwise.core.types import Vector, Words
from driftwise.core.validation import require_number
from driftwise.core.vectors import assign
from driftwise.learners.contract import BanditLearner, Card, bandit
from driftwise.learners.parts.exponential_weights import share
from driftwise.learners.parts.sampling import chance, draw
from driftwise.theory import adversarial, vacuous

__all__ = ["Exp3S"]


class Memory(NamedTuple):
    """What the learner carries from round to round."""

    probabilities: Annotated[Vector, chances("actions")]  # of the next play
    weights: Annotated[Vector, distribution("actions")]  # w / W
    generator: Annotated[Words, generator()]


class Rates(NamedTuple):
    """The parameters, as the kernels read them."""

    exploration_rate: float
    shared: float  # e alpha


@kernel
def _choose(memory: Memory, rates: Rates) -> tuple[int, float]:  # noqa: ARG001
    return draw(memory.probabilities, memory.generator)


@kernel
def _update(memory: Memory, rates: Rates, action: int, loss: float, probability: float) -> None:
    weights, probabilities = memory.weights, memory.probabilities
    even = rates.exploration_rate / weights.size
    gain = (1.0 - loss) / chance(probability, probabilities[action], even)
    weights[action] *= np.exp(even * gain)  # at most e
    each = rates.shared / weights.size
    mass = 0.0
    for k in range(weights.size):
        weights[k] += each
        mass += weights[k]
    for k in range(weights.size):
        weights[k] /= mass
    assign(probabilities, weights)
    share(probabilities, rates.exploration_rate)


@bandit(
    "exp3-s",
    Card(
        title="Exp3.S",
        in_words="Exp3 that shares out a little of all weights after every round, so that it can change its mind.",
        knows="rounds and segments, through the exploration_rate and the sharing",
        cost="O(K)",
        bound="sqrt(K T Gamma ln(K T))",
        reference="Auer, Cesa-Bianchi, Freund, Schapire (2002), Theorem 8.1",
    ),
    choose=_choose,
    update=_update,
)
@dataclass(frozen=True)
class Exp3S(BanditLearner[Memory, Rates]):
    """Track the best action through a sequence of switches, whoever makes the losses.

    >>> learner = Exp3S(exploration_rate=0.5, switch_rate=0.1)
    >>> state = learner.start(n_actions=2, seed=1)
    >>> learner.choose(state)
    (1, 0.5)
    >>> learner.update(state, action=1, loss=0.0, probability=0.5)
    >>> state.memory.probabilities
    array([0.449..., 0.550...])
    """

    exploration_rate: float = 0.1
    switch_rate: float = 0.001

    corners = Corners(exploration_rate=(SMALLEST, ONLY_EXPLORES), switch_rate=(SMALLEST, 1.0))

    def __post_init__(self) -> None:
        require_number(self, "exploration_rate", lambda x: 0 < x <= 1, "in (0, 1]")
        require_number(self, "switch_rate", lambda x: 0 < x <= 1, "in (0, 1]")

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Take the parameters of Corollary 8.3 for the number of rounds and segments."""
        return cls(exploration_rate=adversarial.exp3_s_exploration_rate(measures), switch_rate=1 / measures.n_rounds)

    def tuning_caveat(self, measures: Measures) -> str:
        """Return a reason where half of its play or more is uniform."""
        return vacuous.exploring(measures, self.exploration_rate)

    def bound(self, measures: Measures) -> float:
        """Return Theorem 8.1's bound for these parameters, against as many segments as the means have."""
        return adversarial.exp3_s(measures, self.exploration_rate, self.switch_rate)

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Start uniform."""
        uniform = np.full(n_actions, 1.0 / n_actions)
        return Memory(uniform, uniform.copy(), generator)

    def rates(self, n_actions: int) -> Rates:
        """Return the exploration_rate, and the sharing in the weights' own measure."""
        return Rates(self.exploration_rate, math.e * self.switch_rate)
