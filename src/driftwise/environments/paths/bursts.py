"""A path with one good action, and short bursts in which another action is better."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftwise.core.machine_memory import check_memory
from driftwise.core.types import Actions, Matrix
from driftwise.core.validation import require, require_count, require_number
from driftwise.environments.paths.path import MeanStream, Path, path
from driftwise.environments.paths.segments import SegmentStream, equal_starts

__all__ = ["Bursts"]


class _BurstStream(SegmentStream):
    def __init__(self, path: Bursts, starts: Actions, usual: int, in_burst: Actions) -> None:
        super().__init__(starts, path.n_actions)
        self._path = path
        self._usual = usual
        self._in_burst = in_burst

    def segments(self, first: int, last: int) -> Matrix:
        """Return the means; segments with an odd number are bursts."""
        means = np.full((last - first, self._path.n_actions), self._path.rest)
        means[:, self._usual] = self._path.best
        bursts = np.arange(first | 1, last, 2)
        means[bursts - first, self._in_burst[bursts // 2]] = self._path.burst
        return means


@path("bursts")
@dataclass(frozen=True)
class Bursts(Path):
    r"""Piecewise-constant path with one good action, and short bursts in which another action is better.

    Parameters
    ----------
    n_bursts : int
        Number of bursts ($n$), at least 1.
    length : int
        Number of rounds of a burst ($b$), at least 1. A run needs at least $n\,(b + 1)$ rounds.
    n_actions : int
        Number of actions ($K$), at least 2.
    best : float, default 0.4
        Mean loss of the good action, in [0, rest].
    rest : float, default 0.6
        Mean loss of all other actions, in [0, 1].
    burst : float, default 0.1
        Mean loss of another action during a burst, in [0, best).

    Notes
    -----
    The rounds are divided into $n$ intervals of (almost) equal length, and the last $b$ rounds of each are a burst, in
    which an action drawn uniformly among all but the good one has the mean `burst`. The good action is drawn once.

    $$ \Gamma = 2 n, \qquad V = r + (2 n - 1)\,(r - u), \quad r = \text{rest}, \; u = \text{burst} . $$

    Examples
    --------
    >>> from driftwise.environments import Bernoulli, Environment
    >>> environment = Environment(Bursts(n_bursts=5, length=20, n_actions=3), Bernoulli())
    >>> environment.measures(n_rounds=1000).segments
    10
    """

    n_bursts: int
    length: int
    n_actions: int
    best: float = 0.4
    rest: float = 0.6
    burst: float = 0.1

    def __post_init__(self) -> None:
        require_count(self, "n_bursts")
        require_count(self, "length")
        require_count(self, "n_actions", at_least=2)
        require_number(self, "rest", lambda x: 0 <= x <= 1, "in [0, 1]")
        require_number(self, "best", lambda x: 0 <= x <= self.rest, f"in [0, rest = {self.rest}]")
        require_number(self, "burst", lambda x: 0 <= x < self.best, f"in [0, best = {self.best})")

    def start(self, n_rounds: int, generator: np.random.Generator) -> MeanStream:
        """Return the means of a run; the good action and those of the bursts are drawn here."""
        shortest = n_rounds // self.n_bursts
        require(self, "length", self.length < shortest, f"< n_rounds // n_bursts = {shortest}")
        check_memory(self, "n_bursts", self.n_bursts, 64 * self.n_bursts)
        intervals = np.append(equal_starts(self.n_bursts, n_rounds), n_rounds)
        starts = np.empty(2 * self.n_bursts, np.int64)
        starts[::2] = intervals[:-1]
        starts[1::2] = intervals[1:] - self.length
        usual = int(generator.integers(self.n_actions))
        shifts = generator.integers(1, self.n_actions, size=self.n_bursts)
        return _BurstStream(self, starts, usual, (usual + shifts) % self.n_actions)
