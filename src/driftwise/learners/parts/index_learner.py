r"""Index learners: play the action whose loss could be lowest, given what still counts of its past.

Three kernels make one. `keep(memory, rates, action, loss)` says what counts: everything, a fading past, or a window.
`level(counted, rates)` is the confidence that all indices share, such as $\ln t$; `score(memory, rates, action, level)`
is the index, the lower the better, and minus infinity where the action must be played at once. Ties go to the action
played least, then to the first. Where the score is expensive, two more kernels save most of them: see `pruning`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from driftwise.core.kernel import clone, generic_kernel, kernel, unbound
from driftwise.core.machine_memory import check_memory
from driftwise.core.memory_fields import between, generator, index, packed
from driftwise.core.types import Actions, Matrix, Vector, Words
from driftwise.learners.contract import BanditLearner, Card, bandit
from driftwise.learners.contract.types import R
from driftwise.learners.parts.index_memory_checks import ring_contradiction, rounding, sums_contradiction
from driftwise.learners.parts.index_pruning import Pruning, lowest_by_pruning

__all__ = [
    "IndexLearner",
    "IndexMemory",
    "add",
    "counted",
    "fade",
    "forget",
    "index_learner",
    "log_level",
    "lowest",
    "slide",
    "slide_by",
]

Kernel = Callable[..., Any]
KEEP: Kernel = unbound
COUNTED: Kernel = unbound
LEVEL: Kernel = unbound
SCORE: Kernel = unbound
CHANCE = 1.0


class IndexMemory(NamedTuple):
    """What an index learner carries from round to round."""

    plays: Annotated[Vector, between(0, "rounds", "actions")]  # those that count, not whole where the past fades
    total: Annotated[Vector, between("least_sum", "rounds", "actions")]  # losses: sums, so that 0/1 losses tie exactly
    squares: Annotated[Vector, between("least_sum", "rounds", "actions")]  # their squared losses
    counted: Annotated[Vector, between(0, "rounds", 1)]  # the plays of all actions
    clock: Annotated[Actions, between(0, "rounds", 2)]  # rounds played, and that number when all was last forgotten
    born: Annotated[Actions, between(0, "rounds", "actions")]  # the rounds played when the action was last forgotten
    acts: Annotated[Actions, index("actions", "window", none=True)]  # a ring of the latest; empty without a window
    seen: Annotated[Vector, between(0, 1, "window")]  # their losses
    watch: Annotated[Matrix, packed("actions", "width")]  # what a detector remembers of each; no columns without one
    generator: Annotated[Words, generator()]


@generic_kernel
def add(memory: Any, rates: Any, action: int, loss: float) -> None:  # noqa: ARG001
    """Let everything count."""
    memory.plays[action] += 1.0
    memory.total[action] += loss
    memory.squares[action] += loss * loss
    memory.counted[0] += 1.0


@generic_kernel
def fade(memory: IndexMemory, rates: Any, action: int, loss: float) -> None:
    """Let the past of every action fade by a factor a round."""
    for i in range(memory.plays.size):
        memory.plays[i] *= rates.discount
        memory.total[i] *= rates.discount
        memory.squares[i] *= rates.discount
    memory.counted[0] *= rates.discount
    add(memory, rates, action, loss)


@generic_kernel
def _recount(memory: Any, window: int) -> None:
    memory.total[:] = 0.0
    memory.squares[:] = 0.0
    for at in range(window):
        if memory.acts[at] >= 0:
            memory.total[memory.acts[at]] += memory.seen[at]
            memory.squares[memory.acts[at]] += memory.seen[at] * memory.seen[at]


@generic_kernel
def slide_by(memory: Any, rates: Any, window: int, action: int, loss: float) -> None:
    """Let only the latest rounds count, at most as many as the ring holds."""
    at = memory.clock[0] % window
    oldest, gone = memory.acts[at], memory.seen[at]
    if oldest >= 0:
        memory.plays[oldest] -= 1.0
        memory.total[oldest] -= gone
        memory.squares[oldest] -= gone * gone
        memory.counted[0] -= 1.0
    memory.acts[at], memory.seen[at] = action, loss
    add(memory, rates, action, loss)
    if at == window - 1:  # once a window, so that rounding does not pile up
        _recount(memory, window)


@generic_kernel
def slide(memory: IndexMemory, rates: Any, action: int, loss: float) -> None:
    """Let only as many of the latest rounds count as the ring holds; an empty ring holds all."""
    if memory.seen.size == 0:
        add(memory, rates, action, loss)
    else:
        slide_by(memory, rates, memory.seen.size, action, loss)


@kernel
def forget(memory: IndexMemory, action: int) -> None:
    """Forget all about one action, and what its detector remembers."""
    memory.plays[action], memory.total[action], memory.squares[action] = 0.0, 0.0, 0.0
    memory.born[action] = memory.clock[0]
    memory.counted[0] = 0.0
    for i in range(memory.plays.size):
        memory.counted[0] += memory.plays[i]
    for at in range(memory.acts.size):
        if memory.acts[at] == action:
            memory.acts[at] = -1
    for j in range(memory.watch.shape[1]):
        memory.watch[action, j] = 0.0


@kernel
def counted(memory: IndexMemory, action: int) -> float:  # noqa: ARG001
    """Count the plays of all actions."""
    return float(memory.counted[0])


@generic_kernel
def log_level(count: float, rates: Any) -> float:  # noqa: ARG001
    """Return the logarithm of what counts; a fading past may count for less than one play."""
    return float(np.log(count)) if count > 1.0 else 0.0


def lowest(member: type[IndexLearner], count: Kernel = counted) -> Kernel:
    """Return the kernel that chooses by an index; `count` says what the level is a function of."""
    parts: dict[str, Any] = {"LEVEL": member.level, "SCORE": member.score, "COUNTED": count, "CHANCE": member.chance}
    if member.pruning is None:
        return clone(_choose, member.name, **parts)
    return lowest_by_pruning(member.name, member.pruning, **parts)


def _choose(memory: IndexMemory, rates: Any) -> tuple[int, float]:
    best, least, last, level = 0, np.inf, -1.0, 0.0
    for i in range(memory.plays.size):
        count = COUNTED(memory, i)
        if count != last:  # mostly the same for all, and a logarithm is dear
            last, level = count, LEVEL(count, rates)
        score = SCORE(memory, rates, i, level)
        if score < least or (score == least and memory.plays[i] < memory.plays[best]):
            best, least = i, score
    return best, CHANCE


def _update(memory: IndexMemory, rates: Any, action: int, loss: float, probability: float) -> None:  # noqa: ARG001
    KEEP(memory, rates, action, loss)
    memory.clock[0] += 1


class IndexLearner(BanditLearner[IndexMemory, R]):
    """A bandit learner that plays the lowest index."""

    keep: ClassVar[Kernel]
    level: ClassVar[Kernel]
    score: ClassVar[Kernel]
    pruning: ClassVar[Pruning | None] = None  # where an index is expensive
    chance: ClassVar[float]  # of the choice: 1, or NaN where it is random and has no closed form

    @property
    def ring(self) -> int:
        """The rounds that its window holds; 0 where it has none."""
        return 0

    def first_memory(self, n_actions: int, generator: Words) -> IndexMemory:
        """Start with nothing played."""
        check_memory(self, "window", self.ring, 16 * self.ring)
        plays, total, squares = np.zeros((3, n_actions))
        return IndexMemory(
            plays=plays,
            total=total,
            squares=squares,
            counted=np.zeros(1),
            clock=np.zeros(2, np.int64),
            born=np.zeros(n_actions, np.int64),
            acts=np.full(self.ring, -1),
            seen=np.zeros(self.ring),
            watch=np.zeros((n_actions, 0)),
            generator=generator,
        )

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the sizes of the ring and of what a detector remembers, and how far below 0 rounding leaves sums."""
        return {"window": self.ring, "width": 0, "least_sum": -rounding(self.ring)}

    def memory_contradiction(self, memory: IndexMemory, rounds: int) -> str:
        """Check the sums against each other and against the ring."""
        if memory.clock[0] != rounds:
            return f"`clock` must begin with {rounds}"
        return (ring_contradiction(memory, self.ring) if self.ring else "") or sums_contradiction(memory, self.ring)


L = TypeVar("L", bound=type[IndexLearner])


def index_learner(
    name: str,
    card: Card | None = None,
    *,
    keep: Kernel,
    level: Kernel,
    score: Kernel,
    pruning: Pruning | None = None,
    probability: float = 1.0,
) -> Callable[[L], L]:
    """Register an index learner under `name` and put its kernels together."""

    def enter(member: L) -> L:
        member.name, member.keep, member.level, member.score = name, keep, level, score
        member.pruning, member.chance = pruning, probability
        return bandit(name, card, choose=lowest(member), update=clone(_update, name, KEEP=keep))(member)

    return enter
