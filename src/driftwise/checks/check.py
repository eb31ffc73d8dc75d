"""Checks: functions named by a sentence that is true of every member, which search for a counterexample.

It also runs several checks and reports all failures at once, and has what checks share: losses to play, stepping round
by round, comparison of states.
"""

from __future__ import annotations

import os
import sysconfig
import textwrap
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from driftwise.core.errors import DriftwiseError, InvalidInput
from driftwise.core.types import Actions, Matrix
from driftwise.learners import BanditLearner, ExpertLearner, PythonLearner, State

AnyLearner = ExpertLearner | BanditLearner | PythonLearner


_NOT_THE_USERS = tuple(f"{folder}{os.sep}" for folder in (Path(__file__).parents[1], sysconfig.get_paths()["stdlib"]))
_WIDTH, _MARGIN = 92, 8  # of a message on several lines; pytest indents it by up to the margin


class CheckFailed(DriftwiseError, AssertionError):
    """A member fails a check, or several."""


class Counterexample(Exception):
    """An observation that contradicts a check."""


class Failure(NamedTuple):
    """What a check found."""

    check: Check
    seen: str
    error: Exception | None = None  # that the search raised instead of a counterexample

    def __str__(self) -> str:
        return f"`{self.check.name}`: {self.seen}"

    @property
    def cause(self) -> object:
        """What failures by the same error have in common; a failure by a counterexample has its own cause."""
        if self.error is None:
            return self.check
        places = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(self.error.__traceback__)]
        return type(self.error), tuple(place for place in places[:-1] if _is_the_users(place[0])), places[-1]


@dataclass(frozen=True)
class Check:
    """A check; call it with a member."""

    search: Callable[..., None]
    of: str = "every"  # the kind of members that it is of
    needs: tuple[Check, ...] = ()  # earlier checks, without which this one cannot tell anything

    @property
    def name(self) -> str:
        """The name of the check, a sentence."""
        return self.search.__name__

    def failure(self, member: object, **options: int) -> Failure | None:
        """Return the counterexample that the search finds, or the error that it raises, if there is one."""
        try:
            self.search(member, **options)
        except Counterexample as seen:
            return Failure(self, f"{seen}.")
        except Exception as error:
            text = f": {error}" if str(error) else "."
            return Failure(self, f"it raised {type(error).__name__}{_place(error)}{text}", error)
        return None

    def __call__(self, member: object, **options: int) -> None:
        """Raise `CheckFailed` if the search finds a counterexample or raises an error."""
        if failure := self.failure(member, **options):
            raise CheckFailed(f"{member} fails {failure}") from failure.error

    def __repr__(self) -> str:
        return self.name


def check(
    checks: list[Check], of: str = "every", needs: Sequence[Check] = ()
) -> Callable[[Callable[..., None]], Check]:
    """Add a function to a list of checks, under its own name."""

    def add(search: Callable[..., None]) -> Check:
        checks.append(Check(search, of, tuple(needs)))
        return checks[-1]

    return add


def run_all(member: object, checks: Sequence[Check], options: Mapping[str, Mapping[str, int]]) -> None:
    """Run checks, with options by their names, and raise one `CheckFailed` with the failures of all of them.

    A check is skipped if one that it needs has a counterexample or was skipped. Of the checks that raise the same
    error, the first one is the failure.
    """
    failures: list[Failure] = []
    skipped: dict[Check, int] = {}  # with the number of the failure that is the reason
    again: dict[Check, int] = {}  # raised the error of this failure
    for test in checks:
        seen = {each.check: number for number, each in enumerate(failures, 1) if each.error is None}
        roots = seen | skipped
        if reasons := [roots[need] for need in test.needs if need in roots]:
            skipped[test] = reasons[0]
        elif failure := test.failure(member, **options.get(test.name, {})):
            causes = [each.cause for each in failures]
            if failure.cause in causes:
                again[test] = 1 + causes.index(failure.cause)
            else:
                failures.append(failure)
    error = next((failure.error for failure in failures if failure.error), None)
    if len(failures) == 1 and not skipped and not again:
        raise CheckFailed(f"{member} fails {failures[0]}") from error
    if failures:
        title = " " * len(f"{CheckFailed.__module__}.{CheckFailed.__name__}: ")  # a traceback begins with this
        count = f"{len(failures)} of {len(checks)} checks"
        lines = [_wrapped(f"{member} fails {count}:", title, _WIDTH + _MARGIN).lstrip()]
        lines += [_wrapped(str(failure), f"{number:2}. ") for number, failure in enumerate(failures, 1)]
        for number in range(1, len(failures) + 1):
            lines += _names(f"The error of {number} was also raised in", again, number)
            lines += _names(f"Skipped, because {number} has to pass first", skipped, number)
        raise CheckFailed("\n".join(lines)) from error


def _names(what: str, checks: Mapping[Check, int], number: int) -> list[str]:
    """Return one paragraph about the checks of a failure, none if there are none."""
    names = [f"`{test.name}`" for test, reason in checks.items() if reason == number]
    return [_wrapped(f"{what}: {', '.join(names)}.")] if names else []


def _wrapped(text: str, start: str = "", width: int = _WIDTH) -> str:
    return textwrap.fill(text, width, initial_indent=start, subsequent_indent="    ", break_on_hyphens=False)


def _place(error: Exception) -> str:
    """Return the line of the user's code in which an error was raised, '' if it was raised elsewhere."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_the_users(frame.filename)]
    return f" in line {frames[-1].lineno} of {Path(frames[-1].filename).name}" if frames else ""


def _is_the_users(filename: str) -> bool:
    """Return whether a file is neither of driftwise nor of Python nor of an installed package."""
    return not (filename.startswith(_NOT_THE_USERS) or "site-packages" in filename)


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
