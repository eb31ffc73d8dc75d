"""Followers: the cumulative loss of a comparator, block by block in constant memory.

`follow` returns it at marked rounds; the engine subtracts it from the learner's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from driftwise.core.compensated_sums import add, add_term, read_sum, write_sum
from driftwise.core.kernel import kernel
from driftwise.core.types import Actions, Flags, Matrix, Vector
from driftwise.core.vectors import flags, least

__all__ = ["DynamicFollower", "Follower", "StaticFollower", "SwitchedFollower"]


class Follower(ABC):
    """The cumulative loss of a comparator, block by block."""

    @abstractmethod
    def follow(self, target: Matrix, marks: Actions) -> Vector:
        """Add a block; return the cumulative loss after each marked round of it."""


class DynamicFollower(Follower):
    """The sum of the least entries."""

    def __init__(self) -> None:
        self.total = np.zeros(2)

    def follow(self, target: Matrix, marks: Actions) -> Vector:
        """Add a block; return the cumulative loss after each marked round of it."""
        cumulative = np.empty(len(target))
        _add_dynamic(self.total, target, cumulative)
        return cumulative[marks]


class StaticFollower(Follower):
    """The least total of a single action, or the total of one that is given."""

    def __init__(self, n_actions: int, action: int | None = None) -> None:
        self.totals = np.zeros((n_actions, 2))
        self.action = -1 if action is None else action

    def follow(self, target: Matrix, marks: Actions) -> Vector:
        """Add a block; return the cumulative loss after each marked round of it."""
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
