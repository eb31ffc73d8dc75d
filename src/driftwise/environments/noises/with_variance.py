"""A noise with an exact total variance."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from driftwise.core.errors import InvalidInput, rejection
from driftwise.core.types import Matrix
from driftwise.core.validation import require_number
from driftwise.environments.noises.noise import Fitted, Noise, as_noise, noise, noises
from driftwise.environments.path_preview import PathPreview

__all__ = ["WithVariance"]


@noise("with-variance")
@dataclass(frozen=True)
class WithVariance(Noise):
    r"""Noise whose free parameter is solved in each run so that the total variance has an exact value.

    Parameters
    ----------
    noise : Fitted
        A noise with a free parameter, or its spec; the value of this parameter is ignored.
    variance : float
        Total variance of the run ($\Lambda$), a finite number >= 0.

    Notes
    -----
    $$ \Lambda = \sum_t \sum_k \mathrm{Var}(\ell_{t,k}) . $$

    Before round 1, the parameter is solved on the path of the run, in closed form or by a root search (see `fit`
    of the noise). A variance that the noise cannot have on this path is rejected.

    Examples
    --------
    >>> from driftwise.environments import Beta, Environment, Switching
    >>> environment = Environment(Switching(n_segments=4, n_actions=5), Beta().with_variance(20.0))
    >>> round(environment.measures(n_rounds=1000).variance, 9)
    20.0
    """

    noise: Fitted
    variance: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise", as_noise(self, self.noise))
        if not isinstance(self.noise, Fitted):  # a spec may name any noise
            fitted = ", ".join(name for name in noises if issubclass(noises.get(name), Fitted))
            raise rejection(self, "noise", f"one with a free parameter ({fitted})", self.noise)
        require_number(self, "variance", lambda x: 0 <= x < math.inf, "a finite number >= 0")

    def settle(self, preview: PathPreview) -> Noise:
        """Return the inner noise, solved for this run."""
        return self.noise.fit(self.variance, preview)

    def moments(self, means: Matrix) -> tuple[Matrix, Matrix]:  # noqa: ARG002
        """Raise `InvalidInput`: before a run the parameter is not known."""
        raise self._unsettled()

    def draw(self, means: Matrix, generator: np.random.Generator) -> Matrix:  # noqa: ARG002
        """Raise `InvalidInput`: before a run the parameter is not known."""
        raise self._unsettled()

    def _unsettled(self) -> InvalidInput:
        return InvalidInput("WithVariance: its parameter depends on the run; draw from an Environment's stream.")
