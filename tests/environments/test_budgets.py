"""Exact budgets: the drift and the total variance of a run are exactly the requested ones."""

import json

import numpy as np
import pytest

from driftwise.core.errors import InvalidInput, UnknownName
from driftwise.environments import (
    Bernoulli,
    Beta,
    Bursts,
    ClippedGaussian,
    CoinFlips,
    Constant,
    Deterministic,
    Environment,
    Linear,
    RandomSegments,
    RandomWalk,
    ScaledBernoulli,
    SingleChanges,
    Sinusoidal,
    Switching,
    Table,
    TruncatedGaussian,
    TwoPoint,
    WithDrift,
    WithVariance,
)
from driftwise.environments.noises import noises
from driftwise.environments.paths import paths
from references.measures_reference import measures_reference

PATHS = [
    Bursts(20, 30, 4),
    CoinFlips(3),
    Linear((0.1, 0.6), (0.9, 0.2)),
    RandomSegments(50, 4),
    RandomWalk(3, step=0.02),
    SingleChanges(50, 4),
    Sinusoidal(5, n_periods=20),
    Switching(30, 4, lengths="random"),
    Table(np.random.default_rng(1).random((2000, 3))),
]
NOISES = [TwoPoint(), Beta(), ClippedGaussian(), TruncatedGaussian()]
EXACT = 1e-9


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
@pytest.mark.parametrize(("drift", "around"), [(0.9, 0.5), (1.1, 0.5), (0.6, 0.25)])
def test_the_drift_is_exact(path, drift, around):
    environment = Environment(path.with_drift(drift, around), Bernoulli())
    measures = environment.measures(2000, seed=7)
    assert measures.drift == pytest.approx(drift, rel=EXACT)
    block = environment.start(2000, seed=7).draw(2000)
    assert measures_reference(block.means, block.variances)[1] == pytest.approx(drift, rel=EXACT)


def test_the_path_with_a_drift_is_the_same_path():
    path = RandomWalk(3, step=0.02)
    plain = Environment(path, Deterministic()).start(500, seed=4).draw(500).means
    scaled = Environment(path.with_drift(1.5), Deterministic()).start(500, seed=4).draw(500).means
    stretch = (scaled[0, 0] - 0.5) / (plain[0, 0] - 0.5)
    assert scaled == pytest.approx(0.5 + stretch * (plain - 0.5), abs=1e-12)


def test_the_drift_it_has_already_changes_nothing():
    path = Switching(10, 3)
    drift = Environment(path, Deterministic()).measures(1000).drift
    kept = Environment(path.with_drift(drift), Deterministic()).start(1000).draw(1000).means
    assert np.allclose(kept, Environment(path, Deterministic()).start(1000).draw(1000).means, rtol=0, atol=1e-15)


def test_the_largest_drift_is_attainable_and_fills_the_unit_interval():
    path = Switching(11, 3)  # means 0.4 and 0.6: at most ten times a jump of 1 and the first, to 1
    environment = Environment(path.with_drift(11.0), Deterministic())
    assert environment.measures(1000).drift == pytest.approx(11.0, rel=EXACT)
    assert set(np.unique(environment.start(1000).draw(1000).means)) == {0.0, 1.0}


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.name)
@pytest.mark.parametrize("variance", [0.0, 1e-6, 2.0, 300.0])
@pytest.mark.parametrize("path", [Switching(30, 4), RandomWalk(4, step=0.01, low=0.3, high=0.7)], ids=repr)
def test_the_variance_is_exact(path, noise, variance):
    environment = Environment(path, noise.with_variance(variance))
    assert environment.measures(2000, seed=7).variance == pytest.approx(variance, rel=EXACT)
    block = environment.start(2000, seed=7).draw(2000)
    assert measures_reference(block.means, block.variances)[2] == pytest.approx(variance, rel=EXACT)


def test_the_variance_of_a_scaled_bernoulli_is_exact_between_its_ends():
    for variance in (700.0, 1000.0, 1900.0):
        environment = Environment(Switching(30, 4), ScaledBernoulli().with_variance(variance))
        assert environment.measures(2000).variance == pytest.approx(variance, rel=EXACT)


@pytest.mark.parametrize("noise", NOISES[2:], ids=lambda noise: noise.name)
def test_wide_gaussians_are_found_too(noise):
    most = {"clipped-gaussian": 1990.0, "truncated-gaussian": 666.0}[noise.name]  # of T K / 4 and T K / 12
    environment = Environment(Switching(30, 4), noise.with_variance(most))
    assert environment.measures(2000).variance == pytest.approx(most, rel=EXACT)


def test_both_budgets_hold_at_once():
    environment = Environment(Sinusoidal(5, n_periods=9).with_drift(4.0), Beta().with_variance(33.0))
    measures = environment.measures(3000, seed=1)
    assert (measures.drift, measures.variance) == pytest.approx((4.0, 33.0), rel=EXACT)


def test_budgets_are_specs_of_plain_values():
    spec = {
        "path": {"name": "with-drift", "path": {"name": "switching", "n_segments": 4, "n_actions": 3}, "drift": 1.5},
        "noise": {"name": "with-variance", "noise": {"name": "two-point"}, "variance": 5.0},
    }
    environment = Environment.from_spec(spec)
    assert environment == Environment(Switching(4, 3).with_drift(1.5), TwoPoint().with_variance(5.0))
    assert Environment.from_spec(json.loads(json.dumps(environment.to_spec()))) == environment
    assert paths.build(spec["path"]) == environment.path
    assert noises.build(spec["noise"]) == environment.noise


@pytest.mark.parametrize(
    ("path", "drift", "message"),
    [
        (Switching(3, 2, 0.25, 0.75), 4.0, "WithDrift: `drift` must be in [0.5, 3.0] on this path, got 4.0."),
        (Switching(3, 2, 0.25, 0.75), 0.25, "WithDrift: `drift` must be in [0.5, 3.0] on this path, got 0.25."),
        (Constant((0.5, 0.5)), 0.75, "WithDrift: `drift` must be in [0.5, 0.5] on this path, got 0.75."),
        # A mean that lies below the level can only be moved to it or down to 0.
        (Constant((0.25,)), 0.75, "WithDrift: `drift` must be in [0.0, 0.5] on this path, got 0.75."),
    ],
)
def test_an_impossible_drift_is_rejected_before_any_round(path, drift, message):
    with pytest.raises(InvalidInput) as error:
        Environment(path.with_drift(drift), Bernoulli()).start(100)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("noise", "variance", "rule"),
    [
        (TwoPoint(), 60.0, "in [0.0, 50.0] for TwoPoint on this path, got 60.0."),  # 200 * 1/4
        (Beta(), 60.0, "in [0.0, 49.99999999999999] for Beta on this path, got 60.0."),  # 200 * 1/4, nearly
        (ScaledBernoulli(), 60.0, "in [0.0, 50.0] for ScaledBernoulli on this path, got 60.0."),
    ],
)
def test_an_impossible_variance_is_rejected_before_any_round(noise, variance, rule):
    environment = Environment(Constant((0.5, 0.5)), noise.with_variance(variance))
    for attempt in (environment.start, environment.measures):
        with pytest.raises(InvalidInput) as error:
            attempt(100)
        assert str(error.value) == f"WithVariance: `variance` must be {rule}"


def test_means_at_the_low_end_of_a_scaled_bernoulli_have_no_variance():
    still = Environment(Constant((0.0, 0.0)), ScaledBernoulli().with_variance(0.0))
    assert still.measures(10).variance == 0
    with pytest.raises(InvalidInput, match=r"must be in \[0\.0, 0\.0\] for ScaledBernoulli"):
        Environment(Constant((0.0, 0.0)), ScaledBernoulli().with_variance(1.0)).start(10)


@pytest.mark.parametrize(("noise", "supremum"), [(ClippedGaussian(), 50.0), (TruncatedGaussian(), 200 / 12)])
def test_no_gaussian_is_wider_than_its_limit(noise, supremum):
    for variance in (supremum, 1e12):
        environment = Environment(Constant((0.5, 0.5)), noise.with_variance(variance))
        with pytest.raises(InvalidInput, match=r"`variance` must be in \[0.0, [\d.]+\] for \w+ on this path"):
            environment.start(100)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: WithDrift(Switching(2, 2), -1), "WithDrift: `drift` must be a finite number >= 0, got -1."),
        (lambda: WithDrift(Switching(2, 2), 1, around=2), "WithDrift: `around` must be in [0, 1], got 2."),
        (lambda: WithDrift("switching", 1), "WithDrift: `path` must be a path or its spec, got 'switching'."),
        (
            lambda: WithVariance(Bernoulli(), 1.0),
            "WithVariance: `noise` must be one with a free parameter (beta, clipped-gaussian, scaled-bernoulli,"
            " truncated-gaussian, two-point), got Bernoulli().",
        ),
        (lambda: WithVariance(3, 1.0), "WithVariance: `noise` must be a noise or its spec, got 3."),
        (
            lambda: TwoPoint().with_variance(float("inf")),
            "WithVariance: `variance` must be a finite number >= 0, got inf.",
        ),
        (
            lambda: TwoPoint().with_variance(1.0).moments(np.array([[0.5]])),
            "WithVariance: its parameter depends on the run; draw from an Environment's stream.",
        ),
        (
            lambda: Environment.from_spec({"path": {"name": "constant"}}),
            "An environment spec must have a `path` and a `noise`, got {'path': {'name': 'constant'}}.",
        ),
    ],
)
def test_bad_budgets_and_specs_are_rejected(make, message):
    with pytest.raises(InvalidInput) as error:
        make()
    assert str(error.value) == message


def test_a_misspelt_part_of_a_spec_is_named():
    with pytest.raises(UnknownName, match=r"There is no part 'nois' of an environment\. Did you mean 'noise'\?"):
        Environment.from_spec({"path": {}, "nois": {}})
