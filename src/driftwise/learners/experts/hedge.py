r"""Hedge: exponential weights of the losses so far.

Round $t$ plays, with $L_{t-1}$ the losses summed over the rounds before,

$$ w_{t,i} \propto e^{-\eta_t L_{t-1,i}}, \qquad \eta_t = \eta \quad \text{or} \quad
   \eta_t = \sqrt{8 \ln K / t} . $$

=======  ==================  ==============================================================
symbol   name in the code    meaning
=======  ==================  ==============================================================
$\eta$   `learning_rate`     how fast losses move the weights; None is the anytime rate
=======  ==================  ==============================================================

Pathwise against every fixed action: $\ln(K)/\eta + \eta T/8$ with a fixed rate, and
$2 \sqrt{(T/2) \ln K} + \sqrt{\ln(K)/8}$ with the anytime one. It never forgets, so nothing is promised after a change.

Reference: Y. Freund and R. Schapire, "A decision-theoretic generalization of on-line learning", JCSS 55 (1997);
the anytime rate: N. Cesa-Bianchi and G. Lugosi, "Prediction, Learning, and Games" (2006), Theorem 2.3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple, Self

import numpy as np

from driftwise.core.corners import LARGEST, TOO_SLOW, Corners
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import HUGE, between, distribution, exactly
from driftwise.core.types import Vector, Words
from driftwise.core.validation import require_number
from driftwise.learners.contract import Card, ExpertLearner, expert
from driftwise.learners.parts.exponential_weights import exponential_weights

__all__ = ["Hedge"]


class Memory(NamedTuple):
    """What the learner carries from round to round."""

    weights: Annotated[Vector, distribution("actions")]  # the next play
    totals: Annotated[Vector, between(0, HUGE, "actions")]  # L; a grid may start it with a prior
    rounds: Annotated[Vector, exactly("rounds", 1)]


class Rates(NamedTuple):
    """The parameters, as the kernel reads them."""

    fixed: float  # eta; 0 stands for the anytime rate
    log_actions: float


@kernel
def _update(memory: Memory, rates: Rates, losses: Vector) -> None:
    for k in range(losses.size):
        memory.totals[k] += losses[k]
    memory.rounds[0] += 1.0
    rate = rates.fixed
    if rate == 0.0:
        rate = np.sqrt(8.0 * rates.log_actions / (memory.rounds[0] + 1.0))
    exponential_weights(memory.totals, rate, memory.weights)


@expert(
    "hedge",
    Card(
        title="Hedge (exponential weights)",
        in_words="Weigh actions by the exponential of their losses so far.",
        knows="nothing (the number of rounds, for the fixed rate)",
        cost="O(K)",
        bound="sqrt(T ln K) against every fixed action",
        reference="Freund, Schapire (1997); Cesa-Bianchi, Lugosi (2006)",
    ),
    update=_update,
)
@dataclass(frozen=True)
class Hedge(ExpertLearner[Memory, Rates]):
    """Follow the best fixed action.

    >>> learner = Hedge(learning_rate=1.0)
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.731..., 0.268...])
    """

    learning_rate: float | None = None

    corners = Corners(learning_rate=(TOO_SLOW, LARGEST, None))

    def __post_init__(self) -> None:
        if self.learning_rate is not None:
            require_number(self, "learning_rate", lambda x: 0 < x < math.inf, "a finite number > 0")

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Take the fixed rate for the number of rounds; with one action any rate will do."""
        rate = math.sqrt(8 * math.log(measures.n_actions) / measures.n_rounds)
        return cls(learning_rate=rate or None)

    def bound(self, measures: Measures) -> float | None:
        """Return the static bound, where the best action never changes."""
        if measures.segments > 1:
            return None
        log_actions, T = math.log(measures.n_actions), measures.n_rounds
        if self.learning_rate is None:
            return min(T, 2 * math.sqrt(T / 2 * log_actions) + math.sqrt(log_actions / 8))
        return min(T, log_actions / self.learning_rate + self.learning_rate * T / 8)

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Start uniform."""
        return Memory(np.full(n_actions, 1.0 / n_actions), np.zeros(n_actions), np.zeros(1))

    def rates(self, n_actions: int) -> Rates:
        """Return the rate and the logarithm it may be made from."""
        return Rates(fixed=self.learning_rate or 0.0, log_actions=math.log(n_actions))
