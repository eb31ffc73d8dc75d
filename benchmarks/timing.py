"""Clocks for a machine that is shared with others: repetitions take turns, and the best or the middle one counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import NamedTuple

__all__ = ["Times", "interleaved", "seconds"]


class Times(NamedTuple):
    """The repetitions of one task, in seconds, in the order they were taken."""

    taken: tuple[float, ...]

    @property
    def best(self) -> float:
        return min(self.taken)

    @property
    def middle(self) -> float:
        return median(self.taken)


def seconds(work: Callable[[], object]) -> float:
    """Return how long `work` takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def interleaved(tasks: Mapping[str, Callable[[], float]], repetitions: int) -> dict[str, Times]:
    """Run the tasks in turns; each returns its own seconds, so that what it prepares is not counted.

    A first turn warms caches and compilers and is not kept. Every second turn goes backwards, so that no task
    always follows the same one.
    """
    names = list(tasks)
    taken: dict[str, list[float]] = {name: [] for name in names}
    for name in names:
        tasks[name]()
    for turn in range(repetitions):
        for name in names if turn % 2 == 0 else reversed(names):
            taken[name].append(tasks[name]())
    return {name: Times(tuple(values)) for name, values in taken.items()}
