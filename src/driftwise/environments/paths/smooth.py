"""Paths whose means move smoothly: on a straight line, or in sine waves."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.types import Matrix
from driftwise.core.validation import require, require_count, require_number
from driftwise.environments.paths.path import MeanStream, Path, as_means, path

__all__ = ["Linear", "Sinusoidal"]

_MOST_PERIODS = 1e9  # with more, rounding errors of the phase exceed the seventh digit


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


@kernel
def _fill(means: Matrix, first: int, turns: float, amplitude: float, center: float) -> None:
    for t in range(means.shape[0]):
        for k in range(means.shape[1]):
            turn = turns * (first + t) + k / means.shape[1]
            means[t, k] = center + amplitude * math.sin(2.0 * math.pi * turn)


class _SinusoidalStream(MeanStream):
    def __init__(self, path: Sinusoidal, n_rounds: int) -> None:
        self._path = path
        self._turns = path.n_periods / n_rounds
        self._round = 0

    def fill(self, means: Matrix) -> None:
        _fill(means, self._round, self._turns, self._path.amplitude, self._path.center)
        self._round += len(means)


@path("sinusoidal")
@dataclass(frozen=True)
class Sinusoidal(Path):
    r"""Path with one sine wave per action, with evenly spread phases: the means drift smoothly.

    The best action changes periodically, each action in turn.

    Parameters
    ----------
    n_actions : int
        Number of actions ($K$), at least 1.
    n_periods : float, default 1.0
        Number of periods in the whole run ($n$), in [0, 1e9]; it need not be an integer.
    amplitude : float, default 0.3
        Largest distance of a mean from `center` ($A$), at least 0; center - amplitude and center + amplitude in [0, 1].
    center : float, default 0.5
        Mean around which all means oscillate ($c$), in [0, 1].

    Notes
    -----
    $$ \mu_{t,k} = c + A \sin\bigl(2\pi\,(n\,t/T + k/K)\bigr), \qquad t = 0, \dots, T-1 . $$

    Examples
    --------
    >>> from driftwise.environments import Bernoulli, Environment
    >>> environment = Environment(Sinusoidal(n_actions=3, n_periods=2), Bernoulli())
    >>> environment.measures(n_rounds=1000).segments
    1000
    """

    n_actions: int
    n_periods: float = 1.0
    amplitude: float = 0.3
    center: float = 0.5

    def __post_init__(self) -> None:
        require_count(self, "n_actions")
        require_number(self, "n_periods", lambda x: 0 <= x <= _MOST_PERIODS, f"in [0, {_MOST_PERIODS:g}]")
        require_number(self, "center", lambda x: 0 <= x <= 1, "in [0, 1]")
        fits = f">= 0 and leave center +- amplitude in [0, 1] (center = {self.center})"
        require_number(self, "amplitude", lambda x: 0 <= x <= self.center and self.center + x <= 1, fits)

    def start(self, n_rounds: int, generator: np.random.Generator) -> MeanStream:  # noqa: ARG002
        """Return the means of a run."""
        return _SinusoidalStream(self, n_rounds)
