"""No noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftwise.core.types import Matrix
from driftwise.environments.noises.noise import Noise, noise

__all__ = ["Deterministic"]


@noise("deterministic")
@dataclass(frozen=True)
class Deterministic(Noise):
    r"""No noise: losses equal the means of the path.

    Notes
    -----
    $$ \ell_t = \mu_t, \qquad \Lambda = 0 . $$

    Examples
    --------
    >>> Deterministic().draw(np.array([[0.2, 0.7]]), np.random.default_rng(0))
    array([[0.2, 0.7]])
    """

    def moments(self, means: Matrix) -> tuple[Matrix, Matrix]:
        """Return the means and variances of the losses."""
        return means, np.zeros_like(means)

    def draw(self, means: Matrix, generator: np.random.Generator) -> Matrix:  # noqa: ARG002
        """Return the losses; the generator is not used."""
        return means.copy()
