"""Base classes and registry of noises. A noise gives the distribution of the losses around the means of a path."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from driftwise.core.errors import InvalidInput, rejection
from driftwise.core.types import Matrix
from driftwise.registry import Registered, Registry, to_spec

if TYPE_CHECKING:
    from driftwise.environments.noises.with_variance import WithVariance
    from driftwise.environments.path_preview import PathPreview

__all__ = ["Fitted", "Noise", "as_noise", "noise", "noises", "unattainable_variance"]


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
        spec = to_spec(self)
        return {key: value.to_spec() if isinstance(value, Noise) else value for key, value in spec.items()}


class Fitted(Noise):
    """Base class of noises with a free parameter that can be solved for a total variance."""

    @abstractmethod
    def fit(self, variance: float, preview: PathPreview) -> Noise:
        """Return this noise with the parameter for which the total variance of the run is exactly `variance`."""

    def with_variance(self, variance: float) -> WithVariance:
        """Return this noise with its parameter solved in each run, so that Lambda is exactly `variance`."""
        from driftwise.environments.noises.with_variance import WithVariance

        return WithVariance(self, variance)


noises: Registry[Noise] = Registry("noise")
N = TypeVar("N", bound=type[Noise])


def noise(name: str) -> Callable[[N], N]:
    """Register a noise under `name`."""

    def register(member: N) -> N:
        member.name = name
        noises.add(name, member)
        return member

    return register


def as_noise(owner: object, value: Any) -> Noise:
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
