"""A process may fork while a thread plays a session; the child goes on from a state between two rounds."""

import os

import numpy as np
import pytest

from driftwise import BanditTracker, Session, Tracker
from forked_children import N_FORKS, result_of_child, thread_that_repeats

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork"),
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),  # it is multi-threaded, on purpose
]
LOSSES = np.random.default_rng(1).random((500, 40))


def play(session, t):
    t %= len(LOSSES)
    if session.learner.feedback == "full":
        session.update(LOSSES[t])
    else:
        session.update(t % 40, 1.0, loss=LOSSES[t, t % 40])


def same_arrays(session, other):
    pairs = zip(session.state.memory, other.state.memory, strict=True)
    return session.rounds == other.rounds and all(np.array_equal(a, b, equal_nan=True) for a, b in pairs)


@pytest.mark.parametrize("learner", [Tracker(), BanditTracker()], ids=str)
def test_a_child_goes_on_from_the_state_after_some_round(learner):
    sessions = [Session(learner, 40)]

    def play_on(t):
        if t % len(LOSSES) == 0:  # a new one, so that a child replays few rounds
            sessions.append(Session(learner, 40))
        play(sessions[-1], t)

    def goes_on():
        session, replayed = sessions[-1], Session(learner, 40)
        for t in range(session.rounds):
            play(replayed, t)
        equal = same_arrays(session, replayed)
        play(session, 7)
        play(replayed, 7)
        return equal and same_arrays(session, replayed)

    play(sessions[0], 0)  # compiles
    with thread_that_repeats(play_on):
        assert [result_of_child(goes_on) for _ in range(N_FORKS)] == [0] * N_FORKS


def test_a_child_can_save_choose_and_believe_while_the_parent_plays(tmp_path):
    session = Session(n_actions=40, feedback="bandit")

    def uses_it():
        session.save(tmp_path / "session.npz")
        session.update(*session.choose(), reward=0.5)
        return session.beliefs().rounds == session.rounds == Session.load(tmp_path / "session.npz").rounds + 1

    with thread_that_repeats(lambda _: session.update(*session.choose(), loss=0.5)):
        assert [result_of_child(uses_it) for _ in range(N_FORKS)] == [0] * N_FORKS
