r"""Means that wander: a Gaussian random walk per action, reflected at two walls.

$$ \mu_{1,k} \sim U[a, b], \qquad \mu_{t+1,k} = \mathrm{fold}(\mu_{t,k} + s\,\xi_{t,k}), \quad \xi \sim N(0, 1), $$

where $\mathrm{fold}$ mirrors a point at the walls until it is back between them.

=======  ==================  =======================================
symbol   name in the code    meaning
=======  ==================  =======================================
$K$      `n_actions`         actions, which move independently
$s$      `step`              standard deviation of one move
$a$      `low`               the lower wall
$b$      `high`              the upper wall
=======  ==================  =======================================
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.types import Matrix, Vector
from driftwise.core.validation import require_count, require_number
from driftwise.environments.paths.base import MeanStream, Path, path

__all__ = ["RandomWalk"]


@kernel
def _fold(point: float, low: float, high: float) -> float:
    width = high - low
    beyond = abs(point - low) % (2.0 * width)
    return min(high, low + min(beyond, 2.0 * width - beyond))


@kernel
def _walk(position: Vector, means: Matrix, step: float, low: float, high: float) -> None:
    """Turn the normal draws in `means` into the walk; `position` is where the next round is."""
    for t in range(means.shape[0]):
        for k in range(means.shape[1]):
            draw = means[t, k]
            means[t, k] = position[k]
            position[k] = _fold(position[k] + step * draw, low, high)


class _Wandering(MeanStream):
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
    """Means that wander between two walls.

    >>> from driftwise.environments import Bernoulli, Environment
    >>> world = Environment(RandomWalk(n_actions=3, step=0.01), Bernoulli())
    >>> world.measures(n_rounds=1000).segments
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
        return _Wandering(self, generator)
