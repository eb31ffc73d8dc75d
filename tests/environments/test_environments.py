"""Properties of every path and every noise of the registries."""

import copy
import itertools
import json

import numpy as np
import pytest

import fixed_environments
from driftwise.core.errors import InvalidInput
from driftwise.environments import (
    Bernoulli,
    ClippedGaussian,
    Deterministic,
    Environment,
    MeasuresAccumulator,
    RandomWalk,
    Segments,
    SparseBernoulli,
    Table,
    adversarial,
    stationary,
)
from driftwise.environments.noises import noises
from driftwise.environments.paths import paths
from fixed_environments import first_of_each
from references.measures_reference import measures_reference

N_ROUNDS = 1100  # more than one block of 1024
PATHS = {
    **first_of_each(fixed_environments.PATHS),
    "segments": Segments(((0.2, 0.5, 0.7), (0.8, 0.3, 0.7), (0.8, 0.2, 0.7)), change_points=(7, 1024)),
    "table": Table(0.2 + 0.6 * np.random.default_rng(0).random((N_ROUNDS, 3))),
}
NOISES = {
    **first_of_each(fixed_environments.NOISES),
    "sparse-bernoulli": SparseBernoulli((1.0, 0.0, 0.1)),
    "with-variance": ClippedGaussian().with_variance(50.0),
}
# Two-point noise needs room on both sides of the mean; means of 0 and 1 leave none.
PAIRS = [pair for pair in itertools.product(PATHS, NOISES) if pair != ("coin-flips", "two-point")]
every_path = pytest.mark.parametrize("name", PATHS)
every_noise = pytest.mark.parametrize("name", NOISES)
every_pair = pytest.mark.parametrize("pair", PAIRS, ids="+".join)


def new_environment(pair):
    return Environment(PATHS[pair[0]], NOISES[pair[1]])


def play(environment, sizes, seed=3):
    """Draw a run in blocks of these sizes, used cyclically, and return it as one block of bytes per column."""
    stream = environment.start(N_ROUNDS, seed)
    left, blocks = N_ROUNDS, []
    for size in itertools.cycle(sizes):
        if not left:
            break
        blocks.append(stream.draw(min(size, left)))
        left -= len(blocks[-1].losses)
    return [np.concatenate(columns) for columns in zip(*blocks, strict=True)]


def test_the_examples_here_cover_both_registries():
    """Other tests may have registered more."""
    for examples, registry in ((PATHS, paths), (NOISES, noises)):
        assert sorted(examples) == [name for name in registry if registry.get(name).__module__.startswith("driftwise.")]


@every_pair
def test_a_run_does_not_depend_on_the_blocks_it_is_drawn_in(pair):
    whole = play(new_environment(pair), [N_ROUNDS])
    for sizes in ([1], [7], [1024], [1, 500, 3, 64, 2]):
        for column, expected in zip(play(new_environment(pair), sizes), whole, strict=True):
            assert column.tobytes() == expected.tobytes()


@every_pair
def test_the_measures_are_those_of_the_run_that_is_played(pair):
    _, means, variances = play(new_environment(pair), [N_ROUNDS])
    measures = new_environment(pair).measures(N_ROUNDS, seed=3)
    expected = measures_reference(means, variances)
    assert measures.segments == expected[0]
    got = (measures.drift, measures.variance, measures.drift_within, measures.squared_drift)
    assert got == pytest.approx(expected[1:], rel=1e-13, abs=1e-15)


@every_pair
def test_losses_means_and_variances_stay_in_range(pair):
    losses, means, variances = play(new_environment(pair), [N_ROUNDS])
    assert losses.min() >= 0
    assert losses.max() <= 1
    assert means.min() >= 0
    assert means.max() <= 1
    assert variances.min() >= 0
    assert np.all(variances <= means * (1 - means) + 1e-15)  # no distribution on [0, 1] has a larger variance


@every_pair
def test_a_spec_survives_json(pair):
    environment = new_environment(pair)
    assert Environment.from_spec(json.loads(json.dumps(environment.to_spec()))) == environment


@every_path
def test_equal_paths_have_equal_hashes(name):
    twin = paths.build(PATHS[name].to_spec())
    assert twin == PATHS[name]
    assert hash(twin) == hash(PATHS[name])


@every_path
def test_the_noise_does_not_change_the_path(name):
    quiet = play(Environment(PATHS[name], Deterministic()), [N_ROUNDS])[1]
    assert np.array_equal(play(Environment(PATHS[name], Bernoulli()), [N_ROUNDS])[1], quiet)


@every_noise
def test_losses_depend_on_the_seed(name):
    environment = Environment(PATHS["random-walk"], NOISES[name])
    again, other = play(environment, [N_ROUNDS], seed=3), play(environment, [N_ROUNDS], seed=4)
    assert np.array_equal(play(environment, [N_ROUNDS], seed=3)[0], again[0])
    assert not np.array_equal(other[0], again[0])


@every_pair
def test_a_copy_of_a_stream_gives_the_same_rounds(pair):
    stream = new_environment(pair).start(N_ROUNDS, seed=1)
    stream.draw(10)
    twin = copy.deepcopy(stream)
    assert np.array_equal(stream.draw(100).losses, twin.draw(100).losses)


@every_noise
def test_losses_are_a_new_array(name):
    block = Environment(PATHS["constant"], NOISES[name]).start(100).draw(10)
    assert not np.shares_memory(block.losses, block.means)


def test_a_seed_sequence_is_not_used_up():
    environment = Environment(RandomWalk(3), Bernoulli())
    sequence = np.random.SeedSequence(5)
    first, second = (environment.start(50, sequence).draw(50).losses for _ in range(2))
    assert np.array_equal(first, second)
    assert np.array_equal(first, environment.start(50, seed=5).draw(50).losses)
    assert sequence.n_children_spawned == 0


def test_an_adversarial_environment_has_no_noise_and_changes_in_every_round():
    measures = adversarial(n_actions=4).measures(10_000)
    assert measures.variance == 0
    # All four coins repeat with probability 1/16: 9375 changes expected, 5 standard deviations are 121.
    assert abs(measures.segments - 9375) < 122
    assert measures.drift_within == measures.segments - 1


def test_a_stationary_environment_has_noise_and_never_changes():
    measures = stationary(n_actions=4, best=0.25, rest=0.5).measures(10_000)
    assert (measures.segments, measures.drift) == (1, 0.5)
    assert measures.variance == 10_000 * (0.25 * 0.75 + 3 * 0.25)


def test_a_stream_rejects_more_rounds_than_are_left():
    stream = stationary(2).start(10)
    stream.draw(7)
    with pytest.raises(InvalidInput, match=r"^Stream: `n` must be <= 3 \(the rounds that are left\), got 4\.$"):
        stream.draw(4)
    assert len(stream.draw(3).losses) == 3


@pytest.mark.interpreted
@pytest.mark.parametrize("pair", [("random-walk", "clipped-gaussian"), ("sinusoidal", "truncated-gaussian")])
def test_interpreted_kernels_do_not_depend_on_the_blocks(pair):
    environment = new_environment(pair)
    whole = environment.start(60).draw(60)
    stream = environment.start(60)
    parts = [stream.draw(n) for n in (1, 7, 50, 2)]
    for column, expected in zip(zip(*parts, strict=True), whole, strict=True):
        assert np.concatenate(column).tobytes() == expected.tobytes()


@pytest.mark.interpreted
def test_an_accumulator_records_the_measures_at_the_marks():
    random = np.random.default_rng(8)
    means = np.repeat(random.random((40, 3)), random.integers(1, 5, size=40), axis=0)
    variances = random.random(means.shape) / 4
    meter, out = MeasuresAccumulator(3), np.empty((4, 5))
    marks = np.array([0, 1, 29, 39])
    meter.record(means[:40], variances[:40], marks, out)
    for row, mark in zip(out, marks, strict=True):
        expected = measures_reference(means[: mark + 1], variances[: mark + 1])
        assert row == pytest.approx(expected, rel=1e-14)
    meter.update(means[40:], variances[40:])
    assert meter.measures().n_rounds == len(means)
    assert meter.measures().segments == measures_reference(means, variances)[0]
    assert meter.measures().variance == pytest.approx(measures_reference(means, variances)[2], rel=1e-14)


def test_an_accumulator_does_not_depend_on_the_blocks():
    random = np.random.default_rng(9)
    means, variances = random.random((500, 4)), random.random((500, 4))
    totals = []
    for size in (1, 7, 500):
        meter = MeasuresAccumulator(4)
        for first in range(0, 500, size):
            meter.update(means[first : first + size], variances[first : first + size])
        totals.append(meter.measures())
    assert totals[0] == totals[1] == totals[2]
