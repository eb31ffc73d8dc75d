"""Timing on a shared machine: repetitions of several tasks alternate, and the best or the median is used."""

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
    """Return the seconds that `work` takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def interleaved(tasks: Mapping[str, Callable[[], float]], repetitions: int) -> dict[str, Times]:
    """Run the tasks alternately; each returns its own seconds, without its preparation.

    A first turn fills caches, compiles, and is discarded. Every second turn is in reverse order, so that a task does
    not always follow the same one.
    """
    names = list(tasks)
    taken: dict[str, list[float]] = {name: [] for name in names}
    for name in names:
        tasks[name]()
    for turn in range(repetitions):
        for name in names if turn % 2 == 0 else reversed(names):
            taken[name].append(tasks[name]())
    return {name: Times(tuple(values)) for name, values in taken.items()}
