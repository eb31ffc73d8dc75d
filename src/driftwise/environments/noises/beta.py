r"""Smooth losses with a chosen share of the widest scatter: a Beta law with the mean of the path.

$$ \ell_{t,k} \sim \mathrm{Beta}(\mu\nu, (1-\mu)\nu), \quad \nu = 1/s - 1, \qquad \mathrm{Var} = s\,\mu\,(1-\mu) . $$

=======  ==================  ==========================================================
symbol   name in the code    meaning
=======  ==================  ==========================================================
$s$      `scale`             share of Bernoulli's variance; 0 is no noise
=======  ==================  ==========================================================

Where the mean is 0 or 1 there is no room for noise, and the loss is the mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from driftwise.core.types import Matrix
from driftwise.core.validation import require_number
from driftwise.environments.noises.base import Fitted, Noise, noise, unattainable
from driftwise.environments.noises.bernoulli import Bernoulli
from driftwise.environments.path_preview import PathPreview

__all__ = ["Beta"]

_NARROWEST = 1e-30  # a standard deviation below any rounding error of a loss; 1/s stays far from overflow


@noise("beta")
@dataclass(frozen=True)
class Beta(Fitted):
    """Losses with a Beta law around the mean.

    >>> Beta(scale=0.5).moments(np.array([[0.5]]))[1]
    array([[0.125]])
    """

    scale: float = 0.1

    def __post_init__(self) -> None:
        require_number(self, "scale", lambda x: 0 <= x < 1, "in [0, 1)")

    def moments(self, means: Matrix) -> tuple[Matrix, Matrix]:
        """Return the means and variances."""
        return means, self.scale * (means * (1.0 - means))

    def draw(self, means: Matrix, generator: np.random.Generator) -> Matrix:
        """Return the losses."""
        if self.scale < _NARROWEST:
            return means.copy()
        strength = 1.0 / self.scale - 1.0
        ones, zeros = means * strength, (1.0 - means) * strength
        settled = (ones == 0.0) | (zeros == 0.0)
        ones[settled] = zeros[settled] = 1.0  # any law will do: these draws are thrown away
        losses = generator.beta(ones, zeros)
        losses[settled] = means[settled]
        return losses

    def fit(self, variance: float, rehearsal: PathPreview) -> Noise:
        """Return the noise with that total variance."""
        widest = math.nextafter(1.0, 0.0)
        most = widest * rehearsal.variance(Bernoulli())
        if variance > most:
            raise unattainable(self, variance, 0.0, most)
        return replace(self, scale=widest * (variance / most) if variance else 0.0)
