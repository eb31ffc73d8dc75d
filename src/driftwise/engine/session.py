"""A live learner for a stream of rounds that can be put down and taken up again.

The file is a NumPy archive of arrays with a JSON header and a format version; it holds no code and none is run
on loading.
"""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any, cast

import numpy as np

from driftwise.core.errors import BadFile, InvalidInput
from driftwise.core.files import write_atomically
from driftwise.core.types import Vector
from driftwise.core.validation import count
from driftwise.learners import BanditLearner, ExpertLearner, Learner, State, learners
from driftwise.learners.hinted import HintedLearner
from driftwise.registry import to_spec

__all__ = ["Session"]

FORMAT = 1
_HEADER = "driftwise_session"


class Session:
    """A learner and its state, round after round.

    >>> from driftwise import OptimisticGD
    >>> session = Session(OptimisticGD(), n_actions=2)
    >>> for losses in ([0.0, 1.0], [0.1, 0.9]):
    ...     weights = session.predict()
    ...     session.update(losses)
    >>> session.rounds
    2
    """

    def __init__(self, learner: Learner, n_actions: int, seed: int = 0) -> None:
        if not isinstance(learner, Learner):
            raise InvalidInput(f"Session: `learner` must be a learner, got {learner!r}.")
        self.learner = learner
        self.state: State = learner.start(n_actions, seed)

    def __repr__(self) -> str:
        return f"Session({self.learner}, n_actions={self.n_actions}, rounds={self.rounds})"

    @property
    def n_actions(self) -> int:
        """The number of actions."""
        return self.state.n_actions

    @property
    def rounds(self) -> int:
        """The rounds taken in so far."""
        return self.state.rounds

    def predict(self) -> Vector:
        """Return the weights for the coming round (full feedback)."""
        return self._expert().predict(self.state)

    def choose(self) -> tuple[int, float | None]:
        """Return an action for the coming round and its probability (bandit feedback).

        Every call of a learner that draws, draws anew: keep what you got until you `update` with it.
        """
        if not isinstance(self.learner, BanditLearner):
            raise InvalidInput(f"Session: {self.learner.name} has full feedback; call `predict` instead of `choose`.")
        return self.learner.choose(self.state)

    def hint(self, guess: Any) -> None:
        """Tell a learner that acts on guesses what losses to expect in the coming round."""
        if not isinstance(self.learner, HintedLearner):
            raise InvalidInput(f"Session: {self.learner.name} takes no hints.")
        self.learner.hint(self.state, guess)

    def update(self, *feedback: Any) -> None:
        """Take in a round: ``update(losses)``, or ``update(action, loss, probability)`` for a bandit learner."""
        full = isinstance(self.learner, ExpertLearner)
        if len(feedback) != (1 if full else 3):
            call = "update(losses)" if full else "update(action, loss, probability)"
            raise InvalidInput(
                f"Session: {self.learner.name} has {self.learner.feedback} feedback; call `{call}`,"
                f" got {len(feedback)} argument{'s' if len(feedback) != 1 else ''}."
            )
        cast(Any, self.learner).update(self.state, *feedback)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the session to a file; the old file stays until the new one is whole."""
        header = {
            "format": FORMAT,
            "learner": to_spec(self.learner),
            "n_actions": self.n_actions,
            "rounds": self.rounds,
        }
        text = np.array(json.dumps(header, sort_keys=True))

        def write(file: Path) -> None:
            with file.open("wb") as stream:  # a name would be given the suffix .npz
                arrays: dict[str, Any] = {_HEADER: text, **self.state.arrays()}
                np.savez(stream, allow_pickle=False, **arrays)

        write_atomically(path, write)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Session:
        """Take up a saved session; it goes on bit for bit as if it had never stopped."""
        header, arrays = _read(Path(path))
        if header["format"] != FORMAT:
            raise BadFile(f"{path} has session format {header['format']}; this version reads format {FORMAT}.")
        learner = learners.build(header["learner"])
        if header["n_actions"] not in {n for array in arrays.values() for n in array.shape}:  # before anything is made
            raise BadFile(f"{path}: no array of {learner.name} is made for {header['n_actions']!r} actions.")
        session = cls(learner, header["n_actions"])
        session.state.rounds = count(f"Session file {path}", "rounds", header["rounds"], at_least=0)
        fresh = session.state.memory
        for name, kind in zip(fresh._fields, fresh, strict=True):
            if name not in arrays or (arrays[name].dtype, arrays[name].ndim) != (kind.dtype, kind.ndim):
                raise BadFile(f"{path}: the array '{name}' of {learner.name} is missing or of another kind.")
        memory = type(fresh)(*(np.ascontiguousarray(arrays[name]) for name in fresh._fields))
        # Kernels trust shapes and counters.
        if not learner.accepts(memory, fresh, session.state.rounds):
            raise BadFile(f"{path}: the arrays do not fit {learner.name} after {session.state.rounds} rounds.")
        session.state.memory = memory
        return session

    def _expert(self) -> ExpertLearner:
        if not isinstance(self.learner, ExpertLearner):
            raise InvalidInput(f"Session: {self.learner.name} has bandit feedback; call `choose` instead of `predict`.")
        return self.learner


def _read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    if not path.is_file():
        raise BadFile(f"There is no file {path}.")
    try:
        # A stream of our own: NumPy leaves a file open whose archive is cut short.
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
            header = json.loads(str(arrays.pop(_HEADER)))
    except KeyError:
        raise BadFile(f"{path} holds no driftwise session.") from None
    except (ValueError, EOFError, OSError, zipfile.BadZipFile, AttributeError, TypeError):
        # Not in NumPy's words: they advise to trust a strange file and to unpickle it.
        raise BadFile(f"{path} is not a whole session file: it is cut short, damaged, or of another kind.") from None
    if not isinstance(header, dict) or not {"format", "learner", "n_actions", "rounds"} <= header.keys():
        raise BadFile(f"{path} holds no driftwise session.")
    return header, arrays
