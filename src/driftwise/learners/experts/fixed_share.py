r"""Fixed Share: exponential weights that never quite give up on anyone.

Round $t$ plays $w_t$, then sees the losses $\ell_t \in [0,1]^K$:

$$ v_{t,i} \propto w_{t,i}\,e^{-\eta \ell_{t,i}}, \qquad w_{t+1,i} = (1-\alpha)\,v_{t,i} + \alpha / K . $$

=============  ==================  ======================================
symbol         name in the code    meaning
=============  ==================  ======================================
$\eta$         `learning_rate`     how fast losses move the weights
$\alpha$       `switch_rate`       chance per round that the best changes
=============  ==================  ======================================

Pathwise against every sequence with $m$ switches:
$\frac1\eta [(m+1) \ln K + m \ln\frac1\alpha + (T-m-1) \ln\frac{1}{1-\alpha}] + \eta T / 8$.

Reference: M. Herbster and M. Warmuth, "Tracking the best expert", Machine Learning 32 (1998). This file shares
$\alpha$ over all $K$ actions, the paper over the other $K-1$. Weights are kept as logarithms (`shared_weights`), so
that those too small for a double are not lost; with $\alpha = 0$ this is Hedge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple, Self

import numpy as np

from driftwise.core.corners import LARGEST, SMALLEST, TOO_SLOW, Corners, NoLearning
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import between, distribution
from driftwise.core.types import Vector, Words
from driftwise.core.validation import require_number
from driftwise.learners.contract import Card, ExpertLearner, expert
from driftwise.learners.parts.fixed_share_weights import Rates, absorb, most_total
from driftwise.theory import fixed_share, vacuous

__all__ = ["FixedShare"]


class Memory(NamedTuple):
    """What the learner carries from round to round."""

    weights: Annotated[Vector, distribution("actions")]  # the next play
    totals: Annotated[Vector, between(0, "most_total", "actions")]  # -ln(w); without sharing, the losses so far


@kernel
def _update(memory: Memory, rates: Rates, losses: Vector) -> None:
    absorb(memory.totals, rates, losses, memory.weights)


@expert(
    "fixed-share",
    Card(
        title="Fixed Share",
        in_words="Exponential weights, of which a little is shared out among all actions after every round.",
        knows="rounds and segments, through its two rates",
        cost="O(K)",
        bound="sqrt(Gamma T ln(K T / Gamma))",
        reference="Herbster, Warmuth (1998)",
    ),
    update=_update,
)
@dataclass(frozen=True)
class FixedShare(ExpertLearner[Memory, Rates]):
    """Track the best action through a sequence of switches.

    >>> learner = FixedShare(learning_rate=1.0, switch_rate=0.5)
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.615..., 0.384...])
    """

    learning_rate: float = 0.5
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
        """Take the rates that minimise the bound for the number of segments."""
        return cls(*fixed_share.rates(measures))

    def tuning_caveat(self, measures: Measures) -> str:
        """Return a reason where its bound is no better than that of uniform play."""
        return vacuous.bound(measures, self.bound(measures))

    def bound(self, measures: Measures) -> float:
        """Return the bound against as many switches as the means have."""
        T = measures.n_rounds
        length = fixed_share.code_length(measures.n_actions, T, measures.segments - 1, self.switch_rate)
        return min(T, length / self.learning_rate + self.learning_rate * T / 8)

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Start uniform."""
        return Memory(np.full(n_actions, 1.0 / n_actions), np.zeros(n_actions))

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return what a total can be."""
        return {"most_total": most_total(self.switch_rate, n_actions, rounds)}

    def rates(self, n_actions: int) -> Rates:
        """Return the parameters."""
        return Rates.of(self.learning_rate, self.switch_rate)
