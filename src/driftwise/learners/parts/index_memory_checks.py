"""Checks on the sums of plays and losses of a memory that was read from a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from driftwise.core.memory_fields import within

__all__ = ["ring_contradiction", "rounding", "sums_contradiction"]

_LAST_BIT = 2.0**-52  # of 1; a sum is rounded by at most half of this, relative to it


def rounding(window: int) -> float:
    """Return the largest error of the sums over a ring of so many plays.

    A round adds one loss and subtracts one, and once a window the sums are computed from the ring.
    """
    return _LAST_BIT * window * window


def sums_contradiction(memory: Any, window: int = 0) -> str:
    """Return the fault of `plays`, `total` and `squares` as sums over losses in [0, 1], '' if there is none."""
    off = rounding(window)  # plays in a ring are whole numbers, so this bounds the error of a mean too
    played = memory.plays > 0.0
    for name, sums in (("total", memory.total), ("squares", memory.squares)):
        with np.errstate(over="ignore"):
            means = sums[played] / memory.plays[played]
        if not (within(means, -off, 1.0 + off) and within(sums[~played], -off, off)):
            return f"`{name}` must be at most `plays`"
    return ""


def ring_contradiction(memory: Any, window: int) -> str:
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
