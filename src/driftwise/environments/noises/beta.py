"""Beta noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from driftwise.core.types import Matrix
from driftwise.core.validation import require_number
from driftwise.environments.noises.bernoulli import Bernoulli
from driftwise.environments.noises.noise import Fitted, Noise, noise, unattainable_variance
from driftwise.environments.path_preview import PathPreview

__all__ = ["Beta"]

_NARROWEST = 1e-30  # a standard deviation below any rounding error of a loss; 1/s stays far from overflow


@noise("beta")
@dataclass(frozen=True)
class Beta(Fitted):
    r"""Beta noise: continuous losses with a fixed share of the largest possible variance.

    Parameters
    ----------
    scale : float, default 0.1
        Share of Bernoulli's variance ($s$), in [0, 1); 0 is no noise.

    Notes
    -----
    $$ \ell_{t,k} \sim \mathrm{Beta}(\mu\nu, (1-\mu)\nu), \quad \nu = 1/s - 1, \quad \mu = \mu_{t,k}, \qquad
       \mathrm{Var} = s\,\mu\,(1-\mu) . $$

    Where the mean is 0 or 1, the loss is the mean.

    `with_variance` chooses $s$ so that a run has a given total variance.

    Examples
    --------
    >>> Beta(scale=0.5).moments(np.array([[0.5]]))[1]
    array([[0.125]])
    """

    scale: float = 0.1

    def __post_init__(self) -> None:
        require_number(self, "scale", lambda x: 0 <= x < 1, "in [0, 1)")

    def moments(self, means: Matrix) -> tuple[Matrix, Matrix]:
        """Return the means and variances of the losses."""
        return means, self.scale * (means * (1.0 - means))

    def draw(self, means: Matrix, generator: np.random.Generator) -> Matrix:
        """Return the losses."""
        if self.scale < _NARROWEST:
            return means.copy()
        strength = 1.0 / self.scale - 1.0
        ones, zeros = means * strength, (1.0 - means) * strength
        fixed = (ones == 0.0) | (zeros == 0.0)
        ones[fixed] = zeros[fixed] = 1.0  # any parameters will do: these draws are discarded
        losses = generator.beta(ones, zeros)
        losses[fixed] = means[fixed]
        return losses

    def fit(self, variance: float, preview: PathPreview) -> Noise:
        """Return the noise with the `scale` that gives this total variance."""
        widest = math.nextafter(1.0, 0.0)
        most = widest * preview.variance(Bernoulli())
        if variance > most:
            raise unattainable_variance(self, variance, 0.0, most)
        return replace(self, scale=widest * (variance / most) if variance else 0.0)
