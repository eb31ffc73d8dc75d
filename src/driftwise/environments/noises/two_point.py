"""Two-point noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from driftwise.core.errors import InvalidInput
from driftwise.core.types import Matrix
from driftwise.core.validation import require_number
from driftwise.environments.noises.noise import Fitted, Noise, noise, unattainable_variance
from driftwise.environments.path_preview import TOLERANCE, PathPreview

__all__ = ["TwoPoint"]


@noise("two-point")
@dataclass(frozen=True)
class TwoPoint(Fitted):
    r"""Two-point noise: losses at equal distance above and below the mean.

    Parameters
    ----------
    scale : float, default 0.1
        Distance of the losses from the mean, and their standard deviation ($s$), in [0, 0.5].

    Notes
    -----
    $$ \ell_{t,k} = \mu_{t,k} \pm s, \quad \text{each with probability } 1/2, \qquad \Lambda = K T s^2 . $$

    The variance does not depend on the mean. Means outside $[s, 1 - s]$ are rejected.

    `with_variance` chooses $s$ so that a run has a given total variance.

    Examples
    --------
    >>> from driftwise.environments import Constant, Environment
    >>> environment = Environment(Constant((0.4, 0.6)), TwoPoint().with_variance(8.0))
    >>> round(environment.measures(n_rounds=100).variance, 9)
    8.0
    """

    scale: float = 0.1

    def __post_init__(self) -> None:
        require_number(self, "scale", lambda x: 0 <= x <= 0.5, "in [0, 0.5]")

    def moments(self, means: Matrix) -> tuple[Matrix, Matrix]:
        """Return the means and variances of the losses."""
        self._require_room(means)
        return means, np.full_like(means, self.scale * self.scale)

    def draw(self, means: Matrix, generator: np.random.Generator) -> Matrix:
        """Return the losses; reject means outside [scale, 1 - scale]."""
        self._require_room(means)
        losses = np.where(generator.random(means.shape) < 0.5, means - self.scale, means + self.scale)
        return np.clip(losses, 0.0, 1.0, out=losses)  # rounding may leave a loss slightly outside

    def fit(self, variance: float, preview: PathPreview) -> Noise:
        """Return the noise with the `scale` that gives this total variance."""
        lowest, highest = preview.span()
        widest = min(lowest, 1 - highest)
        entries = preview.n_rounds * preview.n_actions
        scale = math.sqrt(variance / entries)
        if scale > widest * (1 + TOLERANCE):
            raise unattainable_variance(self, variance, 0.0, entries * widest * widest)
        return replace(self, scale=min(scale, widest))

    def _require_room(self, means: Matrix) -> None:
        for mean in (means.min(), means.max()):
            if not self.scale - TOLERANCE <= mean <= 1 - self.scale + TOLERANCE:
                raise InvalidInput(
                    f"TwoPoint: `scale` must leave mean +- scale in [0, 1], got {self.scale} where the mean is {mean}."
                )
