"""The kernels of the built-in losses and of their derivatives; `driftwise.forecasting.losses` has the formulas."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from driftwise.core.kernel import generic_kernel

__all__ = ["KERNELS"]

Kernel = Callable[..., Any]
SURE = 1e-12  # distance of a probability from 0 and 1 in the log loss


@generic_kernel
def _square(forecast: float, truth: float, level: float) -> float:
    return (forecast - truth) * (forecast - truth)


@generic_kernel
def _square_slope(forecast: float, truth: float, level: float) -> float:
    return 2.0 * (forecast - truth)


@generic_kernel
def _absolute(forecast: float, truth: float, level: float) -> float:
    return abs(forecast - truth)


@generic_kernel
def _absolute_slope(forecast: float, truth: float, level: float) -> float:
    return 1.0 if forecast > truth else (-1.0 if forecast < truth else 0.0)


@generic_kernel
def _percentage(forecast: float, truth: float, level: float) -> float:
    return abs(forecast - truth) / abs(truth) if truth != 0.0 else math.inf


@generic_kernel
def _percentage_slope(forecast: float, truth: float, level: float) -> float:
    return _absolute_slope(forecast, truth, level) / abs(truth) if truth != 0.0 else math.inf


@generic_kernel
def _pinball(forecast: float, truth: float, level: float) -> float:
    return level * (truth - forecast) if truth > forecast else (1.0 - level) * (forecast - truth)


@generic_kernel
def _pinball_slope(forecast: float, truth: float, level: float) -> float:
    return 1.0 - level if forecast > truth else (-level if forecast < truth else 0.0)


@generic_kernel
def _log(forecast: float, truth: float, level: float) -> float:
    chance = min(max(forecast, SURE), 1.0 - SURE)
    return -math.log(chance) if truth > 0.5 else -math.log1p(-chance)


@generic_kernel
def _log_slope(forecast: float, truth: float, level: float) -> float:
    chance = min(max(forecast, SURE), 1.0 - SURE)
    return -1.0 / chance if truth > 0.5 else 1.0 / (1.0 - chance)


KERNELS: dict[str, tuple[Kernel, Kernel]] = {
    "square": (_square, _square_slope),
    "absolute": (_absolute, _absolute_slope),
    "percentage": (_percentage, _percentage_slope),
    "pinball": (_pinball, _pinball_slope),
    "log": (_log, _log_slope),
}
