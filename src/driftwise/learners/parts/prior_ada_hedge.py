r"""AdaHedge with a prior over its actions, the rule that weighs the bases of `Tracker`.

With prior weights $\pi$ and $H = \max_i \ln(1/\pi_i)$:

$$ w_{t,i} \propto \pi_i\, e^{-\eta_t L_{t-1,i}}, \qquad \eta_t = H / \Delta_{t-1}, $$

with the total mixability gap $\Delta$ of `AdaHedge`, which is the case of equal prior weights. The mix loss is at most
$L_i + \ln(1/\pi_i)/\eta \le L_i + \Delta$, so the regret against every action is at most $2 \Delta_T$, and
$\Delta_T \le \sqrt{V H} + (\frac23 H + 1)\, S$ for losses within a range $S$, as in the proof of Theorem 6 of de Rooij,
van Erven, Gruenwald and Koolen, "Follow the leader if you can, hedge if you must", JMLR 15 (2014): there $\ln K$ enters
only through the learning rate.

While $\Delta = 0$ the weights are the prior: all of them are positive, so a gap of 0 means equal losses. Losses that
are equal but for rounding add no gap; otherwise the rate would be $H$ divided by a rounding error, and rounding would
choose the weights.

It is a part of other learners and not in the registry, because its prior fixes the number of actions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.memory_fields import between, distribution
from driftwise.core.types import Vector, Words
from driftwise.core.validation import require
from driftwise.core.vectors import largest, least
from driftwise.learners.contract import ExpertLearner
from driftwise.learners.contract.loops import expert_loops
from driftwise.learners.parts.exponential_weights import dot

__all__ = ["PriorAdaHedge"]

_ROUNDING = 1e-12  # a first gap below this share of the largest loss is rounding: equal losses were summed differently
_CLOSE = 1e-9  # rounding of a sum of weights
_LARGEST = 1e300  # times a total loss it may be infinite, but its product with 0 is 0


class Memory(NamedTuple):
    """State of the rule between rounds."""

    weights: Annotated[Vector, distribution("actions")]  # of the next round
    totals: Annotated[Vector, between(0, "rounds", "actions")]  # L, the total losses
    gap: Annotated[Vector, between(0, "rounds", 1)]  # Delta, the total mixability gap


class Rates(NamedTuple):
    """The prior, as the kernel reads it."""

    code_length: float  # H
    log_prior: Vector


@kernel
def _rate(code_length: float, gap: float) -> float:
    """Return the learning rate for the weights; 0 without a gap, because all totals are then equal but for rounding."""
    return min(code_length / gap, _LARGEST) if gap > 0.0 else 0.0


@kernel
def _gap(memory: Memory, rates: Rates, losses: Vector, rate: float) -> float:
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
def _update(memory: Memory, rates: Rates, losses: Vector) -> None:
    gap, totals, weights = memory.gap, memory.totals, memory.weights
    if gap[0] > 0.0:
        gap[0] += _gap(memory, rates, losses, _rate(rates.code_length, gap[0]))
    else:
        first = dot(weights, losses) - least(losses)  # the gap at an infinite rate
        gap[0] = first if first > _ROUNDING * largest(losses) else 0.0
    lowest = np.inf
    for i in range(losses.size):
        totals[i] += losses[i]
        lowest = min(lowest, totals[i])
    rate = _rate(rates.code_length, gap[0])
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
class PriorAdaHedge(ExpertLearner[Memory, Rates]):
    """AdaHedge with a prior over its actions.

    Parameters
    ----------
    prior : tuple of float
        Prior weight of each action, > 0, with sum 1.
    """

    prior: tuple[float, ...]

    compiled_loops = expert_loops("prior-ada-hedge", (Memory, Rates), _update)

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

    def rates(self, n_actions: int) -> Rates:
        """Return the logarithms of the prior."""
        return Rates(self.code_length, np.log(np.array(self.prior)))
