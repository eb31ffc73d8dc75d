r"""Clipped Gaussian noise.

The moments are computed around $m$ and not around 0: the usual $E\ell^2 - (E\ell)^2$ loses all digits for small $s$.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftwise.core.kernel import clone, kernel
from driftwise.core.types import Matrix
from driftwise.environments.noises.gaussian import FAR, Gaussian, density, fill_moments, mass_from_zero, upper_tail
from driftwise.environments.noises.noise import noise

__all__ = ["ClippedGaussian"]


@kernel
def _excess(z: float) -> float:
    return density(z) - z * upper_tail(z)


@kernel
def _second(z: float) -> float:
    return mass_from_zero(z) - z * density(z) + z * z * upper_tail(z)


@kernel
def _moments(center: float, scale: float) -> tuple[float, float]:
    if scale == 0.0:
        return center, 0.0
    u, v = min(FAR, center / scale), min(FAR, (1.0 - center) / scale)
    shift = _excess(u) - _excess(v)
    return center + scale * shift, scale * scale * (_second(u) + _second(v) - shift * shift)


_fill = clone(fill_moments, "clipped-gaussian", kinds=(), MOMENTS=_moments)


@noise("clipped-gaussian")
@dataclass(frozen=True)
class ClippedGaussian(Gaussian):
    r"""Clipped Gaussian noise: Gaussian losses, with values outside [0, 1] set to 0 or 1.

    Parameters
    ----------
    scale : float, default 0.1
        Standard deviation of the Gaussian before clipping ($s$), in [0, 1000]; 0 is no noise.

    Notes
    -----
    $\ell = \min(1, \max(0, Y))$ with $Y \sim N(m, s^2)$, where $m$ is the mean of the path. With $u = m/s$ and
    $v = (1-m)/s$, the loss has mean $m + s E$ and variance $s^2\,\mathrm{Var}$, where

    $$ E = e(u) - e(v), \quad e(z) = \varphi(z) - z\,\Phi(-z); \qquad
       \mathrm{Var} = h(u) + h(v) - E^2, \quad h(z) = \Phi(z) - \tfrac12 - z\,\varphi(z) + z^2\,\Phi(-z) . $$

    Clipping moves the mean away from $m$. `with_variance` chooses $s$ so that a run has a given total variance.

    Examples
    --------
    >>> mean, variance = ClippedGaussian(scale=0.5).moments(np.array([[0.0]]))
    >>> mean.round(3)  # not 0
    array([[0.195]])
    """

    def fill(self, centers: Matrix, means: Matrix, variances: Matrix) -> None:
        """Write the moments of the losses around `centers`."""
        _fill(centers, self.scale, means, variances)

    def draw(self, means: Matrix, generator: np.random.Generator) -> Matrix:
        """Return the losses."""
        losses = means + self.scale * generator.standard_normal(means.shape)
        return np.clip(losses, 0.0, 1.0, out=losses)
