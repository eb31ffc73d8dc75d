"""Several mixtures side by side: one for each quantile, and one for each step ahead."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set, Sized
from typing import Any

import numpy as np

from driftwise.core.errors import InvalidInput, rejection
from driftwise.core.fork_locks import fork_lock
from driftwise.core.types import Matrix, Vector
from driftwise.core.validation import check_memory, count, number
from driftwise.forecasting.combinations import Combinations
from driftwise.forecasting.labelled_values import as_forecasts
from driftwise.forecasting.losses import ForecastLoss
from driftwise.forecasting.mixture import Mixture, is_listing
from driftwise.learners.base import ExpertLearner


def predict_all(owner: object, mixtures: Sequence[Mixture], forecasts: object, keys: Iterable[Hashable]) -> Vector:
    """Return the forecasts of several mixtures, each with its column and key; all are checked before one changes."""
    names, n_columns = mixtures[0].experts, len(mixtures)
    if isinstance(forecasts, Mapping):
        rows = {name: _row(owner, f"forecasts[{name!r}]", value, n_columns) for name, value in forecasts.items()}
        columns: list[object] = [{name: row[i] for name, row in rows.items()} for i in range(n_columns)]
    else:
        table = _table(owner, forecasts, n_columns)
        columns = [np.ascontiguousarray(table[:, i]) for i in range(n_columns)]
    for column in columns if names else ():
        as_forecasts(owner, column, names)
    rounds = list(zip(mixtures, columns, keys, strict=False))
    for mix, column, key in rounds:
        mix.check_forecasts(column, key)
    return np.array([mix.predict(column, key) for mix, column, key in rounds])


def _row(owner: object, name: str, value: object, n_columns: int) -> list[object]:
    if value is None:
        return [None] * n_columns
    unordered = isinstance(value, Mapping | Set | str)
    if (
        unordered
        or getattr(value, "ndim", 1) != 1
        or not isinstance(value, Sized)
        or not isinstance(value, Iterable)
        or len(value) != n_columns
    ):
        raise rejection(owner, name, f"a list or an array of {n_columns} values", value)
    return list(value)  # by position, also of a pandas Series


def _table(owner: object, forecasts: object, n_columns: int) -> Matrix:
    if hasattr(forecasts, "columns"):  # a frame: which of its sides are the experts?
        raise InvalidInput(
            f"{type(owner).__name__}: `forecasts` must be an array of shape (n_experts, {n_columns}) or a dict from the"
            f" name of each expert to its values, got a {type(forecasts).__name__}."
        )
    try:
        table = np.asarray(forecasts, np.float64)
    except (TypeError, ValueError):
        raise rejection(owner, "forecasts", "an array of numbers or a dict by name", forecasts) from None
    if table.ndim != 2 or table.shape[1] != n_columns:
        rule = f"must have shape (n_experts, {n_columns})"
        raise InvalidInput(f"{type(owner).__name__}: `forecasts` {rule}, got {table.shape}.")
    return table


_MIXTURE_BYTES = 2000  # of one mixture, at least


class _Mixtures:
    """Several mixtures under one lock; a copy has arrays of its own."""

    mixtures: tuple[Mixture, ...]

    def __init__(self, mixtures: Iterable[Mixture]) -> None:
        self.mixtures = tuple(mixtures)
        self._lock = fork_lock()

    def __getstate__(self) -> dict[str, object]:
        with self._lock:
            values = {name: value for name, value in self.__dict__.items() if name != "_lock"}
            return {**values, "mixtures": tuple(map(copy.copy, self.mixtures))}

    def __setstate__(self, values: dict[str, object]) -> None:
        self.__dict__.update(values, _lock=fork_lock())


class QuantileMixture(_Mixtures):
    """Combine forecasts of several quantiles, each with its own mixture under its pinball loss.

    Forecasts of a round are an array of shape (n_experts, n_quantiles), or a dict from the name of an expert to its
    values, a list or an array in the order of `quantiles`; NaN or None is a missing value, and an absent name a missing
    expert. The combined quantiles are returned in the same order. Mixtures with different weights may cross, that is,
    give a lower value for a higher quantile; then the values are sorted, which never increases the total pinball loss.
    Threads may share it: its methods lock it.

    Parameters
    ----------
    quantiles : sequence of float
        Probabilities in (0, 1), increasing.
    experts : int or sequence of str, default None
        The number of experts, or their names. None: those of the first forecasts.
    learner : ExpertLearner or Combinations, default None
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
        learner: ExpertLearner | Combinations | None = None,
        **options: Any,
    ) -> None:
        if not is_listing(quantiles):
            raise rejection(self, "quantiles", "a sequence of probabilities", quantiles)
        levels = [number(self, "quantiles", level, lambda x: 0 < x < 1, "in (0, 1)") for level in quantiles]
        if not levels or sorted(set(levels)) != levels:
            raise rejection(self, "quantiles", "at least one probability, in increasing order", levels)
        if "loss" in options:
            raise InvalidInput("QuantileMixture: the loss of a quantile is its pinball loss.")
        experts = list(experts) if is_listing(experts) else experts  # type: ignore[arg-type]
        self.quantiles = tuple(levels)
        losses = (ForecastLoss("pinball", level=level) for level in levels)
        super().__init__(Mixture(experts, loss=loss, learner=learner, **options) for loss in losses)

    def __repr__(self) -> str:
        return f"QuantileMixture({list(self.quantiles)}, {list(self.mixtures[0].experts)})"

    def predict(self, forecasts: Any, key: Hashable = None) -> Vector:
        """Return the combined quantiles of a round, in increasing order; see `Mixture.predict`."""
        with self._lock:
            return np.sort(predict_all(self, self.mixtures, forecasts, itertools.repeat(key)))

    def update(self, truth: Any, key: Hashable = None) -> None:
        """Give the truth of a round; see `Mixture.update`."""
        with self._lock:
            for mix in self.mixtures:
                mix.update(truth, key)


class StepMixture(_Mixtures):
    """Combine forecasts for the next 1, 2, ..., n steps, each with a mixture of its own.

    At each time call `predict` with the forecasts for the next n steps, made at that time: an array of shape
    (n_experts, n_steps), or a dict from the name of an expert to its values. Then call `update` with the next truth. It
    is the truth of the forecast made one step ago for one step ahead, of that made two steps ago for two ahead, and so
    on; each mixture learns from its own. Threads may share it: its methods lock it.

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
        check_memory(self, "n_steps", n_steps, n_steps * _MIXTURE_BYTES)
        experts = list(experts) if is_listing(experts) else experts  # type: ignore[arg-type]
        super().__init__(Mixture(experts, **options) for _ in range(n_steps))
        self._now = 0  # truths so far
        self._predicted = False

    def __repr__(self) -> str:
        return f"StepMixture({len(self.mixtures)}, {list(self.mixtures[0].experts)}, rounds={self._now})"

    def predict(self, forecasts: Any) -> Vector:
        """Return the combined forecasts for the next steps."""
        with self._lock:
            combined = predict_all(self, self.mixtures, forecasts, itertools.count(self._now + 1))
            self._predicted = True
            return combined

    def update(self, truth: Any) -> None:
        """Give the next truth, None or NaN if it is missing."""
        with self._lock:
            if not self._predicted:
                raise InvalidInput("StepMixture: call `predict` before `update`.")
            arrived = self._now + 1
            for mix in self.mixtures:
                if arrived in mix.waiting:  # the first truths were forecast one step ahead only
                    mix.update(truth, key=arrived)
            self._now, self._predicted = arrived, False
