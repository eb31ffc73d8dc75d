r"""A path scaled to an exact drift.

The jump from $\mu_0 = 0$ is the largest entry of $\mu'_1$, because means are not negative. So $V$ is linear in the
scale $a$, and a preview of the same path gives $a$ before the first round.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from driftwise.core.errors import rejection
from driftwise.core.types import Actions, Matrix
from driftwise.core.validation import require_number
from driftwise.environments.noises.deterministic import Deterministic
from driftwise.environments.path_preview import TOLERANCE, PathPreview
from driftwise.environments.paths.path import MeanStream, Path, as_path, path

__all__ = ["WithDrift"]


class _ScaledStream(MeanStream):
    def __init__(self, stream: MeanStream, around: float, scale: float) -> None:
        self._stream = stream
        self._around = around
        self._scale = scale

    def fill(self, means: Matrix) -> None:
        self._stream.fill(means)
        self._rescale(means)

    def constant_stretches(self, n: int) -> tuple[Matrix, Actions] | None:
        found = self._stream.constant_stretches(n)
        if found is None:
            return None
        rows = found[0].copy()
        self._rescale(rows)
        return rows, found[1]

    def _rescale(self, means: Matrix) -> None:
        means -= self._around
        means *= self._scale
        means += self._around
        np.clip(means, 0.0, 1.0, out=means)  # rounding may leave a mean slightly outside


@path("with-drift")
@dataclass(frozen=True)
class WithDrift(Path):
    r"""Path scaled around a level so that its drift has an exact value.

    Parameters
    ----------
    path : Path
        The path to scale ($\mu$), or its spec.
    drift : float
        Drift to reach ($V$), with the jump from $\mu_0 = 0$ to the first means; a finite number >= 0.
    around : float, default 0.5
        Level that scaling leaves unchanged ($c$), in [0, 1].

    Notes
    -----
    $$ \mu'_t = c + a\,(\mu_t - c), \qquad V(a) = c + a\,\Bigl(\max_k \mu_{1,k} - c + S\Bigr), \qquad
       S = \sum_{t \ge 2} \|\mu_t - \mu_{t-1}\|_\infty . $$

    Each run solves $V(a) =$ `drift` for its own path. A drift that needs $a < 0$ or means outside [0, 1] is rejected.

    `drift` refers to the means of the path. A noise that shifts the means (clipped or truncated Gaussian) changes $V$.

    Examples
    --------
    >>> from driftwise.environments import Bernoulli, Environment, RandomWalk
    >>> environment = Environment(RandomWalk(n_actions=3).with_drift(2.0), Bernoulli())
    >>> round(environment.measures(n_rounds=1000, seed=5).drift, 9)
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
        """Return the means of a run, scaled; reject a drift that its path cannot have."""
        scale = self._solve(PathPreview(self.path, n_rounds, generator))
        return _ScaledStream(self.path.start(n_rounds, generator), self.around, scale)

    def _solve(self, preview: PathPreview) -> float:
        drift = preview.measures(Deterministic()).drift
        lowest, highest = preview.span()
        below, above = self.around - lowest, highest - self.around
        widest = min(
            self.around / below if below > 0 else math.inf, (1 - self.around) / above if above > 0 else math.inf
        )
        if self.drift == drift:
            return 1.0
        slope = drift - self.around  # V(1) - V(0)
        scale = (self.drift - self.around) / slope if slope else math.nan
        if not 0 <= scale <= widest * (1 + TOLERANCE):
            reach = self.around + widest * slope if slope else self.around
            least, most = sorted((self.around, reach))
            raise rejection(self, "drift", f"in [{least}, {most}] on this path", self.drift)
        return min(scale, widest)
