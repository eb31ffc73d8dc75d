"""Noises with few possible losses: Bernoulli noise, with other values than 0 and 1, in some rounds only; two points."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from driftwise.core.errors import InvalidInput, rejection
from driftwise.core.types import Matrix, Vector
from driftwise.core.validation import Domains, as_real, below, interval
from driftwise.environments.noises.noise import Fitted, Noise, noise, unattainable_variance
from driftwise.environments.paths.path import TOLERANCE, PathPreview


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


@noise("scaled-bernoulli")
@dataclass(frozen=True)
class ScaledBernoulli(Fitted):
    r"""Scaled Bernoulli noise: losses with two possible values and the means of the path.

    The paper's lower bounds use it (Lemma 4.4, sigma1). `Bernoulli` is the case $a = 0$, $b = 1$.

    Parameters
    ----------
    low : float, default 0.0
        The smaller loss ($a$), in [0, high); 0 in the paper.
    high : float, default 1.0
        The larger loss ($b$), in (0, 1]; $2\sigma$ in the paper.

    Notes
    -----
    $$ \ell_{t,k} \in \{a, b\}, \qquad P(\ell_{t,k} = b) = \frac{\mu_{t,k} - a}{b - a}, \qquad
       \mathrm{Var} = (\mu_{t,k} - a)(b - \mu_{t,k}) . $$

    Means outside $[a, b]$ are rejected. `with_variance` chooses $b$, in which the total variance is linear.

    References
    ----------
    C.-Y. Wei, Y.-T. Hong, C.-J. Lu, "Tracking the best expert in non-stationary stochastic environments", NIPS (2016).

    Examples
    --------
    >>> means = np.array([[0.1, 0.3]])
    >>> ScaledBernoulli(low=0.1, high=0.3).draw(means, np.random.default_rng(0))
    array([[0.1, 0.3]])
    """

    low: float = 0.0
    high: float = 1.0

    _domains = Domains(high=interval("(0, 1]"), low=below("high"))

    def moments(self, means: Matrix) -> tuple[Matrix, Matrix]:
        """Return the means and variances of the losses."""
        self._require_between(means)
        return means, np.maximum((means - self.low) * (self.high - means), 0.0)

    def draw(self, means: Matrix, generator: np.random.Generator) -> Matrix:
        """Return the losses; reject means outside [low, high]."""
        self._require_between(means)
        chance = (means - self.low) / (self.high - self.low)
        return np.where(generator.random(means.shape) < chance, self.high, self.low)

    def fit(self, variance: float, preview: PathPreview) -> Noise:
        """Return the noise with the value of `high` that gives this total variance."""
        _, highest = preview.span()
        tight = highest if highest > self.low else 1.0  # if all means are `low`, the variance is 0 for any `high`
        least, most = (preview.variance(replace(self, high=high)) for high in (tight, 1.0))
        if not least * (1 - TOLERANCE) <= variance <= most * (1 + TOLERANCE):
            raise unattainable_variance(self, variance, least, most)
        share = (variance - least) / (most - least) if most > least else 0.0
        return replace(self, high=min(1.0, tight + share * (1.0 - tight)))

    def _require_between(self, means: Matrix) -> None:
        for mean in (means.min(), means.max()):
            if not self.low - TOLERANCE <= mean <= self.high + TOLERANCE:
                raise InvalidInput(
                    f"ScaledBernoulli: every mean must be in [low, high] = [{self.low}, {self.high}], got {mean}."
                )


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
        several = isinstance(self.shares, list | tuple) or np.shape(self.shares) != ()
        numbers = [as_real(value) for value in (self.shares if several else [self.shares])]
        if not numbers or not all(number is not None and 0 <= number <= 1 for number in numbers):
            raise rejection(self, "shares", "a number in [0, 1] or a sequence of them", self.shares)
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


@noise("two-point")
@dataclass(frozen=True)
class TwoPoint(Fitted):
    r"""Two-point noise: losses at equal distance above and below the mean.

    Parameters
    ----------
    scale : float, default 0.1
        Distance of the losses from the mean, and their standard deviation ($s$), in [0, 0.5].

    Notes
    -----
    $$ \ell_{t,k} = \mu_{t,k} \pm s, \quad \text{each with probability } 1/2, \qquad \Lambda = K T s^2 . $$

    The variance does not depend on the mean. Means outside $[s, 1 - s]$ are rejected.

    `with_variance` chooses $s$ so that a run has a given total variance.

    Examples
    --------
    >>> from driftwise.environments import Constant, Environment
    >>> environment = Environment(Constant((0.4, 0.6)), TwoPoint().with_variance(8.0))
    >>> round(environment.measures(n_rounds=100).variance, 9)
    8.0
    """

    scale: float = 0.1

    _domains = Domains(scale=interval("[0, 0.5]"))

    def moments(self, means: Matrix) -> tuple[Matrix, Matrix]:
        """Return the means and variances of the losses."""
        self._require_room(means)
        return means, np.full_like(means, self.scale * self.scale)

    def draw(self, means: Matrix, generator: np.random.Generator) -> Matrix:
        """Return the losses; reject means outside [scale, 1 - scale]."""
        self._require_room(means)
        losses = np.where(generator.random(means.shape) < 0.5, means - self.scale, means + self.scale)
        return np.clip(losses, 0.0, 1.0, out=losses)  # rounding may leave a loss slightly outside

    def fit(self, variance: float, preview: PathPreview) -> Noise:
        """Return the noise with the `scale` that gives this total variance."""
        lowest, highest = preview.span()
        widest = min(lowest, 1 - highest)
        entries = preview.n_rounds * preview.n_actions
        scale = math.sqrt(variance / entries)
        if scale > widest * (1 + TOLERANCE):
            raise unattainable_variance(self, variance, 0.0, entries * widest * widest)
        return replace(self, scale=min(scale, widest))

    def _require_room(self, means: Matrix) -> None:
        for mean in (means.min(), means.max()):
            if not self.scale - TOLERANCE <= mean <= 1 - self.scale + TOLERANCE:
                raise InvalidInput(
                    f"TwoPoint: `scale` must leave mean +- scale in [0, 1], got {self.scale} where the mean is {mean}."
                )
