r"""Online gradient descent: step against the losses, project back on the simplex.

Round $t$ plays $x_t$, with $x_1$ uniform, then sees $\ell_t$ and moves to

$$ x_{t+1} = \arg\min_{x \in \Delta} \langle \ell_t, x \rangle + \tfrac{1}{2 \eta} \|x - x_t\|_2^2
   = \Pi_\Delta (x_t - \eta\, \ell_t) . $$

=======  ==================  ==========================================
symbol   name in the code    meaning
=======  ==================  ==========================================
$\eta$   `learning_rate`     how far losses move the weights
=======  ==================  ==========================================

Pathwise against every comparator with $N$ segments:
$\tfrac{\eta}{2} \sum_t \|\ell_t\|_2^2 + (1 - 1/K + 2 (N - 1)) / 2 \eta$.

Reference: M. Zinkevich, "Online convex programming and generalized infinitesimal gradient ascent", ICML 2003.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple, Self

import numpy as np

from driftwise.core.corners import LARGEST, TOO_SLOW, Corners
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import distribution
from driftwise.core.types import Vector, Words
from driftwise.core.validation import require_number
from driftwise.learners.contract import Card, ExpertLearner, expert
from driftwise.learners.experts.optimistic_gd import Rates
from driftwise.learners.parts.simplex import proximal_step
from driftwise.theory import pathwise_meta, vacuous

__all__ = ["OnlineGD"]


class Memory(NamedTuple):
    """What the learner carries from round to round."""

    weights: Annotated[Vector, distribution("actions")]  # the next play


@kernel
def _update(memory: Memory, rates: Rates, losses: Vector) -> None:
    proximal_step(memory.weights, losses, rates.step, memory.weights)


@expert(
    "online-gd",
    Card(
        title="Online gradient descent",
        in_words="Step against the last losses and project back on the simplex.",
        knows="rounds and segments, through the learning rate",
        cost="O(K)",
        bound="sqrt(Gamma K T)",
        reference="Zinkevich (2003)",
    ),
    update=_update,
)
@dataclass(frozen=True)
class OnlineGD(ExpertLearner[Memory, Rates]):
    """Track switching losses, however they vary.

    >>> learner = OnlineGD(learning_rate=0.5)
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.75, 0.25])
    """

    learning_rate: float = 0.1

    corners = Corners(learning_rate=(TOO_SLOW, LARGEST))

    def __post_init__(self) -> None:
        require_number(self, "learning_rate", lambda x: 0 < x < math.inf, "a finite number > 0")

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Take the rate that minimises the bound for the number of segments and losses of 1."""
        return cls(math.sqrt((2 * measures.segments - 1) / (measures.n_actions * measures.n_rounds)))

    def tuning_caveat(self, measures: Measures) -> str:
        """Return a reason where its bound is no better than that of uniform play."""
        return vacuous.bound(measures, self.bound(measures))

    def bound(self, measures: Measures) -> float:
        """Return the bound against as many segments as the means have."""
        K, T = measures.n_actions, measures.n_rounds
        return min(T, pathwise_meta.online_gd(K * T, K, self.learning_rate, measures.segments))

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Start uniform."""
        return Memory(np.full(n_actions, 1.0 / n_actions))

    def rates(self, n_actions: int) -> Rates:
        """Return the step."""
        return Rates(step=self.learning_rate)
