r"""Oracle restarts: a yardstick that knows when the means change.

Any bandit learner, started afresh at the true change points. It knows what nobody knows, so it belongs in tables to
show what the search for changes costs, not in use.

======  ==================  ======================================================================
symbol  name in the code    meaning
======  ==================  ======================================================================
-       `base`              a bandit learner, its name or its spec
-       `changes`           the rounds, from 0, before which it starts afresh
======  ==================  ======================================================================

`OracleRestarts.tuned` takes the changes from the measures of a run, where they are known.

Reference: L. Besson, "SMPyBandits" (2018) has such a yardstick; the idea is folklore.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from driftwise.core.corners import LONGEST, Corners
from driftwise.core.errors import rejection
from driftwise.core.measures import Measures
from driftwise.core.random import new_generator
from driftwise.core.types import Actions, Matrix, Words
from driftwise.core.validation import require
from driftwise.learners.bandits.kl_ucb import KLUCB
from driftwise.learners.base import BanditLearner, Card, Learner, State, composed, learners
from driftwise.learners.loops import BanditLoops
from driftwise.theory import vacuous

__all__ = ["OracleRestarts"]


@composed(
    "oracle-restarts",
    Card(
        title="Oracle restarts (knows what nobody knows)",
        in_words="Start a learner afresh whenever the means change: a yardstick.",
        knows="the changes themselves",
        cost="O(K)",
        bound="none: not a learner to use",
        reference="folklore",
    ),
)
@dataclass(frozen=True)
class OracleRestarts(BanditLearner):
    """Start afresh at known changes.

    >>> learner = OracleRestarts("ucb1", changes=(3,))
    >>> learner.run(learner.start(n_actions=3), [[0.0, 1.0, 1.0]] * 6)
    array([0, 1, 2, 0, 1, 2])
    """

    base: Learner | str = KLUCB()  # noqa: RUF009 (frozen)
    changes: tuple[int, ...] = ()

    corners = Corners(base=("ucb1", "thompson", "glr-kl-ucb"), changes=((), (1,), (1, 2, 50, LONGEST)))

    @property
    def exceptions(self) -> Mapping[str, str]:
        """It cannot be tuned without the changes."""
        return {"tuning_and_bounds_take_any_measures": "measures need not say when the means change"}

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", learners.member(self, "base", self.base))
        alone = isinstance(self.base, BanditLearner) and not isinstance(self.base, OracleRestarts)
        require(self, "base", alone, "a bandit learner other than the oracle")
        whole = isinstance(self.changes, Sequence) and all(type(t) is int and t > 0 for t in self.changes)
        require(self, "changes", whole and list(self.changes) == sorted(set(self.changes)), "rising rounds > 0")
        object.__setattr__(self, "changes", tuple(self.changes))

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Take the changes of the run."""
        if measures.changes is None:
            raise rejection(cls.__name__, "measures", "of an environment with at most 1000 changes", measures)
        return cls(changes=measures.changes)

    def tuning_caveat(self, measures: Measures) -> str:
        """Return a reason where a segment has fewer rounds than there are actions."""
        return vacuous.segment(measures)

    @property
    def _base(self) -> BanditLearner:
        assert isinstance(self.base, BanditLearner)
        return self.base

    @property
    def loops(self) -> BanditLoops:  # type: ignore[override]
        """The loops of the base."""
        return self._base.loops

    def rates(self, n_actions: int) -> Any:
        """Return the parameters of the base."""
        return self._base.rates(n_actions)

    def first(self, n_actions: int, generator: Words) -> Any:
        """Start the base."""
        return self._base.first(n_actions, generator)

    @functools.cached_property
    def grows(self) -> bool:
        """Whether the memory of the base may grow."""
        return self._base.grows

    def make_room(self, memory: Any, n_rounds: int) -> Any:
        """Let the base make room."""
        return self._base.make_room(memory, n_rounds)

    @property
    def memory_type(self) -> type:
        """The memory of the base."""
        return self._base.memory_type

    def limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the numbers of the base, with the rounds since the last change."""
        since = self._since_change(rounds)
        return {**self._base.limits(n_actions, since), "rounds": since}

    def contradiction(self, memory: Any, rounds: int) -> str:
        """Let the base check, with the rounds since the last change."""
        return self._base.contradiction(memory, self._since_change(rounds))

    def _since_change(self, rounds: int) -> int:
        return rounds - max((t for t in self.changes if t <= rounds), default=0)

    def update(self, state: State, action: int, loss: float, probability: float | None) -> None:
        """Take in the loss of the chosen action, and start afresh before a change."""
        super().update(state, action, loss, probability)
        self._restart(state)

    def advance(self, state: State, losses: Matrix) -> Actions:
        """Play a block that has been checked already, in pieces between the changes."""
        cuts = [t - state.rounds for t in self.changes if 0 < t - state.rounds < len(losses)]
        played = []
        for piece in np.split(losses, cuts):
            played.append(super().advance(state, piece))
            self._restart(state)
        return np.concatenate(played)

    def _restart(self, state: State) -> None:
        if state.rounds in self.changes:
            generator = getattr(state.memory, "generator", None)  # random numbers go on, or pieces would repeat them
            words = new_generator(0) if generator is None else generator
            state.memory = self.make_room(self.first(state.n_actions, words), 1)
