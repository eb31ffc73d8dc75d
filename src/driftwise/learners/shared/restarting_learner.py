r"""Index learners that restart when a detector raises an alarm.

Each action has a detector. After each round that of the chosen action gets the loss; an alarm resets the statistics of
that action, or of all actions. Actions with high losses are rarely played, so an improvement of one would not be
detected. Therefore some rounds explore, either at random (with probability $\alpha$ an action drawn uniformly) or on
schedule (in every $\lceil K/\alpha \rceil$ rounds since the start, or since the last reset of all actions, the first
$K$ play the actions in turn).
"""

from __future__ import annotations

import functools
import math
from abc import abstractmethod
from dataclasses import fields, replace
from typing import NamedTuple

import numpy as np

from driftwise.core.kernel import clone, kernel, kinds_of, unbound
from driftwise.core.random import next_uniform
from driftwise.core.types import Words
from driftwise.core.validation import check_memory
from driftwise.detectors import Detector
from driftwise.detectors.detector import widened
from driftwise.learners.base import BanditLearner, Beliefs, State
from driftwise.learners.base.loops import AnyRates, Loops, bandit_loops
from driftwise.learners.shared.alarm_log import LOG_SIZE, alarms, empty_log, latest_alarms, record_alarm
from driftwise.learners.shared.index_learner import IndexLearner, IndexMemory, counted, lowest, reset_action

_RAREST = 5e-324  # the smallest number above 0: a probability that is smaller must not become 0
_LONGEST = 2.0**62  # a period that fits into 64 bits

KEEP = GREEDY = OBSERVE = unbound  # kernels that `clone` binds


class RestartRule(NamedTuple):
    """How to explore and what an alarm resets, as the kernels read it."""

    exploration_rate: float  # alpha
    period: int  # of the schedule; 0 explores at random
    everywhere: bool  # an alarm resets every action, not only its own


class RestartingRates(NamedTuple):
    """The parameters of the index, of the detector and of the restarts."""

    base: AnyRates
    detector: AnyRates
    restarts: RestartRule


@kernel
def age(memory: IndexMemory, action: int) -> float:
    """Return the number of rounds since the last reset of the action."""
    return float(memory.clock[0] - memory.reset_rounds[action])


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
    chance *= 1.0 if action == greedy else 0.0  # NaN stays NaN: a random index could have chosen any action
    return action, max(restarts.exploration_rate / n_actions, _RAREST) + (1.0 - restarts.exploration_rate) * chance


def _update(memory: IndexMemory, rates: RestartingRates, action: int, loss: float, probability: float) -> None:  # noqa: ARG001
    KEEP(memory, rates.base, action, loss)
    memory.clock[0] += 1
    if not OBSERVE(memory.detector_rows[action], rates.detector, loss):
        return
    record_alarm(memory.alarms, memory.clock[0] - 1)
    if rates.restarts.everywhere:
        for i in range(memory.plays.size):
            reset_action(memory, i)
        memory.clock[1] = memory.clock[0]
    else:
        reset_action(memory, action)


class RestartingLearner(BanditLearner[IndexMemory, RestartingRates]):
    """An index learner whose statistics are reset by the alarms of a detector."""

    by_age = False  # whether the level is a function of the rounds since the action's reset, not of all counted plays

    @functools.cached_property
    @abstractmethod
    def parts(self) -> tuple[IndexLearner, Detector]:
        """The index learner and the detector; created once, to keep live rounds fast."""

    @abstractmethod
    def restarts(self, n_actions: int) -> RestartRule:
        """Return how to explore and what an alarm resets."""

    def __post_init__(self) -> None:
        """Take the parameters of the parts from these, which have checked them."""
        super().__post_init__()
        own = {field.name for field in fields(self)}  # type: ignore[arg-type]
        for part in self.parts:
            for name in own & {field.name for field in fields(part)}:  # type: ignore[arg-type]
                object.__setattr__(self, name, getattr(part, name))

    @functools.cached_property
    def loops(self) -> Loops:
        """The loops of this index learner with this detector."""
        base, detector = self.parts
        return _loops(type(base), type(detector), self.by_age)

    def beliefs(self, state: State[IndexMemory, RestartingRates]) -> Beliefs:
        """Return the alarms, and the rounds since the last reset that count: of each action, or of all."""
        beliefs, memory = super().beliefs(state), state.memory
        ages = state.rounds - memory.reset_rounds
        counted = tuple(self.parts[0].counted_rounds(int(age)) for age in ages)
        together = state.rates.restarts.everywhere
        return replace(beliefs, memory=counted[0] if together else counted, **alarms(memory.alarms))

    def rates(self, n_actions: int) -> RestartingRates:
        """Return the parameters of the index, of the detector and of the restarts."""
        base, detector = self.parts
        return RestartingRates(base.rates(n_actions), detector.rates(), self.restarts(n_actions))

    def first_memory(self, n_actions: int, generator: Words) -> IndexMemory:
        """Return statistics of no rounds, and detectors without values."""
        base, detector = self.parts
        check_memory(self, "detector", detector, 8 * n_actions * detector.room(1))
        rows = np.zeros((n_actions, detector.room(1)))
        return base.first_memory(n_actions, generator)._replace(detector_rows=rows, alarms=empty_log())

    @functools.cached_property
    def grows(self) -> bool:
        """Whether the detector's memory may need more room."""
        return self.parts[1].grows

    def make_room(self, memory: IndexMemory, n_rounds: int) -> IndexMemory:
        """Return a memory with wider rows for the detector, where it grows."""
        width, rows = self.parts[1].room(int(memory.clock[0]) + n_rounds), memory.detector_rows
        return memory if width <= rows.shape[1] else memory._replace(detector_rows=widened(rows, width))

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the sizes of the ring, of the detector's memory and of the alarm log."""
        base, detector = self.parts
        return {**base.memory_limits(n_actions, rounds), "width": detector.room(rounds + 1), "log": LOG_SIZE}

    def memory_contradiction(self, memory: IndexMemory, rounds: int) -> str:
        """Check the memories of the index learner and of the detector."""
        base, detector = self.parts
        if fault := base.memory_contradiction(memory, rounds):
            return fault
        if not all(detector.accepts(row, rounds) for row in memory.detector_rows):
            return f"`detector_rows` must be possible for {detector.name} after {rounds} rounds"
        last = max((t + 1 for t in latest_alarms(memory.alarms)), default=0)
        return "" if memory.reset_rounds.max() == last else "`reset_rounds` must agree with the last of `alarms`"


def schedule(exploration_rate: float, n_actions: int) -> int:
    r"""Return the period $\lceil K / \alpha \rceil$ of exploration on schedule."""
    return math.ceil(min(n_actions / exploration_rate, _LONGEST)) if exploration_rate else 0


@functools.cache
def _loops(base: type[IndexLearner], detector: type[Detector], by_age: bool) -> Loops:
    name = f"{base.name}-{detector.name}"
    choose = clone(_choose, name, GREEDY=lowest(base, age if by_age else counted))
    update = clone(_update, name, KEEP=base.keep, OBSERVE=detector.observe)
    return bandit_loops(name, kinds_of(RestartingLearner, base, detector), choose, update)
