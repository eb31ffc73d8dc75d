"""Checks of environments: losses are in [0, 1] and match their means and variances."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

import numpy as np

from driftwise.checks.check import Check, check, expect, expect_equal, rejects
from driftwise.core.errors import InvalidInput
from driftwise.core.types import Matrix, Vector
from driftwise.environments import Block, Environment, LossSource, Replay
from driftwise.environments.environment import BYTES_PER_LOSS

CHECKS: list[Check] = []
N_ROUNDS = 1100  # more than the largest block below
_SIZES = (1, 7, 1024)
_ERRORS = 5.0  # standard errors by which a sum of losses may deviate


def check_environment(environment: LossSource, n_rounds: int = N_ROUNDS) -> None:
    """Run every check on an environment with runs of `n_rounds`; a shorter recording is checked on all its rounds.

    >>> from driftwise import Bernoulli, Environment, Switching
    >>> check_environment(Environment(Switching(n_segments=3, n_actions=4), Bernoulli()))
    """
    if not isinstance(environment, LossSource):
        raise InvalidInput(f"check_environment: `environment` must be an environment, got {environment!r}.")
    if isinstance(environment, Replay):
        n_rounds = min(n_rounds, environment.n_rounds)
    for test in CHECKS:
        test(environment, n_rounds=n_rounds)


@check(CHECKS)
def losses_have_the_right_shape_type_and_range(environment: LossSource, n_rounds: int = N_ROUNDS) -> None:
    """Losses are in [0, 1], one column per action, in the array layout for which kernels are compiled."""
    losses = environment.start(n_rounds, seed=1).draw(n_rounds).losses
    expect(losses.shape == (n_rounds, environment.n_actions), f"{n_rounds} rounds have the shape {losses.shape}")
    good = losses.dtype == np.float64 and losses.flags.c_contiguous and losses.flags.writeable
    expect(good, f"losses are {losses.dtype} with the flags {losses.flags}")
    expect(bool(((losses >= 0) & (losses <= 1)).all()), f"losses range from {losses.min()} to {losses.max()}")


@check(CHECKS)
def losses_do_not_depend_on_the_block_size(environment: LossSource, n_rounds: int = N_ROUNDS) -> None:
    """Losses, means and variances are equal bit for bit for all block sizes."""
    whole = environment.start(n_rounds, seed=1).draw(n_rounds)
    for size in _SIZES:
        stream = environment.start(n_rounds, seed=1)
        blocks = [stream.draw(n) for n in _blocks_of(size, n_rounds)]
        for name, expected, parts in zip(Block._fields, whole, zip(*blocks, strict=True), strict=True):
            if expected is not None:
                expect_equal(f"`{name}` in blocks of {size}", np.concatenate(parts), expected)


@check(CHECKS)
def equal_seeds_give_equal_losses(environment: LossSource, n_rounds: int = N_ROUNDS) -> None:
    """Equal seeds give equal runs, and a `SeedSequence` can be used again."""
    sequence = np.random.SeedSequence(5)
    first, again = (environment.start(n_rounds, sequence).draw(n_rounds).losses for _ in range(2))
    expect_equal("the losses of two runs from one seed", again, first)


@check(CHECKS)
def noise_depends_on_the_seed(environment: LossSource, n_rounds: int = N_ROUNDS) -> None:
    """Where the variance is positive, different seeds give different losses."""
    run, other = (environment.start(n_rounds, seed).draw(n_rounds) for seed in (1, 2))
    if run.variances is not None and run.variances.sum() >= 1:
        expect(not np.array_equal(run.losses, other.losses), "two seeds gave the same losses")


@check(CHECKS)
def streams_do_not_affect_each_other(environment: LossSource, n_rounds: int = N_ROUNDS) -> None:
    """A stream does not change if another stream is drawn at the same time."""
    alone = environment.start(n_rounds, seed=1)
    stream, other = environment.start(n_rounds, seed=1), environment.start(n_rounds, seed=2)
    for n in _blocks_of(97, n_rounds):
        expect_equal("the losses beside another run", stream.draw(n).losses, alone.draw(n).losses)
        other.draw(n)


@check(CHECKS)
def writing_into_a_block_changes_no_other_block(environment: LossSource, n_rounds: int = N_ROUNDS) -> None:
    """A block belongs to the caller: writing into it changes neither later nor earlier blocks."""
    alone, overwritten = environment.start(n_rounds, seed=1), environment.start(n_rounds, seed=1)
    kept: list[tuple[Matrix, Matrix]] = []
    for n in _blocks_of(97, n_rounds):
        expected, block = alone.draw(n).losses, overwritten.draw(n)
        expect_equal("the losses after a block was written into", block.losses, expected)
        kept.append((expected, expected.copy()))
        for part in block:
            if part is not None and part.flags.writeable:
                part[:] = 0.5
    for block_now, block_then in kept:
        expect_equal("a block after later ones were drawn", block_now, block_then)


@check(CHECKS)
def means_and_variances_are_possible(environment: LossSource, n_rounds: int = N_ROUNDS) -> None:
    """Means are in [0, 1], and no variance exceeds what a distribution on [0, 1] with that mean can have."""
    block = environment.start(n_rounds, seed=1).draw(n_rounds)
    expect((block.means is not None) == environment.has_means, f"`has_means` is {environment.has_means}")
    if block.means is None or block.variances is None:
        return
    means, variances = block.means, block.variances
    expect(bool(((means >= 0) & (means <= 1)).all()), f"means range from {means.min()} to {means.max()}")
    room = means * (1.0 - means) + 1e-12
    expect(bool(((variances >= 0) & (variances <= room)).all()), "a variance is negative or above m (1 - m)")


@check(CHECKS)
def losses_match_their_means_and_variances(environment: LossSource, n_rounds: int = N_ROUNDS) -> None:
    """Per action, losses deviate from their means, and squared deviations from the variances, only by chance.

    Bernstein's inequality for terms of at most 1: a sum with variance v exceeds z sqrt(v) + z^2 / 3 with probability
    exp(-z^2 / 2) at most, and a squared deviation has no larger variance than the deviation.
    """
    losses, means, variances = environment.start(n_rounds, seed=1).draw(n_rounds)
    if means is None or variances is None:
        return
    constant = variances == 0
    equal = np.allclose(losses[constant], means[constant], rtol=0, atol=1e-12)
    expect(equal, "losses differ from their means where the variance is 0")
    total: Vector = variances.sum(axis=0)
    allowed = _ERRORS * np.sqrt(total) + _ERRORS**2 / 3
    deviation = np.abs((losses - means).sum(axis=0))
    expect(bool((deviation <= allowed).all()), f"the sums differ from their means by {deviation}, more than {allowed}")
    spread = np.abs(((losses - means) ** 2).sum(axis=0) - total)
    expect(bool((spread <= allowed).all()), f"the squares differ from the variances by {spread}, more than {allowed}")


@check(CHECKS)
def measures_match_the_run(environment: LossSource, n_rounds: int = N_ROUNDS) -> None:
    """`measures` agrees with a computation on all means of the run; without means it raises `InvalidInput`."""
    _, means, variances = environment.start(n_rounds, seed=1).draw(n_rounds)
    if means is None or variances is None:
        expect(rejects(f"{n_rounds} rounds", environment.measures, n_rounds), "a recording without means has measures")
        return
    measures = environment.measures(n_rounds, seed=1)
    moves = np.abs(np.diff(means, axis=0, prepend=np.zeros((1, means.shape[1]))))
    expected = {
        "n_actions": means.shape[1],
        "n_rounds": n_rounds,
        "segments": 1 + int((moves[1:] > 0).any(axis=1).sum()),
        "drift": math.fsum(moves.max(axis=1)),
        "variance": math.fsum(variances.ravel()),
        "drift_within": math.fsum(moves[1:].max(axis=1)),
        "squared_drift": math.fsum((moves**2).ravel()),
    }
    for name, value in expected.items():
        got = getattr(measures, name)
        expect(math.isclose(got, value, rel_tol=1e-9, abs_tol=1e-12), f"`{name}` is {value}, `measures` returns {got}")


@check(CHECKS)
def start_measured_equals_start_and_measures(environment: LossSource, n_rounds: int = N_ROUNDS) -> None:
    """`start_measured` returns the run of `start` and the measures of `measures`, for any `room`."""
    expected = environment.start(n_rounds, seed=1).draw(n_rounds)
    if expected.means is None or expected.variances is None:
        return
    for room in (0, BYTES_PER_LOSS * n_rounds * environment.n_actions):
        stream, measures = environment.start_measured(n_rounds, 1, room)
        expect_equal("the losses of `start_measured`", stream.draw(n_rounds).losses, expected.losses)
        expect(measures == environment.measures(n_rounds, seed=1), "`start_measured` returns other measures")


@check(CHECKS)
def too_many_rounds_are_rejected(environment: LossSource, n_rounds: int = N_ROUNDS) -> None:
    """Drawing more rounds than are left is rejected, and the rounds that are left can still be drawn."""
    stream = environment.start(n_rounds, seed=1)
    expected = environment.start(n_rounds, seed=1).draw(n_rounds).losses
    more = f"{n_rounds + 1} rounds"
    expect(rejects(more, stream.draw, n_rounds + 1), f"{more} were drawn from a run of {n_rounds}")
    expect_equal("the losses after a rejected draw", stream.draw(n_rounds).losses, expected)
    expect(rejects("1 rounds", stream.draw, 1), f"one more round was drawn after all {n_rounds}")
    expect(rejects("0 rounds", environment.start, 0), "a run of 0 rounds was started")


@check(CHECKS)
def spec_round_trips(environment: LossSource, n_rounds: int = N_ROUNDS) -> None:  # noqa: ARG001
    """A spec consists of plain values; that of an `Environment` rebuilds an equal one."""
    spec = json.loads(json.dumps(environment.to_spec()))
    if isinstance(environment, Environment):
        rebuilt = type(environment).from_spec(spec)
        expect(rebuilt == environment, f"its spec makes {rebuilt}")


def _blocks_of(size: int, n_rounds: int) -> Iterator[int]:
    for first in range(0, n_rounds, size):
        yield min(size, n_rounds - first)
