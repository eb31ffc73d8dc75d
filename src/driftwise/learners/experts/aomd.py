r"""Adaptive optimistic mirror descent: Algorithm 2 with a rate that falls as the losses surprise (one phase).

With $A_t = 1 + \sum_{s \le t} \|\ell_s - \ell_{s-1}\|_2^2$ ($\ell_0 = 0$, $A_0 = A_{-1} = 1$) and $x_1$ uniform, round
$t$ plays $\hat x_t$, then sees $\ell_t$ and moves $x_t$:

$$ \eta_t = \frac{\lambda}{\sqrt{A_{t-1}} + \sqrt{A_{t-2}}}, \qquad
   \hat x_t = \arg\min_{x \in \Delta} \langle \ell_{t-1}, x \rangle + \tfrac{1}{2 \eta_t} \|x - x_t\|_2^2, \qquad
   x_{t+1} = \arg\min_{x \in \Delta} \langle \ell_t, x \rangle + \tfrac{1}{2 \eta_t} \|x - x_t\|_2^2 . $$

=========  ==================  =========================================================================
symbol     name in the code    meaning
=========  ==================  =========================================================================
$\lambda$  `rate_scale`        the size of the steps; 2 is twice the radius of the simplex, as in a
                               first phase
=========  ==================  =========================================================================

Pathwise against every comparator with $N$ segments: $(\lambda / 2 + (2 N + 2) / \lambda) \sqrt{A_T}$.

Reference: A. Jadbabaie, A. Rakhlin, S. Shahrampour, K. Sridharan, "Online optimization: competing with dynamic
comparators", AISTATS 2015. Their algorithm doubles $\lambda$, phase after phase, as the comparator is seen to move;
this file is one phase: $\lambda$ stays, and `tuned` sets it from the number of segments. The bound above is ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple, Self

import numpy as np

from driftwise.core.corners import LARGEST, TOO_SLOW, Corners
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import between, distribution
from driftwise.core.types import Vector, Words
from driftwise.core.validation import require_number
from driftwise.learners.contract import Card, ExpertLearner, expert
from driftwise.learners.parts.simplex import proximal_step
from driftwise.theory import expected, pathwise_meta, tuning, vacuous

__all__ = ["AOMD"]


class Memory(NamedTuple):
    """What the learner carries from round to round."""

    weights: Annotated[Vector, distribution("actions")]  # the next play, x-hat
    center: Annotated[Vector, distribution("actions")]  # x
    last: Annotated[Vector, between(0, 1, "actions")]  # the last losses
    deviation: Annotated[Vector, between(1, "most_deviation", 2)]  # A now and one round earlier


class Rates(NamedTuple):
    """The parameters, as the kernel reads them."""

    scale: float


@kernel
def _step(memory: Memory, rates: Rates) -> float:
    return rates.scale / float(np.sqrt(memory.deviation[0]) + np.sqrt(memory.deviation[1]))


@kernel
def _update(memory: Memory, rates: Rates, losses: Vector) -> None:
    # Both steps of a round use one rate, so the deviation of this round comes in after the first.
    proximal_step(memory.center, losses, _step(memory, rates), memory.center)
    memory.deviation[1] = memory.deviation[0]
    for k in range(losses.size):
        memory.deviation[0] += (losses[k] - memory.last[k]) ** 2
        memory.last[k] = losses[k]
    proximal_step(memory.center, losses, _step(memory, rates), memory.weights)


@expert(
    "aomd",
    Card(
        title="Adaptive optimistic mirror descent (AOMD, one phase)",
        in_words="Optimistic gradient descent whose rate falls with the surprises so far.",
        knows="nothing (segments, for the scale of the rate)",
        cost="O(K)",
        bound="sqrt(Gamma (Lambda + K Gamma)) when tuned, Gamma sqrt(Lambda + K Gamma) otherwise",
        reference="Jadbabaie, Rakhlin, Shahrampour, Sridharan (2015), without the doubling of its phases",
    ),
    update=_update,
)
@dataclass(frozen=True)
class AOMD(ExpertLearner[Memory, Rates]):
    """Track switching distributions without knowing how the losses vary.

    >>> learner = AOMD()
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.25, 0.5])
    >>> learner.predict(state)
    array([0.741..., 0.258...])
    """

    rate_scale: float = 2.0

    corners = Corners(rate_scale=(TOO_SLOW, LARGEST))

    def __post_init__(self) -> None:
        require_number(self, "rate_scale", lambda x: 0 < x < math.inf, "a finite number > 0")

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Take the scale that minimises the bound for the number of segments."""
        return cls(rate_scale=tuning.aomd_scale(measures))

    def tuning_caveat(self, measures: Measures) -> str:
        """Return a reason where its bound is no better than that of uniform play."""
        return vacuous.bound(measures, self.bound(measures))

    def bound(self, measures: Measures) -> float:
        """Return the bound against as many segments as the means have."""
        moved = expected.deviation(measures)
        return min(measures.n_rounds, pathwise_meta.aomd_coarse(moved, self.rate_scale, measures.segments))

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Start uniform, with no losses seen."""
        uniform = np.full(n_actions, 1.0 / n_actions)
        return Memory(uniform, uniform.copy(), np.zeros(n_actions), np.ones(2))

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return what A can have grown to."""
        return {"most_deviation": 1 + n_actions * rounds}

    def rates(self, n_actions: int) -> Rates:
        """Return the scale."""
        return Rates(scale=self.rate_scale)
