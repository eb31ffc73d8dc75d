"""Numbers that are too large, too many or of unusual types. Each is used or refused in one sentence."""

import math
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from driftwise import Bernoulli, Environment, Measures, Replay, Session, Switching, simulate
from driftwise.checks.check import expect_same, mixed_losses
from driftwise.core import validation
from driftwise.core.errors import InvalidInput, UnknownName
from driftwise.core.validation import MAX_COUNT
from driftwise.detectors import GLR, Monitor, WindowedShift
from driftwise.environments import Bursts, CoinFlips, RandomSegments, stationary
from driftwise.environments.paths.segments import equal_starts
from driftwise.learners import (
    BanditOverBandit,
    CalibratedHedge,
    Hedge,
    OptimisticGD,
    RerunUCBV,
    SleepingOptimisticAdaptMLProd,
    SlidingWindowUCB,
    Sword,
    learners,
)
from driftwise.results import Dynamic, Switched

HUGE = 10**400
ENVIRONMENT = Environment(Switching(n_segments=3, n_actions=2), Bernoulli())
GB = 10**9


@pytest.fixture
def one_gigabyte(monkeypatch):
    """Pretend that this machine has a gigabyte of memory, so that messages are the same everywhere."""
    monkeypatch.setattr(validation, "memory_bytes", lambda: GB)


REFUSED = {
    "a rate beyond a float": (
        lambda: OptimisticGD(HUGE),
        "OptimisticGD: `learning_rate` must be > 0 and at most 1.798e+308, got 1" + "0" * 76 + "....",
    ),
    "a rate of 5000 digits": (
        lambda: OptimisticGD(-(10**5000)),
        "OptimisticGD: `learning_rate` must be > 0, got a whole number of 16610 bits.",
    ),
    "a large fraction": (
        lambda: Hedge(Fraction(-HUGE)),
        "Hedge: `learning_rate` must be a finite number > 0, got Fraction(-1" + "0" * 66 + "....",
    ),
    "a decimal beyond a float": (
        lambda: OptimisticGD(Decimal("1e400")),
        "OptimisticGD: `learning_rate` must be > 0 and at most 1.798e+308, got Decimal('1E+400').",
    ),
    "a signalling NaN": (
        lambda: OptimisticGD(Decimal("sNaN")),
        "OptimisticGD: `learning_rate` must be > 0, got Decimal('sNaN').",
    ),
    "a complex rate": (lambda: OptimisticGD(1j), "OptimisticGD: `learning_rate` must be > 0, got 1j."),
    "rates in an array": (
        lambda: OptimisticGD(np.ones((2, 2))),
        "OptimisticGD: `learning_rate` must be > 0, got array([[1., 1.],\\n       [1., 1.]]).",
    ),
    "a count in an array": (
        lambda: RerunUCBV(np.array([1, 2])),
        "RerunUCBV: `restart_every` must be a whole number >= 1, got array([1, 2]).",
    ),
    "a truth value of NumPy's as count": (
        lambda: RerunUCBV(np.True_),
        "RerunUCBV: `restart_every` must be a whole number >= 1, got True.",
    ),
    "a count of 64 bits": (
        lambda: RerunUCBV(2**63),
        "RerunUCBV: `restart_every` must be a whole number in [1, 2^62], got 9223372036854775808.",
    ),
    "rounds of 64 bits": (
        lambda: simulate(ENVIRONMENT, OptimisticGD(), 99999999999999999999),
        "simulate: `n_rounds` must be a whole number in [1, 2^62], got 99999999999999999999.",
    ),
    "a count of 5000 digits": (
        lambda: simulate(ENVIRONMENT, OptimisticGD(), 10**5000),
        "simulate: `n_rounds` must be a whole number in [1, 2^62], got a whole number of 16610 bits.",
    ),
    "a seed of a million digits": (
        lambda: simulate(ENVIRONMENT, OptimisticGD(), 9, seed=1 << 3_000_000),
        "simulate: `seed` must be a whole number in [0, 2^1024), got a whole number of 3000001 bits.",
    ),
    "a word as drift within": (
        lambda: Measures(2, 100, 3, 2.0, 10.0, drift_within="a"),
        "Measures: `drift_within` must be a finite number >= 0, got 'a'.",
    ),
    "a large drift within": (
        lambda: Measures(2, 100, 3, 2.0, 10.0, drift_within=Fraction(HUGE)),
        "Measures: `drift_within` must be a finite number >= 0, got Fraction(1" + "0" * 67 + "....",
    ),
    "a large drift": (
        lambda: Measures(MAX_COUNT, 100, 3, 1e300, 10.0),
        "Measures: `squared_drift` must be a finite number >= 0, got inf.",
    ),
    "masked words": (
        lambda: OptimisticGD().run(OptimisticGD().start(1), np.ma.array([["a"]])),
        "OptimisticGD: `losses` must be an array of real numbers, got 'str32'.",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_bad_number_is_refused_in_one_line(what):
    call, message = REFUSED[what]
    with pytest.raises(InvalidInput) as caught:
        call()
    assert str(caught.value) == message


def test_a_name_is_shown_in_one_line_however_it_is_spelled():
    with pytest.raises(UnknownName) as caught:
        learners.get("a\nb" * 100)
    assert str(caught.value).startswith(
        "There is no learner '" + "a\\nb" * 25 + "a\\n...'. `driftwise list` has all names."
    )


def test_numbers_of_every_type_are_numbers():
    for rate in (np.float32(0.5), np.float64(0.5), np.longdouble(0.5), Fraction(1, 2), Decimal("0.5")):
        assert OptimisticGD(rate) == OptimisticGD(0.5)
        assert type(OptimisticGD(rate).learning_rate) is float
    assert OptimisticGD(math.inf).learning_rate == math.inf
    for n in (np.int8(3), np.uint64(3), np.array(3)):
        assert RerunUCBV(n) == RerunUCBV(3)
        assert type(RerunUCBV(n).restart_every) is int
    assert RerunUCBV(MAX_COUNT).restart_every == MAX_COUNT


def test_a_seed_of_a_thousand_bits_is_a_seed():
    one, other = (RerunUCBV().start(3, seed) for seed in (2**1023, 2**1023))
    expect_same(one, other, "from one large seed")


# Truth values are losses


@pytest.mark.parametrize("kind", [np.array, np.asfortranarray, np.ndarray.tolist, lambda block: np.ma.array(block)])
def test_truth_values_are_losses_of_0_and_1(kind):
    block = np.random.default_rng(1).random((20, 3)) < 0.5
    for learner in (OptimisticGD(), RerunUCBV()):
        one, other = learner.start(3), learner.start(3)
        assert np.array_equal(learner.run(one, kind(block)), learner.run(other, block.astype(float)))
        expect_same(one, other, "after truth values and after numbers")
    given = kind(block)
    assert np.array_equal(Replay(given).start(20).draw(20).losses, block)
    session = Session(OptimisticGD(), 3)
    session.update(given[0])
    assert session.rounds == 1


def test_masked_truth_values_are_missing():
    with pytest.raises(InvalidInput, match=r"got nan at action 1\. Is a value missing\?$"):
        OptimisticGD().update(OptimisticGD().start(2), np.ma.array([True, False], mask=[False, True]))


@pytest.mark.parametrize(
    "loss", [False, True, np.False_, np.True_, 1, np.float32(0.5), Fraction(1, 2), Decimal("0.25")]
)
def test_a_bandit_takes_a_truth_value_or_any_number_for_a_loss(loss):
    one, other = RerunUCBV().start(2), RerunUCBV().start(2)
    RerunUCBV().update(one, 0, loss, 1.0)
    RerunUCBV().update(other, 0, float(loss), 1.0)
    expect_same(one, other, f"after {loss!r} and after {float(loss)}")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((True, 0.5, 1.0), "`action` must be a whole number >= 0, got True."),
        ((np.True_, 0.5, 1.0), "`action` must be a whole number >= 0, got True."),
        ((np.array([0, 1]), 0.5, 1.0), "`action` must be a whole number >= 0, got array([0, 1])."),
        ((0, 0.5, True), "`probability` must be in (0, 1] or None, got True."),
        ((0, 0.5, HUGE), "`probability` must be in (0, 1] or None, got 1" + "0" * 76 + "...."),
        ((0, HUGE, 1.0), "`loss` must be in [0, 1], got inf. Rescale your losses by their known range."),
        ((0, Decimal("nan"), 1.0), "`loss` must be in [0, 1], got nan. Is a value missing?"),
    ],
)
def test_a_truth_value_is_neither_an_action_nor_a_probability(given, message):
    state = RerunUCBV().start(2)
    before = state.copy()
    with pytest.raises(InvalidInput) as caught:
        RerunUCBV().update(state, *given)
    assert str(caught.value) == f"RerunUCBV: {message}"
    expect_same(state, before, "after a refusal")


# What does not fit into memory is refused before it is made


TOO_LARGE = {
    "actions of a learner": (lambda: OptimisticGD().start(10**14), "OptimisticGD: `n_actions`", 10**14, "1.6e+06"),
    "actions of a learner over learners": (lambda: Sword().start(10**9), "Sword: `n_actions`", 10**9, None),
    "actions of a session": (lambda: Session(RerunUCBV(), 10**14), "RerunUCBV: `n_actions`", 10**14, "3.2e+06"),
    "actions of a path": (
        lambda: Environment(CoinFlips(10**14), Bernoulli()).start(10),
        "CoinFlips: `n_actions`",
        10**14,
        "2.4e+06",
    ),
    "actions to measure": (
        lambda: Environment(CoinFlips(10**14), Bernoulli()).measures(10),
        "CoinFlips: `n_actions`",
        10**14,
        "2.4e+06",
    ),
    "actions to simulate": (
        lambda: simulate(Environment(CoinFlips(10**14), Bernoulli()), OptimisticGD(), 10),
        "simulate: `n_actions`",
        10**14,
        "2.4e+06",
    ),
    "actions of a stationary environment": (lambda: stationary(10**14), "stationary: `n_actions`", 10**14, "4e+06"),
    "segments": (
        lambda: Environment(Switching(10**12, 2), Bernoulli()).start(10**12),
        "Switching: `n_segments`",
        10**12,
        "3.2e+04",
    ),
    "segments of random length": (
        lambda: Environment(RandomSegments(10**11, 2, lengths="random"), Bernoulli()).start(10**12),
        "RandomSegments: `n_segments`",
        10**11,
        "1.12e+04",
    ),
    "bursts": (
        lambda: Environment(Bursts(10**12, 1, 2), Bernoulli()).start(10**13),
        "Bursts: `n_bursts`",
        10**12,
        "6.4e+04",
    ),
    "a block": (
        lambda: simulate(ENVIRONMENT, OptimisticGD(), 10**12, block_size=10**11),
        "simulate: `block_size`",
        10**11,
        "4.8e+03",
    ),
    "runs": (
        lambda: simulate(ENVIRONMENT, OptimisticGD(), 10, n_runs=10**14),
        "simulate: `n_runs`",
        10**14,
        "3.56e+08",
    ),
    "rounds at once": (lambda: ENVIRONMENT.start(10**14).draw(10**13), "Stream: `n`", 10**13, "4.8e+05"),
    "segments to compare with": (
        lambda: Switched(10**12).start(3, 10**13),
        "Switched: `n_segments`",
        10**12,
        "2.4e+04",
    ),
    "a window": (lambda: SlidingWindowUCB(10**14).start(2), "SlidingWindowUCB: `window`", 10**14, "1.6e+06"),
    "a block of windows": (
        lambda: BanditOverBandit(10**14).start(2),
        "BanditOverBandit: `restart_every`",
        10**14,
        "1.6e+06",
    ),
    "rates": (lambda: CalibratedHedge(n_rates=10**14).start(2), "CalibratedHedge: `n_rates`", 10**14, "2.4e+06"),
    "rows": (
        lambda: SleepingOptimisticAdaptMLProd("merged", resolution=10**14).start(2),
        "SleepingOptimisticAdaptMLProd: `resolution`",
        10**14,
        None,
    ),
    "sums": (
        lambda: learners.get("adswitch")(resolution=10**14).start(2),
        "AdSwitch: `resolution`",
        10**14,
        "1.54e+08",
    ),
    "a detector's window": (
        lambda: Monitor(WindowedShift(10**14)),
        "Monitor: `detector`",
        WindowedShift(10**14),
        "8e+05",
    ),
    "a detector's buckets": (lambda: Monitor(GLR(resolution=10**14)), "Monitor: `detector`", None, None),
    "a detector for every action": (
        lambda: learners.get("m-ucb")(window=10**14).start(2),
        "MUCB: `detector`",
        WindowedShift(10**14, 20.0),
        "1.6e+06",
    ),
}


@pytest.mark.parametrize("what", TOO_LARGE)
def test_what_does_not_fit_into_memory_is_refused_before_it_is_made(what, one_gigabyte):
    call, owner, got, needed = TOO_LARGE[what]
    with pytest.raises(InvalidInput) as caught:
        call()
    message = str(caught.value)
    start = f"{owner} must be small enough for the memory of this machine, 1 GB, got "
    assert message.startswith(start if got is None else f"{start}{got}. It would take ")
    assert needed is None or message.endswith(f" It would take {needed} GB.")


def test_the_memory_of_this_machine_is_found():
    assert 2**28 < validation.memory_bytes() < 2**50


# Work is bounded by the rounds


def test_more_segments_than_rounds_are_the_dynamic_comparator_bit_for_bit():
    target, marks = mixed_losses(60, 3), np.arange(60)
    table = Switched(60).start(3).follow(target, marks)
    assert np.array_equal(table, Dynamic().start(3).follow(target, marks))
    assert np.array_equal(table, Switched(MAX_COUNT).start(3, 60).follow(target, marks))
    results = [
        simulate(ENVIRONMENT, OptimisticGD(), 40, n_runs=2, comparator=c) for c in (Switched(10**7), Switched(40))
    ]
    assert np.array_equal(*(found.regrets for found in results))
    assert results[0].comparator == "switching:10000000"


def test_equal_segments_start_where_exact_arithmetic_says():
    for n_segments, n_rounds in ((7, 100), (8, 2000), (1, 1), (5, 5), (1000, 2**62), (999, 2**61 + 12345)):
        exact = [j * n_rounds // n_segments for j in range(n_segments)]
        assert equal_starts(n_segments, n_rounds).tolist() == exact


def test_threads_are_limited_by_the_system(monkeypatch):
    started = []

    class Pool(ThreadPoolExecutor):
        def __init__(self, n_threads):
            started.append(n_threads)
            super().__init__(2)

    monkeypatch.setattr(sys.modules["driftwise.engine.simulation"], "ThreadPoolExecutor", Pool)
    simulate(ENVIRONMENT, OptimisticGD(), 9, n_runs=300, n_threads=MAX_COUNT)
    assert started == [256]


def test_the_largest_rate_of_a_grid_may_be_the_largest_float():
    rates = Sword(largest_rate=1.7e308).learning_rates(2)
    assert rates[0] == 1.7e308
    assert rates[-1] <= math.sqrt(8 / (2 * 2**30)) < rates[-2]
