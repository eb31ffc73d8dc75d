"""Learners of users that fail in a sweep: their cells are recorded as failed, with the learner and the round."""

import sys
from dataclasses import dataclass

import numpy as np
import pytest

from driftwise import PythonLearner, Sweep
from driftwise.cli.main import main
from driftwise.learners import Hedge, learners
from sweep_helpers import SWITCHING
from user_modules import import_module

NOTE = "in round 7, counted from 0. The state was not changed."


@pytest.fixture(autouse=True)
def _own_learners(monkeypatch):
    """Let no other test see the learners of this one."""
    monkeypatch.setattr(learners, "_classes", dict(learners._classes))


def failing(fail):
    """Return a learner whose `update` calls a function in round 7."""

    class Failing(PythonLearner, name="failing-in-sweeps"):
        def first_memory(self, n_actions, generator):
            return {"rounds": np.zeros(1), "weights": np.full(n_actions, 1 / n_actions), "generator": generator}

        def predict(self, memory):
            return memory.weights

        def update(self, memory, losses):
            if memory.rounds[0] == 7:
                fail()
            memory.rounds[0] += losses.size / 3

    return Failing()


def errors(learner, folder, n_runs=2):
    results = Sweep(SWITCHING, [learner, Hedge()], 20, n_runs=n_runs).run(folder, n_threads=2)
    failures = results.failures()
    assert {place.learner for place, *_ in failures} == {learner.name}
    assert [run for *_, run, _ in failures] == [*range(n_runs)]
    return [error for *_, error in failures]


def test_a_learner_that_calls_exit_fails_in_its_cells_and_the_sweep_goes_on(tmp_path):
    note = "Raised in `update` of Failing, in round 7, counted from 0. The state was not changed."
    assert errors(failing(lambda: sys.exit(0)), tmp_path) == [f"SystemExit: 0 {note}"] * 2


class _WithoutText(Exception):
    def __str__(self):
        raise RuntimeError("no text")


def test_an_error_without_a_text_is_recorded_by_its_class(tmp_path):
    def fail():
        raise _WithoutText

    (first, second) = errors(failing(fail), tmp_path)
    assert first == second == f"_WithoutText Raised in `update` of Failing, {NOTE}"


def test_a_long_error_still_names_the_round(tmp_path):
    def fail():
        raise ValueError("x" * 5000)

    for error in errors(failing(fail), tmp_path):
        assert error.startswith("ValueError: xxx")
        assert error.endswith(f"x Raised in `update` of Failing, {NOTE}")
        assert len(error) == 500


def test_an_error_that_is_raised_again_and_again_names_its_round_once(tmp_path):
    always = ValueError("the same object")

    def fail():
        raise always

    for error in errors(failing(fail), tmp_path, n_runs=5):
        assert error == f"ValueError: the same object Raised in `update` of Failing, {NOTE}"


@dataclass(frozen=True)
class WithoutWeights(Hedge):
    """Hedge whose weights are no numbers."""

    def play_block(self, state, losses):
        return np.nan * super().play_block(state, losses)


@dataclass(frozen=True)
class HeavyWeights(Hedge):
    """Hedge whose weights have the sum 100."""

    def play_block(self, state, losses):
        return 100.0 * super().play_block(state, losses)


@pytest.mark.parametrize("kind", [WithoutWeights, HeavyWeights])
def test_a_regret_that_no_play_has_is_recorded_as_a_failure(kind, tmp_path):
    kind.name = "heavy-or-without-weights"
    learners.add(kind.name, kind)
    rule = f"{kind.name}: the regret must be in [-20, 20], got "
    for error in errors(kind(), tmp_path):
        assert error.startswith(rule)
        assert error.endswith(". Are its weights >= 0, with sum 1?")


EXITING = '''
import sys
import numpy as np
from driftwise import PythonLearner

class Exiting(PythonLearner, name="exiting"):
    """Exiting: it ends its process."""

    def first_memory(self, n_actions, generator):
        sys.exit(0)

    def predict(self, memory):
        return np.ones(1)

    def update(self, memory, losses):
        pass
'''


def test_on_the_command_line_a_learner_that_calls_exit_is_an_error(tmp_path, monkeypatch, capsys):
    import_module(tmp_path, "exiting_learner", EXITING)
    monkeypatch.setattr(sys, "argv", ["driftwise", "simulate", "--learner", "exiting", "--rounds", "50", "--quiet"])
    with pytest.raises(SystemExit) as left:
        main()
    message = "driftwise: A learner or another class of your own called `sys.exit`, so nothing was finished.\n"
    assert (left.value.code, *capsys.readouterr()) == (1, "", message)
