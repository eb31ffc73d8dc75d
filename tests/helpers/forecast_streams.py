"""Streams of forecasts and truths for the tests of mixtures."""

import numpy as np

from driftwise.forecasting.losses import KERNELS

LOSSES = ["pinball:0.8" if name == "pinball" else name for name in KERNELS]
MISSING = ("none", "some", "most", "blocks", "one", "truths")


def stream(loss, n_rounds, n_experts, missing="none", seed=0):
    """Return forecasts, (n_rounds, n_experts), and truths; NaN is missing. The best expert changes after a half."""
    rng = np.random.default_rng([seed, n_rounds, n_experts])
    if loss == "log":
        chance = 0.5 + 0.4 * np.sin(np.arange(n_rounds) / 7.0)
        truths = (rng.random(n_rounds) < chance).astype(float)
        forecasts = np.clip(chance[:, None] + rng.normal(0.0, 0.2, (n_rounds, n_experts)), 0.0, 1.0)
    else:
        truths = 10.0 + np.cumsum(rng.normal(0.0, 0.5, n_rounds))
        spread = 0.2 + rng.random(n_experts)
        errors = rng.normal(0.3, 1.0, (n_rounds, n_experts)) * np.where(
            np.arange(n_rounds)[:, None] < n_rounds // 2, spread, spread[::-1]
        )
        forecasts = truths[:, None] + errors
    return hide(forecasts, truths, missing, rng)


def hide(forecasts, truths, missing, rng):
    n_rounds, n_experts = forecasts.shape
    if missing in ("some", "truths"):
        forecasts[rng.random(forecasts.shape) < 0.2] = np.nan
    if missing == "most":
        forecasts[rng.random(forecasts.shape) < 0.7] = np.nan
    if missing == "blocks":  # experts join and leave, and in some rounds all sleep
        for k in range(n_experts):
            start, end = sorted(rng.integers(0, n_rounds, 2))
            forecasts[start:end, k] = np.nan
        forecasts[n_rounds // 3 : n_rounds // 3 + 3] = np.nan
    if missing == "one":
        forecasts[:, 0] = np.nan
    if missing == "truths":
        truths[rng.random(n_rounds) < 0.3] = np.nan
    return forecasts, truths


def bits(*arrays):
    """Return the bytes of some arrays, to compare them bit for bit."""
    return [np.asarray(array).tobytes() for array in arrays]
