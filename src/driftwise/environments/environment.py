"""Environments: a path of means and a noise. Losses are made in blocks, and only one block is held at a time.

A run depends on the environment, `n_rounds` and `seed`, and not on the block size: drawn 1 round at a time or 1024, the
losses are equal bit for bit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence

from driftwise.core.errors import InvalidInput, UnknownName, rejection, shown
from driftwise.core.measures import Measures
from driftwise.core.types import Matrix
from driftwise.core.validation import check_memory, check_seed, count
from driftwise.environments.noises.discrete import Bernoulli
from driftwise.environments.noises.noise import Deterministic, Noise, as_noise
from driftwise.environments.paths.moving import CoinFlips
from driftwise.environments.paths.path import MeanStream, Path, PathPreview, as_path
from driftwise.environments.paths.segments import Constant

Seed = int | SeedSequence
BYTES_PER_LOSS = 24  # a block holds losses, means and variances
_BYTES_PER_MEAN = 40  # a Python float in a tuple, and its copies in arrays


def generators(owner: object, seed: Seed, *key: int) -> tuple[Generator, Generator]:
    """Return the generators of a run, one for the means and one for the noise; a `key` separates runs of one seed."""
    if not isinstance(seed, SeedSequence):
        seed = SeedSequence(check_seed(owner, seed))
    # Spawning changes a sequence, so a copy is spawned: the caller's must give the same run again.
    sequence_copy = SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, *key), pool_size=seed.pool_size)
    for_means, for_noise = (Generator(PCG64(child)) for child in sequence_copy.spawn(2))
    return for_means, for_noise


class Block(NamedTuple):
    """Consecutive rounds, an array of shape (n, n_actions) each; means and variances are None if they are unknown."""

    losses: Matrix
    means: Matrix | None
    variances: Matrix | None


class Stream(ABC):
    """One run of `n_rounds`, drawn in blocks."""

    def __init__(self, n_rounds: int, n_actions: int) -> None:
        self.n_rounds = n_rounds
        self.n_actions = n_actions
        self._drawn = 0

    def draw(self, n: int) -> Block:
        """Return the next `n` rounds."""
        n = count("Stream", "n", n)
        if n > self.n_rounds - self._drawn:
            raise rejection("Stream", "n", f"<= {self.n_rounds - self._drawn} (the rounds that are left)", n)
        check_memory("Stream", "n", n, BYTES_PER_LOSS * n * self.n_actions)
        block = self._next(n)
        self._drawn += n
        return block

    @abstractmethod
    def _next(self, n: int) -> Block: ...


class LossSource(ABC):
    """Base class of everything that makes losses: `Environment`, `Replay` and the environments of adversaries."""

    has_means: ClassVar[bool]

    @property
    @abstractmethod
    def n_actions(self) -> int:
        """The number of actions."""

    @abstractmethod
    def start(self, n_rounds: int, seed: Seed = 0) -> Stream:
        """Return a run of `n_rounds`."""

    @abstractmethod
    def measures(self, n_rounds: int, seed: Seed = 0) -> Measures:
        """Return the exact measures of the run that `start` returns."""

    def start_measured(self, n_rounds: int, seed: Seed = 0, room: int = 0) -> tuple[Stream, Measures]:  # noqa: ARG002
        """Return a run and its measures; values that both need are kept if they fit into `room` bytes."""
        measures = self.measures(n_rounds, seed)
        return self.start(n_rounds, seed), measures

    def budget(self, n_rounds: int) -> Measures | None:  # noqa: ARG002
        """Return the largest measures that a run may have, if an adversary made this environment, else None."""
        return None

    @abstractmethod
    def to_spec(self) -> dict[str, Any]:
        """Return plain values that describe this source."""


class _EnvironmentStream(Stream):
    def __init__(self, n_rounds: int, n_actions: int, means: MeanStream, noise: Noise, generator: Generator) -> None:
        super().__init__(n_rounds, n_actions)
        self._means = means
        self._noise = noise
        self._generator = generator

    def _next(self, n: int) -> Block:
        path = np.empty((n, self.n_actions))
        self._means.fill(path)
        losses = self._noise.draw(path, self._generator)
        return Block(losses, *self._noise.moments(path))


@dataclass(frozen=True)
class Environment(LossSource):
    r"""Environment: losses drawn by a noise around the means of a path.

    Parameters
    ----------
    path : Path
        How the means move from round to round ($\mu_t$), or the spec of a path.
    noise : Noise
        How losses are distributed around the means, or the spec of a noise.

    Notes
    -----
    In round $t$ the path gives the means $\mu_t \in [0, 1]^K$, and the noise draws the losses $\ell_t \in [0, 1]^K$
    independently, with

    $$ E[\ell_t] = \mu_t . $$

    Only clipped and truncated Gaussian noise have other means than the path. Measures and blocks have the actual means.

    Examples
    --------
    >>> from driftwise.environments import Bernoulli, Switching
    >>> environment = Environment(path=Switching(n_segments=2, n_actions=3), noise=Bernoulli())
    >>> environment.start(n_rounds=100, seed=1).draw(10).losses.shape
    (10, 3)
    >>> Environment.from_spec(environment.to_spec()) == environment
    True
    """

    path: Path
    noise: Noise
    has_means: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", as_path(self, self.path))
        object.__setattr__(self, "noise", as_noise(self, self.noise))

    @property
    def n_actions(self) -> int:
        """The number of actions."""
        return self.path.n_actions

    def start(self, n_rounds: int, seed: Seed = 0) -> Stream:
        """Return a run; a drift or variance that the run cannot have is rejected here, before the first round."""
        preview, generator = self._preview(n_rounds, seed)
        noise = self.noise.settle(preview)
        return _EnvironmentStream(preview.n_rounds, self.n_actions, preview.start(), noise, generator)

    def measures(self, n_rounds: int, seed: Seed = 0) -> Measures:
        """Return the exact measures, computed from the actual means, of the run that `start` returns."""
        preview, _ = self._preview(n_rounds, seed)
        return preview.measures(self.noise.settle(preview))

    def start_measured(self, n_rounds: int, seed: Seed = 0, room: int = 0) -> tuple[Stream, Measures]:
        """Return a run and its measures; the path is computed once if its means fit into `room` bytes."""
        cls = type(self)
        if cls.start is not Environment.start or cls.measures is not Environment.measures:
            return super().start_measured(n_rounds, seed, room)  # a subclass has overridden them
        preview, generator = self._preview(n_rounds, seed)
        noise = self.noise.settle(preview)
        measures, stored = preview.measured(noise, room)
        means = stored or preview.start()
        return _EnvironmentStream(preview.n_rounds, self.n_actions, means, noise, generator), measures

    def to_spec(self) -> dict[str, Any]:
        """Return plain values from which `from_spec` makes an equal environment."""
        return {"path": self.path.to_spec(), "noise": self.noise.to_spec()}

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> Self:
        """Make an environment from the specs of its path and its noise."""
        for part in spec:
            if part not in ("path", "noise"):
                raise UnknownName("part", part, ("path", "noise"), "of an environment")
        if len(spec) < 2:
            raise InvalidInput(f"An environment spec must have a `path` and a `noise`, got {shown(dict(spec))}.")
        return cls(path=spec["path"], noise=spec["noise"])

    def _preview(self, n_rounds: int, seed: Seed) -> tuple[PathPreview, Generator]:
        n_rounds = count(self, "n_rounds", n_rounds)
        check_memory(self.path, "n_actions", self.n_actions, BYTES_PER_LOSS * self.n_actions)
        for_path, for_noise = generators(self, seed)
        return PathPreview(self.path, n_rounds, for_path), for_noise


def adversarial(n_actions: int) -> Environment:
    """Return an environment without noise whose losses are drawn from {0, 1} again in every round.

    >>> adversarial(n_actions=5).measures(n_rounds=1000).variance
    0.0
    """
    return Environment(CoinFlips(n_actions), Deterministic())


def stationary(n_actions: int, best: float = 0.4, rest: float = 0.6) -> Environment:
    """Return an environment with constant means and Bernoulli noise: action 0 has mean `best`, the others `rest`.

    >>> stationary(n_actions=5).measures(n_rounds=1000).segments
    1
    """
    others = count("stationary", "n_actions", n_actions) - 1
    check_memory("stationary", "n_actions", n_actions, _BYTES_PER_MEAN * n_actions)
    return Environment(Constant((best, *[rest] * others)), Bernoulli())
