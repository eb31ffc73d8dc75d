r"""Index learners that restart when a detector sees a change.

After each round the detector of the chosen action sees its loss; an alarm makes the learner forget that action, or all
of them. Actions that look bad are hardly played, so a change for the better would go unseen: some rounds explore,
either at random (with chance $\alpha$ an action drawn uniformly) or on schedule (in every $\lceil K/\alpha \rceil$
rounds since the start, or since the last time all was forgotten, the first $K$ play the actions in turn)."""

from __future__ import annotations

import functools
import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from driftwise.core.kernel import clone, kernel, kinds_of, unbound
from driftwise.core.machine_memory import check_memory
from driftwise.core.random import next_uniform
from driftwise.core.types import Words
from driftwise.detectors import Detector
from driftwise.detectors.base import widened
from driftwise.learners.contract import BanditLearner
from driftwise.learners.contract.loops import BanditLoops, bandit_loops
from driftwise.learners.parts.index_learner import IndexLearner, IndexMemory, counted, forget, lowest

__all__ = ["RestartRule", "RestartingLearner", "RestartingRates", "schedule"]

_RAREST = 5e-324  # the smallest number above 0: a chance that is smaller must not become 0
_LONGEST = 2.0**62  # a period that fits a whole number of 64 bits

Kernel = Callable[..., Any]
KEEP: Kernel = unbound
GREEDY: Kernel = unbound
OBSERVE: Kernel = unbound


class RestartRule(NamedTuple):
    """How to explore and what to forget, as the kernels read it."""

    exploration_rate: float  # alpha
    period: int  # of the schedule; 0 explores at random
    everywhere: bool  # an alarm makes it forget every action


class RestartingRates(NamedTuple):
    """The parameters of the index, of the detector and of the restarts."""

    base: Any
    detector: Any
    restarts: RestartRule


@kernel
def age(memory: IndexMemory, action: int) -> float:
    """Count the rounds since the action was last forgotten."""
    return float(memory.clock[0] - memory.born[action])


def _choose(memory: IndexMemory, rates: RestartingRates) -> tuple[int, float]:
    greedy, chance = GREEDY(memory, rates.base)
    n_actions, restarts = memory.plays.size, rates.restarts
    if restarts.exploration_rate == 0.0:
        return greedy, chance
    if restarts.period > 0:
        turn = (memory.clock[0] - memory.clock[1]) % restarts.period
        return (int(turn), 1.0) if turn < n_actions else (greedy, chance)
    drawn = next_uniform(memory.generator) / restarts.exploration_rate
    action = min(n_actions - 1, int(drawn * n_actions)) if drawn < 1.0 else greedy
    chance *= 1.0 if action == greedy else 0.0  # NaN stays: an index that is drawn might have been any action's
    return action, max(restarts.exploration_rate / n_actions, _RAREST) + (1.0 - restarts.exploration_rate) * chance


def _update(memory: IndexMemory, rates: RestartingRates, action: int, loss: float, probability: float) -> None:  # noqa: ARG001
    KEEP(memory, rates.base, action, loss)
    memory.clock[0] += 1
    if not OBSERVE(memory.watch[action], rates.detector, loss):
        return
    if rates.restarts.everywhere:
        for i in range(memory.plays.size):
            forget(memory, i)
        memory.clock[1] = memory.clock[0]
    else:
        forget(memory, action)


class RestartingLearner(BanditLearner[IndexMemory, RestartingRates]):
    """An index learner under the eyes of a detector."""

    by_age = False  # the level is a function of the rounds since the action was forgotten, not of all plays that count

    @functools.cached_property
    @abstractmethod
    def parts(self) -> tuple[IndexLearner, Detector]:
        """The index learner and the detector; made once, as a live round is short."""

    @abstractmethod
    def restarts(self, n_actions: int) -> RestartRule:
        """Return how to explore and what to forget."""

    @functools.cached_property
    def loops(self) -> BanditLoops:
        """The loops of this index under this detector."""
        base, detector = self.parts
        return _loops(type(base), type(detector), self.by_age)

    def rates(self, n_actions: int) -> RestartingRates:
        """Return the parameters of all parts."""
        base, detector = self.parts
        return RestartingRates(base.rates(n_actions), detector.rates(), self.restarts(n_actions))

    def first_memory(self, n_actions: int, generator: Words) -> IndexMemory:
        """Start with nothing played and nothing watched."""
        base, detector = self.parts
        check_memory(self, "detector", detector, 8 * n_actions * detector.room(1))
        return base.first_memory(n_actions, generator)._replace(watch=np.zeros((n_actions, detector.room(1))))

    @functools.cached_property
    def grows(self) -> bool:
        """Whether what the detector remembers may need more room."""
        return self.parts[1].grows

    def make_room(self, memory: IndexMemory, n_rounds: int) -> IndexMemory:
        """Widen what the detector remembers, where it grows."""
        width = self.parts[1].room(int(memory.clock[0]) + n_rounds)
        return memory if width <= memory.watch.shape[1] else memory._replace(watch=widened(memory.watch, width))

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the sizes of the ring and of what the detector remembers."""
        base, detector = self.parts
        return {**base.memory_limits(n_actions, rounds), "width": detector.room(rounds + 1)}

    def memory_contradiction(self, memory: IndexMemory, rounds: int) -> str:
        """Check what the index learner and the detector remember."""
        base, detector = self.parts
        if fault := base.memory_contradiction(memory, rounds):
            return fault
        if not all(detector.accepts(row, rounds) for row in memory.watch):
            return f"`watch` must be what {detector.name} can remember after {rounds} rounds"
        return ""


def schedule(exploration_rate: float, n_actions: int) -> int:
    r"""Return the period $\lceil K / \alpha \rceil$ of exploration on schedule."""
    return math.ceil(min(n_actions / exploration_rate, _LONGEST)) if exploration_rate else 0


@functools.cache
def _loops(base: type[IndexLearner], detector: type[Detector], by_age: bool) -> BanditLoops:
    name = f"{base.name}-{detector.name}"
    choose = clone(_choose, name, GREEDY=lowest(base, age if by_age else counted))
    update = clone(_update, name, KEEP=base.keep, OBSERVE=detector.observe)
    return bandit_loops(name, kinds_of(RestartingLearner, base, detector), choose, update)
