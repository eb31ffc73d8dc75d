"""Index learners against indices recomputed from the whole history, and draws against their distributions."""

import math

import mpmath
import numpy as np
import pytest
from scipy import integrate, stats

from driftwise.core.divergence import divergence, entropy, least_mean
from driftwise.core.random import new_generator, next_beta, next_gamma, next_normal
from driftwise.learners import (
    KLUCB,
    UCB1,
    UCBV,
    DetectAndRestart,
    DiscountedKLUCB,
    DiscountedThompson,
    DiscountedUCB,
    SlidingWindowKLUCB,
    SlidingWindowUCB,
    Thompson,
)
from paths import make_path
from references import indices
from replaying import draws, run

TWINS = {
    "ucb1": (UCB1(), indices.ucb1()),
    "ucb1-narrow": (UCB1(0.05), indices.ucb1(0.05)),
    "ucb-v": (UCBV(), indices.ucb_v()),
    "ucb-v-without-bias": (UCBV(0.4, 0.0), indices.ucb_v(0.4, 0.0)),
    "kl-ucb": (KLUCB(), indices.kl_ucb()),
    "kl-ucb-of-theory": (KLUCB(3.0), indices.kl_ucb(3.0)),
    "discounted-ucb": (DiscountedUCB(0.95), indices.discounted_ucb(0.95)),
    "discounted-ucb-fast": (DiscountedUCB(0.5, 0.3), indices.discounted_ucb(0.5, 0.3)),
    "discounted-ucb-never": (DiscountedUCB(1.0), indices.discounted_ucb(1.0)),
    "sliding-window-ucb": (SlidingWindowUCB(50), indices.sliding_window_ucb(50)),
    "sliding-window-ucb-short": (SlidingWindowUCB(7, 0.05), indices.sliding_window_ucb(7, 0.05)),
    "sliding-window-ucb-endless": (SlidingWindowUCB(None), indices.sliding_window_ucb(None)),
    "discounted-kl-ucb": (DiscountedKLUCB(0.95, 1.0), indices.discounted_kl_ucb(0.95, 1.0)),
    "sliding-window-kl-ucb": (SlidingWindowKLUCB(30, 0.5), indices.sliding_window_kl_ucb(30, 0.5)),
    "sliding-window-kl-ucb-endless": (SlidingWindowKLUCB(None), indices.sliding_window_kl_ucb(None)),
}
SHAPES = ((1, 1), (30, 1), (1, 3), (150, 2), (90, 3), (50, 10))  # rounds, actions
LONG = {"ucb1": 2000, "ucb-v": 1000, "sliding-window-ucb": 2000, "discounted-ucb": 1000, "kl-ucb": 600}
EXACT = ("coin", "tied", "constant", "equal", "switching")  # few-bit losses: sums are exact, and ties are ties
ROUGH = ("uniform", "nudged", "drifting")
every_twin = pytest.mark.parametrize(("learner", "index"), TWINS.values(), ids=TWINS)


def new_near_ties(learner):
    """A variance from sums of squares is good to 1e-16, and its root to 1e-8; every other index to 1e-9."""
    return indices.NearTies(1e-7 if isinstance(learner, UCBV) else 1e-9)


def expect_reference(learner, index, losses, near_ties):
    """Expect the actions of the reference, which continues with the learner's where two indices are nearly equal."""
    actions, _ = run(learner, losses)
    np.testing.assert_array_equal(actions, indices.index_actions(index, losses, actions, near_ties))


@every_twin
@pytest.mark.parametrize("family", [*EXACT, *ROUGH])
def test_actions_are_those_of_the_whole_history(learner, index, family):
    near_ties = new_near_ties(learner)
    for n_rounds, n_actions in SHAPES:
        expect_reference(learner, index, make_path(family, n_rounds, n_actions, seed=n_rounds + n_actions), near_ties)
    most = 0.1 if family == "nudged" else 0.01  # losses of that family differ by a billionth
    assert near_ties.share() <= most


@pytest.mark.parametrize("name", LONG)
def test_actions_in_a_long_run_are_those_of_the_whole_history(name):
    learner, index = TWINS[name]
    near_ties = new_near_ties(learner)
    expect_reference(learner, index, make_path("switching", LONG[name], 3, seed=5), near_ties)
    expect_reference(learner, index, make_path("drifting", LONG[name] // 2, 2, seed=6), near_ties)
    assert near_ties.n_near == 0


@pytest.mark.interpreted
@every_twin
def test_actions_on_a_short_path_are_those_of_the_whole_history(learner, index):
    expect_reference(learner, index, make_path("tied", 40, 3, seed=2), new_near_ties(learner))


@every_twin
def test_block_borders_do_not_change_the_actions(learner, index):
    losses = make_path("uniform", 200, 3, seed=3)
    whole, _ = run(learner, losses)
    for block_size in (1, 7, 64):
        np.testing.assert_array_equal(run(learner, losses, block_size)[0], whole)


def test_a_window_drops_a_round_exactly_when_it_leaves():
    """Action 1 was good in round 1 alone; it is played again once that round is `window` rounds old, never before."""
    for window in (2, 5, 12):
        losses = np.tile([0.5, 0.0], (3 * window, 1))
        losses[2:, 1] = 1.0
        for learner in (SlidingWindowUCB(window, 1e-9), SlidingWindowKLUCB(window)):
            expected = indices.index_actions(
                indices.sliding_window_ucb(window, 1e-9)
                if isinstance(learner, SlidingWindowUCB)
                else indices.sliding_window_kl_ucb(window),
                losses,
            )
            np.testing.assert_array_equal(run(learner, losses)[0], expected)


def test_sums_over_a_window_do_not_accumulate_rounding_errors():
    """After a million additions and subtractions the sums are those of the window."""
    learner = SlidingWindowUCB(9)
    state = learner.start(2)
    losses = make_path("uniform", 200_000, 2, seed=1)
    actions = learner.run(state, losses)
    for action in range(2):
        last = losses[-9:, action][actions[-9:] == action]
        assert state.memory.plays[action] == len(last)
        assert abs(state.memory.total[action] - last.sum()) < 1e-14


def test_a_logarithm_of_a_logarithm_is_never_negative():
    """With a discount of 0.6 no more than 2.5 rounds ever count, and ln ln 2.5 < 0."""
    near_ties = indices.NearTies()
    for family in ("coin", "tied", "uniform"):
        for n_actions in (2, 3):
            losses = make_path(family, 120, n_actions, seed=n_actions)
            expect_reference(DiscountedKLUCB(0.6, 3.0), indices.discounted_kl_ucb(0.6, 3.0), losses, near_ties)
    assert near_ties.share() <= 0.02


def test_a_discounted_past_may_vanish():
    """With a discount of 1e-3 earlier rounds are negligible beside the latest."""
    for learner in (DiscountedUCB(1e-3), DiscountedKLUCB(1e-3), DiscountedThompson(1e-3)):
        state = learner.start(3, seed=1)
        actions = learner.run(state, make_path("uniform", 3000, 3, seed=1))
        assert set(np.unique(actions)) == {0, 1, 2}
        assert np.isfinite(state.memory.total).all()
        assert (state.memory.plays >= 0).all()


# Thompson sampling: the same draws, replayed


@pytest.mark.parametrize("family", [*EXACT, *ROUGH])
@pytest.mark.parametrize(("learner", "discount"), [(Thompson(), 1.0), (DiscountedThompson(0.9), 0.9)], ids=str)
def test_thompson_plays_the_least_of_its_draws(learner, discount, family):
    near_ties = indices.NearTies()
    for n_rounds, n_actions in (*SHAPES, (400, 3)):
        losses = make_path(family, n_rounds, n_actions, seed=n_actions)
        uniform, beta = draws(learner, n_actions, seed=7)
        actions, _ = run(learner, losses, seed=7)
        index = indices.thompson(beta, discount)
        expected = indices.index_actions(index, losses, actions, near_ties, as_index_loss=indices.rounded(uniform))
        np.testing.assert_array_equal(actions, expected)
        np.testing.assert_array_equal(run(learner, losses, block_size=7, seed=7)[0], actions)
    assert near_ties.n_near == 0


def chances_of_thompson(state):
    """P(theta_i is least) = int f_i prod_{j != i} (1 - F_j), by quadrature."""
    posteriors = [stats.beta(f + 1, n - f + 1) for f, n in zip(state.memory.total, state.memory.plays, strict=True)]

    def density(x, i):
        return posteriors[i].pdf(x) * math.prod(
            distribution.sf(x) for distribution in posteriors[:i] + posteriors[i + 1 :]
        )

    return np.array(
        [integrate.quad(density, 0, 1, args=(i,), epsabs=1e-10, limit=200)[0] for i in range(len(posteriors))]
    )


@pytest.mark.parametrize("learner", [Thompson(), DiscountedThompson(0.95)], ids=str)
def test_thompson_chooses_with_the_chance_that_an_action_is_best(learner):
    state = learner.start(4, seed=3)
    for n_rounds in (0, 12, 60):
        learner.run(state, make_path("coin", n_rounds, 4, seed=n_rounds))
        chances = chances_of_thompson(state)
        assert abs(chances.sum() - 1) < 1e-6
        assert learner.choose(state)[1] is None
        seen = np.bincount([learner.choose(state)[0] for _ in range(8000)], minlength=4)
        assert stats.chisquare(seen, 8000 * chances / chances.sum()).pvalue > 0.001


def test_a_loss_is_rounded_to_its_mean():
    learner = Thompson()
    state = learner.start(1, seed=2)
    learner.run(state, np.full((20_000, 1), 0.3))
    assert stats.binomtest(int(state.memory.total[0]), 20_000, 0.3).pvalue > 0.001
    assert state.memory.total[0] == round(state.memory.total[0])


# Draws


def expect_distribution(draw, distribution, n=20_000):
    """Expect the distribution function, and more sharply the mean and the variance, four standard errors at most."""
    words = new_generator(5)
    sample = np.array([draw(words) for _ in range(n)])
    assert stats.kstest(sample, distribution.cdf).pvalue > 0.01
    mean, variance, kurtosis = (float(x) for x in distribution.stats("mvk"))
    assert abs(sample.mean() - mean) < 4 * math.sqrt(variance / n)
    assert abs(((sample - mean) ** 2).mean() - variance) < 4 * variance * math.sqrt((kurtosis + 2) / n)


def test_normal_draws_are_normal():
    expect_distribution(next_normal, stats.norm())


@pytest.mark.parametrize("shape", [1.0, 1.001, 1.5, 3.0, 40.0, 1e4, 1e9])
def test_gamma_draws_are_gamma(shape):
    expect_distribution(lambda words: next_gamma(words, shape), stats.gamma(shape))


@pytest.mark.parametrize(("a", "b"), [(1, 1), (1, 7), (7, 1), (2.5, 1.5), (60, 40), (1, 1e5), (1e6, 2e6)])
def test_beta_draws_are_beta(a, b):
    expect_distribution(lambda words: next_beta(words, float(a), float(b)), stats.beta(a, b))


@pytest.mark.interpreted
def test_draws_stay_in_their_range():
    words = new_generator(1)
    for a, b in ((1.0, 1.0), (1.0, 1e12), (1e12, 1.0), (1e15, 1e15)):
        draws = [next_beta(words, a, b) for _ in range(200)]
        assert min(draws) >= 0.0
        assert max(draws) <= 1.0


# The divergence

MEANS = (0.0, 1e-12, 1e-9, 1e-6, 1e-3, 0.05, 0.3, 0.5, 0.7, 0.999, 1 - 1e-6, 1 - 1e-9, 1 - 1e-12, 1.0)
BUDGETS = (1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 0.1, 0.7, 3.0, 30.0, 100.0)


def exact_divergence(p, q):
    p, q = mpmath.mpf(p), mpmath.mpf(q)
    return (p * mpmath.log(p / q) if p > 0 else 0) + ((1 - p) * mpmath.log((1 - p) / (1 - q)) if p < 1 else 0)


def exact_least_mean(p, budget):
    low, high = mpmath.mpf(0), mpmath.mpf(p)
    while high - low > mpmath.mpf("1e-12"):
        middle = (low + high) / 2
        low, high = (low, middle) if exact_divergence(p, middle) <= budget else (middle, high)
    return high


def test_the_lowest_mean_is_that_of_bisection():
    with mpmath.workdps(50):
        for p in MEANS:
            for budget in BUDGETS:
                assert abs(least_mean(p, budget) - exact_least_mean(p, budget)) < 1e-9, (p, budget)


@pytest.mark.interpreted
def test_the_lowest_mean_is_between_zero_and_the_mean():
    """Whatever the budget, down to where rounding leaves nothing of it, and for means a little outside of [0, 1]."""
    for p in (*MEANS, -1e-17, 1 + 1e-15):
        for budget in (0.0, 5e-324, 1e-40, 1e-31, 1e-25, 1e-20, 1e-18, 1e-15, *BUDGETS, 1e4, 1e300, math.inf):
            q = least_mean(p, budget)
            assert 0.0 <= q <= min(1.0, max(0.0, p)), (p, budget)
            # Rounding hides a divergence of 1e-16, which is 1e-8 of a mean.
            assert q >= p - math.sqrt(budget / 2) - 2e-8, (p, budget)


def test_the_divergence_and_the_entropy_are_those_of_many_digits():
    with mpmath.workdps(50):
        for p in MEANS:
            exact = -sum(x * mpmath.log(x) for x in (mpmath.mpf(p), 1 - mpmath.mpf(p)) if x > 0)
            assert abs(entropy(p) - exact) < 1e-15
            for q in MEANS[1:-1]:
                assert abs(divergence(p, q) - exact_divergence(p, q)) < 1e-12


# Exploration


@pytest.mark.parametrize("exploration_rate", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("n_actions", [1, 3, 10])
def test_random_exploration_has_the_frequencies_it_claims_the_last_action_included(n_actions, exploration_rate):
    learner = DetectAndRestart(UCB1(), exploration_rate=exploration_rate)
    state = learner.start(n_actions, seed=4)
    learner.run(state, make_path("uniform", 200, n_actions, seed=1))
    choices = [learner.choose(state) for _ in range(10_000)]
    claimed = dict(choices)
    chances = np.array([claimed.get(k, 0.0) for k in range(n_actions)])
    assert abs(chances.sum() - 1) < 1e-12
    assert np.sort(chances)[:-1] == pytest.approx(exploration_rate / n_actions)
    seen = np.bincount([action for action, _ in choices], minlength=n_actions)
    assert n_actions == 1 or stats.chisquare(seen, 10_000 * chances).pvalue > 0.001


@pytest.mark.interpreted
def test_a_drawn_index_has_no_known_probability_even_where_it_explores():
    learner = DetectAndRestart(Thompson(), exploration_rate=0.5)
    state = learner.start(3)
    assert {learner.choose(state)[1] for _ in range(50)} == {None}
