r"""Bandit over bandit: EXP3 chooses the window of sliding-window UCB, block by block.

Rounds come in blocks of $H$. At the start of each, EXP3 draws a window from $J = \{\lfloor H^{j/\Delta} \rfloor : j =
0, \ldots, \Delta\}$, $\Delta = \lceil \ln H \rceil$, and sliding-window UCB plays the block with it, knowing nothing
of the blocks before. With $g$ the share of losses spared in the block and $p_j$ the chance of its window,

$$ w_j \leftarrow w_j \exp\Big(\frac{\gamma}{\Delta + 1} \frac{g}{p_j}\Big), \qquad
   p_i = (1 - \gamma) \frac{w_i}{\sum_k w_k} + \frac{\gamma}{\Delta + 1} . $$

========  ==================  ========================================================
symbol    name in the code    meaning
========  ==================  ========================================================
$H$       `restart_every`             rounds in a block
$\gamma$  `exploration_rate`            the share of blocks whose window is drawn uniformly
$\xi$     `log_scale`        how wide the intervals of sliding-window UCB are
========  ==================  ========================================================

Tuned: $H = \lceil \sqrt{KT} \rceil$ and $\gamma = \min\{1, \sqrt{(\Delta+1) \ln(\Delta+1) / ((e-1) \lceil T/H
\rceil)}\}$. It needs to know neither segments nor drift: $\tilde O((KV)^{1/3} T^{2/3} + K^{1/4} T^{3/4})$. The
original has another width of the intervals; equal windows count once in $J$.

Reference: W. Cheung, D. Simchi-Levi, R. Zhu, "Learning to optimize under non-stationarity", AISTATS 2019; "Hedging the
drift: learning to optimize under nonstationarity", Management Science 68 (2022).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple, Self

import numpy as np

from driftwise.core.corners import ONLY_EXPLORES, SMALLEST, TOO_WIDE, Corners, NoLearning
from driftwise.core.kernel import kernel
from driftwise.core.machine_memory import check_memory
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import HUGE, between, distribution, exactly, generator, index
from driftwise.core.types import Actions, Vector, Words
from driftwise.core.validation import require_count, require_number
from driftwise.learners.bandits.exp3 import learn
from driftwise.learners.bandits.sliding_window_ucb import SlidingWindowUCB
from driftwise.learners.contract import BanditLearner, Card, bandit
from driftwise.learners.parts.index_learner import lowest, slide_by
from driftwise.learners.parts.index_memory_checks import ring_contradiction, rounding, sums_contradiction
from driftwise.learners.parts.sampling import draw

__all__ = ["BanditOverBandit"]


class Memory(NamedTuple):
    """What the learner carries from round to round; the first seven are the memory of the block."""

    plays: Annotated[Vector, between(0, "elapsed", "actions")]
    total: Annotated[Vector, between("least_sum", "elapsed", "actions")]
    squares: Annotated[Vector, between("least_sum", "elapsed", "actions")]
    counted: Annotated[Vector, between(0, "elapsed", 1)]
    clock: Annotated[Actions, exactly("elapsed", 1)]  # rounds of the block
    acts: Annotated[Actions, index("actions", "restart_every", none=True)]  # a ring of the latest actions
    seen: Annotated[Vector, between(0, 1, "restart_every")]
    windows: Annotated[Actions, between(1, "restart_every", "windows")]  # J
    standing: Annotated[Vector, between(-HUGE, 0, "windows")]  # less what EXP3 thinks they spared
    chances: Annotated[Vector, distribution("windows")]  # p
    drawn: Annotated[Actions, index("windows", 1)]  # the place in J of the window of the block
    suffered: Annotated[Vector, between(0, "elapsed", 1)]  # the losses of the block
    generator: Annotated[Words, generator()]


class Rates(NamedTuple):
    """The parameters, as the kernels read them."""

    width: float  # xi
    exploration_rate: float


@kernel
def _update(memory: Memory, rates: Rates, action: int, loss: float, probability: float) -> None:  # noqa: ARG001
    window = memory.drawn[0]
    slide_by(memory, rates, memory.windows[window], action, loss)
    memory.clock[0] += 1
    memory.suffered[0] += loss
    if memory.clock[0] == memory.seen.size:
        suffered = memory.suffered[0] / memory.seen.size
        learn(memory.standing, memory.chances, rates.exploration_rate, window, suffered, memory.chances[window])
        memory.drawn[0] = draw(memory.chances, memory.generator)[0]
        memory.plays[:] = 0.0
        memory.total[:] = 0.0
        memory.squares[:] = 0.0
        memory.counted[:] = 0.0
        memory.acts[:] = -1
        memory.clock[0] = 0
        memory.suffered[0] = 0.0


@bandit(
    "bandit-over-bandit",
    Card(
        title="Bandit over bandit",
        in_words="Play sliding-window UCB, and let EXP3 find the window.",
        knows="rounds, through the block",
        cost="O(K)",
        bound="(K V)^(1/3) T^(2/3) + K^(1/4) T^(3/4), up to logarithms",
        reference="Cheung, Simchi-Levi, Zhu (2019, 2022)",
    ),
    choose=lowest(SlidingWindowUCB),
    update=_update,
)
@dataclass(frozen=True)
class BanditOverBandit(BanditLearner[Memory, Rates]):
    """Choose among drifting actions without knowing how fast they drift.

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

    def __post_init__(self) -> None:
        require_count(self, "restart_every")
        require_number(self, "exploration_rate", lambda x: 0 < x <= 1, "in (0, 1]")
        require_number(self, "log_scale", lambda x: 0 < x < math.inf, "a finite number > 0")

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Set block and exploration_rate by the number of rounds."""
        K, T = measures.n_actions, measures.n_rounds
        restart_every = math.ceil(math.sqrt(K * T))
        size = math.ceil(math.log(restart_every)) + 1
        exploration_rate = math.sqrt(size * math.log(size) / ((math.e - 1) * math.ceil(T / restart_every)))
        return cls(restart_every=restart_every, exploration_rate=min(1.0, exploration_rate) or 1.0)

    @property
    def windows(self) -> list[int]:
        """The windows to choose from."""
        steps = math.ceil(math.log(self.restart_every))
        return sorted({int(self.restart_every ** (j / max(1, steps)) + 1e-9) for j in range(steps + 1)})

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Draw the first window."""
        check_memory(self, "restart_every", self.restart_every, 16 * self.restart_every)
        plays, total, squares = np.zeros((3, n_actions))
        windows = np.array(self.windows)
        chances = np.full(len(windows), 1.0 / len(windows))
        return Memory(
            plays=plays,
            total=total,
            squares=squares,
            counted=np.zeros(1),
            clock=np.zeros(1, np.int64),
            acts=np.full(self.restart_every, -1),
            seen=np.zeros(self.restart_every),
            windows=windows,
            standing=np.zeros(len(windows)),
            chances=chances,
            drawn=np.array([draw(chances, generator)[0]]),
            suffered=np.zeros(1),
            generator=generator,
        )

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the sizes of the block and of its windows, its rounds, and how far below 0 rounding leaves sums."""
        sizes = {"restart_every": self.restart_every, "windows": len(self.windows)}
        return {**sizes, "elapsed": rounds % self.restart_every, "least_sum": -rounding(self.restart_every)}

    def memory_contradiction(self, memory: Memory, rounds: int) -> str:
        """Check the windows, and the sums against the ring."""
        if memory.windows.tolist() != self.windows:
            return f"`windows` must be {self.windows}"
        window = self.windows[int(memory.drawn[0])]
        return ring_contradiction(memory, window) or sums_contradiction(memory, window)

    def rates(self, n_actions: int) -> Rates:
        """Return the parameters."""
        return Rates(self.log_scale, self.exploration_rate)
