r"""Index learners: play the action with the lowest index, a lower confidence bound on its loss or a sample of it.

An index learner is made of three kernels. `keep(memory, rates, action, loss)` updates the statistics: of all rounds, of
a discounted past, or of a window. `level(counted, rates)` is the confidence level that all indices share, such as
$\ln t$. `score(memory, rates, action, level)` is the index, the lower the better, and minus infinity where the action
must be played at once. Ties go to the action played least, then to the first. Where the score is expensive, two more
kernels avoid computing most of them: see `index_pruning`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from driftwise.core.kernel import clone, generic_kernel, kernel, unbound
from driftwise.core.machine_memory import check_memory
from driftwise.core.memory_fields import between, generator, index, packed
from driftwise.core.types import Actions, Matrix, Vector, Words
from driftwise.learners.contract import BanditLearner, Beliefs, State, bandit
from driftwise.learners.contract.type_variables import R
from driftwise.learners.parts.alarm_log import alarm_log
from driftwise.learners.parts.index_memory_checks import ring_contradiction, rounding, sums_contradiction
from driftwise.learners.parts.index_pruning import Pruning, lowest_by_pruning

__all__ = [
    "IndexLearner",
    "IndexMemory",
    "add",
    "counted",
    "fade",
    "index_learner",
    "log_level",
    "lowest",
    "reset_action",
    "slide",
    "slide_by",
]

Kernel = Callable[..., Any]
KEEP: Kernel = unbound
COUNTED: Kernel = unbound
LEVEL: Kernel = unbound
SCORE: Kernel = unbound
CHANCE = 1.0  # the probability of the choice; `clone` binds it


class IndexMemory(NamedTuple):
    """State of an index learner between rounds; statistics are of the rounds that `keep` counts."""

    plays: Annotated[Vector, between(0, "rounds", "actions")]  # of each action; not whole numbers with a discount
    total: Annotated[Vector, between("least_sum", "rounds", "actions")]  # losses; sums, so that 0/1 losses tie exactly
    squares: Annotated[Vector, between("least_sum", "rounds", "actions")]  # sums of squared losses
    counted: Annotated[Vector, between(0, "rounds", 1)]  # the plays of all actions
    clock: Annotated[Actions, between(0, "rounds", 2)]  # rounds played now, and at the last reset of all actions
    reset_rounds: Annotated[Actions, between(0, "rounds", "actions")]  # rounds played at the last reset of each action
    ring_actions: Annotated[Actions, index("actions", "window", none=True)]  # the latest ones; empty without a window
    ring_losses: Annotated[Vector, between(0, 1, "window")]
    detector_rows: Annotated[Matrix, packed("actions", "width")]  # memories of detectors; no columns without them
    alarms: Annotated[Actions, alarm_log("log")]  # of the detectors; empty without them
    generator: Annotated[Words, generator()]


@generic_kernel
def add(memory: Any, rates: Any, action: int, loss: float) -> None:  # noqa: ARG001
    """Count the round with all rounds before it."""
    memory.plays[action] += 1.0
    memory.total[action] += loss
    memory.squares[action] += loss * loss
    memory.counted[0] += 1.0


@generic_kernel
def fade(memory: IndexMemory, rates: Any, action: int, loss: float) -> None:
    """Multiply the statistics of all actions by the discount, then count the round."""
    for i in range(memory.plays.size):
        memory.plays[i] *= rates.discount
        memory.total[i] *= rates.discount
        memory.squares[i] *= rates.discount
    memory.counted[0] *= rates.discount
    add(memory, rates, action, loss)


@generic_kernel
def _recompute_sums(memory: Any, window: int) -> None:
    memory.total[:] = 0.0
    memory.squares[:] = 0.0
    for at in range(window):
        if memory.ring_actions[at] >= 0:
            memory.total[memory.ring_actions[at]] += memory.ring_losses[at]
            memory.squares[memory.ring_actions[at]] += memory.ring_losses[at] * memory.ring_losses[at]


@generic_kernel
def slide_by(memory: Any, rates: Any, window: int, action: int, loss: float) -> None:
    """Count the latest `window` rounds, at most as many as the ring holds."""
    at = memory.clock[0] % window
    oldest, gone = memory.ring_actions[at], memory.ring_losses[at]
    if oldest >= 0:
        memory.plays[oldest] -= 1.0
        memory.total[oldest] -= gone
        memory.squares[oldest] -= gone * gone
        memory.counted[0] -= 1.0
    memory.ring_actions[at], memory.ring_losses[at] = action, loss
    add(memory, rates, action, loss)
    if at == window - 1:  # once a window, so that rounding does not accumulate
        _recompute_sums(memory, window)


@generic_kernel
def slide(memory: IndexMemory, rates: Any, action: int, loss: float) -> None:
    """Count as many of the latest rounds as the ring holds; all rounds if the ring is empty."""
    if memory.ring_losses.size == 0:
        add(memory, rates, action, loss)
    else:
        slide_by(memory, rates, memory.ring_losses.size, action, loss)


@kernel
def reset_action(memory: IndexMemory, action: int) -> None:
    """Discard the statistics of one action and the memory of its detector."""
    memory.plays[action], memory.total[action], memory.squares[action] = 0.0, 0.0, 0.0
    memory.reset_rounds[action] = memory.clock[0]
    memory.counted[0] = 0.0
    for i in range(memory.plays.size):
        memory.counted[0] += memory.plays[i]
    for at in range(memory.ring_actions.size):
        if memory.ring_actions[at] == action:
            memory.ring_actions[at] = -1
    for j in range(memory.detector_rows.shape[1]):
        memory.detector_rows[action, j] = 0.0


@kernel
def counted(memory: IndexMemory, action: int) -> float:  # noqa: ARG001
    """Return the plays of all actions; the same for every action."""
    return float(memory.counted[0])


@generic_kernel
def log_level(count: float, rates: Any) -> float:  # noqa: ARG001
    """Return the logarithm of the count, at least 0: a discounted past may count for less than one play."""
    return float(np.log(count)) if count > 1.0 else 0.0


def lowest(member: type[IndexLearner], count: Kernel = counted) -> Kernel:
    """Return the kernel that chooses the lowest index; `count(memory, action)` is the argument of the level."""
    parts: dict[str, Any] = {"LEVEL": member.level, "SCORE": member.score, "COUNTED": count, "CHANCE": member.chance}
    if member.pruning is None:
        return clone(_choose, member.name, **parts)
    return lowest_by_pruning(member.name, member.pruning, **parts)


def _choose(memory: IndexMemory, rates: Any) -> tuple[int, float]:
    best, least, last, level = 0, np.inf, -1.0, 0.0
    for i in range(memory.plays.size):
        count = COUNTED(memory, i)
        if count != last:  # mostly the same for all actions, and a logarithm is slow
            last, level = count, LEVEL(count, rates)
        score = SCORE(memory, rates, i, level)
        if score < least or (score == least and memory.plays[i] < memory.plays[best]):
            best, least = i, score
    return best, CHANCE


def _update(memory: IndexMemory, rates: Any, action: int, loss: float, probability: float) -> None:  # noqa: ARG001
    KEEP(memory, rates, action, loss)
    memory.clock[0] += 1


class IndexLearner(BanditLearner[IndexMemory, R]):
    """A bandit learner that plays the action with the lowest index."""

    keep: ClassVar[Kernel]
    level: ClassVar[Kernel]
    score: ClassVar[Kernel]
    pruning: ClassVar[Pruning | None] = None  # for an index that is expensive
    chance: ClassVar[float]  # the probability of the choice: 1, or NaN where it is random and has no closed form

    @property
    def ring(self) -> int:
        """The number of rounds in the window; 0 where there is none."""
        return 0

    def counted_rounds(self, rounds: int) -> float:
        """Return how many of `rounds` rounds since a reset count, each with its weight."""
        return float(rounds)

    def beliefs(self, state: State[IndexMemory, R]) -> Beliefs:
        """Return the effective memory: the rounds in its statistics, each with its weight."""
        return replace(super().beliefs(state), memory=self.counted_rounds(state.rounds))

    def first_memory(self, n_actions: int, generator: Words) -> IndexMemory:
        """Return statistics of no rounds."""
        check_memory(self, "window", self.ring, 16 * self.ring)
        plays, total, squares = np.zeros((3, n_actions))
        return IndexMemory(
            plays=plays,
            total=total,
            squares=squares,
            counted=np.zeros(1),
            clock=np.zeros(2, np.int64),
            reset_rounds=np.zeros(n_actions, np.int64),
            ring_actions=np.full(self.ring, -1),
            ring_losses=np.zeros(self.ring),
            detector_rows=np.zeros((n_actions, 0)),
            alarms=np.zeros(0, np.int64),
            generator=generator,
        )

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the sizes of ring, detector's memory and alarm log, and how far below 0 rounding may leave sums."""
        return {"window": self.ring, "width": 0, "log": 0, "least_sum": -rounding(self.ring)}

    def memory_contradiction(self, memory: IndexMemory, rounds: int) -> str:
        """Check the sums against each other and against the ring."""
        if memory.clock[0] != rounds:
            return f"`clock` must begin with {rounds}"
        return (ring_contradiction(memory, self.ring) if self.ring else "") or sums_contradiction(memory, self.ring)


L = TypeVar("L", bound=type[IndexLearner])


def index_learner(
    name: str,
    *,
    keep: Kernel,
    level: Kernel,
    score: Kernel,
    pruning: Pruning | None = None,
    probability: float = 1.0,
) -> Callable[[L], L]:
    """Register an index learner under `name` and combine its kernels."""

    def enter(member: L) -> L:
        member.name, member.keep, member.level, member.score = name, keep, level, score
        member.pruning, member.chance = pruning, probability
        return bandit(name, choose=lowest(member), update=clone(_update, name, KEEP=keep))(member)

    return enter
