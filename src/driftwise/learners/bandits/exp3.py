"""Exp3.

This file sums the estimated gains instead of multiplying weights, which could underflow to 0 and stay there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple, Self

from driftwise.core.corners import ONLY_EXPLORES, SMALLEST, Corners
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import HUGE, between, chances, generator
from driftwise.core.types import Vector, Words
from driftwise.core.validation import Domains, interval
from driftwise.learners.base import BanditLearner, bandit
from driftwise.learners.shared.distributions import chance, draw_action, exponential_weights, share
from driftwise.theory import adversarial


class Memory(NamedTuple):
    """State of the learner between rounds."""

    probabilities: Annotated[Vector, chances("actions")]  # of the next action
    totals: Annotated[Vector, between(-HUGE, 0, "actions")]  # -G: lower is better, as for losses
    generator: Annotated[Words, generator()]


class Rates(NamedTuple):
    """Parameters as the kernels take them."""

    exploration_rate: float


@kernel
def learn(
    totals: Vector, probabilities: Vector, exploration_rate: float, action: int, loss: float, probability: float
) -> None:
    """Add the estimated gain of a round to the totals and write the next probabilities."""
    rate = exploration_rate / totals.size  # the learning rate, and the least probability
    totals[action] -= (1.0 - loss) / chance(probability, probabilities[action], rate)
    exponential_weights(totals, rate, probabilities)
    share(probabilities, exploration_rate)


@kernel
def _update(memory: Memory, rates: Rates, action: int, loss: float, probability: float) -> None:
    learn(memory.totals, memory.probabilities, rates.exploration_rate, action, loss, probability)


@bandit("exp3", choose=draw_action, update=_update)
@dataclass(frozen=True)
class Exp3(BanditLearner[Memory, Rates]):
    r"""Exp3 (Auer et al., 2002): exponential weights of estimated gains, mixed with uniform exploration.

    Competes with the best fixed action, also for adversarial losses.

    Parameters
    ----------
    exploration_rate : float, default 0.05
        Share of uniform exploration, and $K$ times the learning rate ($\gamma$), in (0, 1].

    Notes
    -----
    Round $t$ draws $a_t$ from $p_t$ and estimates the gains $1 - \ell_t$ by importance weighting:

    $$ p_{t,i} = (1 - \gamma) \frac{e^{\gamma \hat G_{t,i} / K}}{\sum_j e^{\gamma \hat G_{t,j} / K}} + \frac{\gamma}{K},
       \qquad \hat g_{t,i} = \frac{1 - \ell_{t,i}}{p_{t,i}} 1[a_t = i] , $$

    where $\hat G_t$ is the sum of the estimates before round $t$.

    Regret: $\sqrt{T K \ln K}$ against every fixed action. It is at most $(e-1) \gamma T + K \ln K / \gamma$, which is
    least at $\gamma = \sqrt{K \ln K / ((e-1) T)}$. There is no guarantee after a change.

    Must know: rounds, through the exploration rate.

    Time per round: O(K).

    References
    ----------
    P. Auer, N. Cesa-Bianchi, Y. Freund, R. Schapire, "The nonstochastic multiarmed bandit problem", SIAM J. Comput. 32
    (2002), Section 3, Theorem 3.1.

    Examples
    --------
    >>> learner = Exp3(exploration_rate=0.5)
    >>> state = learner.start(n_actions=2, seed=1)
    >>> learner.choose(state)
    (1, 0.5)
    >>> learner.update(state, action=1, loss=0.0, probability=0.5)
    >>> state.memory.probabilities
    array([0.438..., 0.561...])
    """

    exploration_rate: float = 0.05

    corners = Corners(exploration_rate=(SMALLEST, ONLY_EXPLORES))
    _domains = Domains(exploration_rate=interval("(0, 1]"))

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Set the exploration rate that minimises the bound for the number of rounds."""
        return cls(exploration_rate=adversarial.exp3_exploration_rate(measures.n_actions, measures.n_rounds))

    def static_bound(self, measures: Measures) -> float:
        """Return the bound against the best fixed action."""
        return adversarial.exp3(measures, self.exploration_rate)
