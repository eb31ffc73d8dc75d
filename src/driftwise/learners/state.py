"""What a learner remembers, and what is said about it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

if TYPE_CHECKING:
    from driftwise.learners.base import Learner

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


@dataclass(eq=False)
class State:
    """A learner's memory: hold it, copy it, save it. `memory` is a NamedTuple of arrays.

    Not safe to share between threads: compiled rounds write into the arrays without a lock. `Session` has one.
    """

    learner: Learner
    n_actions: int
    rates: Any
    memory: Any
    rounds: int = 0

    def copy(self) -> Self:
        """Return a snapshot that shares nothing with this state."""
        return dataclasses.replace(self, memory=type(self.memory)(*(array.copy() for array in self.memory)))

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return the arrays by name (not copies)."""
        return dict(self.memory._asdict())
