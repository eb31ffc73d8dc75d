"""Hedge and related learners against slow references, and against their bounds on a thousand paths each."""

from math import log, sqrt

import numpy as np
import pytest

from bounding import on_many_paths
from driftwise.core.measures import Measures, collected
from driftwise.environments import Bernoulli, Environment, Switching
from driftwise.learners import (
    AdaHedge,
    CalibratedHedge,
    FixedShare,
    Hedge,
    OptimisticFixedShare,
    OptimisticHedge,
    Sword,
)
from driftwise.theory import fixed_share_bounds, pathwise_experts
from paths import FAMILIES, make_path, play
from references import comparators, exponential

SHAPES = ((20, 1), (1, 4), (2, 2), (60, 2), (60, 5), (25, 50))  # rounds, actions
TWINS = {
    "hedge-anytime": (Hedge(), exponential.hedge),
    "hedge-fixed": (Hedge(0.7), lambda losses: exponential.hedge(losses, 0.7)),
    "fixed-share": (FixedShare(0.8, 0.05), lambda losses: exponential.fixed_share(losses, 0.8, 0.05)),
    "fixed-share-steep": (FixedShare(30.0, 0.2), lambda losses: exponential.fixed_share(losses, 30.0, 0.2)),
    "optimistic-fixed-share": (
        OptimisticFixedShare(0.8, 0.05),
        lambda losses: exponential.optimistic_fixed_share(losses, 0.8, 0.05),
    ),
    "ada-hedge": (AdaHedge(), exponential.ada_hedge),
}


def run(learner, losses, borders=()):
    state = learner.start(losses.shape[1])
    return np.concatenate([learner.run(state, block) for block in np.split(losses, borders)])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("learner", "twin"), TWINS.values(), ids=TWINS)
def test_weights_are_those_of_the_printed_formulas(learner, twin, family):
    for n_rounds, n_actions in SHAPES:
        losses = make_path(family, n_rounds, n_actions, seed=n_rounds)
        np.testing.assert_allclose(run(learner, losses, (n_rounds // 3,)), twin(losses), rtol=0, atol=1e-9)


@pytest.mark.interpreted
@pytest.mark.parametrize(("learner", "twin"), TWINS.values(), ids=TWINS)
def test_weights_on_a_short_path_are_those_of_the_printed_formulas(learner, twin):
    losses = make_path("tied", 12, 3, seed=1)
    np.testing.assert_allclose(run(learner, losses), twin(losses), rtol=0, atol=1e-9)


@pytest.mark.interpreted
@pytest.mark.parametrize("family", ["uniform", "switching", "tied", "noiseless"])
def test_the_calibrated_rate_is_one_that_has_lost_least(family):
    """Rounding may break a tie either way, so every rate within 1e-9 of the best will do."""
    for n_rounds, n_actions in ((1, 3), (40, 1), (40, 2), (40, 5)):
        losses = make_path(family, n_rounds, n_actions, seed=n_actions)
        plays, before = exponential.calibrated_plays(losses, 4.0, 6)
        played = run(CalibratedHedge(4.0, 6), losses, (n_rounds // 2,))
        for t in range(n_rounds):
            good = before[:, t] <= before[:, t].min() + 1e-9
            assert np.abs(plays[good, t] - played[t]).max(axis=1).min() <= 1e-9


RATES = (5e-324, 1e-12, 1.0, 1000.0, 1e17, 1e308, np.finfo(float).max)
SWITCH_RATES = (0.0, 5e-324, 1e-300, 1e-150, 0.3, 1.0)
SHARING = {
    FixedShare: exponential.fixed_share,
    OptimisticFixedShare: exponential.optimistic_fixed_share,
}


@pytest.mark.parametrize("switch_rate", SWITCH_RATES)
@pytest.mark.parametrize("learner", SHARING)
def test_fixed_share_is_as_printed_at_the_ends_of_its_parameters(learner, switch_rate):
    """Losses are eighths, so that sums that tie on paper tie in doubles, whatever the rate makes of a difference."""
    paths = [make_path(family, 30, 3, seed=2) for family in ("tied", "equal", "noiseless", "alternating")]
    paths.append(np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]))
    for rate in RATES:
        for losses in paths:
            weights = run(learner(rate, switch_rate), losses, (2,))
            np.testing.assert_allclose(weights, SHARING[learner](losses, rate, switch_rate), rtol=0, atol=1e-9)
            assert (weights >= 0).all()
            np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=0, atol=1e-12)


LATE_SWITCH = np.repeat([[0.0, 1.0], [1.0, 0.0]], [800, 1600], axis=0)


@pytest.mark.interpreted
@pytest.mark.parametrize("switch_rate", [0.0, 5e-324, 1e-300, 1e-12])
@pytest.mark.parametrize("learner", SHARING)
def test_a_weight_too_small_for_a_double_recovers(learner, switch_rate):
    weights = run(learner(1.0, switch_rate), LATE_SWITCH)
    np.testing.assert_allclose(weights, SHARING[learner](LATE_SWITCH, 1.0, switch_rate), rtol=0, atol=1e-9)


@pytest.mark.parametrize("learner", SHARING)
def test_fixed_share_with_switch_rate_zero_keeps_its_bound_after_a_late_switch(learner):
    lost = (run(learner(1.0, 0.0), LATE_SWITCH) * LATE_SWITCH).sum()
    moved = 2  # D: the first losses and the switch, each a step of length 1
    extra = len(LATE_SWITCH) / 8 if learner is FixedShare else moved / 2
    assert lost - 800 <= fixed_share_bounds.code_length(2, len(LATE_SWITCH), 0, 0.0) + extra


def test_fixed_share_with_switch_rate_zero_is_hedge():
    for family in ("uniform", "switching", "noiseless"):
        losses = make_path(family, 200, 4, seed=3)
        np.testing.assert_allclose(run(FixedShare(2.0, 0.0), losses), run(Hedge(2.0), losses), rtol=0, atol=1e-12)


def test_hints_replace_the_last_losses():
    losses, hints = make_path("uniform", 40, 4, seed=1), make_path("uniform", 40, 4, seed=2)
    learner = OptimisticFixedShare(0.8, 0.05)
    played = learner.run(learner.start(4), losses, hints=hints)
    expected = exponential.optimistic_fixed_share(losses, 0.8, 0.05, hints)
    np.testing.assert_allclose(played, expected, rtol=0, atol=1e-9)


def test_ada_hedge_concentrates_on_an_action_without_losses():
    losses = np.tile([0.0, 1.0, 1.0], (50, 1))
    weights = run(AdaHedge(), losses)
    assert weights[-1, 0] > 0.99


# Bounds


def check_hedge(tally, case, rate):
    weights, losses = play(Hedge(rate), case)
    t = np.arange(1, case.n_rounds + 1)
    regret = (weights * losses).sum(axis=1).cumsum() - losses.cumsum(axis=0).min(axis=1)
    size = log(case.n_actions)
    bound = 2 * np.sqrt(t / 2 * size) + sqrt(size / 8) if rate is None else size / rate + rate * t / 8
    tally.check(regret, bound, case.n_rounds)


def test_hedge_keeps_its_bound():
    on_many_paths(check_hedge, 1000, rate=(None, 0.05, 0.5, 3.0))


def check_sharing(tally, case, learner, alpha):
    weights, losses = play(learner(switch_rate=alpha), case)
    lost = (weights * losses).sum()
    least = comparators.best_with_segments(losses, min(8, case.n_rounds))
    eta = learner().learning_rate
    steps = np.diff(losses, axis=0, prepend=0.0)
    extra = eta * case.n_rounds / 8 if learner is FixedShare else eta / 2 * (np.abs(steps).max(axis=1) ** 2).sum()
    for n_segments in (n for n in (1, 2, 4, 8) if n <= case.n_rounds):
        length = fixed_share_bounds.code_length(case.n_actions, case.n_rounds, n_segments - 1, alpha)
        tally.check(lost - least[n_segments - 1], length / eta + extra, case.n_rounds)


@pytest.mark.parametrize("learner", [FixedShare, OptimisticFixedShare])
def test_fixed_share_keeps_its_bound_against_the_best_sequence_with_m_switches(learner):
    tally = on_many_paths(check_sharing, 1000, learner=(learner,), alpha=(0.0, 0.002, 0.01, 0.1, 0.4))
    assert tally.worst > 0.4


def check_ada_hedge(tally, case):
    weights, losses = play(AdaHedge(), case)
    regrets = (weights * losses).sum(axis=1, keepdims=True) - losses
    bound = pathwise_experts.ada_hedge(weights, regrets)
    tally.check(np.cumsum(regrets, axis=0), bound, case.n_rounds)
    most = [pathwise_experts.ada_hedge_worst(case.n_actions, t) for t in range(1, case.n_rounds + 1)]
    tally.check(np.cumsum(regrets, axis=0), np.array(most)[:, None], case.n_rounds)


def test_ada_hedge_keeps_its_bounds_at_every_round():
    on_many_paths(check_ada_hedge, 1000)


@pytest.mark.parametrize("small", [1e-9, 1e-15])
def test_ada_hedge_keeps_its_bound_when_a_weight_underflowed_and_the_range_grows(small):
    """After small losses the rate is large and a weight is 0; its action must still count in the mix loss."""
    learner, lost, totals = AdaHedge(), 0.0, np.zeros(2)
    state = learner.start(2)
    learner.run(state, np.tile([small, 0.0], (3000, 1)))
    assert learner.predict(state)[0] == 0.0
    rng = np.random.default_rng(0)
    for _ in range(1000):
        weights = learner.predict(state)
        losses = np.eye(2)[weights.argmax()] * (1.0 - 1e-3 * rng.random())
        lost, totals = lost + weights @ losses, totals + losses
        learner.update(state, losses)
    assert lost - totals.min() <= pathwise_experts.ada_hedge_worst(2, 1000) + 3000 * small


def test_the_bounds_of_ada_hedge_worked_by_hand():
    """Theorem 6: two rounds whose losses have variances 1/4 and 3/16 under the play; then 100 rounds of the worst."""
    weights, losses = np.array([[0.5, 0.5], [0.75, 0.25]]), np.array([[0.0, 1.0], [1.0, 0.0]])
    regrets = (weights * losses).sum(axis=1, keepdims=True) - losses
    fixed = 4 / 3 * log(2) + 2
    by_hand = [2 * sqrt(log(2) / 4) + fixed, 2 * sqrt(log(2) * 7 / 16) + fixed]
    np.testing.assert_allclose(pathwise_experts.ada_hedge(weights, regrets), np.transpose([by_hand, by_hand]))
    still, moving = (Measures(7, 100, segments, 0.5, 20.0) for segments in (1, 2))
    assert AdaHedge().bound(still) == pytest.approx(10 * sqrt(log(7)) + 4 / 3 * log(7) + 2)
    assert AdaHedge().bound(moving) is None
    assert AdaHedge().bound(Measures(7, 4, 1, 0.5, 1.0)) == 4
    assert AdaHedge().bound(Measures(1, 100, 1, 0.5, 20.0)) == 0.0


def test_tuned_rates_minimise_the_bound_of_fixed_share():
    measures = Measures(n_actions=5, n_rounds=1000, segments=6, drift=3.0, variance=100.0)
    tuned = FixedShare.tuned(measures)
    assert tuned.switch_rate == 5 / 999
    best = tuned.bound(measures)
    for factor in (0.8, 0.95, 1.05, 1.25):
        assert FixedShare(tuned.learning_rate * factor, tuned.switch_rate).bound(measures) > best
        assert FixedShare(tuned.learning_rate, tuned.switch_rate * factor).bound(measures) > best


def test_tuned_rates_minimise_the_bound_of_optimistic_fixed_share():
    measures = Measures(n_actions=5, n_rounds=1000, segments=6, drift=3.0, variance=100.0, squared_drift=8.0)
    tuned = OptimisticFixedShare.tuned(measures)
    assert tuned.switch_rate == 5 / 999
    length = 6 * log(5) - 5 * log(5 / 999) - 994 * log(994 / 999)
    assert tuned.learning_rate == pytest.approx(sqrt(2 * length / 208))  # D is 2 x 100 + 8
    assert tuned.bound(measures) == pytest.approx(sqrt(2 * length * 208))
    assert OptimisticFixedShare.tuned(Measures(5, 1000, 6, 3.0, 1e-6, squared_drift=0.0)).learning_rate == 20.0


TEN_SEGMENTS = Environment(Switching(10, 10), Bernoulli()).measures(10_000)  # Lambda = 24,000


def test_optimistic_fixed_share_counts_no_more_than_one_unit_of_deviation_a_round():
    """Its theorem has the largest step of a round, at most 1, where 2 Lambda is 48,000 for these 10,000 rounds."""
    length = 10 * log(10) - 9 * log(9 / 9999) - 9990 * log(9990 / 9999)
    tuned = OptimisticFixedShare.tuned(TEN_SEGMENTS)
    assert tuned.learning_rate == pytest.approx(sqrt(2 * length / 10_000))
    assert tuned.learning_rate == pytest.approx(0.138, abs=5e-4)
    assert tuned.bound(TEN_SEGMENTS) == pytest.approx(sqrt(2 * length * 10_000))
    assert tuned.bound(TEN_SEGMENTS) == pytest.approx(1379, abs=0.5)


def test_optimistic_hedge_and_sword_count_no_more_than_one_unit_of_deviation_a_round():
    """Theorems: ln(K)/eta + eta D/2 and 2 sqrt((1 + D) ln K), D at most T; Sword's rule has its bases for actions."""
    noisy = Measures(n_actions=10, n_rounds=1000, segments=1, drift=0.5, variance=2400.0, squared_drift=2.5)
    tuned = OptimisticHedge.tuned(noisy)
    assert tuned.learning_rate == pytest.approx(sqrt(2 * log(10) / 1000))
    assert tuned.bound(noisy) == pytest.approx(sqrt(2 * log(10) * 1000))
    assert OptimisticHedge().bound(noisy) == pytest.approx(2 * sqrt(1001 * log(10)))
    learner = Sword(1000)
    rates = learner.learning_rates(10)
    base = min(rate / 4 * 4802.5 + 0.9 / rate for rate in rates)  # the bases' theorem has the Euclidean norm
    assert learner.bound(noisy) == pytest.approx(base + 2 * sqrt(1001 * log(len(rates))))


@pytest.mark.parametrize("learner", [OptimisticFixedShare, OptimisticHedge, Sword])
def test_quiet_losses_keep_their_deviation(learner):
    quiet, twice = (Measures(3, 1000, 1, 0.5, variance, squared_drift=0.5) for variance in (10.0, 20.0))
    assert learner().bound(quiet) < learner().bound(twice) < learner().bound(Measures(3, 1000, 1, 0.5, 400.0))


@pytest.mark.parametrize("learner", [FixedShare, OptimisticFixedShare, Hedge])
def test_tuning_works_with_one_action_one_round_and_no_noise(learner):
    for n_actions, n_rounds, segments in ((1, 1, 1), (1, 50, 1), (3, 1, 1), (3, 50, 50)):
        with collected():
            tuned = learner.tuned(Measures(n_actions, n_rounds, segments, drift=0.0, variance=0.0))
        assert run(tuned, make_path("uniform", n_rounds, n_actions, seed=1)).shape == (n_rounds, n_actions)


def test_an_impossible_sequence_has_an_infinite_code_length():
    assert fixed_share_bounds.code_length(2, 10, 1, 0.0) == np.inf
    assert fixed_share_bounds.code_length(2, 10, 0, 1.0) == np.inf
    assert fixed_share_bounds.code_length(2, 10, 0, 0.0) == log(2)
