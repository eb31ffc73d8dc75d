"""Hedge and its relatives against slow twins, and against their bounds on a thousand paths each."""

from math import log, sqrt

import numpy as np
import pytest

from bounding import on_many_paths
from driftwise.core.measures import Measures
from driftwise.learners import AdaHedge, CalibratedHedge, FixedShare, Hedge, OptimisticFixedShare
from driftwise.theory import sharing
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


def test_hints_replace_the_last_losses():
    losses, hints = make_path("uniform", 40, 4, seed=1), make_path("uniform", 40, 4, seed=2)
    learner = OptimisticFixedShare(0.8, 0.05)
    played = learner.run(learner.start(4), losses, hints=hints)
    expected = exponential.optimistic_fixed_share(losses, 0.8, 0.05, hints)
    np.testing.assert_allclose(played, expected, rtol=0, atol=1e-9)


def test_ada_hedge_stays_bold_while_nothing_was_lost_by_mixing():
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
    suffered = (weights * losses).sum()
    least = comparators.best_with_segments(losses, min(8, case.n_rounds))
    eta = learner().learning_rate
    steps = np.diff(losses, axis=0, prepend=0.0)
    extra = eta * case.n_rounds / 8 if learner is FixedShare else eta / 2 * (np.abs(steps).max(axis=1) ** 2).sum()
    for n_segments in (n for n in (1, 2, 4, 8) if n <= case.n_rounds):
        length = sharing.code_length(case.n_actions, case.n_rounds, n_segments - 1, alpha)
        tally.check(suffered - least[n_segments - 1], length / eta + extra, case.n_rounds)


@pytest.mark.parametrize("learner", [FixedShare, OptimisticFixedShare])
def test_fixed_share_keeps_its_bound_against_the_best_sequence_with_m_switches(learner):
    tally = on_many_paths(check_sharing, 1000, learner=(learner,), alpha=(0.002, 0.01, 0.1, 0.4))
    assert tally.worst > 0.4


def check_ada_hedge(tally, case):
    weights, losses = play(AdaHedge(), case)
    regret = (weights * losses).sum(axis=1).cumsum() - losses.cumsum(axis=0).min(axis=1)
    mean = (weights * losses).sum(axis=1, keepdims=True)
    variance = (weights * (losses - mean) ** 2).sum(axis=1).cumsum()
    size = log(case.n_actions)
    tally.check(regret, 2 * np.sqrt(variance * size) + 4 / 3 * size + 2, case.n_rounds)


def test_ada_hedge_keeps_its_bound():
    on_many_paths(check_ada_hedge, 1000)


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


@pytest.mark.parametrize("learner", [FixedShare, OptimisticFixedShare, Hedge])
def test_tuning_survives_one_action_one_round_and_no_noise(learner):
    for n_actions, n_rounds, segments in ((1, 1, 1), (1, 50, 1), (3, 1, 1), (3, 50, 50)):
        tuned = learner.tuned(Measures(n_actions, n_rounds, segments, drift=0.0, variance=0.0))
        assert run(tuned, make_path("uniform", n_rounds, n_actions, seed=1)).shape == (n_rounds, n_actions)


def test_an_impossible_sequence_has_an_infinite_code_length():
    assert sharing.code_length(2, 10, 1, 0.0) == np.inf
    assert sharing.code_length(2, 10, 0, 1.0) == np.inf
    assert sharing.code_length(2, 10, 0, 0.0) == log(2)
