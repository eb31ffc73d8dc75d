r"""What the two Gaussian noises share: pieces of the normal law, and the search for a scale.

A loss must be in [0, 1], and there are two ways to force $Y \sim N(m, s^2)$ into it: `ClippedGaussian` moves
what falls outside to the nearer end, `TruncatedGaussian` draws it again. Both move the mean away from $m$, more
so when $s$ grows; their `moments` return the actual mean, which is what $\Gamma$ and $V$ are about.
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
from driftwise.environments.noises.base import Fitted, Noise, unattainable
from driftwise.environments.path_preview import SLACK, PathPreview

__all__ = ["FAR", "Gaussian", "body", "density", "fill_moments", "tail"]

FAR = 40.0  # standard deviations; the density has underflowed to 0, and no infinity can meet that 0
_WIDEST = 1000.0  # beyond, a clipped Gaussian is a fair coin and a truncated one is uniform, to three digits
MOMENTS: Callable[[float, float], tuple[float, float]] = unbound


@kernel
def density(z: float) -> float:
    """Return the standard normal density."""
    return math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)


@kernel
def tail(z: float) -> float:
    """Return the probability of more than z, without cancellation for z > 0."""
    return 0.5 * math.erfc(z / math.sqrt(2.0))


@kernel
def body(z: float) -> float:
    """Return the probability of between 0 and z, without cancellation near 0."""
    return 0.5 * math.erf(z / math.sqrt(2.0))


def fill_moments(centers: Matrix, scale: float, means: Matrix, variances: Matrix) -> None:
    """Write means and variances, entry by entry (a template: `clone` binds the law's MOMENTS)."""
    for t in range(centers.shape[0]):
        for k in range(centers.shape[1]):
            if t > 0 and centers[t, k] == centers[t - 1, k]:  # most paths stand still most of the time
                means[t, k], variances[t, k] = means[t - 1, k], variances[t - 1, k]
            else:
                means[t, k], variances[t, k] = MOMENTS(centers[t, k], scale)


@dataclass(frozen=True)
class Gaussian(Fitted):
    """A Gaussian around the path's value, forced into [0, 1]."""

    scale: float = 0.1

    def __post_init__(self) -> None:
        require_number(self, "scale", lambda x: 0 <= x <= _WIDEST, f"in [0, {_WIDEST:g}]")

    @abstractmethod
    def fill(self, centers: Matrix, means: Matrix, variances: Matrix) -> None:
        """Write the moments of the losses around `centers`."""

    def moments(self, means: Matrix) -> tuple[Matrix, Matrix]:
        """Return the actual means, which are not the path's, and variances."""
        actual, variances = np.empty_like(means), np.empty_like(means)
        self.fill(means, actual, variances)
        return actual, variances

    def fit(self, variance: float, rehearsal: PathPreview) -> Noise:
        """Return the noise with that total variance: it grows with the scale, so the scale is searched."""
        from scipy.optimize import brentq  # slow to import, and seldom needed

        def total(scale: float) -> float:
            return rehearsal.variance(replace(self, scale=scale))

        # The ends only take scatter away, so a loss has variance s^2 at most: the scale is at least this.
        low = high = min(_WIDEST, math.sqrt(variance / (rehearsal.n_rounds * rehearsal.n_actions)))
        while (reached := total(high)) < variance:
            if high == _WIDEST:
                raise unattainable(self, variance, 0.0, reached)
            low, high = high, min(2 * high, _WIDEST)
        if low < high:
            high = brentq(lambda scale: total(scale) - variance, low, high, xtol=SLACK * high, rtol=SLACK)
        return replace(self, scale=high)
