"""A piecewise-constant path with one good action per segment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftwise.core.machine_memory import check_memory
from driftwise.core.types import Actions, Matrix
from driftwise.core.validation import require, require_choice, require_count, require_number
from driftwise.environments.paths.path import MeanStream, Path, path
from driftwise.environments.paths.segments import SegmentStream, equal_starts

__all__ = ["LENGTHS", "Switching", "segment_starts"]

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
