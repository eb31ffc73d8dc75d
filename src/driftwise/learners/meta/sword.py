r"""Sword: optimistic gradient descents with every rate that may be right, and Optimistic Hedge to follow the best.

Base $i$ is Algorithm 2 with the rate $\eta_i$; the rule is told in advance what each base would lose if the losses
repeated, so that losses which do repeat cost nothing on either level:

$$ \eta_i = \eta_0\, 2^{-i}, \quad i = 0, 1, \dots \quad \text{down to the first} \le \sqrt{8 / (K T)} . $$

========  ==================  ==============================================================================
symbol    name in the code    meaning
========  ==================  ==============================================================================
$T$       `n_rounds`          the most rounds it is made for; a generous number costs a few bases more
$\eta_0$  `largest_rate`      the fastest base's rate; at 8 one round of losses can decide everything
$\alpha$  `meta_learning_rate`         Optimistic Hedge's rate; None is its anytime rate
========  ==================  ==============================================================================

Pathwise against every comparator with $N$ segments, with $D = \sum_t \|\ell_t - \ell_{t-1}\|_2^2$ and $M$ bases:
$\min_i [(\eta_i / 4) D + (1 - 1/K + 2(N-1)) / \eta_i] + 2 \sqrt{(1 + D_\infty) \ln M}$, which is of the order
$\sqrt{N D} + \sqrt{D \ln \ln T}$ without knowing $N$ or $D$; $D_\infty \le D$ sums $\|\ell_t - \ell_{t-1}\|_\infty^2$.

Reference: P. Zhao, Y.-J. Zhang, L. Zhang, Z.-H. Zhou, "Dynamic regret of convex and smooth functions", NeurIPS 2020
(its variation version). Theirs is for smooth functions, takes its fastest rate from the smoothness, and tunes the rule
with it; linear losses have no curvature to respect, which leaves the grid and the constants above, which are ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from driftwise.core.corners import LARGEST, LONGEST, SMALLEST, TOO_SLOW, Corners
from driftwise.core.measures import Measures
from driftwise.core.types import Vector
from driftwise.core.validation import require_count, require_number
from driftwise.learners.contract import Card
from driftwise.learners.experts.optimistic_gd import OptimisticGD
from driftwise.learners.experts.optimistic_hedge import OptimisticHedge
from driftwise.learners.parts.grid_learner import GridLearner, grid
from driftwise.theory import expected, pathwise_meta

__all__ = ["Sword"]


@grid(
    "sword",
    Card(
        title="Sword (for linear losses)",
        in_words="Optimistic gradient descents with rates of every size, weighed by optimistic exponential weights.",
        knows="nothing (a generous number of rounds)",
        cost="O(K log T)",
        bound="sqrt(Gamma Lambda) + sqrt(K) Gamma, and sqrt(min(T, Lambda + K Gamma) ln ln T) for not knowing them",
        reference="Zhao, Zhang, Zhang, Zhou (2020); Chiang et al. (2012)",
    ),
    rule=OptimisticHedge,
)
@dataclass(frozen=True)
class Sword(GridLearner):
    """Track switching distributions without knowing how often they switch or how the losses vary.

    >>> learner = Sword(n_rounds=100)
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.886..., 0.113...])
    """

    n_rounds: int = 2**30
    largest_rate: float = 8.0
    meta_learning_rate: float | None = None

    corners = Corners(
        n_rounds=(1, 2, LONGEST), largest_rate=(TOO_SLOW, LARGEST), meta_learning_rate=(SMALLEST, LARGEST, None)
    )

    def __post_init__(self) -> None:
        require_count(self, "n_rounds")
        require_number(self, "largest_rate", lambda x: 0 < x < math.inf, "a finite number > 0")
        if self.meta_learning_rate is not None:
            require_number(self, "meta_learning_rate", lambda x: 0 < x < math.inf, "a finite number > 0")

    @property
    def skipped_checks(self) -> dict[str, str]:
        """Say why a million rounds are too many for hundreds of bases."""
        if self.largest_rate < 2.0**100:
            return {}
        why = "from a rate this large to the slowest there are hundreds of bases: a million rounds would take minutes"
        return {"weights_survive_a_million_constant_rounds": why}

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Make it for as many rounds as there are."""
        return cls(n_rounds=measures.n_rounds)

    def bound(self, measures: Measures) -> float:
        """Return the bound against as many segments as the means have."""
        rates = self.learning_rates(measures.n_actions)
        moved = expected.largest_deviation(measures)
        base = min(expected.optimistic_gd(measures, float(rate)) for rate in rates)
        return min(measures.n_rounds, base + pathwise_meta.optimistic_hedge(moved, len(rates), self.meta_learning_rate))

    def learning_rates(self, n_actions: int) -> Vector:
        """Return the bases' rates, fastest first."""
        slowest = math.sqrt(8 / (n_actions * self.n_rounds))
        n_halvings = max(0, math.ceil(math.log2(self.largest_rate) - math.log2(slowest)))
        rates: Vector = np.ldexp(self.largest_rate, -np.arange(n_halvings + 1))
        return rates

    def bases(self, n_actions: int) -> list[OptimisticGD]:
        """Return Algorithm 2 with every rate."""
        return [OptimisticGD(rate) for rate in self.learning_rates(n_actions)]

    def rule(self, n_actions: int) -> OptimisticHedge:
        """Return Optimistic Hedge."""
        return OptimisticHedge(self.meta_learning_rate)
