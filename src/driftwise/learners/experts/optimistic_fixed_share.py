r"""Optimistic Fixed Share: Fixed Share that acts on a guess of the coming losses.

With $x_1$ uniform, round $t$ plays $\hat x_t$ for the guess $h_t$ (the last losses, at first 0), then sees $\ell_t$:

$$ \hat x_{t,i} \propto x_{t,i}\,e^{-\eta h_{t,i}}, \qquad v_{t,i} \propto x_{t,i}\,e^{-\eta \ell_{t,i}}, \qquad
   x_{t+1,i} = (1-\alpha)\,v_{t,i} + \alpha / K . $$

=============  ==================  ======================================
symbol         name in the code    meaning
=============  ==================  ======================================
$\eta$         `learning_rate`     how fast losses move the weights
$\alpha$       `switch_rate`       chance per round that the best changes
=============  ==================  ======================================

Pathwise against every sequence with $m$ switches, with $D_\infty = \sum_t \|\ell_t - h_t\|_\infty^2$:
$\frac1\eta [(m+1) \ln K + m \ln\frac1\alpha + (T-m-1) \ln\frac{1}{1-\alpha}] + \frac\eta2 D_\infty$. This is the
multiplicative variant that the remark after Theorem dev of Wei, Hong and Lu (2016) points at: a better dependency on
$K$ for a factor $\ln T$.

Reference: C.-K. Chiang et al., "Online optimization with gradual variations", COLT 2012, with the sharing of
M. Herbster and M. Warmuth (1998). Weights are kept as logarithms (`shared_weights`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple, Self

import numpy as np

from driftwise.core.corners import LARGEST, SMALLEST, TOO_SLOW, Corners, NoLearning
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import between, distribution, scratch
from driftwise.core.types import Vector, Words
from driftwise.core.validation import require_number
from driftwise.learners.contract import Card, HintedLearner, expert
from driftwise.learners.parts.fixed_share_weights import Rates, absorb, look_ahead, most_total
from driftwise.theory import expected, fixed_share, vacuous

__all__ = ["OptimisticFixedShare"]


class Memory(NamedTuple):
    """What the learner carries from round to round."""

    weights: Annotated[Vector, distribution("actions")]  # the next play, x-hat
    totals: Annotated[Vector, between(0, "most_total", "actions")]  # -ln(x); without sharing, the losses so far
    ahead: Annotated[Vector, scratch("actions")]  # the totals with the guess


@kernel
def _hint(memory: Memory, rates: Rates, guess: Vector) -> None:
    look_ahead(memory.totals, rates, guess, memory.ahead, memory.weights)


@kernel
def _update(memory: Memory, rates: Rates, losses: Vector) -> None:
    absorb(memory.totals, rates, losses, memory.weights)
    _hint(memory, rates, losses)


@expert(
    "optimistic-fixed-share",
    Card(
        title="Optimistic Fixed Share",
        in_words="Fixed Share, tilted once more by a guess of the coming losses.",
        knows="rounds, segments, drift and variance, through its two rates",
        cost="O(K)",
        bound="sqrt(Gamma min(T, Lambda + Gamma) ln(K T / Gamma))",
        reference="Chiang et al. (2012); Herbster, Warmuth (1998); Wei, Hong, Lu (2016), after Theorem dev",
    ),
    update=_update,
    hint=_hint,
)
@dataclass(frozen=True)
class OptimisticFixedShare(HintedLearner[Memory, Rates]):
    """Track switches; losses that repeat cost next to nothing.

    >>> learner = OptimisticFixedShare(learning_rate=1.0)
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.879..., 0.120...])
    """

    learning_rate: float = 1.0
    switch_rate: float = 0.01

    corners = Corners(
        learning_rate=(TOO_SLOW, LARGEST),
        # Last 0, which meets the largest rate so: weights vanish where nothing is shared.
        switch_rate=(NoLearning(1.0, "all weight is shared out in every round"), SMALLEST, 0.0),
    )

    def __post_init__(self) -> None:
        require_number(self, "learning_rate", lambda x: 0 < x < math.inf, "a finite number > 0")
        require_number(self, "switch_rate", lambda x: 0 <= x <= 1, "in [0, 1]")

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Take the rates that minimise the bound for these measures."""
        return cls(*fixed_share.optimistic_rates(measures))

    def tuning_caveat(self, measures: Measures) -> str:
        """Return a reason where its bound is no better than that of uniform play."""
        return vacuous.bound(measures, self.bound(measures))

    def bound(self, measures: Measures) -> float:
        """Return the bound against as many switches as the means have."""
        T, eta = measures.n_rounds, self.learning_rate
        length = fixed_share.code_length(measures.n_actions, T, measures.segments - 1, self.switch_rate)
        return min(T, length / eta + eta / 2 * expected.largest_deviation(measures))

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Start uniform."""
        return Memory(np.full(n_actions, 1.0 / n_actions), np.zeros(n_actions), np.zeros(n_actions))

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return what a total can be."""
        return {"most_total": most_total(self.switch_rate, n_actions, rounds)}

    def rates(self, n_actions: int) -> Rates:
        """Return the parameters."""
        return Rates.of(self.learning_rate, self.switch_rate)
