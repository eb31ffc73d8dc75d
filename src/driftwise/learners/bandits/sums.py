"""Rules that the sums of plays and losses obey, checked when a memory comes from a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from driftwise.core.fields import within

__all__ = ["ring_contradiction", "sums_contradiction"]


def sums_contradiction(memory: Any) -> str:
    """Return what is wrong with `plays`, `total` and `squares`, '' where nothing is: losses are in [0, 1]."""
    # A sum from which losses are taken away again may be off by rounding; then plays are whole, and 0 means unplayed.
    played = memory.plays > 0.0
    if not within(memory.total[played] / memory.plays[played], 0.0, 1.0):
        return "`total` must be at most `plays`"
    if not within(memory.squares[played] / memory.plays[played], 0.0, 1.0):
        return "`squares` must be at most `plays`"
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
    if not (np.allclose(memory.total, total, 1e-9, 1e-6) and np.allclose(memory.squares, squares, 1e-9, 1e-6)):
        return "`total` and `squares` must be sums over the ring"
    return ""
