"""A piecewise-constant path in which one action changes at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftwise.core.types import Actions, Matrix
from driftwise.environments.paths.path import MeanStream, path
from driftwise.environments.paths.random_segments import RandomSegments
from driftwise.environments.paths.segments import SegmentStream
from driftwise.environments.paths.switching import segment_starts

__all__ = ["SingleChanges"]


class _SingleChangeStream(SegmentStream):
    def __init__(self, path: SingleChanges, starts: Actions, generator: np.random.Generator) -> None:
        super().__init__(starts, path.n_actions)
        self._path = path
        self._generator = generator
        self._means = path.low + (path.high - path.low) * generator.random(path.n_actions)

    def segments(self, first: int, last: int) -> Matrix:
        means = np.empty((last - first, self._path.n_actions))
        for j in range(first, last):
            if j > 0:
                changed = self._generator.integers(self._path.n_actions)
                self._means[changed] = self._path.low + (self._path.high - self._path.low) * self._generator.random()
            means[j - first] = self._means
        return means


@path("single-changes")
@dataclass(frozen=True)
class SingleChanges(RandomSegments):
    r"""Piecewise-constant path with random means, of which one is drawn again at every change point.

    Parameters
    ----------
    n_segments : int
        Number of segments without change ($n$), at least 1 and at most the number of rounds.
    n_actions : int
        Number of actions ($K$), at least 1.
    low : float, default 0.0
        Smallest possible mean ($a$), in [0, high).
    high : float, default 1.0
        Largest possible mean ($b$), in (0, 1].
    lengths : {"equal", "random"}, default "equal"
        "equal": lengths differ by one round at most. "random": change points are drawn uniformly without replacement.

    Notes
    -----
    $\mu_{1,k} \sim U[a, b]$ for all $k$. At the start of segment $j = 2, \dots, n$ an action $i_j$ is drawn uniformly
    and $\mu_{j,i_j} \sim U[a, b]$ again; the other means stay. A change of an action that is not played cannot be
    observed with bandit feedback.

    $$ \Gamma = n, \qquad E[V] = a + (b - a) \left( \frac{K}{K + 1} + \frac{n - 1}{3} \right) . $$

    Examples
    --------
    >>> from driftwise.environments import Bernoulli, Environment
    >>> environment = Environment(SingleChanges(n_segments=5, n_actions=3), Bernoulli())
    >>> environment.measures(n_rounds=1000).segments
    5
    """

    def start(self, n_rounds: int, generator: np.random.Generator) -> MeanStream:
        """Return the means of a run; the change points are drawn here, the means when they are needed."""
        starts = segment_starts(self, self.lengths, self.n_segments, n_rounds, generator)
        return _SingleChangeStream(self, starts, generator)
