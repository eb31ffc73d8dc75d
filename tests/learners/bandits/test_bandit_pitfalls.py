"""Known errors of public implementations of non-stationary bandits, tested on every bandit learner of the registry.

Exploration that never draws the last action, environment and regret that switch a round apart, shares of best plays
that are averaged over what changed in between, and learners that share their random numbers.
"""

import numpy as np
import pytest

from driftwise import Bernoulli, Deterministic, Environment, Switching, simulate
from driftwise.environments import Segments
from driftwise.learners import KLUCB, UCB1, BanditLearner, Learner, OracleRestarts, Thompson, learners
from paths import make_path

MEMBERS = [learners.get(name)() for name in learners if issubclass(learners.get(name), BanditLearner)]
every_member = pytest.mark.parametrize("learner", MEMBERS, ids=str)
CHANGE, N_ROUNDS = 25, 60
MEANS = ((0.125, 0.875, 0.5), (0.75, 0.25, 0.5))  # the best action is 0, then 1
ENVIRONMENT = Environment(Segments(MEANS, (CHANGE,)), Deterministic())


def seed_of(run, seed):
    """The seed of a learner in a simulation; neither its label nor the other learners matter."""
    return int(np.random.SeedSequence(seed, spawn_key=(run, 1, 0)).generate_state(1, np.uint64)[0])


def actions_by_hand(learner, losses, run, seed):
    return learner.run(learner.start(losses.shape[1], seed_of(run, seed)), losses)


def best_plays(actions, means):
    """Return for every round whether the action was the best of that round."""
    return actions == means.argmin(axis=1)


# Exploration


@every_member
def test_every_action_is_tried_with_every_seed(learner):
    for n_actions, n_rounds in ((3, 1000), (10, 1500)):
        for losses in (np.zeros((n_rounds, n_actions)), make_path("coin", n_rounds, n_actions, seed=1)):
            for seed in range(3):
                played = np.bincount(learner.run(learner.start(n_actions, seed), losses), minlength=n_actions)
                assert (played > 0).all()


@every_member
def test_the_last_action_is_found_if_it_is_the_good_one(learner):
    losses = np.tile([1.0, 1.0, 0.0], (3000, 1))
    actions = learner.run(learner.start(3, seed=1), losses)
    assert np.mean(actions[1000:] == 2) > 0.5


# The round of a change


@pytest.mark.interpreted
def test_the_means_change_in_the_round_that_the_measures_name():
    """Whatever the blocks: rounds 0 .. 24 have the first means, rounds 25 .. the second."""
    expected = np.repeat(MEANS, (CHANGE, N_ROUNDS - CHANGE), axis=0)
    for size in (1, 5, 7, CHANGE, N_ROUNDS):
        stream = ENVIRONMENT.start(N_ROUNDS, seed=3)
        sizes = [min(size, N_ROUNDS - first) for first in range(0, N_ROUNDS, size)]
        blocks = [stream.draw(n) for n in sizes]
        np.testing.assert_array_equal(np.concatenate([block.means for block in blocks]), expected)
        np.testing.assert_array_equal(np.concatenate([block.losses for block in blocks]), expected)
    measures = ENVIRONMENT.measures(N_ROUNDS, seed=3)
    assert (measures.change_points, measures.segments) == ((CHANGE,), 2)


@pytest.mark.parametrize("n_segments", [1, 2, 7, 60])
def test_the_changes_of_a_run_are_where_its_means_differ(n_segments):
    environment = Environment(Switching(n_segments=n_segments, n_actions=3), Bernoulli())
    means = environment.start(N_ROUNDS, seed=2).draw(N_ROUNDS).means
    differ = 1 + np.flatnonzero((means[1:] != means[:-1]).any(axis=1))
    assert environment.measures(N_ROUNDS, seed=2).change_points == tuple(differ)


@every_member
def test_regret_takes_the_new_means_in_the_very_round_of_the_change(learner):
    means = np.repeat(MEANS, (CHANGE, N_ROUNDS - CHANGE), axis=0)
    rounds = np.arange(N_ROUNDS)
    for size in (CHANGE, 7, None):
        results = simulate(ENVIRONMENT, {"mine": learner}, N_ROUNDS, 2, seed=5, block_size=size)
        assert list(results.rounds) == list(range(1, N_ROUNDS + 1))
        for run in range(2):
            actions = actions_by_hand(learner, means, run, 5)
            lost = means[rounds, actions] - means.min(axis=1)
            np.testing.assert_allclose(results.regrets[0, run], np.cumsum(lost), rtol=0, atol=1e-12)


def test_regret_around_a_change_by_hand():
    """A learner that stays with action 0 regrets 0 a round up to the change and 0.5 a round from the change on."""
    greedy = UCB1(1e-6)
    (regret,) = simulate(ENVIRONMENT, {"greedy": greedy}, CHANGE + 6, 1).regrets[0]
    tries = 0.75 + 0.375  # one play of each of the others, in rounds 1 and 2
    np.testing.assert_allclose(regret[3:CHANGE], tries)
    np.testing.assert_allclose(regret[CHANGE:], tries + 0.5 * np.arange(1, 7))


@every_member
def test_the_share_of_best_plays_is_that_of_the_round(learner):
    """With losses of 0 and 1, 1 minus the regret of a round is the share of runs that played its best action."""
    environment = Environment(Segments(((0.0, 1.0, 1.0), (1.0, 1.0, 0.0)), (CHANGE,)), Deterministic())
    results = simulate(environment, {"mine": learner}, N_ROUNDS, 5, seed=3)
    means = environment.start(N_ROUNDS).draw(N_ROUNDS).means
    hits = np.mean([best_plays(actions_by_hand(learner, means, run, 3), means) for run in range(5)], axis=0)
    increments = np.diff(results.regrets[0], axis=1, prepend=0.0).mean(axis=0)
    np.testing.assert_allclose(1.0 - increments, hits, rtol=0, atol=1e-12)


def test_a_best_play_before_a_change_is_none_after_it():
    means = np.repeat(MEANS, (CHANGE, N_ROUNDS - CHANGE), axis=0)
    hits = best_plays(np.zeros(N_ROUNDS, np.int64), means)
    assert hits[:CHANGE].all()
    assert not hits[CHANGE:].any()


@pytest.mark.parametrize("size", [None, 1, 5, CHANGE, CHANGE + 1])
def test_the_tuned_oracle_restarts_in_the_round_of_the_change(size):
    results = simulate(ENVIRONMENT, {"oracle": OracleRestarts.tuned}, N_ROUNDS, 1, block_size=size)
    assert list(results.played[0]["change_points"]) == [CHANGE]
    means = np.repeat(MEANS, (CHANGE, N_ROUNDS - CHANGE), axis=0)
    base = KLUCB()
    actions = np.concatenate([base.run(base.start(3), piece) for piece in (means[:CHANGE], means[CHANGE:])])
    assert list(actions[CHANGE : CHANGE + 3]) == [0, 1, 2]
    lost = means[np.arange(N_ROUNDS), actions] - means.min(axis=1)
    np.testing.assert_allclose(results.regrets[0, 0], np.cumsum(lost), rtol=0, atol=1e-12)


# Randomness


def test_learners_under_different_labels_draw_different_numbers(monkeypatch):
    seeds, start = [], Learner.start
    monkeypatch.setattr(Learner, "start", lambda self, n, seed=0: (seeds.append(seed), start(self, n, seed))[1])
    environment = Environment(Switching(n_segments=2, n_actions=2), Bernoulli())
    players = {"one": Thompson(), "two": Thompson(), "three": Thompson()}
    results = simulate(environment, players, 300, n_runs=4, seed=1, n_threads=1)
    assert len(seeds) == len(set(seeds)) == 12
    assert len({regrets.tobytes() for regrets in results.regrets}) == 3
    # Before any loss is seen the choices are coins; those of two learners agree as often as coins do.
    states = [start(Thompson(), 2, seed) for seed in seeds]
    choices = np.array([[Thompson().choose(state)[0] for _ in range(1500)] for state in states])
    correlations = np.corrcoef(choices)[np.triu_indices(len(seeds), 1)]
    assert np.abs(correlations).max() < 4.0 / np.sqrt(1500)  # 66 pairs, four standard deviations


def test_equal_learners_in_a_list_draw_different_numbers():
    environment = Environment(Switching(n_segments=2, n_actions=3), Bernoulli())
    results = simulate(environment, [Thompson(), Thompson()], 300, n_runs=2, seed=1)
    assert results.labels == ("thompson", "thompson #2")
    assert (results.regrets[0] != results.regrets[1]).any(axis=1).all()


def test_other_learners_in_the_simulation_change_nothing():
    environment = Environment(Switching(n_segments=3, n_actions=3), Bernoulli())
    all_of_them = simulate(environment, MEMBERS, 150, n_runs=2, seed=4)
    backwards = simulate(environment, [*MEMBERS[::-2], UCB1(0.1)], 150, n_runs=2, seed=4)
    for label in backwards.labels[:-1]:
        one, other = all_of_them.labels.index(label), backwards.labels.index(label)
        np.testing.assert_array_equal(all_of_them.regrets[one], backwards.regrets[other])
