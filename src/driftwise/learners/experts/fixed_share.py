r"""Fixed Share, and its optimistic form: exponential weights with sharing, kept as logarithms.

This file shares $\alpha$ over all $K$ actions, the paper over the other $K-1$.

A weight $w_k$ is kept as the total $L_k = -\ln w_k$, up to a constant common to all actions. A round updates it by

$$ L_k \leftarrow L_k + \eta \ell_k, \qquad v_k \propto e^{-L_k}, \qquad w_k = (1-\alpha)\,v_k + \alpha/K, \qquad
   L_k \leftarrow -\ln w_k . $$

A weight kept as a number underflows after 745 units of $\eta \ell$ and then stays 0; its logarithm does not. With
$\alpha > 0$ every total is at most $\ln(K/\alpha) < 800$ after a round, so $\eta$ can be as large as a double.
With $\alpha = 0$ they are not bounded: the totals are then the total losses, without $\eta$, as in Hedge.

The optimistic form is the multiplicative variant that the remark after Theorem 3.2 (dev) of Wei, Hong and Lu (2016)
mentions: a better dependence on $K$ for a factor $\ln T$. The step with the guess is that of Chiang et al., the sharing
that of Fixed Share.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple, Self

import numpy as np

from driftwise.core.corners import LARGEST, SMALLEST, TOO_SLOW, Corners, NoLearning
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import between, distribution, scratch
from driftwise.core.types import Vector
from driftwise.core.validation import POSITIVE, Domains, interval
from driftwise.core.vectors import largest, least
from driftwise.learners.base import Beliefs, ExpertLearner, HintedLearner, State, expert
from driftwise.learners.base.beliefs import faded_rounds
from driftwise.learners.base.learner import M
from driftwise.learners.shared.distributions import exponential_weights, share
from driftwise.theory import expected, fixed_share_bounds, vacuous

_SMALL = 1e-290  # with a larger share no weight underflows


class Rates(NamedTuple):
    """Parameters passed to the kernels."""

    scale: float  # factor of a loss in the totals
    rate: float  # factor of the totals in the exponent
    switch_rate: float


@kernel
def _share_logarithms(totals: Vector, switch_rate: float, weights: Vector) -> None:
    """Write the totals after sharing from the weights before it, for a share too small to add to the weights."""
    offset = least(totals) + np.log(largest(weights))  # ln v_k is the offset minus the total
    shared = np.log(switch_rate) - np.log(float(weights.size))
    for k in range(weights.size):
        kept = offset - totals[k]  # ln(1 - alpha) is 0 to rounding
        larger = max(kept, shared)
        totals[k] = -larger - np.log1p(np.exp(min(kept, shared) - larger))


@kernel
def absorb(totals: Vector, rates: Rates, losses: Vector, weights: Vector) -> None:
    """Add a round of losses to the totals, share, and write the weights of the next round."""
    lowest = least(losses)  # a loss common to all changes no weight, but at a large rate its rounding would
    for k in range(losses.size):
        totals[k] += rates.scale * (losses[k] - lowest)
    exponential_weights(totals, rates.rate, weights)
    if rates.switch_rate == 0.0:
        return
    if rates.switch_rate / weights.size < _SMALL:
        _share_logarithms(totals, rates.switch_rate, weights)
        share(weights, rates.switch_rate)
    else:
        share(weights, rates.switch_rate)
        for k in range(losses.size):
            totals[k] = -np.log(weights[k])


@dataclass(frozen=True)
class FixedShareLearner(ExpertLearner[M, Rates]):
    """Parameters and common methods of Fixed Share and its optimistic form."""

    learning_rate: float
    switch_rate: float

    corners = Corners(
        learning_rate=(TOO_SLOW, LARGEST),
        # 0 is last, so that it is tried with the largest rate: without sharing, weights vanish.
        switch_rate=(NoLearning(1.0, "all weight is shared out in every round"), SMALLEST, 0.0),
    )
    _domains = Domains(learning_rate=POSITIVE, switch_rate=interval("[0, 1]"))

    @abstractmethod
    def bound(self, measures: Measures) -> float:
        """Return the bound against sequences with as many switches as the means."""

    def tuning_caveat(self, measures: Measures) -> str:
        """Return a reason where the bound is no better than that of uniform weights."""
        return vacuous.bound(measures, self.bound(measures))

    def beliefs(self, state: State[M, Rates]) -> Beliefs:
        """Return the effective memory, of which a round forgets the share `switch_rate`."""
        return replace(super().beliefs(state), memory=faded_rounds(self.switch_rate, state.rounds))

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the largest possible total after `rounds` rounds."""
        shared = self.switch_rate > 0
        return {"most_total": math.log(n_actions) - math.log(self.switch_rate) if shared else float(rounds)}

    def rates(self, n_actions: int) -> Rates:
        """Return the rates for totals kept as logarithms, or as losses where nothing is shared."""
        if self.switch_rate:
            return Rates(scale=self.learning_rate, rate=1.0, switch_rate=self.switch_rate)
        return Rates(scale=1.0, rate=self.learning_rate, switch_rate=0.0)


class Memory(NamedTuple):
    """State of the learner between rounds."""

    weights: Annotated[Vector, distribution("actions")]  # the weights of the next round
    totals: Annotated[Vector, between(0, "most_total", "actions")]  # -ln(w); without sharing, the total losses


@kernel
def _update(memory: Memory, rates: Rates, losses: Vector) -> None:
    absorb(memory.totals, rates, losses, memory.weights)


@expert("fixed-share", update=_update)
@dataclass(frozen=True)
class FixedShare(FixedShareLearner[Memory]):
    r"""Fixed Share (Herbster and Warmuth, 1998): exponential weights with a fixed share of uniform weight.

    Tracks the best action through switches. With a switch rate of 0 it is Hedge.

    Parameters
    ----------
    learning_rate : float, default 0.5
        How fast losses move the weights ($\eta$), a finite number > 0.
    switch_rate : float, default 0.01
        Chance per round that the best action changes ($\alpha$), in [0, 1].

    Notes
    -----
    Round $t$ plays $w_t$ and observes the losses $\ell_t \in [0, 1]^K$:

    $$ v_{t,i} \propto w_{t,i}\, e^{-\eta \ell_{t,i}}, \qquad w_{t+1,i} = (1-\alpha)\, v_{t,i} + \alpha / K . $$

    Regret: $\sqrt{\Gamma T \ln(K T / \Gamma)}$. For every loss sequence, against every sequence of actions with $m$
    switches, it is at most $\frac1\eta [(m+1) \ln K + m \ln\frac1\alpha + (T-m-1) \ln\frac{1}{1-\alpha}] + \eta T / 8$.

    Must know: rounds and segments, through the two rates.

    Time per round: O(K).

    References
    ----------
    M. Herbster, M. Warmuth, "Tracking the best expert", Machine Learning 32 (1998).

    N. Cesa-Bianchi, G. Lugosi, "Prediction, Learning, and Games", Cambridge University Press (2006), for a share that
    goes to all actions.

    Examples
    --------
    >>> learner = FixedShare(learning_rate=1.0, switch_rate=0.5)
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.615..., 0.384...])
    """

    learning_rate: float = 0.5
    switch_rate: float = 0.01

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Set the rates that minimise the bound for the number of rounds and segments."""
        return cls(*fixed_share_bounds.rates(measures))

    def bound(self, measures: Measures) -> float:
        """Return the bound against sequences with as many switches as the means."""
        T = measures.n_rounds
        length = fixed_share_bounds.code_length(measures.n_actions, T, measures.segments - 1, self.switch_rate)
        return min(T, length / self.learning_rate + self.learning_rate * T / 8)


class AheadMemory(NamedTuple):
    """State of the learner between rounds."""

    weights: Annotated[Vector, distribution("actions")]  # x-hat, the weights of the next round
    totals: Annotated[Vector, between(0, "most_total", "actions")]  # -ln(x); without sharing, the total losses
    ahead: Annotated[Vector, scratch("actions")]  # the totals plus the guess


@kernel
def _hint(memory: AheadMemory, rates: Rates, guess: Vector) -> None:
    lowest = least(guess)
    for k in range(guess.size):
        memory.ahead[k] = memory.totals[k] + rates.scale * (guess[k] - lowest)
    exponential_weights(memory.ahead, rates.rate, memory.weights)


@kernel
def _update_optimistic(memory: AheadMemory, rates: Rates, losses: Vector) -> None:
    absorb(memory.totals, rates, losses, memory.weights)
    _hint(memory, rates, losses)


@expert("optimistic-fixed-share", update=_update_optimistic, hint=_hint)
@dataclass(frozen=True)
class OptimisticFixedShare(FixedShareLearner[AheadMemory], HintedLearner[AheadMemory, Rates]):
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

    Regret: $\sqrt{\Gamma \min(T, \Lambda + \Gamma) \ln(K T / \Gamma)}$. For every loss sequence, against every sequence
    of actions with $m$ switches and with $D_\infty = \sum_t \|\ell_t - h_t\|_\infty^2$, it is at most $\frac1\eta
    [(m+1) \ln K + m \ln\frac1\alpha + (T-m-1) \ln\frac{1}{1-\alpha}] + \frac\eta2 D_\infty$.

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
