"""A live round uses a table of addresses, which is never used after its arrays are replaced."""

import copy
import pickle

import numpy as np
import pytest

from driftwise import Session
from driftwise.checks.check import expect_same, mixed_losses
from driftwise.core.addresses import address_table
from driftwise.core.errors import InvalidInput
from driftwise.learners import (
    CUSUMUCB,
    UCB1,
    Hedge,
    OptimisticHedge,
    OracleRestarts,
    SleepingOptimisticAdaptMLProd,
    State,
    learners,
)

pytestmark = pytest.mark.interpreted


def live_state(learner, n_actions=3):
    state = learner.start(n_actions)
    learner.update(state, [0.2] * n_actions)
    return state


def test_the_same_memory_keeps_its_table_and_another_one_drops_it():
    learner = Hedge()
    state = live_state(learner)
    live = state.live
    learner.update(state, [0.1, 0.2, 0.3])
    learner.run(state, mixed_losses(5, 3))
    assert state.live is live
    state.memory = type(state.memory)(*(array.copy() for array in state.memory))
    assert state.live is None


def test_a_memory_that_grows_gets_a_new_table():
    learner = SleepingOptimisticAdaptMLProd()
    losses = mixed_losses(200, 3)
    state, alone = learner.start(3), learner.start(3)
    for row in losses:
        learner.update(state, row)
    assert len(state.memory.scale) == 256  # 64, 128, 256
    learner.run(alone, losses)
    expect_same(state, alone, "live and in a block")


def test_a_learner_that_restarts_gets_a_new_table():
    learner = OracleRestarts("ucb1", change_points=(2,))
    session, losses = Session(learner, 3), mixed_losses(6, 3)
    for row in losses:
        action, probability = session.choose()
        session.update(action, probability, loss=row[action])
    alone = learner.start(3)
    learner.run(alone, losses)
    expect_same(session.state, alone, "live and in a block")


def refuses_to_move(state):
    """Return whether NumPy refuses to resize each array, with and without its own check of references."""
    for array in state.memory:
        for options in ({}, {"refcheck": False}):
            with pytest.raises(ValueError, match="cannot resize this array: it does not own its data"):
                array.resize(array.size + 1000, **options)
    return True


@pytest.mark.parametrize("name", [*learners])
def test_no_array_of_a_state_can_be_moved(name, tmp_path):
    learner = learners.get(name)()
    state = learner.start(3)
    assert refuses_to_move(state)
    learner.run(state, mixed_losses(70, 3))  # some memories grow
    assert refuses_to_move(state)
    assert refuses_to_move(state.copy())
    session = Session(learner, 3)
    session.save(tmp_path / "session")
    assert refuses_to_move(Session.load(tmp_path / "session").state)


def test_an_attempt_to_move_an_array_between_live_rounds_changes_nothing():
    learner = Hedge()
    state, alone = live_state(learner), live_state(learner)
    for row in mixed_losses(20, 3):
        assert refuses_to_move(state)
        with pytest.raises(ValueError, match="cannot resize"):
            state.memory.weights.base.resize(1000)
        learner.update(state, row)
        learner.update(alone, row)
    expect_same(state, alone, "with attempts and without")


def test_what_an_assigned_memory_was_made_of_is_not_written():
    learner, weights = Hedge(), np.array([0.5, 0.25, 0.25])
    state = live_state(learner)
    state.memory = state.memory._replace(weights=weights)
    learner.update(state, [1.0, 0.0, 0.5])
    assert refuses_to_move(state)
    assert weights.tolist() == [0.5, 0.25, 0.25]
    weights.resize(1000, refcheck=False)
    learner.update(state, [1.0, 0.0, 0.5])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": np.ones(1)}, "hedge with 3 actions: `weights` must have the shape (3,), got (1,)."),
        ({"weights": np.ones((3, 1))}, "hedge with 3 actions: `weights` must have the shape (3,), got (3, 1)."),
        (
            {"weights": np.ones(3, np.float32)},
            "State: `memory.weights` must be float64, writable and in the order of C, got array(",
        ),
        (
            {"totals": np.ones(6)[::2]},
            "State: `memory.totals` must be float64, writable and in the order of C, got array([1., 1., 1.]).",
        ),
        ({"weights": [0.2, 0.3, 0.5]}, "State: `memory` must be a Memory of arrays, as that of the state, got Memory("),
    ],
)
def test_a_memory_that_does_not_fit_is_refused_and_changes_nothing(change, message):
    learner = Hedge()
    state, before = live_state(learner), live_state(learner)
    with pytest.raises(InvalidInput) as error:
        state.memory = state.memory._replace(**change)
    assert str(error.value).startswith(message)
    expect_same(state, before, "before and after")
    learner.update(state, [0.1, 0.2, 0.3])


def test_the_memory_of_another_learner_is_refused():
    state = live_state(Hedge())
    with pytest.raises(InvalidInput, match=r"^State: `memory` must be a Memory of arrays, as that of the state, got "):
        state.memory = UCB1().start(3).memory


def test_copies_have_addresses_of_their_own():
    learner = Hedge()
    state = live_state(learner)
    for twin in (state.copy(), copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
        assert twin.live is None
        assert refuses_to_move(twin)
        expect_same(twin, state, "in a copy and in the original")
        before = state.copy()
        learner.update(twin, [1.0, 0.0, 0.5])
        expect_same(state, before, "before and after a copy was played")
        assert not np.array_equal(twin.memory.totals, state.memory.totals)


def test_two_states_of_one_learner_do_not_share_a_table():
    learner = CUSUMUCB()
    one, other = learner.start(2, seed=1), learner.start(2, seed=1)
    for _ in range(5):
        learner.update(one, *learner.choose(one)[:1], 0.5, None)
    assert (one.memory.plays.sum(), other.memory.plays.sum()) == (5.0, 0.0)


def test_an_array_that_is_not_contiguous_is_rejected():
    state = Hedge().start(4)
    spread = state.memory._replace(totals=np.zeros(8)[::2])
    with pytest.raises(ValueError, match=r"^an array in a table of addresses must be contiguous"):
        address_table(spread)


@pytest.mark.parametrize("learner", [Hedge(), OptimisticHedge()], ids=str)
def test_a_masked_loss_is_missing(learner):
    state = live_state(learner)
    before = state.copy()
    hidden = np.ma.masked_array([0.1, 0.2, 0.3], mask=[False, True, False])
    for take in (learner.update, getattr(learner, "hint", learner.update)):
        with pytest.raises(InvalidInput, match=r"got nan at action 1\. Is a value missing\?$"):
            take(state, hidden)
    expect_same(state, before, "before and after a masked loss")


@pytest.mark.parametrize("loss", [0.25, np.float64(0.25), np.float32(0.25), 1, True, np.int64(0)])
@pytest.mark.parametrize("probability", [None, 1.0, np.float64(0.5), 1])
def test_numbers_of_any_kind_are_taken(loss, probability):
    learner = UCB1()
    one, other = learner.start(2), learner.start(2)
    learner.update(one, np.int64(1), loss, probability)
    learner.update(other, 1, float(loss), None)
    expect_same(one, other, "after numbers of different kinds")


def test_a_state_has_a_readable_repr():
    assert repr(Hedge().start(2)) == "State(Hedge(learning_rate=None), n_actions=2, rounds=0)"
    assert isinstance(Hedge().start(2), State)
