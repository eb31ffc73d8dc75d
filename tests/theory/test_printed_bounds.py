"""The printed bounds: values worked by hand, and comparison with the corrected bounds."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from driftwise import OptimisticAdaptMLProd, OptimisticGD, RestartedAdaptiveGD, TwoPoint
from driftwise.core.measures import Measures
from driftwise.environments import Environment, Segments
from driftwise.theory import expected, pathwise, printed, tuning

FIXED = settings(derandomize=True, database=None, deadline=None, max_examples=200)
shares = st.integers(0, 1000).map(lambda n: n / 1000)
KNOWN = Measures(n_actions=4, n_rounds=10_000, segments=5, drift=3.0, variance=50.0)


def test_printed_bounds_of_measures_worked_by_hand():
    assert printed.optimistic_gd(KNOWN, 0.5, 7) == pytest.approx(0.5 * (100 + 12) + 14)
    assert printed.optimistic_gd_tuned(KNOWN, 7) == pytest.approx(3 * math.sqrt(7 * 62))
    # 100 blocks of 100 rounds: 16.5 (sqrt(2 x 50 x 100) + 2 x 3) + 2 x 100 x 3
    assert printed.restarted_adaptive_gd(KNOWN, 100) == pytest.approx(16.5 * 106 + 600)
    g = math.log(4)
    both = g + math.log(1 + 4 / math.e * (1 + math.log(10_001)))
    by_hand = both / math.sqrt(g) * math.sqrt(1 + 4 * 112) + both / 4 + 2 * math.sqrt(g) + 16 * g
    assert printed.adapt_ml_prod(KNOWN) == pytest.approx(by_hand)
    assert printed.rerun_ucbv_restart_every(KNOWN) == pytest.approx(math.sqrt(4 * 10_000 / 3))  # 4 x 50^2 < 30,000
    assert printed.restarted_gd_restart_every(KNOWN) == pytest.approx((50 * 10_000 / 9) ** (1 / 3))


def test_printed_bounds_of_paths_worked_by_hand():
    losses = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 1.0]])  # D = 1 + 0 + 1
    assert printed.optimistic_gd_path(losses, 0.5, 3) == pytest.approx(1 + 6)
    # eta_{t+1} = 1 / (2 sqrt(D_t)): 1/4 + 16 sqrt(1), the same, and 1/4 + 1 / (4 sqrt 2) + 16 sqrt(2)
    by_hand = [16.25, 16.25, 0.25 + 1 / (4 * math.sqrt(2)) + 16 * math.sqrt(2)]
    np.testing.assert_allclose(printed.adaptive_block_path(losses, np.zeros(2)), by_hand)
    np.testing.assert_array_equal(printed.adaptive_block_path(np.ones((3, 2)), np.ones(2)), 0.0)  # nothing moves
    g = math.log(2)
    both = g + math.log(1 + 2 / math.e * (1 + math.log(2)))
    regrets, estimates = np.array([[0.5, -0.5]]), np.array([[0.0, 0.5]])
    by_hand = both / math.sqrt(g) * np.sqrt([[1.25, 2.0]]) + both / 4 + 2 * math.sqrt(g) + 16 * g
    np.testing.assert_allclose(printed.adapt_ml_prod_path(regrets, estimates), by_hand)


def test_eq_lambda_worked_by_hand():
    radii = np.array([1.0, 0.5, 0.25])
    assert printed.rerun_ucbv_interval(radii, 0.1, 2, 0.01) == pytest.approx(3.5 + 0.6 + 0.06)
    assert pathwise.rerun_ucbv_good_event(radii, 0.1) == pytest.approx(1 + 1 + 0.7)


def test_the_lemma_of_appendix_d_comes_to_sixteen_and_a_half_roots():
    losses = np.random.default_rng(1).random((500, 3))
    moved = np.cumsum(pathwise.squared_steps(losses))
    bound = printed.adaptive_block_path(losses, np.zeros(3))
    assert (bound <= 16.5 * np.sqrt(moved)).all()
    assert bound[-1] == pytest.approx(16.5 * math.sqrt(moved[-1]), rel=0.01)


def switching_environment(n_segments):
    means = ((0.3, 0.5, 0.7), (0.7, 0.3, 0.5), (0.5, 0.7, 0.3), (0.4, 0.5, 0.6))[:n_segments]
    return Environment(Segments(means=means), TwoPoint(0.1))


@pytest.mark.parametrize("n_segments", [1, 4])
def test_mean_regret_stays_below_the_printed_bounds(n_segments):
    """Where the printed bound is right, or (Theorem 3.4, RTk_bound, E2) not known to be wrong; 100 runs."""
    n_rounds, n_runs, environment = 400, 100, switching_environment(n_segments)
    known = environment.measures(n_rounds)
    rate, block = tuning.gd_rate(known, n_segments), tuning.restarted_gd_restart_every(known)
    claims = [
        (OptimisticGD(rate), printed.optimistic_gd_tuned(known, n_segments)),
        (OptimisticGD(0.3, prox_scale=0.5), printed.optimistic_gd(known, 0.3, n_segments)),
        (RestartedAdaptiveGD(block), printed.restarted_adaptive_gd(known, block)),
    ]
    if n_segments == 1:  # it is about one fixed action
        claims.append((OptimisticAdaptMLProd(), printed.adapt_ml_prod(known)))
    runs = [environment.start(n_rounds, seed).draw(n_rounds) for seed in range(n_runs)]
    for learner, bound in claims:
        played = [learner.run(learner.start(3), run.losses) for run in runs]
        regrets = [(p * run.means).sum() - run.means.min(axis=1).sum() for p, run in zip(played, runs, strict=True)]
        assert np.mean(regrets) - 3 * np.std(regrets, ddof=1) / math.sqrt(n_runs) <= bound
    assert claims[0][1] < n_rounds / 4  # the bound is not trivial


@FIXED
@given(st.integers(2, 20), st.integers(1, 10_000), shares, shares, st.sampled_from([0.01, 0.3, 2.0]))
def test_our_bounds_are_no_larger_where_the_printed_bound_holds(n_actions, n_rounds, moved, noise, rate):
    segments = 1 + int(moved * (n_rounds - 1))
    variance = noise * n_actions * n_rounds / 4
    known = Measures(n_actions, n_rounds, segments, moved * segments, variance)
    block = tuning.restarted_gd_restart_every(known)
    assert expected.restarted_adaptive_gd(known, block) <= printed.restarted_adaptive_gd(known, block) * (1 + 1e-9)
    tuned = expected.optimistic_gd_against(known, tuning.gd_rate(known, segments), segments)
    assert tuned <= printed.optimistic_gd_tuned(known, segments) * (1 + 1e-9)
    chiang = expected.optimistic_gd_against(known, rate, segments, prox_scale=0.5)
    assert chiang <= printed.optimistic_gd(known, rate, segments) * (1 + 1e-9)


@FIXED
@given(st.integers(2, 100), st.integers(1, 10_000), shares)
def test_the_printed_form_of_theorem_rtk_bound_is_of_the_order_of_ours(n_actions, n_rounds, noise):
    """It doubles the deviation and halves the logarithm (E2)."""
    known = Measures(n_actions, n_rounds, 1, 1.0, noise * n_actions * n_rounds / 4)
    ours = expected.adapt_ml_prod(known)
    assume(ours < n_rounds)
    assert 0.5 < printed.adapt_ml_prod(known) / ours < 2.5
