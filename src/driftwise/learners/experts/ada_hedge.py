r"""AdaHedge, and its form with a prior over the actions, the rule that weighs the bases of `Tracker`.

While $\Delta_{t-1} = 0$ the rate is infinite: the weights are uniform over the actions with the least total loss, and
the gap of the round is the loss incurred above the least loss among the actions of positive weight.

The bound is Theorem 6 of the paper (the regret is at most twice the total gap); its form in $T$ follows from
$V \le T/4$ for losses in $[0, 1]$.

With prior weights $\pi$ and $H = \max_i \ln(1/\pi_i)$:

$$ w_{t,i} \propto \pi_i\, e^{-\eta_t L_{t-1,i}}, \qquad \eta_t = H / \Delta_{t-1}, $$

with the total mixability gap $\Delta$ of `AdaHedge`, which is the case of equal prior weights. The mix loss is at most
$L_i + \ln(1/\pi_i)/\eta \le L_i + \Delta$, so the regret against every action is at most $2 \Delta_T$, and
$\Delta_T \le \sqrt{V H} + (\frac23 H + 1)\, S$ for losses within a range $S$, as in the proof of Theorem 6 of de Rooij,
van Erven, Gruenwald and Koolen, "Follow the leader if you can, hedge if you must", JMLR 15 (2014): there $\ln K$ enters
only through the learning rate.

While $\Delta = 0$ its weights are the prior: all of them are positive, so a gap of 0 means equal losses. Losses that
are equal but for rounding add no gap; otherwise the rate would be $H$ divided by a rounding error, and rounding would
choose the weights.

This form is a part of other learners and not in the registry, because its prior fixes the number of actions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import between, distribution
from driftwise.core.types import Vector, Words
from driftwise.core.validation import require
from driftwise.core.vectors import largest, least
from driftwise.learners.base import ExpertLearner, expert
from driftwise.learners.base.loops import expert_loops
from driftwise.learners.shared.distributions import dot, exponential_weights
from driftwise.theory import pathwise_experts

_ROUNDING = 1e-12  # a first gap below this share of the largest loss is rounding: equal losses were summed differently
_CLOSE = 1e-9  # rounding of a sum of weights
_LARGEST = 1e300  # times a total loss it may be infinite, but its product with 0 is 0


class Memory(NamedTuple):
    """State of the learner between rounds."""

    weights: Annotated[Vector, distribution("actions")]  # the weights of the next round
    totals: Annotated[Vector, between(0, "rounds", "actions")]  # L, the total losses
    gap: Annotated[Vector, between(0, "rounds", 1)]  # Delta, the total mixability gap


class Rates(NamedTuple):
    """Constant passed to the kernel."""

    log_actions: float


@kernel
def _mixability_gap(memory: Memory, losses: Vector, rate: float) -> float:
    r"""Return the loss of the weights less their mix loss; at least 0, whatever the rounding.

    Losses are compared with that of the action of largest weight, so that equal losses give a gap of 0. The factors
    $w_k e^{-\eta \ell_k}$ are computed from the totals, relative to that action's: a weight may underflow and its
    action still have the least loss.
    """
    weights, totals = memory.weights, memory.totals
    top = 0
    for k in range(weights.size):
        if weights[k] > weights[top]:
            top = k
    excess, least, highest = 0.0, 0.0, 0.0
    for k in range(weights.size):
        excess += weights[k] * (losses[k] - losses[top])
        if weights[k] > 0.0:
            least = min(least, losses[k] - losses[top])
        if rate < np.inf:
            highest = max(highest, -rate * (totals[k] - totals[top] + losses[k] - losses[top]))
    if rate == np.inf:
        return max(0.0, excess - least)
    mass = 0.0
    for k in range(weights.size):
        mass += np.exp(-rate * (totals[k] - totals[top] + losses[k] - losses[top]) - highest)
    gap: float = excess + (np.log(weights[top] * mass) + highest) / rate
    return max(0.0, gap)


@kernel
def _rate(log_actions: float, gap: float) -> float:
    return log_actions / gap if gap > 0.0 else np.inf


@kernel
def _update(memory: Memory, rates: Rates, losses: Vector) -> None:
    memory.gap[0] += _mixability_gap(memory, losses, _rate(rates.log_actions, memory.gap[0]))
    for k in range(losses.size):
        memory.totals[k] += losses[k]
    exponential_weights(memory.totals, _rate(rates.log_actions, memory.gap[0]), memory.weights)


@expert("ada-hedge", update=_update)
@dataclass(frozen=True)
class AdaHedge(ExpertLearner[Memory, Rates]):
    r"""AdaHedge (de Rooij et al., 2014): Hedge with a learning rate that decreases with its mixability gaps.

    Competes with the best fixed action, without parameters.

    Notes
    -----
    With $L_{t-1}$ the total losses and $\Delta_{t-1}$ the total mixability gap before round $t$, round $t$ plays

    $$ w_{t,i} \propto e^{-\eta_t L_{t-1,i}}, \qquad \eta_t = \ln(K) / \Delta_{t-1}, $$
    $$ \Delta_t = \Delta_{t-1} + \langle w_t, \ell_t \rangle
       + \tfrac{1}{\eta_t} \ln \textstyle\sum_i w_{t,i} e^{-\eta_t \ell_{t,i}} . $$

    Regret: $\sqrt{T \ln K}$, or $\sqrt{\mathcal V \ln K} + \ln K$ with the losses' variance $\mathcal V$ under the
    weights, against every fixed action. For every loss sequence, with $\mathcal V = \sum_t \mathrm{Var}_{w_t}(\ell_t)$,
    it is at most $2 \sqrt{\mathcal V \ln K} + \frac43 \ln K + 2 \le \sqrt{T \ln K} + \frac43 \ln K + 2$. There is no
    bound where the best action changes.

    Must know: nothing.

    Time per round: O(K).

    References
    ----------
    S. de Rooij, T. van Erven, P. Gruenwald, W. Koolen, "Follow the leader if you can, hedge if you must", JMLR 15
    (2014).

    Examples
    --------
    >>> learner = AdaHedge()
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.8, 0.2])
    """

    version = 2  # 1 left out actions whose weights underflow from the mix loss

    def static_bound(self, measures: Measures) -> float:
        """Return the bound against the best fixed action."""
        return pathwise_experts.ada_hedge_worst(measures.n_actions, measures.n_rounds)

    def rates(self, n_actions: int) -> Rates:
        """Return the logarithm of the number of actions."""
        return Rates(log_actions=math.log(n_actions))


class PriorRates(NamedTuple):
    """The prior, as the kernel reads it."""

    code_length: float  # H
    log_prior: Vector


@kernel
def _prior_rate(code_length: float, gap: float) -> float:
    """Return the learning rate for the weights; 0 without a gap, because all totals are then equal but for rounding."""
    return min(code_length / gap, _LARGEST) if gap > 0.0 else 0.0


@kernel
def _prior_gap(memory: Memory, rates: PriorRates, losses: Vector, rate: float) -> float:
    r"""Return the loss of the weights less their mix loss, for a finite rate; at least 0, whatever the rounding.

    Losses are compared with that of the action of largest weight, and the factors $w_i e^{-\eta \ell_i}$ are computed
    from the totals, relative to that action's: a weight may underflow and its action still have the least loss.
    """
    weights, totals, log_prior = memory.weights, memory.totals, rates.log_prior
    top = 0
    for i in range(losses.size):
        if weights[i] > weights[top]:
            top = i
    excess, highest = 0.0, 0.0
    for i in range(losses.size):
        excess += weights[i] * (losses[i] - losses[top])
        behind = totals[i] - totals[top] + losses[i] - losses[top]
        highest = max(highest, log_prior[i] - log_prior[top] - rate * behind)
    mass = 0.0
    for i in range(losses.size):
        behind = totals[i] - totals[top] + losses[i] - losses[top]
        mass += np.exp(log_prior[i] - log_prior[top] - rate * behind - highest)
    gap: float = excess + (np.log(weights[top] * mass) + highest) / rate
    return max(0.0, gap)


@kernel
def _prior_update(memory: Memory, rates: PriorRates, losses: Vector) -> None:
    gap, totals, weights = memory.gap, memory.totals, memory.weights
    if gap[0] > 0.0:
        gap[0] += _prior_gap(memory, rates, losses, _prior_rate(rates.code_length, gap[0]))
    else:
        first = dot(weights, losses) - least(losses)  # the gap at an infinite rate
        gap[0] = first if first > _ROUNDING * largest(losses) else 0.0
    lowest = np.inf
    for i in range(losses.size):
        totals[i] += losses[i]
        lowest = min(lowest, totals[i])
    rate = _prior_rate(rates.code_length, gap[0])
    highest = -np.inf
    for i in range(losses.size):
        weights[i] = rates.log_prior[i] - rate * (totals[i] - lowest)
        highest = max(highest, weights[i])
    mass = 0.0
    for i in range(losses.size):
        weights[i] = np.exp(weights[i] - highest)
        mass += weights[i]
    for i in range(losses.size):
        weights[i] /= mass


@dataclass(frozen=True)
class PriorAdaHedge(ExpertLearner[Memory, PriorRates]):
    """AdaHedge with a prior over its actions.

    Parameters
    ----------
    prior : tuple of float
        Prior weight of each action, > 0, with sum 1.
    """

    prior: tuple[float, ...]

    compiled_loops = expert_loops("prior-ada-hedge", (Memory, PriorRates), _prior_update)

    def __post_init__(self) -> None:
        positive = len(self.prior) > 0 and all(weight > 0 for weight in self.prior)
        require(self, "prior", positive and abs(sum(self.prior) - 1) < _CLOSE, "positive weights with sum 1")

    @property
    def code_length(self) -> float:
        r"""$H$, the largest $\ln(1/\pi_i)$."""
        return float(-np.log(min(self.prior)))

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Return the prior weights, zero losses and a gap of zero."""
        return Memory(np.array(self.prior), np.zeros(n_actions), np.zeros(1))

    def rates(self, n_actions: int) -> PriorRates:
        """Return the logarithms of the prior."""
        return PriorRates(self.code_length, np.log(np.array(self.prior)))
