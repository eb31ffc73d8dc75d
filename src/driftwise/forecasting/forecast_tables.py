"""The forecasts of several steps ahead and several quantiles, as users pass them: turned into one array.

The values of one expert are its *part*: of shape (m,) for m steps, (Q,) for Q quantiles, or (m, Q) for both.

- An array has the experts in the axis before the quantiles, or in the last one: (m, K), (K, Q) or (m, K, Q).
- A dict, or another mapping, has the part of each expert under its name: a list, an array, a Series or an array of
  Arrow, read by position. An expert that is None or left out is missing.
- A frame (pandas, polars, Arrow) or a structured array of NumPy has a row for each step and a column for each expert.
  A frame is for steps only: with quantiles it would not say which of its sides is which.

A value that is missing (`labelled_values.real_value`) becomes NaN. All are checked before anything is returned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np

from driftwise.core.errors import InvalidInput, rejection
from driftwise.core.validation import LOSS_KINDS
from driftwise.forecasting.labelled_values import (
    LABELS,
    LARGEST,
    REAL_VALUE,
    as_names,
    numbered_names,
    real_value,
    unknown_expert,
)
from driftwise.forecasting.losses import Array

_LEAVE_OUT = "A missing forecast is None or NaN."
_FRAMES = ("DataFrame", "Table", "RecordBatch")


class TableShape(NamedTuple):
    """The most steps and the number of quantiles; None where a mixture has none. One of them is a number."""

    steps: int | None
    levels: int | None

    @property
    def n_axes(self) -> int:
        """The number of axes of a part."""
        return (self.steps is not None) + (self.levels is not None)

    @property
    def of_part(self) -> str:
        """The shape of a part in words."""
        if self.steps is None:
            return f"{self.levels} values, one for each quantile"
        if self.levels is None:
            return f"1 to {self.steps} values, one for each step"
        return f"1 to {self.steps} rows, one for each step, of {self.levels} quantiles"

    @property
    def of_array(self) -> str:
        """The shape of an array in words."""
        if self.steps is None:
            return f"(experts, {self.levels})"
        return f"(1 to {self.steps} steps, experts{'' if self.levels is None else f', {self.levels}'})"

    def fits(self, part: tuple[int, ...]) -> bool:
        """Return whether a part may have this shape."""
        if len(part) != self.n_axes or (self.levels is not None and part[-1] != self.levels):
            return False
        return self.steps is None or 1 <= part[0] <= self.steps


class ForecastTable(NamedTuple):
    """Forecasts of one call."""

    names: tuple[str, ...]
    values: Array  # of shape (m, Q, K), contiguous; NaN where missing; m or Q is 1 if a mixture has none


def as_table(owner: object, value: object, names: tuple[str, ...] | None, shape: TableShape) -> ForecastTable:
    """Return the forecasts of a call; names of None are those in the forecasts, or numbers."""
    parts = _parts_by_label(owner, value, shape)
    if parts is None:
        table = _from_array(owner, value, names, shape)
        names = numbered_names(table.shape[-1 if shape.levels is None else -2]) if names is None else names
        table = table if shape.levels is None else np.swapaxes(table, -1, -2)
    else:
        labels = as_names(owner, parts)
        if not labels:
            raise rejection(owner, "forecasts", "of at least one expert", value)
        names = labels if names is None else names
        if unknown := [label for label in labels if label not in names]:
            raise unknown_expert(owner, unknown[0], names)
        table = _from_parts(owner, dict(zip(labels, parts.values(), strict=True)), names, shape)
    n_steps, n_levels = (1 if shape.steps is None else len(table)), shape.levels or 1
    return ForecastTable(names, np.ascontiguousarray(table).reshape(n_steps, n_levels, len(names)))


def _parts_by_label(owner: object, value: Any, shape: TableShape) -> Mapping[object, object] | None:
    """Return the parts of the experts by their labels; None if there are no labels."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return dict(value._asdict())
    if isinstance(value, np.ndarray) and value.dtype.names:
        return {name: value[name] for name in value.dtype.names}
    home = _library_of_frame(value)
    if home and shape.levels is None:
        labels = value.schema.names if home == "pyarrow" else list(value.columns)
        columns = value.columns if home == "pyarrow" else [_column(value, home, i) for i in range(len(labels))]
        return dict(zip(as_names(owner, labels), columns, strict=True))
    if home or any(not callable(getattr(value, labels, callable)) for labels in LABELS):
        rule = f"an array of shape {shape.of_array} or a dict from the name of each expert to its values"
        raise InvalidInput(f"{type(owner).__name__}: `forecasts` must be {rule}, got a {type(value).__name__}.")
    return None


def _library_of_frame(value: object) -> str:
    """Return the library of a frame, '' for anything else."""
    homes = {kind.__module__.partition(".")[0] for kind in type(value).__mro__ if kind.__name__ in _FRAMES}
    return next(iter(homes & {"pandas", "polars", "pyarrow"}), "")


def _column(frame: Any, home: str, i: int) -> object:
    return frame.iloc[:, i] if home == "pandas" else frame.to_series(i)


def _from_array(owner: object, value: object, names: tuple[str, ...] | None, shape: TableShape) -> Array:
    if isinstance(value, str | bytes | Set) or value is None or np.isscalar(value):
        raise rejection(owner, "forecasts", f"an array of shape {shape.of_array} or a dict by name", value)
    table = _numbers(owner, "forecasts", value, shape.n_axes + 1)
    place = len(table.shape) - (1 if shape.levels is None else 2)
    part = table.shape[:place] + table.shape[place + 1 :] if place >= 0 else ()
    if not shape.fits(part) or table.ndim != shape.n_axes + 1 or not table.shape[place]:
        raise InvalidInput(
            f"{type(owner).__name__}: `forecasts` must have the shape {shape.of_array}, got {table.shape}."
        )
    if names is not None and table.shape[place] != len(names):
        rule, got = f"of {len(names)} experts in the shape {shape.of_array}", table.shape
        raise InvalidInput(f"{type(owner).__name__}: `forecasts` must be {rule}, got {got}.")
    return table


def _from_parts(owner: object, parts: Mapping[str, object], names: tuple[str, ...], shape: TableShape) -> Array:
    """Return an array with the experts in the last axis."""
    arrays = {name: _part(owner, name, part, shape) for name, part in parts.items() if part is not None}
    if not arrays:
        raise rejection(owner, "forecasts", "of at least one expert", dict.fromkeys(parts))
    sizes = {array.shape for array in arrays.values()}
    if len(sizes) > 1:
        got = sorted({array.shape[0] for array in arrays.values()})
        raise rejection(owner, "forecasts", "of the same number of steps for each expert", got)
    table = np.full((*sizes.pop(), len(names)), np.nan)
    for k, name in enumerate(names):
        if name in arrays:
            table[..., k] = arrays[name]
    return table


def _part(owner: object, name: str, part: object, shape: TableShape) -> Array:
    called = f"forecasts[{name!r}]"
    unordered = isinstance(part, Mapping | Set | str | bytes) or _library_of_frame(part) != ""
    array = None if unordered or np.isscalar(part) else _numbers(owner, called, part, shape.n_axes)
    if array is None or not shape.fits(array.shape):
        got = part if array is None else f"an array of shape {array.shape}" if array.ndim != 1 else len(array)
        raise rejection(owner, called, f"a list or an array of {shape.of_part}", got)
    return array


def _numbers(owner: object, name: str, values: Any, n_axes: int) -> Array:
    """Return array-like values as numbers, NaN where one is missing; a value that is no number is rejected."""
    array = _plain_array(values)
    if array is None:
        array = _each_number(owner, name, values, n_axes)
    if (np.abs(array) > LARGEST).any():
        place = tuple(map(int, np.argwhere(np.abs(array) > LARGEST)[0]))
        raise rejection(owner, _called(name, place), REAL_VALUE, float(array[place]), _LEAVE_OUT)
    return array


def _plain_array(values: Any) -> Array | None:
    """Return values that NumPy knows as real numbers, else None."""
    if isinstance(values, Sequence) and not all(type(value) is float for value in values):
        return None  # texts among numbers would make numbers texts
    try:
        array = values if isinstance(values, np.ndarray) else np.asarray(values)
    except (TypeError, ValueError):
        return None
    if array.dtype.kind not in LOSS_KINDS:
        return None
    with np.errstate(over="ignore"):  # a wider float that overflows becomes infinite, which is refused
        if isinstance(array, np.ma.MaskedArray):
            return np.ma.filled(array.astype(np.float64), np.nan)
        return np.array(array, np.float64)


def _each_number(owner: object, name: str, values: Any, n_axes: int) -> Array:
    """Return values of any types as numbers, one by one."""
    rows = _listed(values)
    if rows is None:
        raise rejection(owner, name, f"an array of numbers with {n_axes} axes", values)
    if n_axes > 1:
        arrays = [_numbers(owner, _called(name, (i,)), row, n_axes - 1) for i, row in enumerate(rows)]
        if len({array.shape for array in arrays}) > 1 or not arrays:
            raise rejection(owner, name, "an array whose rows have the same length", values)
        return np.array(arrays)
    numbers = np.empty(len(rows))
    for i, value in enumerate(rows):
        real = real_value(value)
        if real is None:
            raise rejection(owner, _called(name, (i,)), "a number", value, _LEAVE_OUT)
        if abs(real) > LARGEST:  # shown as it was given
            raise rejection(owner, _called(name, (i,)), REAL_VALUE, value, _LEAVE_OUT)
        numbers[i] = real
    return numbers


def _listed(values: Any) -> Sequence[Any] | None:
    """Return the elements of an array-like value, None if it has none."""
    if isinstance(values, list | tuple):
        return values
    for method in ("to_pylist", "to_list", "tolist"):  # of Arrow, of polars and pandas, of NumPy
        if callable(getattr(values, method, None)):
            listed = getattr(values, method)()
            return listed if isinstance(listed, list) else None
    is_plain = isinstance(values, Sequence) and not isinstance(values, str | bytes)
    return list(values) if is_plain else None


def _called(name: str, place: tuple[int, ...]) -> str:
    return f"{name}{list(place)}" if place else name
