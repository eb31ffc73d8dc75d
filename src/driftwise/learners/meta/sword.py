"""Sword, for linear losses.

The source is for smooth functions: it takes its largest learning rate from the smoothness, and tunes the rule with it.
Linear losses have no curvature, which leaves the grid and the constants of this file. The grid and the constants are
not from the source.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from driftwise.core.corners import LARGEST, LONGEST, SMALLEST, TOO_SLOW, Corners
from driftwise.core.measures import Measures
from driftwise.core.types import Vector
from driftwise.core.validation import COUNT, POSITIVE, Domains, optional
from driftwise.learners.experts.hedge import OptimisticHedge
from driftwise.learners.experts.optimistic_gd import OptimisticGD
from driftwise.learners.shared.grid_learner import GridLearner, LearnerBank, grid
from driftwise.theory import expected, pathwise_meta


@grid("sword", rule=OptimisticHedge, banks=[OptimisticGD])
@dataclass(frozen=True)
class Sword(GridLearner):
    r"""Sword (Zhao et al., 2020): optimistic gradient descents on a grid of rates, weighed by Optimistic Hedge.

    Tracks switching distributions. Neither the number of switches nor the variance of the losses need be known.

    Parameters
    ----------
    n_rounds : int, default 1073741824
        The most rounds it is made for ($T$), a whole number >= 1. A number that is too large adds a few bases.
    largest_rate : float, default 8.0
        Largest learning rate of a base ($\eta_0$), a finite number > 0. At 8, one round of losses can move all weight
        to one action.
    meta_learning_rate : float or None, default None
        Learning rate of Optimistic Hedge, which weighs the bases ($\alpha$), a finite number > 0; None is its anytime
        rate.

    Notes
    -----
    Base $i$ is `OptimisticGD` with the learning rate $\eta_i$. Optimistic Hedge weighs the bases; its hint is
    the loss of each base if the losses repeat, so that losses which repeat add no regret on either level:

    $$ \eta_i = \eta_0\, 2^{-i}, \quad i = 0, 1, \dots \quad \text{down to the first} \le \sqrt{8 / (K T)} . $$

    Regret: $\sqrt{\Gamma \Lambda} + \sqrt K\, \Gamma$, and $\sqrt{\min(T, \Lambda + K \Gamma) \ln \ln T}$ for not
    knowing them. For all losses, against every comparator with $N$ segments, with $D = \sum_t \|\ell_t -
    \ell_{t-1}\|_2^2$ and $M$ bases: $\min_i [(\eta_i / 4) D + (1 - 1/K + 2(N-1)) / \eta_i] + 2 \sqrt{(1 + D_\infty) \ln
    M}$, which is of the order $\sqrt{N D} + \sqrt{D \ln \ln T}$ without knowing $N$ or $D$; $D_\infty \le D$ sums
    $\|\ell_t - \ell_{t-1}\|_\infty^2$.

    Must know: nothing (an upper bound on the rounds).

    Time per round: O(K log T).

    References
    ----------
    P. Zhao, Y.-J. Zhang, L. Zhang, Z.-H. Zhou, "Dynamic regret of convex and smooth functions", NeurIPS 2020 (its
    variation version).

    C.-K. Chiang et al., "Online optimization with gradual variations", COLT 2012.

    Examples
    --------
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
    _domains = Domains(n_rounds=COUNT, largest_rate=POSITIVE, meta_learning_rate=optional(POSITIVE))

    @property
    def skipped_checks(self) -> dict[str, str]:
        """Return why a check of a million rounds is skipped where there are hundreds of bases."""
        if self.largest_rate < 2.0**100:
            return {}
        why = "from a rate this large to the smallest there are hundreds of bases: a million rounds would take minutes"
        return {"weights_survive_a_million_constant_rounds": why}

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Set the number of rounds to that of the measures."""
        return cls(n_rounds=measures.n_rounds)

    def bound(self, measures: Measures) -> float:
        """Return the bound against as many segments as the means have."""
        rates = self.learning_rates(measures.n_actions)
        moved = expected.largest_deviation(measures)
        base = min(expected.optimistic_gd(measures, float(rate)) for rate in rates)
        return min(measures.n_rounds, base + pathwise_meta.optimistic_hedge(moved, len(rates), self.meta_learning_rate))

    def learning_rates(self, n_actions: int) -> Vector:
        """Return the learning rates of the bases, largest first."""
        slowest = math.sqrt(8 / (n_actions * self.n_rounds))
        n_halvings = max(0, math.ceil(math.log2(self.largest_rate) - math.log2(slowest)))
        rates: Vector = np.ldexp(self.largest_rate, -np.arange(n_halvings + 1))
        return rates

    def banks(self, n_actions: int) -> list[LearnerBank]:
        """Return an optimistic gradient descent for every learning rate."""
        return [LearnerBank(tuple(OptimisticGD(rate) for rate in self.learning_rates(n_actions)))]

    def rule(self, n_actions: int) -> OptimisticHedge:
        """Return Optimistic Hedge."""
        return OptimisticHedge(self.meta_learning_rate)
