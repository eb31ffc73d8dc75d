"""Piecewise-constant paths with change points at equal distances or drawn at random.

`Switching` has one good action per segment, `RandomSegments` draws all means again, `SingleChanges` that of one action.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftwise.core.machine_memory import check_memory
from driftwise.core.types import Actions, Matrix
from driftwise.core.validation import require, require_choice, require_count, require_number
from driftwise.environments.paths.path import MeanStream, Path, path
from driftwise.environments.paths.segments import SegmentStream, equal_starts

__all__ = ["RandomSegments", "SingleChanges", "Switching"]

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


class _SwitchingStream(SegmentStream):
    def __init__(self, path: Switching, starts: Actions, good: Actions) -> None:
        super().__init__(starts, path.n_actions)
        self._path = path
        self._good = good

    def segments(self, first: int, last: int) -> Matrix:
        means = np.full((last - first, self._path.n_actions), self._path.rest)
        means[np.arange(last - first), self._good[first:last]] = self._path.best
        return means


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
        good = np.empty(self.n_segments, np.int64)
        good[0] = generator.integers(self.n_actions)
        good[1:] = generator.integers(1, max(2, self.n_actions), size=self.n_segments - 1)  # shifts, summed below
        return _SwitchingStream(self, starts, np.cumsum(good) % self.n_actions)


class _RandomSegmentStream(SegmentStream):
    def __init__(self, path: RandomSegments, starts: Actions, generator: np.random.Generator) -> None:
        super().__init__(starts, path.n_actions)
        self._path = path
        self._generator = generator

    def segments(self, first: int, last: int) -> Matrix:
        share = self._generator.random((last - first, self._path.n_actions))
        return self._path.low + (self._path.high - self._path.low) * share


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
        return _RandomSegmentStream(self, starts, generator)


class _SingleChangeStream(_RandomSegmentStream):
    def __init__(self, path: SingleChanges, starts: Actions, generator: np.random.Generator) -> None:
        super().__init__(path, starts, generator)
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
