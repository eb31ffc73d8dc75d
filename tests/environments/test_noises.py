"""The moments of every noise, against closed forms of others, quadrature and simulation."""

import numpy as np
import pytest
from scipy import integrate, stats

from driftwise.core.errors import InvalidInput
from driftwise.environments import (
    Bernoulli,
    Beta,
    ClippedGaussian,
    Constant,
    Deterministic,
    Environment,
    ScaledBernoulli,
    Segments,
    SparseBernoulli,
    TruncatedGaussian,
    TwoPoint,
)
from driftwise.environments.noises import noises

ROUNDING = 1e-12  # where the noise has no variance
MEANS = (0.2, 0.35, 0.5, 0.8)
SIMULATED = [
    Bernoulli(),
    Beta(0.01),
    Beta(0.5),
    Beta(0.99),
    ClippedGaussian(0.05),
    ClippedGaussian(0.5),
    ClippedGaussian(20.0),
    Deterministic(),
    ScaledBernoulli(0.1, 0.9),
    SparseBernoulli(),
    SparseBernoulli((1.0, 0.0, 0.3)),
    TruncatedGaussian(0.05),
    TruncatedGaussian(0.4),
    TruncatedGaussian(20.0),
    TwoPoint(0.2),
]


def moments(noise, mean):
    actual, variance = noise.moments(np.array([[mean]]))
    return actual[0, 0], variance[0, 0]


@pytest.mark.parametrize("noise", SIMULATED, ids=repr)
def test_moments_agree_with_simulation(noise):
    n = 200_000
    losses = Environment(Constant(MEANS), noise).start(n, seed=11).draw(n).losses
    actual, variances = (row[0] for row in noise.moments(np.array([MEANS])))
    scatter = losses - actual
    # 5 standard errors on each side, 120 comparisons: a false alarm has probability below 1e-4.
    assert np.all(np.abs(scatter.mean(axis=0)) <= 5 * np.sqrt(variances / n) + ROUNDING)
    squares = scatter**2
    assert np.all(np.abs(squares.mean(axis=0) - variances) <= 5 * squares.std(axis=0) / np.sqrt(n) + ROUNDING)


def test_every_noise_is_simulated_here():
    assert {type(noise).name for noise in SIMULATED} | {"with-variance"} == set(noises)


@pytest.mark.interpreted
@pytest.mark.parametrize("scale", [0.01, 0.1, 0.49, 0.5, 2.0, 30.0])
@pytest.mark.parametrize("center", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_a_truncated_gaussian_has_the_moments_of_scipy(center, scale):
    distribution = stats.truncnorm(-center / scale, (1 - center) / scale, loc=center, scale=scale)
    assert moments(TruncatedGaussian(scale), center) == pytest.approx(
        (distribution.mean(), distribution.var()), rel=1e-9
    )


@pytest.mark.interpreted
@pytest.mark.parametrize("scale", [0.01, 0.1, 0.5, 2.0, 30.0])
@pytest.mark.parametrize("center", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_a_clipped_gaussian_has_the_moments_of_quadrature(center, scale):
    distribution = stats.norm(center, scale)

    def expect(function):
        # One part around the center, where a narrow distribution has all its mass.
        near = min(1.0, center + 10 * scale), max(0.0, center - 10 * scale)
        inside = integrate.quad(
            lambda x: function(x) * distribution.pdf(x), near[1], near[0], epsabs=1e-15, epsrel=1e-12
        )[0]
        return inside + function(0.0) * distribution.cdf(0) + function(1.0) * distribution.sf(1)

    mean = expect(lambda x: x)
    variance = expect(lambda x: (x - mean) ** 2)
    assert moments(ClippedGaussian(scale), center) == pytest.approx((mean, variance), rel=1e-9)


@pytest.mark.parametrize("distribution", [ClippedGaussian, TruncatedGaussian])
def test_a_narrow_gaussian_far_from_the_ends_is_a_gaussian(distribution):
    for scale in (1e-300, 1e-12, 1e-6, 1e-3, 0.02):
        assert moments(distribution(scale), 0.5) == pytest.approx((0.5, scale * scale), rel=1e-12)
    assert moments(distribution(0.0), 0.25) == (0.25, 0.0)


@pytest.mark.parametrize("distribution", [ClippedGaussian, TruncatedGaussian])
def test_the_variance_of_a_gaussian_grows_with_its_scale(distribution):
    centers = np.linspace(0, 1, 101)[np.newaxis]
    variances = [distribution(scale).moments(centers)[1] for scale in np.geomspace(1e-3, 1000, 300)]
    assert np.all(np.diff(variances, axis=0) > 0)


@pytest.mark.parametrize(
    ("noise", "distribution"),
    [
        (Beta(0.1), lambda m: stats.beta(9 * m, 9 * (1 - m))),  # nu = 1/s - 1 = 9
        (TruncatedGaussian(0.3), lambda m: stats.truncnorm(-m / 0.3, (1 - m) / 0.3, m, 0.3)),
    ],
    ids=["beta", "truncated-gaussian"],
)
def test_smooth_losses_follow_their_distribution(noise, distribution):
    n = 50_000
    losses = Environment(Constant((0.1, 0.7)), noise).start(n, seed=2).draw(n).losses
    # Dvoretzky-Kiefer-Wolfowitz: P(distance > e) <= 2 exp(-2 n e^2), here 1e-6.
    bound = np.sqrt(np.log(2e6) / (2 * n))
    for k, mean in enumerate((0.1, 0.7)):
        assert stats.kstest(losses[:, k], distribution(mean).cdf).statistic <= bound


def test_a_beta_noise_has_no_variance_at_the_ends():
    losses = Environment(Constant((0.0, 1.0, 0.5)), Beta(0.5)).start(50).draw(50).losses
    assert np.all(losses[:, 0] == 0)
    assert np.all(losses[:, 1] == 1)
    assert losses[:, 2].std() > 0.1


def test_sparse_bernoulli_losses_are_0_or_1_in_their_share_of_the_rounds_and_else_the_mean():
    n, means, shares = 100_000, (0.3, 0.6, 0.9, 0.4), (0.05, 1.0, 0.0, 0.05)  # three shares are repeated
    losses = Environment(Constant(means), SparseBernoulli(shares[:3])).start(n, seed=3).draw(n).losses
    for k, (mean, share) in enumerate(zip(means, shares, strict=True)):
        for value, chance in ((mean, 1 - share), (1.0, share * mean), (0.0, share * (1 - mean))):
            # 5 standard deviations of a binomial, 12 comparisons: a false alarm has probability below 1e-5.
            assert abs((losses[:, k] == value).sum() - n * chance) <= 5 * np.sqrt(n * chance * (1 - chance))


def test_sparse_bernoulli_with_share_one_is_bernoulli_and_with_share_zero_has_no_noise():
    rows = np.random.default_rng(1).random((50, 3))
    drawn = [noise.draw(rows, np.random.default_rng(2)) for noise in (SparseBernoulli(1.0), Bernoulli())]
    assert (drawn[0] == drawn[1]).all()
    assert (SparseBernoulli(0.0).draw(rows, np.random.default_rng(2)) == rows).all()
    assert (SparseBernoulli(1.0).moments(rows)[1] == Bernoulli().moments(rows)[1]).all()


def test_shares_are_one_number_or_several():
    assert SparseBernoulli(0.25) == SparseBernoulli((0.25,)) == SparseBernoulli([0.25])
    assert SparseBernoulli(np.array([0.25, 0.5])).shares == (0.25, 0.5)


def test_scaled_bernoulli_is_the_distribution_of_the_lower_bound():
    # Lemma 4.4 (sigma1): {0, 2 sigma}, means sigma and sigma - eps, variances sigma^2 and sigma^2 - eps^2.
    sigma, eps = 0.25, 0.05
    noise = ScaledBernoulli(low=0.0, high=2 * sigma)
    assert moments(noise, sigma) == pytest.approx((sigma, sigma**2))
    assert moments(noise, sigma - eps) == pytest.approx((sigma - eps, sigma**2 - eps**2))
    losses = Environment(Constant((sigma, sigma - eps)), noise).start(100).draw(100).losses
    assert set(np.unique(losses)) == {0.0, 2 * sigma}


def test_measures_follow_the_actual_mean_of_a_clipped_gaussian():
    # Centers 0 then 1/2, scale 1/2: the mean is e(0) - e(2) = phi(0) - phi(2) + 2 Phi(-2) halves, then 1/2.
    first = 0.5 * (stats.norm.pdf(0) - stats.norm.pdf(2) + 2 * stats.norm.cdf(-2))
    environment = Environment(Segments(((0.0,), (0.5,))), ClippedGaussian(0.5))
    measures = environment.measures(10)
    assert measures.segments == 2
    assert measures.drift == pytest.approx(0.5, rel=1e-12)
    assert measures.drift_within == pytest.approx(0.5 - first, rel=1e-12)
    assert environment.start(10).draw(10).means[0, 0] == pytest.approx(first, rel=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TwoPoint(0.6), "TwoPoint: `scale` must be in [0, 0.5], got 0.6."),
        (lambda: TwoPoint("wide"), "TwoPoint: `scale` must be in [0, 0.5], got 'wide'."),
        (lambda: Beta(1.0), "Beta: `scale` must be in [0, 1), got 1.0."),
        (lambda: ClippedGaussian(-0.1), "ClippedGaussian: `scale` must be in [0, 1000], got -0.1."),
        (lambda: TruncatedGaussian(2e3), "TruncatedGaussian: `scale` must be in [0, 1000], got 2000.0."),
        (lambda: ScaledBernoulli(0.5, 0.5), "ScaledBernoulli: `low` must be in [0, high = 0.5), got 0.5."),
        (lambda: ScaledBernoulli(0.0, 1.5), "ScaledBernoulli: `high` must be in (0, 1], got 1.5."),
        *(
            (
                lambda shares=shares: SparseBernoulli(shares),
                f"SparseBernoulli: `shares` must be a number in [0, 1] or a sequence of them, got {shares!r}.",
            )
            for shares in (1.5, (), (0.1, -0.1), "0.1", (0.1, float("nan")), ((0.1,),), True)
        ),
        (
            lambda: Environment(Constant((0.5, 0.95)), TwoPoint(0.1)).start(5).draw(1),
            "TwoPoint: `scale` must leave mean +- scale in [0, 1], got 0.1 where the mean is 0.95.",
        ),
        (
            lambda: Environment(Constant((0.5, 0.1)), ScaledBernoulli(0.2, 0.6)).measures(5),
            "ScaledBernoulli: every mean must be in [low, high] = [0.2, 0.6], got 0.1.",
        ),
    ],
)
def test_a_bad_noise_is_rejected(make, message):
    with pytest.raises(InvalidInput) as error:
        make()
    assert str(error.value) == message
