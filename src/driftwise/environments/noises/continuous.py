r"""Noises with continuous losses: beta noise, and the two Gaussian noises with the search for their scale.

A loss must be in [0, 1]. `ClippedGaussian` moves values of $Y \sim N(m, s^2)$ outside [0, 1] to the nearer end,
`TruncatedGaussian` conditions on $0 \le Y \le 1$. Both move the mean away from $m$, more so for larger $s$; their
`moments` return the actual mean, from which $\Gamma$ and $V$ are computed.

The moments of clipped losses are computed around $m$ and not around 0: the usual $E\ell^2 - (E\ell)^2$ loses all digits
for small $s$. For truncated losses and large $s$, the variance in units of $s$ is of the order of $s^{-2}$ and the
difference of numbers near 1. From $s = 1/2$ on the density is smooth enough for Gauss-Legendre quadrature, which is
exact up to rounding where the closed form is not.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr, ndtri

from driftwise.core.kernel import clone, kernel, unbound
from driftwise.core.types import Matrix
from driftwise.core.validation import Domains, interval
from driftwise.environments.noises.discrete import Bernoulli
from driftwise.environments.noises.noise import Fitted, Noise, noise, unattainable_variance
from driftwise.environments.paths.path import TOLERANCE, PathPreview

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

    _domains = Domains(scale=interval("[0, 1)"))

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


FAR = 40.0  # standard deviations: the density is 0 in floating point, and z times it must not be inf * 0
_WIDEST = 1000.0  # above, a clipped Gaussian is a fair coin and a truncated one uniform, to three digits
MOMENTS: Callable[[float, float], tuple[float, float]] = unbound
_SMOOTH = 0.5
# Sixteen points integrate polynomials up to degree 31: at s = 1/2 the remainder is below 1e-20.
_NODES, _WEIGHTS = (tuple(map(float, values)) for values in np.polynomial.legendre.leggauss(16))


@kernel
def density(z: float) -> float:
    """Return the standard normal density."""
    return math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)


@kernel
def upper_tail(z: float) -> float:
    """Return P(Z > z) of a standard normal Z, without cancellation for z > 0."""
    return 0.5 * math.erfc(z / math.sqrt(2.0))


@kernel
def mass_from_zero(z: float) -> float:
    """Return P(0 < Z < z) of a standard normal Z, without cancellation near 0."""
    return 0.5 * math.erf(z / math.sqrt(2.0))


def fill_moments(centers: Matrix, scale: float, means: Matrix, variances: Matrix) -> None:
    """Write means and variances, entry by entry (a template: `clone` binds MOMENTS to those of a noise)."""
    for t in range(centers.shape[0]):
        for k in range(centers.shape[1]):
            if t > 0 and centers[t, k] == centers[t - 1, k]:  # most paths change in few rounds
                means[t, k], variances[t, k] = means[t - 1, k], variances[t - 1, k]
            else:
                means[t, k], variances[t, k] = MOMENTS(centers[t, k], scale)


@dataclass(frozen=True)
class Gaussian(Fitted):
    """Base class of Gaussian noises on [0, 1]."""

    scale: float = 0.1

    _domains = Domains(scale=interval(f"[0, {_WIDEST:g}]"))

    @abstractmethod
    def fill(self, centers: Matrix, means: Matrix, variances: Matrix) -> None:
        """Write the moments of the losses around `centers`."""

    def moments(self, means: Matrix) -> tuple[Matrix, Matrix]:
        """Return the actual means, which differ from those of the path, and the variances."""
        actual, variances = np.empty_like(means), np.empty_like(means)
        self.fill(means, actual, variances)
        return actual, variances

    def fit(self, variance: float, preview: PathPreview) -> Noise:
        """Return the noise with the `scale` that gives this total variance, found by a root search."""
        from scipy.optimize import brentq  # slow to import and rarely needed

        def total(scale: float) -> float:
            return preview.variance(replace(self, scale=scale))

        # Clipping and truncation only reduce the variance s^2 of a loss, so the scale is at least this.
        low = high = min(_WIDEST, math.sqrt(variance / (preview.n_rounds * preview.n_actions)))
        while (reached := total(high)) < variance:
            if high == _WIDEST:
                raise unattainable_variance(self, variance, 0.0, reached)
            low, high = high, min(2 * high, _WIDEST)
        if low < high:
            high = brentq(lambda scale: total(scale) - variance, low, high, xtol=TOLERANCE * high, rtol=TOLERANCE)
        return replace(self, scale=high)


@kernel
def _excess(z: float) -> float:
    return density(z) - z * upper_tail(z)


@kernel
def _second(z: float) -> float:
    return mass_from_zero(z) - z * density(z) + z * z * upper_tail(z)


@kernel
def _clipped_moments(center: float, scale: float) -> tuple[float, float]:
    if scale == 0.0:
        return center, 0.0
    u, v = min(FAR, center / scale), min(FAR, (1.0 - center) / scale)
    shift = _excess(u) - _excess(v)
    return center + scale * shift, scale * scale * (_second(u) + _second(v) - shift * shift)


_fill_clipped = clone(fill_moments, "clipped-gaussian", kinds=(), MOMENTS=_clipped_moments)


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
        _fill_clipped(centers, self.scale, means, variances)

    def draw(self, means: Matrix, generator: np.random.Generator) -> Matrix:
        """Return the losses."""
        losses = means + self.scale * generator.standard_normal(means.shape)
        return np.clip(losses, 0.0, 1.0, out=losses)


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
def _truncated_moments(center: float, scale: float) -> tuple[float, float]:
    if scale == 0.0:
        return center, 0.0
    if scale >= _SMOOTH:
        return _by_quadrature(center, scale)
    u, v = min(FAR, center / scale), min(FAR, (1.0 - center) / scale)
    mass = mass_from_zero(u) + mass_from_zero(v)
    shift = (density(u) - density(v)) / mass
    second = 1.0 - (u * density(u) + v * density(v)) / mass
    return center + scale * shift, scale * scale * (second - shift * shift)


_fill_truncated = clone(fill_moments, "truncated-gaussian", kinds=(), MOMENTS=_truncated_moments)


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
        _fill_truncated(centers, self.scale, means, variances)

    def draw(self, means: Matrix, generator: np.random.Generator) -> Matrix:
        """Return the losses, by inversion of the distribution function."""
        if self.scale == 0.0:
            return means.copy()
        below, above = ndtr(-means / self.scale), ndtr((1.0 - means) / self.scale)
        losses = means + self.scale * ndtri(below + generator.random(means.shape) * (above - below))
        return np.clip(losses, 0.0, 1.0, out=losses)
