"""The forecasts of one round, as users pass them: turned into a vector in the order of the experts' names.

By name, in any order: dicts and other mappings, named tuples, records of NumPy, pandas Series (by the labels of the
index), frames of one row (pandas, polars, Arrow; by the names of the columns), Arrow's struct scalars. An expert that
is left out is asleep. A label that is no expert is refused, because it may be a misspelt one, and so is a label that
occurs twice.

By position: arrays and sequences without labels, polars Series (which have none), Arrow arrays. They must have one
value for each expert.

Names are strings. A label may also be a whole number, as columns of pandas often are: 3 is the name "3". A value that
is missing (see `real_value`; also masked values) becomes NaN: this expert is asleep.
"""

from __future__ import annotations

import difflib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from driftwise.core.errors import InvalidInput, rejection, shown
from driftwise.core.kernel import kernel
from driftwise.core.types import Vector
from driftwise.core.validation import LOSS_KINDS, as_real

LARGEST = 1e100  # squares of differences and their sums over many rounds stay far below the largest float
REAL_VALUE = f"a finite number of at most {LARGEST:g} in absolute value"
_MISSING_TYPES = ("NAType", "NaTType")
_IF_MISSING = "A missing {} is None or NaN."


@kernel
def first_too_large(values: Vector) -> int:
    """Return the index of the first value that is infinite or above 1e100 in absolute value, or -1. NaN is missing."""
    for k in range(values.size):
        if values[k] > LARGEST or values[k] < -LARGEST:
            return k
    return -1


def library(value: object) -> str:
    """Return the package of an object's class, for example "pandas", without importing it."""
    return type(value).__module__.partition(".")[0]


def real_value(value: object) -> float | None:
    """Return one value as a `float`, NaN if it is missing, None if it is no number.

    >>> from decimal import Decimal
    >>> [real_value(value) for value in (2, True, Decimal("0.5"), None, "2", [2])]
    [2.0, 1.0, 0.5, nan, None, None]
    """
    if value is None or value is np.ma.masked:
        return math.nan
    if isinstance(value, (bool, np.bool_)):
        return float(value)
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return math.nan if np.isnat(value) else None
    real = as_real(value)
    if real is not None:
        return real
    if type(value).__name__ in _MISSING_TYPES and library(value) == "pandas":
        return math.nan
    if library(value) == "pyarrow" and hasattr(value, "as_py"):
        return real_value(value.as_py())
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        inner = value.item()
        return None if isinstance(inner, type(value)) else real_value(inner)
    return None


def as_truth(owner: object, value: object) -> float:
    """Return a truth as a `float`, NaN if it is missing."""
    truth = value if type(value) is float else real_value(value)
    if truth is None:
        is_array = getattr(value, "shape", None) == (1,)
        hint = "Take its element." if is_array else _IF_MISSING.format("truth")
        raise rejection(owner, "truth", "a number", value, hint)
    if abs(truth) > LARGEST:
        raise rejection(owner, "truth", REAL_VALUE, value, _IF_MISSING.format("truth"))
    return truth


Labelled = tuple[Sequence[object] | None, Sequence[object] | Vector]  # labels, None if there are none, and values
_PLAIN = frozenset((float, int, type(None), np.float64))  # NumPy converts a list of these at once
_KINDS = "an array, a dict by name, a Series or a frame of one row"
_LEAVE_OUT = "A missing forecast is None, NaN or left out of a dict."
_SHOWN_NAMES = 6
LABELS = ("index", "columns", "coords")  # attributes of objects with labels, of any library; not methods


def as_forecasts(owner: object, value: object, names: tuple[str, ...]) -> Vector:
    """Return the forecasts of one round as a new vector in the order of `names`; NaN where an expert is asleep."""
    if type(value) is np.ndarray and value.dtype == np.float64 and value.shape == (len(names),):
        forecasts = value.copy()
    elif type(value) is dict:
        forecasts = _by_name(owner, value, names)
    else:
        labels, values = _labels_and_values(owner, value)
        if labels is not None:
            forecasts = _by_name(owner, _named(owner, labels, values), names)
        elif len(values) == len(names):
            forecasts = _vector(owner, values, names)
        else:
            rule = f"of {len(names)} values, one for each expert ({_listed(names)})"
            raise rejection(owner, "forecasts", rule, len(values), "Pass a dict by name to leave experts out.")
    if (k := first_too_large(forecasts)) >= 0:
        raise rejection(owner, f"forecasts[{names[k]!r}]", REAL_VALUE, float(forecasts[k]), _LEAVE_OUT)
    return forecasts


def names_of(owner: object, value: object) -> tuple[str, ...] | None:
    """Return the names in the forecasts of a first round, None if they have no labels.

    >>> names_of("Mixture", {"arima": 1.0, "naive": 2.0})
    ('arima', 'naive')
    """
    labels, values = _labels_and_values(owner, value)
    if not len(values):
        raise rejection(owner, "forecasts", "of at least one expert", value)
    return None if labels is None else as_names(owner, labels)


def numbered_names(n_experts: int) -> tuple[str, ...]:
    """Return names for experts that have none.

    >>> numbered_names(2)
    ('expert 0', 'expert 1')
    """
    return tuple(f"expert {k}" for k in range(n_experts))


def as_names(owner: object, labels: Iterable[object], what: str = "forecasts") -> tuple[str, ...]:
    """Return labels as names: strings that are not empty, all different; whole numbers become text."""
    names = tuple(_name(owner, label, what) for label in labels)
    if len(set(names)) < len(names):
        twice = next(name for name, n_uses in Counter(names).items() if n_uses > 1)
        raise InvalidInput(f"{_called(owner)}: `{what}` must name every expert once, got {shown(twice)} twice.")
    return names


def is_listing(values: object) -> bool:
    """Return whether some values can be listed; a text and an array without dimensions cannot."""
    return isinstance(values, Iterable) and not isinstance(values, str) and getattr(values, "ndim", 1) != 0


def nearest(name: str, names: Iterable[str]) -> str:
    """Return the sentence that suggests the nearest known name, "" if none is near."""
    near = difflib.get_close_matches(name[:100], list(names), n=1)
    return f"Did you mean {near[0]!r}?" if near else ""


def _by_name(owner: object, mapping: Mapping[str, object], names: tuple[str, ...]) -> Vector:
    values = [mapping.get(name, math.nan) for name in names]
    if sum(name in mapping for name in names) < len(mapping):  # a label is no name: a whole number, or not known
        named, experts = _named(owner, list(mapping), list(mapping.values())), set(names)
        if unknown := [name for name in named if name not in experts]:
            raise unknown_expert(owner, unknown[0], names)
        values = [named.get(name, math.nan) for name in names]
    return _vector(owner, values, names)


def _vector(owner: object, values: Sequence[object] | Vector, names: tuple[str, ...]) -> Vector:
    """Return values in the order of the names as a vector."""
    if isinstance(values, np.ndarray) and values.dtype.kind in LOSS_KINDS:
        with np.errstate(over="ignore"):  # a wider float that overflows becomes infinite, which is refused
            if isinstance(values, np.ma.MaskedArray):
                return np.ma.filled(values.astype(np.float64), np.nan)
            return np.array(values, np.float64)
    if _PLAIN.issuperset(map(type, values)):
        try:
            return np.array(values, np.float64)
        except OverflowError:
            pass  # a whole number beyond the range of floats becomes infinite below
    forecasts = np.empty(len(names))
    for k, value in enumerate(values):
        real = real_value(value)
        if real is None:
            hint = "Take its element." if getattr(value, "shape", None) == (1,) else _LEAVE_OUT
            raise rejection(owner, f"forecasts[{names[k]!r}]", "a number", value, hint)
        if abs(real) > LARGEST:  # shown as it was given
            raise rejection(owner, f"forecasts[{names[k]!r}]", REAL_VALUE, value, _LEAVE_OUT)
        forecasts[k] = real
    return forecasts


def _labels_and_values(owner: object, value: object) -> Labelled:
    """Return the labels, None if there are none, and the values, an array or a list."""
    if isinstance(value, Mapping):
        return list(value), list(value.values())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return value._fields, value
    if isinstance(value, np.void) and value.dtype.names:
        return value.dtype.names, value.tolist()
    if isinstance(value, (list, tuple)):
        return None, value
    if type(value) is not np.ndarray:
        for parent in type(value).__mro__:
            if (home := parent.__module__.partition(".")[0]) in ("pandas", "polars", "pyarrow"):
                return _of_library(owner, value, home, parent.__name__)
    if isinstance(value, (str, bytes, bytearray)) or not (isinstance(value, Sequence) or hasattr(value, "__array__")):
        raise rejection(owner, "forecasts", _KINDS, value)
    if any(not callable(getattr(value, labels, callable)) for labels in LABELS):
        hint = "It has labels: pass a dict or a Series of pandas."
        raise InvalidInput(f"{_called(owner)}: `forecasts` must be {_KINDS}, got a {type(value).__name__}. {hint}")
    array = value if isinstance(value, np.ndarray) else np.asarray(value)
    if array.ndim != 1:
        got = f"got an array of shape {array.shape}"
        raise InvalidInput(f"{_called(owner)}: `forecasts` must have one dimension, {got}.")
    return None, array.tolist() if array.dtype.kind == "O" else array


def _of_library(owner: object, value: Any, home: str, kind: str) -> Labelled:
    if kind in ("DataFrame", "Table", "RecordBatch"):
        n_rows = value.num_rows if home == "pyarrow" else len(value)
        if n_rows != 1:
            hint = "`driftwise.forecasting.combine` takes whole frames."
            raise InvalidInput(f"{_called(owner)}: `forecasts` must be a frame of one row, got {n_rows} rows. {hint}")
        if home == "pyarrow":
            return value.schema.names, [column[0].as_py() for column in value.columns]
        return list(value.columns), list(value.row(0)) if home == "polars" else value.iloc[0].tolist()
    if kind == "Series" and home == "pandas":
        return value.index.tolist(), value.tolist()
    if kind == "Series" and home == "polars":
        return None, value.to_list()
    if home == "pyarrow" and hasattr(value, "to_pylist"):
        return None, value.to_pylist()
    hint = " Pass `frame.collect()`." if kind == "LazyFrame" else ""
    raise InvalidInput(f"{_called(owner)}: `forecasts` must be {_KINDS}, got a {kind}.{hint}")


def _named(owner: object, labels: Sequence[object], values: Sequence[object] | Vector) -> dict[str, object]:
    return dict(zip(as_names(owner, labels), values, strict=True))


def _name(owner: object, label: object, what: str) -> str:
    if isinstance(label, (int, np.integer)) and not isinstance(label, bool):
        return str(label)
    if not isinstance(label, str) or not label:
        raise rejection(owner, what, "labelled by names of experts", label)
    return str(label)


def unknown_expert(owner: object, name: str, names: tuple[str, ...]) -> InvalidInput:
    """Return the error for a name that no expert has."""
    hints = [nearest(name, names)]
    if name == "Index":  # the first field of pandas' rows
        hints.append("Use `frame.itertuples(index=False)`.")
    elif not isinstance(owner, str) and hasattr(owner, "join"):
        is_plain = name.isprintable() and '"' not in name and "\\" not in name
        quoted = f'"{name}"' if is_plain else repr(name)
        hints.append(f"A new expert joins by `mix.join({quoted})`.")
    return rejection(owner, "forecasts", f"of the experts {_listed(names)}", name, " ".join(filter(None, hints)))


def _listed(names: tuple[str, ...]) -> str:
    more = ["..."] if len(names) > _SHOWN_NAMES else []
    return ", ".join([shown(name) for name in names[:_SHOWN_NAMES]] + more)


def _called(owner: object) -> str:
    return owner if isinstance(owner, str) else type(owner).__name__
