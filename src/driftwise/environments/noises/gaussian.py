r"""Common parts of the two Gaussian noises: functions of the normal distribution, and the search for a scale.

A loss must be in [0, 1]. `ClippedGaussian` moves values of $Y \sim N(m, s^2)$ outside [0, 1] to the nearer end,
`TruncatedGaussian` conditions on $0 \le Y \le 1$. Both move the mean away from $m$, more so for larger $s$; their
`moments` return the actual mean, from which $\Gamma$ and $V$ are computed.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from driftwise.core.kernel import kernel, unbound
from driftwise.core.types import Matrix
from driftwise.core.validation import require_number
from driftwise.environments.noises.noise import Fitted, Noise, unattainable_variance
from driftwise.environments.path_preview import TOLERANCE, PathPreview

__all__ = ["FAR", "Gaussian", "density", "fill_moments", "mass_from_zero", "upper_tail"]

FAR = 40.0  # standard deviations: the density is 0 in floating point, and z times it must not be inf * 0
_WIDEST = 1000.0  # above, a clipped Gaussian is a fair coin and a truncated one uniform, to three digits
MOMENTS: Callable[[float, float], tuple[float, float]] = unbound


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

    def __post_init__(self) -> None:
        require_number(self, "scale", lambda x: 0 <= x <= _WIDEST, f"in [0, {_WIDEST:g}]")

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
