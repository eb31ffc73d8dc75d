"""Logarithms of ratios that may overflow."""

from __future__ import annotations

import math

__all__ = ["log_ratio"]


def log_ratio(numerator: float, denominator: float) -> float:
    """Return ln(numerator / denominator) of positive numbers, also if the ratio overflows.

    >>> log_ratio(2.0, 5e-324) > 700
    True
    """
    ratio = numerator / denominator
    return math.log(ratio) if ratio < math.inf else math.log(numerator) - math.log(denominator)
