"""The theorems' bounds and tuning rules: values worked by hand, properties, and measured regret below the bounds."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from driftwise import (
    Bernoulli,
    Environment,
    Measures,
    OptimisticAdaptMLProd,
    OptimisticGD,
    RerunUCBV,
    RestartedAdaptiveGD,
    Sinusoidal,
    SleepingOptimisticAdaptMLProd,
    Switching,
    TwoPoint,
    simulate,
)
from driftwise.core.errors import InvalidInput, TuningWarning
from driftwise.core.measures import collected
from driftwise.environments import Beta, Constant, Segments
from driftwise.learners import Learner, learners
from driftwise.theory import expected, pathwise_meta, printed, tuning

FIXED = settings(derandomize=True, database=None, deadline=None, max_examples=200)
BOUNDS = {
    "optimistic_gd": lambda m: expected.optimistic_gd(m, 0.3),
    "restarted_adaptive_gd": lambda m: expected.restarted_adaptive_gd(m, 50),
    "adapt_ml_prod": lambda m: expected.adapt_ml_prod(m),
    "sleeping, given rounds": lambda m: expected.sleeping_adapt_ml_prod(m, m.n_rounds),
    "sleeping, flat": lambda m: expected.sleeping_adapt_ml_prod(m, None),
    "rerun_ucbv": lambda m: expected.rerun_ucbv(m, 1000, 1e-9),
}
every_bound = pytest.mark.parametrize("bound", BOUNDS.values(), ids=BOUNDS)
shares = st.integers(0, 1000).map(lambda n: n / 1000)


@st.composite
def possible_measures(draw, most_rounds=100_000):
    """Draw measures that some path could have: T, Gamma <= T, V, Lambda, and squares that fit them."""
    n_actions, n_rounds = draw(st.integers(1, 50)), draw(st.integers(1, most_rounds))
    segments = draw(st.integers(1, n_rounds))
    first, within = draw(shares), draw(shares) * (segments - 1)  # each change moves by at most 1
    return Measures(
        n_actions=n_actions,
        n_rounds=n_rounds,
        segments=segments,
        drift=first + within,
        variance=draw(shares) * n_actions * n_rounds / 4,  # a loss in [0, 1] has variance 1/4 at most
        drift_within=within,
        squared_drift=draw(shares) * n_actions * (first + within),
    )


def measures(n_actions=2, n_rounds=1000, segments=1, drift=0.0, variance=0.0, **rest):
    return Measures(n_actions, n_rounds, segments, drift, variance, **rest)


# The deviation of the losses


def test_the_expected_deviation_is_twice_the_variance_and_the_squared_moves():
    """E D = 2 Lambda - sigma_T^2 + sum |dmu|^2 exactly; the bounds leave out the last variance."""
    path = Segments(means=((0.2, 0.5, 0.7), (0.8, 0.5, 0.3), (0.4, 0.4, 0.9)), change_points=(4, 7))
    environment, n_rounds, n_runs = Environment(path, Beta(0.3)), 12, 2000
    runs = [environment.start(n_rounds, seed).draw(n_rounds) for seed in range(n_runs)]
    deviations = [(np.diff(run.losses, axis=0, prepend=np.zeros((1, 3))) ** 2).sum() for run in runs]
    known = environment.measures(n_rounds)
    exact = expected.deviation(known) - runs[0].variances[-1].sum()
    assert exact == pytest.approx(2 * known.variance - runs[0].variances[-1].sum() + known.squared_drift)
    assert np.mean(deviations) == pytest.approx(exact, abs=4 * np.std(deviations) / math.sqrt(n_runs))
    assert known.squared_drift == pytest.approx(0.04 + 0.25 + 0.49 + 0.36 + 0.16 + 0.16 + 0.01 + 0.36)


# Bounds: values worked by hand


def test_theorem_dev_worked_by_hand():
    # (0.5 / 4) (2 x 10 + 2) + (1 - 1/4 + 2 x 2) / 0.5; the drifting form is worse here
    known = measures(4, 10**6, 3, 2.0, 10.0, squared_drift=2.0)
    assert expected.optimistic_gd(known, 0.5) == pytest.approx(2.75 + 9.5)
    assert expected.optimistic_gd(known, 0.25, prox_scale=0.5) == pytest.approx(2.75 + 9.5)


@pytest.mark.parametrize("drift", [0.01, 0.5, 5.0])
def test_the_drifting_form_of_theorem_dev_is_nearly_the_best_number_of_blocks(drift):
    n_rounds, rate = 2000, 0.4
    known = measures(5, n_rounds, n_rounds, drift, 3.0, squared_drift=0.1)

    def with_blocks(n):
        noise = rate / 4 * (2 * 3.0 + 0.1)
        return noise + (1 - 1 / 5 + 2 * (n - 1)) / rate + 2 * math.ceil(n_rounds / n) * drift

    best = min(map(with_blocks, range(1, n_rounds + 1)))
    assert best <= expected.optimistic_gd(known, rate) <= 1.05 * best


def test_theorem_full_info_given_v_worked_by_hand():
    known = measures(4, 1000, 2, 1.0, 8.0, drift_within=0.25)
    # M = 100 blocks of 10 rounds: 8.25 (sqrt(2 x 100 x 8) + sqrt(4) x 1) + 2 x 10 x 0.25
    assert expected.restarted_adaptive_gd(known, 10) == pytest.approx(8.25 * (40 + 2) + 5)
    # M = ceil(1000 / 300) = 4, all blocks at once: E D <= 2 x 8 + 4 x 1
    assert expected.restarted_adaptive_gd(known, 300) == pytest.approx(8.25 * math.sqrt(4 * 20) + 150)
    assert expected.restarted_adaptive_gd(known, None) == expected.restarted_adaptive_gd(known, 1000)
    assert expected.restarted_adaptive_gd(known, 5000) == expected.restarted_adaptive_gd(known, 1000)


def test_theorem_rtk_bound_worked_by_hand():
    g, price = math.log(3), math.log(1 + 3 / math.e * (1 + math.log(501)))
    by_hand = (2 * g + price) * math.sqrt((1 + 2 * (2 * 4 + 0.5)) / g) + 4 * g + 4 * price + 1
    assert expected.adapt_ml_prod(measures(3, 500, 1, 0.5, 4.0, squared_drift=0.5)) == pytest.approx(by_hand)


def test_theorem_dynamic_upper_full_info_worked_by_hand():
    known = measures(3, 10_000, 2, 1.0, 4.0, squared_drift=0.5)
    growth, root = (1 + math.log(10_001)) / math.e, math.sqrt(2 * (2 + 2 * (2 * 4 + 0.5)))
    g, price = math.log(30_000), math.log(1 + 30_000 * growth)
    given_rounds = 2 * (4 * g + 4 * price + 1) + (2 * g + price) / math.sqrt(g) * root
    assert expected.sleeping_adapt_ml_prod(known, 10_000) == pytest.approx(given_rounds)
    price = math.log(30_000 * (1 + growth))
    slope = 2 * math.sqrt(math.log(3 * 10_001)) + price / math.sqrt(math.log(6))
    assert expected.sleeping_adapt_ml_prod(known, None) == pytest.approx(2 * (4 * price + 1) + slope * root)


def test_the_bound_of_algorithm_4_counts_every_row_that_starts_after_its_n_rounds():
    """Each brings the weight 1/20, so that 10^7 rows start with 500,000 in the place of 1."""
    known, growth = measures(3, 10**7, 2, 1.0, 4.0, squared_drift=0.5), (1 + math.log(10**7 + 1)) / math.e
    g, price = math.log(60), math.log(500_000 + 3e7 * growth)
    by_hand = 2 * (4 * g + 4 * price + 1) + (2 * g + price) * math.sqrt(2 * (2 + 2 * 8.5) / g)
    assert expected.sleeping_adapt_ml_prod_against(known, 20, 2) == pytest.approx(by_hand, rel=1e-9)


def test_lemmas_dev_and_ml_dev_hold_for_any_number_of_segments():
    known = measures(4, 10**6, 3, 2.0, 10.0, squared_drift=2.0)
    # (0.5 / 4) (2 x 10 + 2) + (1 - 1/4 + 2 x 9) / 0.5
    assert expected.optimistic_gd_against(known, 0.5, 10) == pytest.approx(2.75 + 37.5)
    g, price = math.log(4e6), math.log(1 + 4e6 / math.e * (1 + math.log(1e6 + 1)))
    by_hand = 10 * (4 * g + 4 * price + 1) + (2 * g + price) * math.sqrt(10 * (10 + 2 * 22) / g)
    assert expected.sleeping_adapt_ml_prod_against(known, 10**6, 10) == pytest.approx(by_hand)
    assert expected.sleeping_adapt_ml_prod_against(measures(1), None, 5) == 0


def test_theorem_bandit_u_worked_by_hand():
    # Ten blocks of 10^6 rounds; delta = 2 e^-20, so that L = 20.
    K, B, L, failure, harmonic = 2, 10**6, 20, 2 * math.exp(-20), 1 + math.log(10**6)
    known = measures(K, 10 * B, 5, 0.6, 1000.0, drift_within=0.1)
    each = 2 * K + 14 / 3 * L * K * harmonic + 1.5 * K * B**2 * failure
    noise, moved = 4 * math.sqrt(L * K * 10 * 1000) * harmonic, 8 * 0.1 * math.sqrt(L * K * B)
    assert expected.rerun_ucbv(known, B, failure) == pytest.approx(10 * each + noise + moved + 2 * B * 0.1)
    doubled = expected.rerun_ucbv(known, B, failure, double_variance=True)
    assert doubled == pytest.approx(10 * each + math.sqrt(2) * (noise + moved) + 2 * B * 0.1)
    # Radii with 2 L in the place of L are wider, and fail no more often.
    more = 14 / 3 * L * K * harmonic
    wider = expected.rerun_ucbv(known, B, failure, log_scale=2.0)
    assert wider == pytest.approx(10 * (each + more) + math.sqrt(2) * (noise + moved) + 2 * B * 0.1)


def test_there_is_no_bound_outside_the_conditions_of_a_theorem():
    assert expected.rerun_ucbv(measures(), 10, 0.1, log_scale=0.5) is None  # radii narrower than its proof needs
    changed = measures(segments=2, drift=1.0)
    assert OptimisticAdaptMLProd().bound(changed) is None  # it is about one fixed action
    assert OptimisticAdaptMLProd().static_bound(changed) == expected.adapt_ml_prod(changed)
    assert OptimisticAdaptMLProd(prior="outside").bound(measures()) is None
    assert OptimisticAdaptMLProd(prior="outside").static_bound(measures()) is None


# Bounds: properties


@every_bound
@FIXED
@given(known=possible_measures())
def test_a_bound_is_between_zero_and_the_rounds(bound, known):
    value = bound(known)
    assert value is None or 0 <= value <= known.n_rounds


@every_bound
@FIXED
@given(known=possible_measures(most_rounds=2000), more=shares)
def test_a_bound_never_falls_when_a_measure_grows(bound, known, more):
    values = [known.segments, known.drift, known.variance, known.drift_within, known.squared_drift]
    harder = [
        [values[0] + int(more * (known.n_rounds - values[0])), *values[1:]],
        [values[0], values[1] + more, values[2], values[3] + more, values[4]],
        [*values[:2], values[2] + 10 * more, *values[3:]],
        [*values[:4], values[4] + more],
    ]
    before = bound(known)
    for changed in harder:
        after = bound(Measures(known.n_actions, known.n_rounds, *changed))
        if before is not None and after is not None:
            assert after >= before * (1 - 1e-12)


@every_bound
@pytest.mark.parametrize("n_rounds", [1, 2, 1000])
@pytest.mark.parametrize("n_actions", [1, 2, 100])
def test_an_environment_without_noise_and_movement_has_bounds_too(bound, n_actions, n_rounds):
    value = bound(measures(n_actions, n_rounds))
    assert 0 <= value <= n_rounds


def test_one_action_has_no_regret():
    known = measures(n_actions=1, n_rounds=50, drift=1.0, variance=10.0)
    assert expected.adapt_ml_prod(known) == 0
    assert expected.sleeping_adapt_ml_prod(known, 50) == 0
    assert expected.sleeping_adapt_ml_prod(known, None) == 0


def test_an_infinite_rate_has_bound_zero_on_constant_losses():
    assert expected.optimistic_gd(measures(n_actions=7), math.inf) == 0
    assert expected.optimistic_gd(measures(n_actions=7), 2.0) == pytest.approx((1 - 1 / 7) / 2)
    assert expected.optimistic_gd(measures(variance=1.0), math.inf) == 1000
    assert expected.restarted_adaptive_gd(measures(), None) == 0


@FIXED
@given(possible_measures())
def test_the_paper_s_rate_has_the_paper_s_order_with_constant_five_halves(known):
    """(eta/4) E D <= sqrt(Gamma (Lambda + K Gamma)) / 2 and the rest is at most 2 Gamma / eta."""
    gamma, variance = known.segments, known.variance
    most = 2.5 * math.sqrt(gamma * (variance + known.n_actions * gamma))
    # squared_drift <= K V <= K Gamma, as V <= Gamma when every jump is at most 1
    assert expected.optimistic_gd(known, tuning.gd_rate(known)) <= most * (1 + 1e-12)


# Tuning


@pytest.mark.parametrize(
    ("known", "rule", "block"),
    [
        (measures(2, 1000, 5, 2.0, 50.0), "paper", 37),  # (4 x 50 x 1000 / 4)^(1/3) = 36.8
        (measures(2, 1000, 5, 8.0, 10.0), "paper", 16),  # sqrt(2 x 1000 / 8) = 15.8
        (measures(2, 1000, 5, 2.0, 100.0), "sharp", 37),  # (2 x 100 x 1000 / 4)^(1/3) = 36.8
        (measures(2, 1000, 5, 2.0, 50.0), "sharp", 32),  # sqrt(2 x 1000 / 2) = 31.6
        (measures(2, 1000), "paper", 1000),  # V = 0: never again
        (measures(2, 1000, 5, 0.0, 50.0), "sharp", 1000),
        (measures(2, 1000, 2, 1e-9, 1.0), "paper", 1000),  # more than there are rounds
        (measures(2, 1, 1, 1.0, 0.0), "paper", 1),
    ],
)
def test_the_block_of_rerun_ucbv_is_that_of_equation_2(known, rule, block):
    assert tuning.rerun_ucbv_restart_every(known, rule) == block
    assert RerunUCBV.tuned(known, rule=rule).restart_every == block


@pytest.mark.parametrize(
    ("rule", "variance"), [("paper", lambda K, T, V: (T * V / K) ** 0.5), ("sharp", lambda K, T, V: (K * T * V) ** 0.5)]
)
def test_the_two_branches_of_equation_2_meet(rule, variance):
    K, T, V = 3, 7000, 2.5
    border = variance(K, T, V)
    sides = [tuning.rerun_ucbv_restart_every(measures(K, T, 5, V, border * (1 + side)), rule) for side in (-1e-9, 1e-9)]
    assert sides[0] == sides[1] == math.ceil(math.sqrt(K * T / V))


@pytest.mark.parametrize(
    ("known", "block"),
    [
        (measures(3, 1000, 9, 5.0, 50.0), 13),  # (50 x 1000 / 25)^(1/3) = 12.6
        (measures(3, 1000, 900, 300.0, 50.0), 1),  # Lambda T <= V^2
        (measures(3, 1000, 9, 5.0, 0.0), 1),
        (measures(3, 1000, 1, 0.0, 50.0), 1000),
        (measures(3, 1000, 2, 1e-6, 50.0), 1000),
    ],
)
def test_the_block_of_restarted_gd_is_that_of_its_theorem(known, block):
    assert tuning.restarted_gd_restart_every(known) == block
    assert RestartedAdaptiveGD.tuned(known).restart_every == block


def test_the_sharp_block_of_restarted_gd_minimises_its_bound():
    known = measures(3, 10**6, 10**6, 5.0, 300.0, drift_within=4.0)
    sharp = tuning.restarted_gd_restart_every(known, "sharp")
    assert sharp == math.ceil((8.25**2 * 300 * 10**6 / (8 * 4.0**2)) ** (1 / 3))
    assert RestartedAdaptiveGD.tuned(known, rule="sharp").restart_every == sharp
    bounds = {block: expected.restarted_adaptive_gd(known, block) for block in range(50, 2000)}
    assert bounds[sharp] <= 1.002 * min(bounds.values())  # up to the rounding of the number of blocks
    assert bounds[sharp] < 0.95 * bounds[tuning.restarted_gd_restart_every(known)]
    assert tuning.restarted_gd_restart_every(measures(3, 1000, 9, 5.0, 0.0), "sharp") == 1
    assert (
        tuning.restarted_gd_restart_every(measures(3, 1000, 1, 5.0, 50.0), "sharp") == 1000
    )  # a first jump needs no restart


@pytest.mark.parametrize(
    ("known", "segments"),
    [
        (measures(3, 1000, 9, 2.0, 100.0), (4e6 / (100 * math.log(3))) ** (1 / 3)),  # Lambda^2 > V T ln 3
        (measures(3, 1000, 9, 2.0, 10.0), math.sqrt(2000 / math.log(3))),
        (measures(20, 1000, 9, 2.0, 60.0), math.sqrt(2000 / math.log(20))),  # V T < Lambda^2 < V T ln 20
        (measures(1, 10, 5, 5.0, 0.0), math.sqrt(50 / math.log(2))),  # one action counts as two
    ],
)
def test_the_number_of_blocks_in_theorem_dynamic_upper_full_info(known, segments):
    assert printed.sleeping_segments(known) == pytest.approx(segments)


@FIXED
@given(possible_measures(most_rounds=5000))
def test_the_corrected_bound_of_algorithm_4_is_no_worse_than_with_the_paper_s_number_of_blocks(known):
    blocks = 1 if known.drift == 0 else min(known.n_rounds, math.ceil(printed.sleeping_segments(known)))
    moved = 2 * math.ceil(known.n_rounds / blocks) * known.drift_within
    with_blocks = expected.sleeping_adapt_ml_prod_against(known, known.n_rounds, blocks) + moved
    assert expected.sleeping_adapt_ml_prod(known, known.n_rounds) <= 1.15 * with_blocks


def test_the_scale_of_aomd_minimises_its_bound():
    known = measures(segments=7)
    at_best, *others = [
        pathwise_meta.aomd_coarse(9.0, factor * tuning.aomd_scale(known), 7) for factor in (1.0, 0.9, 1.1, 0.5, 2.0)
    ]
    assert at_best < min(others)


@FIXED
@given(possible_measures())
def test_blocks_are_whole_and_fit_the_rounds(known):
    rules = (tuning.rerun_ucbv_restart_every, tuning.restarted_gd_restart_every)
    for block in [block(known, rule) for block in rules for rule in ("paper", "sharp")]:
        assert isinstance(block, int)
        assert 1 <= block <= known.n_rounds


def test_the_rate_of_optimistic_gd_is_that_of_its_theorems():
    known = measures(10, 5000, 4, 2.0, 60.0, squared_drift=8.0)
    assert tuning.gd_rate(known) == pytest.approx(0.2)  # sqrt(4 / (60 + 10 x 4))
    assert tuning.gd_rate(known, 5) == pytest.approx(0.25)  # sqrt(5 / (60 + 10 x 2))
    assert tuning.gd_rate(known, rule="sharp") == pytest.approx(0.5)  # sqrt(8 x 4 / (2 x 60 + 8))
    assert tuning.gd_rate(known, 1, rule="sharp") == pytest.approx(0.25)  # sqrt(8 / 128)
    assert tuning.gd_rate(measures(), 3) == math.inf
    assert OptimisticGD.tuned(known, comparator_segments=5).learning_rate == pytest.approx(0.25)
    assert OptimisticGD.tuned(known, rule="sharp").learning_rate == pytest.approx(0.5)


@pytest.mark.parametrize("segments", [1, 2, 8, 50])
def test_the_sharp_rate_minimises_the_corrected_bound(segments):
    """It minimises (eta/4) E D + 2 N / eta, the corrected bound with 2 N for 1 - 1/K + 2 (N - 1)."""
    known = measures(6, 10**9, segments, 1.0, 40.0, squared_drift=3.0)
    sharp = tuning.gd_rate(known, rule="sharp")
    rates = sharp * np.geomspace(1e-1, 1e1, 401)
    rounded = [rate / 4 * 83 + 2 * segments / rate for rate in rates]
    assert rates[np.argmin(rounded)] == pytest.approx(sharp, rel=1e-9)
    # With b in place of b' = 2 N, the value at sqrt(b'/a) exceeds the least by (b + b') / (2 sqrt(b b')).
    exact, used = 1 - 1 / 6 + 2 * (segments - 1), 2 * segments
    least = min(expected.optimistic_gd(known, rate) for rate in rates)
    excess = (exact + used) / (2 * math.sqrt(exact * used))
    assert expected.optimistic_gd(known, sharp) == pytest.approx(excess * least, rel=1e-4)


@FIXED
@given(possible_measures(), st.sampled_from([0.5, 0.9, 1.1, 2.0]))
def test_no_other_rate_beats_the_sharp_one_by_more_than_its_rounding(known, factor):
    sharp = tuning.gd_rate(known, rule="sharp")
    assume(known.n_actions > 1 and math.isfinite(sharp))
    exact, used = 1 - 1 / known.n_actions + 2 * (known.segments - 1), 2 * known.segments

    def against(rate):
        return rate / 4 * expected.deviation(known) + exact / rate

    slack = (exact + used) / (2 * math.sqrt(exact * used))
    assert against(sharp) <= slack * against(factor * sharp) * (1 + 1e-12)


def test_the_failure_probability_of_ucbv():
    known = measures(5, 200)
    assert tuning.ucbv_failure(known) == 1 / 1000
    assert tuning.ucbv_failure(known, "rigorous") == 1 / (3 * 5 * 200**2)
    assert tuning.ucbv_failure(measures(1, 1)) == 0.5  # 1 would leave no radius
    assert RerunUCBV.tuned(known, failure="rigorous").failure_probability == 1 / 600_000


def test_algorithm_4_is_tuned_with_the_rounds():
    assert SleepingOptimisticAdaptMLProd.tuned(measures(n_rounds=321)).n_rounds == 321


def test_blocks_too_short_to_try_every_action_give_a_warning():
    known = measures(10, 100, 100, 90.0, 0.0)  # sqrt(10 x 100 / 90) = 3.3
    message = (
        r"RerunUCBV\.tuned: tuning says nothing here:"
        r" a drift of 90 in 100 rounds, its blocks of 4 rounds cannot try all 10 actions\."
    )
    with pytest.warns(TuningWarning, match=f"^{message}$"):
        RerunUCBV.tuned(known)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RerunUCBV.tuned(measures(10, 3, 3, 2.0, 0.0))  # three rounds are too few for any block length


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda m: OptimisticGD.tuned(m, rule="best"), "OptimisticGD: `rule` must be 'paper' or 'sharp', got 'best'."),
        (
            lambda m: OptimisticGD.tuned(m, comparator_segments=0),
            "OptimisticGD: `comparator_segments` must be a whole number >= 1, got 0.",
        ),
        (
            lambda m: RestartedAdaptiveGD.tuned(m, rule="best"),
            "RestartedAdaptiveGD: `rule` must be 'paper' or 'sharp', got 'best'.",
        ),
        (lambda m: RerunUCBV.tuned(m, rule="best"), "RerunUCBV: `rule` must be 'paper' or 'sharp', got 'best'."),
        (
            lambda m: RerunUCBV.tuned(m, failure="never"),
            "RerunUCBV: `failure` must be 'paper' or 'rigorous', got 'never'.",
        ),
        (
            OptimisticAdaptMLProd.tuned,
            "OptimisticAdaptMLProd: it has no rule for tuning; give its parameters.",
        ),
    ],
)
def test_an_unknown_rule_is_rejected(rule, message):
    with pytest.raises(InvalidInput) as raised:
        rule(measures())
    assert str(raised.value) == message


# Bounds above regret

ENVIRONMENTS = {
    "stationary": Environment(Constant((0.4, 0.6, 0.6)), Bernoulli()),
    "switching": Environment(Switching(n_segments=3, n_actions=3), TwoPoint().with_variance(2.0)),
    "drifting": Environment(Sinusoidal(3, n_periods=0.25, amplitude=0.1), TwoPoint().with_variance(2.0)),
}
PLAYERS = {
    "optimistic-gd": OptimisticGD.tuned,
    "restarted-adaptive-gd": RestartedAdaptiveGD.tuned,
    "optimistic-adapt-ml-prod": OptimisticAdaptMLProd(),
    "sleeping, given rounds": SleepingOptimisticAdaptMLProd.tuned,
    "sleeping, flat": SleepingOptimisticAdaptMLProd(),
    "rerun-ucbv": RerunUCBV.tuned,
}
NONTRIVIAL = {
    "stationary": {"optimistic-gd", "optimistic-adapt-ml-prod"},  # the others play elsewhere
    "switching": {"optimistic-gd", "restarted-adaptive-gd", "sleeping, given rounds", "sleeping, flat"},
    "drifting": {"optimistic-gd", "restarted-adaptive-gd", "sleeping, given rounds", "sleeping, flat"},
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_mean_regret_stays_below_every_learner_s_bound(name):
    """Over 200 runs and at every mark, the mean less three standard errors is below."""
    n_rounds, n_runs = 300, 200
    players = PLAYERS if name != "stationary" else {label: PLAYERS[label] for label in NONTRIVIAL[name]}
    results = simulate(ENVIRONMENTS[name], players, n_rounds, n_runs, seed=1)
    marks = np.searchsorted(results.rounds, results.bound_rounds)
    nontrivial = set()
    for i, label in enumerate(results.labels):
        curves = results.regrets[i][:, marks]
        least = curves.mean(axis=0) - 3 * curves.std(axis=0, ddof=1) / math.sqrt(n_runs)
        bounds = results.bounds[i].mean(axis=0)
        proved = np.isfinite(bounds)
        assert (least <= bounds)[proved].all(), label
        assert proved.all() or label == "optimistic-adapt-ml-prod"  # whose bound is against the best fixed action only
        if results.bound(label) < n_rounds:
            nontrivial.add(label)
    assert nontrivial == NONTRIVIAL[name]


EXPERTS_OF_ONE_ACTION = {
    *("ada-hedge", "ada-normal-hedge", "adapt-ml-prod", "boa", "hedge", "ml-poly", "optimistic-hedge", "squint"),
}
EVERYWHERE = {
    *("ada-normal-hedge-tv", "ader", "aomd", "exp3-s", "fixed-share", "online-gd", "optimistic-fixed-share"),
    *("optimistic-gd", "restarted-adaptive-gd", "rexp3", "sleeping-adapt-ml-prod"),
    *("sleeping-optimistic-adapt-ml-prod", "sword"),
    "tracker",
}
WITH_NONTRIVIAL_BOUND = {  # learners whose bound is not trivial there
    "stationary": EVERYWHERE | EXPERTS_OF_ONE_ACTION | {"exp3", "optimistic-adapt-ml-prod", "tsallis-inf", "ucb1"},
    "switching": EVERYWHERE,
}


def default_and_tuned(member, known):
    yield member()
    if member.tuned.__func__ is not Learner.tuned.__func__:
        with collected():  # M-UCB's window is longer than these runs
            tuned = member.tuned(known)
        yield tuned


def regret_of(learner, run, seed):
    """Return the dynamic pseudo-regret of one run."""
    played = learner.run(learner.start(run.means.shape[1], seed), run.losses)
    weights = np.eye(run.means.shape[1])[played] if played.ndim == 1 else played
    return (weights * run.means).sum() - np.min(run.means, axis=1).sum()


@pytest.mark.parametrize("name", ["stationary", "switching"])
def test_mean_regret_stays_below_the_bound_of_every_learner_of_the_registry(name):
    """With default parameters and, where there is a rule, tuned; 10 runs, three standard errors."""
    n_rounds, n_runs, environment = 600, 10, ENVIRONMENTS[name]
    known = environment.measures(n_rounds)
    runs = [environment.start(n_rounds, seed).draw(n_rounds) for seed in range(n_runs)]
    nontrivial = set()
    for member in map(learners.get, learners):
        for learner in default_and_tuned(member, known):
            bound = learner.bound(known)
            if bound is None or bound >= n_rounds:
                continue
            regrets = [regret_of(learner, run, seed) for seed, run in enumerate(runs)]
            assert np.mean(regrets) - 3 * np.std(regrets, ddof=1) / math.sqrt(n_runs) <= bound, learner
            nontrivial.add(member.name)
    assert nontrivial == WITH_NONTRIVIAL_BOUND[name]


@pytest.mark.parametrize(
    ("path", "restart_every"),
    [
        (Constant((0.4, 0.45)), None),
        (Segments(means=((0.4, 0.45), (0.45, 0.4))), 20_000),
        (Segments(means=((0.4, 0.45), (0.45, 0.4))), 12_000),  # the change falls within a block
    ],
)
def test_mean_regret_of_rerun_ucbv_stays_below_its_bound_in_runs_long_enough_for_it_to_be_below_t(path, restart_every):
    """In short runs the bound of Theorem 3.1 (bandit-u) is above T; ten runs."""
    n_rounds, n_runs, environment = 40_000, 10, Environment(path, TwoPoint(0.02))
    known = environment.measures(n_rounds)
    learner = RerunUCBV(restart_every, tuning.ucbv_failure(known, "rigorous"))
    regrets = [regret_of(learner, environment.start(n_rounds, seed).draw(n_rounds), seed) for seed in range(n_runs)]
    assert learner.bound(known) < 0.4 * n_rounds
    assert 0 < np.mean(regrets) - 3 * np.std(regrets, ddof=1) / math.sqrt(n_runs) <= learner.bound(known)


def test_the_corrected_theorem_dev_is_nearly_attained():
    """Slow switches without noise cost Algorithm 2 most of its bound: the constant cannot be much smaller."""
    environment = Environment(Segments(means=((0.0, 1.0), (1.0, 0.0)) * 4), TwoPoint(0.0))
    results = simulate(environment, OptimisticGD(0.02), n_rounds=8000, n_runs=1)
    assert 0.9 < results.regret(OptimisticGD(0.02)).mean / results.bound(OptimisticGD(0.02)) <= 1


@pytest.mark.parametrize("name", ["switching", "drifting"])
def test_mean_regret_against_any_number_of_segments_stays_below_lemmas_dev_and_ml_dev(name):
    """The comparator keeps the best action of each of N equal blocks; 100 runs, three standard errors."""
    n_rounds, n_runs, environment = 240, 100, ENVIRONMENTS[name]
    known = environment.measures(n_rounds)
    runs = [environment.start(n_rounds, seed).draw(n_rounds) for seed in range(n_runs)]
    for n_segments in (1, 2, 4, 12):
        rate = tuning.gd_rate(known, n_segments)
        pairs = [
            (OptimisticGD(rate), expected.optimistic_gd_against(known, rate, n_segments)),
            (
                SleepingOptimisticAdaptMLProd(n_rounds=n_rounds),
                expected.sleeping_adapt_ml_prod_against(known, n_rounds, n_segments),
            ),
            (SleepingOptimisticAdaptMLProd(), expected.sleeping_adapt_ml_prod_against(known, None, n_segments)),
        ]
        for learner, bound in pairs:
            regrets = []
            for run in runs:
                means = np.asarray(run.means)
                best = means.reshape(n_segments, -1, means.shape[1]).sum(axis=1).min(axis=1).sum()
                weights = learner.run(learner.start(means.shape[1], 0), run.losses)
                regrets.append((weights * means).sum() - best)
            assert np.mean(regrets) - 3 * np.std(regrets, ddof=1) / math.sqrt(n_runs) <= bound
        assert pairs[0][1] < n_rounds / 2  # the bound is not trivial
