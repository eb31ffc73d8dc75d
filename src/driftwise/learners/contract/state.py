"""The state of a learner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Self

import numpy as np

from driftwise.learners.contract.type_variables import M, R

if TYPE_CHECKING:
    from driftwise.learners.contract.learner import Learner

__all__ = ["State"]


class State(Generic[M, R]):
    """The state of a learner between rounds; `memory` is a NamedTuple of arrays.

    Not safe to share between threads: compiled rounds write into the arrays without a lock. `Session` has one.
    """

    def __init__(self, learner: Learner[M, R], n_actions: int, rates: R, memory: M, rounds: int = 0) -> None:
        self.learner = learner
        self.n_actions = n_actions
        self.rates = rates
        self.rounds = rounds
        self._memory = memory
        self.live: Any = None  # the entry points of live rounds, made with the first one

    def __repr__(self) -> str:
        return f"State({self.learner}, n_actions={self.n_actions}, rounds={self.rounds})"

    @property
    def memory(self) -> M:
        """The arrays, by name."""
        return self._memory

    @memory.setter
    def memory(self, memory: M) -> None:
        if memory is not self._memory:  # same object: the addresses still hold
            self._memory = memory
            self.live = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "live": None}  # addresses are of this process only

    def copy(self) -> Self:
        """Return a copy that shares no arrays with this state."""
        memory = type(self.memory)(*(array.copy() for array in self.memory))
        return type(self)(self.learner, self.n_actions, self.rates, memory, self.rounds)

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return the arrays of the memory by name, without copying them."""
        return dict(self.memory._asdict())
