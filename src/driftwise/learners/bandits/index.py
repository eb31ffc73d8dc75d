r"""Index learners: play the action whose loss could be lowest, given what still counts of its past.

Three kernels make one. `keep(tally, rates, action, loss)` says what counts: everything, a fading past, or a window.
`level(counted, rates)` is the confidence that all indices share, such as $\ln t$; `score(tally, rates, action, level)`
is the index, the lower the better, and minus infinity where the action must be played at once. Ties go to the action
played least, then to the first. Where the score is expensive, two more kernels save most of them: see `pruning`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from driftwise.core.fields import between, generator, index, packed
from driftwise.core.kernel import clone, kernel, unbound
from driftwise.core.memory import check_memory
from driftwise.core.types import Actions, Matrix, Vector, Words
from driftwise.learners.bandits.pruning import Pruning, lowest_by_pruning
from driftwise.learners.bandits.sums import ring_contradiction, rounding, sums_contradiction
from driftwise.learners.base import BanditLearner, Card, bandit

__all__ = [
    "IndexLearner",
    "Tally",
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


class Tally(NamedTuple):
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


@kernel
def add(tally: Any, rates: Any, action: int, loss: float) -> None:  # noqa: ARG001
    """Let everything count."""
    tally.plays[action] += 1.0
    tally.total[action] += loss
    tally.squares[action] += loss * loss
    tally.counted[0] += 1.0


@kernel
def fade(tally: Tally, rates: Any, action: int, loss: float) -> None:
    """Let the past of every action fade by a factor a round."""
    for i in range(tally.plays.size):
        tally.plays[i] *= rates.discount
        tally.total[i] *= rates.discount
        tally.squares[i] *= rates.discount
    tally.counted[0] *= rates.discount
    add(tally, rates, action, loss)


@kernel
def _recount(tally: Any, window: int) -> None:
    tally.total[:] = 0.0
    tally.squares[:] = 0.0
    for at in range(window):
        if tally.acts[at] >= 0:
            tally.total[tally.acts[at]] += tally.seen[at]
            tally.squares[tally.acts[at]] += tally.seen[at] * tally.seen[at]


@kernel
def slide_by(tally: Any, rates: Any, window: int, action: int, loss: float) -> None:
    """Let only the latest rounds count, at most as many as the ring holds."""
    at = tally.clock[0] % window
    oldest, gone = tally.acts[at], tally.seen[at]
    if oldest >= 0:
        tally.plays[oldest] -= 1.0
        tally.total[oldest] -= gone
        tally.squares[oldest] -= gone * gone
        tally.counted[0] -= 1.0
    tally.acts[at], tally.seen[at] = action, loss
    add(tally, rates, action, loss)
    if at == window - 1:  # once a window, so that rounding does not pile up
        _recount(tally, window)


@kernel
def slide(tally: Tally, rates: Any, action: int, loss: float) -> None:
    """Let only as many of the latest rounds count as the ring holds; an empty ring holds all."""
    if tally.seen.size == 0:
        add(tally, rates, action, loss)
    else:
        slide_by(tally, rates, tally.seen.size, action, loss)


@kernel
def forget(tally: Tally, action: int) -> None:
    """Forget all about one action, and what its detector remembers."""
    tally.plays[action], tally.total[action], tally.squares[action] = 0.0, 0.0, 0.0
    tally.born[action] = tally.clock[0]
    tally.counted[0] = 0.0
    for i in range(tally.plays.size):
        tally.counted[0] += tally.plays[i]
    for at in range(tally.acts.size):
        if tally.acts[at] == action:
            tally.acts[at] = -1
    for j in range(tally.watch.shape[1]):
        tally.watch[action, j] = 0.0


@kernel
def counted(tally: Tally, action: int) -> float:  # noqa: ARG001
    """Count the plays of all actions."""
    return float(tally.counted[0])


@kernel
def log_level(count: float, rates: Any) -> float:  # noqa: ARG001
    """Return the logarithm of what counts; a fading past may count for less than one play."""
    return float(np.log(count)) if count > 1.0 else 0.0


def lowest(member: type[IndexLearner], count: Kernel = counted) -> Kernel:
    """Return the kernel that chooses by an index; `count` says what the level is a function of."""
    parts: dict[str, Any] = {"LEVEL": member.level, "SCORE": member.score, "COUNTED": count, "CHANCE": member.chance}
    if member.pruning is None:
        return clone(_choose, member.name, **parts)
    return lowest_by_pruning(member.name, member.pruning, **parts)


def _choose(memory: Tally, rates: Any) -> tuple[int, float]:
    best, least, last, level = 0, np.inf, -1.0, 0.0
    for i in range(memory.plays.size):
        count = COUNTED(memory, i)
        if count != last:  # mostly the same for all, and a logarithm is dear
            last, level = count, LEVEL(count, rates)
        score = SCORE(memory, rates, i, level)
        if score < least or (score == least and memory.plays[i] < memory.plays[best]):
            best, least = i, score
    return best, CHANCE


def _update(memory: Tally, rates: Any, action: int, loss: float, probability: float) -> None:  # noqa: ARG001
    KEEP(memory, rates, action, loss)
    memory.clock[0] += 1


class IndexLearner(BanditLearner):
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

    def first(self, n_actions: int, generator: Words) -> Tally:
        """Start with nothing played."""
        check_memory(self, "window", self.ring, 16 * self.ring)
        plays, total, squares = np.zeros((3, n_actions))
        return Tally(
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

    def limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the sizes of the ring and of what a detector remembers, and how far below 0 rounding leaves sums."""
        return {"window": self.ring, "width": 0, "least_sum": -rounding(self.ring)}

    def contradiction(self, memory: Tally, rounds: int) -> str:
        """Check the sums against each other and against the ring."""
        if memory.clock[0] != rounds:
            return f"`clock` must begin with {rounds}"
        return (ring_contradiction(memory, self.ring) if self.ring else "") or sums_contradiction(memory, self.ring)


L = TypeVar("L", bound=type[IndexLearner])


def index_learner(
    name: str,
    card: Card,
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
