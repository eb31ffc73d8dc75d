"""Bandit learners and detectors: bad inputs, specs, files, and tuning by the printed rules."""

import json
import math
from collections.abc import Callable
from dataclasses import fields
from typing import NamedTuple

import numpy as np
import pytest

from driftwise import Measures, Session
from driftwise.checks.check import expect_same, mixed_losses
from driftwise.core.errors import BadFile, DriftwiseError, InvalidInput, TuningWarning, UnknownName
from driftwise.core.measures import collected
from driftwise.detectors import CUSUM, GLR, Monitor, PageHinkley, WindowedShift, detectors
from driftwise.learners import (
    CUSUMUCB,
    GLRKLUCB,
    KLUCB,
    MUCB,
    UCB1,
    UCBV,
    BanditOverBandit,
    DetectAndRestart,
    DiscountedKLUCB,
    DiscountedThompson,
    DiscountedUCB,
    OracleRestarts,
    SlidingWindowKLUCB,
    SlidingWindowUCB,
    Thompson,
    learners,
)
from driftwise.registry import to_spec
from references import indices

NAN, INF = math.nan, math.inf
MEASURES = Measures(n_actions=2, n_rounds=100, segments=3, drift=2.0, variance=10.0)
CHECK_EVERY = fields(GLR)[2].name  # number of values from one test to the next


class Row(NamedTuple):
    call: Callable
    message: str
    error: type = InvalidInput


TABLE = {
    # index learners
    "a log_scale of 0": Row(lambda: UCB1(0), "UCB1: `log_scale` must be a finite number > 0, got 0."),
    "an infinite log_scale": Row(lambda: UCB1(INF), "UCB1: `log_scale` must be a finite number > 0, got inf."),
    "a word as log_scale": Row(lambda: UCB1("a"), "UCB1: `log_scale` must be a finite number > 0, got 'a'."),
    "a log_scale that is NaN": Row(lambda: UCBV(NAN), "UCBV: `log_scale` must be a finite number > 0, got nan."),
    "a negative bias": Row(lambda: UCBV(bias=-1), "UCBV: `bias` must be a finite number >= 0, got -1."),
    "a negative loglog_scale": Row(
        lambda: KLUCB(-0.5), "KLUCB: `loglog_scale` must be a finite number >= 0, got -0.5."
    ),
    "a truth value as loglog_scale": Row(
        lambda: KLUCB(True), "KLUCB: `loglog_scale` must be a finite number >= 0, got True."
    ),
    "a discount of 0": Row(lambda: DiscountedUCB(0), "DiscountedUCB: `discount` must be in (0, 1], got 0."),
    "a discount above 1": Row(lambda: DiscountedUCB(1.01), "DiscountedUCB: `discount` must be in (0, 1], got 1.01."),
    "a discount that is no number": Row(
        lambda: DiscountedKLUCB(NAN), "DiscountedKLUCB: `discount` must be in (0, 1], got nan."
    ),
    "a negative discount": Row(
        lambda: DiscountedThompson(-0.1), "DiscountedThompson: `discount` must be in (0, 1], got -0.1."
    ),
    "a window of 0": Row(lambda: SlidingWindowUCB(0), "SlidingWindowUCB: `window` must be a whole number >= 1, got 0."),
    "a window of 2.5": Row(
        lambda: SlidingWindowUCB(2.5), "SlidingWindowUCB: `window` must be a whole number >= 1, got 2.5."
    ),
    "a truth value as window": Row(
        lambda: SlidingWindowKLUCB(True), "SlidingWindowKLUCB: `window` must be a whole number >= 1, got True."
    ),
    "an infinite loglog_scale": Row(
        lambda: SlidingWindowKLUCB(loglog_scale=INF),
        "SlidingWindowKLUCB: `loglog_scale` must be a finite number >= 0, got inf.",
    ),
    # learners that restart
    "too much exploration": Row(lambda: CUSUMUCB(1.5), "CUSUMUCB: `exploration_rate` must be in [0, 1], got 1.5."),
    "a negative exploration rate": Row(lambda: MUCB(-0.1), "MUCB: `exploration_rate` must be in [0, 1], got -0.1."),
    "exploration that is no number": Row(
        lambda: GLRKLUCB(NAN), "GLRKLUCB: `exploration_rate` must be in [0, 1], got nan."
    ),
    "a part's own rule": Row(lambda: CUSUMUCB(warmup=0), "CUSUM: `warmup` must be a whole number >= 1, got 0."),
    "an odd window": Row(lambda: MUCB(window=7), "WindowedShift: `window` must be an even number, got 7."),
    "a least change of 0": Row(
        lambda: MUCB.tuned(MEASURES, least_change=0), "MUCB: `least_change` must be in (0, 1], got 0."
    ),
    "a change that is no number": Row(
        lambda: MUCB.tuned(MEASURES, least_change=NAN), "MUCB: `least_change` must be in (0, 1], got nan."
    ),
    "a truth value as change": Row(
        lambda: MUCB.tuned(MEASURES, least_change=True), "MUCB: `least_change` must be in (0, 1], got True."
    ),
    "an unknown restart": Row(
        lambda: GLRKLUCB(restart="both"), "GLRKLUCB: `restart` must be one of 'local', 'global', got 'both'."
    ),
    "an unknown restart to tune for": Row(
        lambda: GLRKLUCB.tuned(MEASURES, restart="both"),
        "GLRKLUCB: `restart` must be one of 'local', 'global', got 'both'.",
    ),
    "a base with full feedback": Row(
        lambda: DetectAndRestart("hedge"),
        "DetectAndRestart: `base` must be an index learner such as UCB1(), got Hedge(learning_rate=None).",
    ),
    "a base of an unknown name": Row(
        lambda: DetectAndRestart("ucb"),
        "There is no learner 'ucb'. Did you mean 'ucb1'? If it is your own, import its module first.",
        UnknownName,
    ),
    "a number for a base": Row(
        lambda: DetectAndRestart(3), "DetectAndRestart: `base` must be a learner, its name or its spec, got 3."
    ),
    "a number for a detector": Row(
        lambda: DetectAndRestart(detector=3),
        "DetectAndRestart: `detector` must be a detector, its name or its spec, got 3.",
    ),
    "a learner for a detector": Row(
        lambda: DetectAndRestart(detector=UCB1()),
        "DetectAndRestart: `detector` must be a detector, its name or its spec, got UCB1(log_scale=2.0).",
    ),
    "a detector of an unknown name": Row(
        lambda: DetectAndRestart(detector="cusums"), "There is no detector 'cusums'. Did you mean 'cusum'?", UnknownName
    ),
    "a detector's unknown parameter": Row(
        lambda: DetectAndRestart(detector={"name": "cusum", "warmups": 3}),
        "There is no parameter 'warmups' of the detector 'cusum'. Did you mean 'warmup'?",
        UnknownName,
    ),
    "a detector's spec without a name": Row(
        lambda: DetectAndRestart(detector={"warmup": 3}), "A detector spec must have a `name`, got {'warmup': 3}."
    ),
    "a number for a schedule": Row(
        lambda: DetectAndRestart(schedule=1), "DetectAndRestart: `schedule` must be True or False, got 1."
    ),
    "no restart": Row(
        lambda: DetectAndRestart(restart=None),
        "DetectAndRestart: `restart` must be one of 'local', 'global', got None.",
    ),
    # the oracle
    "an oracle with full feedback": Row(
        lambda: OracleRestarts("hedge"),
        "OracleRestarts: `base` must be a bandit learner other than the oracle, got Hedge(learning_rate=None).",
    ),
    "an oracle of an oracle": Row(
        lambda: OracleRestarts(OracleRestarts()),
        "OracleRestarts: `base` must be a bandit learner other than the oracle,"
        " got OracleRestarts(base=KLUCB(loglog_scale=0.0), change_points=()).",
    ),
    "a change in round 0": Row(
        lambda: OracleRestarts(change_points=(0,)),
        "OracleRestarts: `change_points` must be increasing rounds > 0, got (0,).",
    ),
    "decreasing changes": Row(
        lambda: OracleRestarts(change_points=(5, 3)),
        "OracleRestarts: `change_points` must be increasing rounds > 0, got (5, 3).",
    ),
    "a change twice": Row(
        lambda: OracleRestarts(change_points=(3, 3)),
        "OracleRestarts: `change_points` must be increasing rounds > 0, got (3, 3).",
    ),
    "a change in half a round": Row(
        lambda: OracleRestarts(change_points=(3.5,)),
        "OracleRestarts: `change_points` must be increasing rounds > 0, got (3.5,).",
    ),
    "a number for changes": Row(
        lambda: OracleRestarts(change_points=3), "OracleRestarts: `change_points` must be increasing rounds > 0, got 3."
    ),
    "another oracle's state": Row(
        lambda: OracleRestarts("ucb1", (3,)).choose(OracleRestarts("ucb1", (4,)).start(2)),
        "OracleRestarts(base=UCB1(log_scale=2.0), change_points=(3,)): the state belongs to"
        " OracleRestarts(base=UCB1(log_scale=2.0), change_points=(4,)).",
    ),
    "changes that are no rounds": Row(
        lambda: Measures(2, 10, 2, 1.0, 1.0, change_points=5),
        "Measures: `change_points` must be 1 increasing rounds in 1 .. 9, one for each change, got 5.",
    ),
    "changes in half rounds": Row(
        lambda: Measures(2, 10, 2, 1.0, 1.0, change_points=(1.5,)),
        "Measures: `change_points` must be 1 increasing rounds in 1 .. 9, one for each change, got (1.5,).",
    ),
    "more changes than segments": Row(
        lambda: Measures(2, 10, 2, 1.0, 1.0, change_points=(1, 2)),
        "Measures: `change_points` must be 1 increasing rounds in 1 .. 9, one for each change, got (1, 2).",
    ),
    "a change after the end": Row(
        lambda: Measures(2, 10, 2, 1.0, 1.0, change_points=(10,)),
        "Measures: `change_points` must be 1 increasing rounds in 1 .. 9, one for each change, got (10,).",
    ),
    # bandit over bandit
    "a block of 0": Row(
        lambda: BanditOverBandit(0), "BanditOverBandit: `restart_every` must be a whole number >= 1, got 0."
    ),
    "an exploration rate of 0": Row(
        lambda: BanditOverBandit(exploration_rate=0), "BanditOverBandit: `exploration_rate` must be in (0, 1], got 0."
    ),
    "a log_scale of 0 in blocks": Row(
        lambda: BanditOverBandit(log_scale=0), "BanditOverBandit: `log_scale` must be a finite number > 0, got 0."
    ),
    # detectors
    "no warmup": Row(lambda: CUSUM(0), "CUSUM: `warmup` must be a whole number >= 1, got 0."),
    "an infinite slack": Row(lambda: CUSUM(slack=INF), "CUSUM: `slack` must be a finite number >= 0, got inf."),
    "a threshold of 0": Row(lambda: CUSUM(threshold=0), "CUSUM: `threshold` must be a number > 0, got 0."),
    "a threshold that is no number": Row(
        lambda: WindowedShift(threshold=NAN), "WindowedShift: `threshold` must be a number > 0, got nan."
    ),
    "a negative slack": Row(lambda: PageHinkley(-1), "PageHinkley: `slack` must be a finite number >= 0, got -1."),
    "a window of three": Row(lambda: WindowedShift(3), "WindowedShift: `window` must be an even number, got 3."),
    "a window of 0 values": Row(
        lambda: WindowedShift(0), "WindowedShift: `window` must be a whole number >= 2, got 0."
    ),
    "a failure probability of 1": Row(lambda: GLR(1), "GLR: `failure_probability` must be in [0, 1), got 1."),
    "a resolution of 1": Row(lambda: GLR(resolution=1), "GLR: `resolution` must be a whole number >= 2, got 1."),
    "a test every 0 values": Row(lambda: GLR(0.1, 8, 0), f"GLR: `{CHECK_EVERY}` must be a whole number >= 1, got 0."),
    "a number to monitor": Row(lambda: Monitor(3), "Monitor: `detector` must be a detector, got 3."),
    "a missing value": Row(lambda: Monitor(CUSUM()).update(NAN), "CUSUM: `values` must be in [0, 1], got nan at 0."),
    "a value below 0": Row(lambda: Monitor(GLR()).watch([0.5, -1]), "GLR: `values` must be in [0, 1], got -1.0 at 1."),
    "a word as value": Row(
        lambda: Monitor(GLR()).update("a"), "GLR: `values` must be an array of real numbers, got 'str32'."
    ),
    "rows of values": Row(
        lambda: Monitor(GLR()).watch([[0.5]]), "GLR: `values` must have shape (n_rounds,), got (1, 1)."
    ),
    "an unknown detector": Row(
        lambda: detectors.get("cusm"), "There is no detector 'cusm'. Did you mean 'cusum'?", UnknownName
    ),
    # rounds
    "a missing loss": Row(
        lambda: UCB1().update(UCB1().start(2), 0, NAN, 1.0),
        "UCB1: `loss` must be in [0, 1], got nan. Is a value missing?",
    ),
    "an action too many": Row(
        lambda: Thompson().update(Thompson().start(2), 2, 0.5, None),
        "Thompson: `action` must be < n_actions = 2, got 2.",
    ),
    "a loss above 1": Row(
        lambda: CUSUMUCB().run(CUSUMUCB().start(2), [[0.5, 1.5]]),
        "CUSUMUCB: `losses` must be in [0, 1], got 1.5 at round 0 of the block, action 1."
        " Rescale your losses by their known range.",
    ),
}


@pytest.mark.interpreted
@pytest.mark.parametrize("what", TABLE)
def test_a_bad_input_is_rejected_in_one_sentence(what):
    with pytest.raises(DriftwiseError) as caught:
        TABLE[what].call()
    assert str(caught.value) == TABLE[what].message
    assert type(caught.value) is TABLE[what].error


def test_a_run_without_known_changes_cannot_tune_the_oracle():
    message = (
        r"^OracleRestarts: `measures` must be of an environment with at most 1000 changes, got Measures\(n_actions=2,"
    )
    with pytest.raises(InvalidInput, match=message):
        OracleRestarts.tuned(MEASURES)


# Specs

SETTINGS = [
    SlidingWindowUCB(None),
    SlidingWindowKLUCB(None, 3.0),
    GLRKLUCB(resolution=None, restart="global"),
    CUSUMUCB(threshold=INF),
    DetectAndRestart(KLUCB(3.0), GLR(0.0, None, 1), 0.0, True, "global"),
    DetectAndRestart(SlidingWindowUCB(None), "cusum"),
    OracleRestarts(DetectAndRestart("thompson", WindowedShift(8, INF)), (3, 70)),
    OracleRestarts(GLRKLUCB(resolution=None), (1, 2, 64)),
    OracleRestarts(BanditOverBandit(8), (5,)),
    BanditOverBandit(1),
]


@pytest.mark.parametrize("learner", SETTINGS, ids=str)
def test_a_spec_rebuilds_a_learner_with_all_its_parts(learner):
    assert learners.build(to_spec(learner)) == learner
    assert learners.build(json.loads(json.dumps(to_spec(learner)))) == learner
    assert hash(learners.build(to_spec(learner))) == hash(learner)


@pytest.mark.interpreted
def test_parts_may_be_given_by_name_or_by_spec():
    whole = DetectAndRestart(KLUCB(), CUSUM(5))
    assert DetectAndRestart("kl-ucb", {"name": "cusum", "warmup": 5}) == whole
    assert DetectAndRestart({"name": "kl-ucb"}, CUSUM(5)) == whole
    assert OracleRestarts("ucb1", [3, 5]) == OracleRestarts(UCB1(), (3, 5))


def test_none_is_in_the_spec_where_it_is_not_the_default():
    assert to_spec(SlidingWindowUCB(None)) == {"name": "sliding-window-ucb", "window": None, "log_scale": 0.6}


# Files

GROWING = [
    DetectAndRestart("ucb1", GLR(0.3, None, 1), 0.2),
    GLRKLUCB(0.2, 0.0, 0.3, "local", None, 1),
    OracleRestarts(GLRKLUCB(resolution=None), (1, 2, 64)),
    SlidingWindowUCB(7),
    SlidingWindowUCB(None),
    SlidingWindowKLUCB(1),
    BanditOverBandit(8),
    OracleRestarts(BanditOverBandit(8), (5, 70)),
    DetectAndRestart("discounted-thompson", WindowedShift(8, 2.0), 0.2, True, "global"),
]


def play(session, losses):
    played = []
    for row in losses:
        action, probability = session.choose()
        session.update(action, probability, loss=row[action])
        played.append((action, probability))
    return played


@pytest.mark.parametrize("learner", GROWING, ids=str)
def test_a_loaded_session_continues_bit_for_bit(learner, tmp_path):
    losses = mixed_losses(90, 3)
    for pause in (0, 1, 2, 3, 7, 8, 63, 64, 70):
        session = Session(learner, 3, seed=5)
        half = pause // 2  # a block, and then one by one
        if half:
            learner.run(session.state, losses[:half])
        play(session, losses[half:pause])
        session.save(tmp_path / "session")
        loaded = Session.load(tmp_path / "session")
        assert (loaded.learner, loaded.rounds) == (learner, pause)
        assert play(loaded, losses[pause:]) == play(session, losses[pause:])
        expect_same(loaded.state, session.state, f"90 rounds, {pause} before the pause")


def buckets(sizes, n_values, resolution=8):
    """The memory of the ratio test for three actions, with buckets that its values do not fill."""
    row = np.zeros(GLR(0.1, resolution).width)
    row[0], row[2] = n_values, len(sizes)
    row[3 : 3 + 2 * len(sizes) : 2] = sizes
    return np.tile(row, (3, 1))


SPOILED = {
    "a window of another length": (BanditOverBandit(8), "windows", np.array([1, 2, 4])),
    "another window": (BanditOverBandit(8), "windows", np.array([1, 2, 4, 9])),
    "no window drawn": (BanditOverBandit(8), "drawn", np.empty(0, np.int64)),
    "a window beyond": (BanditOverBandit(8), "drawn", np.array([4])),
    "a window before": (BanditOverBandit(8), "drawn", np.array([-1])),
    "another round of the block": (BanditOverBandit(8), "clock", np.array([7])),
    "an action beyond, in a block": (BanditOverBandit(8), "ring_actions", np.full(8, 3)),
    "a shorter ring": (BanditOverBandit(8), "ring_actions", np.full(7, -1)),
    "an action beyond": (SlidingWindowUCB(7), "ring_actions", np.full(7, 3)),
    "an action before": (SlidingWindowUCB(7), "ring_actions", np.full(7, -2)),
    "another round": (SlidingWindowUCB(7), "clock", np.array([6, 0])),
    "a longer ring": (SlidingWindowUCB(7), "ring_losses", np.zeros(8)),
    "a sum that is no number": (SlidingWindowUCB(7), "total", np.full(3, NAN)),
    "detector rows that are too short": (GLRKLUCB(resolution=None), "detector_rows", np.zeros((3, 3))),
    "detector rows that are too long": (GLRKLUCB(resolution=None), "detector_rows", np.zeros((3, 3 + 2 * 64))),
    "more buckets than values": (GLRKLUCB(), "detector_rows", buckets([1] * 5, n_values=4)),
    "buckets of three": (GLRKLUCB(), "detector_rows", buckets([3, 1], n_values=4)),
    "buckets that rise": (GLRKLUCB(resolution=2), "detector_rows", buckets([1, 2, 1], n_values=4, resolution=2)),
    "more values than rounds": (CUSUMUCB(), "detector_rows", np.full((3, 4), 6.0)),
    "a value that is no number": (MUCB(window=8), "detector_rows", np.full((3, 10), NAN)),
    "a restart in the future": (MUCB(), "clock", np.array([5, 6])),
    "a round of another segment": (OracleRestarts("ucb1", (3,)), "clock", np.array([5, 0])),
}


@pytest.mark.parametrize("what", SPOILED)
def test_a_corrupted_session_is_refused(what, tmp_path):
    """Kernels do not check indices into their arrays, so a file must not contain wrong ones."""
    learner, name, array = SPOILED[what]
    session = Session(learner, 3)
    learner.run(session.state, mixed_losses(5, 3))
    session.state.renew(session.state.memory._replace(**{name: array}))  # without the checks of `memory`
    session.save(tmp_path / "session")
    with pytest.raises(BadFile) as caught:
        Session.load(tmp_path / "session")
    expected = f"{tmp_path / 'session'}: {learner.name} with 3 actions after 5 rounds: `"
    assert str(caught.value).startswith(expected)


# Tuning, by hand: K = 2, T = 10000, Gamma = 5, so that Upsilon = 4

FOUR = Measures(n_actions=2, n_rounds=10_000, segments=5, drift=4.0, variance=100.0)
STILL = Measures(n_actions=2, n_rounds=10_000, segments=1, drift=0.5, variance=100.0)
CORNERS = [
    Measures(n_actions=1, n_rounds=1, segments=1, drift=0.0, variance=0.0),
    Measures(n_actions=1, n_rounds=50, segments=1, drift=0.0, variance=0.0),
    Measures(n_actions=3, n_rounds=1, segments=1, drift=1.0, variance=0.0),
    Measures(n_actions=3, n_rounds=2, segments=2, drift=1.0, variance=0.0),
    Measures(n_actions=3, n_rounds=50, segments=50, drift=50.0, variance=0.0),
    Measures(n_actions=60, n_rounds=50, segments=3, drift=3.0, variance=1.0),
]


@pytest.mark.parametrize("learner", [DiscountedUCB, DiscountedKLUCB, DiscountedThompson])
def test_the_discount_is_one_less_a_quarter_of_the_root_of_the_rate_of_changes(learner):
    assert learner.tuned(FOUR).discount == pytest.approx(0.995)  # 1 - 0.25 * sqrt(4 / 10000)
    assert learner.tuned(STILL).discount == 1.0


@pytest.mark.parametrize("learner", [SlidingWindowUCB, SlidingWindowKLUCB])
def test_the_window_is_twice_the_root_of_rounds_times_their_logarithm_per_change(learner):
    assert learner.tuned(FOUR).window == 304  # 2 sqrt(10000 * 9.21034 / 4) = 303.49
    assert learner.tuned(STILL).window is None
    many = Measures(n_actions=500, n_rounds=10_000, segments=5, drift=4.0, variance=100.0)
    short = Measures(n_actions=2, n_rounds=10, segments=2, drift=1.0, variance=1.0)
    with collected() as reasons:
        assert learner.tuned(many).window == 500
        assert learner.tuned(short).window is None  # 9.6 is rounded up to all ten
    assert len(reasons) == 2


def test_cusum_ucb_is_tuned_as_printed():
    """Liu, Lee, Shroff, Corollary 2, with C1 = C2 = 1: h = ln(T / gamma), alpha = K sqrt(gamma ln(T / gamma) / T)."""
    tuned = CUSUMUCB.tuned(FOUR)
    assert tuned.threshold == pytest.approx(7.824046)  # ln 2500
    assert tuned.exploration_rate == pytest.approx(0.1118860)  # 2 sqrt(4 * 7.824046 / 10000)
    ten = Measures(n_actions=10, n_rounds=10_000, segments=5, drift=4.0, variance=100.0)
    with pytest.warns(TuningWarning, match="56 % of them"):
        many = CUSUMUCB.tuned(ten)
    assert (many.exploration_rate, many.threshold) == (pytest.approx(0.559430), tuned.threshold)
    assert CUSUMUCB.tuned(STILL).threshold == pytest.approx(9.210340)  # without changes, one is assumed
    assert CUSUMUCB.tuned(STILL).exploration_rate == pytest.approx(0.0606971, rel=1e-5)
    assert CUSUMUCB.tuned(CORNERS[0]) == CUSUMUCB(exploration_rate=1.0, threshold=1.0)


def test_m_ucb_is_tuned_as_printed():
    """ln(2KT^2) = 19.80697, ln(2T) = 9.903488; (4.450502 + 3.146981)^2 = 57.72174, times 4 / 0.2^2 is 5772.17."""
    with collected() as reasons:
        tuned = MUCB.tuned(FOUR)
    assert reasons == ["4 changes in 10000 rounds, its rule asks to explore in 75 % of them"]
    assert tuned.window == 5774  # the next even number that is twice a whole one
    assert tuned.threshold == pytest.approx(239.129, abs=1e-3)  # sqrt(2887 * 19.80697)
    # min(2887, 1196 + 3 * 75.9868) = 1423.96; sqrt(4 * 2 * 1423.96 / 20000)
    assert tuned.exploration_rate == pytest.approx(0.754708, abs=1e-5)
    assert MUCB.tuned(STILL).exploration_rate == 0.0
    coarse = MUCB.tuned(FOUR, least_change=1.0)
    assert coarse.window == 232  # 4 * 57.72174 = 230.887
    assert coarse.exploration_rate == pytest.approx(math.sqrt(8 * min(116, 48 + 3 * math.sqrt(232)) / 20_000))


def test_glr_kl_ucb_is_tuned_as_printed():
    local, everywhere = GLRKLUCB.tuned(FOUR), GLRKLUCB.tuned(FOUR, restart="global")
    assert everywhere.exploration_rate == pytest.approx(0.0606971)  # sqrt(4 * 9.210340 / 10000)
    assert everywhere.failure_probability == pytest.approx(0.005)  # 1 / sqrt(40000)
    assert local.exploration_rate == pytest.approx(0.0858386)  # sqrt(2 * 4 * 9.210340 / 10000)
    assert local.failure_probability == pytest.approx(0.00353553, rel=1e-5)  # 1 / sqrt(80000)
    assert (local.restart, everywhere.restart) == ("local", "global")
    assert GLRKLUCB.tuned(STILL, restart="global").exploration_rate == pytest.approx(0.0303485, rel=1e-5)


def test_bandit_over_bandit_is_tuned_as_printed():
    """H = ceil(sqrt(20000)) = 142, Delta = ceil(4.956) = 5, ceil(T / H) = 71."""
    tuned = BanditOverBandit.tuned(FOUR)
    assert tuned.restart_every == 142
    assert tuned.exploration_rate == pytest.approx(0.296852, abs=1e-5)  # sqrt(6 * 1.791759 / (1.718282 * 71))
    assert tuned.windows == [1, 2, 7, 19, 52, 142]
    for n_actions, n_rounds in ((2, 10_000), (10, 500), (3, 10**6)):
        measures = Measures(n_actions, n_rounds, 1, 0.0, 0.0)
        made = BanditOverBandit.tuned(measures)
        assert (made.restart_every, made.exploration_rate) == pytest.approx(
            indices.bob_exploration_rate(n_actions, n_rounds)
        )


@pytest.mark.interpreted
@pytest.mark.parametrize("measures", CORNERS, ids=str)
@pytest.mark.parametrize(
    "learner",
    [
        DiscountedUCB,
        DiscountedKLUCB,
        DiscountedThompson,
        SlidingWindowUCB,
        SlidingWindowKLUCB,
        CUSUMUCB,
        MUCB,
        GLRKLUCB,
        BanditOverBandit,
    ],
)
def test_tuning_works_at_extreme_measures(learner, measures):
    with collected():
        made = learner.tuned(measures)
    losses = np.zeros((measures.n_rounds, measures.n_actions))
    actions = made.run(made.start(measures.n_actions), losses)
    assert len(actions) == measures.n_rounds
