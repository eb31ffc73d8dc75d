"""Mixtures of forecasts for several steps ahead: one for each number of steps."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from driftwise.core.errors import InvalidInput
from driftwise.core.types import Vector
from driftwise.core.validation import count
from driftwise.forecasting.forecast_columns import predict_all, split_forecasts
from driftwise.forecasting.mixture import Mixture

__all__ = ["StepMixture"]


class StepMixture:
    """Combine forecasts for the next 1, 2, ..., n steps, each with a mixture of its own.

    At each time call `predict` with the forecasts for the next n steps, made at that time: an array of shape
    (n_experts, n_steps), or a dict from the name of an expert to its values. Then call `update` with the next truth. It
    is the truth of the forecast made one step ago for one step ahead, of that made two steps ago for two ahead, and so
    on; each mixture learns from its own.

    Parameters
    ----------
    n_steps : int
        Number of steps ahead, >= 1.
    experts : int or sequence of str, default None
        The number of experts, or their names. None: those of the first forecasts.

    Notes
    -----
    The other options are those of `Mixture`.

    Examples
    --------
    >>> mix = StepMixture(2)
    >>> mix.predict({"a": [1.0, 1.0], "b": [3.0, 5.0]})
    array([2., 3.])
    >>> mix.update(1.2)
    >>> mix.mixtures[0].rounds, mix.mixtures[1].rounds
    (1, 0)
    """

    def __init__(self, n_steps: int, experts: int | Iterable[str] | None = None, **options: Any) -> None:
        n_steps = count(self, "n_steps", n_steps)
        experts = list(experts) if isinstance(experts, Iterable) and not isinstance(experts, str) else experts
        self.mixtures = tuple(Mixture(experts, **options) for _ in range(n_steps))
        self._now = 0  # truths so far
        self._predicted = False

    def __repr__(self) -> str:
        return f"StepMixture({len(self.mixtures)}, {list(self.mixtures[0].experts)}, rounds={self._now})"

    def predict(self, forecasts: Any) -> Vector:
        """Return the combined forecasts for the next steps."""
        columns = split_forecasts(self, forecasts, self.mixtures[0].experts, len(self.mixtures))
        found = predict_all(zip(self.mixtures, columns, itertools.count(self._now + 1), strict=False))
        self._predicted = True
        return found

    def update(self, truth: Any) -> None:
        """Give the next truth, None or NaN if it is missing."""
        if not self._predicted:
            raise InvalidInput("StepMixture: call `predict` before `update`.")
        arrived = self._now + 1
        for mix in self.mixtures:
            if arrived in mix.waiting:  # the first truths were forecast one step ahead only
                mix.update(truth, key=arrived)
        self._now, self._predicted = arrived, False
