"""Rules that the sums of plays and losses obey, checked when a memory comes from a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from driftwise.core.memory_fields import within

__all__ = ["ring_contradiction", "rounding", "sums_contradiction"]

_LAST_BIT = 2.0**-52  # of 1; a sum is rounded by at most half of this, relative to it


def rounding(window: int) -> float:
    """Return how far the sums over a ring of so many plays can be off.

    A round adds one loss and takes one away, and once a window the sums are made anew.
    """
    return _LAST_BIT * window * window


def sums_contradiction(memory: Any, window: int = 0) -> str:
    """Return what is wrong with `plays`, `total` and `squares`, '' where nothing is: losses are in [0, 1]."""
    off = rounding(window)  # plays in a ring are whole, so this bounds what a mean is off
    played = memory.plays > 0.0
    for name, sums in (("total", memory.total), ("squares", memory.squares)):
        with np.errstate(over="ignore"):
            means = sums[played] / memory.plays[played]
        if not (within(means, -off, 1.0 + off) and within(sums[~played], -off, off)):
            return f"`{name}` must be at most `plays`"
    return ""


def ring_contradiction(memory: Any, window: int) -> str:
    """Return what is wrong with sums over the first `window` places of a ring of plays, '' where nothing is."""
    acts, seen = memory.acts[:window], memory.seen[:window]
    kept = acts >= 0
    n_actions = memory.plays.size
    if not np.array_equal(memory.plays, np.bincount(acts[kept], minlength=n_actions)):
        return "`plays` must count the actions of the ring"
    if memory.counted[0] != kept.sum():
        return "`counted` must count the plays of the ring"
    total = np.bincount(acts[kept], seen[kept], n_actions)
    squares = np.bincount(acts[kept], seen[kept] ** 2, n_actions)
    off = 1e-6 + rounding(window)
    if not (np.allclose(memory.total, total, 1e-9, off) and np.allclose(memory.squares, squares, 1e-9, off)):
        return "`total` and `squares` must be sums over the ring"
    return ""
