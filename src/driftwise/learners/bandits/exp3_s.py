"""Exp3.S.

This file scales the weights to the sum 1 after every round.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple, Self

import numpy as np

from driftwise.core.corners import ONLY_EXPLORES, SMALLEST, Corners
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import chances, distribution, generator
from driftwise.core.types import Vector, Words
from driftwise.core.validation import Domains, interval
from driftwise.core.vectors import assign
from driftwise.learners.base import BanditLearner, Beliefs, State, bandit
from driftwise.learners.base.beliefs import faded_rounds
from driftwise.learners.shared.distributions import chance, draw_action, share
from driftwise.theory import adversarial, vacuous


class Memory(NamedTuple):
    """State of the learner between rounds."""

    probabilities: Annotated[Vector, chances("actions")]  # of the next action
    weights: Annotated[Vector, distribution("actions")]  # w / W
    generator: Annotated[Words, generator()]


class Rates(NamedTuple):
    """Parameters as the kernels take them."""

    exploration_rate: float
    shared: float  # e alpha


@kernel
def _update(memory: Memory, rates: Rates, action: int, loss: float, probability: float) -> None:
    weights, probabilities = memory.weights, memory.probabilities
    rate = rates.exploration_rate / weights.size  # the learning rate, and the least probability
    gain = (1.0 - loss) / chance(probability, probabilities[action], rate)
    weights[action] *= np.exp(rate * gain)  # at most e
    added = rates.shared / weights.size
    mass = 0.0
    for k in range(weights.size):
        weights[k] += added
        mass += weights[k]
    for k in range(weights.size):
        weights[k] /= mass
    assign(probabilities, weights)
    share(probabilities, rates.exploration_rate)


@bandit("exp3-s", choose=draw_action, update=_update)
@dataclass(frozen=True)
class Exp3S(BanditLearner[Memory, Rates]):
    r"""Exp3.S (Auer et al., 2002): Exp3 that adds a share of uniform weight after every round.

    Tracks the best action through switches, also for adversarial losses.

    Parameters
    ----------
    exploration_rate : float, default 0.1
        Share of uniform exploration, and $K$ times the learning rate ($\gamma$), in (0, 1].
    switch_rate : float, default 0.001
        Weight added each round, as a share of $e$ times all weights ($\alpha$), in (0, 1].

    Notes
    -----
    Round $t$ draws $a_t$ from $p_t$ and estimates the gains as Exp3 does. Then every weight gets a share of the sum of
    the weights:

    $$ p_{t,i} = (1 - \gamma) \frac{w_{t,i}}{W_t} + \frac{\gamma}{K}, \qquad
       w_{t+1,i} = w_{t,i}\, e^{\gamma \hat g_{t,i} / K} + \frac{e \alpha}{K} W_t, \qquad
       \hat g_{t,i} = \frac{1 - \ell_{t,i}}{p_{t,i}} 1[a_t = i], \quad W_t = \sum_j w_{t,j} . $$

    Regret: $\sqrt{K T \Gamma \ln(K T)}$. Against every sequence of actions with $S$ segments it is at most $K (S
    \ln(K/\alpha) + e \alpha T) / \gamma + (e-1) \gamma T$; with $\alpha = 1/T$ and the best $\gamma$ for $S = \Gamma$
    that is $2 \sqrt{e-1} \sqrt{K T (\Gamma \ln(KT) + e)}$.

    Must know: rounds and segments, through its two rates.

    Time per round: O(K).

    References
    ----------
    P. Auer, N. Cesa-Bianchi, Y. Freund, R. Schapire, "The nonstochastic multiarmed bandit problem", SIAM J. Comput. 32
    (2002), Section 8, Theorem 8.1 and Corollary 8.3.

    Examples
    --------
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
    _domains = Domains(exploration_rate=interval("(0, 1]"), switch_rate=interval("(0, 1]"))

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Set both rates by Corollary 8.3 for the number of rounds and segments."""
        return cls(exploration_rate=adversarial.exp3_s_exploration_rate(measures), switch_rate=1 / measures.n_rounds)

    def tuning_caveat(self, measures: Measures) -> str:
        """Return a reason where it explores in half of the rounds or more."""
        return vacuous.exploring(measures, self.exploration_rate)

    def bound(self, measures: Measures) -> float:
        """Return the bound of Theorem 8.1 for these parameters and the segments of the means."""
        return adversarial.exp3_s(measures, self.exploration_rate, self.switch_rate)

    def beliefs(self, state: State[Memory, Rates]) -> Beliefs:
        r"""Return the effective memory of a share $e \alpha / (1 + e \alpha)$ of the weights that becomes uniform."""
        beliefs, shared = super().beliefs(state), state.rates.shared
        return replace(beliefs, memory=faded_rounds(shared / (1.0 + shared), state.rounds))

    def rates(self, n_actions: int) -> Rates:
        """Return the exploration rate, and the share of all weights that is added."""
        return Rates(self.exploration_rate, math.e * self.switch_rate)
