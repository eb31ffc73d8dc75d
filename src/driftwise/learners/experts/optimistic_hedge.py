r"""Optimistic Hedge: exponential weights of the losses so far and of the losses expected next.

With $L_{t-1}$ the losses summed over the rounds before and $h_t$ the guess of the coming ones ($\ell_{t-1}$ unless
someone knows better, with $\ell_0 = 0$), round $t$ plays

$$ w_{t,i} \propto e^{-\eta_t (L_{t-1,i} + h_{t,i})}, \qquad \eta_t = \eta \quad \text{or} \quad
   \eta_t = \sqrt{\ln K \Big/ \Big(1 + \sum_{s<t} \|\ell_s - h_s\|_\infty^2\Big)} . $$

=======  ==================  ==============================================================
symbol   name in the code    meaning
=======  ==================  ==============================================================
$\eta$   `learning_rate`     how fast losses move the weights; None is the anytime rate
=======  ==================  ==============================================================

Pathwise against every fixed action, with $D = \sum_t \|\ell_t - h_t\|_\infty^2$: $\ln(K)/\eta + \eta D / 2$ with a
fixed rate, and $2 \sqrt{(1 + D) \ln K}$ with the anytime one. It never forgets.

Reference: C.-K. Chiang et al., "Online optimization with gradual variations", COLT 2012, who write the fixed rate as
$x_{t+1} \propto x_t e^{-\eta \ell_t}$, $w_t \propto x_t e^{-\eta h_t}$; sums keep what such products lose. The anytime
rate is that of optimistic follow the regularized leader: A. Rakhlin and K. Sridharan, "Online learning with
predictable sequences", COLT 2013.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple, Self

import numpy as np

from driftwise.core.corners import LARGEST, TOO_SLOW, Corners
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import between, distribution, scratch
from driftwise.core.types import Vector, Words
from driftwise.core.validation import require_number
from driftwise.learners.contract import Card, HintedLearner, expert
from driftwise.learners.experts.hedge import Rates
from driftwise.learners.parts.exponential_weights import exponential_weights
from driftwise.theory import expected, pathwise_meta

__all__ = ["OptimisticHedge"]


class Memory(NamedTuple):
    """What the learner carries from round to round."""

    weights: Annotated[Vector, distribution("actions")]  # the next play
    totals: Annotated[Vector, between(0, "rounds", "actions")]  # L
    guess: Annotated[Vector, between(0, 1, "actions")]  # h
    deviation: Annotated[Vector, between(0, "rounds", 1)]  # the sum under the root
    ahead: Annotated[Vector, scratch("actions")]  # L + h


@kernel
def _hint(memory: Memory, rates: Rates, guess: Vector) -> None:
    for k in range(guess.size):
        memory.guess[k] = guess[k]
        memory.ahead[k] = memory.totals[k] + guess[k]
    rate = rates.fixed
    if rate == 0.0:
        rate = np.sqrt(rates.log_actions / (1.0 + memory.deviation[0]))
    exponential_weights(memory.ahead, rate, memory.weights)


@kernel
def _update(memory: Memory, rates: Rates, losses: Vector) -> None:
    farthest = 0.0
    for k in range(losses.size):
        farthest = max(farthest, abs(losses[k] - memory.guess[k]))
        memory.totals[k] += losses[k]
    memory.deviation[0] += farthest * farthest
    _hint(memory, rates, losses)


@expert(
    "optimistic-hedge",
    Card(
        title="Optimistic Hedge",
        in_words="Weigh actions by the exponential of their losses so far and of those expected next.",
        knows="nothing (how much the losses vary, for the fixed rate)",
        cost="O(K)",
        bound="sqrt(ln K sum |l_t - l_(t-1)|^2) against every fixed action",
        reference="Chiang et al. (2012); Rakhlin, Sridharan (2013)",
    ),
    update=_update,
    hint=_hint,
)
@dataclass(frozen=True)
class OptimisticHedge(HintedLearner[Memory, Rates]):
    """Follow the best fixed action; losses that repeat cost next to nothing.

    >>> learner = OptimisticHedge(learning_rate=1.0)
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.880..., 0.119...])
    >>> learner.hint(state, [1.0, 0.0])  # someone knows better what comes next
    >>> learner.predict(state)
    array([0.5, 0.5])
    """

    learning_rate: float | None = None

    corners = Corners(learning_rate=(TOO_SLOW, LARGEST, None))

    def __post_init__(self) -> None:
        if self.learning_rate is not None:
            require_number(self, "learning_rate", lambda x: 0 < x < math.inf, "a finite number > 0")

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Take the fixed rate that minimises the bound; where nothing moves or one action is all, the anytime one."""
        moved = expected.largest_deviation(measures)
        rate = math.sqrt(2 * math.log(measures.n_actions) / moved) if moved else 0.0
        return cls(learning_rate=rate or None)

    def bound(self, measures: Measures) -> float | None:
        """Return the static bound, where the best action never changes."""
        if measures.segments > 1:
            return None
        moved = expected.largest_deviation(measures)
        return min(
            measures.n_rounds, pathwise_meta.optimistic_hedge(moved, measures.n_actions, self.learning_rate)
        )  # fmt: skip

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Start uniform, guessing no losses."""
        uniform = np.full(n_actions, 1.0 / n_actions)
        return Memory(uniform, np.zeros(n_actions), np.zeros(n_actions), np.zeros(1), np.zeros(n_actions))

    def rates(self, n_actions: int) -> Rates:
        """Return the rate and the logarithm it may be made from."""
        return Rates(fixed=self.learning_rate or 0.0, log_actions=math.log(n_actions))
