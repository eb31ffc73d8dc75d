"""Hedge with online calibration of its learning rate.

The paper and the R package opera extend the grid of rates as needed; here the whole grid is used from the start, so
that the time per round is constant.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

import numpy as np

from driftwise.core.corners import LARGEST, TOO_SLOW, Corners
from driftwise.core.kernel import kernel
from driftwise.core.memory_fields import between, distribution
from driftwise.core.types import Matrix, Vector, Words
from driftwise.core.validation import COUNT, POSITIVE, Domains, check_memory
from driftwise.core.vectors import assign
from driftwise.learners.base import Beliefs, ExpertLearner, State, expert
from driftwise.learners.base.beliefs import shares_by_label
from driftwise.learners.shared.distributions import dot, exponential_weights


class Memory(NamedTuple):
    """State of the learner between rounds."""

    weights: Annotated[Vector, distribution("actions")]  # the weights of the next round
    totals: Annotated[Vector, between(0, "rounds", "actions")]  # L, the total losses
    plays: Annotated[Matrix, distribution("rates", "actions")]  # the weights of each rate for the next round
    total_losses: Annotated[Vector, between(0, "rounds", "rates")]  # the total loss of each rate


class Rates(NamedTuple):
    """Parameters passed to the kernel."""

    largest_rate: float


@kernel
def _update(memory: Memory, rates: Rates, losses: Vector) -> None:
    for k in range(losses.size):
        memory.totals[k] += losses[k]
    best = 0
    rate = rates.largest_rate
    for j in range(memory.total_losses.size):
        memory.total_losses[j] += dot(memory.plays[j], losses)
        exponential_weights(memory.totals, rate, memory.plays[j])
        rate *= 0.5
        if memory.total_losses[j] < memory.total_losses[best]:
            best = j
    assign(memory.weights, memory.plays[best])


@expert("calibrated-hedge", update=_update)
@dataclass(frozen=True)
class CalibratedHedge(ExpertLearner[Memory, Rates]):
    r"""Calibrated Hedge (Devaine et al., 2013): Hedge with the learning rate that has incurred the least loss so far.

    Runs Hedge with every rate of a grid and plays the weights of the best one.

    Parameters
    ----------
    largest_rate : float, default 16.0
        First rate of the grid ($\eta_{\max}$), a finite number > 0.
    n_rates : int, default 16
        Number of rates, each half of the one before, >= 1.

    Notes
    -----
    With $L_{t-1}$ the total losses before round $t$ and the rates $\eta_j = \eta_{\max} 2^{-j}$, round $t$ plays the
    weights of the rate whose own Hedge has lost the least, the larger rate in a tie:

    $$ w_t = w_t^{(j_t)}, \qquad w_{t,i}^{(j)} \propto e^{-\eta_j L_{t-1,i}}, \qquad
       j_t = \arg\min_j \sum_{s<t} \langle w_s^{(j)}, \ell_s \rangle . $$

    Regret: none proved.

    Must know: nothing.

    Time per round: O(K n_rates).

    References
    ----------
    M. Devaine, P. Gaillard, Y. Goude, G. Stoltz, "Forecasting electricity consumption by aggregating specialized
    experts", Machine Learning 90 (2013).

    Examples
    --------
    >>> learner = CalibratedHedge(largest_rate=1.0, n_rates=4)
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.731..., 0.268...])
    """

    largest_rate: float = 16.0
    n_rates: int = 16

    corners = Corners(largest_rate=(TOO_SLOW, LARGEST), n_rates=(1, 64))
    _domains = Domains(largest_rate=POSITIVE, n_rates=COUNT)

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Return uniform weights for every rate, and zero losses."""
        check_memory(self, "n_rates", self.n_rates, 8 * self.n_rates * (n_actions + 1))
        return super().first_memory(n_actions, generator)

    def beliefs(self, state: State[Memory, Rates]) -> Beliefs:
        """Return the weight of each rate: 1 for the one that is played, 0 for the others."""
        beliefs, best = super().beliefs(state), state.memory.total_losses.argmin()
        labels = (f"learning rate {math.ldexp(self.largest_rate, -j):.3g}" for j in range(self.n_rates))
        return replace(beliefs, bases=shares_by_label(labels, np.arange(self.n_rates) == best))

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the number of rates."""
        return {"rates": self.n_rates}
