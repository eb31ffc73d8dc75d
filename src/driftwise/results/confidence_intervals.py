"""Confidence intervals for means over runs."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from driftwise.core.errors import rejection

__all__ = ["Estimate", "estimate", "half_width"]


class Estimate(NamedTuple):
    """A mean over runs with its two-sided confidence interval.

    Parameters
    ----------
    mean : float
        The mean.
    low : float
        Lower end of the interval, NaN for a single run.
    high : float
        Upper end of the interval, NaN for a single run.

    Examples
    --------
    >>> mean, low, high = Estimate(mean=2.0, low=1.5, high=2.5)
    >>> high - low
    1.0
    """

    mean: float
    low: float
    high: float


def half_width(values: npt.NDArray[np.float64], confidence: float = 0.95) -> npt.NDArray[np.float64]:
    """Return half the width of Student's confidence interval for the mean over the first axis."""
    if not 0 < confidence < 1:
        raise rejection("half_width", "confidence", "in (0, 1)", confidence)
    n = len(values)
    if n < 2:
        return np.full(values.shape[1:], math.nan)
    quantile = special.stdtrit(n - 1, 0.5 + confidence / 2)
    spread: npt.NDArray[np.float64] = np.asarray(quantile * values.std(axis=0, ddof=1) / math.sqrt(n))
    return spread


def estimate(values: npt.NDArray[np.float64], confidence: float = 0.95) -> Estimate:
    """Return the mean of some values, one per run, and its confidence interval.

    >>> estimate(np.array([1.0, 2.0, 3.0]))
    Estimate(mean=2.0, low=-0.48..., high=4.48...)
    """
    mean, half = float(values.mean()), float(half_width(values, confidence))
    return Estimate(mean, mean - half, mean + half)
