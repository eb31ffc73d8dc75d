"""Online gradient descent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple, Self

from driftwise.core.corners import LARGEST, TOO_SLOW, Corners
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import distribution
from driftwise.core.types import Vector
from driftwise.core.validation import POSITIVE, Domains
from driftwise.learners.base import ExpertLearner, expert
from driftwise.learners.experts.optimistic_gd import Rates
from driftwise.learners.shared.distributions import proximal_step
from driftwise.theory import pathwise_meta, vacuous


class Memory(NamedTuple):
    """State of the learner between rounds."""

    weights: Annotated[Vector, distribution("actions")]  # the weights of the next round


@kernel
def _update(memory: Memory, rates: Rates, losses: Vector) -> None:
    proximal_step(memory.weights, losses, rates.step, memory.weights)


@expert("online-gd", update=_update)
@dataclass(frozen=True)
class OnlineGD(ExpertLearner[Memory, Rates]):
    r"""Online gradient descent (Zinkevich, 2003): a step against the losses, projected on the simplex.

    Tracks switches; the bound does not depend on how much the losses vary.

    Parameters
    ----------
    learning_rate : float, default 0.1
        How far losses move the weights ($\eta$), a finite number > 0.

    Notes
    -----
    With $x_1$ uniform, round $t$ plays $x_t$, observes $\ell_t$ and moves to

    $$ x_{t+1} = \arg\min_{x \in \Delta} \langle \ell_t, x \rangle + \tfrac{1}{2 \eta} \|x - x_t\|_2^2
       = \Pi_\Delta (x_t - \eta\, \ell_t) . $$

    Regret: $\sqrt{\Gamma K T}$. For every loss sequence, against every comparator with $N$ segments, it is at most
    $\tfrac{\eta}{2} \sum_t \|\ell_t\|_2^2 + (1 - 1/K + 2 (N - 1)) / 2 \eta$.

    Must know: rounds and segments, through the learning rate.

    Time per round: O(K).

    References
    ----------
    M. Zinkevich, "Online convex programming and generalized infinitesimal gradient ascent", ICML 2003.

    Examples
    --------
    >>> learner = OnlineGD(learning_rate=0.5)
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.75, 0.25])
    """

    learning_rate: float = 0.1

    corners = Corners(learning_rate=(TOO_SLOW, LARGEST))
    _domains = Domains(learning_rate=POSITIVE)

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Set the rate that minimises the bound for the number of rounds and segments, with all losses at most 1."""
        return cls(math.sqrt((2 * measures.segments - 1) / (measures.n_actions * measures.n_rounds)))

    def tuning_caveat(self, measures: Measures) -> str:
        """Return a reason where the bound is no better than that of uniform weights."""
        return vacuous.bound(measures, self.bound(measures))

    def bound(self, measures: Measures) -> float:
        """Return the bound against comparators with as many segments as the means."""
        K, T = measures.n_actions, measures.n_rounds
        return min(T, pathwise_meta.online_gd(K * T, K, self.learning_rate, measures.segments))

    def rates(self, n_actions: int) -> Rates:
        """Return the size of the projected step."""
        return Rates(step=self.learning_rate)
