"""A session can be saved and resumed bit for bit; its file holds numbers and no code."""

import copy
import json
import math
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

from driftwise import Session
from driftwise.checks.check import expect_same, mixed_losses
from driftwise.core.errors import BadFile, InvalidInput
from driftwise.engine import session as module
from driftwise.learners import (
    CBCE,
    CUSUMUCB,
    FLH,
    GLRKLUCB,
    KLUCB,
    MUCB,
    SAOL,
    AdaNormalHedgeTV,
    Ader,
    AdSwitch,
    BanditOverBandit,
    BanditTracker,
    Exp3,
    ExpertLearner,
    Hedge,
    Master,
    OnlineGD,
    OptimisticAdaptMLProd,
    OptimisticGD,
    RerunUCBV,
    RestartedAdaptiveGD,
    SleepingAdaptMLProd,
    SleepingOptimisticAdaptMLProd,
    SlidingWindowUCB,
    Squint,
    Sword,
    Thompson,
    Tracker,
    TsallisINF,
    learners,
)

LEARNERS = [
    *(learners.get(name)() for name in learners),
    OptimisticGD(math.inf),  # JSON proper has no infinity
    RerunUCBV(7, clip=False),
    SleepingOptimisticAdaptMLProd(n_rounds=500),
]
every_learner = pytest.mark.parametrize("learner", LEARNERS, ids=str)


def play(session, losses):
    """Play some rounds live and return what was played."""
    played = []
    for row in losses:
        if isinstance(session.learner, ExpertLearner):
            played.append(session.predict())
            session.update(row)
        else:
            action, probability = session.choose()
            played.append(np.array([action, probability]))
            session.update(action, probability, loss=row[action])
    return np.array(played)


@pytest.mark.interpreted
@every_learner
@pytest.mark.parametrize("pause", [0, 1, 63, 64])  # Algorithm 4 makes room after 63 rounds
def test_a_loaded_session_continues_bit_for_bit(learner, pause, tmp_path):
    losses = mixed_losses(100, 3)
    session = Session(learner, 3, seed=5)
    play(session, losses[:pause])
    session.save(tmp_path / "session")
    loaded = Session.load(tmp_path / "session")
    assert (loaded.learner, loaded.n_actions, loaded.rounds) == (learner, 3, pause)
    assert play(loaded, losses[pause:]).tobytes() == play(session, losses[pause:]).tobytes()
    expect_same(loaded.state, session.state, "at the end")


@every_learner
def test_a_session_plays_what_a_run_plays(learner):
    losses = mixed_losses(50, 3)
    played = play(Session(learner, 3, seed=5), losses)
    run = learner.run(learner.start(3, seed=5), losses)
    assert np.array_equal(played if run.ndim == 2 else played[:, 0], run)


def test_saving_again_replaces_the_file_and_leaves_no_other(tmp_path):
    session = Session(OptimisticGD(), 2)
    for rounds in (1, 2):
        session.update([0.0, 1.0])
        session.save(tmp_path / "session.npz")
        assert Session.load(tmp_path / "session.npz").rounds == rounds
    assert [path.name for path in tmp_path.iterdir()] == ["session.npz"]


def test_a_save_that_fails_leaves_the_old_session(tmp_path, monkeypatch):
    session = Session(OptimisticGD(), 2)
    session.save(tmp_path / "session")

    def write_half(file, *_):
        file.write_bytes(b"PK")
        raise OSError(28, "No space left on device")

    session.update([0.0, 1.0])
    monkeypatch.setattr(module, "write_archive", write_half)
    with pytest.raises(BadFile, match=rf"^Cannot write {tmp_path / 'session'}: No space left on device\.$"):
        session.save(tmp_path / "session")
    assert Session.load(tmp_path / "session").rounds == 0
    assert [path.name for path in tmp_path.iterdir()] == ["session"]


@every_learner
def test_the_file_holds_numbers_and_one_line_of_json(learner, tmp_path):
    Session(learner, 3).save(tmp_path / "session")
    with np.load(tmp_path / "session", allow_pickle=False) as archive:
        kinds = {archive[name].dtype.kind for name in archive.files if name != "driftwise_session"}
        header = json.loads(str(archive["driftwise_session"]))
    assert kinds <= set("fiu")
    assert sorted(header) == ["format", "learner", "n_actions", "rounds"]


OWNER = "%s with %d actions after %d rounds"


def forge(path, weights=None, session=None, **changes):
    """Save a session with another header or other weights; a change to None leaves a line out."""
    (session or Session(OptimisticGD(), 2)).save(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    header = json.loads(str(arrays["driftwise_session"])) | changes
    header = {key: value for key, value in header.items() if value is not None}
    arrays |= {"driftwise_session": np.array(json.dumps(header))} | ({} if weights is None else {"weights": weights})
    with path.open("wb") as file:
        np.savez(file, **arrays)


def test_a_session_of_another_format_is_refused(tmp_path):
    for got in (2, 4):
        forge(tmp_path / "session", format=got)
        message = f"{tmp_path / 'session'} has session format {got}; this version reads format 3."
        with pytest.raises(BadFile, match=f"^{re.escape(message)}$"):
            Session.load(tmp_path / "session")


def test_a_session_of_an_unknown_learner_is_refused(tmp_path):
    forge(tmp_path / "session", learner={"name": "optimistic-dg"})
    message = rf"^{tmp_path / 'session'}: There is no learner 'optimistic-dg'\. Did you mean 'optimistic-gd'\? If it is"
    with pytest.raises(BadFile, match=message):
        Session.load(tmp_path / "session")


def test_a_session_with_another_learner_s_arrays_is_refused(tmp_path):
    forge(tmp_path / "session", learner={"name": "restarted-adaptive-gd"})
    message = rf"^{tmp_path / 'session'}: {OWNER % ('restarted-adaptive-gd', 2, 0)}: the array `last` is missing\.$"
    with pytest.raises(BadFile, match=message):
        Session.load(tmp_path / "session")


@pytest.mark.parametrize("weights", [np.zeros(1), np.zeros(3), np.zeros(2, np.float32), np.zeros((1, 2))])
def test_arrays_of_another_shape_or_type_are_refused(weights, tmp_path):
    forge(tmp_path / "session", weights)
    with pytest.raises(BadFile, match=rf"^{tmp_path / 'session'}: {OWNER % ('optimistic-gd', 2, 0)}: `weights` must h"):
        Session.load(tmp_path / "session")


# Values of a hostile file: each crashed or hung the process, or was played.
HOSTILE = {
    "slots that are not there": (SAOL(), "clock", lambda a: put(a, 1, 10**9)),
    "slots that are not there, coins": (CBCE(), "clock", lambda a: put(a, 1, 10**9)),
    "slots that are not there, histories": (FLH(), "clock", lambda a: put(a, 1, 10**9)),
    "a counter of a base": (FLH("optimistic-adapt-ml-prod"), "base_awake", lambda a: a.fill(10**9)),
    "numbers of a base that are none": (SAOL("optimistic-gd"), "base_center", lambda a: a.fill(np.nan)),
    "a play of a base that is no distribution": (SAOL(), "plays", lambda a: a.fill(7.0)),
    "rounds of a base that it did not play": (CBCE(), "base_rounds", lambda a: a.fill(1e9)),
    "more rows than there are": (SleepingAdaptMLProd("geometric"), "awake", lambda a: a.fill(63)),
    "rows that never end": (SleepingAdaptMLProd("geometric"), "ends", lambda a: a.fill(2**63 - 1)),
    "rows of other starts": (AdaNormalHedgeTV("hazan-seshadhri"), "starts", lambda a: a.fill(1)),
    "sizes of merged rows": (SleepingOptimisticAdaptMLProd("merged"), "size", lambda a: put(a, 0, 3)),
    "sizes in another order": (SleepingOptimisticAdaptMLProd("merged"), "size", lambda a: put(a, slice(3), [1, 2, 2])),
    "buckets that are not there": (GLRKLUCB(), "detector_rows", lambda a: put(a, (0, 2), 359)),
    "rounds to come": (Squint(), "rounds", lambda a: a.fill(2**63 - 1)),
    "a generator of zeros": (Thompson(), "generator", lambda a: a.fill(0)),
    "weights above 1": (Hedge(), "weights", lambda a: a.fill(5.0)),
    "weights that sum to 2": (OptimisticGD(), "weights", lambda a: a.fill(1.0)),
    "negative weights": (OnlineGD(), "weights", lambda a: put(a, slice(2), [2.0, -1.0])),
    "infinite losses": (Hedge(), "totals", lambda a: put(a, 0, np.inf)),
    "weights that are no numbers": (OptimisticGD(), "weights", lambda a: a.fill(np.nan)),
    "a centre that is no distribution": (OptimisticGD(), "center", lambda a: a.fill(12.0)),
    "probabilities of 12": (Exp3(), "probabilities", lambda a: a.fill(12.0)),
    "probabilities of 12 in the rule of windows": (BanditOverBandit(8), "chances", lambda a: a.fill(12.0)),
    "a rate that is no number": (SleepingOptimisticAdaptMLProd(), "rate", lambda a: a.fill(np.nan)),
    "a rate that does not follow": (SleepingOptimisticAdaptMLProd(), "rate", lambda a: put(a, (0, 0), 1e-200)),
    "rows awake beyond the room": (SleepingOptimisticAdaptMLProd(), "awake", lambda a: a.fill(10**8)),
    "negative rows awake": (SleepingOptimisticAdaptMLProd(), "awake", lambda a: a.fill(-(10**9))),
    "a second row": (OptimisticAdaptMLProd(), "awake", lambda a: a.fill(2)),
    "a round of another block": (RestartedAdaptiveGD(7), "elapsed", lambda a: a.fill(9)),
    "a round before the block": (RerunUCBV(7), "elapsed", lambda a: a.fill(-1)),
    "a play of a base in a grid": (Sword(100), "base_weights", lambda a: put(a, 0, 7.0)),
    "the last base of a grid": (Sword(100), "bank0_center", lambda a: put(a, (-1, 0), 7.0)),
    "a rule in a grid": (Ader(100), "rule_totals", lambda a: a.fill(np.nan)),
    "weights of the rule in a grid": (Ader(100), "rule_weights", lambda a: a.fill(0.5)),
    "rounds of the rule in a grid": (Ader(100), "rule_rounds", lambda a: a.fill(7.0)),
    "an episode without an action": (AdSwitch(60), "gap", lambda a: a.fill(0.5)),
    "more losses than plays": (KLUCB(), "total", lambda a: a.fill(4.0)),
    "plays that the ring does not hold": (SlidingWindowUCB(7), "plays", lambda a: a.fill(0.0)),
    "a probability above 1": (Exp3(), "probabilities", lambda a: put(a, slice(2), [1.0 + 5e-10, 0.0])),
    "a probability above 1, entropy": (TsallisINF(), "probabilities", lambda a: put(a, slice(2), [1.0 + 5e-10, 0.0])),
    "wealth that vanishes": (CBCE("optimistic-gd"), "scores", lambda a: put(a, (slice(None), 1), 1e-322)),
    "losses without a play": (Thompson(), "plays", lambda a: a.fill(0.0)),
    "means that overflow": (KLUCB(), "plays", lambda a: a.fill(5e-324)),
    "a constant below 0": (OptimisticAdaptMLProd(), "scale", lambda a: a.fill(-1e-10)),
    "shares that are no numbers": (SAOL(), "shares", lambda a: a.fill(np.nan)),
    "shares of other rows": (FLH(), "shares", lambda a: put(a, slice(None), a[::-1].copy())),
    "weights of experts that are no numbers": (AdaNormalHedgeTV(), "log_weights", lambda a: a.fill(np.nan)),
    "infinite weights of experts": (SleepingAdaptMLProd("geometric"), "log_weights", lambda a: put(a, (0, 0), np.inf)),
    "an alarm to come": (MUCB(), "alarms", lambda a: put(a, slice(2), [1, 5])),
    "an alarm without a reset": (GLRKLUCB(), "alarms", lambda a: put(a, slice(2), [1, 3])),
    "more alarms than rounds": (AdSwitch(60), "alarms", lambda a: put(a, 0, 6)),
    "a negative number of alarms": (AdSwitch(60), "alarms", lambda a: put(a, 0, -1)),
    "a place in the ring that is not there": (CUSUMUCB(), "alarms", lambda a: put(a, 0, 2**62)),
    "alarms in another order": (AdSwitch(60), "alarms", lambda a: put(a, slice(3), [2, 3, 1])),
    "an alarm that is not counted": (Master(), "alarms", lambda a: put(a, 1, 2)),
    "a round that is not played": (Master(), "rounds", lambda a: put(a, 0, 6)),
    "a signalling number": (Hedge(), "totals", lambda a: a.view(np.uint64).fill(0x7FF0000000000001)),
}


def put(array, place, value):
    array[place] = value


@pytest.mark.parametrize("what", HOSTILE)
def test_numbers_that_kernels_cannot_trust_are_refused(what, tmp_path):
    """A counter is an index in compiled code, which does not check it."""
    learner, field, change = HOSTILE[what]
    session = Session(learner, 2)
    learner.run(session.state, mixed_losses(5, 2))
    change(session.state.arrays()[field])
    session.save(tmp_path / "session")
    with pytest.raises(BadFile, match=rf"^{tmp_path / 'session'}: {OWNER % (learner.name, 2, 5)}: `\w+`[^\n]*\.$"):
        Session.load(tmp_path / "session")


def test_parameters_that_need_more_memory_than_the_file_has_are_refused_before_it_is_made(tmp_path):
    for learner in (
        {"name": "sliding-window-ucb", "window": 2**50},
        {"name": "calibrated-hedge", "n_rates": 2**50},
        {"name": "sleeping-optimistic-adapt-ml-prod", "memory": "merged", "resolution": 2**50},
        {"name": "bandit-over-bandit", "restart_every": 2**50},
        {"name": "adswitch", "resolution": 2**50},
    ):
        small = learners.build({"name": learner["name"], **({"memory": "merged"} if "memory" in learner else {})})
        Session(small, 2).save(tmp_path / "session")
        forge(tmp_path / "session", session=Session(small, 2), learner=learner)
        with pytest.raises(
            BadFile, match=rf"{learner['name']} with 2 actions after 0 rounds: `\w+` must have the shape"
        ):
            Session.load(tmp_path / "session")


@pytest.mark.parametrize("gone", ["format", "learner", "n_actions", "rounds"])
def test_a_session_with_an_incomplete_header_is_refused(gone, tmp_path):
    forge(tmp_path / "session", **{gone: None})
    with pytest.raises(BadFile, match=rf"^{tmp_path / 'session'} holds no driftwise session\.$"):
        Session.load(tmp_path / "session")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rounds": -1}, "`rounds` must be a whole number from 0 to 2**62, got -1."),
        ({"rounds": 2**62 + 1}, "`rounds` must be a whole number from 0 to 2**62, got 4611686018427387905."),
        ({"rounds": 1.0}, "`rounds` must be a whole number from 0 to 2**62, got 1.0."),
        ({"rounds": True}, "`rounds` must be a whole number from 0 to 2**62, got True."),
        ({"n_actions": "x"}, "`n_actions` must be a whole number from 0 to 2**62, got 'x'."),
        ({"format": [1]}, "`format` must be a whole number from 0 to 2**62, got [1]."),
        ({"learner": 3}, "`learner` must be a spec, got 3."),
        ({"learner": "hedge"}, "`learner` must be a spec, got 'hedge'."),
        ({"learner": {"name": "ucb1", "log_scale": -1}}, "UCB1: `log_scale` must be a finite number > 0, got -1."),
        ({"n_actions": 10**10}, OWNER % ("optimistic-gd", 10**10, 0) + ": the arrays do not match these numbers."),
        ({"rounds": 2**49}, OWNER % ("optimistic-gd", 2, 2**49) + ": the arrays do not match these numbers."),
    ],
)
def test_an_invalid_header_is_refused(changes, message, tmp_path):
    forge(tmp_path / "session", **changes)
    with pytest.raises(BadFile, match=rf"^{re.escape(f'{tmp_path}/session: {message}')}$"):
        Session.load(tmp_path / "session")


def test_a_learner_inside_a_learner_inside_a_learner_is_refused(tmp_path):
    spec = {"name": "ucb1"}
    for _ in range(400):
        spec = {"name": "detect-and-restart", "base": spec}
    forge(tmp_path / "session", learner=spec)
    with pytest.raises(BadFile, match=rf"^{tmp_path / 'session'}"):
        Session.load(tmp_path / "session")


THREADS = """
import threading
import numpy as np
from driftwise import Session
from driftwise.learners import SleepingOptimisticAdaptMLProd

session = Session(SleepingOptimisticAdaptMLProd(), 64)
losses = np.random.default_rng(0).random((400, 64))

def play():
    for row in losses:
        session.predict()
        session.update(row)

threads = [threading.Thread(target=play) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert session.rounds == 1600
assert abs(session.predict().sum() - 1) < 1e-9
assert session.learner.memory_fault(session.state.memory, 64, 1600) == ""
"""


def test_threads_may_share_a_session():
    """In a process of its own: without the lock, the heap is corrupted."""
    subprocess.run([sys.executable, "-c", THREADS], check=True)


def test_a_session_can_be_copied_and_pickled():
    session = Session(OptimisticGD(), 2)
    session.update([0.0, 1.0])
    for twin in (copy.deepcopy(session), pickle.loads(pickle.dumps(session))):
        expect_same(twin.state, session.state, "in a copy and in the original")
        twin.update([1.0, 0.0])
    assert session.rounds == 1


def test_a_pickle_is_not_opened(tmp_path):
    """Loading must not run code: an array of objects would."""
    with (tmp_path / "session").open("wb") as file:
        np.savez(file, driftwise_session=np.array([print], dtype=object))
    with pytest.raises(BadFile, match=r"is not a complete session file"):
        Session.load(tmp_path / "session")


# Default learners


def test_a_session_without_a_learner_has_the_default_of_its_feedback():
    assert Session(n_actions=3).learner == Tracker()
    assert Session(n_actions=3, feedback="full").learner == Tracker()
    assert Session(n_actions=3, feedback="bandit").learner == BanditTracker()
    assert Session(OptimisticGD(), 3, feedback="full").learner == OptimisticGD()


def test_default_sessions_follow_a_change():
    rng = np.random.default_rng(1)
    losses = (rng.random((600, 3)) < np.repeat([[0.1, 0.8, 0.8], [0.8, 0.8, 0.1]], 300, axis=0)).astype(float)
    full, bandit, chosen = Session(n_actions=3), Session(n_actions=3, feedback="bandit"), []
    for row in losses:
        full.update(row)
        action, probability = bandit.choose()
        bandit.update(action, probability, loss=row[action])
        chosen.append(action)
    assert full.predict()[2] > 0.95
    assert np.mean(np.array(chosen[-100:]) == 2) > 0.8
    assert full.beliefs().segments == 2


def test_a_reward_is_one_less_the_loss():
    with_losses, with_rewards = (Session(n_actions=2, feedback="bandit") for _ in range(2))
    for loss in (0.25, 1.0, 0.0, 0.5):
        action, probability = with_losses.choose()
        assert with_rewards.choose() == (action, probability)
        with_losses.update(action, probability, loss=loss)
        with_rewards.update(action, probability, reward=1 - loss)
    expect_same(with_rewards.state, with_losses.state, "with rewards and with losses")
    with_losses, with_rewards = Session(OptimisticGD(), 2), Session(OptimisticGD(), 2)
    with_losses.update([0.25, 1.0])
    with_rewards.update(reward=[0.75, False])
    expect_same(with_rewards.state, with_losses.state, "with rewards and with losses")


def test_all_forms_of_an_update_are_the_same():
    for feedback, forms in {
        "bandit": [
            lambda one: one.update(*one.choose(), loss=0.25),
            lambda one: one.update(*one.choose(), reward=0.75),
        ],
        "full": [
            lambda one: one.update([0.25, 1.0]),
            lambda one: one.update(losses=[0.25, 1.0]),
            lambda one: one.update(reward=[0.75, 0.0]),
        ],
    }.items():
        ends = []
        for form in forms:
            session = Session(n_actions=2, feedback=feedback)
            for _ in range(4):
                form(session)
            ends.append(session.state)
        for end in ends[1:]:
            expect_same(end, ends[0], f"after another form, {feedback} feedback")


BANDIT_FORMS = (
    "Session: kl-ucb has bandit feedback; call `update(action, probability, loss=loss)` or"
    " `update(action, probability, reward=reward)`, got "
)
FULL_FORMS = "Session: optimistic-gd has full feedback; call `update(losses)` or `update(reward=rewards)`, got "


@pytest.mark.parametrize(
    ("feedback", "arguments", "named", "message"),
    [
        ("bandit", (0, 1.0), {"reward": 1.5}, "KLUCB: `reward` must be a number in [0, 1], got 1.5."),
        ("bandit", (0, 1.0), {"reward": "yes"}, "KLUCB: `reward` must be a number in [0, 1], got 'yes'."),
        ("bandit", (0, 1.0), {"reward": None}, "KLUCB: `reward` must be a number in [0, 1], got None."),
        ("bandit", (0, 1.0), {"loss": None}, "KLUCB: `loss` must be a number in [0, 1], got None."),
        (
            "bandit",
            (0, 1.0),
            {"loss": 0.2, "reward": 0.8},
            f"{BANDIT_FORMS}2 arguments without a name, `loss`, `reward`.",
        ),
        ("bandit", (0, 1.0), {}, f"{BANDIT_FORMS}2 arguments without a name."),
        ("bandit", (0, np.float64(0.0)), {"loss": 0.2}, "KLUCB: `probability` must be in (0, 1] or None, got 0.0."),
        ("bandit", (0, 1.0, 0.2), {}, f"{BANDIT_FORMS}3 arguments without a name."),
        ("bandit", (0, None, 0.2), {}, f"{BANDIT_FORMS}3 arguments without a name."),
        ("bandit", (0, 0.2, 1.0), {"reward": 0.8}, f"{BANDIT_FORMS}3 arguments without a name, `reward`."),
        ("bandit", (0,), {"loss": 0.2}, f"{BANDIT_FORMS}1 argument without a name, `loss`."),
        ("bandit", (), {"losses": [0.2, 0.3]}, f"{BANDIT_FORMS}`losses`."),
        ("bandit", (), {}, f"{BANDIT_FORMS}no argument."),
        (
            "full",
            (),
            {"reward": [0.5, -1.0]},
            "OptimisticGD: `reward` must be in [0, 1], got -1.0. It is that of action 1.",
        ),
        ("full", (), {"reward": [0.5]}, "OptimisticGD: `reward` must have shape (2,), got (1,)."),
        ("full", (), {"reward": None}, "OptimisticGD: `reward` must be numbers in [0, 1], one per action, got None."),
        ("full", (), {"losses": None}, "OptimisticGD: `losses` must be numbers in [0, 1], one per action, got None."),
        ("full", ([0.5, 0.5],), {"reward": [0.5, 0.5]}, f"{FULL_FORMS}1 argument without a name, `reward`."),
        ("full", (), {"losses": [0.5, 0.5], "reward": [0.5, 0.5]}, f"{FULL_FORMS}`losses`, `reward`."),
        ("full", (), {"loss": 0.5}, f"{FULL_FORMS}`loss`."),
    ],
)
def test_a_bad_update_is_refused_and_changes_nothing(feedback, arguments, named, message):
    session = Session({"bandit": KLUCB(), "full": OptimisticGD()}[feedback], 2)
    with pytest.raises(InvalidInput) as error:
        session.update(*arguments, **named)
    assert str(error.value) == message
    assert session.rounds == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "Session: `n_actions` must be given: Session(n_actions=3)."),
        ({"learner": 3}, "Session: `n_actions` must be given: Session(n_actions=3)."),
        (
            {"learner": "kl-ucb", "n_actions": 2},
            "Session: `learner` must be a learner, got the name 'kl-ucb'. Write KLUCB().",
        ),
        (
            {"learner": KLUCB, "n_actions": 2},
            "Session: `learner` must be a learner, got the class KLUCB. Write KLUCB().",
        ),
        ({"n_actions": 2, "feedback": "some"}, "Session: `feedback` must be 'full' or 'bandit', got 'some'."),
        (
            {"learner": OptimisticGD(), "n_actions": 2, "feedback": "bandit"},
            "Session: `feedback` must be 'full', the feedback of optimistic-gd, got 'bandit'.",
        ),
    ],
)
def test_sessions_reject_contradictions(arguments, message):
    with pytest.raises(InvalidInput) as error:
        Session(**arguments)
    assert str(error.value) == message
