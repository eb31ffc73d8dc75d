r"""Restarted adaptive gradient descent: Algorithm 2 run afresh in blocks, its rate set by what it sees.

In a block that starts at round $t_1$, with $x_{t_1}$ uniform, Algorithm 2 runs with

$$ \eta_t = 1 \Big/ \sqrt{4 \sum_{\tau=t_1}^{t-1} \|\ell_\tau - \ell_{\tau-1}\|_2^2}, \qquad
   \eta_{t_1} = \infty . $$

The last losses are carried over the border of a block: when they repeat, a restart costs nothing.

=======  ===================  =====================================================
symbol   name in the code     meaning
=======  ===================  =====================================================
$B$      `restart_every`      rounds in a block; None never restarts
=======  ===================  =====================================================

An infinite rate projects on the face of least losses; it stays infinite while losses repeat.
Pathwise, in each block and against each fixed action: $\text{regret} \le 8.25 \sqrt{D}$.

Reference: Wei, Hong, Lu (2016), Section 3.2 and Theorem full_info_given_V.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple, Self

import numpy as np

from driftwise.core.corners import LONGEST, Corners
from driftwise.core.errors import rejection
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import between, distribution, exactly
from driftwise.core.types import Actions, Vector, Words
from driftwise.core.validation import require_count
from driftwise.learners.contract import Card, ExpertLearner, expert
from driftwise.learners.parts.simplex import proximal_step
from driftwise.theory import expected, tuning

__all__ = ["RestartedAdaptiveGD"]

_NEVER = np.iinfo(np.int64).max


class Memory(NamedTuple):
    """What the learner carries from round to round."""

    weights: Annotated[Vector, distribution("actions")]  # the next play, x-hat
    center: Annotated[Vector, distribution("actions")]  # x
    last: Annotated[Vector, between(0, 1, "actions")]  # the last losses
    deviation: Annotated[Vector, between(0, "most_deviation", 1)]  # the sum under the root, in this block
    elapsed: Annotated[Actions, exactly("elapsed", 1)]  # rounds of this block


class Rates(NamedTuple):
    """The parameters, as the kernel reads them."""

    restart_every: int


@kernel
def _step(deviation: float) -> float:
    # eta / 2, the projected step of the printed prox.
    return 0.25 / np.sqrt(deviation) if deviation > 0.0 else np.inf


@kernel
def _update(memory: Memory, rates: Rates, losses: Vector) -> None:
    # Both steps of a round use one rate, so the deviation of this round comes in after the first.
    proximal_step(memory.center, losses, _step(memory.deviation[0]), memory.center)
    squared = 0.0
    for k in range(losses.size):
        squared += (losses[k] - memory.last[k]) ** 2
        memory.last[k] = losses[k]
    memory.deviation[0] += squared
    memory.elapsed[0] += 1
    if memory.elapsed[0] == rates.restart_every:
        memory.elapsed[0] = 0
        memory.deviation[0] = 0.0
        memory.center[:] = 1.0 / losses.size
    proximal_step(memory.center, memory.last, _step(memory.deviation[0]), memory.weights)


@expert(
    "restarted-adaptive-gd",
    Card(
        title="Restarted adaptive gradient descent (Theorem full_info_given_V)",
        in_words="Optimistic gradient descent in blocks, each with a rate that shrinks as the losses vary.",
        knows="rounds, drift and variance, through the block length",
        cost="O(K)",
        bound="(Lambda V T)^(1/3) + sqrt(K) V",
        reference="Wei, Hong, Lu (2016), Section 3.2 and Theorem full_info_given_V",
    ),
    update=_update,
)
@dataclass(frozen=True)
class RestartedAdaptiveGD(ExpertLearner[Memory, Rates]):
    """Track drifting distributions, told only how often to start again.

    >>> learner = RestartedAdaptiveGD(restart_every=100)
    >>> state = learner.start(n_actions=3)
    >>> learner.update(state, [0.5, 0.1, 0.9])
    >>> learner.predict(state)
    array([0., 1., 0.])
    """

    restart_every: int | None = None

    corners = Corners(restart_every=(1, 2, LONGEST, None))

    def __post_init__(self) -> None:
        if self.restart_every is not None:
            require_count(self, "restart_every")

    @classmethod
    def tuned(cls, measures: Measures, rule: str = "paper") -> Self:
        """Take the block length of Theorem full_info_given_V, or that of its least bound (`rule="sharp"`)."""
        if rule not in ("paper", "sharp"):
            raise rejection(cls.__name__, "rule", "'paper' or 'sharp'", rule)
        return cls(restart_every=tuning.restarted_gd_restart_every(measures, rule))

    def bound(self, measures: Measures) -> float:
        """Return Theorem full_info_given_V's bound, with constants, for this block length."""
        return expected.restarted_adaptive_gd(measures, self.restart_every)

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Start uniform, with no losses seen."""
        uniform = np.full(n_actions, 1.0 / n_actions)
        return Memory(uniform, uniform.copy(), np.zeros(n_actions), np.zeros(1), np.zeros(1, np.int64))

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the rounds of the block, and what its sum can have grown to."""
        elapsed = rounds % (self.restart_every or _NEVER)
        return {"elapsed": elapsed, "most_deviation": n_actions * elapsed}

    def rates(self, n_actions: int) -> Rates:
        """Return the block length."""
        return Rates(restart_every=self.restart_every or _NEVER)
