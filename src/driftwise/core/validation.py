"""The gate: constructors and borders check their input here, once, and everything behind trusts it."""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from driftwise.core.errors import InvalidInput, rejection
from driftwise.core.kernel import kernel
from driftwise.core.types import Matrix, Vector

__all__ = [
    "as_losses",
    "check_seed",
    "count",
    "first_bad_loss",
    "require",
    "require_choice",
    "require_count",
    "require_number",
]


def require(owner: object, name: str, holds: bool, rule: str, hint: str = "") -> None:
    """Reject `owner` unless the rule about its attribute `name` holds."""
    if not holds:
        raise rejection(owner, name, rule, getattr(owner, name), hint)


def require_number(owner: object, name: str, test: Callable[[float], bool], rule: str) -> None:
    """Check a real-valued field of a frozen dataclass and store it as a `float`."""
    value = getattr(owner, name)
    good = isinstance(value, numbers.Real) and not isinstance(value, bool)
    require(owner, name, good and not math.isnan(value) and test(float(value)), rule)
    object.__setattr__(owner, name, float(value))


def require_count(owner: object, name: str, at_least: int = 1) -> None:
    """Check a whole-number field of a frozen dataclass and store it as an `int`."""
    value = getattr(owner, name)
    good = not isinstance(value, bool) and hasattr(value, "__index__")
    require(owner, name, good and operator.index(value) >= at_least, f"a whole number >= {at_least}")
    object.__setattr__(owner, name, operator.index(value))


def require_choice(owner: object, name: str, choices: Sequence[str]) -> None:
    """Check a field that names one of a few ways."""
    value = getattr(owner, name)
    rule = "one of " + ", ".join(repr(choice) for choice in choices)
    require(owner, name, isinstance(value, str) and value in choices, rule)


def count(owner: object, name: str, value: Any, at_least: int = 1) -> int:
    """Check a whole-number argument."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or operator.index(value) < at_least:
        raise rejection(owner, name, f"a whole number >= {at_least}", value)
    return operator.index(value)


def check_seed(owner: object, seed: Any) -> int:
    """Check a seed: a whole number, not negative."""
    return count(owner, "seed", seed, at_least=0)


@kernel
def first_bad_loss(losses: Vector) -> int:
    """Return the index of the first loss outside [0, 1] (NaN is outside), or -1."""
    for k in range(losses.size):
        if not 0.0 <= losses[k] <= 1.0:
            return k
    return -1


def as_losses(owner: object, values: Any, shape: tuple[int | None, ...], name: str = "losses") -> Matrix:
    """Turn array-like losses into a contiguous, writable float64 array of that shape, values unchecked.

    Read-only and strided layouts are copied: each would compile every kernel once more. What a mask hides is
    missing, not what lies under the mask.
    """
    if type(values) is np.ndarray and values.shape == shape and values.dtype == np.float64 and values.flags.carray:
        return values  # all is well already, and a live round is short
    if isinstance(values, np.ma.MaskedArray):
        array = np.ma.filled(values.astype(np.float64), np.nan)
    elif isinstance(values, np.ndarray):
        array = values
    else:
        try:
            array = np.asarray(values)
        except ValueError:
            raise rejection(owner, name, "an array of numbers", values, "Are its rows of one length?") from None
    if array.ndim != len(shape) or any(
        want is not None and have != want for have, want in zip(array.shape, shape, strict=True)
    ):
        wanted = "(" + ", ".join("n_rounds" if n is None else str(n) for n in shape)
        wanted += ",)" if len(shape) == 1 else ")"
        raise InvalidInput(
            f"{owner if isinstance(owner, str) else type(owner).__name__}: `{name}` must have shape {wanted},"
            f" got {array.shape}."
        )
    if array.dtype.kind not in "fiu":
        raise rejection(owner, name, "an array of real numbers", array.dtype.name)
    return np.require(array, dtype=np.float64, requirements=["C", "W", "A", "E"])
