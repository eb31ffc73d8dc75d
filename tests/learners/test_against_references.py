"""Every learner of the paper against a slow reference written from the printed recursion (tests/references)."""

from math import inf

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from driftwise.learners import (
    OptimisticAdaptMLProd,
    OptimisticGD,
    RerunUCBV,
    RestartedAdaptiveGD,
    SleepingOptimisticAdaptMLProd,
)
from paths import EXACT_FAMILIES, FAMILIES, cases, make_path
from references import comparators, gd, prod, sleeping, ucbv

N_ROUNDS = 60  # the rounds that Algorithm 4 is given
SHAPES = ((20, 1), (1, 4), (2, 2), (60, 2), (60, 5), (25, 50))  # rounds, actions
# The library keeps sums of losses and of squares: the variance of noise below 1e-8 is lost in them (Rerun-UCB-V).
BANDIT_FAMILIES = tuple(family for family in FAMILIES if family != "nudged")


def _ucbv(**parameters):
    return RerunUCBV(**parameters), lambda losses: ucbv.rerun_ucbv(losses, **parameters)


FULL_FEEDBACK = {
    **{
        f"gd-{rate}-{scale}": (
            OptimisticGD(rate, scale),
            lambda losses, rate=rate, scale=scale: gd.optimistic_gd(losses, rate, scale),
        )
        for rate in (0.02, 0.3, 3.0, inf)
        for scale in (1.0, 0.5)
    },
    **{
        f"restarted-{every}": (
            RestartedAdaptiveGD(every),
            lambda losses, every=every: gd.restarted_adaptive_gd(losses, every),
        )
        for every in (None, 1, 2, 7)
    },
    **{
        f"prod-{prior}": (
            OptimisticAdaptMLProd(prior),
            lambda losses, prior=prior: prod.optimistic_adapt_ml_prod(losses, prior=prior),
        )
        for prior in ("inside", "outside")
    },
    "sleeping-paper": (
        SleepingOptimisticAdaptMLProd(n_rounds=N_ROUNDS),
        lambda losses: sleeping.sleeping_optimistic_adapt_ml_prod(losses, N_ROUNDS),
    ),
    "sleeping-flat": (SleepingOptimisticAdaptMLProd(), sleeping.flat_prior),
}
BANDITS = {
    "default": _ucbv(),
    "as-printed": _ucbv(clip=False, double_variance=True),
    "no-clip": _ucbv(clip=False, failure_probability=0.2),
    "double-variance": _ucbv(double_variance=True, log_scale=0.1),
    "blocks-of-1": _ucbv(restart_every=1),
    "blocks-of-9": _ucbv(restart_every=9, log_scale=0.1),
    "narrow": _ucbv(failure_probability=0.3, log_scale=0.02),
}


def run(learner, losses, borders=()):
    """Run a path, cut into blocks at the borders."""
    state = learner.start(losses.shape[1], 0)
    return np.concatenate([learner.run(state, block) for block in np.split(losses, borders)])


def assert_same_weights(played, expected):
    np.testing.assert_allclose(played, expected, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("learner", "twin"), FULL_FEEDBACK.values(), ids=FULL_FEEDBACK)
def test_weights_are_those_of_the_printed_recursion(learner, twin, family):
    for n_rounds, n_actions in SHAPES:
        losses = make_path(family, n_rounds, n_actions, seed=n_rounds)
        assert_same_weights(run(learner, losses), twin(losses))


@pytest.mark.parametrize("family", BANDIT_FAMILIES)
@pytest.mark.parametrize(("learner", "twin"), BANDITS.values(), ids=BANDITS)
def test_actions_are_those_of_the_printed_recursion(learner, twin, family):
    for n_rounds, n_actions in (*SHAPES, (300, 3)):
        losses = make_path(family, n_rounds, n_actions, seed=n_rounds)
        np.testing.assert_array_equal(run(learner, losses), twin(losses))


@pytest.mark.interpreted
@pytest.mark.parametrize("family", ["uniform", "tied"])
@pytest.mark.parametrize(("learner", "twin"), FULL_FEEDBACK.values(), ids=FULL_FEEDBACK)
def test_weights_on_a_short_path_are_those_of_the_printed_recursion(learner, twin, family):
    losses = make_path(family, 12, 3, seed=1)
    assert_same_weights(run(learner, losses), twin(losses))


@pytest.mark.interpreted
@pytest.mark.parametrize("family", ["uniform", "coin"])
@pytest.mark.parametrize(("learner", "twin"), BANDITS.values(), ids=BANDITS)
def test_actions_on_a_short_path_are_those_of_the_printed_recursion(learner, twin, family):
    losses = make_path(family, 40, 3, seed=1)
    np.testing.assert_array_equal(run(learner, losses), twin(losses))


drawn_borders = st.lists(st.integers(0, 60), max_size=5).map(sorted)
on_many_paths = settings(max_examples=60, deadline=None, derandomize=True)


@pytest.mark.parametrize(("learner", "twin"), FULL_FEEDBACK.values(), ids=FULL_FEEDBACK)
def test_weights_do_not_depend_on_where_a_run_is_cut(learner, twin):
    @on_many_paths
    @given(cases(max_rounds=60), drawn_borders)
    def holds(case, borders):
        losses = case.losses()
        assert_same_weights(run(learner, losses, borders), twin(losses))

    holds()


@pytest.mark.parametrize(("learner", "twin"), BANDITS.values(), ids=BANDITS)
def test_actions_do_not_depend_on_where_a_run_is_cut(learner, twin):
    @on_many_paths
    @given(cases(families=BANDIT_FAMILIES, max_rounds=60), drawn_borders)
    def holds(case, borders):
        losses = case.losses()
        np.testing.assert_array_equal(run(learner, losses, borders), twin(losses))

    holds()


@pytest.mark.parametrize("every", [1, 4, 10])
def test_cuts_at_the_restarts_and_beside_them_change_nothing(every):
    losses = make_path("repeated", 40, 3, seed=5)
    for offset in (-1, 0, 1):
        borders = [border + offset for border in range(every, 40, every)]
        restarted = run(RestartedAdaptiveGD(every), losses, borders)
        assert_same_weights(restarted, gd.restarted_adaptive_gd(losses, every))
        coins = make_path("coin", 40, 3, seed=5)
        actions = run(RerunUCBV(restart_every=every), coins, borders)
        np.testing.assert_array_equal(actions, ucbv.rerun_ucbv(coins, restart_every=every))


def test_a_restart_carries_the_last_loss_over_the_border():
    """Round 5 starts a block: it plays the best action of round 4, as any rate does when losses repeat."""
    losses = np.tile([0.5, 0.25, 0.75], (8, 1))
    np.testing.assert_array_equal(run(RestartedAdaptiveGD(4), losses)[4:], np.tile([0.0, 1.0, 0.0], (4, 1)))


# Algorithm 3: hints and long runs


@pytest.mark.interpreted
@pytest.mark.parametrize("prior", ["inside", "outside"])
def test_hints_replace_the_last_loss_as_the_guess(prior):
    learner = OptimisticAdaptMLProd(prior)
    for n_rounds, n_actions in ((1, 2), (30, 1), (30, 4)):
        losses = make_path("uniform", n_rounds, n_actions, seed=2)
        for hints in (losses, 1.0 - losses, make_path("coin", n_rounds, n_actions, seed=3)):
            played = learner.run(learner.start(n_actions, 0), losses, hints=hints)
            assert_same_weights(played, prod.optimistic_adapt_ml_prod(losses, hints, prior))


def test_a_hint_holds_for_one_round():
    learner, losses = OptimisticAdaptMLProd(), make_path("uniform", 40, 3, seed=4)
    guesses = make_path("uniform", 40, 3, seed=6)
    hints = [guesses[t] if t % 3 == 0 else None for t in range(40)]
    state, played = learner.start(3, 0), np.empty_like(losses)
    for t in range(40):
        if hints[t] is not None:
            learner.hint(state, hints[t])
        played[t] = learner.predict(state)
        learner.update(state, losses[t])
    assert_same_weights(played, prod.optimistic_adapt_ml_prod(losses, hints))


@pytest.mark.parametrize("prior", ["inside", "outside"])
def test_weights_recover_after_falling_below_the_smallest_double(prior):
    """Gap 1 at rate 1/4: after 4,000 rounds the losing weight is e^-1000, and it takes as long to come back.

    The reference is the printed recursion in 25 digits with unlimited exponents (errata, E13).
    """
    bad, good = [1.0, 0.0], [0.0, 1.0]
    losses = np.array([bad] * 4000 + [good] * 4200)
    exact = prod.optimistic_adapt_ml_prod(losses, prior=prior, digits=25)
    assert exact[4000, 0] == 0.0
    assert exact[-1, 0] > 0.99
    assert_same_weights(run(OptimisticAdaptMLProd(prior), losses), exact)


@pytest.mark.parametrize("family", ["uniform", "coin", "noiseless", "spikes"])
def test_weights_agree_with_thirty_digits_of_the_printed_recursion(family):
    losses = make_path(family, 150, 3, seed=8)
    exact = prod.optimistic_adapt_ml_prod(losses, digits=30)
    assert_same_weights(run(OptimisticAdaptMLProd(), losses), exact)


def test_algorithm_4_given_more_rounds_than_are_played_is_the_printed_recursion():
    losses = make_path("switching", 12, 3, seed=9)
    for prior_rounds in (12, 13, 200):
        played = run(SleepingOptimisticAdaptMLProd(n_rounds=prior_rounds), losses)
        assert_same_weights(played, sleeping.sleeping_optimistic_adapt_ml_prod(losses, prior_rounds))


def test_algorithm_4_outgrows_its_first_rows():
    """The rows are stored in growing blocks; 150 rounds pass the first two sizes."""
    losses = make_path("switching", 150, 2, seed=10)
    flat = run(SleepingOptimisticAdaptMLProd(), losses, borders=[63, 64, 65, 127, 128])
    assert_same_weights(flat, sleeping.flat_prior(losses))


@pytest.mark.parametrize(
    "learner",
    [OptimisticAdaptMLProd(), SleepingOptimisticAdaptMLProd()],
    ids=["algorithm-3", "algorithm-4"],
)
def test_the_loss_of_the_weights_under_the_guess_is_the_fixed_point(learner):
    """alpha = <p(alpha), l_{t-1}> up to Newton's last step, 1e-12 times 1 - slope <= 17/16."""
    for family in FAMILIES:
        losses, state = make_path(family, 60, 4, seed=13), learner.start(4, 0)
        for t in range(60):
            learner.update(state, losses[t])
            assert abs(learner.predict(state) @ losses[t] - state.memory.guessed_loss[0]) <= 17 / 16 * 1e-12


# The references against even slower ones


def test_repeating_the_fixed_point_map_shrinks_distances_sixteenfold():
    """Its slope is Cov_p(eta, l) with eta in (0, 1/4] and l in [0, 1]: at most (1/4)/2 * 1/2 in size."""
    rng, steepest = np.random.default_rng(14), 0.0
    for _ in range(2000):
        n_actions = rng.integers(2, 6)
        p, rates = rng.dirichlet(np.ones(n_actions)), rng.choice([1e-6, 0.1, 0.25], n_actions)
        losses = rng.integers(0, 2, n_actions)
        steepest = max(steepest, abs(p @ (rates * losses) - (p @ rates) * (p @ losses)))
    assert 0.06 < steepest <= 1 / 16


def test_the_reference_projection_is_the_nearest_point_over_all_supports():
    rng = np.random.default_rng(0)
    for _ in range(300):
        point = rng.choice([0.1, 1.0, 10.0]) * rng.normal(size=rng.integers(1, 7))
        np.testing.assert_allclose(gd.project(point), gd.project_by_enumeration(point), atol=1e-12)


def test_the_reference_step_solves_the_printed_problem():
    rng = np.random.default_rng(1)
    for rate in (0.1, 1.0, 3.0):
        for scale in (1.0, 0.5):
            x, losses = rng.dirichlet(np.ones(4)), rng.random(4)
            solved = gd.prox_by_minimiser(x, losses, rate, scale)
            np.testing.assert_allclose(gd.prox(x, losses, rate, scale), solved, atol=1e-5)


def test_both_ways_to_the_fixed_point_agree():
    for family in ("uniform", "coin"):
        losses = make_path(family, 30, 3, seed=11)
        halved = prod.optimistic_adapt_ml_prod(losses)
        repeated = prod.optimistic_adapt_ml_prod(losses, digits=30)
        np.testing.assert_allclose(halved, repeated, rtol=0.0, atol=1e-13)


def test_the_pair_sum_is_the_unbiased_variance():
    samples = list(np.random.default_rng(2).random(20))
    assert ucbv.variance(samples) == pytest.approx(np.var(samples, ddof=1), rel=1e-13)


def test_the_comparator_beats_every_sequence_it_may_play():
    for seed in range(8):
        losses = make_path("uniform", 6, 3, seed)
        slow = [comparators.best_with_segments_by_enumeration(losses, n) for n in (1, 2, 3, 4, 5, 6, 7, 8)]
        np.testing.assert_allclose(comparators.best_with_segments(losses, 8), slow, rtol=1e-13)


def test_the_families_with_exact_sums_are_fractions_of_few_bits():
    for family in EXACT_FAMILIES:
        losses = 8.0 * make_path(family, 50, 4, seed=12)
        np.testing.assert_array_equal(losses, np.round(losses))
