"""What all noises share: their base classes and registry, the noise that adds nothing, and an exact total variance.

A noise gives the distribution of the losses around the means of a path.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from driftwise.core.errors import InvalidInput, rejection
from driftwise.core.types import Matrix
from driftwise.core.validation import require_number
from driftwise.registry import Registered, Registry, to_spec

if TYPE_CHECKING:
    from driftwise.environments.paths.path import PathPreview


class Noise(Registered, ABC):
    """Base class of noises: a distribution on [0, 1] for each mean of the path."""

    @abstractmethod
    def moments(self, means: Matrix) -> tuple[Matrix, Matrix]:
        """Return the actual means and the variances of the losses where the path has the means `means`."""

    @abstractmethod
    def draw(self, means: Matrix, generator: np.random.Generator) -> Matrix:
        """Return losses in [0, 1] as a new array; drawn entry by entry, they do not depend on the block size."""

    def settle(self, preview: PathPreview) -> Noise:  # noqa: ARG002
        """Return the noise of one run, given a preview of its path."""
        return self

    def to_spec(self) -> dict[str, Any]:
        """Return the plain values that `noises.build` turns back into an equal noise."""
        return to_spec(self)


class Fitted(Noise):
    """Base class of noises with a free parameter that can be solved for a total variance."""

    @abstractmethod
    def fit(self, variance: float, preview: PathPreview) -> Noise:
        """Return this noise with the parameter for which the total variance of the run is exactly `variance`."""

    def with_variance(self, variance: float) -> WithVariance:
        """Return this noise with its parameter solved in each run, so that Lambda is exactly `variance`."""
        return WithVariance(self, variance)


noises: Registry[Noise] = Registry("noise")
N = TypeVar("N", bound=type[Noise])


def noise(name: str) -> Callable[[N], N]:
    """Register a noise under `name`."""
    return lambda member: noises.add(name, member)


def as_noise(owner: object, value: object) -> Noise:
    """Return a noise, given as itself or as its spec."""
    if isinstance(value, Mapping):
        return noises.build(value)
    if not isinstance(value, Noise):
        raise rejection(owner, "noise", "a noise or its spec", value)
    return value


def unattainable_variance(owner: Noise, variance: float, least: float, most: float) -> InvalidInput:
    """Return the error for a total variance that a noise cannot have on a path."""
    rule = f"in [{least}, {most}] for {type(owner).__name__} on this path"
    return rejection("WithVariance", "variance", rule, variance)


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
