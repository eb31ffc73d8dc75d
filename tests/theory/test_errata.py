"""The errors of the paper, one test per row of the errata: the printed statement fails, the replacement holds."""

from math import ceil, e, exp, inf, log, sqrt

import numpy as np
import pytest

from driftwise.core.measures import Measures
from driftwise.environments import MeasuresAccumulator
from driftwise.learners import (
    OptimisticAdaptMLProd,
    OptimisticGD,
    RerunUCBV,
    RestartedAdaptiveGD,
    SleepingOptimisticAdaptMLProd,
)
from driftwise.theory import expected, fixed_share_bounds, lower, pathwise, printed as paper, table_one, tuning
from paths import make_path
from references import comparators, gd, prod, sleeping, ucbv


def run(learner, losses):
    return learner.run(learner.start(losses.shape[1], 0), losses)


def regrets_and_estimates(weights, losses):
    guesses = np.vstack([np.zeros_like(losses[:1]), losses[:-1]])
    return tuple((weights * x).sum(axis=1, keepdims=True) - x for x in (losses, guesses))


def measures(n_actions, n_rounds, drift, variance, segments=1):
    return Measures(n_actions, n_rounds, segments, drift, variance)


# E1, Lemma C.1 (lem:dev): eta D + N / eta


def slow_switches(n_segments=8, length=250):
    """Two actions take turns being the only bad one, long enough for the weights to cross over."""
    return np.repeat([[0.0, 1.0], [1.0, 0.0]] * (n_segments // 2), length, axis=0)


def test_e1_the_printed_bound_of_algorithm_2_fails_when_switches_are_slow():
    losses = slow_switches()
    regret = (run(OptimisticGD(0.02), losses) * losses).sum() - comparators.best_with_segments(losses, 8)[-1]
    assert round(regret) == 721
    assert round(paper.optimistic_gd_path(losses, 0.02, 8)) == 400
    assert 0.98 * pathwise.optimistic_gd(losses, 0.02, 8) < regret <= pathwise.optimistic_gd(losses, 0.02, 8)


def test_e1_the_printed_bound_holds_for_the_prox_of_chiang_et_al():
    losses = slow_switches()
    regret = (run(OptimisticGD(0.02, prox_scale=0.5), losses) * losses).sum()
    assert regret <= pathwise.optimistic_gd(losses, 0.02, 8, prox_scale=0.5)
    assert regret <= paper.optimistic_gd_path(losses, 0.02, 8)


def test_e1_the_printed_bound_in_expectation_fails_as_it_does_on_the_path():
    losses, known = slow_switches(), measures(2, 2000, drift=8.0, variance=0.0, segments=8)
    regret = (run(OptimisticGD(0.02), losses) * losses).sum()
    assert paper.optimistic_gd(known, 0.02, 8) == pytest.approx(0.02 * 2 * 8 + 8 / 0.02)
    assert regret > 1.7 * paper.optimistic_gd(known, 0.02, 8)
    assert regret <= expected.optimistic_gd_against(known, 0.02, 8)


def test_e1_with_the_rate_of_the_lemma_its_bound_holds():
    """At eta = sqrt(N / (Lambda + K V)), ours is at most 2.5 sqrt(N (Lambda + K V)), and what is printed is 3."""
    for segments, drift, variance in [(1, 1.0, 0.0), (8, 8.0, 0.0), (8, 3.0, 100.0), (50, 0.1, 2.0)]:
        known = measures(4, 10**6, drift, variance, segments)
        rate = tuning.gd_rate(known, comparator_segments=segments)
        ours = expected.optimistic_gd_against(known, rate, segments)
        assert ours <= 2.5 / 3 * paper.optimistic_gd_tuned(known, segments) * (1 + 1e-12)
        assert paper.optimistic_gd(known, rate, segments) <= paper.optimistic_gd_tuned(known, segments) * (1 + 1e-12)


def test_e1_one_round_telescopes_in_x_and_not_in_the_play():
    """The printed per-round inequality fails on about one step in nine; the corrected one on none."""
    rng, steps, printed_fails = np.random.default_rng(0), 0, 0
    for _ in range(1000):
        n_actions, rate = rng.integers(2, 6), rng.choice([0.1, 0.5, 1.0, 3.0])
        x, (last, losses) = rng.dirichlet(np.ones(n_actions)), rng.random((2, n_actions))
        played, after = gd.prox(x, last, rate), gd.prox(x, losses, rate)
        next_play = gd.prox(after, losses, rate)
        moved = ((losses - last) ** 2).sum()
        for comparator in np.eye(n_actions):
            regret = losses @ (played - comparator)
            in_play = ((comparator - played) ** 2).sum() - ((comparator - next_play) ** 2).sum()
            in_x = ((comparator - x) ** 2).sum() - ((comparator - after) ** 2).sum()
            steps += 1
            printed_fails += regret > rate * moved + in_play / (2.0 * rate) + 1e-12
            assert regret <= rate * moved / 4.0 + in_x / rate + 1e-12
    assert 0.05 * steps < printed_fails < 0.2 * steps


# E2, Appendix E: the pair (C, D)


def test_e2_the_printed_constants_of_algorithm_3_are_not_implied_by_its_lemma():
    """Two halves of 50 actions swap the losses 0 and 1 in every round.

    One half, for which the guess is exact, gets all the weight; for the other the squared error is 4, the maximum.
    """
    losses = (np.add.outer(np.arange(20_000), np.arange(50)) % 2).astype(float)
    regrets, estimates = regrets_and_estimates(run(OptimisticAdaptMLProd(), losses), losses)
    lemma = pathwise.adapt_ml_prod(regrets, estimates)[-1]
    printed = paper.adapt_ml_prod_path(regrets, estimates)[-1]
    closed = pathwise.adapt_ml_prod_closed(regrets, estimates)[-1]
    guessed_wrong = ((regrets - estimates) ** 2).mean(axis=0) > 3.9
    assert guessed_wrong.sum() == 25
    assert (lemma > 1.12 * printed)[guessed_wrong].all()
    assert (lemma <= closed).all()
    assert (regrets.sum(axis=0) <= lemma).all()


# E3, eq. (3): the sum over r, s


def test_e3_the_printed_sum_over_pairs_is_twice_the_variance_of_the_theorem():
    samples = [0.125, 0.5, 0.5, 1.0, 0.25]
    assert ucbv.variance(samples, ordered_pairs=True) == 2.0 * ucbv.variance(samples)
    assert ucbv.variance(samples) == pytest.approx(np.var(samples, ddof=1), rel=1e-15)


@pytest.mark.interpreted
def test_e3_rerun_ucbv_uses_the_variance_of_the_theorem_by_default():
    losses = make_path("coin", 80, 2, seed=3)
    single, double = (run(RerunUCBV(log_scale=0.1, double_variance=flag), losses) for flag in (False, True))
    np.testing.assert_array_equal(single, ucbv.rerun_ucbv(losses, log_scale=0.1))
    np.testing.assert_array_equal(double, ucbv.rerun_ucbv(losses, log_scale=0.1, double_variance=True))
    assert (single != double).any()


# E4: lambda = 1 for at most one sample


def test_e4_the_printed_radius_jumps_up_at_the_second_sample():
    log_term = log(2 * 2 * 1000)
    printed = [ucbv.radius([0.5] * n, log_term, clip=False) for n in range(40)]
    assert printed[1] == 1.0
    assert printed[2] == pytest.approx(7.0 * log_term / 3.0)  # 19.4
    clipped = [ucbv.radius([0.5] * n, log_term) for n in range(40)]
    assert (np.diff(clipped) <= 0.0).all()


def test_e4_a_plain_argmin_leaves_an_action_unplayed_for_twenty_rounds():
    """T = 1000, K = 2, a first loss of 0: the second action is first played in round 22."""
    losses = np.tile([0.0, 0.5], (40, 1))
    printed = ucbv.rerun_ucbv(losses, failure_probability=1 / 2000, clip=False, tie_break="index")
    assert np.flatnonzero(printed == 1)[0] + 1 == 22


@pytest.mark.interpreted
@pytest.mark.parametrize("clip", [True, False])
def test_e4_fewest_plays_first_tries_every_action_in_the_first_rounds(clip):
    for family in ("constant", "coin", "equal", "tied"):
        actions = run(RerunUCBV(clip=clip, restart_every=20), make_path(family, 40, 7, seed=1))
        for start in (0, 20):
            np.testing.assert_array_equal(np.sort(actions[start : start + 7]), np.arange(7))


def test_e4_a_clipped_radius_ends_the_monopoly_of_the_first_action_with_two_samples():
    losses = np.full((40, 2), 0.5)
    printed, clipped = (run(RerunUCBV(1000, 1 / 2000, clip=clip), losses) for clip in (False, True))
    assert (printed[2:22] == 0).all()
    np.testing.assert_array_equal(clipped, np.arange(40) % 2)


# E5, Appendix D: the best fixed action


def test_e5_the_best_fixed_action_need_never_be_best():
    means = np.array([[0.0, 1.0, 0.4], [1.0, 0.0, 0.4]])
    fixed = means.sum(axis=0).argmin()
    assert fixed == 2
    assert fixed not in means.argmin(axis=1)


def test_e5_it_still_loses_at_most_twice_the_drift_in_every_round():
    rng = np.random.default_rng(5)
    for _ in range(500):
        means = make_path(rng.choice(["uniform", "drifting", "repeated"]), 12, 4, int(rng.integers(2**31)))
        lost = means.sum(axis=0).min() - means.min(axis=1).sum()
        drift_within = np.abs(np.diff(means, axis=0)).max(axis=1).sum()
        assert lost <= 2 * len(means) * drift_within + 1e-12


# E6, Theorem 2.1 (emp_bernstein): the level


def test_e6_the_printed_level_guarantees_nothing_over_all_actions_and_numbers_of_plays():
    """Two sides cost 3/2 delta for each action and number of plays; their sum must stay below 1/T."""
    environment = measures(n_actions=5, n_rounds=1000, drift=2.0, variance=50.0)
    printed = RerunUCBV.tuned(environment).failure_probability
    rigorous = RerunUCBV.tuned(environment, failure="rigorous").failure_probability
    assert printed == pytest.approx(1 / (5 * 1000))
    assert rigorous == pytest.approx(1 / (3 * 5 * 1000**2))
    assert 1.5 * printed * 5 * 1000 > 1.0
    assert 1.5 * rigorous * 5 * 1000 <= 1.0 / 1000


# E7: Gamma counts changes of the mean


def test_e7_gamma_counts_changes_of_the_mean_and_not_of_the_distribution():
    """Fair coins, then the constant 1/2: two distributions, one mean."""
    meter = MeasuresAccumulator(n_actions=2)
    meter.update(np.full((20, 2), 0.5), np.repeat([[0.25], [0.0]], 10, axis=0) * np.ones(2))
    assert meter.measures().segments == 1
    assert meter.measures().variance == 20 * 0.25
    meter.update(np.full((1, 2), 0.25), np.zeros((1, 2)))
    assert meter.measures().segments == 2


# E8, Theorem 4.3 (full_V): the drift of the construction, and small drifts


def alternating_best(n_rounds, length, sigma, gap):
    """The means of the construction when the best action changes in every interval: sigma, or sigma - gap."""
    best = (np.arange(n_rounds) // length) % 2
    return sigma - gap * np.eye(2)[best]


def drift_of(means):
    meter = MeasuresAccumulator(means.shape[1])
    meter.update(means, np.zeros_like(means))
    return meter.measures().drift


def test_e8_the_printed_construction_drifts_more_than_its_budget():
    n_actions, n_rounds, drift, variance = 2, 8000, 1.0, 64.0
    length = round((variance * n_rounds / (32 * n_actions * drift**2)) ** (1 / 3))
    sigma, gap = sqrt(variance / (4 * n_actions * n_rounds)), drift * length / n_rounds
    assert length == 20
    realised = drift_of(alternating_best(n_rounds, length, sigma, gap))
    assert realised == pytest.approx(drift + sigma - gap)
    assert realised > drift


def test_e8_solving_under_the_exact_budget_keeps_it_and_guarantees_more():
    n_actions, n_rounds, drift, variance = 2, 8000, 1.0, 64.0
    sigma = min(0.5, sqrt(variance / (n_actions * n_rounds)))
    gaps = {
        length: min((drift - sigma) / max(ceil(n_rounds / length) - 1, 1), sigma * sqrt(1 - exp(-1 / (4 * length))))
        for length in range(1, n_rounds)
    }
    length = max(gaps, key=gaps.get)
    assert drift_of(alternating_best(n_rounds, length, sigma, gaps[length])) <= drift + 1e-9
    assert n_actions * n_rounds * sigma**2 <= variance + 1e-9
    printed_gap = drift * 20 / n_rounds
    assert gaps[length] > 1.9 * printed_gap  # the guarantee is the gap times T (3/4 - 1/K)


def test_e8_with_a_drift_below_one_over_t_no_play_has_the_printed_regret():
    """No mean exceeds the drift, so even the play of the worst action in every round has regret V T < sqrt(V T)."""
    n_rounds = 1000
    for drift in (0.9 / n_rounds, 1e-2 / n_rounds, 1e-6 / n_rounds):
        means = np.zeros((n_rounds, 2))
        means[:, 0] = drift
        assert drift_of(means) == pytest.approx(drift)
        worst = (means.max(axis=1) - means.min(axis=1)).sum()
        assert worst == pytest.approx(drift * n_rounds)
        assert worst < sqrt(drift * n_rounds)
    assert worst < 0.002 * sqrt(drift * n_rounds)  # less than any multiple, for a drift that is small enough


def test_e8_with_little_drift_the_printed_bandit_bound_exceeds_any_multiple_of_an_upper_bound():
    """Without noise, losses are at most V; divided by V they have drift 1, and Theorem 3.1 bounds their regret."""
    ratios = []
    for n_rounds in (10**8, 10**16, 10**24, 10**32):
        drift = n_rounds**-0.5
        divided = measures(2, n_rounds, 1.0, 0.0, segments=n_rounds)
        block, failure = tuning.rerun_ucbv_restart_every(divided), tuning.ucbv_failure(divided)
        upper = drift * expected.rerun_ucbv(divided, block, failure)
        ours = lower.bandit_drifting(measures(2, n_rounds, drift, 0.0, segments=n_rounds))
        assert ours == pytest.approx(drift * sqrt(n_rounds) / 8, rel=1e-3)
        assert ours <= upper
        ratios.append(sqrt(drift * n_rounds) / upper)
    assert (np.diff(ratios) > 0).all()
    assert ratios[-1] > 1000


# E9, Theorem 4.2 (full-low): a distribution of variance 1


def test_e9_losses_in_the_unit_interval_have_variance_at_most_a_quarter():
    rng = np.random.default_rng(9)
    for _ in range(200):
        values, chances = rng.random(5), rng.dirichlet(np.full(5, 0.3))
        assert chances @ values**2 - (chances @ values) ** 2 <= 0.25
    assert 0.5 * 1.0**2 - 0.5**2 == 0.25  # a fair coin: so K actions reach K/4, below 1 for K < 4


@pytest.mark.parametrize(("n_actions", "segments", "variance"), [(2, 4, 50.0), (3, 7, 100.0), (10, 2, 33.0)])
def test_e9_the_noisy_rounds_we_allow_use_up_the_variance_and_no_more(n_actions, segments, variance):
    noisy_rounds = int(4 * variance / (n_actions * segments))
    used = segments * noisy_rounds * n_actions / 4
    assert used <= variance < used + segments * n_actions / 4


# E10, Algorithm 4: the logarithm


@pytest.mark.interpreted
def test_e10_algorithm_4_runs_algorithm_3_on_kt_experts_so_its_rates_hold_ln_kt():
    losses = make_path("coin", 60, 2, seed=10)
    played = run(SleepingOptimisticAdaptMLProd(n_rounds=60), losses)
    literal = sleeping.sleeping_optimistic_adapt_ml_prod(losses, 60)
    printed = sleeping.with_rates_of(losses, 60, np.full(60, log(2)), 1 / 120)
    np.testing.assert_allclose(played, literal, rtol=0.0, atol=1e-9)
    assert np.abs(played - printed).max() > 0.01


def test_e10_tuning_gives_algorithm_4_the_number_of_rounds():
    assert SleepingOptimisticAdaptMLProd.tuned(measures(2, 500, 1.0, 1.0)).n_rounds == 500


# E11: an infinite rate


def test_e11_ties_leave_the_printed_step_undefined_and_the_limit_of_large_rates_defines_it():
    x, losses = np.array([0.6, 0.3, 0.1]), np.array([0.25, 0.25, 0.75])
    assert losses @ [1.0, 0.0, 0.0] == losses @ [0.0, 1.0, 0.0] == losses.min()  # both minimise
    limit = gd.prox(x, losses, inf)
    np.testing.assert_allclose(limit, [0.65, 0.35, 0.0], atol=1e-15)  # Proj(0.6, 0.3)
    np.testing.assert_allclose(gd.prox(x, losses, 1e6), limit, atol=1e-9)


@pytest.mark.interpreted
@pytest.mark.parametrize("family", ["tied", "repeated", "equal", "coin"])
def test_e11_the_learner_with_an_infinite_rate_is_the_limit_of_large_rates(family):
    losses = make_path(family, 30, 4, seed=11)
    np.testing.assert_allclose(run(OptimisticGD(inf), losses), run(OptimisticGD(1e6), losses), atol=1e-9)


# E12, eq. (2): the length of a block


def test_e12_no_drift_means_one_block_even_without_noise():
    assert RerunUCBV.tuned(measures(3, 500, drift=0.0, variance=0.0)).restart_every == 500
    assert RerunUCBV.tuned(measures(3, 500, drift=0.0, variance=9.0)).restart_every == 500
    assert RestartedAdaptiveGD.tuned(measures(3, 500, drift=0.0, variance=0.0)).restart_every == 500


def test_e12_a_block_is_never_longer_than_the_run():
    assert RerunUCBV.tuned(measures(3, 500, drift=1e-3, variance=0.0)).restart_every == 500
    assert RerunUCBV.tuned(measures(3, 500, drift=1e-3, variance=100.0)).restart_every == 500
    assert RestartedAdaptiveGD.tuned(measures(3, 500, drift=1e-3, variance=100.0)).restart_every == 500


def test_e12_blocks_are_rounded_up():
    assert RerunUCBV.tuned(measures(2, 1000, drift=3.0, variance=0.0)).restart_every == ceil(sqrt(2000 / 3))
    environment = measures(2, 1000, drift=3.0, variance=100.0)
    assert RerunUCBV.tuned(environment).restart_every == ceil((4 * 100 * 1000 / 9) ** (1 / 3))
    assert RestartedAdaptiveGD.tuned(measures(2, 1000, drift=3.0, variance=0.0)).restart_every == 1


def test_e12_the_branches_of_the_block_length_meet_where_both_are_t_over_lambda():
    n_actions, n_rounds, variance = 4, 10_000, 130.0
    drift = n_actions * variance**2 / n_rounds
    for nudge in (1 - 1e-9, 1 + 1e-9):
        block = RerunUCBV.tuned(measures(n_actions, n_rounds, drift * nudge, variance)).restart_every
        assert block == ceil(n_rounds / variance)


def test_e12_as_printed_there_is_no_block_without_drift_and_one_too_long_with_little():
    with pytest.raises(ZeroDivisionError):
        paper.rerun_ucbv_restart_every(measures(3, 500, drift=0.0, variance=0.0))
    with pytest.raises(ZeroDivisionError):
        paper.restarted_gd_restart_every(measures(3, 500, drift=0.0, variance=9.0))
    assert paper.rerun_ucbv_restart_every(measures(3, 500, drift=1e-3, variance=0.0)) > 500
    assert paper.restarted_gd_restart_every(measures(3, 500, drift=1e-3, variance=100.0)) > 500
    for known in (measures(2, 1000, drift=3.0, variance=0.0), measures(2, 1000, drift=3.0, variance=100.0)):
        assert tuning.rerun_ucbv_restart_every(known) == ceil(paper.rerun_ucbv_restart_every(known))
        assert tuning.restarted_gd_restart_every(known) == ceil(paper.restarted_gd_restart_every(known))


# E13, Algorithm 3: one action, and weights that underflow


@pytest.mark.interpreted
def test_e13_a_single_action_has_weight_one():
    assert log(1) == 0.0  # the printed rate is sqrt(ln K / (1 + 0)) = 0, and the play 0/0
    for learner in (OptimisticAdaptMLProd(), OptimisticAdaptMLProd("outside"), SleepingOptimisticAdaptMLProd()):
        np.testing.assert_array_equal(run(learner, make_path("uniform", 9, 1, seed=13)), 1.0)


def test_e13_the_printed_weights_freeze_above_their_value_and_come_back_too_early():
    """After 4,000 rounds the weight is e^-1000; doubles stop at 5e-324 = e^-744 and recover 1,000 rounds early."""
    losses = np.repeat([[1.0, 0.0], [0.0, 1.0]], [4000, 4200], axis=0)
    printed = prod.optimistic_adapt_ml_prod(losses)[:, 0]
    ours = run(OptimisticAdaptMLProd(), losses)[:, 0]
    back = [4000 + np.flatnonzero(weights[4000:] > 0.5)[0] for weights in (printed, ours)]
    assert back[0] < 7100
    assert back[1] == pytest.approx(8000, abs=20)  # the gaps cancel after as many rounds as they lasted


# E14, Lemma B.1 (reg_int): K sqrt(Lambda) is loose


def test_e14_the_root_of_k_is_enough():
    rng = np.random.default_rng(14)
    for _ in range(100):
        variances = rng.exponential(size=rng.integers(1, 20))
        n_actions, total = len(variances), variances.sum()
        assert np.sqrt(variances).sum() <= sqrt(n_actions * total) + 1e-12
        assert sqrt(n_actions * total) <= n_actions * sqrt(total) + 1e-12


def test_e14_the_sharp_block_is_shorter_and_its_bound_smaller():
    n_actions, n_rounds, drift, variance = 8, 20_000, 2.0, 5000.0
    environment = measures(n_actions, n_rounds, drift, variance)
    sharp = RerunUCBV.tuned(environment, rule="sharp").restart_every
    printed = RerunUCBV.tuned(environment).restart_every
    assert sharp == ceil((n_actions * variance * n_rounds / drift**2) ** (1 / 3))
    assert printed == ceil((n_actions**2 * variance * n_rounds / drift**2) ** (1 / 3))

    def order(block):  # sqrt(K Lambda T / B) + K T / B + B V, the corrected sum over the blocks
        blocks = n_rounds / block
        return sqrt(n_actions * variance * blocks) + n_actions * blocks + block * drift

    assert order(sharp) < order(printed)


def test_e14_the_sharp_block_without_noise_is_the_printed_one():
    environment = measures(8, 20_000, 2.0, 100.0)
    assert RerunUCBV.tuned(environment, rule="sharp").restart_every == ceil(sqrt(8 * 20_000 / 2.0))


# E15: misprints


def test_e15_the_drifting_upper_bound_is_that_of_theorem_full_info_given_v():
    """Section 4 cites Theorem 3.2 (dev); the tuning for drift is B = (Lambda T / V^2)^(1/3) of the other theorem."""
    learner = RestartedAdaptiveGD.tuned(measures(4, 5000, drift=2.0, variance=300.0))
    assert learner.restart_every == ceil((300.0 * 5000 / 2.0**2) ** (1 / 3))


def test_e15_the_lemma_is_about_the_regret_of_as_many_rounds_as_it_sums():
    """It prints R_{t,k} beside sums up to T; with both at t it holds for every t."""
    losses = make_path("switching", 200, 3, seed=15)
    regrets, estimates = regrets_and_estimates(run(OptimisticAdaptMLProd(), losses), losses)
    whole = pathwise.adapt_ml_prod(regrets, estimates)
    for t in (1, 10, 200):
        part = pathwise.adapt_ml_prod(regrets[:t], estimates[:t])
        np.testing.assert_array_equal(part[-1], whole[t - 1])
        assert (regrets[:t].sum(axis=0) <= part[-1]).all()


# E16, Table 1: the number of actions


def best_fixed_share(known, segments):
    """Return the bound of Fixed Share against so many segments, with its best rates."""
    known = measures(known.n_actions, known.n_rounds, known.drift, known.variance, segments)
    rate, switch_rate = fixed_share_bounds.rates(known)
    length = fixed_share_bounds.code_length(known.n_actions, known.n_rounds, segments - 1, switch_rate)
    return length / rate + rate * known.n_rounds / 8


def test_e16_with_many_noisy_actions_the_printed_lower_bounds_exceed_any_multiple_of_an_upper_bound():
    """K coins have a variance of K T / 4, but no learner needs more regret than sqrt(Gamma T ln(K T))."""
    n_rounds, segments, drift = 10**6, 10, 10.0
    switching, drifting = [], []
    for n_actions in (2, 2**8, 2**14, 2**20):
        known = measures(n_actions, n_rounds, drift, n_actions * n_rounds / 4, segments)
        upper = best_fixed_share(known, segments)
        switching.append(sqrt(segments * known.variance) / upper)
        assert lower.full_switching(known) <= upper
        upper = expected.drifting(lambda n, known=known: best_fixed_share(known, n), known)
        drifting.append((known.variance * drift * n_rounds) ** (1 / 3) / upper)
        assert lower.full_drifting(known) <= upper
    assert switching[0] < 1
    assert (np.diff(switching) > 0).all()
    assert switching[-1] > 100
    assert (np.diff(drifting) > 0).all()
    assert drifting[-1] > 10 * drifting[0]


def test_e16_more_variance_than_rounds_does_not_fit_into_the_proof_of_theorem_full_low():
    """Variance 1 in each of the first Lambda / Gamma rounds of an interval of T / Gamma needs Lambda <= T."""
    n_actions, n_rounds, segments = 20, 1000, 10
    most = n_actions * n_rounds / 4
    assert most / segments > n_rounds / segments
    coins = lower.biased_coins_switching(measures(n_actions, n_rounds, 1.0, most, segments))
    assert coins.length == n_rounds // segments
    with_four = lower.biased_coins_switching(measures(4, n_rounds, 1.0, n_rounds, segments))
    assert with_four.length == n_rounds // segments  # four coins have the variance 1 that the proof needs


def test_e16_the_upper_bounds_of_table_1_hide_the_root_of_k():
    few, many = (measures(n_actions, 10**9, 5.0, 0.0, 5) for n_actions in (4, 400))
    bounds = [expected.optimistic_gd(known, tuning.gd_rate(known)) for known in (few, many)]
    assert bounds[1] / bounds[0] == pytest.approx(10, rel=0.2)


# E17, Table 1: the upper bound for bandit feedback and switching means


def test_e17_the_bound_of_table_1_for_switching_bandits_has_no_gaps_in_it():
    """sqrt(Gamma T) ln T / gap^2 plays exceed T where gaps are T^(-1/4), at which the bound of EXP3.S is below T."""
    n_actions, segments = 2, 8
    cell = table_one.TABLE["bandit", "switching"].garivier_moulines.upper
    assert "EXP3.S" in cell.source
    for n_rounds in (10**4, 10**6, 10**8):
        gap = n_rounds**-0.25
        assert sqrt(segments * n_rounds) * log(n_rounds) / gap**2 > n_rounds
        known = measures(n_actions, n_rounds, float(segments), n_actions * n_rounds / 4, segments)
        own = 2 * sqrt(e - 1) * sqrt(n_actions * n_rounds * (segments * log(n_actions * n_rounds) + e))
        assert cell.bound(known) <= own + 1e-6
        assert lower.bandit_switching(known) <= cell.bound(known)
        if n_rounds > 10**4:
            assert cell.bound(known) < n_rounds
