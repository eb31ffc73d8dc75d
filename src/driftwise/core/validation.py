"""The gate: constructors and borders check their input here, once, and everything behind trusts it."""

from __future__ import annotations

import decimal
import math
import numbers
import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from driftwise.core.errors import InvalidInput, rejection
from driftwise.core.kernel import kernel
from driftwise.core.types import Matrix, Vector

__all__ = [
    "LOSS_KINDS",
    "MOST",
    "as_losses",
    "as_real",
    "check_seed",
    "count",
    "first_bad_loss",
    "number",
    "require",
    "require_choice",
    "require_count",
    "require_number",
]

_MOST_BITS, _SEED_BITS = 62, 1024
LOSS_KINDS = "fiub"  # of NumPy's types: real numbers, and truth values, which are losses of 0 and 1
MOST = 2**_MOST_BITS  # of whatever is counted: kernels count in 64 bits, and twice as many still fit


def require(owner: object, name: str, holds: bool, rule: str, hint: str = "") -> None:
    """Reject `owner` unless the rule about its attribute `name` holds."""
    if not holds:
        raise rejection(owner, name, rule, getattr(owner, name), hint)


def require_number(owner: object, name: str, test: Callable[[float], bool], rule: str) -> None:
    """Check a real-valued field of a frozen dataclass and store it as a `float`."""
    object.__setattr__(owner, name, number(owner, name, getattr(owner, name), test, rule))


def require_count(owner: object, name: str, at_least: int = 1, most_bits: int = _MOST_BITS) -> None:
    """Check a whole-number field of a frozen dataclass and store it as an `int`."""
    object.__setattr__(owner, name, count(owner, name, getattr(owner, name), at_least, most_bits))


def require_choice(owner: object, name: str, choices: Sequence[str]) -> None:
    """Check a field that names one of a few ways."""
    value = getattr(owner, name)
    rule = "one of " + ", ".join(repr(choice) for choice in choices)
    require(owner, name, isinstance(value, str) and value in choices, rule)


def as_real(value: Any) -> float | None:
    """Return a Python or NumPy number, a fraction or a decimal as a `float`, None for whatever else.

    >>> from fractions import Fraction
    >>> [as_real(value) for value in (Fraction(1, 4), 10**400, True, "1")]
    [0.25, inf, None, None]
    """
    if isinstance(value, bool) or not isinstance(value, (float, int, numbers.Real, decimal.Decimal)):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]
    except ValueError:  # a signalling NaN
        return math.nan


def number(owner: object, name: str, value: Any, test: Callable[[float], bool], rule: str) -> float:
    """Check a real-valued argument."""
    real = as_real(value)
    if real is None or math.isnan(real) or not test(real):
        raise rejection(owner, name, rule, value)
    if math.isinf(real) and value != real:  # infinity would do, but that is not what was given
        raise rejection(owner, name, f"{rule} and at most {sys.float_info.max:.4g}", value)
    return real


def count(owner: object, name: str, value: Any, at_least: int = 1, most_bits: int = _MOST_BITS) -> int:
    """Check a whole-number argument."""
    n = _whole(value)
    if n is None or n < at_least:
        raise rejection(owner, name, f"a whole number >= {at_least}", value)
    if n > 1 << most_bits:
        raise rejection(owner, name, f"a whole number in [{at_least}, 2^{most_bits}]", value)
    return n


def check_seed(owner: object, seed: Any) -> int:
    """Check a seed: a whole number, not negative, of so few bits that seeding takes no time."""
    n = _whole(seed)
    if n is None or n < 0:
        raise rejection(owner, "seed", "a whole number >= 0", seed)
    if n.bit_length() > _SEED_BITS:
        raise rejection(owner, "seed", f"a whole number in [0, 2^{_SEED_BITS})", seed)
    return n


def _whole(value: Any) -> int | None:
    """Return a whole number as an `int`, None for whatever else; an array of many numbers only looks like one."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


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
    try:
        array = values if isinstance(values, np.ndarray) else np.asarray(values)
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
    if array.dtype.kind not in LOSS_KINDS:
        raise rejection(owner, name, "an array of real numbers", array.dtype.name)
    with np.errstate(over="ignore"):  # a wider float that does not fit becomes infinite, and is no loss
        if isinstance(array, np.ma.MaskedArray):
            array = np.ma.filled(array.astype(np.float64), np.nan)
        return np.require(array, dtype=np.float64, requirements=["C", "W", "A", "E"])
