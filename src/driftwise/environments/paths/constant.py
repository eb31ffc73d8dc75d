"""A path of constant means."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from driftwise.core.types import Actions, Matrix, Vector
from driftwise.environments.paths.path import MeanStream, Path, as_means, path

__all__ = ["Constant"]


class _ConstantStream(MeanStream):
    def __init__(self, means: Vector) -> None:
        self._means = means

    def fill(self, means: Matrix) -> None:
        means[:] = self._means

    def constant_stretches(self, n: int) -> tuple[Matrix, Actions]:
        return self._means.reshape(1, -1).copy(), np.array([n])


@path("constant")
@dataclass(frozen=True)
class Constant(Path):
    r"""Path with the same means in every round, for stationary environments.

    Parameters
    ----------
    means : sequence of float
        Mean loss of each action ($\mu$), each in [0, 1].

    Notes
    -----
    $$ \mu_t = \mu, \qquad \Gamma = 1, \qquad V = \|\mu\|_\infty, $$

    where $V$ is the jump from $\mu_0 = 0$.

    Examples
    --------
    >>> Constant((0.4, 0.6)).n_actions
    2
    """

    means: tuple[float, ...]
    n_actions: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "means", as_means(self, "means", self.means))
        object.__setattr__(self, "n_actions", len(self.means))

    def start(self, n_rounds: int, generator: np.random.Generator) -> MeanStream:  # noqa: ARG002
        """Return the means of a run."""
        return _ConstantStream(np.array(self.means))
