"""One run: every learner through the rounds of one environment, block by block."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from driftwise.core.errors import InvalidInput
from driftwise.core.measures import Measures
from driftwise.core.tuning_caveats import collected
from driftwise.core.types import Actions, Matrix
from driftwise.engine.loss_accumulator import LossAccumulator, sample_actions
from driftwise.engine.players import Entry
from driftwise.environments import LossSource, Stream
from driftwise.environments.measures_accumulator import MeasuresAccumulator
from driftwise.learners import Learner
from driftwise.results.comparators import Comparator, Dynamic
from driftwise.results.realised import Realised, RealisedAccumulator, best_follower

__all__ = ["Run", "SimulationPlan", "play_run"]

_ENVIRONMENT, _LEARNER, _SAMPLER = 0, 1, 2  # branches of a run's seed


class Run(NamedTuple):
    """What one run found."""

    regrets: Matrix  # (learners, marks)
    bounds: Matrix  # (learners, bound marks)
    measures: Measures | None
    realised: Realised
    specs: list[dict[str, Any]]
    caveats: list[str]  # why the rule of a tuned learner says nothing in this run; "" where there is nothing to say
    seconds: npt.NDArray[np.float64]


class SimulationPlan(NamedTuple):
    """What all runs share."""

    environment: LossSource
    entries: list[Entry]
    comparator: Comparator
    play: str
    n_rounds: int
    seed: int
    block_size: int
    realised: bool  # whether the best loss L* is wanted
    room: int  # bytes in which a run may keep the means of its path
    rounds: Actions
    bound_rounds: Actions
    bound: Callable[[Learner, Measures], float | None]
    advance: Callable[[int], None]  # told the rounds just played
    stop: threading.Event


def play_run(plan: SimulationPlan, run: int) -> Run:
    """Play one run from its own seeds; if it fails, the others are told to stop."""
    try:
        return _play(plan, run)
    except BaseException:
        plan.stop.set()
        raise


def _play(plan: SimulationPlan, run: int) -> Run:
    environment, n_rounds = plan.environment, plan.n_rounds
    seed = _branch(plan.seed, run, _ENVIRONMENT)
    stream, measures = _begin(plan, seed)
    learners, caveats = _make_learners(plan.entries, measures)
    states = [
        learner.start(environment.n_actions, _whole(_branch(plan.seed, run, _LEARNER, entry.copy)))
        for entry, learner in zip(plan.entries, learners, strict=True)
    ]
    samplers = [np.random.default_rng(_branch(plan.seed, run, _SAMPLER, entry.copy)) for entry in plan.entries]
    meters = [LossAccumulator() for _ in learners]
    follower = plan.comparator.start(environment.n_actions, n_rounds)
    realised = RealisedAccumulator(
        environment.n_actions, best_follower(measures) if plan.realised and measures else None
    )
    moving = MeasuresAccumulator(environment.n_actions)
    first, end = plan.comparator.span(n_rounds)
    regrets = np.empty((len(learners), len(plan.rounds)))
    on_the_way = np.empty((len(plan.bound_rounds), 5))
    bounds = np.full((len(learners), len(plan.bound_rounds)), np.nan)
    seconds = np.zeros(len(learners))
    for start in range(0, n_rounds, plan.block_size):
        if plan.stop.is_set():
            break
        stop = min(start + plan.block_size, n_rounds)
        block = stream.draw(stop - start)
        _admit(realised, block.losses, start)
        target = block.losses if block.means is None else block.means
        counted = slice(max(first - start, 0), max(min(end, stop) - start, 0))
        shift = start + counted.start
        here, marks = _within(plan.rounds, shift, stop)
        best = follower.follow(target[counted], marks)
        if block.means is not None and block.variances is not None:
            at, bound_marks = _within(plan.bound_rounds, start, stop)
            moving.record(block.means, block.variances, bound_marks, on_the_way[at])
            bounds[:, at] = _bounds(plan, learners, at, on_the_way[at])
        for i, learner in enumerate(learners):
            began = time.perf_counter()
            played = learner.play_block(states[i], block.losses)
            seconds[i] += time.perf_counter() - began
            if plan.play == "sample":
                played = sample_actions(played, samplers[i])
            regrets[i, here] = meters[i].add_block(played[counted], target[counted], marks) - best
            plan.advance(stop - start)
    if measures is None and environment.has_means and not plan.stop.is_set():
        measures = moving.measures() if moving.n_rounds == n_rounds else environment.measures(n_rounds, seed)
    specs = [entry.spec(learner) for entry, learner in zip(plan.entries, learners, strict=True)]
    return Run(regrets, bounds, measures, realised.realised(), specs, caveats, seconds)


def _begin(plan: SimulationPlan, seed: np.random.SeedSequence) -> tuple[Stream, Measures | None]:
    """Start the environment, with its measures if something asks for them before the first round."""
    environment, n_rounds = plan.environment, plan.n_rounds
    asked = plan.realised or any(entry.is_rule for entry in plan.entries)
    if asked and environment.has_means:
        return environment.start_measured(n_rounds, seed, plan.room)
    return environment.start(n_rounds, seed), None


def _make_learners(entries: Sequence[Entry], measures: Measures | None) -> tuple[list[Learner], list[str]]:
    """Make the learners of a run, each with what its rule reports: a rule may be wrapped in any other."""
    learners, caveats = [], []
    for entry in entries:
        with collected() as reasons:
            learners.append(entry.learner(measures))
        caveats.append("; ".join(dict.fromkeys(reasons)))
    return learners, caveats


def _bounds(plan: SimulationPlan, learners: Sequence[Learner], at: slice, on_the_way: Matrix) -> Matrix:
    """Evaluate every learner's bound on the measures up to some bound marks.

    Block by block: all at the end would hold the interpreter's lock for long, and other runs would wait for it.
    """
    bounds = np.full((len(learners), len(on_the_way)), np.nan)
    if not isinstance(plan.comparator, Dynamic):
        return bounds
    for j, (mark, row) in enumerate(zip(plan.bound_rounds[at], on_the_way, strict=True)):
        segments, drift, variance, within, squared = (float(x) for x in row)
        so_far = Measures(
            plan.environment.n_actions, int(mark) + 1, int(segments), drift, variance, within, squared
        )  # fmt: skip
        for i, learner in enumerate(learners):
            value = plan.bound(learner, so_far)
            bounds[i, j] = np.nan if value is None else value
    return bounds


def _admit(realised: RealisedAccumulator, losses: Matrix, start: int) -> None:
    """Measure what an environment made, and check it on the way; a third party's may err."""
    bad = realised.update(losses)
    if bad >= 0:
        t, k = divmod(bad, losses.shape[1])
        raise InvalidInput(
            f"simulate: the environment's losses must be in [0, 1], got {losses[t, k]}"
            f" in round {start + t}, action {k}."
        )


def _within(rounds: Actions, start: int, stop: int) -> tuple[slice, Actions]:
    """Return which marks fall in [start, stop), as a slice and as offsets from `start`."""
    low, high = np.searchsorted(rounds, [start, stop])
    return slice(int(low), int(high)), rounds[low:high] - start


def _branch(seed: int, *key: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed, spawn_key=key)


def _whole(sequence: np.random.SeedSequence) -> int:
    return int(sequence.generate_state(1, np.uint64)[0])
