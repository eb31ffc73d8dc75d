"""A live learner on a stream of rounds, with a file to save and resume it.

The file is a NumPy archive of arrays with a JSON header and a format version; it holds no code and none is run
on loading.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from driftwise.core.archives import read_archive, write_archive
from driftwise.core.errors import BadFile, InvalidInput, UnknownName, rejection, shown
from driftwise.core.files import shown_path, write_atomically
from driftwise.core.fork_locks import fork_lock
from driftwise.core.memory_fields import MOST_ROUNDS
from driftwise.core.types import Vector
from driftwise.core.validation import MAX_COUNT, as_losses, as_real, count, first_bad_loss
from driftwise.engine.simulation import what_was_meant
from driftwise.learners import DEFAULT_LEARNERS, Beliefs, Learner, PythonLearner, State, learners
from driftwise.learners.base import HintedLearner
from driftwise.registry import to_spec

FORMAT = 3
_FORMS = {
    "full": "`update(losses)` or `update(reward=rewards)`",
    "bandit": "`update(action, probability, loss=loss)` or `update(action, probability, reward=reward)`",
}


class _NotGiven:
    """The default of an argument for which None is a value, and a wrong one."""

    def __repr__(self) -> str:
        return "<not given>"


_NOT_GIVEN = _NotGiven()


class Session:
    """A learner on a live stream: it plays one round at a time, and can be saved to a file and resumed.

    Full feedback: call `predict`, then `update(losses)`. Bandit feedback: call `choose`, then
    `update(action, probability, loss=loss)`. If you have rewards, pass `reward=` in place of losses. Threads may share
    a session: its methods lock it, and a process that forks waits for the round that a thread plays. Code that uses
    `state` directly must do its own locking.

    Parameters
    ----------
    learner : Learner, default None
        The learner, such as `OptimisticGD()`. None: `Tracker()` with full feedback, `BanditTracker()` with bandit
        feedback, which need no parameters.
    n_actions : int, default None
        Number of actions, >= 1. It must be given.
    seed : int, default 0
        Seed of the learner's random numbers, >= 0.
    feedback : {"full", "bandit"}, default None
        What is observed after each round: the losses of all actions, or that of the chosen one. None: that of the
        learner, "full" if none is given.

    Examples
    --------
    >>> session = Session(n_actions=2)
    >>> for losses in ([0.0, 1.0], [0.1, 0.9]):
    ...     weights = session.predict()
    ...     session.update(losses)
    >>> session
    Session(Tracker(both_guesses=False), n_actions=2, rounds=2)
    >>> session = Session(n_actions=2, feedback="bandit")
    >>> for _ in range(3):
    ...     action, probability = session.choose()
    ...     session.update(action, probability, loss=0.3)
    >>> session.rounds
    3
    """

    def __init__(
        self,
        learner: Learner | None = None,
        n_actions: int | None = None,
        seed: int = 0,
        *,
        feedback: str | None = None,
    ) -> None:
        if n_actions is None:
            raise InvalidInput("Session: `n_actions` must be given: Session(n_actions=3).")
        if feedback not in (None, *DEFAULT_LEARNERS):
            raise rejection("Session", "feedback", "'full' or 'bandit'", feedback)
        if learner is None:
            learner = DEFAULT_LEARNERS[feedback or "full"]()
        if not isinstance(learner, Learner):
            got = what_was_meant(learner) or shown(learner)
            raise InvalidInput(f"Session: `learner` must be a learner, got {got}.")
        if feedback not in (None, learner.feedback):
            rule = f"'{learner.feedback}', the feedback of {learner.name}"
            raise rejection("Session", "feedback", rule, feedback)
        self.learner = learner
        self.state: State = learner.start(n_actions, seed)
        self._lock = fork_lock()  # compiled rounds release the interpreter's lock

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {"learner": self.learner, "state": self.state.copy()}

    def __setstate__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values, _lock=fork_lock())

    def __repr__(self) -> str:
        return f"Session({self.learner}, n_actions={self.n_actions}, rounds={self.rounds})"

    @property
    def n_actions(self) -> int:
        """Number of actions."""
        return self.state.n_actions

    @property
    def rounds(self) -> int:
        """Number of rounds so far."""
        return self.state.rounds

    def predict(self) -> Vector:
        """Return the weights for the coming round, a distribution over the actions (full feedback)."""
        learner: Any = self.learner
        if learner.feedback != "full":  # isinstance takes longer than the lock
            raise InvalidInput(f"Session: {learner.name} has bandit feedback; call `choose` instead of `predict`.")
        with self._lock:
            weights: Vector = learner.predict(self.state)
            return weights

    def choose(self) -> tuple[int, float | None]:
        """Return an action for the coming round and its probability (bandit feedback).

        The probability is None if it has no closed form. A randomised learner draws at every call: keep the action and
        its probability until `update`.
        """
        learner: Any = self.learner
        if learner.feedback != "bandit":
            raise InvalidInput(f"Session: {learner.name} has full feedback; call `predict` instead of `choose`.")
        with self._lock:
            choice: tuple[int, float | None] = learner.choose(self.state)
            return choice

    def hint(self, guess: Any) -> None:
        """Give a learner that takes hints a guess of the losses of the coming round, one in [0, 1] per action."""
        if not isinstance(self.learner, HintedLearner):
            raise InvalidInput(f"Session: {self.learner.name} takes no hints.")
        with self._lock:
            self.learner.hint(self.state, guess)

    def update(
        self, *feedback: Any, losses: Any = _NOT_GIVEN, loss: Any = _NOT_GIVEN, reward: Any = _NOT_GIVEN
    ) -> None:
        """Finish a round: ``update(losses)``, or ``update(action, probability, loss=0.3)`` for a bandit learner.

        `action` and `probability` are what `choose` returned. The outcome may come late, after other rounds. Rewards in
        [0, 1] are given by name in place of losses: ``update(reward=rewards)``, or
        ``update(action, probability, reward=0.7)`` for a bandit learner. The loss is 1 less the reward.
        ``update(losses=losses)`` is the same as ``update(losses)``. The outcome of a bandit round has no position: a
        third argument without a name is refused.
        """
        learner: Any = self.learner
        if learner.feedback == "full":
            if not losses is loss is reward is _NOT_GIVEN or len(feedback) != 1:
                feedback = _read_feedback(self, feedback, losses, loss, reward)
            with self._lock:
                learner.update(self.state, *feedback)
        else:
            if loss is _NOT_GIVEN or not losses is reward is _NOT_GIVEN or len(feedback) != 2:
                action, probability, loss = _read_feedback(self, feedback, losses, loss, reward)
            else:
                action, probability = feedback
            with self._lock:
                learner.update(self.state, action, loss, probability)

    def beliefs(self) -> Beliefs:
        """Return what the learner believes after the rounds so far: effective memory, weights of bases, alarms."""
        with self._lock:
            return self.learner.beliefs(self.state)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the session to a file; an existing file is replaced only when the new one is complete."""
        with self._lock:
            state = self.state.copy()
        numbers = {"format": FORMAT, "n_actions": state.n_actions, "rounds": state.rounds}
        header = {"learner": to_spec(self.learner), **numbers}
        write_atomically(path, lambda file: write_archive(file, "session", header, state.arrays()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Session:
        """Return the session that `save` wrote; it continues bit for bit as if it had not been interrupted."""
        header, arrays = read_archive(path, "session")
        where = shown_path(path)
        if not {"format", "learner", "n_actions", "rounds"} <= header.keys():
            raise BadFile(f"{where} holds no driftwise session.")
        for name in ("format", "n_actions", "rounds"):
            if type(header[name]) is not int or not 0 <= header[name] <= MAX_COUNT:
                got = shown(header[name])
                raise BadFile(f"{where}: `{name}` must be a whole number from 0 to 2**62, got {got}.")
        if not isinstance(header["learner"], dict):
            raise BadFile(f"{where}: `learner` must be a spec, got {shown(header['learner'])}.")
        if header["format"] != FORMAT:
            raise BadFile(f"{where} has session format {header['format']}; this version reads format {FORMAT}.")
        try:
            learner = learners.build(header["learner"])
            n_actions = count("Session", "n_actions", header["n_actions"])
            return cls._resume(learner, n_actions, header["rounds"], arrays)
        except (InvalidInput, UnknownName) as error:
            raise BadFile(f"{where}: {error}") from None
        except RecursionError:
            raise BadFile(f"{where}: the learner is nested too deeply.") from None

    @classmethod
    def _resume(cls, learner: Learner, n_actions: int, rounds: int, arrays: dict[str, Any]) -> Session:
        """Return a session with these arrays, after all checks that the kernels rely on; sizes are checked first."""
        kind: Any = learner.memory_type_for(n_actions)
        owner = f"{learner.name} with {n_actions} actions after {rounds} rounds"
        shapes = {name: array.shape for name, array in arrays.items() if name in kind._fields}
        if missing := [name for name in kind._fields if name not in shapes]:
            raise InvalidInput(f"{owner}: the array `{missing[0]}` is missing.")
        # Kernels need the number of actions; arrays of a `PythonLearner` are compared with those of a new state below.
        sized = any(n_actions in shape and 0 not in shape for shape in shapes.values())
        if rounds > MOST_ROUNDS or not (sized or isinstance(learner, PythonLearner)):
            raise InvalidInput(f"{owner}: the arrays do not match these numbers.")
        if fault := learner.shape_fault(shapes, n_actions, rounds):
            raise InvalidInput(f"{owner}: {fault}.")
        session = cls(learner, n_actions)
        for name, array in session.state.memory._asdict().items():
            if arrays[name].dtype != array.dtype:
                raise InvalidInput(f"{owner}: `{name}` must hold {array.dtype}, got {arrays[name].dtype}.")
        memory = kind(*(np.asarray(arrays[name], order="C") for name in kind._fields))
        if fault := learner.memory_fault(memory, n_actions, rounds):
            raise InvalidInput(f"{owner}: {fault}.")
        session.state.renew(memory)
        session.state.rounds = rounds
        return session


def _read_feedback(session: Session, feedback: tuple[Any, ...], losses: Any, loss: Any, reward: Any) -> tuple[Any, ...]:
    """Return the losses, or action, probability and loss; raise `InvalidInput` if the call has none of its forms."""
    learner = session.learner
    if learner.feedback == "bandit":
        if len(feedback) == 2 and losses is _NOT_GIVEN and (loss is _NOT_GIVEN) is not (reward is _NOT_GIVEN):
            return *feedback, _loss(learner, reward) if loss is _NOT_GIVEN else loss
    elif not feedback and loss is _NOT_GIVEN and (losses is _NOT_GIVEN) is not (reward is _NOT_GIVEN):
        for name, value in (("losses", losses), ("reward", reward)):
            if value is None:  # to NumPy it is an array without a shape
                raise rejection(learner, name, "numbers in [0, 1], one per action", None)
        return (_losses(learner, session.n_actions, reward) if losses is _NOT_GIVEN else losses,)
    named = {"losses": losses, "loss": loss, "reward": reward}
    got = [f"{len(feedback)} argument{'s' if len(feedback) != 1 else ''} without a name"] if feedback else []
    got += [f"`{name}`" for name, value in named.items() if value is not _NOT_GIVEN]
    advice = f"call {_FORMS[learner.feedback]}, got {', '.join(got) or 'no argument'}"
    raise InvalidInput(f"Session: {learner.name} has {learner.feedback} feedback; {advice}.")


def _loss(learner: Learner, reward: Any) -> float:
    """Return 1 less a reward, or raise `InvalidInput`."""
    number = float(reward) if isinstance(reward, (bool, np.bool_)) else as_real(reward)
    if number is None or not 0 <= number <= 1:
        raise rejection(learner, "reward", "a number in [0, 1]", reward)
    return 1.0 - number


def _losses(learner: Learner, n_actions: int, rewards: Any) -> Vector:
    """Return 1 less the reward of each action, or raise `InvalidInput`."""
    values: Vector = as_losses(learner, rewards, (n_actions,), "reward")
    if (bad := first_bad_loss(values)) >= 0:
        raise rejection(learner, "reward", "in [0, 1]", float(values[bad]), f"It is that of action {bad}.")
    return 1.0 - values
