"""Learners whose experts depend only on their own regrets: slow references, bounds on every path, numerics."""

import math
import re
from collections import Counter
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import special

from driftwise.checks import check_learner, checks_of
from driftwise.core.errors import InvalidInput
from driftwise.core.measures import Measures
from driftwise.learners import (
    BOA,
    AdaNormalHedge,
    AdaNormalHedgeTV,
    AdaptMLProd,
    MLPoly,
    SleepingAdaptMLProd,
    Squint,
)
from driftwise.learners.experts.squint import erfcx, log_integral
from driftwise.learners.shared.time_intervals import COVERS, TRACKING, last_round
from driftwise.theory import pathwise_experts as bounds, pathwise_prod
from paths import ADVERSARIES, FAMILIES, Case, cases, fixed_case, make_path, play
from references import second_order as slow

SHAPES = ((20, 1), (1, 4), (2, 2), (60, 2), (60, 5), (15, 50))  # rounds, actions
SHORT_SHAPES = ((20, 1), (1, 4), (2, 2), (70, 2), (30, 5), (4, 50))  # where every expert has a twin per round
FIXED = {
    "adapt-ml-prod": (AdaptMLProd(), slow.adapt_ml_prod),
    "ada-normal-hedge": (AdaNormalHedge(), slow.ada_normal_hedge),
    "boa": (BOA(), slow.boa),
    "ml-poly": (MLPoly(), slow.ml_poly),
    "squint": (Squint(), slow.squint),
}
SLEEPING = {
    **{
        f"prod-{cover}-{prior_rounds}": (
            SleepingAdaptMLProd(cover, prior_rounds),
            lambda losses, cover=cover, prior_rounds=prior_rounds: slow.sleeping_adapt_ml_prod(
                losses, cover, prior_rounds
            ),
        )
        for cover in TRACKING
        for prior_rounds in (None, 4, 70)
    },
    **{
        f"normal-{cover}": (
            AdaNormalHedgeTV(cover),
            lambda losses, cover=cover: slow.ada_normal_hedge_tv(losses, cover),
        )
        for cover in TRACKING
    },
}
ALL = {**FIXED, **SLEEPING}


def run(learner, losses, borders=()):
    """Run a path, cut into blocks at the borders."""
    state = learner.start(losses.shape[1], 0)
    return np.concatenate([learner.run(state, block) for block in np.split(losses, borders)])


def assert_same_weights(played, expected, atol=1e-9):
    np.testing.assert_allclose(played, expected, rtol=0.0, atol=atol)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", ALL)
def test_weights_are_those_of_the_printed_formulas(name, family):
    learner, twin = ALL[name]
    for n_rounds, n_actions in SHAPES if name in FIXED else SHORT_SHAPES:
        losses = make_path(family, n_rounds, n_actions, seed=n_rounds)
        assert_same_weights(run(learner, losses), twin(losses))


@pytest.mark.interpreted
@pytest.mark.parametrize("family", ["uniform", "noiseless"])
@pytest.mark.parametrize(("learner", "twin"), ALL.values(), ids=ALL)
def test_weights_on_a_short_path_are_those_of_the_printed_formulas(learner, twin, family):
    """Long enough for the learning rates to leave their cap: most do once the squares pass 4 ln K."""
    losses = make_path(family, 40, 2, seed=1)
    assert_same_weights(run(learner, losses), twin(losses))


@pytest.mark.parametrize(("learner", "twin"), ALL.values(), ids=ALL)
def test_weights_do_not_depend_on_where_a_run_is_cut(learner, twin):
    @settings(max_examples=15, deadline=None, derandomize=True)
    @given(cases(max_rounds=25, max_actions=4), st.lists(st.integers(0, 25), max_size=5).map(sorted))
    def holds(case, borders):
        losses = case.losses()
        assert_same_weights(run(learner, losses, borders), twin(losses))

    holds()


@pytest.mark.parametrize("family", ["uniform", "coin", "noiseless", "nudged"])
@pytest.mark.parametrize("name", FIXED)
def test_weights_agree_with_thirty_digits(name, family):
    learner, twin = FIXED[name]
    losses = make_path(family, 80, 3, seed=8)
    assert_same_weights(run(learner, losses), twin(losses, digits=30), atol=1e-11)


@pytest.mark.parametrize("name", FIXED)
def test_weights_fall_and_come_back_as_they_do_in_25_digits(name):
    learner, twin = FIXED[name]
    losses = np.array([[1.0, 0.0]] * 800 + [[0.0, 1.0]] * 1000)
    exact = twin(losses, digits=25)
    assert exact[800, 0] < 1e-3
    assert exact[-1, 0] > 0.5
    assert_same_weights(run(learner, losses), exact)


def test_a_weight_below_the_smallest_double_is_kept():
    """Adapt-ML-Prod, gap 1: ln w falls like the root of the rounds; the printed product of factors would be 0."""
    losses = np.tile([1.0, 0.0], (1_000_000, 1))
    learner = AdaptMLProd()
    state = learner.start(2)
    weights = learner.run(state, losses)
    r = weights[:, 0] - 1.0  # exact where it matters: the weight of the bad action is lost beside 1
    seen = np.concatenate([[0.0], np.cumsum(r * r)])
    rates = np.minimum(0.5, np.sqrt(math.log(2) / (1.0 + seen)))
    log_weight = rates[-1] * (-2.0 * math.log(2) + math.fsum(np.log1p(rates[:-1] * r) / rates[:-1]))
    assert log_weight < -800  # the smallest double is e^-745
    potential, _, rate, _ = state.memory.stats[0, 0]
    assert rate * potential == pytest.approx(log_weight, rel=1e-9)


def test_the_rows_outgrow_their_first_arrays():
    """They are stored in growing blocks; 150 rounds pass the first two sizes, and every row is still there."""
    losses = make_path("switching", 150, 2, seed=10)
    for learner in (SleepingAdaptMLProd(), AdaNormalHedgeTV()):
        state = learner.start(2)
        learner.run(state, losses)
        assert state.memory.starts[: state.memory.awake[0]].tolist() == list(range(1, 152))
        assert_same_weights(run(learner, losses, borders=[63, 64, 65, 127, 128]), run(learner, losses), atol=0.0)


@pytest.mark.parametrize(
    "learner",
    [
        SleepingAdaptMLProd("geometric"),
        SleepingAdaptMLProd("hazan-seshadhri", n_rounds=1),
        SleepingAdaptMLProd("every", n_rounds=500),
        AdaNormalHedgeTV("geometric"),
        AdaNormalHedgeTV("hazan-seshadhri"),
    ],
    ids=str,
)
def test_other_settings_pass_the_checks(learner):
    check_learner(learner)


@pytest.mark.parametrize("cover", ["geometric", "hazan-seshadhri"])
@pytest.mark.parametrize("kind", [SleepingAdaptMLProd, AdaNormalHedgeTV])
def test_a_short_cover_passes_the_long_check(kind, cover):
    """The class skips this check for the cover that keeps every row; these two covers do not."""
    learner = kind(cover)
    (check,) = (check for check in checks_of(learner) if check.name in kind().skipped_checks)
    check(learner, n_rounds=100_000)
    state = learner.start(2)
    learner.run(state, np.zeros((1000, 2)))
    assert len(state.memory.starts) == COVERS[cover].most_rows


def test_sleeping_prod_with_one_row_and_n_rounds_one_is_adapt_ml_prod():
    """The first row's prior 1/(K T) and rates ln(K T), at T = 1, until the second row wakes."""
    losses = make_path("uniform", 1, 4, seed=2)
    assert_same_weights(run(SleepingAdaptMLProd(n_rounds=1), losses), run(AdaptMLProd(), losses))


# Squint's integral


@pytest.mark.interpreted
def test_erfcx_is_exact_to_rounding():
    for x in (0.0, 1e-9, 0.3, 1.0, 3.0, 5.9, 5.999999, 6.0, 6.1, 10.0, 1e3, 1e8):
        assert erfcx(x) == pytest.approx(special.erfcx(x), rel=2e-14)


def test_the_logarithm_of_squints_integral_is_exact_in_every_branch():
    """Against thirty digits, for every (R, V) with |R| <= V T, R^2 <= V T that T = 10^8 rounds can make."""
    rng, worst, branches = np.random.default_rng(0), 0.0, Counter()
    with mpmath.workdps(60):
        for _ in range(3000):
            squares = 10.0 ** rng.uniform(-18, 8)
            total = rng.choice([-1, 1]) * min(math.sqrt(1e8 * squares), 10.0 ** rng.uniform(-12, 6))
            exact = mpmath.log(slow.squint_integral_exactly(total, squares))
            apart = abs(log_integral(total, squares) - exact) / max(1, abs(exact))
            worst = max(worst, float(apart))
            branches[total <= 0, total >= squares, squares <= 1 and abs(total) <= 8] += 1
    print(f"worst {worst:.1e} in {dict(branches)}")
    assert worst < 1e-13
    assert len(branches) >= 5


def test_the_slow_integral_agrees_with_the_exact_one():
    for total, squares in ((0.0, 0.0), (0.5, 0.25), (-3.0, 2.0), (20.0, 30.0), (40.0, 30.0), (-50.0, 300.0)):
        with mpmath.workdps(30):
            exact = float(slow.squint_integral_exactly(total, squares))
        assert slow.squint_integral(total, squares) == pytest.approx(exact, rel=1e-11)


# Bounds: values, one expert and one round at a time, as a bound that is too large would never be exceeded


def some_regrets(n_rounds, n_actions):
    return np.random.default_rng(n_rounds).uniform(-1.0, 1.0, (n_rounds, n_actions))


def add_up(squares, gamma, first):
    """Return the cost of an expert, its last rate, and its sum of eta_{t-1} / eta_t - 1."""
    rates = [0.5 if seen <= 4 * gamma else math.sqrt(gamma / seen) for seen in first + np.cumsum([0.0, *squares])]
    cost = sum(rate * x for rate, x in zip(rates[:-1], squares, strict=True))
    return cost, rates[-1], sum(before / after - 1 for before, after in pairwise(rates))


@pytest.mark.parametrize("t", [1, 2, 60])
def test_the_bounds_of_prod_and_boa_added_up_by_hand(t):
    r, g = some_regrets(60, 2), math.log(2)
    for bound, first in ((pathwise_prod.adapt_ml_prod, 1.0), (pathwise_prod.boa, 0.0)):
        cost, rates, ratios = zip(*(add_up(r[:t, k] ** 2, g, first) for k in range(2)), strict=True)
        for k in range(2):
            inside = 2 * g + cost[k] + math.log(1 + sum(ratios) / math.e) / rates[k]
            outside = cost[k] + (g + math.log(1 + sum(ratios) / (2 * math.e))) / rates[k]
            assert bound(r)[t - 1, k] == pytest.approx(inside if first else outside, rel=1e-12)


@pytest.mark.parametrize(("s", "t"), [(1, 1), (1, 9), (3, 50), (50, 50)])
def test_the_bounds_of_sleeping_experts_added_up_by_hand(s, t):
    """Row 3 is awake until round 9, the others forever."""
    r = some_regrets(50, 2)
    last = np.where(np.arange(1, 51) == 3, 9, 50)
    rows_awake = {(row, k): r[row - 1 : min(t, last[row - 1]), k] for row in range(1, t + 1) for k in range(2)}
    moved = {row_k: np.abs(awake_regrets).sum() for row_k, awake_regrets in rows_awake.items()}
    mass = sum((1 + 1.5 * (1 + math.log(1 + c))) / row**2 for (row, _), c in moved.items())
    normal = bounds.ada_normal_hedge_tv(r, last)
    for prior_rounds in (None, 7, 1000):
        gamma = {row: math.log(2 * (prior_rounds or row + 1)) for row in range(1, t + 1)}
        ratios = sum(add_up(awake_regrets**2, gamma[row], 1.0)[2] for (row, _), awake_regrets in rows_awake.items())
        found = pathwise_prod.sleeping_adapt_ml_prod(r, prior_rounds, last)
        for k in range(2):
            cost, rate, _ = add_up(rows_awake[s, k] ** 2, gamma[s], 1.0)
            flat = cost + (math.log(2) + math.log(t + ratios / (2 * math.e))) / rate
            if prior_rounds is not None:
                flat = 2 * gamma[s] + cost + math.log(max(1, t / prior_rounds) + ratios / math.e) / rate
            assert found[s - 1, t - 1, k] == pytest.approx(flat, rel=1e-12)
            by_hand = math.sqrt(3 * moved[s, k] * math.log(s**2 * mass))
            assert normal[s - 1, t - 1, k] == pytest.approx(by_hand, rel=1e-12)


def test_the_bounds_of_ada_normal_hedge_squint_and_ml_poly_worked_by_hand():
    r = np.array([[0.5, -0.5], [0.25, -1.0]])  # C = 0.75, 1.5 and V = 0.3125, 1.25 after two rounds
    total = 2 + 1.5 * (2 + math.log(1.75) + math.log(2.5))
    np.testing.assert_allclose(bounds.ada_normal_hedge(r)[1], np.sqrt(3 * np.array([0.75, 1.5]) * math.log(total)))
    late = math.log(3)
    slope, fixed = 1 + math.sqrt(2 * math.log(2 * (0.5 + late))), 5 * math.log(1 + 2 * (1 + 2 * late))
    np.testing.assert_allclose(bounds.squint(r)[1], np.sqrt(2 * np.array([0.3125, 1.25])) * slope + fixed)
    # eta r^2: 1/4 and 1/4 at first, then (1/16) / (5/4) and 1 / (5/4)
    np.testing.assert_allclose(bounds.ml_poly(r)[1], np.sqrt(np.array([1.3125, 2.25]) * (0.5 + 0.05 + 0.8)))


def test_the_closed_forms_worked_by_hand():
    K, T = 3, 10**6
    g, ln_t = math.log(K), math.log(1 + T)
    assert bounds.ada_normal_hedge_worst(K, T) == pytest.approx(math.sqrt(3 * T * math.log(K * (2.5 + 1.5 * ln_t))))
    squint = math.sqrt(2 * T) * (1 + math.sqrt(2 * math.log(K * (0.5 + ln_t)))) + 5 * math.log(1 + K * (1 + 2 * ln_t))
    assert bounds.squint_worst(K, T) == pytest.approx(squint)
    assert bounds.ml_poly_worst(K, T) == pytest.approx(math.sqrt(K * (1 + ln_t) * (1 + T)))
    mass = K * math.pi**2 / 6 * (2.5 + 1.5 * ln_t)
    assert bounds.ada_normal_hedge_tv_worst(K, T, 7) == pytest.approx(math.sqrt(3 * 7 * T * math.log(T**2 * mass)))
    late = math.log(1 + K / (2 * math.e) * (1 + ln_t))
    prod = 2 * g + 2 * math.sqrt(g * (1 + T)) + math.sqrt((1 + T) / g) * late
    assert pathwise_prod.adapt_ml_prod_worst(K, T) == pytest.approx(prod)
    late = math.log(1 + (1 / (4 * g) + math.log(T / (4 * g))) / (2 * math.e))
    boa = 0.5 + 2 * math.sqrt(g * T) + math.sqrt(T / g) * (g + late)
    assert pathwise_prod.boa_worst(K, T) == pytest.approx(boa)
    # Sleeping experts in 7 intervals, with the prior for 100 rounds and with the flat prior.
    root, ratios = math.sqrt(7 * (7 + T)), K * T / (2 * math.e) * (1 + ln_t)
    g, late = math.log(300), math.log(10**4 + ratios)
    prior_rounds = 7 * (2 * g + 2 * late) + (2 * math.sqrt(g) + late / math.sqrt(g)) * root
    assert pathwise_prod.sleeping_adapt_ml_prod_worst(K, T, 7, 100) == pytest.approx(prior_rounds, rel=1e-9)
    late = math.log(K * T + ratios)
    flat = 14 * late + (2 * math.sqrt(math.log(K * (T + 1))) + late / math.sqrt(math.log(6))) * root
    assert pathwise_prod.sleeping_adapt_ml_prod_worst(K, T, 7) == pytest.approx(flat)


# Bounds on every path

PATHS = 1200
FAMILIES_AND_ADVERSARIES = (*FAMILIES, *ADVERSARIES)
FIXED_BOUNDS = {
    "adapt-ml-prod": (pathwise_prod.adapt_ml_prod, pathwise_prod.adapt_ml_prod_worst),
    "ada-normal-hedge": (bounds.ada_normal_hedge, bounds.ada_normal_hedge_worst),
    "boa": (pathwise_prod.boa, pathwise_prod.boa_worst),
    "ml-poly": (bounds.ml_poly, bounds.ml_poly_worst),
    "squint": (bounds.squint, bounds.squint_worst),
}


def regrets_of(learner, case):
    """Return r_{t,k} = sum_j p_j (l_j - l_k) along a case."""
    weights, losses = play(learner, case)
    least = losses.min(axis=1, keepdims=True)
    return (weights * (losses - least)).sum(axis=1, keepdims=True) - (losses - least)


def excess(regret, bound):
    return float((regret - bound).max()), float((regret / np.maximum(bound, 1e-3)).max())


def check_fixed(case, name):
    """Require the bound at every round against every action, and the closed form above it; return the ratio."""
    pathwise, closed = FIXED_BOUNDS[name]
    regrets = regrets_of(FIXED[name][0], case)
    bound = pathwise(regrets)
    above, ratio = excess(np.cumsum(regrets, axis=0), bound)
    assert above <= 1e-9 * (1 + case.n_rounds), f"{case}: the bound is exceeded by {above}"
    worst = [closed(case.n_actions, t) for t in range(1, case.n_rounds + 1)]
    if case.n_actions > 1:
        most = np.where(np.array(worst) < np.arange(1, case.n_rounds + 1), worst, np.inf)
        assert (bound.max(axis=1) <= most * (1 + 1e-12)).all(), f"{case}: the closed form is too small"
    return ratio


def awake(n_rounds, cover):
    """Return the last round of every row, and over (s, t) whether row s is awake at t."""
    rounds = np.arange(1, n_rounds + 1)
    last = np.array([min(last_round(COVERS[cover].code, int(s)), n_rounds) for s in rounds])
    return last, (rounds[:, None] <= rounds) & (rounds <= last[:, None])


def check_sleeping(case, learner, pathwise, cover):
    """Require the bound from every start to every round awake, against every action; return the ratio."""
    regrets = regrets_of(learner, case)
    last, is_awake = awake(case.n_rounds, cover)
    own = np.cumsum(np.where(is_awake[:, :, None], regrets, 0.0), axis=1)
    above, ratio = excess(own[is_awake], pathwise(regrets, last)[is_awake])
    assert above <= 1e-9 * (1 + case.n_rounds), f"{case}, {learner}: the bound is exceeded by {above}"
    return ratio


def on_many_paths(check, max_rounds):
    """Check a fixed list of paths of every family and return the worst ratio of regret to bound."""
    worst, seen = -math.inf, Counter()
    for number in range(PATHS):
        case = fixed_case(number, FAMILIES_AND_ADVERSARIES, max_rounds)
        seen[case.family] += 1
        worst = max(worst, check(case, number))
    print(f"{seen.total()} paths, worst regret / bound {worst:.3f}")
    assert set(seen) == set(FAMILIES_AND_ADVERSARIES)
    return worst


@pytest.mark.parametrize("name", FIXED)
def test_a_learner_keeps_its_bound_at_every_round_for_every_action(name):
    def check(case, number):
        return check_fixed(case, name)

    on_many_paths(check, max_rounds=80)
    for family in FAMILIES_AND_ADVERSARIES:
        check_fixed(Case(family, 800, 4, seed=3), name)


def test_the_sleeping_prod_keeps_its_bound_from_every_start_to_every_round_awake():
    def check(case, number):
        cover = TRACKING[number % 3]
        prior_rounds = (None, case.n_rounds, max(1, case.n_rounds // 3), 1000)[number // 3 % 4]
        learner = SleepingAdaptMLProd(cover, prior_rounds)
        return check_sleeping(
            case, learner, lambda r, last: pathwise_prod.sleeping_adapt_ml_prod(r, prior_rounds, last), cover
        )

    on_many_paths(check, max_rounds=40)


def test_ada_normal_hedge_tv_keeps_its_bound_from_every_start_to_every_round_awake():
    def check(case, number):
        cover = TRACKING[number % 3]
        return check_sleeping(case, AdaNormalHedgeTV(cover), bounds.ada_normal_hedge_tv, cover)

    on_many_paths(check, max_rounds=40)


@pytest.mark.parametrize("cover", TRACKING)
def test_the_closed_forms_of_sleeping_experts_are_above_the_sums_over_intervals(cover):
    """Cut 200 rounds anywhere, each interval within the rounds of one row: the sum of the bounds is below."""
    n_rounds, n_actions = 200, 3
    last, _ = awake(n_rounds, cover)
    for family in ("coin", "heaviest", "switching"):
        case = Case(family, n_rounds, n_actions, seed=4)
        settings_of = {
            **{SleepingAdaptMLProd(cover, prior_rounds): prior_rounds for prior_rounds in (None, 200, 50)},
            AdaNormalHedgeTV(cover): "normal",
        }
        for learner, prior_rounds in settings_of.items():
            regrets = regrets_of(learner, case)
            normal = prior_rounds == "normal"
            bound = bounds.ada_normal_hedge_tv(regrets, last) if normal else None
            bound = pathwise_prod.sleeping_adapt_ml_prod(regrets, prior_rounds, last) if bound is None else bound
            for stride in (5, 40, 200):
                start, total, pieces = 0, 0.0, 0
                while start < n_rounds:
                    stop = min(start + stride, last[start], n_rounds)  # the rounds start + 1, ..., stop
                    total, pieces, start = total + bound[start, stop - 1].max(), pieces + 1, stop
                if normal:
                    closed = bounds.ada_normal_hedge_tv_worst(n_actions, n_rounds, pieces)
                else:
                    closed = pathwise_prod.sleeping_adapt_ml_prod_worst(n_actions, n_rounds, pieces, prior_rounds)
                assert closed == n_rounds or total <= closed


@pytest.mark.interpreted
@pytest.mark.parametrize("family", ["switching", "heaviest"])
def test_every_bound_holds_on_a_short_path(family):
    case = Case(family, 15, 3, seed=1)
    for name in FIXED:
        check_fixed(case, name)
    for cover in TRACKING:
        check_sleeping(case, AdaNormalHedgeTV(cover), bounds.ada_normal_hedge_tv, cover)
        check_sleeping(
            case, SleepingAdaptMLProd(cover), lambda r, last: pathwise_prod.sleeping_adapt_ml_prod(r, None, last), cover
        )


def test_bounds_from_measures_exist_where_their_theorem_applies():
    still, moving = (Measures(n_actions=3, n_rounds=10**6, segments=n, drift=1.0, variance=1.0) for n in (1, 4))
    for learner, _ in FIXED.values():
        assert 0 < learner.bound(still) < 10**5
        assert learner.bound(moving) is None
    for learner, _ in SLEEPING.values():
        assert 0 < learner.bound(still) < learner.bound(moving) < 10**6


@pytest.mark.interpreted
@pytest.mark.parametrize("kind", [SleepingAdaptMLProd, AdaNormalHedgeTV])
@pytest.mark.parametrize("cover", ["single", "daily", None, 2])
def test_a_sleeping_learner_requires_a_cover_that_starts_rows_in_every_round(kind, cover):
    names = "'every', 'geometric', 'hazan-seshadhri'"
    message = f"{kind.__name__}: `cover` must be one of {names}, got {cover!r}."
    with pytest.raises(InvalidInput, match=f"^{re.escape(message)}"):
        kind(cover=cover)


@pytest.mark.interpreted
@pytest.mark.parametrize("prior_rounds", [0, -1, 2.5, True])
def test_the_number_of_rounds_must_be_an_integer(prior_rounds):
    with pytest.raises(InvalidInput, match=r"^SleepingAdaptMLProd: `n_rounds` must be a whole number >= 1, got "):
        SleepingAdaptMLProd(n_rounds=prior_rounds)
