r"""Calibrated Hedge: exponential weights with the rate that would have done best so far.

A grid of rates $\eta_j = \eta_{\max} 2^{-j}$ each runs Hedge on the side. Round $t$ plays the weights of the rate whose
own Hedge has lost least before, the larger rate in a tie:

$$ w_t = w_t^{(j_t)}, \qquad w_{t,i}^{(j)} \propto e^{-\eta_j L_{t-1,i}}, \qquad
   j_t = \arg\min_j \sum_{s<t} \langle w_s^{(j)}, \ell_s \rangle . $$

=================  ==================  ===================================================
symbol             name in the code    meaning
=================  ==================  ===================================================
$\eta_{\max}$      `largest_rate`      the first rate of the grid
                   `n_rates`           how many rates, each half of the one before
=================  ==================  ===================================================

A rule of practice: no regret bound is claimed for it.

Reference: M. Devaine, P. Gaillard, Y. Goude and G. Stoltz, "Forecasting electricity consumption by aggregating
specialized experts", Machine Learning 90 (2013). Theirs, and R's opera, let the grid grow as needed; ours is wide from
the start, so that its cost is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from driftwise.core.corners import LARGEST, TOO_SLOW, Corners
from driftwise.core.kernel import kernel
from driftwise.core.machine_memory import check_memory
from driftwise.core.memory_fields import between, distribution
from driftwise.core.types import Matrix, Vector, Words
from driftwise.core.validation import require_count, require_number
from driftwise.core.vectors import assign
from driftwise.learners.contract import Card, ExpertLearner, expert
from driftwise.learners.parts.exponential_weights import dot, exponential_weights

__all__ = ["CalibratedHedge"]


class Memory(NamedTuple):
    """What the learner carries from round to round."""

    weights: Annotated[Vector, distribution("actions")]  # the next play
    totals: Annotated[Vector, between(0, "rounds", "actions")]  # L
    plays: Annotated[Matrix, distribution("rates", "actions")]  # the next play of each rate
    suffered: Annotated[Vector, between(0, "rounds", "rates")]  # what each rate would have lost


class Rates(NamedTuple):
    """The parameters, as the kernel reads them."""

    largest_rate: float


@kernel
def _update(memory: Memory, rates: Rates, losses: Vector) -> None:
    for k in range(losses.size):
        memory.totals[k] += losses[k]
    best = 0
    rate = rates.largest_rate
    for j in range(memory.suffered.size):
        memory.suffered[j] += dot(memory.plays[j], losses)
        exponential_weights(memory.totals, rate, memory.plays[j])
        rate *= 0.5
        if memory.suffered[j] < memory.suffered[best]:
            best = j
    assign(memory.weights, memory.plays[best])


@expert(
    "calibrated-hedge",
    Card(
        title="Hedge with online calibration of its rate",
        in_words="Run Hedge with many rates on the side, and play the one that would have lost least so far.",
        knows="nothing",
        cost="O(K n_rates)",
        bound="none proved",
        reference="Devaine, Gaillard, Goude, Stoltz (2013)",
    ),
    update=_update,
)
@dataclass(frozen=True)
class CalibratedHedge(ExpertLearner[Memory, Rates]):
    """Let the past choose the learning rate.

    >>> learner = CalibratedHedge(largest_rate=1.0, n_rates=4)
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.731..., 0.268...])
    """

    largest_rate: float = 16.0
    n_rates: int = 16

    corners = Corners(largest_rate=(TOO_SLOW, LARGEST), n_rates=(1, 64))

    def __post_init__(self) -> None:
        require_number(self, "largest_rate", lambda x: 0 < x < math.inf, "a finite number > 0")
        require_count(self, "n_rates")

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Start uniform."""
        check_memory(self, "n_rates", self.n_rates, 8 * self.n_rates * (n_actions + 1))
        plays = np.full((self.n_rates, n_actions), 1.0 / n_actions)
        return Memory(plays[0].copy(), np.zeros(n_actions), plays, np.zeros(self.n_rates))

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return how many rates there are."""
        return {"rates": self.n_rates}

    def rates(self, n_actions: int) -> Rates:
        """Return the first rate."""
        return Rates(largest_rate=self.largest_rate)
