"""`check_learner` reports all mistakes of a learner in one error: those of what it does before those of its texts."""

import re
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
import pytest

from driftwise import PythonLearner
from driftwise.checks import CheckFailed, check_learner
from driftwise.core.corners import LARGEST, TOO_SLOW, Corners
from driftwise.core.errors import DriftwiseError
from driftwise.core.kernel import kernel
from driftwise.core.memory_fields import HUGE, between, distribution
from driftwise.core.types import Vector
from driftwise.core.validation import POSITIVE, Domains
from driftwise.core.vectors import least
from driftwise.learners import learners
from driftwise.learners.base import ExpertLearner, expert


@pytest.fixture(autouse=True)
def own_registry(monkeypatch):
    """Register the learners of this file, and those that a test makes, for one test."""
    own = {kind.name: kind for kind in (SoundHedge, HedgeWithFiveMistakes, SoundPython)}
    monkeypatch.setattr(learners, "_classes", {**learners._classes, **own})


class Memory(NamedTuple):
    weights: Annotated[Vector, distribution("actions")]
    total: Annotated[Vector, between(0, "rounds", "actions")]


class MemoryOfAnyWeights(NamedTuple):
    weights: Annotated[Vector, between(0, 1, "actions")]
    total: Annotated[Vector, between(0, HUGE, "actions")]


class Rates(NamedTuple):
    learning_rate: float


@kernel
def _update(memory: Memory, rates: Rates, losses: Vector) -> None:
    for k in range(losses.size):
        memory.total[k] += losses[k]
    lowest, mass = least(memory.total), 0.0
    for k in range(losses.size):
        memory.weights[k] = np.exp(-rates.learning_rate * (memory.total[k] - lowest))
        mass += memory.weights[k]
    for k in range(losses.size):
        memory.weights[k] /= mass


@kernel
def _update_with_wrong_mass(memory: MemoryOfAnyWeights, rates: Rates, losses: Vector) -> None:
    for k in range(losses.size):
        memory.total[k] += losses[k]
    lowest, mass = least(memory.total), 0.1  # must be 0
    for k in range(losses.size):
        memory.weights[k] = np.exp(-rates.learning_rate * (memory.total[k] - lowest))
        mass += memory.weights[k]
    for k in range(losses.size):
        memory.weights[k] /= mass


@expert("sound-hedge", update=_update)
@dataclass(frozen=True)
class SoundHedge(ExpertLearner[Memory, Rates]):
    """Hedge.

    Parameters
    ----------
    learning_rate : float, default 0.5
        Learning rate of the exponential weights.
    """

    learning_rate: float = 0.5

    corners = Corners(learning_rate=(TOO_SLOW, LARGEST))
    _domains = Domains(learning_rate=POSITIVE)


@expert("hedge-with-five-mistakes", update=_update_with_wrong_mass)
@dataclass(frozen=True)
class HedgeWithFiveMistakes(ExpertLearner[MemoryOfAnyWeights, Rates]):
    """Hedge.

    Parameters
    ----------
    learning_rate : float, default 0.05
        Learning rate of the exponential weights.
    """

    learning_rate: float = 0.5

    corners = Corners()
    _domains = Domains(learning_rate=POSITIVE)

    def first_memory(self, n_actions, generator):  # noqa: ARG002
        return MemoryOfAnyWeights(np.full(n_actions, 1.0 / n_actions), np.zeros(n_actions))

    def update(self, state, losses):
        state.memory.total[:] += 1e-6  # counts before the losses are checked, and only in single rounds
        super().update(state, losses)


FIVE = [
    "weights_are_a_distribution",
    "run_equals_stepping",
    "a_rejected_update_changes_nothing",
    "docstring_documents_every_parameter",
    "corners_name_every_parameter",
]


class WrongMass(HedgeWithFiveMistakes):
    __doc__ = SoundHedge.__doc__
    corners = SoundHedge.corners
    update = ExpertLearner.update


class RoundsWhileStepping(SoundHedge):
    def update(self, state, losses):
        super().update(state, losses)
        state.memory.weights[:] = state.memory.weights.round(9)


class CountsBeforeItChecks(SoundHedge):
    def update(self, state, losses):
        state.rounds += 1
        super().update(state, losses)
        state.rounds -= 1


class DocumentsAnotherDefault(SoundHedge):
    __doc__ = HedgeWithFiveMistakes.__doc__


class WithoutCorners(SoundHedge):
    corners = Corners()


ALONE = (WrongMass, RoundsWhileStepping, CountsBeforeItChecks, DocumentsAnotherDefault, WithoutCorners)


class SoundPython(PythonLearner, name="sound-python"):
    def first_memory(self, n_actions, generator):  # noqa: ARG002
        return {"total": np.zeros(n_actions)}

    def predict(self, memory):
        weights = np.exp(memory.total.min() - memory.total)
        return weights / weights.sum()

    def update(self, memory, losses):
        memory.total += losses


for kind in (SoundHedge, HedgeWithFiveMistakes, SoundPython):
    del learners._classes[kind.name]  # other tests use all learners of the registry


def message_of(learner):
    """Return the message of the error that `check_learner` raises."""
    with pytest.raises(CheckFailed) as raised:
        check_learner(learner)
    assert isinstance(raised.value, DriftwiseError)
    assert isinstance(raised.value, AssertionError)
    return str(raised.value)


def failed(message):
    """Return the numbered names of a message."""
    return re.findall(r"^ *\d+\. `(\w+)`: ", message, re.MULTILINE)


@pytest.mark.parametrize("kind", [SoundHedge, SoundPython])
def test_a_sound_learner_passes(kind):
    check_learner(kind)


def test_all_five_mistakes_are_named_in_one_error_behaviour_first():
    message = message_of(HedgeWithFiveMistakes)
    assert message.startswith("HedgeWithFiveMistakes(learning_rate=0.5) fails 5 of 25")
    assert failed(message) == FIVE


def test_a_check_that_needs_another_one_is_skipped_and_named():
    message = message_of(HedgeWithFiveMistakes)
    words = " ".join(message.split())
    skipped = "`weights_survive_a_million_constant_rounds`, `single_action_and_single_round_work`"
    assert words.endswith(f"Skipped, because 1 has to pass first: {skipped}.")


def test_the_message_fits_a_terminal_of_100_columns():
    lines = message_of(HedgeWithFiveMistakes).splitlines()
    lines[0] = "driftwise.checks.check.CheckFailed: " + lines[0]
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize(("kind", "check"), [*zip(ALONE, FIVE, strict=True)], ids=FIVE)
def test_each_mistake_alone_is_the_only_failure(kind, check, monkeypatch):
    monkeypatch.setattr(kind, "name", "with-a-mistake")
    learners.add("with-a-mistake", kind)
    message = message_of(kind)
    names = failed(message) or re.findall(r"fails `(\w+)`: ", message)
    assert names == [check]


def test_an_error_in_every_round_is_one_failure_with_its_line():
    class Mine(SoundPython, name="mine"):
        def update(self, memory, losses):
            memory.total += losses / {}["scale"]

    with pytest.raises(CheckFailed) as raised:
        check_learner(Mine)
    words = " ".join(str(raised.value).split())
    assert failed(str(raised.value)) == ["weights_are_a_distribution"]
    assert re.search(r"it raised KeyError in line \d+ of test_all_failures\.py: 'scale'", words)
    assert "The error of 1 was also raised in: `global_random_numbers_are_not_used`, " in words
    assert "Skipped" not in words
    assert isinstance(raised.value.__cause__, KeyError)


def test_two_errors_are_two_failures():
    class Mine(SoundPython, name="mine"):
        def predict(self, memory):
            if memory.total.size == 17:
                raise ZeroDivisionError
            return super().predict(memory)

        def beliefs(self, state):
            raise ArithmeticError(state.rounds)

    assert failed(message_of(Mine)) == ["weights_are_a_distribution", "beliefs_do_not_change_the_state"]


def test_runs_that_cannot_be_repeated_are_one_failure():
    class Mine(SoundPython, name="mine"):
        def predict(self, memory):
            weights = super().predict(memory) + np.random.rand(memory.total.size) / 10  # noqa: NPY002
            return weights / weights.sum()

    message = message_of(Mine)
    assert failed(message) == ["global_random_numbers_are_not_used"]
    assert "`run_equals_stepping`" in message.partition("Skipped")[2]


def test_all_faults_of_a_docstring_and_of_corners_are_named():
    @dataclass(frozen=True)
    class TwoMore(HedgeWithFiveMistakes):
        switch_rate: float = 0.1
        discount: float = 0.9
        corners = Corners(window=(1,))

    learners.add("two-more", TwoMore)
    TwoMore.name = "two-more"
    words = " ".join(message_of(TwoMore).split())
    assert "has no entry for switch_rate, discount; its docstring says `learning_rate` is '0.05' by default" in words
    assert "`corners` has no entry for learning_rate, switch_rate, discount; `corners` has an entry for window" in words
