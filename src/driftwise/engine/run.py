"""One run of a simulation: every learner plays the rounds of one environment, block by block.

A `SimulationPlan` has the settings that all runs share, with the defaults that do not change results.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from driftwise.core.errors import InvalidInput
from driftwise.core.kernel import compiled, kernel
from driftwise.core.measures import Measures, collected, trusted_measures
from driftwise.core.random import draw_from
from driftwise.core.types import Actions, Matrix, Vector
from driftwise.core.validation import count, memory_bytes
from driftwise.core.vectors import add_term, read_sum, write_sum
from driftwise.environments import LossSource, Replay, Stream
from driftwise.environments.measures_accumulator import MeasuresAccumulator
from driftwise.learners import Learner, Player
from driftwise.learners.base.kernel_learner import KernelLearner
from driftwise.learners.base.loops import Kernel
from driftwise.registry import to_spec
from driftwise.regret.comparators import Comparator, Dynamic, Static
from driftwise.regret.realised import Realised, RealisedAccumulator, best_follower

# Of the engine. It is raised when seeding, regret, comparators, measures or the choice of bounds change, and so
# invalidates every stored result. Changes of a learner, path, noise, adversary or detector raise the `version` of that
# class instead.
VERSION = 2
_ENVIRONMENT, _LEARNER, _SAMPLER = 0, 1, 2  # branches of a run's seed
_CELLS = 2**17  # losses in a block: 1 MB per array, and long enough that threads seldom wait for each other
_KEPT_BYTES = 2**28  # for means that tuning computes before the first round and the rounds use, over all threads
_KEPT_SHARE = 16  # and at most 1/16 of the memory
_BOUND_POINTS = 32  # of a bound; computed under the interpreter lock, where other runs wait


@dataclass(frozen=True)
class LabelledPlayer:
    """A player with its label.

    `copy` is the number of equal players before it, and selects its branch of a run's seed. So the random numbers of a
    learner depend neither on its label nor on the other learners; copies of one learner get different ones.
    """

    label: str
    player: Player
    copy: int = 0


class DistinctLabels:
    """Labels that differ: one that was there before gets a number. There may be very many equal ones.

    >>> labels = DistinctLabels()
    >>> [labels.add(label) for label in ("hedge", "hedge", "ucb1", "hedge")]
    ['hedge', 'hedge #2', 'ucb1', 'hedge #3']
    """

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._last: dict[str, int] = {}  # the last number of each label

    def add(self, label: str) -> str:
        """Return a label, with a number after it if it is used already."""
        distinct, n = label, self._last.get(label, 1)
        while distinct in self._used:
            n += 1
            distinct = f"{label} #{n}"
        self._last[label] = n
        self._used.add(distinct)
        return distinct


@dataclass(frozen=True)
class SimulationPlan:
    """Settings that all runs share; their regret is recorded at `points` rounds, the last of them at the end."""

    environment: LossSource
    players: Sequence[LabelledPlayer]
    n_rounds: int
    seed: int
    comparator: Comparator
    play: str
    realised: bool  # whether to compute the best loss L*
    points: int
    most_in_block: int | None = None  # rounds; None for the usual number
    n_threads: int = 1
    advance: Callable[[int], None] = lambda _: None  # called with the number of rounds just played
    stop: threading.Event = field(default_factory=threading.Event)  # set after a failure: runs stop at their next block

    def __post_init__(self) -> None:
        self.comparator.span(self.n_rounds)  # rejects a comparator of other rounds

    @functools.cached_property
    def block_size(self) -> int:
        """The number of rounds that are drawn at a time."""
        return min(self.most_in_block or default_block(self.environment.n_actions), self.n_rounds)

    @functools.cached_property
    def path_bytes(self) -> int:
        """The memory in which a run may keep the means of its path."""
        return min(_KEPT_BYTES, memory_bytes() // _KEPT_SHARE) // self.n_threads

    @functools.cached_property
    def rounds(self) -> Actions:
        """The rounds at which the regret is recorded."""
        return marked_rounds(*self.comparator.span(self.n_rounds), self.points)

    @functools.cached_property
    def bound_rounds(self) -> Actions:
        """The rounds at which the bounds are evaluated."""
        return self.rounds[marked_rounds(0, len(self.rounds), _BOUND_POINTS) if self.bound else [-1]]

    @functools.cached_property
    def bound(self) -> Callable[[Learner, Measures], float | None] | None:
        """The bound on the expected pseudo-regret against the comparator, None for a comparator without bounds."""
        if not isinstance(self.comparator, Dynamic | Static) or not self.environment.has_means:
            return None
        bound = _static_bound if isinstance(self.comparator, Static) else lambda learner, so_far: learner.bound(so_far)
        # Runs on the same path evaluate the same bounds.
        return functools.lru_cache(2 * _BOUND_POINTS * len(self.players))(bound)


def _static_bound(learner: Learner, measures: Measures) -> float | None:
    """Return the bound on the static regret, which is at most the dynamic regret."""
    bound = learner.static_bound(measures)
    return learner.bound(measures) if bound is None else bound


def rounds_to_play(owner: str, source: LossSource, n_rounds: int | None) -> int:
    """Return the number of rounds that the function `owner` plays; None stands for all recorded losses."""
    if n_rounds is None:
        if not isinstance(source, Replay):
            raise InvalidInput(f"{owner}: `n_rounds` must be given, unless recorded losses are replayed.")
        n_rounds = source.n_rounds
    return count(owner, "n_rounds", n_rounds)


def default_block(n_actions: int) -> int:
    """Return the number of rounds that are drawn at a time."""
    return max(1, min(2**14, _CELLS // n_actions))


def marked_rounds(first: int, end: int, most: int) -> Actions:
    """Return at most `most` rounds of [first, end), evenly spaced, with the last."""
    if most == 1:
        return np.array([end - 1])
    return np.unique(np.linspace(first, end - 1, min(most, end - first)).round().astype(np.int64))


class Run(NamedTuple):
    """The outcome of one run."""

    regrets: Matrix  # (learners, marks)
    bounds: Matrix  # (learners, bound marks)
    measures: Measures | None
    realised: Realised
    played: list[dict[str, Any]]  # the spec of each learner
    caveats: list[str]  # per learner: why its tuning rule is meaningless in this run; "" if there is no caveat
    seconds: npt.NDArray[np.float64]  # per learner: of its rounds, without compilation
    compiling: float  # seconds before the first round in which loops were compiled, or read from disk


def play_run(plan: SimulationPlan, run: int) -> Run:
    """Play one run with its own seeds; if `plan.stop` is set meanwhile, its outcome is incomplete."""
    environment, n_rounds, n_actions = plan.environment, plan.n_rounds, plan.environment.n_actions
    seed = _branch(plan.seed, run, _ENVIRONMENT)
    stream, measures = _start_environment(plan, seed)
    learners, caveats = _make_learners(plan, measures)
    seeds = [_branch(plan.seed, run, _LEARNER, labelled.copy).generate_state(1, np.uint64) for labelled in plan.players]
    states = [learner.start(n_actions, int(seed[0])) for learner, seed in zip(learners, seeds, strict=True)]
    sampled = plan.players if plan.play == "sample" else []
    samplers = [np.random.default_rng(_branch(plan.seed, run, _SAMPLER, labelled.copy)) for labelled in sampled]
    accumulators = [LossAccumulator() for _ in learners]
    follower = plan.comparator.start(n_actions, n_rounds)
    realised = RealisedAccumulator(n_actions, best_follower(measures) if plan.realised and measures else None)
    path_measures = MeasuresAccumulator(n_actions)
    first, end = plan.comparator.span(n_rounds)
    regrets = np.empty((len(learners), len(plan.rounds)))
    measures_at_marks = np.empty((len(plan.bound_rounds), 5))
    bounds = np.full((len(learners), len(plan.bound_rounds)), np.nan)
    seconds, compiling = np.zeros(len(learners)), _compile_loops(learners, n_actions)
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
            _evaluate_bounds(plan, learners, bounded, measures_at_marks[bounded], bounds[:, bounded])
        for i, learner in enumerate(learners):
            began = time.perf_counter()
            played = learner.play_block(states[i], block.losses)
            seconds[i] += time.perf_counter() - began
            if plan.play == "sample" and played.ndim == 2:
                played = _sampled(played, samplers[i])
            regrets[i, recorded] = accumulators[i].add_block(played[counted], target[counted], marks) - best
            plan.advance(stop - start)
    if measures is None and environment.has_means and not plan.stop.is_set():
        complete = path_measures.n_rounds == n_rounds
        measures = path_measures.measures() if complete else environment.measures(n_rounds, seed)
    specs = [to_spec(learner) for learner in learners]
    return Run(regrets, bounds, measures, realised.realised(), specs, caveats, seconds, compiling)


def _compile_loops(learners: Sequence[Learner], n_actions: int) -> float:
    """Compile the loops that are not compiled yet, by a round of a state of its own; return the seconds it took."""
    began = time.perf_counter()
    for learner in learners:
        if isinstance(learner, KernelLearner) and _is_uncompiled(learner.loops.run):
            learner.play_block(learner.start(n_actions, 0), np.zeros((1, n_actions)))
    return time.perf_counter() - began


def _is_uncompiled(loop: Kernel) -> bool:
    return hasattr(loop, "signatures") and not compiled(loop)  # without the compiler, it is a plain function


def _start_environment(plan: SimulationPlan, seed: np.random.SeedSequence) -> tuple[Stream, Measures | None]:
    """Start the environment; compute its measures first if tuning or the best loss L* needs them."""
    environment, n_rounds = plan.environment, plan.n_rounds
    needs_measures = plan.realised or any(labelled.player.needs_measures for labelled in plan.players)
    if needs_measures and environment.has_means:
        return environment.start_measured(n_rounds, seed, plan.path_bytes)
    return environment.start(n_rounds, seed), None


def _make_learners(plan: SimulationPlan, measures: Measures | None) -> tuple[list[Learner], list[str]]:
    """Return the learners of a run and, for each, the caveats that its tuning rule reported."""
    environment = plan.environment
    told_budget = any(labelled.player.tuned == "budget" for labelled in plan.players)
    budget = environment.budget(plan.n_rounds) if told_budget else None
    learners, caveats = [], []
    for labelled in plan.players:
        with collected() as reasons:
            learners.append(labelled.player.learner(environment.n_actions, plan.n_rounds, measures, budget))
        caveats.append("; ".join(dict.fromkeys(reasons)))
    return learners, caveats


def _evaluate_bounds(
    plan: SimulationPlan, learners: Sequence[Learner], at: slice, measures_at_marks: Matrix, bounds: Matrix
) -> None:
    """Write every learner's bound on the measures up to each of some bound marks; NaN stays where there is none.

    This is done block by block: all bounds at once would hold the interpreter's lock while other runs wait.
    """
    bounded = [i for i, learner in enumerate(learners) if _has_bound(type(learner))]
    if plan.bound is None or not bounded:
        return
    for j, (mark, row) in enumerate(zip(plan.bound_rounds[at], measures_at_marks, strict=True)):
        segments, drift, variance, within, squared = map(float, row)
        n_actions, n_rounds = plan.environment.n_actions, int(mark) + 1
        so_far = trusted_measures(n_actions, n_rounds, int(segments), drift, variance, within, squared)
        for i in bounded:
            bound = plan.bound(learners[i], so_far)
            bounds[i, j] = np.nan if bound is None else bound


def _has_bound(kind: type[Learner]) -> bool:
    return kind.bound is not Learner.bound or kind.static_bound is not Learner.static_bound


def _measure_losses(realised: RealisedAccumulator, losses: Matrix, start: int) -> None:
    """Add a block of losses to the realised quantities, and reject losses outside [0, 1]."""
    bad = realised.update(losses)
    if bad >= 0:
        t, k = divmod(bad, losses.shape[1])
        got = f"{losses[t, k]} in round {start + t}, action {k}"
        raise InvalidInput(f"simulate: the environment's losses must be in [0, 1], got {got}.")


def _marks_within(rounds: Actions, start: int, stop: int) -> tuple[slice, Actions]:
    """Return the marks in [start, stop): as a slice of `rounds`, and as offsets from `start`."""
    low, high = np.searchsorted(rounds, [start, stop])
    return slice(int(low), int(high)), rounds[low:high] - start


def _branch(seed: int, *key: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed, spawn_key=key)


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


def _sampled(weights: Matrix | Actions, generator: np.random.Generator) -> Actions:
    """Return one action per round, drawn from the weights of the round."""
    actions = np.empty(len(weights), np.int64)
    _sample(weights, generator.random(len(weights)), actions)
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
