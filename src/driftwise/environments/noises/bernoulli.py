"""Bernoulli noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftwise.core.types import Matrix
from driftwise.environments.noises.noise import Noise, noise

__all__ = ["Bernoulli"]


@noise("bernoulli")
@dataclass(frozen=True)
class Bernoulli(Noise):
    r"""Bernoulli noise: losses 0 or 1 with the means of the path.

    Notes
    -----
    $$ P(\ell_{t,k} = 1) = \mu_{t,k}, \qquad \mathrm{Var} = \mu_{t,k} (1 - \mu_{t,k}) . $$

    This is the largest variance that a distribution on [0, 1] with this mean can have.

    Examples
    --------
    >>> Bernoulli().draw(np.array([[0.0, 1.0]]), np.random.default_rng(0))
    array([[0., 1.]])
    """

    def moments(self, means: Matrix) -> tuple[Matrix, Matrix]:
        """Return the means and variances of the losses."""
        return means, means * (1.0 - means)

    def draw(self, means: Matrix, generator: np.random.Generator) -> Matrix:
        """Return the losses."""
        return (generator.random(means.shape) < means).astype(np.float64)
