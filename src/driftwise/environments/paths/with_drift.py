r"""Any path, shrunk or stretched around a level until its drift is exactly what was asked for.

$$ \mu'_t = c + a\,(\mu_t - c), \qquad V(a) = c + a\,\Bigl(\max_k \mu_{1,k} - c + S\Bigr), \qquad
   S = \sum_{t \ge 2} \|\mu_t - \mu_{t-1}\|_\infty . $$

Means are never negative, so the jump from $\mu_0 = 0$ is the largest entry of $\mu'_1$, and $V$ is linear in
$a$, which a rehearsal of the very path that will be played gives before round 1.

=======  ==================  ========================================
symbol   name in the code    meaning
=======  ==================  ========================================
$\mu$    `path`              the path to shrink or stretch
$V$      `drift`             the drift asked for, first jump included
$c$      `around`            the level that stays where it is
=======  ==================  ========================================

The budget is met by the means of the path. A noise that moves the mean (clipped or truncated) moves $V$ too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from driftwise.core.errors import rejection
from driftwise.core.types import Actions, Matrix
from driftwise.core.validation import require_number
from driftwise.environments.noises.deterministic import Deterministic
from driftwise.environments.path_preview import SLACK, PathPreview
from driftwise.environments.paths.base import MeanStream, Path, as_path, path

__all__ = ["WithDrift"]


class _Stretched(MeanStream):
    def __init__(self, stream: MeanStream, around: float, stretch: float) -> None:
        self._stream = stream
        self._around = around
        self._stretch = stretch

    def fill(self, means: Matrix) -> None:
        self._stream.fill(means)
        self._move(means)

    def pieces(self, n: int) -> tuple[Matrix, Actions] | None:
        found = self._stream.pieces(n)
        if found is None:
            return None
        rows = found[0].copy()
        self._move(rows)
        return rows, found[1]

    def _move(self, means: Matrix) -> None:
        means -= self._around
        means *= self._stretch
        means += self._around
        np.clip(means, 0.0, 1.0, out=means)  # the farthest mean may be a rounding error outside


@path("with-drift")
@dataclass(frozen=True)
class WithDrift(Path):
    """A path with an exact drift.

    >>> from driftwise.environments import Bernoulli, Environment, RandomWalk
    >>> world = Environment(RandomWalk(n_actions=3).with_drift(2.0), Bernoulli())
    >>> round(world.measures(n_rounds=1000, seed=5).drift, 9)
    2.0
    """

    path: Path
    drift: float
    around: float = 0.5
    n_actions: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", as_path(self, self.path))
        object.__setattr__(self, "n_actions", self.path.n_actions)
        require_number(self, "drift", lambda x: 0 <= x < math.inf, "a finite number >= 0")
        require_number(self, "around", lambda x: 0 <= x <= 1, "in [0, 1]")

    def start(self, n_rounds: int, generator: np.random.Generator) -> MeanStream:
        """Return the means of a run, after rehearsing it; reject a drift that it cannot have."""
        stretch = self._solve(PathPreview(self.path, n_rounds, generator))
        return _Stretched(self.path.start(n_rounds, generator), self.around, stretch)

    def _solve(self, rehearsal: PathPreview) -> float:
        drift = rehearsal.measures(Deterministic()).drift
        lowest, highest = rehearsal.span()
        below, above = self.around - lowest, highest - self.around
        widest = min(
            self.around / below if below > 0 else math.inf, (1 - self.around) / above if above > 0 else math.inf
        )
        if self.drift == drift:
            return 1.0
        slope = drift - self.around  # V(1) - V(0)
        stretch = (self.drift - self.around) / slope if slope else math.nan
        if not 0 <= stretch <= widest * (1 + SLACK):
            reach = self.around + widest * slope if slope else self.around
            least, most = sorted((self.around, reach))
            raise rejection(self, "drift", f"in [{least}, {most}] on this path", self.drift)
        return min(stretch, widest)
