"""Truncated Gaussian noise.

For large $s$, the variance in units of $s$ is of the order of $s^{-2}$ and the difference of numbers near 1. From
$s = 1/2$ on the density is smooth enough for Gauss-Legendre quadrature, which is exact up to rounding where the closed
form is not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from driftwise.core.kernel import clone, kernel
from driftwise.core.types import Matrix
from driftwise.environments.noises.gaussian import FAR, Gaussian, density, fill_moments, mass_from_zero
from driftwise.environments.noises.noise import noise

__all__ = ["TruncatedGaussian"]

_SMOOTH = 0.5
# Sixteen points integrate polynomials up to degree 31: at s = 1/2 the remainder is below 1e-20.
_NODES, _WEIGHTS = (tuple(map(float, values)) for values in np.polynomial.legendre.leggauss(16))


@kernel
def _by_quadrature(center: float, scale: float) -> tuple[float, float]:
    mass, mean, variance = 0.0, 0.0, 0.0
    for i in range(len(_NODES)):
        x = 0.5 + 0.5 * _NODES[i]
        share = _WEIGHTS[i] * density((x - center) / scale)
        mass += share
        mean += share * x
    mean /= mass
    for i in range(len(_NODES)):
        x = 0.5 + 0.5 * _NODES[i]
        variance += _WEIGHTS[i] * density((x - center) / scale) * (x - mean) ** 2
    return mean, variance / mass


@kernel
def _moments(center: float, scale: float) -> tuple[float, float]:
    if scale == 0.0:
        return center, 0.0
    if scale >= _SMOOTH:
        return _by_quadrature(center, scale)
    u, v = min(FAR, center / scale), min(FAR, (1.0 - center) / scale)
    mass = mass_from_zero(u) + mass_from_zero(v)
    shift = (density(u) - density(v)) / mass
    second = 1.0 - (u * density(u) + v * density(v)) / mass
    return center + scale * shift, scale * scale * (second - shift * shift)


_fill = clone(fill_moments, "truncated-gaussian", kinds=(), MOMENTS=_moments)


@noise("truncated-gaussian")
@dataclass(frozen=True)
class TruncatedGaussian(Gaussian):
    r"""Truncated Gaussian noise: Gaussian losses, conditioned on [0, 1].

    Parameters
    ----------
    scale : float, default 0.1
        Standard deviation of the Gaussian before truncation ($s$), in [0, 1000]; 0 is no noise.

    Notes
    -----
    $\ell = Y$ given $0 \le Y \le 1$, with $Y \sim N(m, s^2)$, where $m$ is the mean of the path. With $u = m/s$,
    $v = (1-m)/s$ and $Z = \Phi(u) + \Phi(v) - 1$, the loss has mean $m + s E$ and variance $s^2\,\mathrm{Var}$, where

    $$ E = \frac{\varphi(u) - \varphi(v)}{Z}, \qquad
       \mathrm{Var} = 1 - \frac{u\,\varphi(u) + v\,\varphi(v)}{Z} - E^2 . $$

    Truncation moves the mean away from $m$. `with_variance` chooses $s$ so that a run has a given total variance.

    Examples
    --------
    >>> TruncatedGaussian(scale=1000.0).moments(np.array([[0.2]]))[1].round(6)  # nearly uniform: 1/12
    array([[0.083333]])
    """

    def fill(self, centers: Matrix, means: Matrix, variances: Matrix) -> None:
        """Write the moments of the losses around `centers`."""
        _fill(centers, self.scale, means, variances)

    def draw(self, means: Matrix, generator: np.random.Generator) -> Matrix:
        """Return the losses, by inversion of the distribution function."""
        if self.scale == 0.0:
            return means.copy()
        below, above = ndtr(-means / self.scale), ndtr((1.0 - means) / self.scale)
        losses = means + self.scale * ndtri(below + generator.random(means.shape) * (above - below))
        return np.clip(losses, 0.0, 1.0, out=losses)
