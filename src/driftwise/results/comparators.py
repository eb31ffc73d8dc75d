"""Comparators: what the regret of a learner is measured against. Each is computed block by block in constant memory.

`follow` returns the comparator's cumulative loss at marked rounds; the engine subtracts it from the learner's.
The target is the matrix of means if they are known (pseudo-regret), else that of losses (realised regret).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from driftwise.core.compensated_sums import add, add_term, read_sum, write_sum
from driftwise.core.errors import rejection
from driftwise.core.kernel import kernel
from driftwise.core.machine_memory import check_memory
from driftwise.core.types import Actions, Flags, Matrix, Vector
from driftwise.core.validation import require, require_count
from driftwise.core.vectors import flags, least

__all__ = ["Comparator", "Dynamic", "Follower", "Interval", "Static", "Switched"]


class Follower(ABC):
    """The cumulative loss of a comparator, block by block."""

    @abstractmethod
    def follow(self, target: Matrix, marks: Actions) -> Vector:
        """Add a block; return the cumulative loss after each marked round of it."""


@dataclass(frozen=True)
class Comparator(ABC):
    """A rule that chooses actions in hindsight; regret is the learner's loss minus the comparator's."""

    name: ClassVar[str]

    def __str__(self) -> str:
        return self.name

    @abstractmethod
    def start(self, n_actions: int, n_rounds: int | None = None) -> Follower:
        """Return a follower before the first round; some need the number of rounds."""

    def span(self, n_rounds: int) -> tuple[int, int]:
        """Return the rounds over which regret is summed: the first, and the last + 1."""
        return 0, n_rounds


@dataclass(frozen=True)
class Dynamic(Comparator):
    """The best action of every round.

    Examples
    --------
    >>> from driftwise import Bernoulli, Environment, OptimisticGD, Switching, simulate
    >>> environment = Environment(Switching(3, 4), Bernoulli())
    >>> simulate(environment, OptimisticGD(), 100, seed=1, comparator=Dynamic()).comparator
    'dynamic'
    """

    name: ClassVar[str] = "dynamic"

    def start(self, n_actions: int, n_rounds: int | None = None) -> Follower:  # noqa: ARG002
        """Return a follower at zero."""
        return _DynamicFollower()


@dataclass(frozen=True)
class Static(Comparator):
    """The best single action of all rounds so far.

    Examples
    --------
    >>> from driftwise import Bernoulli, Environment, OptimisticGD, Switching, simulate
    >>> environment = Environment(Switching(3, 4), Bernoulli())
    >>> simulate(environment, OptimisticGD(), 100, seed=1, comparator=Static()).comparator
    'static'
    """

    name: ClassVar[str] = "static"

    def start(self, n_actions: int, n_rounds: int | None = None) -> Follower:  # noqa: ARG002
        """Return a follower at zero."""
        return _StaticFollower(n_actions)


@dataclass(frozen=True)
class Switched(Comparator):
    """The best sequence of actions with at most `n_segments` segments, by dynamic programming.

    Parameters
    ----------
    n_segments : int, default 1
        The most segments, each with one action, >= 1. A round takes `n_segments` times `n_actions` operations.

    Examples
    --------
    >>> from driftwise import Bernoulli, Environment, OptimisticGD, Switching, simulate
    >>> environment = Environment(Switching(3, 4), Bernoulli())
    >>> simulate(environment, OptimisticGD(), 100, seed=1, comparator=Switched(3)).comparator
    'switching:3'
    """

    name: ClassVar[str] = "switching"
    n_segments: int = 1

    def __post_init__(self) -> None:
        require_count(self, "n_segments")

    def __str__(self) -> str:
        return f"{self.name}:{self.n_segments}"

    def start(self, n_actions: int, n_rounds: int | None = None) -> Follower:
        """Return a follower at zero; with a segment for every round it is the one of `Dynamic`, bit for bit."""
        if n_rounds is not None and self.n_segments >= n_rounds:
            return Dynamic().start(n_actions)
        check_memory(self, "n_segments", self.n_segments, 8 * self.n_segments * n_actions)
        return SwitchedFollower(self.n_segments, n_actions)


@dataclass(frozen=True)
class Interval(Comparator):
    """One fixed action on an interval of rounds; other rounds do not count.

    This is the regret of Lemma R_I, which Algorithm 4 bounds on every interval at the same time.

    Parameters
    ----------
    first : int, default 0
        The first round of the interval, counted from 0.
    last : int, default 0
        Its last round, >= `first` and less than the number of rounds.
    action : int, default None
        The action, counted from 0. None means the best action of the interval.

    Examples
    --------
    >>> from driftwise import Bernoulli, Environment, OptimisticGD, Switching, simulate
    >>> environment = Environment(Switching(3, 4), Bernoulli())
    >>> simulate(environment, OptimisticGD(), 100, seed=1, comparator=Interval(20, 59)).rounds[[0, -1]]
    array([21, 60])
    """

    name: ClassVar[str] = "interval"
    first: int = 0
    last: int = 0
    action: int | None = None

    def __post_init__(self) -> None:
        require_count(self, "first", at_least=0)
        require_count(self, "last", at_least=0)
        require(self, "last", self.last >= self.first, f">= first = {self.first}")
        if self.action is not None:
            require_count(self, "action", at_least=0)

    def __str__(self) -> str:
        return f"{self.name}:{self.first}-{self.last}{'' if self.action is None else f'@{self.action}'}"

    def start(self, n_actions: int, n_rounds: int | None = None) -> Follower:  # noqa: ARG002
        """Return a follower at zero."""
        if self.action is not None and self.action >= n_actions:
            raise rejection(self, "action", f"< n_actions = {n_actions}", self.action)
        return _StaticFollower(n_actions, self.action)

    def span(self, n_rounds: int) -> tuple[int, int]:
        """Return the interval as its first round and its last + 1."""
        if self.last >= n_rounds:
            raise rejection(self, "last", f"< n_rounds = {n_rounds}", self.last)
        return self.first, self.last + 1


class _DynamicFollower(Follower):
    def __init__(self) -> None:
        self.total = np.zeros(2)

    def follow(self, target: Matrix, marks: Actions) -> Vector:
        cumulative = np.empty(len(target))
        _add_dynamic(self.total, target, cumulative)
        return cumulative[marks]


class _StaticFollower(Follower):
    def __init__(self, n_actions: int, action: int | None = None) -> None:
        self.totals = np.zeros((n_actions, 2))
        self.action = -1 if action is None else action

    def follow(self, target: Matrix, marks: Actions) -> Vector:
        cumulative = np.empty(len(target))
        _add_static(self.totals, self.action, target, cumulative)
        return cumulative[marks]


class SwitchedFollower(Follower):
    """The dynamic program of `Switched`.

    `table[n, k]` is the least loss of a sequence with at most n + 1 segments that ends with action k, minus the loss of
    the best action of every round. The latter is summed separately, in `total`: small sums lose little to rounding.
    """

    def __init__(self, n_segments: int, n_actions: int) -> None:
        self.table = np.zeros((n_segments, n_actions))
        self.total = np.zeros(2)

    def follow(self, target: Matrix, marks: Actions) -> Vector:
        """Add a block; return the cumulative loss after each marked round of it."""
        marked, cumulative = flags(len(target), marks), np.empty(len(target))
        _add_switched(self.table, self.total, target, marked, cumulative)
        return cumulative[marks]


@kernel
def _add_dynamic(total: Vector, target: Matrix, cumulative: Vector) -> None:
    sums = read_sum(total)
    for t in range(target.shape[0]):
        sums = add_term(sums, least(target[t]))
        cumulative[t] = sums[0] + sums[1]
    write_sum(total, sums)


@kernel
def _add_static(totals: Matrix, action: int, target: Matrix, cumulative: Vector) -> None:
    for t in range(target.shape[0]):
        best = np.inf
        for k in range(target.shape[1]):
            total = add(totals[k], target[t, k])
            if (action < 0 and total < best) or k == action:
                best = total
        cumulative[t] = best


@kernel
def _add_switched(table: Matrix, total: Vector, target: Matrix, marked: Flags, cumulative: Vector) -> None:
    n_segments, n_actions = table.shape
    sums = read_sum(total)
    for t in range(target.shape[0]):
        best = least(target[t])
        sums = add_term(sums, best)
        # From the most segments down, so that row n - 1 still holds the values of the previous round.
        for n in range(n_segments - 1, -1, -1):
            after_switch = least(table[n - 1]) if n > 0 else np.inf
            for k in range(n_actions):
                table[n, k] = min(table[n, k], after_switch) + (target[t, k] - best)
        if marked[t]:
            cumulative[t] = sums[0] + sums[1] + least(table[n_segments - 1])
    write_sum(total, sums)
