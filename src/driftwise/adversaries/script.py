"""A script: pieces of rounds in which the means stand still, and in each of them one action may be the favourite.

All lower bounds of the paper have this form. A script grows with its pieces and not with its rounds; means and losses
are made from it block by block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from driftwise.core.errors import rejection
from driftwise.core.machine_memory import check_memory
from driftwise.core.measures import Measures
from driftwise.core.types import Actions, Matrix, Vector
from driftwise.core.validation import count
from driftwise.environments import Block, Deterministic, LossSource, MeasuresAccumulator, Noise, Seed, Stream
from driftwise.environments.environment import BYTES_PER_LOSS, generators
from driftwise.registry import to_spec

if TYPE_CHECKING:
    from driftwise.adversaries.base import Adversary
    from driftwise.learners import Learner

__all__ = ["NO_FAVOURITE", "NO_NOISE", "AdversarialEnvironment", "Script"]

NO_FAVOURITE = -1  # the favourite of a piece that has none
NO_NOISE = Deterministic()
_CELLS = 40960  # means measured at a time: a third of a megabyte


@dataclass(frozen=True, eq=False)
class Script:
    """Pieces without change: piece `j` begins in round `starts[j]` and favours action `favourites[j]`.

    >>> script = Script(np.array([0.5, 1.0]), 0.0, starts=np.array([0, 2]), favourites=np.array([NO_FAVOURITE, 1]))
    >>> script.moments(first=1, n=2)[0]
    array([[0.5, 1. ],
           [0.5, 0. ]])
    """

    base: Vector  # the means without a favourite
    low: float  # the mean of the favourite
    starts: Actions
    favourites: Actions
    noisy: int = 0  # so many rounds at the head of each piece scatter; the means stay when the noise goes
    noise: Noise = NO_NOISE

    def moments(self, first: int, n: int) -> tuple[Matrix, Matrix, Actions]:
        """Return the means and variances of `n` rounds from round `first` on, and which of them scatter."""
        rounds = np.arange(first, first + n)
        piece = np.searchsorted(self.starts, rounds, side="right") - 1
        means, favourites = np.tile(self.base, (n, 1)), self.favourites[piece]
        rows = np.flatnonzero(favourites != NO_FAVOURITE)
        means[rows, favourites[rows]] = self.low
        scattered = np.flatnonzero(rounds - self.starts[piece] < self.noisy)
        variances = np.zeros_like(means)
        if scattered.size:
            variances[scattered] = self.noise.moments(means[scattered])[1]
        return means, variances, scattered


class _Played(Stream):
    def __init__(self, n_rounds: int, script: Script, generator: np.random.Generator) -> None:
        super().__init__(n_rounds, script.base.size)
        self._script = script
        self._generator = generator

    def _next(self, n: int) -> Block:
        means, variances, scattered = self._script.moments(self._drawn, n)
        losses = means.copy()
        if scattered.size:
            losses[scattered] = self._script.noise.draw(means[scattered], self._generator)
        return Block(losses, means, variances)


@dataclass(frozen=True, eq=False)
class AdversarialEnvironment(LossSource):
    """What an adversary has made for one learner, or for all: play it with `simulate`.

    With a script, every run follows it and only the noise differs; without one, each run draws a script of its own.
    It can be played for fewer rounds than it was made for, not for more.
    """

    adversary: Adversary
    learner: Learner | None
    n_rounds: int
    seed: int
    script: Script | None
    has_means: ClassVar[bool] = True

    @property
    def n_actions(self) -> int:
        """The number of actions."""
        return self.adversary.n_actions

    def start(self, n_rounds: int, seed: Seed = 0) -> Stream:
        """Return a run over the first `n_rounds`."""
        n_rounds, script, generator = self._prepare(n_rounds, seed)
        return _Played(n_rounds, script, generator)

    def measures(self, n_rounds: int, seed: Seed = 0) -> Measures:
        """Return the exact measures of the run that `start` gives; they are within the adversary's budget."""
        n_rounds, script, _ = self._prepare(n_rounds, seed)
        meter = MeasuresAccumulator(self.n_actions)
        length = max(1, _CELLS // self.n_actions)
        for first in range(0, n_rounds, length):
            means, variances, _ = script.moments(first, min(length, n_rounds - first))
            meter.update(means, variances)
        return meter.measures()

    def to_spec(self) -> dict[str, Any]:
        """Return plain values that say who was against whom."""
        opponent = {} if self.learner is None else {"against": to_spec(self.learner)}
        return {**self.adversary.to_spec(), **opponent, "n_rounds": self.n_rounds, "seed": self.seed}

    def _prepare(self, n_rounds: int, seed: Seed) -> tuple[int, Script, np.random.Generator]:
        n_rounds = count(self, "n_rounds", n_rounds)
        check_memory(self.adversary, "n_actions", self.n_actions, BYTES_PER_LOSS * self.n_actions)
        if n_rounds > self.n_rounds:
            raise rejection(self, "n_rounds", f"<= {self.n_rounds}, the rounds it was made for", n_rounds)
        for_script, for_noise = generators(self, seed, self.seed)
        return n_rounds, self.script or self.adversary.draw(self.n_rounds, for_script), for_noise
