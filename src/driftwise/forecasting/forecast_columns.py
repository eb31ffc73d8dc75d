"""Forecasts of several values by each expert, such as quantiles or steps ahead: a column, and a mixture, for each."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Set
from typing import Any

import numpy as np

from driftwise.core.errors import InvalidInput, rejection
from driftwise.core.types import Matrix, Vector
from driftwise.forecasting.labelled_values import as_forecasts
from driftwise.forecasting.mixture import Mixture

__all__ = ["predict_all", "split_forecasts"]


def split_forecasts(owner: object, forecasts: Any, names: tuple[str, ...], n_columns: int) -> list[Any]:
    """Return the forecasts of all experts for each column; all are checked before any is used."""
    if isinstance(forecasts, Mapping):
        rows = {name: _row(owner, f"forecasts[{name!r}]", value, n_columns) for name, value in forecasts.items()}
        columns: list[Any] = [{name: row[i] for name, row in rows.items()} for i in range(n_columns)]
    else:
        table = _table(owner, forecasts, n_columns)
        columns = [np.ascontiguousarray(table[:, i]) for i in range(n_columns)]
    for column in columns if names else ():
        as_forecasts(owner, column, names)
    return columns


def predict_all(rounds: Iterable[tuple[Mixture, Any, Hashable]]) -> Vector:
    """Return the forecasts of several mixtures, from their forecasts and keys; all are checked before one changes."""
    given = list(rounds)
    for mix, column, key in given:
        mix.check_forecasts(column, key)
    return np.array([mix.predict(column, key) for mix, column, key in given])


def _row(owner: object, name: str, value: Any, n_columns: int) -> Any:
    if value is None:
        return [None] * n_columns
    if isinstance(value, Mapping | Set | str) or not hasattr(value, "__len__") or len(value) != n_columns:
        raise rejection(owner, name, f"a list or an array of {n_columns} values", value)
    return list(value)  # by position, also of a pandas Series


def _table(owner: object, forecasts: Any, n_columns: int) -> Matrix:
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
        raise InvalidInput(
            f"{type(owner).__name__}: `forecasts` must have shape (n_experts, {n_columns}), got {table.shape}."
        )
    return table
