r"""Index learners: play the action with the lowest index, a lower confidence bound on its loss or a sample of it.

An index learner is made of three kernels. `keep(memory, rates, action, loss)` updates the statistics: of all rounds, of
a discounted past, or of a window. `level(counted, rates)` is the confidence level that all indices share, such as
$\ln t$. `score(memory, rates, action, level)` is the index, the lower the better, and minus infinity where the action
must be played at once. Ties go to the action played least, then to the first. Base classes with a discount or a window
are tuned as discounted and sliding-window UCB are.

Where the score is expensive, two cheap kernels avoid computing most of them. `estimate(memory, rates, action, level)`
is close to the index; it only decides which index is computed first. `exceeds(memory, rates, action, level, bound)`
returns True only if the index, as `score` computes it, is certainly above `bound`; it may return False in doubt.

An action whose index is above one that was computed cannot be the lowest, nor tie with it. So the choice is that of a
scan of all indices, ties included: of equal indices that of the action played least, then of the first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np

from driftwise.core.corners import NoLearning
from driftwise.core.kernel import clone, generic_kernel, kernel, unbound
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import between, generator, index, packed, within
from driftwise.core.types import Actions, Matrix, Vector, Words
from driftwise.core.validation import COUNT, Domains, check_memory, interval, optional
from driftwise.learners.base import BanditLearner, Beliefs, State, bandit
from driftwise.learners.base.beliefs import faded_rounds
from driftwise.learners.base.learner import R
from driftwise.learners.base.loops import AnyMemory, AnyRates, Bindings, Kernel
from driftwise.learners.shared.alarm_log import alarm_log
from driftwise.theory import tuning, vacuous

KEEP = COUNTED = LEVEL = SCORE = ESTIMATE = EXCEEDS = LIKELY = unbound  # kernels that `clone` binds
Pruning = tuple[Kernel, Kernel]  # kernels that estimate an index, and that return whether it exceeds a bound
CHANCE = 1.0  # the probability of the choice; `clone` binds it
_LAST_BIT = 2.0**-52  # of 1; a sum is rounded by at most half of this, relative to it


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
def add(memory: AnyMemory, rates: AnyRates, action: int, loss: float) -> None:  # noqa: ARG001
    """Count the round with all rounds before it."""
    memory.plays[action] += 1.0
    memory.total[action] += loss
    memory.squares[action] += loss * loss
    memory.counted[0] += 1.0


@generic_kernel
def fade(memory: IndexMemory, rates: AnyRates, action: int, loss: float) -> None:
    """Multiply the statistics of all actions by the discount, then count the round."""
    for i in range(memory.plays.size):
        memory.plays[i] *= rates.discount
        memory.total[i] *= rates.discount
        memory.squares[i] *= rates.discount
    memory.counted[0] *= rates.discount
    add(memory, rates, action, loss)


@generic_kernel
def _recompute_sums(memory: AnyMemory, window: int) -> None:
    memory.total[:] = 0.0
    memory.squares[:] = 0.0
    for at in range(window):
        if memory.ring_actions[at] >= 0:
            memory.total[memory.ring_actions[at]] += memory.ring_losses[at]
            memory.squares[memory.ring_actions[at]] += memory.ring_losses[at] * memory.ring_losses[at]


@generic_kernel
def slide_by(memory: AnyMemory, rates: AnyRates, window: int, action: int, loss: float) -> None:
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
def slide(memory: IndexMemory, rates: AnyRates, action: int, loss: float) -> None:
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
def log_level(count: float, rates: AnyRates) -> float:  # noqa: ARG001
    """Return the logarithm of the count, at least 0: a discounted past may count for less than one play."""
    return float(np.log(count)) if count > 1.0 else 0.0


@generic_kernel
def no_level(count: float, rates: object) -> float:  # noqa: ARG001
    """Return 0, for an index without a confidence level."""
    return 0.0


def lowest(member: type[IndexLearner], count: Kernel = counted) -> Kernel:
    """Return the kernel that chooses the lowest index; `count(memory, action)` is the argument of the level."""
    parts: Bindings = {"LEVEL": member.level, "SCORE": member.score, "COUNTED": count, "CHANCE": member.chance}
    if member.pruning is None:
        return clone(_choose, member.name, **parts)
    return lowest_by_pruning(member.name, member.pruning, **parts)


def _choose(memory: IndexMemory, rates: AnyRates) -> tuple[int, float]:
    best, least, last, level = 0, np.inf, -1.0, 0.0
    for i in range(memory.plays.size):
        count = COUNTED(memory, i)
        if count != last:  # mostly the same for all actions, and a logarithm is slow
            last, level = count, LEVEL(count, rates)
        score = SCORE(memory, rates, i, level)
        if score < least or (score == least and memory.plays[i] < memory.plays[best]):
            best, least = i, score
    return best, CHANCE


def _update(memory: IndexMemory, rates: AnyRates, action: int, loss: float, probability: float) -> None:  # noqa: ARG001
    KEEP(memory, rates, action, loss)
    memory.clock[0] += 1


class IndexLearner(BanditLearner[IndexMemory, R]):
    """A bandit learner that plays the action with the lowest index."""

    keep: ClassVar[Kernel] = add
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
        return super().first_memory(n_actions, generator)._replace(ring_actions=np.full(self.ring, -1))

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the sizes of ring, detector's memory and alarm log, and how far below 0 rounding may leave sums."""
        return {"window": self.ring, "width": 0, "log": 0, "least_sum": -rounding(self.ring)}

    def memory_contradiction(self, memory: IndexMemory, rounds: int) -> str:
        """Check the sums against each other and against the ring."""
        if memory.clock[0] != rounds:
            return f"`clock` must begin with {rounds}"
        return (ring_contradiction(memory, self.ring) if self.ring else "") or sums_contradiction(memory, self.ring)


L = TypeVar("L", bound=type[IndexLearner])


def indexed(
    name: str,
    *,
    score: Kernel,
    keep: Kernel | None = None,
    level: Kernel = log_level,
    pruning: Pruning | None = None,
    probability: float = 1.0,
) -> Callable[[L], L]:
    """Register an index learner under `name` and combine its kernels."""

    def enter(member: L) -> L:
        member.name, member.keep, member.level, member.score = name, keep or member.keep, level, score
        member.pruning, member.chance = pruning, probability
        return bandit(name, choose=lowest(member), update=clone(_update, name, KEEP=member.keep))(member)

    return enter


def _likely(memory: AnyMemory, rates: AnyRates) -> int:
    """Return the action with the lowest estimate, the first if no estimate is finite."""
    likely, lowest, last, level = 0, np.inf, -1.0, 0.0
    for i in range(memory.plays.size):
        count = COUNTED(memory, i)
        if count != last:  # mostly the same for all actions, and a logarithm is slow
            last, level = count, LEVEL(count, rates)
        estimate = ESTIMATE(memory, rates, i, level)
        if estimate < lowest:
            likely, lowest = i, estimate
    return likely


def _choose_by_pruning(memory: AnyMemory, rates: AnyRates) -> tuple[int, float]:
    if memory.plays.size == 1:
        return 0, CHANCE
    likely = LIKELY(memory, rates)
    best, least, last, level = likely, np.inf, -1.0, 0.0
    for turn in range(-1, memory.plays.size):  # first the likely one, in the same loop: the index is inlined, and long
        i = likely if turn < 0 else turn
        count = COUNTED(memory, i)
        if count != last:
            last, level = count, LEVEL(count, rates)
        if turn >= 0 and (i == likely or EXCEEDS(memory, rates, i, level, least)):
            continue
        score = SCORE(memory, rates, i, level)
        if score > least:
            continue
        plays, fewest = memory.plays[i], memory.plays[best]
        if score < least or plays < fewest or (plays == fewest and i < best):
            best, least = i, score
    return best, CHANCE


def lowest_by_pruning(name: str, pruning: Pruning, **parts: Any) -> Kernel:
    """Return the kernel that chooses the lowest index; `parts` are `COUNTED`, `LEVEL`, `SCORE` and `CHANCE`."""
    likely = clone(_likely, name, **parts, ESTIMATE=pruning[0])
    return clone(_choose_by_pruning, name, **parts, EXCEEDS=pruning[1], LIKELY=likely)


def rounding(window: int) -> float:
    """Return the largest error of the sums over a ring of so many plays.

    A round adds one loss and subtracts one, and once a window the sums are computed from the ring.
    """
    return _LAST_BIT * window * window


def sums_contradiction(memory: AnyMemory, window: int = 0) -> str:
    """Return the fault of `plays`, `total` and `squares` as sums over losses in [0, 1], '' if there is none."""
    off = rounding(window)  # plays in a ring are whole numbers, so this bounds the error of a mean too
    played = memory.plays > 0.0
    for name, sums in (("total", memory.total), ("squares", memory.squares)):
        with np.errstate(over="ignore"):
            means = sums[played] / memory.plays[played]
        if not (within(means, -off, 1.0 + off) and within(sums[~played], -off, off)):
            return f"`{name}` must be at most `plays`"
    return ""


def ring_contradiction(memory: AnyMemory, window: int) -> str:
    """Return the fault of the sums over the first `window` places of the ring, '' if there is none."""
    actions, losses = memory.ring_actions[:window], memory.ring_losses[:window]
    kept = actions >= 0
    n_actions = memory.plays.size
    if not np.array_equal(memory.plays, np.bincount(actions[kept], minlength=n_actions)):
        return "`plays` must count the actions of the ring"
    if memory.counted[0] != kept.sum():
        return "`counted` must count the plays of the ring"
    total = np.bincount(actions[kept], losses[kept], n_actions)
    squares = np.bincount(actions[kept], losses[kept] ** 2, n_actions)
    off = 1e-6 + rounding(window)
    if not (np.allclose(memory.total, total, 1e-9, off) and np.allclose(memory.squares, squares, 1e-9, off)):
        return "`total` and `squares` must be sums over the ring"
    return ""


class DiscountedLearner(IndexLearner[R]):
    """An index learner that discounts the past."""

    keep = fade
    discount: float

    _domains = Domains(discount=interval("(0, 1]"))

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Set the discount by the number of changes, as for discounted UCB; without changes it is 1."""
        return cls(discount=tuning.discount(measures))  # type: ignore[call-arg]

    def tuning_caveat(self, measures: Measures) -> str:
        """Return a reason where its memory is as long as a segment."""
        return vacuous.discount(measures, self.discount)

    def counted_rounds(self, rounds: int) -> float:
        """Return the sum of the discounted weights of the rounds."""
        return faded_rounds(1.0 - self.discount, rounds)


class WindowLearner(IndexLearner[R]):
    """An index learner that counts only the latest rounds."""

    keep = slide
    window: int | None
    # Values of `window` at which all checks run too.
    window_corners = (
        NoLearning(1, "a window cannot hold two actions"),
        NoLearning(2, "a window cannot hold three actions"),
        10_000,
        None,
    )

    _domains = Domains(window=optional(COUNT))

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Set the window by the number of changes, as for sliding-window UCB."""
        return cls(window=tuning.window(measures))  # type: ignore[call-arg]

    def tuning_caveat(self, measures: Measures) -> str:
        """Return a reason where its window is as long as a segment, or holds no action twice."""
        return vacuous.window(measures, self.window)

    def counted_rounds(self, rounds: int) -> float:
        """Return the number of rounds in the window."""
        return float(min(rounds, self.window or rounds))

    @property
    def ring(self) -> int:
        """The number of rounds in the window."""
        return self.window or 0
