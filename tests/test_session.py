"""A session is put down and taken up again without a trace, in a file that holds numbers and no code."""

import json
import math

import numpy as np
import pytest

from driftwise import Session
from driftwise.checks.playing import expect_same, mixed_losses
from driftwise.core.errors import BadFile, InvalidInput, UnknownName
from driftwise.engine import session as module
from driftwise.learners import (
    ExpertLearner,
    OptimisticAdaptMLProd,
    OptimisticGD,
    RerunUCBV,
    RestartedAdaptiveGD,
    SleepingOptimisticAdaptMLProd,
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
            session.update(action, row[action], probability)
    return np.array(played)


@pytest.mark.interpreted
@every_learner
@pytest.mark.parametrize("pause", [0, 1, 63, 64])  # Algorithm 4 makes room after 63 rounds
def test_a_loaded_session_goes_on_bit_for_bit(learner, pause, tmp_path):
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

    def write_half(stream, **arrays):
        stream.write(b"PK")
        raise OSError(28, "No space left on device")

    session.update([0.0, 1.0])
    monkeypatch.setattr(module.np, "savez", write_half)
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


UNFIT = "the arrays do not fit %s after %d rounds"


def forge(path, weights=None, **changes):
    """Save a session with another header or other weights; a change to None leaves a line out."""
    Session(OptimisticGD(), 2).save(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    header = json.loads(str(arrays["driftwise_session"])) | changes
    header = {key: value for key, value in header.items() if value is not None}
    arrays |= {"driftwise_session": np.array(json.dumps(header))} | ({} if weights is None else {"weights": weights})
    with path.open("wb") as file:
        np.savez(file, **arrays)


def test_a_session_of_another_format_is_told(tmp_path):
    forge(tmp_path / "session", format=2)
    message = rf"^{tmp_path / 'session'} has session format 2; this version reads format 1\.$"
    with pytest.raises(BadFile, match=message):
        Session.load(tmp_path / "session")


def test_a_session_of_an_unknown_learner_is_told(tmp_path):
    forge(tmp_path / "session", learner={"name": "optimistic-dg"})
    with pytest.raises(UnknownName, match=r"^There is no learner 'optimistic-dg'\. Did you mean 'optimistic-gd'\?$"):
        Session.load(tmp_path / "session")


def test_a_session_with_another_learner_s_arrays_is_told(tmp_path):
    forge(tmp_path / "session", learner={"name": "restarted-adaptive-gd"})
    message = rf"^{tmp_path / 'session'}: the array 'last' of restarted-adaptive-gd is missing or of another kind\.$"
    with pytest.raises(BadFile, match=message):
        Session.load(tmp_path / "session")


@pytest.mark.parametrize("weights", [np.zeros(1), np.zeros(3), np.zeros(2, np.float32), np.zeros((1, 2))])
def test_arrays_that_kernels_cannot_trust_are_told(weights, tmp_path):
    forge(tmp_path / "session", weights)
    kind = "the array 'weights' of optimistic-gd is missing or of another kind"
    with pytest.raises(BadFile, match=rf"^{tmp_path / 'session'}: ({kind}|{UNFIT % ('optimistic-gd', 0)})\.$"):
        Session.load(tmp_path / "session")


@pytest.mark.parametrize(
    ("learner", "field", "value"),
    [
        (SleepingOptimisticAdaptMLProd(), "awake", 10**8),
        (SleepingOptimisticAdaptMLProd(), "awake", -(10**9)),
        (SleepingOptimisticAdaptMLProd(), "rate", np.nan),
        (OptimisticAdaptMLProd(), "awake", 2),
        (RestartedAdaptiveGD(7), "elapsed", 9),
        (RerunUCBV(7), "elapsed", -1),
        (OptimisticGD(), "weights", np.nan),
    ],
)
def test_values_that_kernels_cannot_trust_are_told(learner, field, value, tmp_path):
    """A counter is an index in compiled code, where nobody checks it."""
    session = Session(learner, 2)
    learner.run(session.state, mixed_losses(5, 2))
    session.state.arrays()[field][:] = value
    session.save(tmp_path / "session")
    with pytest.raises(BadFile, match=rf"^{tmp_path / 'session'}: {UNFIT % (learner.name, 5)}\.$"):
        Session.load(tmp_path / "session")


@pytest.mark.parametrize("gone", ["format", "learner", "n_actions", "rounds"])
def test_a_session_without_a_whole_header_is_told(gone, tmp_path):
    forge(tmp_path / "session", **{gone: None})
    with pytest.raises(BadFile, match=rf"^{tmp_path / 'session'} holds no driftwise session\.$"):
        Session.load(tmp_path / "session")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rounds": -1}, r"^Session file .*/session: `rounds` must be a whole number >= 0, got -1\.$"),
        ({"learner": 3}, r"^A learner spec must have a `name`, got 3\.$"),
    ],
)
def test_a_header_that_makes_no_sense_is_told(changes, message, tmp_path):
    forge(tmp_path / "session", **changes)
    with pytest.raises(InvalidInput, match=message):
        Session.load(tmp_path / "session")


@pytest.mark.parametrize("n_actions", ["x", 10**10])
def test_a_number_of_actions_that_no_array_has_is_told(n_actions, tmp_path):
    forge(tmp_path / "session", n_actions=n_actions)
    message = rf"^{tmp_path / 'session'}: no array of optimistic-gd is made for {n_actions!r} actions\.$"
    with pytest.raises(BadFile, match=message):
        Session.load(tmp_path / "session")


def test_a_pickle_is_not_opened(tmp_path):
    """Loading must not run code: an array of objects would."""
    with (tmp_path / "session").open("wb") as file:
        np.savez(file, driftwise_session=np.array([print], dtype=object))
    with pytest.raises(BadFile, match=r"is not a whole session file"):
        Session.load(tmp_path / "session")
