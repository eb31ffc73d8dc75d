"""A path given as a table."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from driftwise.core.errors import rejection
from driftwise.core.types import Matrix
from driftwise.environments.paths.path import MeanStream, Path, as_means_table, path

__all__ = ["Table"]


class _TableStream(MeanStream):
    def __init__(self, rows: Matrix) -> None:
        self._rows = rows
        self._round = 0

    def fill(self, means: Matrix) -> None:
        means[:] = self._rows[self._round : self._round + len(means)]
        self._round += len(means)


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
        return _TableStream(self._rows)
