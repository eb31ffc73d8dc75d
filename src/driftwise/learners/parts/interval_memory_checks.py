"""Checks on the rows of a learner on intervals, in a memory that was read from a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from driftwise.core.memory_fields import HUGE, within
from driftwise.core.types import Vector
from driftwise.learners.contract import Learner
from driftwise.learners.parts.packed_memory import MemoryLayout
from driftwise.learners.parts.time_intervals import Slots

__all__ = ["bases_contradiction", "scores_contradiction", "starts_contradiction"]


def starts_contradiction(memory: Any, slots: Slots, now: int) -> str:
    """Return the fault of the clock and of the starts before round `now`, counted from 1, '' if there is none."""
    in_use = int(slots.in_use(now))
    if memory.clock.tolist() != [now, in_use]:
        return f"`clock` must be [{now}, {in_use}]"
    starts = [int(slots.start(slot, now)) if slot < in_use else 0 for slot in range(len(memory.starts))]
    return "" if memory.starts.tolist() == starts else f"`starts` must have the rows awake in round {now}"


def bases_contradiction(memory: Any, base: Learner, layout: MemoryLayout) -> str:
    """Return the fault of the memories of the rows, '' if there is none."""
    n_actions = memory.weights.size
    first: Any = base.start(n_actions).memory
    unpacked = layout.unpack(memory.first_memory_words)
    if memory.first_play.tobytes() != first.weights.tobytes() or not _is_first_memory(unpacked, first):
        return f"`first_play` and `first_memory_words` must be those of {base.name}"
    for slot in np.flatnonzero(memory.starts):
        own = layout.unpack(memory.bases[slot])
        if fault := base.memory_fault(own, n_actions, int(memory.clock[0] - memory.starts[slot])):
            return f"`bases`: {fault}"
        if memory.plays[slot].tobytes() != own.weights.tobytes():
            return "`plays` must be the next weights of `bases`"
    return ""


def scores_contradiction(memory: Any, possible: Callable[[Vector, int], bool]) -> str:
    """Return the fault of the scores and shares of the rows, '' if there is none."""
    awake = memory.starts > 0
    for scores, start in zip(memory.scores[awake], memory.starts[awake], strict=True):
        rounds = int(memory.clock[0] - start)
        if not possible(scores, rounds):
            return f"`scores` must be possible after {rounds} rounds"
    shares = memory.shares[awake]
    if not (within(shares, 0.0, HUGE) and shares.min() >= 0.0 and shares.sum() > 0.0):
        return f"`shares` must be in [0, {HUGE:g}] and not all 0"
    mixed = (shares / shares.sum()) @ memory.plays[awake]
    return "" if within(memory.weights, mixed, mixed) else "`weights` must follow from `shares` and `plays`"


def _is_first_memory(memory: Any, first: Any) -> bool:
    """Return whether weights are equal, and the rest up to rounding: logarithms differ between machines."""
    same = memory.weights.tobytes() == first.weights.tobytes()
    return same and all(within(one, other, other) for one, other in zip(memory, first, strict=True))
