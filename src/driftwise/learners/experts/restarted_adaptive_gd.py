"""Restarted adaptive gradient descent.

The losses of the last round are kept across the border of a block: where losses repeat, a restart costs nothing. An
infinite rate projects on the face of least losses; the rate stays infinite while losses repeat.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple, Self

import numpy as np

from driftwise.core.corners import LONGEST, Corners
from driftwise.core.errors import rejection
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import between, distribution, exactly
from driftwise.core.types import Actions, Vector
from driftwise.core.validation import COUNT, Domains, optional
from driftwise.learners.base import Beliefs, ExpertLearner, State, expert
from driftwise.learners.shared.distributions import proximal_step
from driftwise.theory import expected, tuning

_NEVER = np.iinfo(np.int64).max


class Memory(NamedTuple):
    """State of the learner between rounds."""

    weights: Annotated[Vector, distribution("actions")]  # x-hat, the weights of the next round
    center: Annotated[Vector, distribution("actions")]  # x, where the steps start
    last: Annotated[Vector, between(0, 1, "actions")]  # the losses of the last round
    deviation: Annotated[Vector, between(0, "most_deviation", 1)]  # the sum in eta, over this block
    elapsed: Annotated[Actions, exactly("elapsed", 1)]  # rounds played in this block


class Rates(NamedTuple):
    """Parameters passed to the kernel."""

    restart_every: int


@kernel
def _step(deviation: float) -> float:
    # eta / 2, the projected step for prox_scale = 1.
    return 0.25 / np.sqrt(deviation) if deviation > 0.0 else np.inf


@kernel
def _update(memory: Memory, rates: Rates, losses: Vector) -> None:
    # Both steps of a round use the same rate, so the deviation is updated after the first.
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


@expert("restarted-adaptive-gd", update=_update)
@dataclass(frozen=True)
class RestartedAdaptiveGD(ExpertLearner[Memory, Rates]):
    r"""Restarted adaptive gradient descent (Wei, Hong and Lu, 2016): optimistic gradient descent, restarted in blocks.

    Tracks drift. The rate of a block decreases as the losses vary; only the length of the blocks is a parameter.

    Parameters
    ----------
    restart_every : int or None, default None
        Rounds in a block ($B$), >= 1; None never restarts.

    Notes
    -----
    In a block that starts at round $t_1$, with $x_{t_1}$ uniform, OptimisticGD with $c = 1$ runs at the rate

    $$ \eta_t = 1 \Big/ \sqrt{4 \sum_{\tau=t_1}^{t-1} \|\ell_\tau - \ell_{\tau-1}\|_2^2}, \qquad
       \eta_{t_1} = \infty . $$

    Regret: $(\Lambda V T)^{1/3} + \sqrt K\, V$. For every loss sequence, in each block and against each fixed action,
    it is at most $8.25 \sqrt{D}$ with $D = \sum_\tau \|\ell_\tau - \ell_{\tau-1}\|_2^2$ over the block.

    Must know: rounds, drift and variance, through the block length.

    Time per round: O(K).

    References
    ----------
    C.-Y. Wei, Y.-T. Hong, C.-J. Lu, "Tracking the best expert in non-stationary stochastic environments", NIPS 2016,
    Section 3.2 and Theorem 3.3 (full_info_given_V).

    Examples
    --------
    >>> learner = RestartedAdaptiveGD(restart_every=100)
    >>> state = learner.start(n_actions=3)
    >>> learner.update(state, [0.5, 0.1, 0.9])
    >>> learner.predict(state)
    array([0., 1., 0.])
    """

    restart_every: int | None = None

    corners = Corners(restart_every=(1, 2, LONGEST, None))
    _domains = Domains(restart_every=optional(COUNT))

    @classmethod
    def tuned(cls, measures: Measures, rule: str = "paper") -> Self:
        """Set the block length of Theorem 3.3 (full_info_given_V), or of the least bound (`rule="sharp"`)."""
        if rule not in ("paper", "sharp"):
            raise rejection(cls.__name__, "rule", "'paper' or 'sharp'", rule)
        return cls(restart_every=tuning.restarted_gd_restart_every(measures, rule))

    def bound(self, measures: Measures) -> float:
        """Return the bound of Theorem 3.3 (full_info_given_V), with constants, for this block length."""
        return expected.restarted_adaptive_gd(measures, self.restart_every)

    def beliefs(self, state: State[Memory, Rates]) -> Beliefs:
        """Return the rounds since the last restart."""
        return replace(super().beliefs(state), memory=float(state.memory.elapsed[0]))

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the rounds played in the block, and the largest possible deviation in it."""
        elapsed = rounds % (self.restart_every or _NEVER)
        return {"elapsed": elapsed, "most_deviation": n_actions * elapsed}

    def rates(self, n_actions: int) -> Rates:
        """Return the block length."""
        return Rates(restart_every=self.restart_every or _NEVER)
