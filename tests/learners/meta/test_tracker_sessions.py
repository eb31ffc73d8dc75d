"""Tracker: damaged and resumed sessions, changes after long runs."""

from math import exp, log

import numpy as np
import pytest

from driftwise import Session
from driftwise.checks.check import mixed_losses
from driftwise.core.errors import BadFile
from driftwise.learners import FixedShare, Tracker

# Sessions


DAMAGE = {  # a damaged value for every field, and what the error names
    "weights": (0, -0.1),
    "base_weights": ((4, 0), 1.5),
    "rule_weights": (3, np.nan),
    "bank0_totals": (0, 7.0 + 1e-3),
    "bank0_centers": ((2, 1), 0.0),
    "bank0_range": (0, 1.01),
    "bank0_counted": (0, 7.5),
    "bank0_cut_rounds": (0, 5.0),
    "bank0_lasted": (0, 6.0),
    "bank0_narrow_rounds": (0, 7.0),
    "bank0_narrow_range": (0, 0.9),
    "bank0_even_total": (0, -0.1),
    "bank0_previous": (1, 1.1),
    "bank0_squares": (1, 7.1),
    "bank0_sums": (0, 0.5),
    "bank0_means": ((3, 0), -0.01),
    "bank0_clock": (1, 6),
    "rule_totals": (5, 7.1),
    "rule_gap": (0, -1e-3),
}
SCRATCH = ("base_losses", "bank0_scaled", "bank0_factors")  # written before they are read


@pytest.fixture
def session():
    session = Session(Tracker(), 3)
    for losses in mixed_losses(7, 3):
        session.update(losses)
    return session


def test_every_field_is_damaged_by_a_test():
    assert {*DAMAGE, *SCRATCH} == {*Tracker.Memory._fields}


@pytest.mark.interpreted
@pytest.mark.parametrize("field", DAMAGE)
def test_a_damaged_session_is_refused(field, session, tmp_path):
    at, value = DAMAGE[field]
    getattr(session.state.memory, field)[at] = value
    session.save(tmp_path / "session")
    with pytest.raises(BadFile, match=field.removeprefix("bank0_").removeprefix("rule_")):
        Session.load(tmp_path / "session")


@pytest.mark.interpreted
@pytest.mark.parametrize("field", ["bank0_totals", "bank0_even_total"])
def test_totals_beyond_the_range_of_the_losses_are_refused(field, tmp_path):
    session = Session(Tracker(), 3)
    for losses in mixed_losses(7, 3):
        session.update(losses / 8)
    getattr(session.state.memory, field)[:] = (0.0, 1.0, 0.5) if field == "bank0_totals" else 1.0
    session.save(tmp_path / "session")
    with pytest.raises(BadFile, match="must be at most range \\* rounds"):
        Session.load(tmp_path / "session")


@pytest.mark.interpreted
def test_a_range_before_the_first_round_is_refused(tmp_path):
    session = Session(Tracker(), 3)
    session.state.memory.bank0_range[0] = 0.5
    session.save(tmp_path / "session")
    with pytest.raises(BadFile, match=r"`range` must be in \[0, 0\]"):
        Session.load(tmp_path / "session")


@pytest.mark.interpreted
@pytest.mark.parametrize("clock", [(1, 64, 0), (1, 7, -1), (7, 1, 0), (2, 3, 1), (1, -1, 8), (2**62, 0, 7), (0, 7, 7)])
def test_a_clock_that_does_not_fit_the_rounds_is_refused(clock, session, tmp_path):
    session.state.memory.bank0_clock[:] = clock
    session.save(tmp_path / "session")
    with pytest.raises(BadFile, match=r"`clock` must be \[1, 7, 0\]"):
        Session.load(tmp_path / "session")


@pytest.mark.interpreted
@pytest.mark.parametrize("n_before", [0, 1, 63, 64, 65, 127, 128, 200])
def test_a_session_continues_bit_for_bit(n_before, tmp_path):
    losses, session = mixed_losses(n_before + 70, 3), Session(Tracker(), 3)
    Tracker().run(session.state, losses[:n_before])
    session.save(tmp_path / "session")
    resumed = Session.load(tmp_path / "session")
    for t, vector in enumerate(losses[n_before:]):
        if t % 3 == 0:
            session.hint(losses[t])
            resumed.hint(losses[t])
        assert session.predict().tobytes() == resumed.predict().tobytes()
        session.update(vector)
        resumed.update(vector)
    for name, array in session.state.arrays().items():
        assert array.tobytes() == resumed.state.arrays()[name].tobytes(), name


# A change after a long run without one


def rounds_until_followed(learner, n_before, n_actions=4):
    """Play constant losses, let another action become best, and count the rounds until it has weight 1/2."""
    before, after = 1.0 - 0.5 * np.eye(n_actions)[[0, 1]]
    state = learner.start(n_actions)
    for _ in range(n_before // 10_000):
        learner.run(state, np.tile(before, (10_000, 1)))
    played = learner.run(state, np.tile(after, (200, 1)))
    return int(np.argmax(played[:, 1] >= 0.5))


def test_a_change_after_a_million_constant_rounds_is_followed_at_once():
    r"""Fixed Share starts at alpha/K, gains a factor sqrt(e) in a round, and sharing adds up to 1 / (1 - 1/sqrt(e))."""
    assert rounds_until_followed(Tracker(), 10_000) <= 3
    assert rounds_until_followed(Tracker(), 1_000_000) <= 3
    share = FixedShare(learning_rate=1.0, switch_rate=1e-4)
    expected = 2 * (log(4 / 1e-4) + log(1 - exp(-1 / 2)))
    assert rounds_until_followed(share, 1_000_000) == pytest.approx(expected, abs=1)
