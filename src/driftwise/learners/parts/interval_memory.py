"""The memory of learners on intervals: the rows, and the stacked memories of the base learners.

Its NamedTuple depends on the class of the base. Each is made when it is first used, and is an attribute of this module
under the name of the base: pickles and the cache of compiled kernels find it there, also in a process that has not made
it yet.
"""

from __future__ import annotations

import functools
from typing import Annotated, Any, NamedTuple

import numpy as np

from driftwise.core.memory_fields import HUGE, distribution, fields_of, memory_type, packed, scratch, within
from driftwise.core.types import Actions, Matrix, Vector
from driftwise.learners.contract import ExpertLearner, learners
from driftwise.learners.contract.memory_checks import returned_type
from driftwise.learners.parts.meta_learner import can_be_base
from driftwise.learners.parts.stacked_memory import inner_fields

__all__ = ["IntervalRates", "IntervalRows", "NoRates", "empty_memory", "interval_memory_type", "shares_contradiction"]


class IntervalRows(NamedTuple):
    """The rows, without the memories of the base learners."""

    weights: Annotated[Vector, distribution("actions")]  # of the next round
    clock: Annotated[Actions, packed(2)]  # the next round, counted from 1, and the number of slots in use
    starts: Annotated[Actions, packed("slots")]  # the first round of the row in each slot, 0 where none is awake
    scores: Annotated[Matrix, packed("slots", 2)]  # of each row; each learner defines its own
    plays: Annotated[Matrix, packed("slots", "actions")]  # the rows' weights of the next round
    losses: Annotated[Vector, scratch("slots")]  # the rows' losses in the round
    shares: Annotated[Vector, packed("slots")]  # of each row in the weights of the next round, before normalising


class IntervalRates(NamedTuple):
    """The parameters of the learner and of the base, and the memory with which a base starts."""

    rule: Any
    base: Any
    first: Any


class NoRates(NamedTuple):
    """The parameters of a learner that has none."""

    none: float = 0.0


@functools.cache
def interval_memory_type(base: type[ExpertLearner]) -> Any:
    """Return the NamedTuple of the memory with bases of a class."""
    stacks = inner_fields(returned_type(base, "first_memory"), "base", "slots")
    return memory_type("IntervalMemory", __name__, base.name, {**fields_of(IntervalRows), **stacks})


def __getattr__(name: str) -> Any:
    base = None if name.startswith("__") else learners.find(name)
    if base is None or not can_be_base(base):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return interval_memory_type(base)


def empty_memory(base: type[ExpertLearner], first: Any, n_slots: int) -> Any:
    """Return the memory before the first row has started, for bases that start with the memory `first`."""
    stacks = {field: np.zeros((n_slots, *array.shape), array.dtype) for field, array in first._asdict().items()}
    rows = IntervalRows(
        weights=np.zeros(first.weights.size),
        clock=np.zeros(2, np.int64),
        starts=np.zeros(n_slots, np.int64),
        scores=np.zeros((n_slots, 2)),
        plays=stacks.pop("weights"),
        losses=np.zeros(n_slots),
        shares=np.zeros(n_slots),
    )
    return interval_memory_type(base)(*rows, *stacks.values())


def shares_contradiction(memory: Any) -> str:
    """Return the fault of the shares of the awake rows, '' if there is none."""
    awake = memory.starts > 0
    shares = memory.shares[awake]
    if not (within(shares, 0.0, HUGE) and shares.min() >= 0.0 and shares.sum() > 0.0):
        return f"`shares` must be in [0, {HUGE:g}] and not all 0"
    mixed = (shares / shares.sum()) @ memory.plays[awake]
    return "" if within(memory.weights, mixed, mixed) else "`weights` must follow from `shares` and `plays`"
