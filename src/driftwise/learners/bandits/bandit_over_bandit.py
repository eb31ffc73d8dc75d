r"""Bandit over bandit.

The original has another confidence radius. Equal windows count once in $J$, whose size then replaces $\Delta + 1$.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple, Self

from driftwise.core.corners import ONLY_EXPLORES, SMALLEST, TOO_WIDE, Corners, NoLearning
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import HUGE, between, distribution, exactly, generator, index
from driftwise.core.types import Actions, Vector, Words
from driftwise.core.validation import COUNT, POSITIVE, Domains, check_memory, interval
from driftwise.learners.bandits.exp3 import learn
from driftwise.learners.bandits.ucb1 import SlidingWindowUCB
from driftwise.learners.base import BanditLearner, Beliefs, State, bandit
from driftwise.learners.base.beliefs import shares_by_label
from driftwise.learners.shared.distributions import draw
from driftwise.learners.shared.index_learner import lowest, ring_contradiction, rounding, slide_by, sums_contradiction


class Memory(NamedTuple):
    """State of the learner between rounds; the first seven fields are the state of sliding-window UCB in the block."""

    plays: Annotated[Vector, between(0, "elapsed", "actions")]
    total: Annotated[Vector, between("least_sum", "elapsed", "actions")]
    squares: Annotated[Vector, between("least_sum", "elapsed", "actions")]
    counted: Annotated[Vector, between(0, "elapsed", 1)]
    clock: Annotated[Actions, exactly("elapsed", 1)]  # rounds of the block
    ring_actions: Annotated[Actions, index("actions", "restart_every", none=True)]  # ring of the latest actions
    ring_losses: Annotated[Vector, between(0, 1, "restart_every")]  # their losses
    windows: Annotated[Actions, between(1, "restart_every", "windows")]  # J
    window_totals: Annotated[Vector, between(-HUGE, 0, "windows")]  # negated sums of the estimated gains, as in Exp3
    chances: Annotated[Vector, distribution("windows")]  # p
    drawn: Annotated[Actions, index("windows", 1)]  # index in J of the window of the block
    block_loss: Annotated[Vector, between(0, "elapsed", 1)]  # sum of the losses of the block
    generator: Annotated[Words, generator()]


class Rates(NamedTuple):
    """Parameters as the kernels take them."""

    log_scale: float  # xi
    exploration_rate: float


@kernel
def _update(memory: Memory, rates: Rates, action: int, loss: float, probability: float) -> None:  # noqa: ARG001
    window = memory.drawn[0]
    slide_by(memory, rates, memory.windows[window], action, loss)
    memory.clock[0] += 1
    memory.block_loss[0] += loss
    if memory.clock[0] == memory.ring_losses.size:
        mean_loss = memory.block_loss[0] / memory.ring_losses.size
        learn(memory.window_totals, memory.chances, rates.exploration_rate, window, mean_loss, memory.chances[window])
        memory.drawn[0] = draw(memory.chances, memory.generator)[0]
        memory.plays[:] = 0.0
        memory.total[:] = 0.0
        memory.squares[:] = 0.0
        memory.counted[:] = 0.0
        memory.ring_actions[:] = -1
        memory.clock[0] = 0
        memory.block_loss[0] = 0.0


@bandit("bandit-over-bandit", choose=lowest(SlidingWindowUCB), update=_update)
@dataclass(frozen=True)
class BanditOverBandit(BanditLearner[Memory, Rates]):
    r"""Bandit over bandit (Cheung, Simchi-Levi and Zhu, 2019): sliding-window UCB whose window Exp3 chooses per block.

    For means that drift at an unknown speed.

    Parameters
    ----------
    restart_every : int, default 200
        Rounds in a block ($H$), a whole number >= 1.
    exploration_rate : float, default 0.2
        Share of blocks whose window is drawn uniformly ($\gamma$), in (0, 1].
    log_scale : float, default 0.6
        Factor on the logarithm in the confidence radius of sliding-window UCB ($\xi$), a finite number > 0.

    Notes
    -----
    At the start of each block of $H$ rounds, Exp3 draws a window from
    $J = \{\lfloor H^{j/\Delta} \rfloor : j = 0, \ldots, \Delta\}$, $\Delta = \lceil \ln H \rceil$, and sliding-window
    UCB plays the block with it from its initial state. With $g$ one less the mean loss of the block and $p_j$ the
    probability of its window,

    $$ w_j \leftarrow w_j \exp\Big(\frac{\gamma}{\Delta + 1} \frac{g}{p_j}\Big), \qquad
       p_i = (1 - \gamma) \frac{w_i}{\sum_k w_k} + \frac{\gamma}{\Delta + 1} . $$

    Regret: $(K V)^{1/3} T^{2/3} + K^{1/4} T^{3/4}$, up to logarithms. It needs neither segments nor drift.

    Must know: rounds, through the block.

    Time per round: O(K).

    References
    ----------
    W. Cheung, D. Simchi-Levi, R. Zhu, "Learning to optimize under non-stationarity", AISTATS 2019.

    W. Cheung, D. Simchi-Levi, R. Zhu, "Hedging the drift: learning to optimize under nonstationarity", Management
    Science 68 (2022).

    Examples
    --------
    >>> learner = BanditOverBandit(restart_every=4)
    >>> learner.start(n_actions=2).memory.windows
    array([1, 2, 4])
    """

    restart_every: int = 200
    exploration_rate: float = 0.2
    log_scale: float = 0.6

    corners = Corners(
        restart_every=(
            NoLearning(1, "a block cannot try two actions"),
            NoLearning(2, "a block cannot try three actions"),
            10_000,
        ),
        exploration_rate=(SMALLEST, ONLY_EXPLORES),
        log_scale=(SMALLEST, TOO_WIDE),
    )
    _domains = Domains(restart_every=COUNT, exploration_rate=interval("(0, 1]"), log_scale=POSITIVE)

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        r"""Set block length and exploration rate by the source's rule for the number of rounds.

        $H = \lceil \sqrt{KT} \rceil$ and
        $\gamma = \min\{1, \sqrt{(\Delta+1) \ln(\Delta+1) / ((e-1) \lceil T/H \rceil)}\}$.
        """
        K, T = measures.n_actions, measures.n_rounds
        restart_every = math.ceil(math.sqrt(K * T))
        size = math.ceil(math.log(restart_every)) + 1
        exploration_rate = math.sqrt(size * math.log(size) / ((math.e - 1) * math.ceil(T / restart_every)))
        return cls(restart_every=restart_every, exploration_rate=min(1.0, exploration_rate) or 1.0)

    @property
    def windows(self) -> list[int]:
        """The set $J$ of windows, in increasing order."""
        steps = math.ceil(math.log(self.restart_every))
        return sorted({int(self.restart_every ** (j / max(1, steps)) + 1e-9) for j in range(steps + 1)})

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Return an empty block with its window drawn uniformly."""
        check_memory(self, "restart_every", self.restart_every, 16 * self.restart_every)
        memory = super().first_memory(n_actions, generator)
        memory.ring_actions[:] = -1
        memory.windows[:] = self.windows
        memory.drawn[0] = draw(memory.chances, generator)[0]
        return memory

    def beliefs(self, state: State[Memory, Rates]) -> Beliefs:
        """Return the probabilities of the windows, and the rounds in the window of this block."""
        beliefs, memory = super().beliefs(state), state.memory
        labels = (f"window of {window}" for window in memory.windows)
        return replace(beliefs, memory=float(memory.counted[0]), bases=shares_by_label(labels, memory.chances))

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return block length, number of windows, rounds of this block and how far below 0 rounding takes sums."""
        sizes = {"restart_every": self.restart_every, "windows": len(self.windows)}
        return {**sizes, "elapsed": rounds % self.restart_every, "least_sum": -rounding(self.restart_every)}

    def memory_contradiction(self, memory: Memory, rounds: int) -> str:
        """Return what is wrong with the windows or with the sums over the ring."""
        if memory.windows.tolist() != self.windows:
            return f"`windows` must be {self.windows}"
        window = self.windows[int(memory.drawn[0])]
        return ring_contradiction(memory, window) or sums_contradiction(memory, window)
