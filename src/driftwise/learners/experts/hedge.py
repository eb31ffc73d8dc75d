r"""Hedge, and its optimistic form.

Chiang et al. write the fixed rate of the optimistic form as $x_{t+1} \propto x_t e^{-\eta \ell_t}$,
$w_t \propto x_t e^{-\eta h_t}$. This file keeps total losses, which do not underflow as these products do. The anytime
rate is that of optimistic follow the regularized leader.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple, Self

import numpy as np

from driftwise.core.corners import LARGEST, TOO_SLOW, Corners
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import HUGE, between, distribution, exactly, scratch
from driftwise.core.types import Vector
from driftwise.core.validation import POSITIVE, Domains, optional
from driftwise.learners.base import ExpertLearner, HintedLearner, expert
from driftwise.learners.base.learner import M
from driftwise.learners.shared.distributions import exponential_weights
from driftwise.theory import expected, pathwise_meta


class Memory(NamedTuple):
    """State of the learner between rounds."""

    weights: Annotated[Vector, distribution("actions")]  # the weights of the next round
    totals: Annotated[Vector, between(0, HUGE, "actions")]  # L, the total losses; a grid learner adds a prior
    rounds: Annotated[Vector, exactly("rounds", 1)]


class Rates(NamedTuple):
    """Parameters passed to the kernel."""

    fixed: float  # eta; 0 for the anytime rate
    log_actions: float


@kernel
def _update(memory: Memory, rates: Rates, losses: Vector) -> None:
    for k in range(losses.size):
        memory.totals[k] += losses[k]
    memory.rounds[0] += 1.0
    rate = rates.fixed
    if rate == 0.0:
        rate = np.sqrt(8.0 * rates.log_actions / (memory.rounds[0] + 1.0))
    exponential_weights(memory.totals, rate, memory.weights)


@dataclass(frozen=True)
class HedgeLearner(ExpertLearner[M, Rates]):
    """The learning rate of Hedge and its optimistic form."""

    learning_rate: float | None = None

    corners = Corners(learning_rate=(TOO_SLOW, LARGEST, None))
    _domains = Domains(learning_rate=optional(POSITIVE))

    def rates(self, n_actions: int) -> Rates:
        """Return the fixed rate, 0 for the anytime rate, and ln K."""
        return Rates(fixed=self.learning_rate or 0.0, log_actions=math.log(n_actions))


@expert("hedge", update=_update)
@dataclass(frozen=True)
class Hedge(HedgeLearner[Memory]):
    r"""Hedge (Freund and Schapire, 1997): exponential weights of the total losses.

    Competes with the best fixed action.

    Parameters
    ----------
    learning_rate : float or None, default None
        How fast losses move the weights ($\eta$), a finite number > 0; None for the anytime rate.

    Notes
    -----
    With $L_{t-1}$ the total losses before round $t$, round $t$ plays

    $$ w_{t,i} \propto e^{-\eta_t L_{t-1,i}}, \qquad \eta_t = \eta \quad \text{or, anytime,} \quad
       \eta_t = \sqrt{8 \ln K / t} . $$

    Regret: $\sqrt{T \ln K}$ against every fixed action. For every loss sequence it is at most $\ln(K)/\eta + \eta T/8$
    with a fixed rate, and $2 \sqrt{(T/2) \ln K} + \sqrt{\ln(K)/8}$ with the anytime rate. There is no bound where the
    best action changes.

    Must know: nothing (the number of rounds, for the fixed rate).

    Time per round: O(K).

    References
    ----------
    Y. Freund, R. Schapire, "A decision-theoretic generalization of on-line learning and an application to boosting",
    JCSS 55 (1997).

    N. Cesa-Bianchi, G. Lugosi, "Prediction, Learning, and Games", Cambridge University Press (2006), Theorem 2.3 (the
    anytime rate).

    Examples
    --------
    >>> learner = Hedge(learning_rate=1.0)
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.731..., 0.268...])
    """

    learning_rate: float | None = None

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Set the fixed rate that minimises the bound for the number of rounds; with one action, the anytime rate."""
        rate = math.sqrt(8 * math.log(measures.n_actions) / measures.n_rounds)
        return cls(learning_rate=rate or None)

    def static_bound(self, measures: Measures) -> float:
        """Return the bound against the best fixed action."""
        T = measures.n_rounds
        return min(T, pathwise_meta.hedge(T, measures.n_actions, self.learning_rate))


class GuessMemory(NamedTuple):
    """State of the learner between rounds."""

    weights: Annotated[Vector, distribution("actions")]  # the weights of the next round
    totals: Annotated[Vector, between(0, "rounds", "actions")]  # L, the total losses
    guess: Annotated[Vector, between(0, 1, "actions")]  # h, the guess of the coming losses
    deviation: Annotated[Vector, between(0, "rounds", 1)]  # the sum in the anytime rate
    ahead: Annotated[Vector, scratch("actions")]  # L + h


@kernel
def _hint(memory: GuessMemory, rates: Rates, guess: Vector) -> None:
    for k in range(guess.size):
        memory.guess[k] = guess[k]
        memory.ahead[k] = memory.totals[k] + guess[k]
    rate = rates.fixed
    if rate == 0.0:
        rate = np.sqrt(rates.log_actions / (1.0 + memory.deviation[0]))
    exponential_weights(memory.ahead, rate, memory.weights)


@kernel
def _update_optimistic(memory: GuessMemory, rates: Rates, losses: Vector) -> None:
    farthest = 0.0
    for k in range(losses.size):
        farthest = max(farthest, abs(losses[k] - memory.guess[k]))
        memory.totals[k] += losses[k]
    memory.deviation[0] += farthest * farthest
    _hint(memory, rates, losses)


@expert("optimistic-hedge", update=_update_optimistic, hint=_hint)
@dataclass(frozen=True)
class OptimisticHedge(HedgeLearner[GuessMemory], HintedLearner[GuessMemory, Rates]):
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

    Regret: $\sqrt{\ln K \sum \lVert \ell_t - \ell_{t-1} \rVert^2}$ against every fixed action. For every loss sequence,
    with $D = \sum_t \|\ell_t - h_t\|_\infty^2$, it is at most $\ln(K)/\eta + \eta D / 2$ with a fixed rate, and $2
    \sqrt{(1 + D) \ln K}$ with the anytime rate. There is no bound where the best action changes.

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
