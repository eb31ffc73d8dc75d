"""Copies of a learner, on which an adversary tries its choices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from driftwise.core.types import Actions, Vector
from driftwise.environments import Noise
from driftwise.learners import BanditLearner, ExpertLearner, PythonLearner, State

__all__ = ["AnyLearner", "LearnerCopies", "draws"]

AnyLearner = ExpertLearner | BanditLearner | PythonLearner
_CELLS = 2**17  # losses in memory at a time


class LearnerCopies:
    """Copies of one learner, each with its own seed and state.

    Parameters
    ----------
    learner : ExpertLearner, BanditLearner or PythonLearner
        The learner.
    n_actions : int
        Number of actions.
    n_copies : int
        Number of copies.
    seed : int
        Seed from which the copies' seeds are derived.

    Examples
    --------
    >>> from driftwise.learners import Hedge
    >>> LearnerCopies(Hedge(), n_actions=4, n_copies=3, seed=1).next_play()
    array([0.25, 0.25, 0.25, 0.25])
    """

    def __init__(self, learner: AnyLearner, n_actions: int, n_copies: int, seed: int) -> None:
        self._learner = learner
        self._n_actions = n_actions
        seeds = np.random.SeedSequence(seed).generate_state(n_copies, np.uint64)
        self._states: list[State] = [learner.start(n_actions, int(word)) for word in seeds]

    def __len__(self) -> int:
        return len(self._states)

    def copy(self) -> Self:
        """Return the same copies with states that change independently of these."""
        copied = object.__new__(type(self))
        copied._learner, copied._n_actions = self._learner, self._n_actions
        copied._states = [state.copy() for state in self._states]
        return copied

    def next_play(self) -> Vector:
        """Return the average weight of each action in the next round, without playing it."""
        total = np.zeros(self._n_actions)
        learner: Any = self._learner
        for state in self._states:
            if learner.feedback == "full":
                total += learner.predict(state)
            else:
                total[learner.choose(state.copy())[0]] += 1
        return total / len(self)

    def play(self, means: Vector, n_rounds: int, noise: Noise, generator: np.random.Generator) -> Vector:
        """Play rounds with these means, each copy with its own noise; return the average plays of each action."""
        total = np.zeros(self._n_actions)
        most = max(1, _CELLS // (len(self) * self._n_actions))
        for first in range(0, n_rounds, most):
            n = min(most, n_rounds - first)
            losses = noise.draw(np.tile(means, (len(self) * n, 1)), generator)
            for j, state in enumerate(self._states):
                played = self._learner.play_block(state, losses[j * n : (j + 1) * n])
                total += played.sum(axis=0) if played.ndim == 2 else np.bincount(played, minlength=self._n_actions)
        return total / len(self)

    def play_constant(self, losses: Vector, n_rounds: int) -> Iterator[Actions]:
        """Play rounds with the same losses in each; yield the actions of each copy (bandit feedback only)."""
        most = max(1, _CELLS // self._n_actions)
        rows = np.tile(losses, (min(most, n_rounds), 1))
        for state in self._states:
            parts = [self._learner.play_block(state, rows[: n_rounds - first]) for first in range(0, n_rounds, most)]
            yield np.concatenate(parts)


def draws(learner: AnyLearner, n_actions: int) -> bool:
    """Return whether a learner makes random draws: its first memory then depends on the seed."""
    one, other = (learner.start(n_actions, seed).memory for seed in (1, 2))
    return not all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
