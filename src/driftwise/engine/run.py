"""One run: every learner plays the rounds of one environment, block by block."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from driftwise.core.compensated_sums import add_term, read_sum, write_sum
from driftwise.core.errors import InvalidInput
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.random import draw_from
from driftwise.core.tuning_caveats import collected
from driftwise.core.types import Actions, Matrix, Vector
from driftwise.engine.entries import Entry
from driftwise.environments import LossSource, Stream
from driftwise.environments.measures_accumulator import MeasuresAccumulator
from driftwise.learners import Learner
from driftwise.registry import to_spec
from driftwise.results.comparators import Comparator
from driftwise.results.realised import Realised, RealisedAccumulator, best_follower

__all__ = ["LossAccumulator", "Run", "SimulationPlan", "play_run"]

_ENVIRONMENT, _LEARNER, _SAMPLER = 0, 1, 2  # branches of a run's seed


class Run(NamedTuple):
    """The outcome of one run."""

    regrets: Matrix  # (learners, marks)
    bounds: Matrix  # (learners, bound marks)
    measures: Measures | None
    realised: Realised
    played: list[dict[str, Any]]  # the spec of each learner
    caveats: list[str]  # per learner: why its tuning rule is meaningless in this run; "" if there is no caveat
    seconds: npt.NDArray[np.float64]


class SimulationPlan(NamedTuple):
    """Settings that all runs share."""

    environment: LossSource
    entries: list[Entry]
    comparator: Comparator
    play: str
    n_rounds: int
    seed: int
    block_size: int
    realised: bool  # whether to compute the best loss L*
    path_bytes: int  # the memory in which a run may keep the means of its path
    rounds: Actions
    bound_rounds: Actions
    bound: Callable[[Learner, Measures], float | None] | None  # None for a comparator without bounds
    advance: Callable[[int], None]  # called with the number of rounds just played
    stop: threading.Event  # set after a failure or an interrupt: runs stop at their next block


def play_run(plan: SimulationPlan, run: int) -> Run:
    """Play one run with its own seeds; if `plan.stop` is set meanwhile, its outcome is incomplete."""
    environment, n_rounds = plan.environment, plan.n_rounds
    seed = _branch(plan.seed, run, _ENVIRONMENT)
    stream, measures = _start_environment(plan, seed)
    learners, caveats = _make_learners(plan, measures)
    states = [
        learner.start(environment.n_actions, _integer_seed(_branch(plan.seed, run, _LEARNER, entry.copy)))
        for entry, learner in zip(plan.entries, learners, strict=True)
    ]
    sampled = plan.entries if plan.play == "sample" else []
    samplers = [np.random.default_rng(_branch(plan.seed, run, _SAMPLER, entry.copy)) for entry in sampled]
    accumulators = [LossAccumulator() for _ in learners]
    follower = plan.comparator.start(environment.n_actions, n_rounds)
    realised = RealisedAccumulator(
        environment.n_actions, best_follower(measures) if plan.realised and measures else None
    )
    path_measures = MeasuresAccumulator(environment.n_actions)
    first, end = plan.comparator.span(n_rounds)
    regrets = np.empty((len(learners), len(plan.rounds)))
    measures_at_marks = np.empty((len(plan.bound_rounds), 5))
    bounds = np.full((len(learners), len(plan.bound_rounds)), np.nan)
    seconds = np.zeros(len(learners))
    for start in range(0, n_rounds, plan.block_size):
        if plan.stop.is_set():
            break
        stop = min(start + plan.block_size, n_rounds)
        block = stream.draw(stop - start)
        _measure_losses(realised, block.losses, start)
        target = block.losses if block.means is None else block.means
        counted = slice(max(first - start, 0), max(min(end, stop) - start, 0))
        recorded, marks = _marks_within(plan.rounds, start + counted.start, stop)
        best = follower.follow(target[counted], marks)
        if block.means is not None and block.variances is not None:
            bounded, bound_marks = _marks_within(plan.bound_rounds, start, stop)
            path_measures.record(block.means, block.variances, bound_marks, measures_at_marks[bounded])
            bounds[:, bounded] = _bounds(plan, learners, bounded, measures_at_marks[bounded])
        for i, learner in enumerate(learners):
            began = time.perf_counter()
            played = learner.play_block(states[i], block.losses)
            seconds[i] += time.perf_counter() - began
            if plan.play == "sample":
                played = sample_actions(played, samplers[i])
            regrets[i, recorded] = accumulators[i].add_block(played[counted], target[counted], marks) - best
            plan.advance(stop - start)
    if measures is None and environment.has_means and not plan.stop.is_set():
        measures = (
            path_measures.measures() if path_measures.n_rounds == n_rounds else environment.measures(n_rounds, seed)
        )
    specs = [to_spec(learner) for learner in learners]
    return Run(regrets, bounds, measures, realised.realised(), specs, caveats, seconds)


def _start_environment(plan: SimulationPlan, seed: np.random.SeedSequence) -> tuple[Stream, Measures | None]:
    """Start the environment; compute its measures first if tuning or the best loss L* needs them."""
    environment, n_rounds = plan.environment, plan.n_rounds
    needs_measures = plan.realised or any(entry.player.needs_measures for entry in plan.entries)
    if needs_measures and environment.has_means:
        return environment.start_measured(n_rounds, seed, plan.path_bytes)
    return environment.start(n_rounds, seed), None


def _make_learners(plan: SimulationPlan, measures: Measures | None) -> tuple[list[Learner], list[str]]:
    """Return the learners of a run and, for each, the caveats that its tuning rule reported."""
    environment = plan.environment
    told_budget = any(entry.player.tuned == "budget" for entry in plan.entries)
    budget = environment.budget(plan.n_rounds) if told_budget else None
    learners, caveats = [], []
    for entry in plan.entries:
        with collected() as reasons:
            learners.append(entry.player.learner(environment.n_actions, plan.n_rounds, measures, budget))
        caveats.append("; ".join(dict.fromkeys(reasons)))
    return learners, caveats


def _bounds(plan: SimulationPlan, learners: Sequence[Learner], at: slice, measures_at_marks: Matrix) -> Matrix:
    """Evaluate every learner's bound on the measures up to each of some bound marks.

    This is done block by block: all bounds at once would hold the interpreter's lock while other runs wait.
    """
    bounds = np.full((len(learners), len(measures_at_marks)), np.nan)
    bounded = [i for i, learner in enumerate(learners) if _has_bound(type(learner))]
    if plan.bound is None or not bounded:
        return bounds
    for j, (mark, row) in enumerate(zip(plan.bound_rounds[at], measures_at_marks, strict=True)):
        segments, drift, variance, within, squared = (float(x) for x in row)
        so_far = Measures(
            plan.environment.n_actions, int(mark) + 1, int(segments), drift, variance, within, squared
        )  # fmt: skip
        for i in bounded:
            value = plan.bound(learners[i], so_far)
            bounds[i, j] = np.nan if value is None else value
    return bounds


def _has_bound(kind: type[Learner]) -> bool:
    return kind.bound is not Learner.bound or kind.static_bound is not Learner.static_bound


def _measure_losses(realised: RealisedAccumulator, losses: Matrix, start: int) -> None:
    """Add a block of losses to the realised quantities, and reject losses outside [0, 1]."""
    bad = realised.update(losses)
    if bad >= 0:
        t, k = divmod(bad, losses.shape[1])
        raise InvalidInput(
            f"simulate: the environment's losses must be in [0, 1], got {losses[t, k]}"
            f" in round {start + t}, action {k}."
        )


def _marks_within(rounds: Actions, start: int, stop: int) -> tuple[slice, Actions]:
    """Return the marks in [start, stop): as a slice of `rounds`, and as offsets from `start`."""
    low, high = np.searchsorted(rounds, [start, stop])
    return slice(int(low), int(high)), rounds[low:high] - start


def _branch(seed: int, *key: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed, spawn_key=key)


def _integer_seed(sequence: np.random.SeedSequence) -> int:
    return int(sequence.generate_state(1, np.uint64)[0])


class LossAccumulator:
    """The cumulative loss of one learner in one run, added round by round, so that block sizes do not change it."""

    def __init__(self) -> None:
        self._total = np.zeros(2)

    def add_block(self, played: Matrix | Actions, target: Matrix, marks: Actions) -> Vector:
        """Add the losses of a block, given the weights or actions played; return the sum after each marked round."""
        cumulative = np.empty(len(target))
        add: Callable[..., None] = _add_weights if played.ndim == 2 else _add_actions
        add(self._total, played, target, cumulative)
        return cumulative[marks]


def sample_actions(played: Matrix | Actions, generator: np.random.Generator) -> Actions:
    """Return one action per round, drawn from the weights of the round; actions are returned as they are."""
    actions = np.empty(len(played), np.int64)
    if played.ndim == 1:
        actions[:] = played
    else:
        _sample(played, generator.random(len(played)), actions)
    return actions


@kernel
def _add_weights(total: Vector, played: Matrix, target: Matrix, cumulative: Vector) -> None:
    sums = read_sum(total)
    for t in range(target.shape[0]):
        loss = 0.0
        for k in range(target.shape[1]):
            loss += played[t, k] * target[t, k]
        sums = add_term(sums, loss)
        cumulative[t] = sums[0] + sums[1]
    write_sum(total, sums)


@kernel
def _add_actions(total: Vector, played: Actions, target: Matrix, cumulative: Vector) -> None:
    sums = read_sum(total)
    for t in range(target.shape[0]):
        sums = add_term(sums, target[t, played[t]])
        cumulative[t] = sums[0] + sums[1]
    write_sum(total, sums)


@kernel
def _sample(weights: Any, uniforms: Vector, actions: Actions) -> None:
    for t in range(weights.shape[0]):
        actions[t] = draw_from(weights[t], uniforms[t])
