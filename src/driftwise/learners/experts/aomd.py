r"""Adaptive optimistic mirror descent (AOMD), one phase.

The algorithm of the paper doubles $\lambda$ from phase to phase, as the comparator is observed to move. This file is
one phase: $\lambda$ is constant, and `tuned` sets it from the number of segments. The bound is ours.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple, Self

import numpy as np

from driftwise.core.corners import LARGEST, TOO_SLOW, Corners
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import between, distribution
from driftwise.core.types import Vector, Words
from driftwise.core.validation import POSITIVE, Domains
from driftwise.learners.base import Beliefs, ExpertLearner, State, expert
from driftwise.learners.shared.distributions import proximal_step
from driftwise.theory import expected, pathwise_meta, tuning, vacuous


class Memory(NamedTuple):
    """State of the learner between rounds."""

    weights: Annotated[Vector, distribution("actions")]  # x-hat, the weights of the next round
    center: Annotated[Vector, distribution("actions")]  # x, where the steps start
    last: Annotated[Vector, between(0, 1, "actions")]  # the losses of the last round
    deviation: Annotated[Vector, between(1, "most_deviation", 2)]  # A now and one round before


class Rates(NamedTuple):
    """Parameters passed to the kernel."""

    rate_scale: float


@kernel
def _step(memory: Memory, rates: Rates) -> float:
    return rates.rate_scale / float(np.sqrt(memory.deviation[0]) + np.sqrt(memory.deviation[1]))


@kernel
def _update(memory: Memory, rates: Rates, losses: Vector) -> None:
    # Both steps of a round use the same rate, so the deviation is updated after the first.
    proximal_step(memory.center, losses, _step(memory, rates), memory.center)
    memory.deviation[1] = memory.deviation[0]
    for k in range(losses.size):
        memory.deviation[0] += (losses[k] - memory.last[k]) ** 2
        memory.last[k] = losses[k]
    proximal_step(memory.center, losses, _step(memory, rates), memory.weights)


@expert("aomd", update=_update)
@dataclass(frozen=True)
class AOMD(ExpertLearner[Memory, Rates]):
    r"""AOMD (Jadbabaie et al., 2015), one phase: optimistic gradient descent with a rate that falls as the losses vary.

    Tracks switches. The rate adapts to how much the losses vary.

    Parameters
    ----------
    rate_scale : float, default 2.0
        Size of the steps ($\lambda$), a finite number > 0. The value 2 is twice the radius of the simplex, as in the
        first phase of the paper.

    Notes
    -----
    With $A_t = 1 + \sum_{s \le t} \|\ell_s - \ell_{s-1}\|_2^2$ ($\ell_0 = 0$, $A_0 = A_{-1} = 1$) and $x_1$ uniform,
    round $t$ plays $\hat x_t$, observes $\ell_t$ and moves $x_t$:

    $$ \eta_t = \frac{\lambda}{\sqrt{A_{t-1}} + \sqrt{A_{t-2}}}, \qquad
       \hat x_t = \arg\min_{x \in \Delta} \langle \ell_{t-1}, x \rangle + \tfrac{1}{2 \eta_t} \|x - x_t\|_2^2, \qquad
       x_{t+1} = \arg\min_{x \in \Delta} \langle \ell_t, x \rangle + \tfrac{1}{2 \eta_t} \|x - x_t\|_2^2 . $$

    Regret: $\sqrt{\Gamma (\Lambda + K \Gamma)}$ when tuned, $\Gamma \sqrt{\Lambda + K \Gamma}$ otherwise. For every
    loss sequence, against every comparator with $N$ segments, it is at most $(\lambda / 2 + (2 N + 2) / \lambda)
    \sqrt{A_T}$.

    Must know: nothing (segments, for the tuned scale).

    Time per round: O(K).

    References
    ----------
    A. Jadbabaie, A. Rakhlin, S. Shahrampour, K. Sridharan, "Online optimization: competing with dynamic comparators",
    AISTATS 2015.

    Examples
    --------
    >>> learner = AOMD()
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.25, 0.5])
    >>> learner.predict(state)
    array([0.741..., 0.258...])
    """

    rate_scale: float = 2.0

    corners = Corners(rate_scale=(TOO_SLOW, LARGEST))
    _domains = Domains(rate_scale=POSITIVE)

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Set the scale that minimises the bound for the number of segments."""
        return cls(rate_scale=tuning.aomd_scale(measures))

    def tuning_caveat(self, measures: Measures) -> str:
        """Return a reason where the bound is no better than that of uniform weights."""
        return vacuous.bound(measures, self.bound(measures))

    def bound(self, measures: Measures) -> float:
        """Return the bound against comparators with as many segments as the means."""
        deviation = expected.deviation(measures)
        return min(measures.n_rounds, pathwise_meta.aomd_coarse(deviation, self.rate_scale, measures.segments))

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Return uniform weights, zero losses and A = 1."""
        return super().first_memory(n_actions, generator)._replace(deviation=np.ones(2))

    def beliefs(self, state: State[Memory, Rates]) -> Beliefs:
        r"""Return $(A_t - 1) / 2$ as the estimate of the variance: the losses of two rounds differ by twice theirs."""
        return replace(super().beliefs(state), variance=0.5 * (float(state.memory.deviation[0]) - 1.0))

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the largest possible A after `rounds` rounds."""
        return {"most_deviation": 1 + n_actions * rounds}
