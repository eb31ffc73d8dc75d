"""Piecewise-constant paths with change points at equal distances or drawn at random.

`Switching` has one good action per segment, `RandomSegments` draws all means again, `SingleChanges` that of one action.
`Bursts` has one good action, and short bursts in which another action is better.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from driftwise.core.types import Actions, Matrix, Vector
from driftwise.core.validation import check_memory, require, require_choice, require_count, require_number
from driftwise.environments.paths.path import MeanStream, Path, path
from driftwise.environments.paths.segments import SegmentStream, equal_starts

LENGTHS = ("equal", "random")


def segment_starts(
    owner: object, lengths: str, n_segments: int, n_rounds: int, generator: np.random.Generator
) -> Actions:
    """Return the rounds in which the segments start: evenly spread, or drawn uniformly among all rounds."""
    require(owner, "n_segments", n_segments <= n_rounds, f"<= n_rounds = {n_rounds}")
    many = lengths == "random" and n_segments > n_rounds // 50  # then NumPy draws from an array of all rounds
    check_memory(owner, "n_segments", n_segments, 32 * n_segments + 8 * n_rounds * many)
    starts = equal_starts(n_segments, n_rounds)
    if lengths == "random" and n_segments > 1:
        later = generator.choice(n_rounds - 1, size=n_segments - 1, replace=False, shuffle=False)
        starts[1:] = 1 + np.sort(later)
    return starts


@path("switching")
@dataclass(frozen=True)
class Switching(Path):
    r"""Piecewise-constant path with one good action, which changes at every change point.

    Parameters
    ----------
    n_segments : int
        Number of segments without change ($n$), at least 1 and at most the number of rounds.
    n_actions : int
        Number of actions ($K$), at least 2, or 1 if there is one segment.
    best : float, default 0.4
        Mean loss of the good action ($b$), in [0, rest).
    rest : float, default 0.6
        Mean loss of all other actions ($r$), in [0, 1].
    lengths : {"equal", "random"}, default "equal"
        "equal": lengths differ by one round at most. "random": change points are drawn uniformly without replacement.

    Notes
    -----
    In segment $j$ the action $i_j$ has mean $b$ and the others have mean $r$. $i_1$ is uniform over all actions, and
    $i_j$ over all except $i_{j-1}$, so that the means change at every change point:

    $$ \Gamma = n, \qquad V = \max(b, r) + (n - 1)\,|r - b| \quad (K \ge 2). $$

    Examples
    --------
    >>> from driftwise.environments import Bernoulli, Environment
    >>> environment = Environment(Switching(n_segments=8, n_actions=10), Bernoulli())
    >>> environment.measures(n_rounds=1000).segments
    8
    """

    n_segments: int
    n_actions: int
    best: float = 0.4
    rest: float = 0.6
    lengths: str = "equal"

    def __post_init__(self) -> None:
        require_count(self, "n_segments")
        require_count(self, "n_actions", at_least=1 if self.n_segments == 1 else 2)
        require_number(self, "rest", lambda x: 0 <= x <= 1, "in [0, 1]")
        require_number(self, "best", lambda x: 0 <= x < self.rest, f"in [0, rest = {self.rest})")
        require_choice(self, "lengths", LENGTHS)

    def start(self, n_rounds: int, generator: np.random.Generator) -> MeanStream:
        """Return the means of a run; the change points and the good actions are drawn here."""
        starts = segment_starts(self, self.lengths, self.n_segments, n_rounds, generator)
        shifts = np.empty(self.n_segments, np.int64)
        shifts[0] = generator.integers(self.n_actions)
        shifts[1:] = generator.integers(1, max(2, self.n_actions), size=self.n_segments - 1)
        good = np.cumsum(shifts) % self.n_actions

        def segments(first: int, last: int) -> Matrix:
            means = np.full((last - first, self.n_actions), self.rest)
            means[np.arange(last - first), good[first:last]] = self.best
            return means

        return SegmentStream(starts, self.n_actions, segments)


@path("random-segments")
@dataclass(frozen=True)
class RandomSegments(Path):
    r"""Piecewise-constant path with new uniform means for all actions in every segment.

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
    In segment $j = 1, \dots, n$:

    $$ \mu_{j,k} \sim U[a, b] \quad \text{independently for all } j \text{ and } k, \qquad \Gamma = n . $$

    Examples
    --------
    >>> from driftwise.environments import Bernoulli, Environment
    >>> environment = Environment(RandomSegments(n_segments=5, n_actions=3, lengths="random"), Bernoulli())
    >>> environment.measures(n_rounds=1000, seed=2).segments
    5
    """

    n_segments: int
    n_actions: int
    low: float = 0.0
    high: float = 1.0
    lengths: str = "equal"

    def __post_init__(self) -> None:
        require_count(self, "n_segments")
        require_count(self, "n_actions")
        require_number(self, "high", lambda x: 0 < x <= 1, "in (0, 1]")
        require_number(self, "low", lambda x: 0 <= x < self.high, f"in [0, high = {self.high})")
        require_choice(self, "lengths", LENGTHS)

    def start(self, n_rounds: int, generator: np.random.Generator) -> MeanStream:
        """Return the means of a run; the change points are drawn here, the means when they are needed."""
        starts = segment_starts(self, self.lengths, self.n_segments, n_rounds, generator)
        return SegmentStream(starts, self.n_actions, partial(self._drawn, generator))

    def _drawn(self, generator: np.random.Generator, first: int, last: int) -> Matrix:
        return self._uniform(generator, (last - first, self.n_actions))

    def _uniform(self, generator: np.random.Generator, shape: int | tuple[int, int]) -> Matrix:
        return self.low + (self.high - self.low) * generator.random(shape)


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
        current = self._uniform(generator, self.n_actions)
        return SegmentStream(starts, self.n_actions, partial(self._changed, current, generator))

    def _changed(self, current: Vector, generator: np.random.Generator, first: int, last: int) -> Matrix:
        means = np.empty((last - first, self.n_actions))
        for j in range(first, last):
            if j > 0:
                action = generator.integers(self.n_actions)
                current[action] = self._uniform(generator, 1)[0]
            means[j - first] = current
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
        in_burst = (usual + shifts) % self.n_actions

        def segments(first: int, last: int) -> Matrix:
            means = np.full((last - first, self.n_actions), self.rest)
            means[:, usual] = self.best
            bursts = np.arange(first | 1, last, 2)  # segments with an odd number
            means[bursts - first, in_burst[bursts // 2]] = self.burst
            return means

        return SegmentStream(starts, self.n_actions, segments)
