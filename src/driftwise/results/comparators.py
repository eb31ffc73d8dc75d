"""Who the learner is compared with. Each comparator is followed block by block in constant memory.

`follow` returns the comparator's cumulative loss at marked rounds; the engine subtracts it from the learner's.
The target is the matrix of means where they are known (pseudo-regret), of losses where not (realised regret).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from driftwise.core.compensated_sums import add
from driftwise.core.errors import rejection
from driftwise.core.kernel import kernel
from driftwise.core.machine_memory import check_memory
from driftwise.core.types import Actions, Matrix, Vector
from driftwise.core.validation import require, require_count
from driftwise.core.vectors import least

__all__ = ["Comparator", "Dynamic", "Follower", "Interval", "Static", "Switched"]


class Follower(ABC):
    """A comparator on its way through the rounds."""

    @abstractmethod
    def follow(self, target: Matrix, marks: Actions) -> Vector:
        """Take in a block; return the cumulative loss after each marked round of it."""


@dataclass(frozen=True)
class Comparator(ABC):
    """A rule for choosing in hindsight."""

    name: ClassVar[str]

    def __str__(self) -> str:
        return self.name

    @abstractmethod
    def start(self, n_actions: int, n_rounds: int | None = None) -> Follower:
        """Return a follower before round 1; it may make use of the number of rounds, if that is known."""

    def span(self, n_rounds: int) -> tuple[int, int]:
        """Return the rounds that count, first and last + 1."""
        return 0, n_rounds


@dataclass(frozen=True)
class Dynamic(Comparator):
    """The best action of every single round."""

    name: ClassVar[str] = "dynamic"

    def start(self, n_actions: int, n_rounds: int | None = None) -> Follower:  # noqa: ARG002
        """Start at zero."""
        return _DynamicFollower()


@dataclass(frozen=True)
class Static(Comparator):
    """The best single action of all rounds so far."""

    name: ClassVar[str] = "static"

    def start(self, n_actions: int, n_rounds: int | None = None) -> Follower:  # noqa: ARG002
        """Start at zero."""
        return _StaticFollower(n_actions)


@dataclass(frozen=True)
class Switched(Comparator):
    """The best sequence of at most `n_segments` segments, one action each (by dynamic programming)."""

    name: ClassVar[str] = "switching"
    n_segments: int = 1

    def __post_init__(self) -> None:
        require_count(self, "n_segments")

    def __str__(self) -> str:
        return f"{self.name}:{self.n_segments}"

    def start(self, n_actions: int, n_rounds: int | None = None) -> Follower:
        """Start at zero; with a segment for every round it is the dynamic comparator, to the last bit."""
        if n_rounds is not None and self.n_segments >= n_rounds:
            return Dynamic().start(n_actions)
        check_memory(self, "n_segments", self.n_segments, 8 * self.n_segments * n_actions)
        return SwitchedFollower(self.n_segments, n_actions)


@dataclass(frozen=True)
class Interval(Comparator):
    """One fixed action on rounds `first` to `last`, 0-based, both included; None is the best of them.

    This is the regret of Lemma R_I, which Algorithm 4 keeps small on every interval at once.
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
        """Start at zero."""
        if self.action is not None and self.action >= n_actions:
            raise rejection(self, "action", f"< n_actions = {n_actions}", self.action)
        return _StaticFollower(n_actions, self.action)

    def span(self, n_rounds: int) -> tuple[int, int]:
        """Return the interval."""
        if self.last >= n_rounds:
            raise rejection(self, "last", f"< n_rounds = {n_rounds}", self.last)
        return self.first, self.last + 1


class _DynamicFollower(Follower):
    def __init__(self) -> None:
        self.total = np.zeros(2)

    def follow(self, target: Matrix, marks: Actions) -> Vector:
        out = np.empty(len(marks))
        _follow_dynamic(self.total, target, marks, out)
        return out


class _StaticFollower(Follower):
    def __init__(self, n_actions: int, action: int | None = None) -> None:
        self.totals = np.zeros((n_actions, 2))
        self.action = -1 if action is None else action

    def follow(self, target: Matrix, marks: Actions) -> Vector:
        out = np.empty(len(marks))
        _follow_static(self.totals, self.action, target, marks, out)
        return out


class SwitchedFollower(Follower):
    """Row n of the table holds, per action, the least loss with at most n + 1 segments that ends on it.

    All of it is above the best of every round, which is summed on its own: a small sum loses little to rounding.
    """

    def __init__(self, n_segments: int, n_actions: int) -> None:
        self.table = np.zeros((n_segments, n_actions))
        self.total = np.zeros(2)

    def follow(self, target: Matrix, marks: Actions) -> Vector:
        """Take in a block."""
        out = np.empty(len(marks))
        _follow_switched(self.table, self.total, target, marks, out)
        return out


@kernel
def _follow_dynamic(total: Vector, target: Matrix, marks: Actions, out: Vector) -> None:
    mark = 0
    for t in range(target.shape[0]):
        so_far = add(total, least(target[t]))
        if mark < marks.size and marks[mark] == t:
            out[mark] = so_far
            mark += 1


@kernel
def _follow_static(totals: Matrix, action: int, target: Matrix, marks: Actions, out: Vector) -> None:
    mark = 0
    for t in range(target.shape[0]):
        best = np.inf
        for k in range(target.shape[1]):
            so_far = add(totals[k], target[t, k])
            if (action < 0 and so_far < best) or k == action:
                best = so_far
        if mark < marks.size and marks[mark] == t:
            out[mark] = best
            mark += 1


@kernel
def _follow_switched(table: Matrix, total: Vector, target: Matrix, marks: Actions, out: Vector) -> None:
    n_segments, n_actions = table.shape
    mark = 0
    for t in range(target.shape[0]):
        best = least(target[t])
        so_far = add(total, best)
        # From the most segments down, so that the row below still holds the round before.
        for n in range(n_segments - 1, -1, -1):
            arrive = least(table[n - 1]) if n > 0 else np.inf
            for k in range(n_actions):
                table[n, k] = min(table[n, k], arrive) + (target[t, k] - best)
        if mark < marks.size and marks[mark] == t:
            out[mark] = so_far + least(table[n_segments - 1])
            mark += 1
