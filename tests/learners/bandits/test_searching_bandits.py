"""AdSwitch and MASTER against slow references, what they draw, and which changes they detect."""

from math import log, log2

import numpy as np
import pytest
from scipy import stats

from driftwise.core.errors import InvalidInput
from driftwise.core.measures import Measures
from driftwise.core.random import new_generator, next_uniform
from driftwise.learners import AdSwitch, Master
from driftwise.learners.bandits import adswitch
from paths import FAMILIES, make_path
from references import searching

SHAPES = ((20, 1), (1, 4), (2, 2), (110, 2), (70, 3), (50, 10))  # rounds, actions
# Small constants, so that everything happens within a hundred rounds.
ADSWITCH = {
    "published": {"n_rounds": 100, "check_depth": 16.0},
    "default": {},
    "quick": {"n_rounds": 3, "threshold_scale": 0.3, "check_depth": 2.0},
    "quick-doubling": {"threshold_scale": 0.1, "check_depth": 4.0, "resolution": 1},
    "fine": {"n_rounds": 2, "threshold_scale": 0.05, "check_depth": 32.0, "resolution": 3},
}
MASTER = {
    "published": {"n_rounds": 1000, "failure_probability": 0.001, "threshold_scale": 1.0},
    "quick": {"n_rounds": 100, "failure_probability": 0.9, "threshold_scale": 0.004},
    "rash": {"n_rounds": 2, "failure_probability": 0.9, "threshold_scale": 0.003},
    "once": {"n_rounds": 1, "failure_probability": 0.5, "threshold_scale": 0.02},
}


def draws(seed):
    words = new_generator(seed)
    return lambda: next_uniform(words)


def run(learner, losses, seed=0, borders=()):
    state = learner.start(losses.shape[1], seed=seed)
    return np.concatenate([learner.run(state, block) for block in np.split(losses, borders)]), state


def twins(learner, twin, parameters, family):
    """Compare the actions on every shape; return what happened."""
    events = []
    for n_rounds, n_actions in SHAPES:
        losses = make_path(family, n_rounds, n_actions, seed=n_rounds)
        expected, seen = twin(losses, draws(n_rounds), **parameters)
        actions, state = run(learner(**parameters), losses, n_rounds, (n_rounds // 3, n_rounds // 2))
        np.testing.assert_array_equal(actions, expected)
        alarms = sorted({t - 1 for t, event in seen if event in ("episode", 1, 2)})  # rounds from 0; 1 and 2 are tests
        beliefs = state.learner.beliefs(state)
        assert (beliefs.alarms, beliefs.n_alarms) == (tuple(alarms[-64:]), len(alarms))
        events += [event for _, event in seen]
    return events


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("parameters", ADSWITCH.values(), ids=ADSWITCH)
def test_adswitch_plays_what_its_formulas_say(parameters, family):
    twins(AdSwitch, searching.adswitch, parameters, family)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("parameters", MASTER.values(), ids=MASTER)
def test_master_plays_what_its_formulas_say(parameters, family):
    twins(Master, searching.master, parameters, family)


def test_the_comparison_covers_every_event():
    assert {"episode", "bad", "check"} <= set(twins(AdSwitch, searching.adswitch, ADSWITCH["quick"], "switching"))
    assert "restart" in twins(AdSwitch, searching.adswitch, ADSWITCH["quick-doubling"], "switching")
    assert set(twins(Master, searching.master, MASTER["rash"], "noiseless")) == {2}


@pytest.mark.parametrize("step", [-1, 1])
def test_a_change_of_a_good_action_is_detected_from_its_earlier_mean(step):
    """All actions change in the same way, so that none becomes BAD; intervals from before the change are not tested."""
    losses = np.repeat([0.125, 0.875, 0.125][::step], (60, 60, 61))[:, None] * np.ones(2)
    expected, events = searching.adswitch(losses, draws(1), n_rounds=2)
    assert [event for _, event in events] == ["episode", "episode"]
    actions, state = run(AdSwitch(2), losses, seed=1)
    np.testing.assert_array_equal(actions, expected)
    assert len(losses) - state.memory.clock[1] == events[-1][0]


@pytest.mark.parametrize("turned", [0.25, 1.0])
def test_a_change_of_a_bad_action_is_detected_by_its_scheduled_plays(turned):
    losses = np.repeat([[0.25, 0.625], [0.25, turned]], 100, axis=0)
    parameters = {"n_rounds": 2, "threshold_scale": 0.3, "check_depth": 8.0}
    expected, events = searching.adswitch(losses, draws(1), **parameters)
    assert [event for _, event in events if event != "check"][:2] == ["bad", "episode"]
    actions, state = run(AdSwitch(**parameters), losses, seed=1)
    np.testing.assert_array_equal(actions, expected)
    assert len(losses) - state.memory.clock[1] == max(t for t, event in events if event == "episode")


def test_master_starts_again_when_losses_are_suddenly_low():
    """Every loss is 1 until the middle of the block from round 512 on, and 0 after it."""
    losses = np.concatenate([np.ones((767, 2)), np.zeros((256, 2)), make_path("coin", 100, 2, seed=1)])
    parameters = {"n_rounds": 1, "failure_probability": 0.99, "threshold_scale": 16.0}
    for seed, failures in ((0, [(1023, 1)]), (1, []), (5, [(238, 2), (1005, 1)])):
        expected, failed = searching.master(losses, draws(seed), **parameters)
        assert failed == failures
        np.testing.assert_array_equal(run(Master(**parameters), losses, seed)[0], expected)


@pytest.mark.interpreted
def test_a_short_path_is_played_as_the_formulas_say():
    losses = make_path("noiseless", 40, 2, seed=3)
    for learner, twin, parameters in (
        (AdSwitch, searching.adswitch, ADSWITCH["quick"]),
        (Master, searching.master, MASTER["rash"]),
    ):
        expected, _ = twin(losses, draws(1), **parameters)
        np.testing.assert_array_equal(run(learner(**parameters), losses, seed=1)[0], expected)


# Intervals that are tested


@pytest.mark.parametrize("resolution", [1, 2, 3, 8])
def test_sums_since_the_starting_points_are_those_of_the_plays(resolution):
    random = np.random.default_rng(resolution)
    sums, plays = np.zeros((adswitch.n_rows(resolution), 2, 2)), []
    for t in range(1, 140):
        plays.append((int(random.integers(2)), float(random.integers(9)) / 8))
        adswitch.record(sums, *plays[-1])
        rows = range(1, adswitch.rows_in_use(t, resolution))
        points = searching.starting_points(t, resolution)
        expected = [searching.plays_and_mean(plays, u, 1) for u in points]
        found = dict.fromkeys(adswitch.since(sums, row, 1) for row in rows)  # those that repeat the first drop out
        assert list(found) == list(dict.fromkeys((n, mean or 0.0) for n, mean in expected))
        adswitch.keep(sums, t, resolution)


@pytest.mark.parametrize("resolution", [1, 2, 3, 8])
def test_starting_points_are_few_and_leave_no_length_out(resolution):
    for t in range(1, 300):
        lengths = t - np.array(searching.starting_points(t, resolution))
        assert len(lengths) <= 1 + resolution * (log2(t) + 1)
        for d in range(1, t + 1):
            assert (lengths[lengths >= d].min() - d) * (2 * resolution - 1) < 2 * d


# Random draws


def test_checks_have_the_right_lengths_and_frequencies():
    """Two actions, losses 0 and 1: action 1 becomes BAD at a round that the draws cannot change."""
    learner = AdSwitch(n_rounds=2, threshold_scale=1.0, check_depth=16.0)  # ln 2 / (n - 1) < 1 from 2 plays on
    plays_left = []
    for seed in range(3000):
        state = run(learner, np.tile([0.0, 1.0], (4, 1)), seed)[1]
        assert state.memory.gap.tolist() == [0.0, 1.0]
        plays_left.append(state.memory.plays_left[1])
    chance = (1 / (2 * 2 * log(2))) ** 0.5
    none, expected = 1.0, {}
    for i in range(4, 0, -1):  # down to 2^-4 = gap / 16; the longest check counts
        expected[float(int(2 ** (2 * i + 1) * log(2)))] = none * chance * 2.0**-i
        none *= 1 - chance * 2.0**-i
    expected[0.0] = none
    counts = [plays_left.count(check) for check in expected]
    assert sum(counts) == len(plays_left)
    assert stats.chisquare(counts, len(plays_left) * np.array(list(expected.values()))).pvalue > 0.01


def test_instances_begin_with_the_right_frequencies():
    """In the block of 64 rounds, at each of the rounds that an instance of the order may begin with."""
    learner, order = Master(), 6
    began = np.zeros((order, 2))
    for seed in range(60):
        state = learner.start(2, seed=seed)
        learner.run(state, np.full((2**order - 1, 2), 0.5))
        for t in range(2**order):
            assert state.memory.block.tolist() == [order, t]
            for m in range(order):
                if t % 2**m == 0:
                    began[m] += [state.memory.ends[m] == t + 2**m, 1]
            learner.run(state, np.full((1, 2), 0.5))
    chance = searching.rho(2, 2**order) / np.array([searching.rho(2, 2**m) for m in range(order)])
    for (n_began, n_chances), p in zip(began, chance, strict=True):
        assert stats.binomtest(int(n_began), int(n_chances), p).pvalue > 0.01


# When tests can fail


@pytest.mark.parametrize(("n_actions", "scale"), [(1, 1.0), (2, 1.0), (50, 1.0), (2, 0.01), (2, 1e-6)])
def test_no_test_can_fail_before_the_earliest(n_actions, scale):
    learner = Master(n_rounds=10**5, failure_probability=1e-5, threshold_scale=scale)
    tolerance = 18 * scale * (log2(10**5) + 1) * log(10**10)
    earliest = learner.earliest_test(n_actions)
    assert tolerance * searching.rho(n_actions, earliest) <= 1 + 1e-9
    assert earliest == 1 or tolerance * searching.rho(n_actions, earliest - 1) > 1 - 1e-9


def test_the_published_tests_wait_for_a_hundred_million_rounds():
    earliest = Master(n_rounds=10**5, failure_probability=1e-5).earliest_test(2)
    assert round(earliest / 1e6) == 107  # "more than 1.06e8" in short
    with pytest.raises(InvalidInput, match="`n_actions` must be a whole number >= 1"):
        Master().earliest_test(0)


def test_the_earliest_test_fires_when_every_optimistic_estimate_is_zero():
    """With so small a failure probability every optimistic estimate is 0, so a loss of 1 differs from it most."""
    learner = Master(n_rounds=1000, failure_probability=1e-300, threshold_scale=5e-5)
    earliest = learner.earliest_test(2)
    assert 64 < earliest <= 128
    state = learner.start(2)
    learner.run(state, np.ones((127 + earliest - 1, 2)))  # the block of 128 rounds begins with the 128th
    assert state.memory.block.tolist() == [7, earliest - 1]
    learner.run(state, np.ones((1, 2)))
    assert state.memory.block.tolist() == [0, 0]


# Which changes are detected


def bernoulli(means, lengths, seed):
    means = np.repeat(np.array(means), lengths, axis=0)
    return means, (np.random.default_rng(seed).random(means.shape) < means).astype(float)


def regret(means, actions):
    return float((means[np.arange(len(actions)), actions] - means.min(axis=1)).sum())


def test_a_best_action_that_turns_bad_is_left_much_sooner_than_by_ucb1():
    """UCB1 stays until the mean of all its losses has risen from 0.1 to 0.5; a swap would call it back at once."""
    means, losses = bernoulli([[0.1, 0.5], [0.9, 0.5]], [20_000, 20_000], seed=1)
    after = slice(20_000, None)
    ucb1 = regret(means[after], searching.ucb1(losses)[after])
    for learner, share in (
        (AdSwitch(40_000, check_depth=16.0), 0.6),
        (AdSwitch(40_000), 0.25),
        (Master(40_000), 0.25),
    ):
        actions, _ = run(learner, losses, seed=1)
        assert regret(means[after], actions[after]) < share * ucb1


def test_a_swap_begins_one_new_episode_soon():
    """From 0.1 / 0.9 to 0.9 / 0.1: the radii of a hundred plays add up to less than the change."""
    _, losses = bernoulli([[0.1, 0.9], [0.9, 0.1]], [3000, 3000], seed=1)
    learner = AdSwitch(6000)
    state, episodes = learner.start(2, seed=1), []
    for block in np.split(losses, [3000, 3200]):
        learner.run(state, block)
        episodes.append(int(state.memory.clock[2]))
    assert episodes == [1, 2, 2]
    assert state.memory.gap[1] == 0.0 < state.memory.gap[0]


def test_after_a_swap_master_soon_plays_the_new_best():
    _, losses = bernoulli([[0.1, 0.9], [0.9, 0.1]], [3000, 3000], seed=1)
    actions, _ = run(Master(6000), losses, seed=1)
    assert actions[2000:3000].mean() < 0.25
    assert actions[4000:5000].mean() > 0.75


# Edges


@pytest.mark.parametrize("learner", [AdSwitch, Master])
def test_tuning_takes_the_rounds_and_works_with_the_smallest_measures(learner):
    for n_actions, n_rounds in ((1, 1), (1, 50), (3, 1), (3, 50)):
        tuned = learner.tuned(Measures(n_actions, n_rounds, segments=1, drift=0.0, variance=0.0))
        assert tuned.n_rounds == n_rounds
        assert run(tuned, make_path("uniform", n_rounds, n_actions, seed=1))[0].shape == (n_rounds,)


@pytest.mark.parametrize(
    ("learner", "array", "index", "value"),
    [
        (AdSwitch(), "clock", 0, 49),
        (AdSwitch(), "clock", 1, 51),
        (AdSwitch(), "clock", 1, -1),
        (AdSwitch(), "clock", 2, 0),
        (AdSwitch(), "gap", slice(None), 0.5),
        (AdSwitch(), "horizon", 0, 64.0),
        (AdSwitch(60), "horizon", 1, -1.0),
        (Master(), "block", 0, 48),
        (Master(), "block", 0, -1),
        (Master(), "block", 1, 32),
        (Master(), "block", 1, -1),
        (Master(), "ends", 5, 0),
        (Master(), "action", 0, 3),
        (Master(), "action", 1, 6),
    ],
)
def test_an_impossible_memory_is_not_accepted(learner, array, index, value):
    state = run(learner, make_path("uniform", 50, 3, seed=1))[1]
    assert learner.memory_fault(state.memory, 3, 50) == ""
    getattr(state.memory, array)[index] = value
    assert learner.memory_fault(state.memory, 3, 50) != ""
