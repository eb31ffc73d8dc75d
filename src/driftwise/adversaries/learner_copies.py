"""LearnerCopies of a learner, side by side: what the adversary tries things on before it decides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import numpy as np

from driftwise.core.types import Actions, Vector
from driftwise.environments import Noise
from driftwise.learners import BanditLearner, ExpertLearner, State

__all__ = ["LearnerCopies", "draws"]

_CELLS = 2**17  # losses held at a time


class LearnerCopies:
    """LearnerCopies of one learner, each with a seed and a past of its own.

    >>> from driftwise.learners import Hedge
    >>> LearnerCopies(Hedge(), n_actions=4, n_copies=3, seed=1).coming()
    array([0.25, 0.25, 0.25, 0.25])
    """

    def __init__(self, learner: ExpertLearner | BanditLearner, n_actions: int, n_copies: int, seed: int) -> None:
        self._learner = learner
        self._n_actions = n_actions
        seeds = np.random.SeedSequence(seed).generate_state(n_copies, np.uint64)
        self._states: list[State] = [learner.start(n_actions, int(word)) for word in seeds]

    def __len__(self) -> int:
        return len(self._states)

    def twin(self) -> Self:
        """Return copies of these copies, to go on from here in another way."""
        twin = object.__new__(type(self))
        twin._learner, twin._n_actions = self._learner, self._n_actions
        twin._states = [state.copy() for state in self._states]
        return twin

    def coming(self) -> Vector:
        """Return how much each action is played in the coming round, in the mean; changes nothing."""
        total = np.zeros(self._n_actions)
        for state in self._states:
            if isinstance(self._learner, ExpertLearner):
                total += self._learner.predict(state)
            else:
                total[self._learner.choose(state.copy())[0]] += 1
        return total / len(self)

    def live(self, means: Vector, n_rounds: int, noise: Noise, generator: np.random.Generator) -> Vector:
        """Play rounds with these means, each copy in a noise of its own; return how often each action, in the mean."""
        total = np.zeros(self._n_actions)
        most = max(1, _CELLS // (len(self) * self._n_actions))
        for first in range(0, n_rounds, most):
            n = min(most, n_rounds - first)
            losses = noise.draw(np.tile(means, (len(self) * n, 1)), generator)
            for j, state in enumerate(self._states):
                played = self._learner.play_block(state, losses[j * n : (j + 1) * n])
                total += played.sum(axis=0) if played.ndim == 2 else np.bincount(played, minlength=self._n_actions)
        return total / len(self)

    def watch(self, losses: Vector, n_rounds: int) -> Iterator[Actions]:
        """Play rounds with the same losses in each; return what was played, copy by copy (bandit feedback only)."""
        most = max(1, _CELLS // self._n_actions)
        rows = np.tile(losses, (min(most, n_rounds), 1))
        for state in self._states:
            parts = [self._learner.play_block(state, rows[: n_rounds - first]) for first in range(0, n_rounds, most)]
            yield np.concatenate(parts)


def draws(learner: ExpertLearner | BanditLearner, n_actions: int) -> bool:
    """Say whether a learner may draw: then its seed is somewhere in its memory."""
    one, other = (learner.start(n_actions, seed).memory for seed in (1, 2))
    return not all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
