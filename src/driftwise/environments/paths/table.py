r"""Means from a table of your own, one row per round.

========  ==================  =======================================
symbol    name in the code    meaning
========  ==================  =======================================
$\mu_t$   `means`             the rows, one mean per action in each
========  ==================  =======================================
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from driftwise.core.errors import rejection
from driftwise.core.types import Matrix
from driftwise.environments.paths.base import MeanStream, Path, as_rows, path

__all__ = ["Table"]


class _Reading(MeanStream):
    def __init__(self, rows: Matrix) -> None:
        self._rows = rows
        self._round = 0

    def fill(self, means: Matrix) -> None:
        means[:] = self._rows[self._round : self._round + len(means)]
        self._round += len(means)


@path("table")
@dataclass(frozen=True)
class Table(Path):
    """Means read from the rows of a table, which is copied.

    >>> Table.from_array(np.array([[0.5, 0.25], [0.5, 0.75]]))
    Table(means=((0.5, 0.25), (0.5, 0.75)))
    """

    means: tuple[tuple[float, ...], ...]
    n_actions: int = field(init=False, repr=False, compare=False)
    _rows: Matrix = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "means", as_rows(self, "means", self.means))
        object.__setattr__(self, "n_actions", len(self.means[0]))
        object.__setattr__(self, "_rows", np.array(self.means))

    @classmethod
    def from_array(cls, means: Any) -> Table:
        """Make a table from an array, (n_rounds, n_actions)."""
        return cls(means)

    def start(self, n_rounds: int, generator: np.random.Generator) -> MeanStream:  # noqa: ARG002
        """Return the means of a run, which may be shorter than the table."""
        if n_rounds > len(self.means):
            raise rejection(self, "n_rounds", f"<= {len(self.means)}, the rows of the table", n_rounds)
        return _Reading(self._rows)
