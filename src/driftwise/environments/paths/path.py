"""Base classes and registry of paths. A path gives the means of each round, before noise is added."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from driftwise.core.errors import InvalidInput, rejection
from driftwise.core.types import Actions, Matrix
from driftwise.registry import Registered, Registry, to_spec

if TYPE_CHECKING:
    from driftwise.environments.paths.with_drift import WithDrift

__all__ = ["MeanStream", "Path", "as_means", "as_means_table", "as_path", "path", "paths"]


class MeanStream(ABC):
    """The means of one run, returned in order."""

    @abstractmethod
    def fill(self, means: Matrix) -> None:
        """Write the means of the next `len(means)` rounds into a contiguous block."""

    def constant_stretches(self, n: int) -> tuple[Matrix, Actions] | None:  # noqa: ARG002
        """Return the means of the next `n` rounds as rows, and the number of rounds of each row.

        Return None, without advancing the stream, if the path is not piecewise constant.
        """
        return None


class Path(Registered, ABC):
    """Base class of paths: the parameters of a sequence of means. Nothing is drawn before `start`."""

    n_actions: int

    @abstractmethod
    def start(self, n_rounds: int, generator: np.random.Generator) -> MeanStream:
        """Return the means of a run of `n_rounds`; all random numbers come from `generator`."""

    def with_drift(self, drift: float, around: float = 0.5) -> WithDrift:
        """Return this path, scaled around the level `around` so that its drift V is exactly `drift`."""
        from driftwise.environments.paths.with_drift import WithDrift

        return WithDrift(self, drift, around)

    def to_spec(self) -> dict[str, Any]:
        """Return the plain values that `paths.build` turns back into an equal path."""
        spec = to_spec(self)
        return {key: value.to_spec() if isinstance(value, Path) else value for key, value in spec.items()}


paths: Registry[Path] = Registry("path")
P = TypeVar("P", bound=type[Path])


def path(name: str) -> Callable[[P], P]:
    """Register a path under `name`."""

    def register(member: P) -> P:
        member.name = name
        paths.add(name, member)
        return member

    return register


def as_path(owner: object, value: Any) -> Path:
    """Return a path, given as itself or as its spec."""
    if isinstance(value, Mapping):
        return paths.build(value)
    if not isinstance(value, Path):
        raise rejection(owner, "path", "a path or its spec", value)
    return value


def as_means(owner: object, name: str, values: Any) -> tuple[float, ...]:
    """Check the means of one round and return them as a tuple of floats."""
    return tuple(_in_unit(owner, name, values, 1, "one number in [0, 1] per action").tolist())


def as_means_table(owner: object, name: str, values: Any) -> tuple[tuple[float, ...], ...]:
    """Check a table of means and return it as tuples of floats."""
    rule = "rows of equal length, one number in [0, 1] per action"
    return tuple(map(tuple, _in_unit(owner, name, values, 2, rule).tolist()))


def _in_unit(owner: object, name: str, values: Any, n_axes: int, rule: str) -> Matrix:
    try:
        array = np.asarray(values)
    except ValueError:
        raise rejection(owner, name, rule, values, "Are its rows of one length?") from None
    if array.ndim != n_axes or array.size == 0 or array.dtype.kind not in "fiu":
        raise rejection(owner, name, rule, values)
    outside = np.argwhere(~((array >= 0) & (array <= 1)))
    if len(outside):
        where = ", ".join(f"{axis} {i}" for axis, i in zip(("row", "action")[-n_axes:], outside[0], strict=True))
        got = float(array[tuple(outside[0])])
        raise InvalidInput(f"{type(owner).__name__}: `{name}` must be in [0, 1], got {got} at {where}.")
    return array.astype(np.float64)
