"""Forecasting models that forecast one step ahead from the past alone; they make the experts of the benchmarks.

Each takes a series `truths` (T,) without gaps and returns forecasts (T,): number t is made from `truths[:t]`, NaN where
the past is too short. A model with a part to fit takes `n_fit`: its parameters come from `truths[:n_fit]`, so its
forecasts before `n_fit` are NaN.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from statsmodels.tsa.api import ARIMA, AutoReg, ExponentialSmoothing, SimpleExpSmoothing

from driftwise.core.types import Vector

__all__ = [
    "arima",
    "autoregression",
    "average",
    "exponential",
    "filled",
    "holt_winters",
    "lagged",
    "regression",
    "same_season",
    "theta",
]


def filled(truths: Vector) -> Vector:
    """Return a series with each missing value replaced by the value before it; missing first values by 0."""
    known = np.maximum.accumulate(np.where(np.isnan(truths), -1, np.arange(len(truths))))
    return np.where(known < 0, 0.0, truths[known])


def _nothing(truths: Vector) -> Vector:
    return np.full(len(truths), np.nan)


def lagged(truths: Vector, lag: int) -> Vector:
    """Return the value `lag` rounds ago."""
    forecasts = _nothing(truths)
    forecasts[lag:] = truths[:-lag]
    return forecasts


def average(truths: Vector, window: int) -> Vector:
    """Return the mean of the last `window` values."""
    forecasts = _nothing(truths)
    forecasts[window:] = np.lib.stride_tricks.sliding_window_view(truths, window).mean(axis=1)[:-1]
    return forecasts


def same_season(truths: Vector, season: int, n_seasons: int) -> Vector:
    """Return the mean of the values 1, 2, ..., `n_seasons` seasons ago."""
    return np.mean([lagged(truths, season * (i + 1)) for i in range(n_seasons)], axis=0)


def exponential(truths: Vector, smoothing: float) -> Vector:
    """Return simple exponential smoothing with a fixed weight of the newest value."""
    model = SimpleExpSmoothing(truths, initialization_method="known", initial_level=truths[0])
    forecasts = model.fit(smoothing_level=smoothing, optimized=False).fittedvalues
    forecasts[0] = np.nan  # the initial level is the first value
    return forecasts


def theta(truths: Vector, smoothing: float) -> Vector:
    """Return the Theta method: exponential smoothing plus half the slope of the line through all past values."""
    t = np.arange(1.0, len(truths) + 1)
    covariance = np.cumsum(t * truths) - t * (t + 1) / 2 * np.cumsum(truths) / t
    slopes = _nothing(truths)
    slopes[2:] = (covariance / (t * (t * t - 1) / 12 + (t == 1)))[1:-1]
    return exponential(truths, smoothing) + slopes / 2 * (1 - (1 - smoothing) ** (t - 1)) / smoothing


def holt_winters(truths: Vector, season: int, n_fit: int, trend: bool = False) -> Vector:
    """Return additive Holt-Winters smoothing; its weights and initial values fit the first `n_fit` values."""
    shape = {"seasonal": "add" if season > 1 else None, "seasonal_periods": season if season > 1 else None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not every fit meets the optimiser's tolerance
        fit = ExponentialSmoothing(
            truths[:n_fit], trend="add" if trend else None, initialization_method="estimated", **shape
        ).fit()
    found = fit.params
    model = ExponentialSmoothing(
        truths,
        trend="add" if trend else None,
        initialization_method="known",
        initial_level=found["initial_level"],
        initial_trend=found["initial_trend"] if trend else None,
        initial_seasonal=found["initial_seasons"] if season > 1 else None,
        **shape,
    )
    weights = {
        "smoothing_level": found["smoothing_level"],
        "smoothing_trend": found["smoothing_trend"] if trend else None,
        "smoothing_seasonal": found["smoothing_seasonal"] if season > 1 else None,
    }
    return _after(n_fit, model.fit(**weights, optimized=False).fittedvalues)


def _after(n_fit: int, forecasts: Vector) -> Vector:
    """Return forecasts without those of rounds that the parameters were fitted to."""
    kept = np.array(forecasts, dtype=np.float64)
    kept[:n_fit] = np.nan
    return kept


def autoregression(truths: Vector, lags: Sequence[int], n_fit: int) -> Vector:
    """Return a linear function of some past values, fitted to the first `n_fit` values."""
    parameters = AutoReg(truths[:n_fit], lags=list(lags)).fit().params
    past = np.column_stack([lagged(truths, lag) for lag in lags])
    return _after(n_fit, parameters[0] + past @ parameters[1:])


def arima(truths: Vector, order: tuple[int, int, int], n_fit: int) -> Vector:
    """Return an ARIMA model fitted to the first `n_fit` values, then filtered over all."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not every fit meets the optimiser's tolerance
        fit = ARIMA(truths[:n_fit], order=order).fit()
    return _after(n_fit, fit.apply(truths).predict())


def regression(truths: Vector, lags: Sequence[int], window: int) -> Vector:
    """Return a linear function of some past values, fitted anew in every round to the last `window` rounds."""
    first = max(lags)
    inputs = np.column_stack([np.ones(len(truths)), *(lagged(truths, lag) for lag in lags)])[first:]
    products = inputs[:, :, None] * inputs[:, None, :]
    responses = inputs * truths[first:, None]
    forecasts, ridge = _nothing(truths), 1e-8 * np.nanmean(inputs[:window] ** 2)
    sums = np.lib.stride_tricks.sliding_window_view
    grams = sums(products, window, axis=0)[:-1].sum(axis=-1) + ridge * np.eye(inputs.shape[1])
    targets = sums(responses, window, axis=0)[:-1].sum(axis=-1)
    coefficients = np.linalg.solve(grams, targets[:, :, None])[:, :, 0]
    forecasts[first + window :] = np.einsum("ti,ti->t", coefficients, inputs[window:])
    return forecasts
