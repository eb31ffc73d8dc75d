"""Bernoulli noise in some rounds only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from driftwise.core.errors import rejection
from driftwise.core.types import Matrix, Vector
from driftwise.core.validation import as_real
from driftwise.environments.noises.noise import Noise, noise

__all__ = ["SparseBernoulli"]


@noise("sparse-bernoulli")
@dataclass(frozen=True)
class SparseBernoulli(Noise):
    r"""Bernoulli noise in a share of the rounds: losses are usually the mean itself, and rarely 0 or 1.

    One small share gives rare outliers. Different shares give actions with different amounts of noise.

    Parameters
    ----------
    shares : float or sequence of float, default (0.02,)
        Probability of a loss of 0 or 1 ($q$), in [0, 1]. A sequence has the shares of the actions; if it is shorter, it
        is repeated.

    Notes
    -----
    $$ \ell_{t,k} = \mu_{t,k} \; \text{with probability } 1 - q_k, \qquad
       P(\ell_{t,k} = 1) = q_k\, \mu_{t,k}, \qquad P(\ell_{t,k} = 0) = q_k\, (1 - \mu_{t,k}) . $$

    The mean is $\mu_{t,k}$ and the variance $q_k\, \mu_{t,k} (1 - \mu_{t,k})$. `Bernoulli` is the case $q = 1$,
    `Deterministic` the case $q = 0$.

    Examples
    --------
    >>> SparseBernoulli((1.0, 0.0)).draw(np.array([[0.2, 0.7, 0.9]]), np.random.default_rng(0))
    array([[0. , 0.7, 1. ]])
    """

    shares: tuple[float, ...] = (0.02,)

    def __post_init__(self) -> None:
        values: Any = self.shares
        several = isinstance(values, list | tuple) or (isinstance(values, np.ndarray) and values.ndim > 0)
        numbers = [as_real(value) for value in (values if several else [values])]
        if not numbers or not all(number is not None and 0 <= number <= 1 for number in numbers):
            raise rejection(self, "shares", "a number in [0, 1] or a sequence of them", values)
        object.__setattr__(self, "shares", tuple(numbers))

    def moments(self, means: Matrix) -> tuple[Matrix, Matrix]:
        """Return the means and variances of the losses."""
        return means, self._of_actions(means.shape[1]) * means * (1.0 - means)

    def draw(self, means: Matrix, generator: np.random.Generator) -> Matrix:
        """Return the losses; one random number decides whether a loss is 0, 1 or the mean."""
        shares, drawn = self._of_actions(means.shape[1]), generator.random(means.shape)
        return np.where(drawn < shares, (drawn < shares * means).astype(np.float64), means)

    def _of_actions(self, n_actions: int) -> Vector:
        shares: Vector = np.resize(np.array(self.shares), n_actions)
        return shares
