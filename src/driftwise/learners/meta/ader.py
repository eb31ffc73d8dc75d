"""Ader: adaptive learning for dynamic environments.

Losses are linear here, so the surrogate losses of the source's second version change nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from driftwise.core.corners import LONGEST, Corners
from driftwise.core.measures import Measures
from driftwise.core.types import Vector
from driftwise.core.validation import COUNT, Domains
from driftwise.learners.base.loops import AnyMemory
from driftwise.learners.experts.hedge import Hedge
from driftwise.learners.experts.online_gd import OnlineGD
from driftwise.learners.shared.grid_learner import GridLearner, LearnerBank, grid
from driftwise.theory import pathwise_meta


@grid("ader", rule=Hedge, banks=[OnlineGD])
@dataclass(frozen=True)
class Ader(GridLearner):
    r"""Ader (Zhang, Lu and Zhou, 2018): gradient descents on a grid of learning rates, weighed by Hedge.

    Tracks switching losses. The number of switches need not be known.

    Parameters
    ----------
    n_rounds : int, default 10000
        Number of rounds it is made for ($T$), a whole number >= 1. It can play more, without a guarantee.

    Notes
    -----
    With $D = \sqrt2$ the diameter of the simplex and $G = \sqrt K$ the largest norm of the losses, base $i$ is online
    gradient descent with the learning rate $\eta_i$ and the prior weight $\pi_i$. Hedge with the learning rate
    $\alpha$ weighs the bases by their losses:

    $$ \eta_i = 2^{i-1} \frac DG \sqrt{\frac{7}{2T}}, \quad
       i = 1, \dots, N = \lceil \tfrac12 \log_2(1 + 4T/7) \rceil + 1, \qquad
       \pi_i = \frac{1 + 1/N}{i (i+1)}, \qquad \alpha = \sqrt{8/T} . $$

    Regret: $\sqrt{K \Gamma T}$. For all losses, against every sequence of distributions of length $P = \sum_t \|u_t -
    u_{t-1}\|_2$, in which a switch has the length $\sqrt2$, with $k = \lfloor \tfrac12 \log_2(1 + 4P/7D) \rfloor + 1$:
    $\tfrac{3G}{4} \sqrt{2T (7 D^2 + 4 D P)} + \tfrac{\sqrt{2T}}{4} (1 + 2 \ln(k+1))$ (Theorem 3).

    Must know: rounds.

    Time per round: O(K log T).

    References
    ----------
    L. Zhang, S. Lu, Z.-H. Zhou, "Adaptive online learning in dynamic environments", NeurIPS 2018, Algorithms 1 and 2
    and Theorem 3.

    Examples
    --------
    >>> learner = Ader(n_rounds=100)
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.667..., 0.332...])
    """

    n_rounds: int = 10_000

    corners = Corners(n_rounds=(1, 2, LONGEST))
    _domains = Domains(n_rounds=COUNT)

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Set the number of rounds to that of the measures."""
        return cls(n_rounds=measures.n_rounds)

    def bound(self, measures: Measures) -> float | None:
        """Return Theorem 3's bound against as many segments as the means have; None beyond `n_rounds` rounds."""
        if measures.n_rounds > self.n_rounds:
            return None
        length = math.sqrt(2) * (measures.segments - 1)
        return min(measures.n_rounds, pathwise_meta.ader(self.n_rounds, measures.n_actions, length))

    def learning_rates(self, n_actions: int) -> Vector:
        """Return the learning rates of the bases, smallest first."""
        T = self.n_rounds
        n_bases = math.ceil(0.5 * math.log2(1 + 4 * T / 7)) + 1
        slowest = math.sqrt(2 / n_actions) * math.sqrt(7 / (2 * T))
        rates: Vector = np.ldexp(slowest, np.arange(n_bases))
        return rates

    def banks(self, n_actions: int) -> list[LearnerBank]:
        """Return a gradient descent for every learning rate."""
        return [LearnerBank(tuple(OnlineGD(rate) for rate in self.learning_rates(n_actions)))]

    def rule(self, n_actions: int) -> Hedge:
        """Return Hedge with the learning rate for that many rounds."""
        return Hedge(math.sqrt(8 / self.n_rounds))

    def set_prior(self, memory: AnyMemory, n_actions: int) -> None:
        r"""Write the prior, larger for small rates; weights are $e^{-\alpha L}$, so $L_0 = -\ln(\pi) / \alpha$."""
        i = np.arange(1, len(memory.weights) + 1)
        memory.weights[:] = (1 + 1 / len(i)) / (i * (i + 1))
        rate = self.rule(n_actions).learning_rate
        assert rate is not None
        memory.totals[:] = -np.log(memory.weights) / rate
