r"""Fixed Share.

This file shares $\alpha$ over all $K$ actions, the paper over the other $K-1$. Weights are kept as logarithms (see
`fixed_share_weights`), so that weights too small for a double are not lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple, Self

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import between, distribution
from driftwise.core.types import Vector, Words
from driftwise.learners.contract import expert
from driftwise.learners.parts.fixed_share_weights import FixedShareLearner, Rates, absorb
from driftwise.theory import fixed_share_bounds

__all__ = ["FixedShare"]


class Memory(NamedTuple):
    """State of the learner between rounds."""

    weights: Annotated[Vector, distribution("actions")]  # the weights of the next round
    totals: Annotated[Vector, between(0, "most_total", "actions")]  # -ln(w); without sharing, the total losses


@kernel
def _update(memory: Memory, rates: Rates, losses: Vector) -> None:
    absorb(memory.totals, rates, losses, memory.weights)


@expert("fixed-share", update=_update)
@dataclass(frozen=True)
class FixedShare(FixedShareLearner[Memory]):
    r"""Fixed Share (Herbster and Warmuth, 1998): exponential weights with a fixed share of uniform weight.

    Tracks the best action through switches. With a switch rate of 0 it is Hedge.

    Parameters
    ----------
    learning_rate : float, default 0.5
        How fast losses move the weights ($\eta$), a finite number > 0.
    switch_rate : float, default 0.01
        Chance per round that the best action changes ($\alpha$), in [0, 1].

    Notes
    -----
    Round $t$ plays $w_t$ and observes the losses $\ell_t \in [0, 1]^K$:

    $$ v_{t,i} \propto w_{t,i}\, e^{-\eta \ell_{t,i}}, \qquad w_{t+1,i} = (1-\alpha)\, v_{t,i} + \alpha / K . $$

    Regret: sqrt(Gamma T ln(K T / Gamma)). For every loss sequence, against every sequence of actions with $m$ switches,
    it is at most $\frac1\eta [(m+1) \ln K + m \ln\frac1\alpha + (T-m-1) \ln\frac{1}{1-\alpha}] + \eta T / 8$.

    Must know: rounds and segments, through the two rates.

    Time per round: O(K).

    References
    ----------
    M. Herbster, M. Warmuth, "Tracking the best expert", Machine Learning 32 (1998).

    N. Cesa-Bianchi, G. Lugosi, "Prediction, Learning, and Games", Cambridge University Press (2006), for a share that
    goes to all actions.

    Examples
    --------
    >>> learner = FixedShare(learning_rate=1.0, switch_rate=0.5)
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.615..., 0.384...])
    """

    learning_rate: float = 0.5
    switch_rate: float = 0.01

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Set the rates that minimise the bound for the number of rounds and segments."""
        return cls(*fixed_share_bounds.rates(measures))

    def bound(self, measures: Measures) -> float:
        """Return the bound against sequences with as many switches as the means."""
        T = measures.n_rounds
        length = fixed_share_bounds.code_length(measures.n_actions, T, measures.segments - 1, self.switch_rate)
        return min(T, length / self.learning_rate + self.learning_rate * T / 8)

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Return uniform weights and zero totals."""
        return Memory(np.full(n_actions, 1.0 / n_actions), np.zeros(n_actions))
