"""The settings that all runs of a simulation share, with the defaults that do not change results."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence

import numpy as np

from driftwise.core.machine_memory import memory_bytes
from driftwise.core.measures import Measures
from driftwise.core.types import Actions
from driftwise.engine.entries import Entry
from driftwise.engine.run import SimulationPlan
from driftwise.environments import LossSource
from driftwise.learners import Learner
from driftwise.results.comparators import Comparator, Dynamic, Static

__all__ = ["default_block", "make_plan", "marked_rounds"]

_CELLS = 2**17  # losses in a block: 1 MB per array, and long enough that threads seldom wait for each other
_KEPT_BYTES = 2**28  # for means that tuning computes before the first round and the rounds use, over all threads
_KEPT_SHARE = 16  # and at most 1/16 of the memory
_BOUND_POINTS = 32  # of a bound; computed under the interpreter lock, where other runs wait


def make_plan(
    environment: LossSource,
    entries: Sequence[Entry],
    n_rounds: int,
    seed: int,
    comparator: Comparator,
    play: str,
    realised: bool,
    points: int,
    *,
    block_size: int | None = None,
    n_threads: int = 1,
    advance: Callable[[int], None] = lambda _: None,
) -> SimulationPlan:
    """Return the plan of runs whose regret is recorded at `points` rounds, the last of them at the end."""
    first, end = comparator.span(n_rounds)
    rounds = marked_rounds(first, end, points)
    # A bound is on the expected pseudo-regret, against the best action of every round or the best fixed action.
    provable = isinstance(comparator, Dynamic | Static) and environment.has_means
    # Runs on the same path evaluate the same bounds.
    bound = functools.lru_cache(2 * _BOUND_POINTS * len(entries))(
        _static_bound if isinstance(comparator, Static) else _dynamic_bound
    )
    return SimulationPlan(
        environment=environment,
        entries=list(entries),
        comparator=comparator,
        play=play,
        n_rounds=n_rounds,
        seed=seed,
        block_size=min(block_size or default_block(environment.n_actions), n_rounds),
        realised=realised,
        path_bytes=min(_KEPT_BYTES, memory_bytes() // _KEPT_SHARE) // n_threads,
        rounds=rounds,
        bound_rounds=rounds[marked_rounds(0, len(rounds), _BOUND_POINTS)] if provable else rounds[-1:],
        bound=bound if provable else None,
        advance=advance,
        stop=threading.Event(),
    )


def _dynamic_bound(learner: Learner, measures: Measures) -> float | None:
    return learner.bound(measures)


def _static_bound(learner: Learner, measures: Measures) -> float | None:
    """Return the bound on the static regret, which is at most the dynamic regret."""
    found = learner.static_bound(measures)
    return learner.bound(measures) if found is None else found


def default_block(n_actions: int) -> int:
    """Return the number of rounds that are drawn at a time."""
    return max(1, min(2**14, _CELLS // n_actions))


def marked_rounds(first: int, end: int, most: int) -> Actions:
    """Return at most `most` rounds of [first, end), evenly spaced, with the last."""
    if most == 1:
        return np.array([end - 1])
    return np.unique(np.linspace(first, end - 1, min(most, end - first)).round().astype(np.int64))
