r"""Ader: gradient descents with every rate that may be right, and Hedge to follow the best of them.

With $D = \sqrt2$ the diameter of the simplex and $G = \sqrt K$ the longest loss, base $i$ is online gradient descent
with rate $\eta_i$ and prior weight $\pi_i$; Hedge weighs the bases by their losses:

$$ \eta_i = 2^{i-1} \frac DG \sqrt{\frac{7}{2T}}, \quad i = 1, \dots, N = \lceil \tfrac12 \log_2(1 + 4T/7) \rceil + 1,
   \qquad \pi_i = \frac{1 + 1/N}{i (i+1)}, \qquad \alpha = \sqrt{8/T} . $$

=======  ==================  =============================================================
symbol   name in the code    meaning
=======  ==================  =============================================================
$T$      `n_rounds`          the rounds it is made for; it may go on, without a promise
=======  ==================  =============================================================

Pathwise against every sequence of distributions of length $P = \sum_t \|u_t - u_{t-1}\|_2$, a switch being $\sqrt2$,
with $k = \lfloor \tfrac12 \log_2(1 + 4P/7D) \rfloor + 1$:
$\tfrac{3G}{4} \sqrt{2T (7 D^2 + 4 D P)} + \tfrac{\sqrt{2T}}{4} (1 + 2 \ln(k+1))$.

Reference: L. Zhang, S. Lu, Z.-H. Zhou, "Adaptive online learning in dynamic environments", NeurIPS 2018, Algorithms 1
and 2 and Theorem 3. Losses are linear here, so the surrogate losses of its second version change nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from driftwise.core.corners import LONGEST, Corners
from driftwise.core.measures import Measures
from driftwise.core.types import Vector
from driftwise.core.validation import require_count
from driftwise.learners.contract import Card
from driftwise.learners.experts.hedge import Hedge
from driftwise.learners.experts.online_gd import OnlineGD
from driftwise.learners.parts.grid_learner import GridLearner, grid
from driftwise.theory import pathwise_meta

__all__ = ["Ader"]


@grid(
    "ader",
    Card(
        title="Ader (adaptive learning for dynamic environments)",
        in_words="Online gradient descents with rates of every size, weighed by exponential weights.",
        knows="rounds",
        cost="O(K log T)",
        bound="sqrt(K Gamma T)",
        reference="Zhang, Lu, Zhou (2018), Theorem 3",
    ),
    rule=Hedge,
)
@dataclass(frozen=True)
class Ader(GridLearner):
    """Track switching losses without knowing how often they switch.

    >>> learner = Ader(n_rounds=100)
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.667..., 0.332...])
    """

    n_rounds: int = 10_000

    corners = Corners(n_rounds=(1, 2, LONGEST))

    def __post_init__(self) -> None:
        require_count(self, "n_rounds")

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Make it for as many rounds as there are."""
        return cls(n_rounds=measures.n_rounds)

    def bound(self, measures: Measures) -> float | None:
        """Return Theorem 3's bound against as many segments as the means have, if the rounds are no more than told."""
        if measures.n_rounds > self.n_rounds:
            return None
        length = math.sqrt(2) * (measures.segments - 1)
        return min(measures.n_rounds, pathwise_meta.ader(self.n_rounds, measures.n_actions, length))

    def learning_rates(self, n_actions: int) -> Vector:
        """Return the bases' rates, slowest first."""
        T = self.n_rounds
        n_bases = math.ceil(0.5 * math.log2(1 + 4 * T / 7)) + 1
        slowest = math.sqrt(2 / n_actions) * math.sqrt(7 / (2 * T))
        rates: Vector = np.ldexp(slowest, np.arange(n_bases))
        return rates

    def bases(self, n_actions: int) -> list[OnlineGD]:
        """Return a gradient descent for every rate."""
        return [OnlineGD(rate) for rate in self.learning_rates(n_actions)]

    def rule(self, n_actions: int) -> Hedge:
        """Return Hedge with the rate for that many rounds."""
        return Hedge(math.sqrt(8 / self.n_rounds))

    def favour(self, rule: Any, n_actions: int) -> None:
        """Give the slow rates a head start: weights are $e^{-\\alpha L}$, so $L_0 = -\\ln(\\pi) / \\alpha$."""
        i = np.arange(1, len(rule.weights) + 1)
        rule.weights[:] = (1 + 1 / len(i)) / (i * (i + 1))
        rate = self.rule(n_actions).learning_rate
        assert rate is not None
        rule.totals[:] = -np.log(rule.weights) / rate
