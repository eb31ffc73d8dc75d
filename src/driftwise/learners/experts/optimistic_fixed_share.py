r"""Optimistic Fixed Share.

This is the multiplicative variant that the remark after Theorem 3.2 (dev) of Wei, Hong and Lu (2016) mentions: a better
dependence on $K$ for a factor $\ln T$. The step with the guess is that of Chiang et al., the sharing that of Fixed
Share. Weights are kept as logarithms (see `fixed_share_weights`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple, Self

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import between, distribution, scratch
from driftwise.core.types import Vector, Words
from driftwise.learners.contract import HintedLearner, expert
from driftwise.learners.parts.fixed_share_weights import FixedShareLearner, Rates, absorb, look_ahead
from driftwise.theory import expected, fixed_share_bounds

__all__ = ["OptimisticFixedShare"]


class Memory(NamedTuple):
    """State of the learner between rounds."""

    weights: Annotated[Vector, distribution("actions")]  # x-hat, the weights of the next round
    totals: Annotated[Vector, between(0, "most_total", "actions")]  # -ln(x); without sharing, the total losses
    ahead: Annotated[Vector, scratch("actions")]  # the totals plus the guess


@kernel
def _hint(memory: Memory, rates: Rates, guess: Vector) -> None:
    look_ahead(memory.totals, rates, guess, memory.ahead, memory.weights)


@kernel
def _update(memory: Memory, rates: Rates, losses: Vector) -> None:
    absorb(memory.totals, rates, losses, memory.weights)
    _hint(memory, rates, losses)


@expert("optimistic-fixed-share", update=_update, hint=_hint)
@dataclass(frozen=True)
class OptimisticFixedShare(FixedShareLearner[Memory], HintedLearner[Memory, Rates]):
    r"""Optimistic Fixed Share (Chiang et al., 2012; Herbster and Warmuth, 1998): Fixed Share with guessed losses.

    Tracks the best action through switches; the regret is small where losses repeat or `hint` gives good guesses.

    Parameters
    ----------
    learning_rate : float, default 1.0
        How fast losses move the weights ($\eta$), a finite number > 0.
    switch_rate : float, default 0.01
        Chance per round that the best action changes ($\alpha$), in [0, 1].

    Notes
    -----
    With $x_1$ uniform and the guess $h_t$, which is the hint or else $\ell_{t-1}$ ($\ell_0 = 0$), round $t$ plays
    $\hat x_t$ and observes the losses $\ell_t$:

    $$ \hat x_{t,i} \propto x_{t,i}\, e^{-\eta h_{t,i}}, \qquad v_{t,i} \propto x_{t,i}\, e^{-\eta \ell_{t,i}}, \qquad
       x_{t+1,i} = (1-\alpha)\, v_{t,i} + \alpha / K . $$

    Regret: sqrt(Gamma min(T, Lambda + Gamma) ln(K T / Gamma)). For every loss sequence, against every sequence of
    actions with $m$ switches and with $D_\infty = \sum_t \|\ell_t - h_t\|_\infty^2$, it is at most
    $\frac1\eta [(m+1) \ln K + m \ln\frac1\alpha + (T-m-1) \ln\frac{1}{1-\alpha}] + \frac\eta2 D_\infty$.

    Must know: rounds, segments, drift and variance, through the two rates.

    Time per round: O(K).

    References
    ----------
    C.-K. Chiang, T. Yang, C.-J. Lee, M. Mahdavi, C.-J. Lu, R. Jin, S. Zhu, "Online optimization with gradual
    variations", COLT 2012.

    M. Herbster, M. Warmuth, "Tracking the best expert", Machine Learning 32 (1998).

    C.-Y. Wei, Y.-T. Hong, C.-J. Lu, "Tracking the best expert in non-stationary stochastic environments", NIPS 2016,
    remark after Theorem 3.2 (dev).

    Examples
    --------
    >>> learner = OptimisticFixedShare(learning_rate=1.0)
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.879..., 0.120...])
    """

    learning_rate: float = 1.0
    switch_rate: float = 0.01

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Set the rates that minimise the bound for the rounds, segments, drift and variance."""
        return cls(*fixed_share_bounds.optimistic_rates(measures))

    def bound(self, measures: Measures) -> float:
        """Return the bound against sequences with as many switches as the means."""
        T, eta = measures.n_rounds, self.learning_rate
        length = fixed_share_bounds.code_length(measures.n_actions, T, measures.segments - 1, self.switch_rate)
        return min(T, length / eta + eta / 2 * expected.largest_deviation(measures))

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Return uniform weights and zero totals."""
        return Memory(np.full(n_actions, 1.0 / n_actions), np.zeros(n_actions), np.zeros(n_actions))
