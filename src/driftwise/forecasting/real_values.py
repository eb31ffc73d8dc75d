"""One value that a user passes, as a `float`: a forecast or a truth.

Missing is NaN: None, NaN, NaT, pandas' NA, NumPy's masked constant, Arrow's null. Numbers are Python's and NumPy's,
fractions, decimals, and scalars of other libraries that have `item` or `as_py`. Booleans are 0 and 1, as truths of the
log loss often are. Text is refused, even if it reads as a number, and so are arrays of one number.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from driftwise.core.errors import rejection
from driftwise.core.kernel import kernel
from driftwise.core.types import Vector
from driftwise.core.validation import as_real

__all__ = ["LARGEST", "REAL_VALUE", "as_truth", "first_too_large", "library", "real_value"]

LARGEST = 1e100  # squares of differences and their sums over many rounds stay far below the largest float
REAL_VALUE = f"a finite number of at most {LARGEST:g} in absolute value"
_MISSING_TYPES = ("NAType", "NaTType")
_IF_MISSING = "A missing {} is None or NaN."


@kernel
def first_too_large(values: Vector) -> int:
    """Return the index of the first value that is infinite or above 1e100 in absolute value, or -1. NaN is missing."""
    for k in range(values.size):
        if values[k] > LARGEST or values[k] < -LARGEST:
            return k
    return -1


def library(value: object) -> str:
    """Return the package of an object's class, for example "pandas", without importing it."""
    return type(value).__module__.partition(".")[0]


def real_value(value: Any) -> float | None:
    """Return one value as a `float`, NaN if it is missing, None if it is no number.

    >>> from decimal import Decimal
    >>> [real_value(value) for value in (2, True, Decimal("0.5"), None, "2", [2])]
    [2.0, 1.0, 0.5, nan, None, None]
    """
    if value is None or value is np.ma.masked:
        return math.nan
    if isinstance(value, (bool, np.bool_)):
        return float(value)
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return math.nan if np.isnat(value) else None
    real = as_real(value)
    if real is not None:
        return real
    if type(value).__name__ in _MISSING_TYPES and library(value) == "pandas":
        return math.nan
    if library(value) == "pyarrow" and hasattr(value, "as_py"):
        return real_value(value.as_py())
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        inner = value.item()
        return None if isinstance(inner, type(value)) else real_value(inner)
    return None


def as_truth(owner: object, value: Any) -> float:
    """Return a truth as a `float`, NaN if it is missing."""
    truth = value if type(value) is float else real_value(value)
    if truth is None:
        is_array = getattr(value, "shape", None) == (1,)
        hint = "Take its element." if is_array else _IF_MISSING.format("truth")
        raise rejection(owner, "truth", "a number", value, hint)
    if abs(truth) > LARGEST:
        raise rejection(owner, "truth", REAL_VALUE, value, _IF_MISSING.format("truth"))
    return truth
