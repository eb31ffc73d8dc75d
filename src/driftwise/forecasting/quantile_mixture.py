"""Mixtures of quantile forecasts: one for each quantile, sorted where they would cross."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from driftwise.core.errors import InvalidInput, rejection
from driftwise.core.types import Vector
from driftwise.core.validation import number
from driftwise.forecasting.forecast_columns import predict_all, split_forecasts
from driftwise.forecasting.losses import ForecastLoss
from driftwise.forecasting.mixture import Mixture
from driftwise.learners.contract import ExpertLearner

__all__ = ["QuantileMixture"]


class QuantileMixture:
    """Combine forecasts of several quantiles, each with its own mixture under its pinball loss.

    Forecasts of a round are an array of shape (n_experts, n_quantiles), or a dict from the name of an expert to its
    values, a list or an array in the order of `quantiles`; NaN or None is a missing value, and an absent name a missing
    expert. The combined quantiles are returned in the same order. Mixtures with different weights may cross, that is,
    give a lower value for a higher quantile; then the values are sorted, which never increases the total pinball loss.

    Parameters
    ----------
    quantiles : sequence of float
        Probabilities in (0, 1), increasing.
    experts : int or sequence of str, default None
        The number of experts, or their names. None: those of the first forecasts.
    learner : ExpertLearner, default None
        As of `Mixture`.

    Notes
    -----
    The other options are those of `Mixture`.

    Examples
    --------
    >>> mix = QuantileMixture([0.1, 0.9])
    >>> mix.predict({"a": [1.0, 3.0], "b": [2.0, 4.0]})
    array([1.5, 3.5])
    >>> mix.update(2.5)
    """

    def __init__(
        self,
        quantiles: Iterable[float],
        experts: int | Iterable[str] | None = None,
        *,
        learner: ExpertLearner | None = None,
        **options: Any,
    ) -> None:
        if not isinstance(quantiles, Iterable):
            raise rejection(self, "quantiles", "a sequence of probabilities", quantiles)
        levels = [number(self, "quantiles", level, lambda x: 0 < x < 1, "in (0, 1)") for level in quantiles]
        if not levels or sorted(set(levels)) != levels:
            raise rejection(self, "quantiles", "at least one probability, in increasing order", levels)
        if "loss" in options:
            raise InvalidInput("QuantileMixture: the loss of a quantile is its pinball loss.")
        experts = list(experts) if isinstance(experts, Iterable) and not isinstance(experts, str) else experts
        self.quantiles = tuple(levels)
        self.mixtures = tuple(
            Mixture(experts, loss=ForecastLoss("pinball", level=level), learner=learner, **options) for level in levels
        )

    def __repr__(self) -> str:
        return f"QuantileMixture({list(self.quantiles)}, {list(self.mixtures[0].experts)})"

    def predict(self, forecasts: Any, key: Hashable = None) -> Vector:
        """Return the combined quantiles of a round, in increasing order; see `Mixture.predict`."""
        columns = split_forecasts(self, forecasts, self.mixtures[0].experts, len(self.quantiles))
        return np.sort(predict_all((mix, column, key) for mix, column in zip(self.mixtures, columns, strict=True)))

    def update(self, truth: Any, key: Hashable = None) -> None:
        """Give the truth of a round; see `Mixture.update`."""
        for mix in self.mixtures:
            mix.update(truth, key)
