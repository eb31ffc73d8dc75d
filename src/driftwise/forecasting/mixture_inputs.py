"""The state of a mixture beside that of its learner, the experts that it adds, and the rule for cutting wild values.

`driftwise.forecasting.mixture_kernels` has the formulas.
"""

from __future__ import annotations

import math
import sys
from typing import NamedTuple

from driftwise.core.kernel import generic_kernel
from driftwise.core.types import Actions, Vector
from driftwise.forecasting.labelled_values import LARGEST

__all__ = ["LARGEST_FLOAT", "LIMIT", "Own", "Settings", "accepts", "follow", "observe_error", "write_inputs"]

LIMIT = 16.0  # a value above this many times the largest one so far is cut
_DOUBLING = 2.0  # of the limit, with every value that is cut
_SHIFT = 2.0  # mean absolute errors by which the mean is shifted
LARGEST_FLOAT = sys.float_info.max


class Own(NamedTuple):
    """What a mixture keeps beside the memory of its learner."""

    plain: Vector  # the weights of the learner before a hint
    scale: Vector  # s, and the limit
    cut: Vector  # the sum of what was cut
    truth: Vector  # the last truth that was not cut; NaN before the first
    step: Vector  # the largest step of the last truth, and the limit
    error: Vector  # the largest absolute error of the mean of the experts, and the limit
    errors: Vector  # the sum of these errors, without those cut, their number, and the sum of the sizes of the mean
    counts: Actions


class Settings(NamedTuple):
    """The options of a mixture, as the kernels read them."""

    level: float  # of the pinball loss
    gradient: bool
    hint: int
    last_truth: bool  # whether the last truth is an expert
    scaled: bool  # whether the mean scaled down and up are experts
    shifted: bool  # whether the mean shifted down and up are experts
    scale: float  # the known largest range of the losses, 0 if it is not known


@generic_kernel
def accepts(value: float, largest: Vector) -> bool:
    """Return whether a value is at most the limit, and update the largest value and the limit."""
    if largest[0] > 0.0 and value > largest[1]:
        largest[1] = min(_DOUBLING * largest[1], LARGEST_FLOAT)
        return False
    largest[0] = max(largest[0], value)
    largest[1] = min(max(largest[1], LIMIT * largest[0]), LARGEST_FLOAT)
    return True


@generic_kernel
def _limited(value: float) -> float:
    """Return the nearest number that a forecast may be; NaN stays NaN."""
    return math.nan if math.isnan(value) else min(max(value, -LARGEST), LARGEST)


@generic_kernel
def write_inputs(own: Own, settings: Settings, forecasts: Vector, inputs: Vector) -> int:
    """Write the forecasts and those of the added experts, and return how many are awake."""
    n_awake, base, above = 0, 0.0, 0.0
    for k in range(forecasts.size):
        inputs[k] = forecasts[k]
        if not math.isnan(forecasts[k]):
            if n_awake == 0:
                base = forecasts[k]  # differences from it do not lose digits to a common level
            above += forecasts[k] - base
            n_awake += 1
    mean = base + above / n_awake if n_awake > 0 else math.nan
    end = forecasts.size
    if settings.last_truth:
        inputs[end] = own.truth[0]
        if not math.isnan(own.truth[0]):
            n_awake += 1
        end += 1
    known = not math.isnan(mean) and own.errors[1] > 0.0
    if settings.scaled:
        part = min(_SHIFT * own.errors[0] / own.errors[2], 1.0) if known and own.errors[2] > 0.0 else math.nan
        inputs[end] = _limited(mean - part * mean)
        inputs[end + 1] = _limited(mean + part * mean)
        if not math.isnan(part):
            n_awake += 2
        end += 2
    if settings.shifted:
        shift = _SHIFT * own.errors[0] / own.errors[1] if known else math.nan
        inputs[end] = _limited(mean - shift)
        inputs[end + 1] = _limited(mean + shift)
        if known:
            n_awake += 2
    return n_awake


@generic_kernel
def follow(own: Own, truth: float) -> None:
    """Replace the last truth, unless the step is cut."""
    if math.isnan(own.truth[0]):
        own.truth[0] = truth
        return
    if accepts(abs(truth - own.truth[0]), own.step):
        own.truth[0] = truth


@generic_kernel
def observe_error(own: Own, settings: Settings, inputs: Vector, truth: float) -> None:
    """Add the error of the mean of the experts to the sums that give shift and factor."""
    n_awake, above, total = 0, 0.0, 0.0
    for k in range(inputs.size - 2 * settings.scaled - 2 * settings.shifted - settings.last_truth):
        if not math.isnan(inputs[k]):
            above += inputs[k] - truth
            total += inputs[k]
            n_awake += 1
    if n_awake > 0 and accepts(abs(above / n_awake), own.error):
        own.errors[0] += abs(above / n_awake)
        own.errors[1] += 1.0
        own.errors[2] += abs(total / n_awake)
