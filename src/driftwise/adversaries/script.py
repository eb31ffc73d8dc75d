"""Scripts of adversaries and the environments that play them.

All lower bounds of the paper have piecewise constant means in which one action may be the favourite. The size of a
script depends on the number of stretches, not of rounds; means and losses are made from it block by block.
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
    from driftwise.adversaries.adversary import Adversary
    from driftwise.learners import Learner

__all__ = ["NO_FAVOURITE", "NO_NOISE", "AdversarialEnvironment", "Script"]

NO_FAVOURITE = -1  # the favourite of a stretch that has none
NO_NOISE = Deterministic()
_CELLS = 40960  # means measured at a time: a third of a megabyte


@dataclass(frozen=True, eq=False)
class Script:
    """Piecewise constant means: stretch `j` starts in round `starts[j]` and has the favourite `favourites[j]`.

    Parameters
    ----------
    base : array of float
        The means without a favourite.
    low : float
        The mean of a favourite.
    starts : array of int
        The first round of each stretch, increasing from 0.
    favourites : array of int
        The favourite action of each stretch, `NO_FAVOURITE` (-1) for none.
    noisy : int, default 0
        Number of noisy rounds at the start of each stretch. After them the losses equal their means.
    noise : Noise, default Deterministic()
        The noise of these rounds.

    Examples
    --------
    >>> script = Script(np.array([0.5, 1.0]), 0.0, starts=np.array([0, 2]), favourites=np.array([NO_FAVOURITE, 1]))
    >>> script.moments(first=1, n=2)[0]
    array([[0.5, 1. ],
           [0.5, 0. ]])
    """

    base: Vector
    low: float
    starts: Actions
    favourites: Actions
    noisy: int = 0
    noise: Noise = NO_NOISE

    def moments(self, first: int, n: int) -> tuple[Matrix, Matrix, Actions]:
        """Return the means and variances of `n` rounds from round `first` on, and which of them are noisy."""
        rounds = np.arange(first, first + n)
        stretch = np.searchsorted(self.starts, rounds, side="right") - 1
        means, favourites = np.tile(self.base, (n, 1)), self.favourites[stretch]
        rows = np.flatnonzero(favourites != NO_FAVOURITE)
        means[rows, favourites[rows]] = self.low
        noisy = np.flatnonzero(rounds - self.starts[stretch] < self.noisy)
        variances = np.zeros_like(means)
        if noisy.size:
            variances[noisy] = self.noise.moments(means[noisy])[1]
        return means, variances, noisy


class _ScriptStream(Stream):
    def __init__(self, n_rounds: int, script: Script, generator: np.random.Generator) -> None:
        super().__init__(n_rounds, script.base.size)
        self._script = script
        self._generator = generator

    def _next(self, n: int) -> Block:
        means, variances, noisy = self._script.moments(self._drawn, n)
        losses = means.copy()
        if noisy.size:
            losses[noisy] = self._script.noise.draw(means[noisy], self._generator)
        return Block(losses, means, variances)


@dataclass(frozen=True, eq=False)
class AdversarialEnvironment(LossSource):
    """Environment that an adversary made for one learner, or for all; play it with `simulate`.

    It can be played for fewer rounds than it was made for, not for more.

    Parameters
    ----------
    adversary : Adversary
        The adversary that made it.
    learner : Learner or None
        The learner that it was made for, None for all.
    n_rounds : int
        The rounds that it was made for.
    seed : int
        Seed of the adversary's choices.
    script : Script or None
        The script of every run, so that only the noise differs between runs; None draws a script for each run.
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
        """Return the stream of the first `n_rounds` rounds."""
        n_rounds, script, generator = self._prepare(n_rounds, seed)
        return _ScriptStream(n_rounds, script, generator)

    def measures(self, n_rounds: int, seed: Seed = 0) -> Measures:
        """Return the exact measures of the run that `start` returns; they are within the adversary's budget."""
        n_rounds, script, _ = self._prepare(n_rounds, seed)
        meter = MeasuresAccumulator(self.n_actions)
        length = max(1, _CELLS // self.n_actions)
        for first in range(0, n_rounds, length):
            means, variances, _ = script.moments(first, min(length, n_rounds - first))
            meter.update(means, variances)
        return meter.measures()

    def budget(self, n_rounds: int) -> Measures:
        """Return the budget of the adversary."""
        return self.adversary.budget(n_rounds)

    def to_spec(self) -> dict[str, Any]:
        """Return plain values that name the adversary, the learner, the rounds and the seed."""
        opponent = {} if self.learner is None else {"against": to_spec(self.learner)}
        return {**self.adversary.to_spec(), **opponent, "n_rounds": self.n_rounds, "seed": self.seed}

    def _prepare(self, n_rounds: int, seed: Seed) -> tuple[int, Script, np.random.Generator]:
        n_rounds = count(self, "n_rounds", n_rounds)
        check_memory(self.adversary, "n_actions", self.n_actions, BYTES_PER_LOSS * self.n_actions)
        if n_rounds > self.n_rounds:
            raise rejection(self, "n_rounds", f"<= {self.n_rounds}, the rounds it was made for", n_rounds)
        for_script, for_noise = generators(self, seed, self.seed)
        return n_rounds, self.script or self.adversary.draw(self.n_rounds, for_script), for_noise
