"""Tracker: a slow reference, scales and shifts of the losses, symmetry, ties."""

from math import log

import numpy as np
import pytest

from driftwise.learners import Tracker
from driftwise.learners.experts.ada_hedge import PriorAdaHedge
from driftwise.learners.meta.tracker import _RULES
from paths import EXACT_FAMILIES, FAMILIES, make_path
from references import tracker as reference

SHAPES = ((20, 1), (1, 4), (2, 2), (60, 2), (40, 3), (60, 5), (50, 7), (25, 50))  # rounds, actions


def run(losses, hints=None, learner=Tracker()):  # noqa: B008 (a learner is frozen)
    return learner.run(learner.start(losses.shape[1]), losses, hints=hints)


def assert_same_weights(played, expected):
    np.testing.assert_allclose(played, expected, rtol=0.0, atol=1e-9)


def hints_for(losses, seed):
    """Return some kind of hints: of another range, unrelated, equal, exact, or reversed."""
    other = np.random.default_rng(seed).random(losses.shape)
    return (0.01 * other, other, np.full_like(losses, 0.4), losses, 1.0 - losses)[seed % 5]


def scaled_in_parts(losses, seed):
    """Multiply blocks of rounds by powers of two: the range grows late, and some rounds are tiny."""
    rng = np.random.default_rng(seed)
    exponents = rng.choice([0, 1, 3, 10, 40], len(losses))
    held = exponents[np.cumsum(rng.random(len(losses)) < 0.1) % len(losses)]
    return losses * 2.0 ** -held[:, None]


# Against the formulas of the docstring


def test_the_reference_has_the_prior_of_the_learner():
    np.testing.assert_allclose(_RULES[False].prior, reference.PRIOR, rtol=1e-14)
    assert _RULES[False].code_length == pytest.approx(reference.CODE_LENGTH)
    np.testing.assert_allclose(_RULES[True].prior, reference.prior(51), rtol=1e-14)
    assert round(reference.CODE_LENGTH, 2) == 5.11


@pytest.mark.parametrize("family", FAMILIES)
def test_weights_are_those_of_the_formulas(family):
    for n_rounds, n_actions in SHAPES:
        losses = make_path(family, n_rounds, n_actions, seed=n_rounds)
        assert_same_weights(run(losses), reference.tracker(losses))


@pytest.mark.parametrize("family", FAMILIES)
def test_weights_with_hints_are_those_of_the_formulas(family):
    for seed, (n_rounds, n_actions) in enumerate(SHAPES):
        losses = make_path(family, n_rounds, n_actions, seed=n_rounds)
        hints = hints_for(losses, seed)
        assert_same_weights(run(losses, hints), reference.tracker(losses, hints))
        both = run(losses, hints, Tracker(both_guesses=True))
        assert_same_weights(both, reference.tracker(losses, hints, both_guesses=True))


@pytest.mark.parametrize("family", ["uniform", "switching", "tied", "spikes"])
def test_weights_are_those_of_the_formulas_while_the_range_grows(family):
    for seed in range(6):
        losses = scaled_in_parts(make_path(family, 50, 4, seed), seed)
        hints = hints_for(losses, seed)
        assert_same_weights(run(losses), reference.tracker(losses))
        assert_same_weights(run(losses, hints), reference.tracker(losses, hints))


@pytest.mark.interpreted
@pytest.mark.parametrize("family", ["uniform", "tied"])
def test_weights_on_a_short_path_are_those_of_the_formulas(family):
    losses = scaled_in_parts(make_path(family, 12, 3, seed=1), 2)
    assert_same_weights(run(losses), reference.tracker(losses))
    for hints in (losses, 1.0 - losses, 0.01 * losses):
        assert_same_weights(run(losses, hints), reference.tracker(losses, hints))


def test_losses_and_gap_in_the_memory_are_those_of_the_formulas():
    losses = make_path("switching", 80, 4, seed=3)
    state = Tracker().start(4)
    Tracker().run(state, losses)
    _, _, _, lost, gaps = reference.tracker_parts(losses)
    np.testing.assert_allclose(state.memory.rule_totals, lost.sum(axis=0), atol=1e-10)
    assert state.memory.rule_gap[0] == pytest.approx(gaps[-1])


def test_a_hint_holds_for_one_round_and_the_last_one_counts():
    losses, guesses = make_path("uniform", 30, 3, seed=4), make_path("coin", 30, 3, seed=5)
    hints = [guesses[t] if t % 3 == 1 else None for t in range(30)]
    state, played = Tracker().start(3), np.empty_like(losses)
    for t in range(30):
        if hints[t] is not None:
            Tracker().hint(state, 1.0 - hints[t])
            Tracker().hint(state, hints[t])
        played[t] = Tracker().predict(state)
        Tracker().update(state, losses[t])
    assert_same_weights(played, reference.tracker(losses, hints))


# Scales and shifts


@pytest.mark.parametrize("halvings", [1, 10, 300])
@pytest.mark.parametrize("family", FAMILIES)
def test_multiplying_losses_by_a_power_of_two_changes_no_bit(family, halvings):
    for n_rounds, n_actions in SHAPES:
        losses = make_path(family, n_rounds, n_actions, seed=n_rounds)
        hints = make_path("uniform", n_rounds, n_actions, seed=1)
        small = 2.0**-halvings
        assert run(losses * small).tobytes() == run(losses).tobytes()
        assert run(losses * small, hints * small).tobytes() == run(losses, hints).tobytes()


@pytest.mark.interpreted
def test_losses_near_the_smallest_numbers_give_distributions():
    for exponent in (1000, 1070, 1074):
        weights = run(make_path("coin", 30, 3, seed=1) * 2.0**-exponent)
        assert np.isfinite(weights).all()
        np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-12)
        assert weights[-1].max() > 0.4


@pytest.mark.parametrize("family", FAMILIES)
def test_multiplying_losses_by_any_number_changes_no_weight(family):
    for n_rounds, n_actions in SHAPES:
        losses = make_path(family, n_rounds, n_actions, seed=n_rounds)
        for factor in (1e-3, 0.3):
            assert_same_weights(run(losses * factor), run(losses))


@pytest.mark.parametrize("family", [family for family in FAMILIES if family != "nudged"])
def test_adding_a_number_to_all_losses_of_a_round_changes_no_weight(family):
    """Not for noise of 1e-9, of which the sum with a number keeps seven digits."""
    rng = np.random.default_rng(0)
    for n_rounds, n_actions in SHAPES:
        losses = make_path(family, n_rounds, n_actions, seed=n_rounds) / 4
        assert_same_weights(run(losses + 0.7 * rng.random((n_rounds, 1))), run(losses))


@pytest.mark.parametrize("n_actions", [2, 3, 7, 10, 49, 50])
def test_equal_losses_before_a_path_change_no_weight(n_actions):
    for n_equal in (1, 2, 99, 1000):
        losses = make_path("uniform", 8, n_actions, seed=n_equal)
        equal = np.tile(np.random.default_rng(1).random((n_equal, 1)), (1, n_actions))
        played = run(np.concatenate([equal, losses]))
        assert_same_weights(played[:n_equal], np.full((n_equal, n_actions), 1 / n_actions))
        assert_same_weights(played[n_equal:], run(losses))
        hints = np.full((n_equal + 8, n_actions), 0.3)
        assert_same_weights(run(np.concatenate([equal, losses]), hints)[n_equal:], run(losses, hints[n_equal:]))


# Symmetry and ties


@pytest.mark.parametrize("family", FAMILIES)
def test_weights_move_with_the_actions(family):
    rng = np.random.default_rng(1)
    for n_rounds, n_actions in SHAPES:
        losses = make_path(family, n_rounds, n_actions, seed=n_rounds)
        order = rng.permutation(n_actions)
        assert_same_weights(run(losses[:, order]), run(losses)[:, order])


@pytest.mark.interpreted
def test_actions_of_equal_history_have_equal_weights():
    for family in EXACT_FAMILIES:
        losses = np.repeat(make_path(family, 30, 3, seed=2), 2, axis=1)
        weights = run(losses)
        assert_same_weights(weights[:, ::2], weights[:, 1::2])


@pytest.mark.interpreted
def test_rounding_does_not_choose_between_bases_of_equal_loss():
    """All bases lose 0.5 in round 2, on any order of the actions; sums in another order differ by an ulp."""
    losses = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.5], [0.3, 0.2, 0.9]])
    for factor in (1.0, 0.1, 0.3, 0.7):
        for order in ([0, 1, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]):
            state = Tracker().start(3)
            Tracker().run(state, factor * losses[:2, order])
            assert state.memory.rule_gap[0] == 0.0
            np.testing.assert_allclose(state.memory.rule_weights, _RULES[False].prior, rtol=1e-12)


@pytest.mark.interpreted
def test_the_rule_without_a_gap_has_its_prior_as_weights():
    rule = PriorAdaHedge((0.5, 0.3, 0.2))
    state = rule.start(3)
    for losses in ([0.1, 0.1, 0.1], [0.1 + 1e-16, 0.1, 0.1], [0.3, 0.3, 0.3 + 1e-16]):
        rule.update(state, losses)
    np.testing.assert_allclose(rule.predict(state), [0.5, 0.3, 0.2], rtol=1e-12)
    rule.update(state, [0.0, 1e-9, 1e-9])  # a small loss is no rounding
    gap = 0.5e-9
    mass = np.array([0.5, 0.3, 0.2]) * np.exp(-log(5) / gap * np.array([0.0, 1e-9, 1e-9]))
    np.testing.assert_allclose(rule.predict(state), mass / mass.sum(), rtol=1e-6)


def test_ties_of_the_leader_are_not_broken_by_rounding():
    """Tenths are no doubles: after ten rounds the totals differ by rounding, in the order of the losses."""
    losses = np.array([[0.1 * k, 0.1 * (9 - k)] for k in range(10)])
    state = Tracker().start(2)
    Tracker().run(state, losses)
    np.testing.assert_array_equal(state.memory.base_weights[0], [0.5, 0.5])
