r"""AdaHedge.

While $\Delta_{t-1} = 0$ the rate is infinite: the weights are uniform over the actions with the least total loss, and
the gap of the round is the loss incurred above the least loss among the actions of positive weight.

The bound is Theorem 6 of the paper (the regret is at most twice the total gap); its form in $T$ follows from
$V \le T/4$ for losses in $[0, 1]$.
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
from driftwise.learners.contract import ExpertLearner, expert
from driftwise.learners.parts.exponential_weights import exponential_weights
from driftwise.theory import pathwise_experts

__all__ = ["AdaHedge"]


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

    Regret: sqrt(T ln K), or sqrt(ln K times the losses' variance under the weights) + ln K, against every fixed action.
    For every loss sequence, with $V = \sum_t \mathrm{Var}_{w_t}(\ell_t)$, it is at most
    $2 \sqrt{V \ln K} + \frac43 \ln K + 2 \le \sqrt{T \ln K} + \frac43 \ln K + 2$. There is no bound where the best
    action changes.

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

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Return uniform weights, zero losses and a gap of zero."""
        return Memory(np.full(n_actions, 1.0 / n_actions), np.zeros(n_actions), np.zeros(1))

    def rates(self, n_actions: int) -> Rates:
        """Return the logarithm of the number of actions."""
        return Rates(log_actions=math.log(n_actions))
