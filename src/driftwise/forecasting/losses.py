r"""Losses of a forecast $f$ when the truth is $y$, with their derivatives with respect to the forecast.

==============  ==================================================  =====================================
name            loss                                                derivative
==============  ==================================================  =====================================
`square`        $(f - y)^2$                                         $2 (f - y)$
`absolute`      $|f - y|$                                           $\operatorname{sign}(f - y)$
`percentage`    $|f - y| / |y|$                                     $\operatorname{sign}(f - y) / |y|$
`pinball:q`     $q\,(y - f)_+ + (1 - q)\,(f - y)_+$                 $1 - q$ above the truth, $-q$ below
`log`           $-y \ln f - (1 - y) \ln(1 - f)$, $y \in \{0, 1\}$   $(f - y) / (f (1 - f))$
==============  ==================================================  =====================================

`mse`, `mae` and `mape` are other names of `square`, `absolute` and `percentage`.

All are convex in the forecast, but for the end of `log` that is described below. A derivative is 0 where the forecast
equals the truth, but not that of `log`.

Infinite losses. The percentage of a truth of 0 is not finite: such a round is skipped, as if its truth were missing.
The log loss uses $\min(\max(f, \varepsilon), 1 - \varepsilon)$ with $\varepsilon = 10^{-12}$ in place of $f$, so that a
forecast of 0 or 1 that is wrong has the loss 27.6. Within $\varepsilon$ of the wrong value it is constant and so not
convex: a round in which a comparator forecasts that adds at most 1 to the bound on the regret against it. A loss of the
user that is not finite skips the round, too.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from driftwise.core.errors import InvalidInput, KernelError, UnknownName, one_line, rejection, shown
from driftwise.core.kernel import clone, generic_kernel, unbound
from driftwise.core.types import Vector
from driftwise.core.validation import require_number
from driftwise.learners.base.kernel_diagnosis import CompilerError, first_line

Kernel = Callable[..., Any]
Array = np.ndarray[Any, Any]
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

_OTHER_NAMES = {"mae": "absolute", "mape": "percentage", "mse": "square"}


FUNCTION: Kernel = unbound


@dataclass(frozen=True)
class ForecastLoss:
    """A loss of forecasts: its value and its derivative with respect to the forecast.

    Parameters
    ----------
    name : str
        One of "square", "absolute", "percentage", "pinball" and "log", or a name for a loss of your own.
    value : callable, default None
        For a loss of your own: `value(forecast, truth)`, a function of two numbers that Numba can compile.
    slope : callable, default None
        For a loss of your own: its derivative with respect to the forecast, `slope(forecast, truth)`.
    level : float, default 0.5
        Of the pinball loss: the probability of the quantile, in (0, 1).

    Examples
    --------
    >>> import math
    >>> def value(forecast, truth):
    ...     return math.log(math.cosh(forecast - truth))
    >>> def slope(forecast, truth):
    ...     return math.tanh(forecast - truth)
    >>> log_cosh = ForecastLoss("log-cosh", value, slope)
    >>> log_cosh.values([1.0, 2.0], 1.0)
    array([0.        , 0.4337...])
    """

    name: str
    value: Callable[[float, float], float] | None = None
    slope: Callable[[float, float], float] | None = None
    level: float = 0.5

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name or one_line(self.name) != self.name:
            raise rejection(self, "name", "a text on one line", self.name)
        is_built_in = self.name in KERNELS
        if is_built_in and (self.value is not None or self.slope is not None):
            raise InvalidInput(f"ForecastLoss: {self.name!r} has its own functions; give yours another name.")
        if not is_built_in and self.value is None and self.slope is None:
            raise UnknownName("forecast loss", self.name, KERNELS)
        if not is_built_in and not (callable(self.value) and callable(self.slope)):
            rule = "needs both `value` and `slope`, functions of two numbers"
            raise InvalidInput(f"ForecastLoss: a loss of your own {rule}.")
        require_number(self, "level", lambda x: 0 < x < 1, "in (0, 1)")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.name, self.value, self.slope, self.level)  # without what was compiled

    def __str__(self) -> str:
        return f"pinball({self.level:g})" if self.name == "pinball" else self.name

    @property
    def text(self) -> str:
        """The text from which `forecast_loss` makes it, such as "pinball:0.9"; a loss of the user has none."""
        if self.value is not None:
            kind = "a function of your own, which cannot be written to a file"
            raise InvalidInput(f"ForecastLoss: {self.name!r} is {kind}.")
        return f"pinball:{self.level!r}" if self.name == "pinball" else self.name

    @property
    def of_probabilities(self) -> bool:
        """Whether forecasts must be in [0, 1], and truths 0 or 1."""
        return self.name == "log"

    @functools.cached_property
    def kernels(self) -> tuple[Kernel, Kernel]:
        """The compiled value and derivative: functions of the forecast, the truth and the level."""
        if self.value is None or self.slope is None:
            return KERNELS[self.name]
        return _of_the_user(self.name, self.value), _of_the_user(self.name, self.slope)

    def values(self, forecasts: Any, truths: Any) -> Array:
        """Return the losses of forecasts, with NumPy's broadcasting; NaN where a forecast or a truth is missing."""
        return self._evaluated(_loop(self.name, self.kernels[0]), forecasts, truths)

    def slopes(self, forecasts: Any, truths: Any) -> Array:
        """Return the derivatives with respect to the forecasts, with NumPy's broadcasting."""
        return self._evaluated(_loop(f"{self.name}-slopes", self.kernels[1]), forecasts, truths)

    def _evaluated(self, loop: Kernel, forecasts: object, truths: object) -> Array:
        both = np.broadcast_arrays(np.asarray(forecasts, np.float64), np.asarray(truths, np.float64))
        flat = [np.array(values).reshape(-1) for values in both]
        losses = np.empty(flat[0].size)
        try:
            loop(*flat, self.level, losses)
        except (CompilerError, TypeError, ValueError) as error:
            raise KernelError(f"ForecastLoss {self.name!r}: {first_line(str(error))}") from error
        return losses.reshape(both[0].shape)

    def compile(self) -> None:
        """Compile a loss of the user, so that its errors are raised now and name it."""
        if self.value is not None:
            self.values(0.5, 0.5)
            self.slopes(0.5, 0.5)

    def forecast_fault(self, values: Any) -> str:
        """Return the rule that some forecasts break, or ''; missing ones break none."""
        if not self.of_probabilities:  # of a live round
            return ""
        return self._fault(values, lambda array: (array >= 0) & (array <= 1), "in [0, 1]")

    def truth_fault(self, values: Any) -> str:
        """Return the rule that some truths break, or ''; missing ones break none."""
        if not self.of_probabilities:
            return ""
        return self._fault(values, lambda array: (array == 0) | (array == 1), "0 or 1")

    def _fault(self, values: object, holds: Callable[[Array], Array], rule: str) -> str:
        array = np.asarray(values, np.float64)
        return "" if (holds(array) | np.isnan(array)).all() else f"{rule} for the log loss"


def forecast_loss(loss: str | ForecastLoss) -> ForecastLoss:
    """Return a loss by its name; "pinball:0.9" is that of the quantile 0.9, "mse" is "square".

    >>> forecast_loss("pinball:0.9").values(0.0, [1.0, -1.0])
    array([0.9, 0.1])
    """
    if isinstance(loss, ForecastLoss):
        return loss
    if not isinstance(loss, str):
        raise rejection("forecast_loss", "loss", f"one of {', '.join(KERNELS)} or a ForecastLoss", loss)
    name, _, level = loss.partition(":")
    name = _OTHER_NAMES.get(name, name)
    if name not in KERNELS:
        raise UnknownName("forecast loss", name, [*KERNELS, *_OTHER_NAMES])
    if name != "pinball":
        if level:
            raise InvalidInput(f"forecast_loss: only pinball has a level, got {shown(loss)}.")
        return ForecastLoss(name)
    if not level:
        raise InvalidInput("forecast_loss: pinball needs the probability of its quantile, such as 'pinball:0.9'.")
    try:
        quantile = float(level)
    except ValueError:
        rule = "the level of pinball must be a number in (0, 1)"
        raise InvalidInput(f"forecast_loss: {rule}, got {shown(level)}.") from None
    return ForecastLoss(name, level=quantile)


def _of_the_user(name: str, function: Callable[[float, float], float]) -> Kernel:
    try:
        return clone(_without_level, name, FUNCTION=generic_kernel(_copied(function)))
    except Exception as error:
        raise KernelError(f"ForecastLoss: {name!r} cannot be compiled: {one_line(str(error))}") from error


def _copied(function: Kernel) -> Kernel:
    """Return a copy of a function, or of that compiled by Numba: compiling it changes its name."""
    plain = getattr(function, "py_func", function)
    copy = FunctionType(plain.__code__, plain.__globals__, plain.__name__, plain.__defaults__, plain.__closure__)
    return functools.update_wrapper(copy, plain)


def _without_level(forecast: float, truth: float, level: float) -> float:
    return float(FUNCTION(forecast, truth))


@functools.cache
def _loop(name: str, function: Kernel) -> Kernel:
    return clone(_evaluate, name, (), FUNCTION=function)


def _evaluate(forecasts: Vector, truths: Vector, level: float, values: Vector) -> None:
    for i in range(values.size):
        if math.isnan(forecasts[i]) or math.isnan(truths[i]):
            values[i] = math.nan
        else:
            values[i] = FUNCTION(forecasts[i], truths[i], level)
