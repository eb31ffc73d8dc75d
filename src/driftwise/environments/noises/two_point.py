r"""Losses at equal distance on both sides of the mean: $\ell_{t,k} = \mu_{t,k} \pm s$, each with probability 1/2.

=======  ==================  ================================================
symbol   name in the code    meaning
=======  ==================  ================================================
$s$      `scale`             the distance, and the standard deviation
=======  ==================  ================================================

The scatter is the same wherever the mean is, $\Lambda = K T s^2$, as long as every mean leaves room for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from driftwise.core.errors import InvalidInput
from driftwise.core.types import Matrix
from driftwise.core.validation import require_number
from driftwise.environments.noises.base import Fitted, Noise, noise, unattainable
from driftwise.environments.path_preview import SLACK, PathPreview

__all__ = ["TwoPoint"]


@noise("two-point")
@dataclass(frozen=True)
class TwoPoint(Fitted):
    """Losses `scale` above or below the mean.

    >>> from driftwise.environments import Constant, Environment
    >>> world = Environment(Constant((0.4, 0.6)), TwoPoint().with_variance(8.0))
    >>> round(world.measures(n_rounds=100).variance, 9)
    8.0
    """

    scale: float = 0.1

    def __post_init__(self) -> None:
        require_number(self, "scale", lambda x: 0 <= x <= 0.5, "in [0, 0.5]")

    def moments(self, means: Matrix) -> tuple[Matrix, Matrix]:
        """Return the means and variances."""
        self._require_room(means)
        return means, np.full_like(means, self.scale * self.scale)

    def draw(self, means: Matrix, generator: np.random.Generator) -> Matrix:
        """Return the losses; reject means without room."""
        self._require_room(means)
        losses = np.where(generator.random(means.shape) < 0.5, means - self.scale, means + self.scale)
        return np.clip(losses, 0.0, 1.0, out=losses)  # of what rounding may add

    def fit(self, variance: float, rehearsal: PathPreview) -> Noise:
        """Return the noise with that total variance."""
        lowest, highest = rehearsal.span()
        widest = min(lowest, 1 - highest)
        entries = rehearsal.n_rounds * rehearsal.n_actions
        scale = math.sqrt(variance / entries)
        if scale > widest * (1 + SLACK):
            raise unattainable(self, variance, 0.0, entries * widest * widest)
        return replace(self, scale=min(scale, widest))

    def _require_room(self, means: Matrix) -> None:
        for mean in (means.min(), means.max()):
            if not self.scale - SLACK <= mean <= 1 - self.scale + SLACK:
                raise InvalidInput(
                    f"TwoPoint: `scale` must leave mean +- scale in [0, 1], got {self.scale} where the mean is {mean}."
                )
