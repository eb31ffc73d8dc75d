"""A path of reflected random walks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.types import Matrix, Vector
from driftwise.core.validation import require_count, require_number
from driftwise.environments.paths.path import MeanStream, Path, path

__all__ = ["RandomWalk"]


@kernel
def _fold(point: float, low: float, high: float) -> float:
    width = high - low
    beyond = abs(point - low) % (2.0 * width)
    return min(high, low + min(beyond, 2.0 * width - beyond))


@kernel
def _walk(position: Vector, means: Matrix, step: float, low: float, high: float) -> None:
    """Turn the normal draws in `means` into the walk; `position` holds the means of the next round."""
    for t in range(means.shape[0]):
        for k in range(means.shape[1]):
            draw = means[t, k]
            means[t, k] = position[k]
            position[k] = _fold(position[k] + step * draw, low, high)


class _RandomWalkStream(MeanStream):
    def __init__(self, path: RandomWalk, generator: np.random.Generator) -> None:
        self._path = path
        self._generator = generator
        self._position = path.low + (path.high - path.low) * generator.random(path.n_actions)

    def fill(self, means: Matrix) -> None:
        self._generator.standard_normal(out=means)
        _walk(self._position, means, self._path.step, self._path.low, self._path.high)


@path("random-walk")
@dataclass(frozen=True)
class RandomWalk(Path):
    r"""Path with an independent Gaussian random walk per action, reflected at two bounds.

    Parameters
    ----------
    n_actions : int
        Number of actions ($K$), at least 1.
    step : float, default 0.01
        Standard deviation of one step ($s$), in [0, 1].
    low : float, default 0.0
        Lower bound of the means ($a$), in [0, high).
    high : float, default 1.0
        Upper bound of the means ($b$), in (0, 1].

    Notes
    -----
    $$ \mu_{1,k} \sim U[a, b], \qquad \mu_{t+1,k} = \mathrm{fold}(\mu_{t,k} + s\,\xi_{t,k}), \quad \xi \sim N(0, 1), $$

    where $\mathrm{fold}$ reflects a point at the bounds until it is in $[a, b]$.

    Examples
    --------
    >>> from driftwise.environments import Bernoulli, Environment
    >>> environment = Environment(RandomWalk(n_actions=3, step=0.01), Bernoulli())
    >>> environment.measures(n_rounds=1000).segments
    1000
    """

    n_actions: int
    step: float = 0.01
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        require_count(self, "n_actions")
        require_number(self, "step", lambda x: 0 <= x <= 1, "in [0, 1]")
        require_number(self, "high", lambda x: 0 < x <= 1, "in (0, 1]")
        require_number(self, "low", lambda x: 0 <= x < self.high, f"in [0, high = {self.high})")

    def start(self, n_rounds: int, generator: np.random.Generator) -> MeanStream:  # noqa: ARG002
        """Return the means of a run, drawn as they are needed."""
        return _RandomWalkStream(self, generator)
