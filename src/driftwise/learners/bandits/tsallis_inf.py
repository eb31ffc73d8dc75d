r"""Tsallis-INF: regularised by the Tsallis entropy of power 1/2, good in random and in adversarial worlds alike.

Round $t$ draws $a_t$ from $w_t$, with $\hat L_{t-1}$ the estimated losses of the rounds before:

$$ w_t = \arg\min_{w} \langle w, \hat L_{t-1} \rangle - \frac{4}{\eta_t} \sum_i \sqrt{w_i}, \qquad
   \hat\ell_{t,i} = \frac{\ell_{t,i} - b_{t,i}}{w_{t,i}} 1[a_t = i] + b_{t,i} . $$

Reduced variance has $\eta_t = 4/\sqrt t$ and $b_{t,i} = \frac12 1[w_{t,i} \ge \eta_t^2]$; importance weighting has
$\eta_t = 2/\sqrt t$ and no baseline, $b = 0$.

======  ==================  =====================================================================
symbol  name in the code    meaning
======  ==================  =====================================================================
$b$     `estimator`         how losses are estimated: "reduced-variance" or "importance-weighted"
======  ==================  =====================================================================

The minimiser is $w_i = 4 (\eta (\hat L_i - x))^{-2}$, where $x < \min_j \hat L_j$ makes the sum 1. This file writes it
$(c + g_i)^{-2}$ with $g_i = \eta (\hat L_i - \min_j \hat L_j) / 2$ and $1 \le c \le \sqrt K$, which loses no digits.
The paper finds $x$ by Newton's method on the sum, this file $c$ on its inverse root,
$(\sum_i (c + g_i)^{-2})^{-1/2} = 1$. That is a power mean, nearly straight in $c$, and exactly so if all $g_i$ are
equal. It rises and is concave, so a step from anywhere ends at the root or below, and from there the steps climb to it.

Against every fixed action: $2 (2 \sqrt K - 1) \sqrt T - \sqrt K$ with importance weighting, and half the leading term
with reduced variance (`driftwise.theory.adversarial`). Nothing is promised after a change.

Reference: J. Zimmert and Y. Seldin, "Tsallis-INF: an optimal algorithm for stochastic and adversarial bandits", JMLR
22(28) (2021), Algorithms 1 and 2, Theorem 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from driftwise.core.corners import Corners
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import HUGE, between, chances, exactly, generator
from driftwise.core.types import Vector, Words
from driftwise.core.validation import require_choice
from driftwise.core.vectors import largest, least
from driftwise.learners.contract import BanditLearner, Card, bandit
from driftwise.learners.parts.sampling import RAREST, chance, draw
from driftwise.theory import adversarial

__all__ = ["TsallisINF"]

_CLOSE = 1e-8  # a step squares the error of the sum, so this is the last one
_MOST_STEPS = 30  # 7 were the most ever seen; a damaged memory must not search for ever


class Memory(NamedTuple):
    """What the learner carries from round to round."""

    probabilities: Annotated[Vector, chances("actions")]  # of the next play
    totals: Annotated[Vector, between(-HUGE, HUGE, "actions")]  # L, estimated
    rounds: Annotated[Vector, exactly("rounds", 1)]
    generator: Annotated[Words, generator()]


class Rates(NamedTuple):
    """The parameters, as the kernels read them."""

    scale: float  # eta is this over the root of t
    baseline: float  # 0 or 1/2


@kernel
def _weigh(totals: Vector, half: float, weights: Vector) -> None:
    """Write the weights for half = eta / 2, searching from where the last ones were."""
    lowest = least(totals)
    c = 1.0 / np.sqrt(largest(weights))
    for k in range(totals.size):
        weights[k] = half * (totals[k] - lowest)
    for _ in range(_MOST_STEPS):
        squares, cubes = 0.0, 0.0
        for k in range(totals.size):
            inverse = 1.0 / (c + weights[k])
            squares += inverse * inverse
            cubes += inverse * inverse * inverse
        c = max(c + squares * (np.sqrt(squares) - 1.0) / cubes, 1.0)
        if abs(squares - 1.0) < _CLOSE:
            break
    mass = 0.0
    for k in range(totals.size):
        weights[k] = (c + weights[k]) ** -2
        mass += weights[k]
    for k in range(totals.size):
        weights[k] /= mass  # what rounding left


@kernel
def _choose(memory: Memory, rates: Rates) -> tuple[int, float]:  # noqa: ARG001
    return draw(memory.probabilities, memory.generator)


@kernel
def _update(memory: Memory, rates: Rates, action: int, loss: float, probability: float) -> None:
    probabilities, totals = memory.probabilities, memory.totals
    weight = chance(probability, probabilities[action], RAREST)
    memory.rounds[0] += 1.0
    often = rates.scale**2 / memory.rounds[0]  # eta^2
    for k in range(totals.size):
        baseline = rates.baseline if probabilities[k] >= often else 0.0
        totals[k] += baseline
        if k == action:
            totals[k] += (loss - baseline) / weight
    _weigh(totals, 0.5 * rates.scale / np.sqrt(memory.rounds[0] + 1.0), probabilities)


@bandit(
    "tsallis-inf",
    Card(
        title="Tsallis-INF",
        in_words="Balance estimated losses against the Tsallis entropy of power 1/2, ever less of it.",
        knows="nothing",
        cost="O(K)",
        bound="sqrt(K T) against every fixed action; sum of ln(T)/gap if the losses are random and alike",
        reference="Zimmert, Seldin (2021), Theorem 1",
    ),
    choose=_choose,
    update=_update,
)
@dataclass(frozen=True)
class TsallisINF(BanditLearner[Memory, Rates]):
    """Follow the best fixed action, told nothing, in random and in adversarial worlds.

    >>> learner = TsallisINF()
    >>> state = learner.start(n_actions=2, seed=1)
    >>> learner.choose(state)
    (1, 0.5)
    >>> learner.update(state, action=1, loss=1.0, probability=0.5)
    >>> state.memory.probabilities
    array([0.933..., 0.066...])
    """

    estimator: str = "reduced-variance"

    corners = Corners(estimator=("reduced-variance", "importance-weighted"))

    def __post_init__(self) -> None:
        require_choice(self, "estimator", ("reduced-variance", "importance-weighted"))

    def bound(self, measures: Measures) -> float | None:
        """Return the adversarial bound, where the best action never changes."""
        return adversarial.tsallis_inf(measures, self._reduces_variance)

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Start uniform."""
        return Memory(np.full(n_actions, 1.0 / n_actions), np.zeros(n_actions), np.zeros(1), generator)

    def rates(self, n_actions: int) -> Rates:
        """Return what the estimator stands for."""
        return Rates(scale=4.0, baseline=0.5) if self._reduces_variance else Rates(scale=2.0, baseline=0.0)

    @property
    def _reduces_variance(self) -> bool:
        return self.estimator == "reduced-variance"
