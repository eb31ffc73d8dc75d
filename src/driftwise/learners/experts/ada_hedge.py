r"""AdaHedge: Hedge whose rate follows what mixing has cost so far.

With $L_{t-1}$ the losses so far and $\Delta_{t-1}$ the mixability gaps so far, round $t$ plays

$$ w_{t,i} \propto e^{-\eta_t L_{t-1,i}}, \qquad \eta_t = \ln(K) / \Delta_{t-1}, $$
$$ \Delta_t = \Delta_{t-1} + \langle w_t, \ell_t \rangle
   + \tfrac{1}{\eta_t} \ln \textstyle\sum_i w_{t,i} e^{-\eta_t \ell_{t,i}} . $$

While $\Delta = 0$ the rate is infinite: the play is uniform over the least losses, and the gap is what it lost above
the least loss among those it plays. There is nothing to tune.

======  ==================  =======
symbol  name in the code    meaning
======  ==================  =======
======  ==================  =======

Pathwise against every fixed action, with $V = \sum_t \mathrm{Var}_{w_t}(\ell_t)$:
$2 \sqrt{V \ln K} + \frac43 \ln K + 2 \le \sqrt{T \ln K} + \frac43 \ln K + 2$. It never forgets.

Reference: S. de Rooij, T. van Erven, P. Gruenwald and W. Koolen, "Follow the leader if you can, hedge if you must",
JMLR 15 (2014), Theorem 6 (its regret is at most twice the gap); for losses in $[0, 1]$, $V \le T/4$.
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
from driftwise.learners.contract import Card, ExpertLearner, expert
from driftwise.learners.parts.exponential_weights import exponential_weights
from driftwise.theory import pathwise_experts

__all__ = ["AdaHedge"]


class Memory(NamedTuple):
    """What the learner carries from round to round."""

    weights: Annotated[Vector, distribution("actions")]  # the next play
    totals: Annotated[Vector, between(0, "rounds", "actions")]  # L
    gap: Annotated[Vector, between(0, "rounds", 1)]  # Delta


class Rates(NamedTuple):
    """The constant, as the kernel reads it."""

    log_actions: float


@kernel
def mixability_gap(weights: Vector, losses: Vector, rate: float) -> float:
    """Return what the play lost above its mix loss; rounding never makes it negative."""
    least = np.inf
    for k in range(weights.size):
        if weights[k] > 0.0:
            least = min(least, losses[k])
    suffered = 0.0  # above the least: losses that are all alike leave no gap, not even of rounding
    mass = 0.0
    for k in range(weights.size):
        if weights[k] > 0.0:
            suffered += weights[k] * (losses[k] - least)
            mass += weights[k] * np.exp(-rate * (losses[k] - least)) if rate < np.inf else 0.0
    return max(0.0, suffered + np.log(mass) / rate) if rate < np.inf else suffered


@kernel
def _rate(log_actions: float, gap: float) -> float:
    return log_actions / gap if gap > 0.0 else np.inf


@kernel
def _update(memory: Memory, rates: Rates, losses: Vector) -> None:
    memory.gap[0] += mixability_gap(memory.weights, losses, _rate(rates.log_actions, memory.gap[0]))
    for k in range(losses.size):
        memory.totals[k] += losses[k]
    exponential_weights(memory.totals, _rate(rates.log_actions, memory.gap[0]), memory.weights)


@expert(
    "ada-hedge",
    Card(
        title="AdaHedge",
        in_words="Hedge that slows down by as much as mixing has cost it.",
        knows="nothing",
        cost="O(K)",
        bound="sqrt(T ln K), or sqrt(sum of the losses' variance under the play, times ln K) + ln K, "
        "against every fixed action",
        reference="de Rooij, van Erven, Gruenwald, Koolen (2014)",
    ),
    update=_update,
)
@dataclass(frozen=True)
class AdaHedge(ExpertLearner[Memory, Rates]):
    """Follow the best fixed action, boldly while that is safe.

    >>> learner = AdaHedge()
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.8, 0.2])
    """

    def bound(self, measures: Measures) -> float | None:
        """Bound the regret where the best action never changes."""
        if measures.segments > 1:
            return None
        return pathwise_experts.ada_hedge_worst(measures.n_actions, measures.n_rounds)

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Start uniform."""
        return Memory(np.full(n_actions, 1.0 / n_actions), np.zeros(n_actions), np.zeros(1))

    def rates(self, n_actions: int) -> Rates:
        """Return the logarithm of the number of actions."""
        return Rates(log_actions=math.log(n_actions))
