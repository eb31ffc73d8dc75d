"""Limits of a saved session: long valid sessions are accepted, impossible ones are refused safely."""

import math

import numpy as np
import pytest

from driftwise import Session
from driftwise.core.corners import LARGEST, LONGEST, SMALLEST
from driftwise.core.errors import BadFile
from driftwise.core.exponential_histograms import bucket_sizes
from driftwise.core.memory_fields import broken_shape
from driftwise.detectors import GLR
from driftwise.learners import (
    CBCE,
    CUSUMUCB,
    SAOL,
    AdaNormalHedgeTV,
    AdSwitch,
    BanditOverBandit,
    Exp3,
    Exp3S,
    OptimisticAdaptMLProd,
    RerunUCBV,
    SleepingAdaptMLProd,
    SleepingOptimisticAdaptMLProd,
    SlidingWindowUCB,
    Squint,
    Sword,
)

INNER_ACTIONS = {"sword": "bank0.actions", "saol": "base.actions"}  # names of limits
DRAWS_ZERO = np.array([0, 1, 0, 0], np.uint64)  # generator words from which the next uniform number is exactly 0


@pytest.mark.parametrize("learner", [AdaNormalHedgeTV(), SleepingAdaptMLProd()], ids=str)
def test_more_rounds_than_rows_are_refused_before_they_are_listed(learner, tmp_path):
    """A list of 2^40 rounds is larger than memory."""
    session = Session(learner, 2)
    session.state.rounds = session.state.memory.rounds[0] = 2**40
    session.save(tmp_path / "session")
    with pytest.raises(BadFile, match=r"`awake` must be 1099511627777, with room for one more row\.$"):
        Session.load(tmp_path / "session")


@pytest.mark.parametrize("learner", [Sword(LONGEST, LARGEST), SAOL("optimistic-gd")], ids=str)
def test_the_sizes_of_inner_memories_are_computed_without_making_them(learner):
    """A file can name a thousand bases and as many actions as it has bytes."""
    assert learner.memory_limits(10**15, 0)[INNER_ACTIONS[learner.name]] == 10**15
    memory = learner.start(3).memory
    shapes = {name: array.shape for name, array in memory._asdict().items()}
    assert broken_shape(type(memory), shapes, learner.all_limits(3, 0)) == ""
    for name, shape in shapes.items():
        for axis in range(len(shape)):
            other = (*shape[:axis], shape[axis] + 1, *shape[axis + 1 :])
            fault = broken_shape(type(memory), {**shapes, name: other}, learner.all_limits(3, 0))
            assert fault == f"`{name}` must have the shape {shape}, got {other}"


def test_stakes_that_lose_all_their_wealth_leave_a_distribution():
    """A share below the smallest normal number times a weight of 1/5 is 0, and 0/0 is not a weight."""
    learner = CBCE("optimistic-gd")
    state = learner.start(5)
    learner.run(state, np.zeros((5, 5)))
    oldest = int(np.flatnonzero(state.memory.starts > 0)[-1])
    state.memory.scores[:] = 0.0, 1.0
    state.memory.scores[oldest] = 2.0, 5e-324 * state.memory.starts[oldest] ** 2 * 1.5
    played = learner.run(state, np.zeros((20, 5)))
    assert np.allclose(played.sum(axis=1), 1.0)


def expect_numbers(state):
    assert all(np.isfinite(array).all() for array in state.arrays().values())


@pytest.mark.parametrize("learner", [Exp3(SMALLEST), Exp3S(SMALLEST)], ids=str)
def test_a_tiny_probability_that_is_passed_does_not_overflow(learner):
    """With the smallest exploration rate, no uniform share keeps the estimate finite."""
    state = learner.start(2)
    for _ in range(4):
        learner.update(state, 0, 0.0, 5e-324)
    expect_numbers(state)


def test_a_window_with_probability_zero_does_not_overflow():
    learner = BanditOverBandit(4, SMALLEST)
    state = learner.start(2)
    state.memory.chances[:] = np.eye(len(state.memory.chances))[0]
    state.memory.drawn[0] = 1
    assert learner.memory_fault(state.memory, 2, 0) == ""
    learner.run(state, np.zeros((4, 2)))
    expect_numbers(state)


def test_the_smallest_exploration_rate_still_has_a_probability_above_0():
    learner = CUSUMUCB(exploration_rate=SMALLEST)
    state = learner.start(2)
    state.memory.plays[:], state.memory.total[:], state.memory.generator[:] = (2.0, 2.0), (2.0, 0.0), DRAWS_ZERO
    assert learner.choose(state) == (0, SMALLEST)


def test_a_long_window_may_leave_sums_a_little_below_0():
    """A million losses that leave a window one by one leave rounding errors."""
    learner, window = SlidingWindowUCB(10**6), 10**6
    state = learner.start(2)
    learner.run(state, np.random.default_rng(2).random((2 * window, 2)))
    learner.run(state, np.zeros((window - 1, 2)))
    assert state.memory.total[0] < -1e-9
    assert learner.memory_fault(state.memory, 2, state.rounds) == ""
    state.memory.total[0] = -0.01
    assert learner.memory_fault(state.memory, 2, state.rounds) == f"`total` must be in [-{1e12 * 2**-52:.12g}, 2999999]"


def test_a_long_sum_of_a_detector_may_differ_from_those_of_its_buckets():
    """Seventy million values of 0.1, added one by one, sum to 6999999.9923, and in buckets to 7000000."""
    detector, n = GLR(resolution=2), 70_000_000
    row = np.zeros(detector.width)
    sizes = np.array(bucket_sizes(n, 2), float)
    row[3 : 3 + 2 * len(sizes)] = np.column_stack([sizes, 0.1 * sizes]).ravel()
    row[:3] = n, 6999999.992305321, len(sizes)
    assert detector.accepts(row, n)
    row[1] *= 1 - 1e-6
    assert not detector.accepts(row, n)


def test_equal_regrets_of_many_rounds_may_break_cauchy_and_schwarz_by_rounding():
    """As they are after 230 million rounds of the losses 0.1 and 0.9."""
    stats = np.array([[8.45, 0.78], [-1.84e8 * (1 + 1e-8), 1.472e8]])
    assert Squint.rule.possible(stats, 230_000_000)
    assert not Squint.rule.possible(np.array([[9.0, 1e-300]]), 230_000_000)


@pytest.mark.parametrize("log_scale", [1e305, LARGEST])
def test_radii_without_a_cap_stay_numbers(log_scale):
    learner = RerunUCBV(clip=False, log_scale=log_scale)
    state = learner.start(2)
    learner.run(state, np.zeros((20, 2)))
    assert learner.memory_fault(state.memory, 2, 20) == ""


def test_one_action_and_n_rounds_one_have_the_constants_of_an_anytime_prior():
    """There ln(KT) = 0, which stands for no number of rounds."""
    learner = SleepingOptimisticAdaptMLProd(n_rounds=1)
    state = learner.start(1)
    learner.run(state, np.zeros((30, 1)))
    assert learner.memory_fault(state.memory, 1, 30) == ""


def test_a_logarithm_of_another_machine_is_accepted():
    """Mathematical libraries differ in the last bit."""
    switch = AdSwitch()
    state = switch.start(2)
    switch.run(state, np.zeros((5, 2)))
    state.memory.horizon[1] = math.nextafter(state.memory.horizon[1], 9.0)
    assert switch.memory_fault(state.memory, 2, 5) == ""
    state.memory.horizon[0] = math.nextafter(state.memory.horizon[0], 9.0)
    assert switch.memory_fault(state.memory, 2, 5).startswith("`horizon`")
    cover = SAOL(OptimisticAdaptMLProd.name)
    state = cover.start(3)
    scale = state.memory.base_scale
    scale[0] = math.nextafter(scale[0, 0], 0.0)
    assert cover.memory_fault(state.memory, 3, 0) == ""
    scale[0] *= 1.1
    assert cover.memory_fault(state.memory, 3, 0).startswith("`base` of slot 0: `scale`")
