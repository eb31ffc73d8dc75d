"""Rexp3."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple, Self

from driftwise.core.corners import FORGETS_ALL, LONGEST, ONLY_EXPLORES, SMALLEST, Corners, NoLearning
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import HUGE, between, chances, exactly, generator
from driftwise.core.types import Actions, Vector, Words
from driftwise.core.validation import COUNT, Domains, interval, optional
from driftwise.learners.bandits.exp3 import learn
from driftwise.learners.base import BanditLearner, Beliefs, State, bandit
from driftwise.learners.shared.distributions import draw_action
from driftwise.theory import adversarial, vacuous


class Memory(NamedTuple):
    """State of the learner between rounds."""

    probabilities: Annotated[Vector, chances("actions")]  # of the next action
    totals: Annotated[Vector, between(-HUGE, 0, "actions")]  # -G of this block: lower is better
    elapsed: Annotated[Actions, exactly("elapsed", 1)]  # rounds of this block
    generator: Annotated[Words, generator()]


class Rates(NamedTuple):
    """Parameters as the kernels take them."""

    restart_every: int
    exploration_rate: float


@kernel
def _update(memory: Memory, rates: Rates, action: int, loss: float, probability: float) -> None:
    memory.elapsed[0] += 1
    if memory.elapsed[0] < rates.restart_every:
        learn(memory.totals, memory.probabilities, rates.exploration_rate, action, loss, probability)
    else:
        memory.elapsed[0] = 0
        memory.totals[:] = 0.0
        memory.probabilities[:] = 1.0 / memory.totals.size


@bandit("rexp3", choose=draw_action, update=_update)
@dataclass(frozen=True)
class Rexp3(BanditLearner[Memory, Rates]):
    r"""Rexp3 (Besbes, Gur and Zeevi, 2014): Exp3 restarted in blocks of equal length.

    For means that drift.

    Parameters
    ----------
    restart_every : int, default 1000
        Rounds in a block ($B$), a whole number >= 1.
    exploration_rate : float or None, default None
        Share of uniform exploration ($\gamma$), in (0, 1]. None takes the value below for the block length.

    Notes
    -----
    Each block of $B$ rounds is played by Exp3 from its initial state, by default with

    $$ \gamma = \min\Big\{1, \sqrt{\frac{K \ln K}{(e-1) B}}\Big\} . $$

    Regret: $(V K \ln K)^{1/3} T^{2/3}$. With $M$ blocks and $V'$ the drift from round 2 on, the expected dynamic regret
    is at most $(e-1) \gamma T + M K \ln K / \gamma + B \min\{2 V', \Gamma - 1\}$.

    Must know: rounds and drift, through the block length.

    Time per round: O(K).

    References
    ----------
    O. Besbes, Y. Gur, A. Zeevi, "Stochastic multi-armed-bandit problem with non-stationary rewards", NIPS 2014,
    Theorem 2.

    Examples
    --------
    >>> learner = Rexp3(restart_every=2, exploration_rate=0.5)
    >>> state = learner.start(n_actions=2, seed=1)
    >>> learner.update(state, action=1, loss=0.0, probability=0.5)
    >>> state.memory.probabilities
    array([0.438..., 0.561...])
    >>> learner.update(state, action=1, loss=0.0, probability=0.5)
    >>> state.memory.probabilities
    array([0.5, 0.5])
    """

    restart_every: int = 1000
    exploration_rate: float | None = None

    corners = Corners(
        restart_every=(FORGETS_ALL, NoLearning(2, "it restarts after every other round"), LONGEST),
        exploration_rate=(SMALLEST, ONLY_EXPLORES),
    )
    _domains = Domains(restart_every=COUNT, exploration_rate=optional(interval("(0, 1]")))

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        r"""Set the block length of Theorem 2, from which the exploration rate follows.

        With $V'$ the drift from round 2 on, $B = \lceil (K \ln K)^{1/3} (T/V')^{2/3} \rceil$.
        """
        return cls(restart_every=adversarial.rexp3_restart_every(measures))

    def tuning_caveat(self, measures: Measures) -> str:
        """Return a reason where it explores in half of the rounds or more, as in blocks with few rounds per action."""
        return vacuous.exploring(measures, self._exploration_rate(measures.n_actions))

    def bound(self, measures: Measures) -> float:
        """Return the bound of Theorem 2, with constants, for these parameters."""
        return adversarial.rexp3(measures, self._exploration_rate(measures.n_actions), self.restart_every)

    def beliefs(self, state: State[Memory, Rates]) -> Beliefs:
        """Return the rounds since the last restart."""
        return replace(super().beliefs(state), memory=float(state.memory.elapsed[0]))

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the number of rounds of the block so far."""
        return {"elapsed": rounds % self.restart_every}

    def rates(self, n_actions: int) -> Rates:
        """Return the parameters, with the exploration rate computed where it is None."""
        return Rates(self.restart_every, self._exploration_rate(n_actions))

    def _exploration_rate(self, n_actions: int) -> float:
        return self.exploration_rate or adversarial.exp3_exploration_rate(n_actions, self.restart_every)
