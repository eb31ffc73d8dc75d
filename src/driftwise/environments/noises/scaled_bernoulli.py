r"""Losses with two possible values, whatever the mean: the lower-bound law of the paper (Lemma sigma1).

$$ \ell_{t,k} \in \{a, b\}, \qquad P(\ell_{t,k} = b) = \frac{\mu_{t,k} - a}{b - a}, \qquad
   \mathrm{Var} = (\mu_{t,k} - a)(b - \mu_{t,k}) . $$

=======  ==================  ======================================================
symbol   name in the code    meaning
=======  ==================  ======================================================
$a$      `low`               the smaller loss; 0 in the paper
$b$      `high`              the larger loss; $2\sigma$ in the paper
=======  ==================  ======================================================

Bernoulli is the case $a = 0$, $b = 1$. A total variance is met by moving $b$, in which it is linear.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from driftwise.core.errors import InvalidInput
from driftwise.core.types import Matrix
from driftwise.core.validation import require_number
from driftwise.environments.noises.base import Fitted, Noise, noise, unattainable
from driftwise.environments.path_preview import SLACK, PathPreview

__all__ = ["ScaledBernoulli"]


@noise("scaled-bernoulli")
@dataclass(frozen=True)
class ScaledBernoulli(Fitted):
    """Losses `low` or `high`, with the path's means.

    >>> means = np.array([[0.1, 0.3]])
    >>> ScaledBernoulli(low=0.1, high=0.3).draw(means, np.random.default_rng(0))
    array([[0.1, 0.3]])
    """

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        require_number(self, "high", lambda x: 0 < x <= 1, "in (0, 1]")
        require_number(self, "low", lambda x: 0 <= x < self.high, f"in [0, high = {self.high})")

    def moments(self, means: Matrix) -> tuple[Matrix, Matrix]:
        """Return the means and variances."""
        self._require_between(means)
        return means, np.maximum((means - self.low) * (self.high - means), 0.0)

    def draw(self, means: Matrix, generator: np.random.Generator) -> Matrix:
        """Return the losses; reject means outside the support."""
        self._require_between(means)
        chance = (means - self.low) / (self.high - self.low)
        return np.where(generator.random(means.shape) < chance, self.high, self.low)

    def fit(self, variance: float, rehearsal: PathPreview) -> Noise:
        """Return the noise with that total variance."""
        _, highest = rehearsal.span()
        tight = highest if highest > self.low else 1.0  # all means at `low`: nothing scatters, wherever `high` is
        least, most = (rehearsal.variance(replace(self, high=high)) for high in (tight, 1.0))
        if not least * (1 - SLACK) <= variance <= most * (1 + SLACK):
            raise unattainable(self, variance, least, most)
        share = (variance - least) / (most - least) if most > least else 0.0
        return replace(self, high=min(1.0, tight + share * (1.0 - tight)))

    def _require_between(self, means: Matrix) -> None:
        for mean in (means.min(), means.max()):
            if not self.low - SLACK <= mean <= self.high + SLACK:
                raise InvalidInput(
                    f"ScaledBernoulli: every mean must be in [low, high] = [{self.low}, {self.high}], got {mean}."
                )
