"""Statistics of regrets: confidence intervals, and fits of powers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from driftwise.core.errors import InvalidInput, rejection


class Estimate(NamedTuple):
    """A mean over runs with its two-sided confidence interval.

    Parameters
    ----------
    mean : float
        The mean.
    low : float
        Lower end of the interval, NaN for a single run and for runs that are all equal.
    high : float
        Upper end of the interval, NaN for a single run and for runs that are all equal.

    Examples
    --------
    >>> mean, low, high = Estimate(mean=2.0, low=1.5, high=2.5)
    >>> high - low
    1.0
    """

    mean: float
    low: float
    high: float


# For functions that compute with stored numbers: those of a forged file may be infinite, or overflow.
of_any_numbers = np.errstate(over="ignore", invalid="ignore")
_ROUNDING = 1e-9  # relative: another processor may round the same run differently


@of_any_numbers
def are_equal(values: npt.NDArray[np.float64]) -> bool:
    """Return whether all rows are equal, up to rounding."""
    return bool((np.ptp(values, axis=0) <= _ROUNDING * np.abs(values).max(initial=0.0)).all())


def check_confidence(owner: str, confidence: float) -> None:
    """Reject a level of confidence that is not between 0 and 1."""
    if not 0 < confidence < 1:
        raise rejection(owner, "confidence", "in (0, 1)", confidence)


def has_interval(values: npt.NDArray[np.float64]) -> bool:
    """Return whether the mean over the first axis has a confidence interval: there are two runs that differ."""
    return len(values) > 1 and not are_equal(values)


@of_any_numbers
def half_width(values: npt.NDArray[np.float64], confidence: float = 0.95) -> npt.NDArray[np.float64]:
    """Return half the width of Student's confidence interval for the mean over the first axis; NaN without one.

    A single run has no interval. Runs that are all equal have none: nothing in them is random, as where a learner
    without random draws plays a recording, and a width of 0 would claim that the mean is known exactly.
    """
    check_confidence("half_width", confidence)
    n = len(values)
    if not has_interval(values):
        return np.full(values.shape[1:], math.nan)
    quantile = special.stdtrit(n - 1, 0.5 + confidence / 2)
    return np.asarray(quantile * values.std(axis=0, ddof=1) / math.sqrt(n), np.float64)


@of_any_numbers
def estimate(values: npt.NDArray[np.float64], confidence: float = 0.95) -> Estimate:
    """Return the mean of some values, one per run, and its confidence interval.

    >>> estimate(np.array([1.0, 2.0, 3.0]))
    Estimate(mean=2.0, low=-0.48..., high=4.48...)
    """
    mean, half = float(values.mean()), float(half_width(values, confidence))
    return Estimate(mean, mean - half, mean + half)


_TINY = 1e-12  # replaces a resampled mean <= 0, which has no logarithm; the interval becomes wide


class Power(NamedTuple):
    """An exponent with its confidence interval; the ends are NaN for a single run and for runs that are all equal."""

    exponent: float
    low: float
    high: float


def fit_power(
    x: Sequence[float], samples: Sequence[npt.ArrayLike], confidence: float = 0.95, n_resamples: int = 2000
) -> Power:
    """Fit mean regret ~ x^exponent; `samples[i]` are the regrets of the runs at `x[i]`.

    The interval is SciPy's percentile bootstrap: runs are resampled, with replacement, within each x. It measures the
    noise of the runs, not how well a power fits the means: runs that are all equal have no interval. If a mean is not
    positive, all three numbers are NaN.

    >>> round(fit_power([1, 10, 100], [[2.0, 2.1], [20.0, 21.0], [200.0, 210.0]]).exponent, 6)
    1.0
    """
    if len(x) != len(samples) or len(x) < 2:
        raise InvalidInput(f"fit_power: `samples` must be as many as `x`, and at least 2, got {len(samples)}.")
    centred = np.log(np.asarray(x, np.float64))
    centred -= centred.mean()
    runs_at = [np.asarray(values, np.float64) for values in samples]
    means = np.array([values.mean() for values in runs_at])
    if not (means > 0).all():
        return Power(math.nan, math.nan, math.nan)
    slope = float(_slope(centred, means))
    if min(len(values) for values in runs_at) < 2 or not any(map(has_interval, runs_at)):
        return Power(slope, math.nan, math.nan)
    from scipy import stats  # takes half a second to import

    interval = stats.bootstrap(
        runs_at,
        lambda *resampled, axis: _slope(centred, np.stack([values.mean(axis=axis) for values in resampled], axis=-1)),
        n_resamples=n_resamples,
        confidence_level=confidence,
        method="percentile",
        vectorized=True,
        rng=np.random.default_rng(0),  # the same interval for the same runs
    ).confidence_interval
    return Power(slope, float(interval.low), float(interval.high))


def _slope(centred: npt.NDArray[np.float64], means: npt.NDArray[np.float64]) -> Any:
    return np.log(np.maximum(means, _TINY)) @ centred / (centred @ centred)
