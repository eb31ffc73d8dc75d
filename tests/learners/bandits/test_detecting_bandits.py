"""Learners that restart and bandit over bandit against loops that keep every round; the oracle against new starts."""

import math
from itertools import product

import numba
import numpy as np
import pytest
from scipy import stats

from driftwise.checks.check import expect_same, stepped
from driftwise.core.random import next_uniform
from driftwise.detectors import CUSUM, GLR, PageHinkley, WindowedShift, detectors
from driftwise.learners import (
    CUSUMUCB,
    GLRKLUCB,
    KLUCB,
    MUCB,
    UCB1,
    UCBV,
    BanditLearner,
    BanditOverBandit,
    DetectAndRestart,
    DiscountedKLUCB,
    DiscountedThompson,
    DiscountedUCB,
    OracleRestarts,
    SlidingWindowKLUCB,
    SlidingWindowUCB,
    State,
    Thompson,
    learners,
)
from driftwise.learners.shared.index_learner import IndexLearner
from paths import make_path
from references import indices
from references.indices import Restarts
from replaying import draws, run

BLOCK_SIZES = (1, 7, 64)
# The learner, its index and its restart rule. No sum can equal a threshold, where rounding would decide.
TWINS = {
    "cusum-ucb": (
        CUSUMUCB(0.1, 0.3, 15, 0.1, 1.93),
        indices.ucb1(0.3),
        Restarts(indices.cusum(15, 0.1, 1.93), False, 0.1),
    ),
    "m-ucb": (
        MUCB(0.25, 12, 3.0),
        indices.ucb1(2.0),
        Restarts(indices.windowed_shift(12, 3.0), False, 0.25, schedule=True, everywhere=True),
    ),
    "glr-kl-ucb-local": (
        GLRKLUCB(0.3, 0.5, 0.3, "local", 4, 3),
        indices.kl_ucb(0.5),
        Restarts(indices.glr(0.3, 4, 3), True, 0.3, schedule=True, by_age=True),
    ),
    "glr-kl-ucb-global-full": (
        GLRKLUCB(0.2, 0.0, 0.3, "global", None, 1),
        indices.kl_ucb(0.0),
        Restarts(indices.glr(0.3, None, 1), True, 0.2, schedule=True, everywhere=True, by_age=True),
    ),
    "ucb1-page-hinkley": (
        DetectAndRestart(UCB1(0.5), PageHinkley(0.05, 2.0), 0.1),
        indices.ucb1(0.5),
        Restarts(indices.page_hinkley(0.05, 2.0), False, 0.1),
    ),
    "a-window-locally": (
        DetectAndRestart(SlidingWindowUCB(40), PageHinkley(0.0, 1.5), 0.1, True),
        indices.sliding_window_ucb(40),
        Restarts(indices.page_hinkley(0.0, 1.5), False, 0.1, schedule=True),
    ),
    "a-kl-window-globally": (
        DetectAndRestart(SlidingWindowKLUCB(25, 1.0), WindowedShift(8, 2.5), 0.2, False, "global"),
        indices.sliding_window_kl_ucb(25, 1.0),
        Restarts(indices.windowed_shift(8, 2.5), False, 0.2, everywhere=True),
    ),
    "a-fading-past-locally": (
        DetectAndRestart(DiscountedUCB(0.9), CUSUM(5, 0.1, 1.47), 0.3),
        indices.discounted_ucb(0.9),
        Restarts(indices.cusum(5, 0.1, 1.47), False, 0.3),
    ),
    "a-fading-kl-past-never-exploring": (
        DetectAndRestart(DiscountedKLUCB(0.95), CUSUM(5, 0.05, 0.97), 0.0, True, "global"),
        indices.discounted_kl_ucb(0.95),
        Restarts(indices.cusum(5, 0.05, 0.97), False, 0.0, schedule=True, everywhere=True),
    ),
    "ucb-v-always-exploring": (
        DetectAndRestart(UCBV(), GLR(0.9, 8, 2), 1.0, True),
        indices.ucb_v(),
        Restarts(indices.glr(0.9, 8, 2), True, 1.0, schedule=True),
    ),
}
SAMPLERS = {
    "thompson": (
        DetectAndRestart(Thompson(), CUSUM(8, 0.1, 2.0), 0.2),
        1.0,
        Restarts(indices.cusum(8, 0.1, 2.0), False, 0.2),
    ),
    "discounted-thompson": (
        DetectAndRestart(DiscountedThompson(0.9), PageHinkley(0.1, 2.0), 0.2, True, "global"),
        0.9,
        Restarts(indices.page_hinkley(0.1, 2.0), False, 0.2, schedule=True, everywhere=True),
    ),
}
SHAPES = ((1, 1), (40, 1), (1, 3), (250, 2), (160, 3), (100, 10))


def jumping(n_rounds, n_actions, kind, seed):
    """Losses whose means jump every 40 rounds."""
    rng = np.random.default_rng(seed)
    means = np.repeat(rng.random((n_rounds // 40 + 1, n_actions)), 40, axis=0)[:n_rounds]
    if kind == "coin":
        return (rng.random(means.shape) < means).astype(float)
    return (
        np.round(8 * means) / 8
        if kind == "noiseless"
        else np.clip(means + 0.1 * rng.normal(size=means.shape), 0.0, 1.0)
    )


@pytest.mark.parametrize("kind", ["coin", "noiseless", "scattered"])
@pytest.mark.parametrize(("learner", "index", "restart_rule"), TWINS.values(), ids=TWINS)
def test_restarts_are_those_of_the_whole_history(learner, index, restart_rule, kind):
    near_ties, restarts = indices.NearTies(1e-7 if "UCBV" in str(learner) else 1e-9), 0
    for n_rounds, n_actions in SHAPES:
        losses = jumping(n_rounds, n_actions, kind, seed=n_actions)
        actions, state = run(learner, losses, seed=3)
        uniform, _ = draws(learner, n_actions, seed=3)
        expected, since, alarms = indices.restarting_actions(index, restart_rule, losses, uniform, actions, near_ties)
        np.testing.assert_array_equal(actions, expected)
        np.testing.assert_array_equal(state.memory.reset_rounds, since)
        beliefs = learner.beliefs(state)
        assert (beliefs.alarms, beliefs.n_alarms, beliefs.segments) == (tuple(alarms), len(alarms), 1 + len(alarms))
        restarts += np.count_nonzero(since)
    assert near_ties.share() <= 0.02
    assert restarts > 0


@pytest.mark.interpreted
@pytest.mark.parametrize(("learner", "index", "restart_rule"), TWINS.values(), ids=TWINS)
def test_restarts_on_a_short_path_are_those_of_the_whole_history(learner, index, restart_rule):
    losses = jumping(90, 2, "coin", seed=1)
    actions, _ = run(learner, losses, seed=3)
    uniform, _ = draws(learner, 2, seed=3)
    np.testing.assert_array_equal(actions, indices.restarting_actions(index, restart_rule, losses, uniform, actions)[0])


@pytest.mark.parametrize("kind", ["coin", "scattered"])
@pytest.mark.parametrize(("learner", "discount", "restart_rule"), SAMPLERS.values(), ids=SAMPLERS)
def test_thompson_restarts_are_those_of_the_whole_history(learner, discount, restart_rule, kind):
    """The detector takes the losses themselves, the index takes them rounded to 0 or 1."""
    for n_rounds, n_actions in SHAPES:
        losses = jumping(n_rounds, n_actions, kind, seed=n_actions)
        actions, state = run(learner, losses, seed=3)
        uniform, beta = draws(learner, n_actions, seed=3)
        index = indices.thompson(beta, discount)
        expected, since, alarms = indices.restarting_actions(
            index, restart_rule, losses, uniform, actions, as_index_loss=indices.rounded(uniform)
        )
        np.testing.assert_array_equal(actions, expected)
        np.testing.assert_array_equal(state.memory.reset_rounds, since)
        assert learner.beliefs(state).alarms == tuple(alarms)


@pytest.mark.parametrize("name", [*TWINS, *SAMPLERS])
def test_block_borders_do_not_change_the_actions(name):
    learner = (TWINS | SAMPLERS)[name][0]
    losses = jumping(200, 3, "coin", seed=2)
    whole, at_the_end = run(learner, losses)
    for block_size in BLOCK_SIZES:
        actions, state = run(learner, losses, block_size)
        np.testing.assert_array_equal(actions, whole)
        expect_same(state, at_the_end, f"in blocks of {block_size}")


@pytest.mark.interpreted
@pytest.mark.parametrize("restart", ["local", "global"])
def test_scheduled_exploration_plays_every_action_in_turn(restart):
    """With an index that never plays it again, the last action is played in its turn and in no other round."""
    n_rounds, n_actions, exploration_rate = 120, 3, 0.2
    learner = DetectAndRestart(UCB1(1e-9), CUSUM(threshold=math.inf), exploration_rate, True, restart)
    losses = np.tile([0.0, 0.5, 1.0], (n_rounds, 1))
    actions, _ = run(learner, losses)
    period = math.ceil(n_actions / exploration_rate)
    assert period == 15
    for action in (1, 2):
        assert list(np.flatnonzero(actions == action)) == list(range(action, n_rounds, period))


@pytest.mark.interpreted
def test_a_tiny_exploration_rate_hardly_explores():
    losses = np.zeros((3, 2))
    for exploration_rate in (1e-18, 1e-20, 1e-300, 5e-324):
        for learner in (
            DetectAndRestart(exploration_rate=exploration_rate, schedule=True),
            MUCB(exploration_rate),
            CUSUMUCB(exploration_rate),
        ):
            assert list(run(learner, losses)[0]) == [0, 1, 0]


# A detector that never raises an alarm does not change the base

BASES = [learners.get(name)() for name in learners if issubclass(learners.get(name), IndexLearner)]
NEVER = {
    member: member(failure_probability=0.0) if member is GLR else member(threshold=math.inf)
    for member in (detectors.get(name) for name in detectors)
}
# A pair takes a second to compile, so only those above are compiled; interpreted, every pair is tested.
MET = {type(base): type(detector) for base, detector in (twin[0].parts for twin in (TWINS | SAMPLERS).values())}
PAIRS = (
    list(product(BASES, NEVER.values()))
    if numba.config.DISABLE_JIT
    else [(base, NEVER[MET.get(type(base), CUSUM)]) for base in BASES]
)


@pytest.mark.interpreted
@pytest.mark.parametrize(("base", "detector"), PAIRS, ids=str)
def test_without_alarms_and_exploration_the_base_plays_as_if_alone(base, detector):
    for family, n_actions in (("switching", 3), ("uniform", 2), ("tied", 5)):
        losses = make_path(family, 150, n_actions, seed=4)
        alone, _ = run(base, losses, seed=6)
        for schedule, restart in ((False, "local"), (True, "global")):
            with_detector, _ = run(DetectAndRestart(base, detector, 0.0, schedule, restart), losses, seed=6)
            np.testing.assert_array_equal(with_detector, alone)


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("learner", "base"),
    [
        (CUSUMUCB(0.0, threshold=math.inf), UCB1()),
        (MUCB(0.0, threshold=math.inf), UCB1()),
        (GLRKLUCB(0.0, failure_probability=0.0), KLUCB()),
        (GLRKLUCB(0.0, 3.0, 0.0, "global", None), KLUCB(3.0)),
        (BanditOverBandit(restart_every=400, exploration_rate=1.0), None),
        (OracleRestarts(UCBV()), UCBV()),
    ],
    ids=str,
)
def test_learners_made_of_others_are_equal_to_them_at_some_parameters(learner, base):
    losses = make_path("switching", 150, 3, seed=4)
    actions, state = run(learner, losses)
    if base is None:  # one block is one window
        base = SlidingWindowUCB(int(state.memory.windows[state.memory.drawn[0]]))
    np.testing.assert_array_equal(actions, run(base, losses)[0])


# Bandit over bandit


@pytest.mark.parametrize("kind", ["coin", "noiseless", "scattered"])
@pytest.mark.parametrize("block", [1, 2, 8, 30])
def test_bandit_over_bandit_is_that_of_its_blocks(block, kind):
    learner = BanditOverBandit(block, exploration_rate=0.4, log_scale=0.3)
    near_ties = indices.NearTies()
    for n_rounds, n_actions in (*SHAPES, (30, 2), (31, 2)):
        losses = jumping(n_rounds, n_actions, kind, seed=n_actions)
        words = np.random.SeedSequence(9).generate_state(4, np.uint64)
        actions, state = run(learner, losses, seed=9)
        expected, drawn = indices.bandit_over_bandit_actions(
            losses, lambda: next_uniform(words), block, 0.4, 0.3, actions, near_ties
        )
        np.testing.assert_array_equal(actions, expected)
        if n_rounds % block:  # otherwise the next window has been drawn already
            assert state.memory.windows[state.memory.drawn[0]] == drawn[-1]
        for block_size in BLOCK_SIZES:
            np.testing.assert_array_equal(run(learner, losses, block_size, seed=9)[0], actions)
    assert near_ties.share() <= 0.01


def test_windows_are_the_powers_rounded_down():
    """In whole numbers: 216 and 343 are cubes, and 216 ** (2/6) is 5.999..."""
    assert BanditOverBandit(8).windows == [1, 2, 4, 8]
    assert 6 in BanditOverBandit(216).windows
    assert 7 in BanditOverBandit(343).windows
    for block in range(1, 3000):
        assert BanditOverBandit(block).windows == indices.bob_windows(block)


def test_every_window_is_drawn():
    """All windows have equal probabilities at first; with every loss 1 there is no gain, and they stay equal."""
    learner = BanditOverBandit(8, exploration_rate=0.3)
    first = [learner.start(2, seed).memory.drawn[0] for seed in range(1500)]
    assert stats.chisquare(np.bincount(first, minlength=4)).pvalue > 0.001
    state, later = learner.start(2, seed=1), []
    for _ in range(1500):
        learner.run(state, np.ones((8, 2)))
        later.append(state.memory.drawn[0])
    assert stats.chisquare(np.bincount(later, minlength=4)).pvalue > 0.001


def test_the_windows_with_the_least_loss_are_drawn_most():
    """The best action changes every 100 rounds: a window of 1 plays both actions in turn, longer ones find the best."""
    best = np.arange(6000) // 100 % 2
    losses = np.where(np.arange(2) == best[:, None], 0.0, 1.0)
    learner = BanditOverBandit(20, exploration_rate=0.3, log_scale=0.1)
    state, drawn = learner.start(2, seed=1), []
    for block in np.split(losses, 300):
        drawn.append(state.memory.windows[state.memory.drawn[0]])
        learner.run(state, block)
    assert np.mean(np.array(drawn[150:]) > 1) > 0.8


# The oracle

ALL = [learners.get(name)() for name in learners if issubclass(learners.get(name), BanditLearner)]
MEMBERS = [learner for learner in ALL if not isinstance(learner, OracleRestarts)]
CHANGES = (1, 2, 50, 64, 70, 128, 149, 400)


def restarted_by_hand(learner, losses, changes, seed):
    """Return the actions of a learner that restarts in every segment; its random numbers continue."""
    n_actions = losses.shape[1]
    memory, played = learner.start(n_actions, seed).memory, []
    for segment in np.split(losses, [t for t in changes if t < len(losses)]):
        state = State(learner, n_actions, learner.rates(n_actions), memory)
        played.append(learner.run(state, segment))
        words = getattr(state.memory, "generator", np.zeros(4, np.uint64))
        memory = learner.first_memory(n_actions, words)
    return np.concatenate(played)


@pytest.mark.parametrize("base", MEMBERS, ids=str)
def test_the_oracle_restarts_exactly_at_the_change_points(base):
    losses = make_path("switching", 150, 3, seed=8)
    oracle = OracleRestarts(base, CHANGES)
    expected = restarted_by_hand(base, losses, CHANGES, seed=2)
    for block_size in (None, 1, 2, 7, 50, 64):
        np.testing.assert_array_equal(run(oracle, losses, block_size, seed=2)[0], expected)


@pytest.mark.interpreted
@pytest.mark.parametrize("base", [UCB1(), Thompson(), GLRKLUCB(resolution=None), BanditOverBandit(8)], ids=str)
def test_the_oracle_restarts_when_stepping(base):
    losses = make_path("switching", 150, 3, seed=8)
    oracle = OracleRestarts(base, CHANGES)
    state = oracle.start(3, seed=2)
    np.testing.assert_array_equal(stepped(oracle, state, losses), restarted_by_hand(base, losses, CHANGES, seed=2))
    assert state.rounds == 150


def test_a_deterministic_oracle_is_a_new_learner_on_each_segment():
    losses = make_path("uniform", 200, 3, seed=3)
    for base in (UCB1(), KLUCB(), SlidingWindowUCB(9)):
        expected = indices.restarted_actions(base, losses, (50, 77, 150))
        np.testing.assert_array_equal(run(OracleRestarts(base, (50, 77, 150)), losses)[0], expected)
