"""Oracle restarts: a baseline that needs the true change points."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from driftwise.core.corners import LONGEST, Corners
from driftwise.core.errors import rejection
from driftwise.core.measures import Measures
from driftwise.core.random import new_generator
from driftwise.core.types import Actions, Matrix, Words
from driftwise.core.validation import require
from driftwise.learners.bandits.kl_ucb import KLUCB
from driftwise.learners.base import BanditLearner, Beliefs, Learner, PythonLearner, State, composed, learners
from driftwise.learners.base.loops import AnyMemory, AnyRates, Loops
from driftwise.learners.base.python_learner import NO_KERNELS
from driftwise.theory import vacuous


@composed("oracle-restarts")
@dataclass(frozen=True)
class OracleRestarts(BanditLearner):
    """Oracle restarts: a baseline that restarts a bandit learner at the true change points.

    It needs change points that are unknown in practice. It shows in a comparison what the search for changes costs.

    Parameters
    ----------
    base : Learner, str or dict, default KLUCB()
        Bandit learner other than the oracle, its name or its spec.
    change_points : tuple of int, default ()
        Rounds, counted from 0, before which the base restarts from its initial state, increasing and > 0.

    Notes
    -----
    The random numbers of the base continue after a restart. `tuned` takes the change points from the measures of a run.

    Regret: no bound stated; it is a baseline, not for use.

    Must know: the change points.

    Time per round: O(K).

    References
    ----------
    Folklore; L. Besson, "SMPyBandits" (2018) has such a baseline.

    Examples
    --------
    >>> learner = OracleRestarts("ucb1", change_points=(3,))
    >>> learner.run(learner.start(n_actions=3), [[0.0, 1.0, 1.0]] * 6)
    array([0, 1, 2, 0, 1, 2])
    """

    base: Learner | str = KLUCB()  # noqa: RUF009 (frozen)
    change_points: tuple[int, ...] = ()

    corners = Corners(base=("ucb1", "thompson", "glr-kl-ucb"), change_points=((), (1,), (1, 2, 50, LONGEST)))

    @property
    def skipped_checks(self) -> Mapping[str, str]:
        """The check that does not apply, since `tuned` needs the change points."""
        return {"tuning_and_bounds_take_any_measures": "measures need not have the change points"}

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", learners.member(self, "base", self.base))
        allowed = isinstance(self.base, BanditLearner) and not isinstance(self.base, OracleRestarts)
        hint = NO_KERNELS if isinstance(self.base, PythonLearner) else ""
        require(self, "base", allowed, "a bandit learner other than the oracle", hint)
        whole = isinstance(self.change_points, Sequence) and all(type(t) is int and t > 0 for t in self.change_points)
        increasing = whole and list(self.change_points) == sorted(set(self.change_points))
        require(self, "change_points", increasing, "increasing rounds > 0")
        object.__setattr__(self, "change_points", tuple(self.change_points))

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Set the change points to those of the measures."""
        if measures.change_points is None:
            raise rejection(cls.__name__, "measures", "of an environment with at most 1000 changes", measures)
        return cls(change_points=measures.change_points)

    def tuning_caveat(self, measures: Measures) -> str:
        """Return a reason where a segment has fewer rounds than there are actions."""
        return vacuous.segment(measures)

    @property
    def _base(self) -> BanditLearner:
        assert isinstance(self.base, BanditLearner)
        return self.base

    @property
    def loops(self) -> Loops:
        """The loops of the base."""
        return self._base.loops

    def rates(self, n_actions: int) -> AnyRates:
        """Return the parameters of the base."""
        return self._base.rates(n_actions)

    def first_memory(self, n_actions: int, generator: Words) -> AnyMemory:
        """Return the first memory of the base."""
        return self._base.first_memory(n_actions, generator)

    @functools.cached_property
    def grows(self) -> bool:
        """Whether the memory of the base may grow."""
        return self._base.grows

    def make_room(self, memory: AnyMemory, n_rounds: int) -> AnyMemory:
        """Return the memory with room for more rounds, as the base makes it."""
        return self._base.make_room(memory, n_rounds)

    def beliefs(self, state: State) -> Beliefs:
        """Return the beliefs of the base since the last change point; its alarms are counted from there too."""
        self._claim(state)
        since = self._since_change(state.rounds)
        beliefs = self._base.beliefs(State(self._base, state.n_actions, state.rates, state.memory, since))
        first = state.rounds - since
        alarms = None if beliefs.alarms is None else tuple(first + t for t in beliefs.alarms)
        return replace(beliefs, rounds=state.rounds, alarms=alarms)

    @property
    def memory_type(self) -> type:
        """The type of the memory of the base."""
        return self._base.memory_type

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the limits of the base for the rounds since the last change."""
        since = self._since_change(rounds)
        return {**self._base.memory_limits(n_actions, since), "rounds": since}

    def memory_contradiction(self, memory: AnyMemory, rounds: int) -> str:
        """Return what the base finds wrong, for the rounds since the last change."""
        return self._base.memory_contradiction(memory, self._since_change(rounds))

    def _since_change(self, rounds: int) -> int:
        return rounds - max((t for t in self.change_points if t <= rounds), default=0)

    def update(self, state: State, action: int, loss: float, probability: float | None) -> None:
        """Update with the loss of the chosen action, and restart if the next round is a change point."""
        super().update(state, action, loss, probability)
        self._restart(state)

    def play_block(self, state: State, losses: Matrix) -> Actions:
        """Play a block of checked losses, segment by segment."""
        cuts = [t - state.rounds for t in self.change_points if 0 < t - state.rounds < len(losses)]
        played = []
        for segment in np.split(losses, cuts):
            played.append(super().play_block(state, segment))
            self._restart(state)
        return np.concatenate(played)

    def _restart(self, state: State) -> None:
        if state.rounds in self.change_points:
            generator = getattr(state.memory, "generator", None)  # kept, or segments would repeat random numbers
            words = new_generator(0) if generator is None else generator
            state.renew(self.make_room(self.first_memory(state.n_actions, words), 1))
