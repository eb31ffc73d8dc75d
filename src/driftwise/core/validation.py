"""Validation of arguments. Constructors and entry points check their input here, once; all other code relies on it.

Arrays that cannot fit into memory are rejected before they are allocated: some operating systems grant more memory than
there is and end the process when it is used, others swap for hours.
"""

from __future__ import annotations

import decimal
import functools
import math
import numbers
import operator
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from driftwise.core.errors import InvalidInput, name_of, rejection
from driftwise.core.kernel import kernel
from driftwise.core.types import Matrix, Vector

_MAX_COUNT_BITS, _SEED_BITS = 62, 1024
LOSS_KINDS = "fiub"  # of NumPy's types: real numbers, and booleans, which are losses of 0 and 1
MAX_COUNT = 2**_MAX_COUNT_BITS  # kernels count in 64 bits, and twice this number still fits


def require(owner: object, name: str, holds: bool, rule: str, hint: str = "") -> None:
    """Reject `owner` unless the rule about its attribute `name` holds."""
    if not holds:
        raise rejection(owner, name, rule, getattr(owner, name), hint)


def require_number(owner: object, name: str, test: Callable[[float], bool], rule: str) -> None:
    """Check a real-valued field of a frozen dataclass and store it as a `float`."""
    object.__setattr__(owner, name, number(owner, name, getattr(owner, name), test, rule))


def require_count(owner: object, name: str, at_least: int = 1, most_bits: int = _MAX_COUNT_BITS) -> None:
    """Check a whole-number field of a frozen dataclass and store it as an `int`."""
    object.__setattr__(owner, name, count(owner, name, getattr(owner, name), at_least, most_bits))


def require_choice(owner: object, name: str, choices: Sequence[str]) -> None:
    """Check a field that must be one of a few strings."""
    value = getattr(owner, name)
    rule = "one of " + ", ".join(repr(choice) for choice in choices)
    require(owner, name, isinstance(value, str) and value in choices, rule)


Domain = Callable[[object, str], None]  # checks the parameter of an object that has this name
Domains = dict[str, Domain]  # of the parameters of a class, in the order of their checks


def reals(rule: str, test: Callable[[float], bool]) -> Domain:
    """Return the domain of the numbers that pass a test."""
    return functools.partial(require_number, test=test, rule=rule)


def interval(text: str) -> Domain:
    """Return the domain of the numbers in an interval such as "(0, 1]"."""
    low, high = map(float, text[1:-1].split(","))
    with_low, with_high = text[0] == "[", text[-1] == "]"
    return reals(f"in {text}", lambda x: low < x < high or (with_low and x == low) or (with_high and x == high))


def one_of(*choices: str) -> Domain:
    """Return the domain of these texts."""
    return functools.partial(require_choice, choices=choices)


def optional(domain: Domain) -> Domain:
    """Return a domain with None."""
    return lambda owner, name: None if getattr(owner, name) is None else domain(owner, name)


def flag(owner: object, name: str) -> None:
    """Check a parameter whose domain is the two truth values."""
    require(owner, name, isinstance(getattr(owner, name), bool), "True or False")


def at_least(least: int) -> Domain:
    """Return the domain of the whole numbers from `least` on."""
    return functools.partial(require_count, at_least=least)


def below(other: str) -> Domain:
    """Return the domain of the numbers from 0 to below another parameter."""

    def check(owner: object, name: str) -> None:
        top = getattr(owner, other)
        require_number(owner, name, lambda x: 0 <= x < top, f"in [0, {other} = {top})")

    return check


COUNT: Domain = require_count
POSITIVE = reals("a finite number > 0", lambda x: 0 < x < math.inf)
NOT_NEGATIVE = reals("a finite number >= 0", lambda x: 0 <= x < math.inf)


def as_real(value: Any) -> float | None:
    """Return a Python or NumPy number, a fraction or a decimal as a `float`, None for anything else.

    >>> from fractions import Fraction
    >>> [as_real(value) for value in (Fraction(1, 4), 10**400, True, "1")]
    [0.25, inf, None, None]
    """
    if isinstance(value, (bool, np.timedelta64)) or not isinstance(value, (float, int, numbers.Real, decimal.Decimal)):
        return None  # NumPy's durations are whole numbers by their class
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
    if math.isinf(real) and value != real:  # infinity is valid, but the given number is finite
        raise rejection(owner, name, f"{rule} and at most {sys.float_info.max:.4g}", value)
    return real


def count(owner: object, name: str, value: Any, at_least: int = 1, most_bits: int = _MAX_COUNT_BITS) -> int:
    """Check a whole-number argument."""
    n = _whole(value)
    if n is None or n < at_least:
        raise rejection(owner, name, f"a whole number >= {at_least}", value)
    if n > 1 << most_bits:
        raise rejection(owner, name, f"a whole number in [{at_least}, 2^{most_bits}]", value)
    return n


def check_seed(owner: object, seed: Any) -> int:
    """Check a seed: a whole number >= 0, of so few bits that seeding is fast."""
    n = _whole(seed)
    if n is None or n < 0:
        raise rejection(owner, "seed", "a whole number >= 0", seed)
    if n.bit_length() > _SEED_BITS:
        raise rejection(owner, "seed", f"a whole number in [0, 2^{_SEED_BITS})", seed)
    return n


def _whole(value: Any) -> int | None:
    """Return a whole number as an `int`, None for anything else, such as an array of several numbers."""
    try:
        return None if isinstance(value, (bool, np.bool_)) else operator.index(value)
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
    """Return array-like losses as a contiguous, writable float64 array of the given shape; values are not checked.

    Read-only and strided arrays are copied, because each layout would compile every kernel once more. Masked values
    count as missing.
    """
    if type(values) is np.ndarray and values.shape == shape and values.dtype == np.float64 and values.flags.carray:
        return values  # the fast path of live rounds
    try:
        array = values if isinstance(values, np.ndarray) else np.asarray(values)
    except ValueError:
        raise rejection(owner, name, "an array of numbers", values, "Are its rows of one length?") from None
    if array.ndim != len(shape) or any(want not in (None, have) for have, want in zip(array.shape, shape, strict=True)):
        wanted = str(shape).replace("None", "n_rounds")
        raise InvalidInput(f"{name_of(owner)}: `{name}` must have shape {wanted}, got {array.shape}.")
    if array.dtype.kind not in LOSS_KINDS:
        raise rejection(owner, name, "an array of real numbers", array.dtype.name)
    with np.errstate(over="ignore"):  # a wider float that overflows becomes infinite, which is rejected as a loss
        if isinstance(array, np.ma.MaskedArray):
            array = np.ma.filled(array.astype(np.float64), np.nan)
        return np.require(array, dtype=np.float64, requirements=["C", "W", "A", "E"])


@functools.cache
def memory_bytes() -> int:
    """Return the memory of this machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def check_memory(owner: object, name: str, got: object, n_bytes: int) -> None:
    """Reject a parameter whose arrays would take more than the memory of this machine."""
    if n_bytes > memory_bytes():
        rule = f"small enough for the memory of this machine, {_gigabytes(memory_bytes())}"
        raise rejection(owner, name, rule, got, f"It would take {_gigabytes(n_bytes)}.")


def _gigabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.3g} GB"
