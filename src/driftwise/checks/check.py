"""Checks: functions named by a sentence that is true of every member, which search for a counterexample.

It also has what they share: losses to play, stepping round by round, comparison of states.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

from driftwise.core.errors import DriftwiseError, InvalidInput
from driftwise.core.types import Actions, Matrix
from driftwise.learners import BanditLearner, ExpertLearner, PythonLearner, State

AnyLearner = ExpertLearner | BanditLearner | PythonLearner


class CheckFailed(DriftwiseError, AssertionError):
    """A member fails a check."""


class Counterexample(Exception):
    """An observation that contradicts a check."""


@dataclass(frozen=True)
class Check:
    """A check; call it with a member."""

    search: Callable[..., None]

    @property
    def name(self) -> str:
        """The name of the check, a sentence."""
        return self.search.__name__

    def __call__(self, member: object, **options: int) -> None:
        """Raise `CheckFailed` if the search finds a counterexample or raises an error."""
        try:
            self.search(member, **options)
        except Counterexample as seen:
            raise CheckFailed(f"{member} fails `{self.name}`: {seen}.") from None
        except Exception as error:
            raise CheckFailed(f"{member} fails `{self.name}`: it raised {type(error).__name__}: {error}") from error

    def __repr__(self) -> str:
        return self.name


def check(checks: list[Check]) -> Callable[[Callable[..., None]], Check]:
    """Add a function to a list of checks, under its own name."""

    def add(search: Callable[..., None]) -> Check:
        checks.append(Check(search))
        return checks[-1]

    return add


def expect(holds: bool | np.bool_, seen: str) -> None:
    """Raise `Counterexample` with the text `seen` unless `holds`."""
    if not holds:
        raise Counterexample(seen)


def expect_equal(what: str, array: npt.NDArray[np.generic], other: npt.NDArray[np.generic]) -> None:
    """Expect two arrays to be equal bit for bit."""
    if (array.shape, array.dtype) != (other.shape, other.dtype):
        raise Counterexample(f"{what}: shape {array.shape} of {array.dtype}, and {other.shape} of {other.dtype}")
    if array.tobytes() != other.tobytes():
        first = next(i for i in np.ndindex(array.shape) if array[i].tobytes() != other[i].tobytes())
        where = ", ".join(str(n) for n in first)
        raise Counterexample(f"{what}: first difference at [{where}], {array[first]} and {other[first]}")


def mixed_losses(n_rounds: int, n_actions: int, seed: int = 0) -> Matrix:
    """Return losses of several kinds, some rounds each: uniform, 0 or 1, tied, repeated, all equal, nearly equal.

    They are read-only, so that no learner can modify them.
    """
    random = np.random.default_rng(seed)
    scattered = random.random((n_rounds, n_actions))
    kinds = (
        scattered,
        scattered.round(),
        (4 * scattered).round() / 4,
        np.tile(random.random(n_actions), (n_rounds, 1)),
        np.repeat(scattered[:, :1], n_actions, axis=1),
        0.5 + 1e-9 * scattered,
    )
    turn = np.arange(n_rounds) // 5 % len(kinds)
    losses = np.choose(turn[:, np.newaxis], kinds)
    losses.flags.writeable = False
    return losses


def stepped(learner: AnyLearner, state: State, losses: Matrix) -> Matrix | Actions:
    """Play a block one round at a time and return the weights or actions."""
    if learner.feedback == "full":
        expert = cast("ExpertLearner", learner)
        weights = np.empty(losses.shape)
        for t, row in enumerate(losses):
            weights[t] = expert.predict(state)
            expert.update(state, row)
        return weights
    bandit = cast("BanditLearner", learner)
    actions = np.empty(len(losses), np.int64)
    for t, row in enumerate(losses):
        actions[t], probability = bandit.choose(state)
        bandit.update(state, int(actions[t]), row[actions[t]], probability)
    return actions


def expect_same(state: State, other: State, when: str) -> None:
    """Expect two states to be equal bit for bit."""
    expect(state.rounds == other.rounds, f"{when}, `rounds` is {state.rounds} and {other.rounds}")
    for name, array in state.arrays().items():
        expect_equal(f"{when}, the array `{name}`", array, other.arrays()[name])


def rejects(what: str, call: Callable[..., object], *arguments: object) -> bool:
    """Return whether a call raises `InvalidInput`; another error is a counterexample."""
    try:
        call(*arguments)
    except InvalidInput:
        return True
    except Exception as error:
        raise Counterexample(f"{what} raised {type(error).__name__} instead of InvalidInput: {error}") from None
    return False
