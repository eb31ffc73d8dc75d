"""The empirical Bernstein inequality: its value, the learner that uses it, and how often it fails."""

import math

import numpy as np
import pytest

from driftwise import RerunUCBV
from driftwise.theory import concentration, printed
from paths import make_path
from references import ucbv


def test_the_radius_worked_by_hand():
    # L = ln(2 / (2 e^-3)) = 3: sqrt(2 x 0.25 x 3 / 24) + 7 x 3 / (3 x 23)
    failure = 2 * math.exp(-3)
    assert concentration.empirical_bernstein(24, 0.25, failure) == pytest.approx(0.25 + 7 / 23)
    assert concentration.empirical_bernstein(1, 0.0, failure) == concentration.empirical_bernstein(0, 0.0, failure) == 1


def test_the_variance_is_that_of_the_pairs():
    rng = np.random.default_rng(1)
    for n in (2, 3, 10):
        samples = rng.random(n)
        assert concentration.sample_variance(samples) == pytest.approx(ucbv.variance(samples), rel=1e-12)
    assert concentration.sample_variance(np.array([0.3])) == 0.0


def radii_of(learner, losses):
    """Return the radius of the action played, as the learner has it, and the samples behind it, after every round."""
    state = learner.start(losses.shape[1], 0)
    samples = [[] for _ in range(losses.shape[1])]
    for t, row in enumerate(losses):
        if t % (learner.restart_every or len(losses)) == 0:
            samples = [[] for _ in row]
        action, probability = learner.choose(state)
        samples[action].append(row[action])
        learner.update(state, action, row[action], probability)
        if (t + 1) % (learner.restart_every or t + 2):  # a restart has just reset the score
            yield np.mean(samples[action]) - state.memory.score[action], np.array(samples[action])


@pytest.mark.interpreted
@pytest.mark.parametrize("family", ["coin", "uniform", "constant"])
@pytest.mark.parametrize("restart_every", [None, 25])
def test_the_radius_of_rerun_ucbv_is_the_empirical_bernstein_bound(family, restart_every):
    losses, failure = make_path(family, 60, 2, seed=1), 0.2
    widest = 0.0
    for clip in (True, False):
        for radius, samples in radii_of(RerunUCBV(restart_every, failure, clip), losses):
            variance = concentration.sample_variance(samples)
            bound = concentration.empirical_bernstein(len(samples), variance, failure)
            assert radius == pytest.approx(min(1.0, bound) if clip else bound, abs=1e-7)
            widest = max(widest, radius)
    assert widest == pytest.approx(7 * math.log(10) / 3, rel=0.3)  # unclipped, two samples


@pytest.mark.interpreted
def test_the_radius_as_printed_is_that_of_rerun_ucbv_with_double_variance_and_no_cap():
    losses = make_path("uniform", 40, 3, seed=2)
    for radius, samples in radii_of(RerunUCBV(None, 0.3, clip=False, double_variance=True), losses):
        assert radius == pytest.approx(printed.radius(samples, 0.3), abs=1e-7)


@pytest.mark.parametrize("mean", [0.02, 0.2, 0.5])
@pytest.mark.parametrize("n_samples", [2, 20, 200])
def test_the_error_of_the_mean_seldom_exceeds_the_radius(mean, n_samples):
    """The inequality is loose: on 20,000 draws of coins either side fails less often than one may, at delta = 0.5."""
    failure, n_draws = 0.5, 20_000
    heads = np.random.default_rng(n_samples).binomial(n_samples, mean, n_draws)
    found = heads / n_samples
    variances = found * (1 - found) * n_samples / (n_samples - 1)
    radii = np.array([concentration.empirical_bernstein(n_samples, v, failure) for v in variances])
    noise = 3 * math.sqrt(failure * (1 - failure) / n_draws)
    assert (mean - found > radii).mean() <= failure + noise
    assert (np.abs(mean - found) > radii).mean() <= 1.5 * failure + noise


@pytest.mark.parametrize("movement", [0.0, 0.01, 0.3])
def test_lemma_lambda_bounds_the_radius_while_the_means_move(movement):
    rng, closest = np.random.default_rng(3), 0.0
    for n in (2, 3, 10, 100, 1000):
        for scale in (0.0, 0.01, 0.3):
            for _ in range(20):
                means = 0.35 + movement * rng.choice([0.0, 0.5, 1.0], n)
                noises = scale * rng.uniform(-1, 1, n)
                failure = rng.uniform(1e-6, 0.9)
                samples = means + noises
                found = concentration.empirical_bernstein(n, concentration.sample_variance(samples), failure)
                bound = concentration.drifting_radius(noises**2, movement, failure)
                assert found <= bound * (1 + 1e-12)
                # The printed lemma is about the printed radius, which is wider.
                as_printed = printed.drifting_radius(noises**2, movement, failure)
                assert printed.radius(samples, failure) <= as_printed * (1 + 1e-12)
                assert bound <= as_printed * (1 + 1e-12)
                if n == 1000:
                    closest = max(closest, found / bound)
    assert closest > 0.7


def test_lemma_lambda_worked_by_hand():
    # L = 2, n = 5: sqrt(4 / 4) (sqrt(0.04) + 0.1) + 14 / 12
    failure = 2 * math.exp(-2)
    assert concentration.drifting_radius(np.full(5, 0.04), 0.2, failure) == pytest.approx(0.3 + 7 / 6)
    assert concentration.drifting_radius(np.zeros(1), 0.2, failure) == 1.0
    # printed: sqrt(4 (6 x 0.04 + 3 x 0.04) / 5)
    assert printed.drifting_radius(np.full(5, 0.04), 0.2, failure) == pytest.approx(math.sqrt(0.288) + 7 / 6)
