"""Paths with given means: in segments, the same in every round, or from a table with a row per round."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from driftwise.core.errors import rejection
from driftwise.core.types import Actions, Matrix
from driftwise.environments.paths.path import FunctionStream, MeanStream, Path, as_means, as_means_table, path


class SegmentStream(MeanStream):
    """Piecewise-constant means: each segment lasts from its round in `starts` to the next.

    `segments(first, last)` returns the means of the segments `first` to `last - 1`; each is requested once, in order.
    """

    def __init__(self, starts: Actions, n_actions: int, segments: Callable[[int, int], Matrix]) -> None:
        self._starts = starts
        self._segments = segments  # returns the means of the segments from the first up to, not including, the last
        self._round = 0
        self._begun = 0
        self._current = np.empty((1, n_actions))  # lasts 0 rounds before the first segment

    def constant_stretches(self, n: int) -> tuple[Matrix, Actions]:
        """Return the segments of the next `n` rounds, the first and the last cut to these rounds."""
        end = self._round + n
        begun = int(np.searchsorted(self._starts, end))
        rows = np.concatenate((self._current, self._segments(self._begun, begun)))
        lengths = np.diff(np.concatenate(([self._round], self._starts[self._begun : begun], [end])))
        self._round, self._begun, self._current = end, begun, rows[-1:]
        return (rows, lengths) if lengths[0] else (rows[1:], lengths[1:])

    def fill(self, means: Matrix) -> None:
        """Write the means of the next `len(means)` rounds."""
        rows, lengths = self.constant_stretches(len(means))
        means[:] = np.repeat(rows, lengths, axis=0)


def equal_starts(n_segments: int, n_rounds: int) -> Actions:
    """Return the first rounds of segments of (almost) equal length: segment j starts at j n_rounds // n_segments.

    Lengths differ by one round at most. Quotient and remainder are multiplied separately: the product might not fit 64
    bits.
    """
    length, left = divmod(n_rounds, n_segments)
    j = np.arange(n_segments, dtype=np.int64)
    return j * length + j * left // n_segments


def _segments_of_rows(starts: Actions, rows: Matrix) -> SegmentStream:
    """Return the means of segments that are the rows of a table."""

    def segments(first: int, last: int) -> Matrix:
        return rows[first:last]

    return SegmentStream(starts, rows.shape[1], segments)


@path("segments")
@dataclass(frozen=True)
class Segments(Path):
    r"""Piecewise-constant path with given means and change points.

    Parameters
    ----------
    means : array_like of shape (n_segments, n_actions)
        Means of each segment ($m_j$), each in [0, 1].
    change_points : sequence of int, default None
        Rounds, counted from 0, in which segments 2, 3, ... start ($c_2, c_3, \dots$): increasing, at least 1, one fewer
        than the rows of `means`. None: segments of equal length, up to one round.

    Notes
    -----
    With $c_1 = 0$:

    $$ \mu_t = m_j \quad \text{for } c_j \le t < c_{j+1} . $$

    $\Gamma$ is the number of rows, provided that consecutive rows differ. A run must reach the last segment.

    Examples
    --------
    >>> from driftwise.environments import Deterministic, Environment
    >>> path = Segments(means=((0.1, 0.9), (0.8, 0.2)), change_points=(3,))
    >>> Environment(path, Deterministic()).start(n_rounds=5).draw(5).means[:, 0]
    array([0.1, 0.1, 0.1, 0.8, 0.8])
    """

    means: tuple[tuple[float, ...], ...]
    change_points: tuple[int, ...] | None = None
    n_actions: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "means", as_means_table(self, "means", self.means))
        object.__setattr__(self, "n_actions", len(self.means[0]))
        if self.change_points is None:
            return
        try:
            points = tuple(operator.index(point) for point in self.change_points)
        except TypeError:
            raise rejection(self, "change_points", "whole numbers", self.change_points) from None
        if any(later <= earlier for earlier, later in pairwise((0, *points))):
            raise rejection(self, "change_points", "increasing and >= 1", points)
        if len(points) != len(self.means) - 1:
            rule = f"one fewer than the {len(self.means)} rows of `means`"
            raise rejection(self, "change_points", rule, points)
        object.__setattr__(self, "change_points", points)

    def start(self, n_rounds: int, generator: np.random.Generator) -> MeanStream:  # noqa: ARG002
        """Return the means of a run, which must reach the last segment."""
        least = 1 + self.change_points[-1] if self.change_points else len(self.means)
        if n_rounds < least:
            raise rejection(self, "n_rounds", f">= {least} to reach the last segment", n_rounds)
        starts = equal_starts(len(self.means), n_rounds)
        if self.change_points is not None:
            starts[1:] = self.change_points
        return _segments_of_rows(starts, np.array(self.means))


@path("constant")
@dataclass(frozen=True)
class Constant(Path):
    r"""Path with the same means in every round, for stationary environments.

    Parameters
    ----------
    means : sequence of float
        Mean loss of each action ($\mu$), each in [0, 1].

    Notes
    -----
    $$ \mu_t = \mu, \qquad \Gamma = 1, \qquad V = \|\mu\|_\infty, $$

    where $V$ is the jump from $\mu_0 = 0$.

    Examples
    --------
    >>> Constant((0.4, 0.6)).n_actions
    2
    """

    means: tuple[float, ...]
    n_actions: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "means", as_means(self, "means", self.means))
        object.__setattr__(self, "n_actions", len(self.means))

    def start(self, n_rounds: int, generator: np.random.Generator) -> MeanStream:  # noqa: ARG002
        """Return the means of a run."""
        return _segments_of_rows(np.zeros(1, np.int64), np.array([self.means]))


@path("table")
@dataclass(frozen=True)
class Table(Path):
    r"""Path with means from a table, one row per round.

    Parameters
    ----------
    means : array_like of shape (n_rounds, n_actions)
        Means of each round ($\mu_t$), each in [0, 1]. The table is copied. A run has at most `n_rounds` rounds.

    Examples
    --------
    >>> Table(np.array([[0.5, 0.25], [0.5, 0.75]]))
    Table(means=((0.5, 0.25), (0.5, 0.75)))
    """

    means: tuple[tuple[float, ...], ...]
    n_actions: int = field(init=False, repr=False, compare=False)
    _rows: Matrix = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "means", as_means_table(self, "means", self.means))
        object.__setattr__(self, "n_actions", len(self.means[0]))
        object.__setattr__(self, "_rows", np.array(self.means))

    def start(self, n_rounds: int, generator: np.random.Generator) -> MeanStream:  # noqa: ARG002
        """Return the means of a run, which may be shorter than the table."""
        if n_rounds > len(self.means):
            raise rejection(self, "n_rounds", f"<= {len(self.means)}, the rows of the table", n_rounds)

        def write(means: Matrix, first: int) -> None:
            means[:] = self._rows[first : first + len(means)]

        return FunctionStream(write)
