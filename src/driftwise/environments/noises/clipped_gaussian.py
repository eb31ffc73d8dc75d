r"""Gaussian losses clipped to [0, 1]: what falls outside sits on the ends.

$\ell = \min(1, \max(0, Y))$ with $Y \sim N(m, s^2)$. Let $u = m/s$ and $v = (1-m)/s$; from $m$, in units of $s$:

$$ E = e(u) - e(v), \quad e(z) = \varphi(z) - z\,\Phi(-z); \qquad
   \mathrm{Var} = h(u) + h(v) - E^2, \quad h(z) = \Phi(z) - \tfrac12 - z\,\varphi(z) + z^2\,\Phi(-z) . $$

=======  ==================  =================================================
symbol   name in the code    meaning
=======  ==================  =================================================
$m$      the path's value    where the Gaussian is centered
$s$      `scale`             its standard deviation; 0 is no noise
=======  ==================  =================================================

Moments around $m$ rather than around 0: the textbook $E\ell^2 - (E\ell)^2$ loses every digit of a small $s$.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftwise.core.kernel import clone, kernel
from driftwise.core.types import Matrix
from driftwise.environments.noises.base import noise
from driftwise.environments.noises.gaussian import FAR, Gaussian, body, density, fill_moments, tail

__all__ = ["ClippedGaussian"]


@kernel
def _excess(z: float) -> float:
    return density(z) - z * tail(z)


@kernel
def _second(z: float) -> float:
    return body(z) - z * density(z) + z * z * tail(z)


@kernel
def _moments(center: float, scale: float) -> tuple[float, float]:
    if scale == 0.0:
        return center, 0.0
    u, v = min(FAR, center / scale), min(FAR, (1.0 - center) / scale)
    move = _excess(u) - _excess(v)
    return center + scale * move, scale * scale * (_second(u) + _second(v) - move * move)


_fill = clone(fill_moments, "clipped-gaussian", MOMENTS=_moments)


@noise("clipped-gaussian")
@dataclass(frozen=True)
class ClippedGaussian(Gaussian):
    """Gaussian losses, clipped to [0, 1].

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
