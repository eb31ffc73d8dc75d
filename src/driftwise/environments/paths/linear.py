"""A path on a straight line."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from driftwise.core.types import Matrix
from driftwise.core.validation import require
from driftwise.environments.paths.path import MeanStream, Path, as_means, path

__all__ = ["Linear"]


class _LinearStream(MeanStream):
    def __init__(self, path: Linear, n_rounds: int) -> None:
        self._first = np.array(path.first)
        self._difference = np.array(path.last) - self._first
        self._last_round = max(1, n_rounds - 1)
        self._round = 0

    def fill(self, means: Matrix) -> None:
        share = np.arange(self._round, self._round + len(means)) / self._last_round
        means[:] = self._first + share[:, np.newaxis] * self._difference
        self._round += len(means)


@path("linear")
@dataclass(frozen=True)
class Linear(Path):
    r"""Path with means that move at constant speed from one vector to another.

    Parameters
    ----------
    first : sequence of float
        Means in the first round ($a$), each in [0, 1].
    last : sequence of float
        Means in the last round ($b$), each in [0, 1], as many as in `first`.

    Notes
    -----
    $$ \mu_t = a + \frac{t}{T-1}\,(b - a), \qquad t = 0, \dots, T-1 . $$

    $V = \|a\|_\infty + \|b - a\|_\infty$, which does not depend on the number of rounds.

    Examples
    --------
    >>> from driftwise.environments import Deterministic, Environment
    >>> environment = Environment(Linear(first=(0.0, 1.0), last=(1.0, 0.0)), Deterministic())
    >>> environment.start(n_rounds=5).draw(5).losses[:, 0]
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """

    first: tuple[float, ...]
    last: tuple[float, ...]
    n_actions: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("first", "last"):
            object.__setattr__(self, name, as_means(self, name, getattr(self, name)))
        require(self, "last", len(self.last) == len(self.first), f"{len(self.first)} numbers, as `first` is")
        object.__setattr__(self, "n_actions", len(self.first))

    def start(self, n_rounds: int, generator: np.random.Generator) -> MeanStream:  # noqa: ARG002
        """Return the means of a run."""
        return _LinearStream(self, n_rounds)
