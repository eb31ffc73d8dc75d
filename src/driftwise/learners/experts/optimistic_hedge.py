r"""Optimistic Hedge.

Chiang et al. write the fixed rate as $x_{t+1} \propto x_t e^{-\eta \ell_t}$, $w_t \propto x_t e^{-\eta h_t}$. This file
keeps total losses, which do not underflow as these products do. The anytime rate is that of optimistic follow the
regularized leader.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple, Self

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import between, distribution, scratch
from driftwise.core.types import Vector, Words
from driftwise.learners.contract import HintedLearner, expert
from driftwise.learners.experts.hedge import HedgeLearner, Rates
from driftwise.learners.parts.exponential_weights import exponential_weights
from driftwise.theory import expected, pathwise_meta

__all__ = ["OptimisticHedge"]


class Memory(NamedTuple):
    """State of the learner between rounds."""

    weights: Annotated[Vector, distribution("actions")]  # the weights of the next round
    totals: Annotated[Vector, between(0, "rounds", "actions")]  # L, the total losses
    guess: Annotated[Vector, between(0, 1, "actions")]  # h, the guess of the coming losses
    deviation: Annotated[Vector, between(0, "rounds", 1)]  # the sum in the anytime rate
    ahead: Annotated[Vector, scratch("actions")]  # L + h


@kernel
def _hint(memory: Memory, rates: Rates, guess: Vector) -> None:
    for k in range(guess.size):
        memory.guess[k] = guess[k]
        memory.ahead[k] = memory.totals[k] + guess[k]
    rate = rates.fixed
    if rate == 0.0:
        rate = np.sqrt(rates.log_actions / (1.0 + memory.deviation[0]))
    exponential_weights(memory.ahead, rate, memory.weights)


@kernel
def _update(memory: Memory, rates: Rates, losses: Vector) -> None:
    farthest = 0.0
    for k in range(losses.size):
        farthest = max(farthest, abs(losses[k] - memory.guess[k]))
        memory.totals[k] += losses[k]
    memory.deviation[0] += farthest * farthest
    _hint(memory, rates, losses)


@expert("optimistic-hedge", update=_update, hint=_hint)
@dataclass(frozen=True)
class OptimisticHedge(HedgeLearner[Memory], HintedLearner[Memory, Rates]):
    r"""Optimistic Hedge (Chiang et al., 2012): exponential weights of the total losses and a guess of the coming ones.

    Competes with the best fixed action; the regret is small where losses repeat or `hint` gives good guesses.

    Parameters
    ----------
    learning_rate : float or None, default None
        How fast losses move the weights ($\eta$), a finite number > 0; None for the anytime rate.

    Notes
    -----
    With $L_{t-1}$ the total losses before round $t$ and the guess $h_t$, which is the hint or else $\ell_{t-1}$
    ($\ell_0 = 0$), round $t$ plays

    $$ w_{t,i} \propto e^{-\eta_t (L_{t-1,i} + h_{t,i})}, \qquad \eta_t = \eta \quad \text{or, anytime,} \quad
       \eta_t = \sqrt{\ln K \Big/ \Big(1 + \sum_{s<t} \|\ell_s - h_s\|_\infty^2\Big)} . $$

    Regret: sqrt(ln K sum |l_t - l_(t-1)|^2) against every fixed action. For every loss sequence, with
    $D = \sum_t \|\ell_t - h_t\|_\infty^2$, it is at most $\ln(K)/\eta + \eta D / 2$ with a fixed rate, and
    $2 \sqrt{(1 + D) \ln K}$ with the anytime rate. There is no bound where the best action changes.

    Must know: nothing (how much the losses vary, for the fixed rate).

    Time per round: O(K).

    References
    ----------
    C.-K. Chiang, T. Yang, C.-J. Lee, M. Mahdavi, C.-J. Lu, R. Jin, S. Zhu, "Online optimization with gradual
    variations", COLT 2012.

    A. Rakhlin, K. Sridharan, "Online learning with predictable sequences", COLT 2013 (its rate is the model of
    the anytime one).

    Examples
    --------
    >>> learner = OptimisticHedge(learning_rate=1.0)
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.880..., 0.119...])
    >>> learner.hint(state, [1.0, 0.0])  # a better guess of the coming losses
    >>> learner.predict(state)
    array([0.5, 0.5])
    """

    learning_rate: float | None = None

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Set the fixed rate that minimises the bound; where losses do not move or K = 1, the anytime rate."""
        deviation = expected.largest_deviation(measures)
        rate = math.sqrt(2 * math.log(measures.n_actions) / deviation) if deviation else 0.0
        return cls(learning_rate=rate or None)

    def static_bound(self, measures: Measures) -> float:
        """Return the bound against the best fixed action."""
        T, deviation = measures.n_rounds, expected.largest_deviation(measures)
        return min(T, pathwise_meta.optimistic_hedge(deviation, measures.n_actions, self.learning_rate))

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Return uniform weights, zero losses and a guess of zero losses."""
        uniform = np.full(n_actions, 1.0 / n_actions)
        return Memory(uniform, np.zeros(n_actions), np.zeros(n_actions), np.zeros(1), np.zeros(n_actions))
