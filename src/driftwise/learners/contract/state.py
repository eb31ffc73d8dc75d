"""What a learner remembers, and what is said about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Self

import numpy as np

from driftwise.learners.contract.types import M, R

if TYPE_CHECKING:
    from driftwise.learners.contract.learner import Learner

__all__ = ["Card", "State"]


@dataclass(frozen=True)
class Card:
    """What `driftwise show` and the pages made from the registry say about a learner."""

    title: str
    in_words: str
    knows: str  # what it must be told about the future
    cost: str  # time per round
    bound: str  # the theorem, in words and letters
    reference: str
    in_practice: str | None = None  # where the default or the tuning of theory costs much: what costs less


class State(Generic[M, R]):
    """A learner's memory: hold it, copy it, save it. `memory` is a NamedTuple of arrays.

    Not safe to share between threads: compiled rounds write into the arrays without a lock. `Session` has one.
    """

    def __init__(self, learner: Learner[M, R], n_actions: int, rates: R, memory: M, rounds: int = 0) -> None:
        self.learner = learner
        self.n_actions = n_actions
        self.rates = rates
        self.rounds = rounds
        self._memory = memory
        self.live: Any = None  # entry points with the addresses of the memory's arrays, once a round is played live

    def __repr__(self) -> str:
        return f"State({self.learner}, n_actions={self.n_actions}, rounds={self.rounds})"

    @property
    def memory(self) -> M:
        """The arrays, by name."""
        return self._memory

    @memory.setter
    def memory(self, memory: M) -> None:
        if memory is not self._memory:  # there was room enough
            self._memory = memory
            self.live = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "live": None}  # addresses mean nothing elsewhere

    def copy(self) -> Self:
        """Return a snapshot that shares nothing with this state."""
        memory = type(self.memory)(*(array.copy() for array in self.memory))
        return type(self)(self.learner, self.n_actions, self.rates, memory, self.rounds)

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return the arrays by name (not copies)."""
        return dict(self.memory._asdict())
