"""Many runs of many learners on one machine.

Runs are independent: run `j` has seeds of its own, derived from the one seed at the top, and all its learners
see the same losses. Threads take whole runs, blocks cut rounds, and neither shows in the results.
"""

from __future__ import annotations

import functools
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from driftwise.core.errors import InvalidInput, rejection
from driftwise.core.measures import Measures
from driftwise.core.types import Actions, Matrix
from driftwise.core.validation import check_seed, count, first_bad_loss
from driftwise.engine.meters import LossMeter, sample_actions
from driftwise.engine.players import Entry, Player, entries
from driftwise.environments import Replay, Source
from driftwise.environments.measuring import MeasureMeter
from driftwise.learners import Learner
from driftwise.results.comparators import Comparator, Dynamic
from driftwise.results.realised import Realised, RealisedMeter
from driftwise.results.results import Results

__all__ = ["simulate"]

_POINTS = 1000  # marks on a curve
_BOUND_POINTS = 200
_ENVIRONMENT, _LEARNER, _SAMPLER = 0, 1, 2  # branches of a run's seed


class _Run(NamedTuple):
    regrets: Matrix  # (learners, marks)
    bounds: Matrix  # (learners, bound marks)
    measures: Measures | None
    realised: Realised
    specs: list[dict[str, Any]]
    seconds: npt.NDArray[np.float64]


class _Plan(NamedTuple):
    environment: Source
    entries: list[Entry]
    comparator: Comparator
    play: str
    n_rounds: int
    seed: int
    block_size: int
    rounds: Actions
    bound_rounds: Actions
    advance: Callable[[int], None]  # told the rounds just played
    stop: threading.Event


def simulate(
    environment: Source,
    learners: Player | Sequence[Player] | Mapping[str, Player],
    n_rounds: int | None = None,
    n_runs: int = 10,
    seed: int = 0,
    *,
    comparator: Comparator | None = None,
    play: str = "weights",
    n_threads: int | None = None,
    block_size: int = 4096,
    progress: Callable[[int, int], None] | None = None,
) -> Results:
    """Play every learner through `n_runs` runs of an environment and measure its regret.

    A learner may be given as a rule such as `OptimisticGD.tuned`, which is asked anew with each run's measures.
    `play="sample"` lets full-feedback learners draw an action from their weights. `n_rounds` may be left out
    for replayed losses. `progress` is called with the rounds done and the rounds in all.

    >>> from driftwise import Bernoulli, Environment, OptimisticGD, Switching, simulate
    >>> environment = Environment(Switching(n_segments=3, n_actions=4), Bernoulli())
    >>> results = simulate(environment, [OptimisticGD.tuned], n_rounds=300, n_runs=4, seed=1)
    >>> results.regret("optimistic-gd (tuned)").mean < results.bound("optimistic-gd (tuned)")
    True
    """
    if not isinstance(environment, Source):
        hint = " Recorded losses go into `Replay(losses)`." if isinstance(environment, Sequence | np.ndarray) else ""
        raise InvalidInput(f"simulate: `environment` must be an environment, got {type(environment).__name__}.{hint}")
    if comparator is not None and not isinstance(comparator, Comparator):
        raise rejection("simulate", "comparator", "a comparator such as `Static()`", comparator)
    if n_rounds is None:
        if not isinstance(environment, Replay):
            raise InvalidInput("simulate: `n_rounds` must be given, unless recorded losses are replayed.")
        n_rounds = environment.n_rounds
    n_rounds, n_runs = count("simulate", "n_rounds", n_rounds), count("simulate", "n_runs", n_runs)
    n_threads = os.cpu_count() or 1 if n_threads is None else count("simulate", "n_threads", n_threads)
    seed, comparator = check_seed("simulate", seed), comparator or Dynamic()
    if play not in ("weights", "sample"):
        raise rejection("simulate", "play", "'weights' or 'sample'", play)
    first, end = comparator.span(n_rounds)
    total = n_runs * n_rounds * len(who := entries(learners))
    done, lock = 0, threading.Lock()

    def advance(n: int) -> None:
        nonlocal done
        with lock:
            done += n
            if progress is not None:
                progress(done, total)

    rounds = _marks(first, end, _POINTS)
    # A bound is on the expected pseudo-regret against the best action of every round.
    provable = isinstance(comparator, Dynamic) and environment.has_means
    plan = _Plan(
        environment, who, comparator, play, n_rounds, seed, count("simulate", "block_size", block_size),
        rounds, _marks(first, end, _BOUND_POINTS) if provable else rounds[-1:], advance, threading.Event(),
    )  # fmt: skip
    runs = _play_all(plan, n_runs, min(n_runs, n_threads))
    seconds = np.sum([run.seconds for run in runs], axis=0)
    return Results(
        labels=tuple(entry.label for entry in who),
        learners=tuple(runs[0].specs),
        environment=environment.to_spec(),
        comparator=str(comparator),
        kind="pseudo" if environment.has_means else "realised",
        n_actions=environment.n_actions,
        n_rounds=n_rounds,
        n_runs=n_runs,
        seed=seed,
        rounds=plan.rounds + 1,
        regrets=np.stack([run.regrets for run in runs], axis=1),
        measures=tuple(run.measures for run in runs if run.measures is not None),
        realised=tuple(run.realised for run in runs),
        bound_rounds=plan.bound_rounds + 1,
        bounds=np.mean([run.bounds for run in runs], axis=0),
        seconds={entry.label: float(s) for entry, s in zip(who, seconds, strict=True)},
    )


def _play_all(plan: _Plan, n_runs: int, n_threads: int) -> list[_Run]:
    if n_threads == 1:
        return [_play(plan, run) for run in range(n_runs)]
    pool = ThreadPoolExecutor(n_threads)
    runs = [pool.submit(_play, plan, run) for run in range(n_runs)]
    try:
        for run in as_completed(runs):
            run.result()  # raises what went wrong, whichever run it was in
    finally:  # after an error or an interrupt, the other runs end at their next block, and nobody waits for them
        plan.stop.set()
        pool.shutdown(wait=False, cancel_futures=True)
    return [run.result() for run in runs]


def _play(plan: _Plan, run: int) -> _Run:
    """Play one run from its own seeds."""
    environment, n_rounds = plan.environment, plan.n_rounds
    at_home = _branch(plan.seed, run, _ENVIRONMENT)
    measures = environment.measures(n_rounds, at_home) if environment.has_means else None
    team = [entry.learner(measures) for entry in plan.entries]
    states = [
        learner.start(environment.n_actions, _whole(_branch(plan.seed, run, _LEARNER, i)))
        for i, learner in enumerate(team)
    ]
    samplers = [np.random.default_rng(_branch(plan.seed, run, _SAMPLER, i)) for i in range(len(team))]
    meters = [LossMeter() for _ in team]
    follower = plan.comparator.start(environment.n_actions)
    realised = RealisedMeter(environment.n_actions, n_rounds, measures.segments if measures else None)
    moving = MeasureMeter(environment.n_actions)
    first, end = plan.comparator.span(n_rounds)
    regrets = np.empty((len(team), len(plan.rounds)))
    on_the_way = np.empty((len(plan.bound_rounds), 5))
    seconds = np.zeros(len(team))
    stream = environment.start(n_rounds, at_home)
    for start in range(0, n_rounds, plan.block_size):
        if plan.stop.is_set():
            break
        stop = min(start + plan.block_size, n_rounds)
        block = stream.draw(stop - start)
        _admit(block.losses, start)
        target = block.losses if block.means is None else block.means
        counted = slice(max(first - start, 0), max(min(end, stop) - start, 0))
        shift = start + counted.start
        here, marks = _within(plan.rounds, shift, stop)
        best = follower.follow(target[counted], marks)
        realised.update(block.losses)
        if block.means is not None and block.variances is not None:
            at, bound_marks = _within(plan.bound_rounds, start, stop)
            moving.record(block.means, block.variances, bound_marks, on_the_way[at])
        for i, learner in enumerate(team):
            began = time.perf_counter()
            played = learner.advance(states[i], block.losses)
            seconds[i] += time.perf_counter() - began
            if plan.play == "sample":
                played = sample_actions(played, samplers[i])
            regrets[i, here] = meters[i].suffer(played[counted], target[counted], marks) - best
            plan.advance(stop - start)
    bounds = _bounds(plan, team, on_the_way, measures)
    specs = [entry.spec(learner) for entry, learner in zip(plan.entries, team, strict=True)]
    return _Run(regrets, bounds, measures, realised.realised(), specs, seconds)


def _bounds(plan: _Plan, team: Sequence[Learner], on_the_way: Matrix, measures: Measures | None) -> Matrix:
    """Evaluate every learner's bound on the measures up to each bound mark."""
    bounds = np.full((len(team), len(plan.bound_rounds)), np.nan)
    if measures is None or not isinstance(plan.comparator, Dynamic):
        return bounds
    for j, (mark, row) in enumerate(zip(plan.bound_rounds, on_the_way, strict=True)):
        segments, drift, variance, within, squared = (float(x) for x in row)
        so_far = Measures(
            measures.n_actions, int(mark) + 1, int(segments), drift, variance, within, squared
        )  # fmt: skip
        for i, learner in enumerate(team):
            value = _bound(learner, so_far)
            bounds[i, j] = np.nan if value is None else value
    return bounds


@functools.lru_cache(maxsize=4096)
def _bound(learner: Learner, measures: Measures) -> float | None:
    """Ask a learner for its bound; runs on one path ask the same again and again."""
    return learner.bound(measures)


def _admit(losses: Matrix, start: int) -> None:
    """Check what an environment made; a third party's may err."""
    bad = first_bad_loss(losses.reshape(-1))
    if bad >= 0:
        t, k = divmod(bad, losses.shape[1])
        raise InvalidInput(
            f"simulate: the environment's losses must be in [0, 1], got {losses[t, k]}"
            f" in round {start + t}, action {k}."
        )


def _marks(first: int, end: int, most: int) -> Actions:
    """Return at most `most` rounds, 0-based, evenly spread, the last included."""
    return np.unique(np.linspace(first, end - 1, min(most, end - first)).round().astype(np.int64))


def _within(rounds: Actions, start: int, stop: int) -> tuple[slice, Actions]:
    """Return which marks fall in [start, stop), as a slice and as offsets from `start`."""
    low, high = np.searchsorted(rounds, [start, stop])
    return slice(int(low), int(high)), rounds[low:high] - start


def _branch(seed: int, *key: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed, spawn_key=key)


def _whole(sequence: np.random.SeedSequence) -> int:
    return int(sequence.generate_state(1, np.uint64)[0])
