"""The families that defeated earlier defaults: each world is as its docstring says."""

import numpy as np
import pytest

from driftwise.learners import Thompson
from driftwise.regret_study.attacks import FAMILIES
from driftwise.regret_study.families import play

CELLS = [(name, *cell) for name, family in FAMILIES.items() for cell in family.cells]


def drawn(name, seed=0, n_rounds=10_000, n_actions=2):
    return FAMILIES[name].draw(np.random.default_rng(seed), n_rounds, n_actions)


@pytest.mark.parametrize(("name", "n_actions", "n_rounds"), CELLS)
def test_losses_and_means_lie_in_the_unit_interval_and_repeat_for_a_seed(name, n_actions, n_rounds):
    world, again = (drawn(name, 3, n_rounds, n_actions) for _ in range(2))
    assert world.losses.shape == world.means.shape == (n_rounds, n_actions)
    for values in (world.losses, world.means):
        assert values.dtype == np.float64
        assert values.min() >= 0
        assert values.max() <= 1
    assert world.seen.all()
    assert np.array_equal(world.losses, again.losses)


@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if family.independent])
def test_losses_of_independent_rounds_average_to_their_means(name):
    """Differences of many rounds are within five standard errors of 0."""
    world = drawn(name, 1)
    noise = (world.losses - world.means).sum(axis=0)
    assert (np.abs(noise) <= 5 * np.sqrt((world.means * (1 - world.means)).sum(axis=0)) + 1e-9).all()


def test_late_noise_begins_after_a_part_of_the_rounds_and_noise_goes_on_and_off_in_eight_parts():
    shares = set()
    for seed in range(20):
        quiet = (drawn("late noise", seed).losses == drawn("late noise", seed).means).all(axis=1)
        shares.add(int(quiet.sum()))
        assert quiet[: quiet.sum()].all()
    assert shares == {500, 2500, 6000}
    world = drawn("noise on and off")
    quiet = (world.losses == world.means).all(axis=1)
    assert np.flatnonzero(np.diff(quiet)).tolist() == [1249, 2499, 3749, 4999, 6249, 7499, 8749]


def test_common_shocks_are_shared_and_correlated_in_time():
    world = drawn("common shocks")
    noise = world.losses - world.means
    inside = ((world.losses > 0) & (world.losses < 1)).all(axis=1)
    assert np.allclose(noise[inside, 0], noise[inside, 1])
    assert 0.25 < np.corrcoef(noise[1:, 0], noise[:-1, 0])[0, 1] < 0.98
    together = (drawn("shocks in runs", n_actions=5).losses == 1).all(axis=1)
    assert 0.2 < together.mean() < 0.35  # 20 of 80 rounds, and rarely by chance


def test_the_last_action_falls_below_the_best_after_half_of_the_rounds():
    world = drawn("unplayed fall", n_actions=3)
    assert world.means[4999].tolist() == [0.1, 0.6, 0.6]
    assert world.means[5000].tolist() == [0.1, 0.6, 0.0]


@pytest.mark.parametrize(("name", "lengths"), [("period two", (2,)), ("longer periods", (3, 4, 7))])
@pytest.mark.parametrize("seed", range(6))
def test_periods_repeat_and_all_actions_have_the_same_mean(seed, name, lengths):
    world = drawn(name, seed, n_rounds=84 * 10, n_actions=3)  # a multiple of every period
    assert any(np.array_equal(world.losses[period:], world.losses[:-period]) for period in lengths)
    assert np.allclose(world.losses.mean(axis=0), world.means[0])
    assert not np.array_equal(world.losses[:, 0], world.losses[:, 1])


def test_losses_fill_a_part_of_the_range_and_a_wide_round_all_of_it():
    assert {*np.unique(drawn("range not filled").losses)} == {0.5, 0.51}
    for seed in range(10):
        losses = drawn("wide round", seed, n_actions=10).losses
        wide = np.flatnonzero(losses.max(axis=1) > 0.1)
        assert len(wide) == 1
        assert wide[0] in (10, 100, 5000)


def test_segments_have_a_new_best_action_each():
    means = drawn("range not filled", n_actions=5).means
    best = means.argmin(axis=1)
    assert len(np.flatnonzero(np.diff(best))) == 7
    assert np.flatnonzero(np.diff(best)).tolist() == [1250 * i - 1 for i in range(1, 8)]


def test_a_learner_that_samples_is_not_defeated_by_periods():
    """Thompson's regret against a fixed action, as a part of the rounds: below 0.01 in every one of five seeds."""
    for seed in range(5):
        assert play(Thompson(), drawn("period two", seed), False, seed) < 0.01 * 10_000
