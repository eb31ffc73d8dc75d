"""Combine the forecasts in a frame of pandas, polars or Arrow.

Layouts. Wide: one row per round, one column per expert. Long: one row per round and expert. The names `unique_id`, `ds`
and `cutoff` are those of Nixtla's libraries: a wide frame with the first two has its series and its time in them, and
`cutoff`, the time at which a forecast was made, is no expert. Columns with names such as `AutoARIMA-lo-90` are the
bounds of intervals, which are no experts unless they are listed.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from driftwise.core.errors import InvalidInput, LayoutWarning, MissingDependency, rejection, shown
from driftwise.core.types import Actions, Matrix, Vector
from driftwise.core.validation import count
from driftwise.forecasting.combinations import Combinations
from driftwise.forecasting.labelled_values import REAL_VALUE, as_names, first_too_large, nearest, real_value
from driftwise.forecasting.losses import Array, ForecastLoss
from driftwise.forecasting.mixture_stack import MixtureStack
from driftwise.forecasting.options import MixtureOptions
from driftwise.learners.base import ExpertLearner

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

    Frame = nw.DataFrame[Any]


OWNER = "combine"
_ROLES = "Name the columns of forecasts with `experts`, that of the time with `time`, that of the series with `by`."
_NAME_SERIES = "Name the columns that tell the series apart with `by`, those of a long frame with `expert`, `forecast`."
_KEEP_ONE_CUTOFF = "Keep one cutoff for each time, or make a column of the steps ahead and name it in `by`."


def narwhals() -> ModuleType:
    """Return Narwhals; raise with the command to install it if it is missing."""
    try:
        import narwhals.stable.v2 as nw
    except ImportError:
        raise MissingDependency("Reading a frame", "Narwhals 2", "frames") from None
    return nw


def opened(frame: Any) -> Frame:
    """Return a frame through Narwhals, after a check of its rows and of the names of its columns."""
    nw, kind = narwhals(), type(frame).__name__
    if kind in ("DataFrame", "Table"):
        _check_names(list(frame.column_names if kind == "Table" else frame.columns))
    try:
        read: Frame = nw.from_native(frame, eager_only=True)
    except TypeError:
        hint = " Pass `frame.collect()`." if kind == "LazyFrame" else ""
        rule = "a frame of pandas or polars, or a table of Arrow"
        raise InvalidInput(f"{OWNER}: `frame` must be {rule}, got a {kind}.{hint}") from None
    if not len(read):
        raise InvalidInput(f"{OWNER}: `frame` must have at least one row, got none.")
    return read


def _check_names(names: list[object]) -> None:
    """Check the names of columns before Narwhals does: its messages have another form."""
    seen = set()
    for name in names:
        if not isinstance(name, str):
            hint = "Write `frame.columns = [str(name) for name in frame.columns]`."
            raise rejection(OWNER, "frame", "a frame whose columns have text as names", name, hint)
        if name in seen:
            raise InvalidInput(f"{OWNER}: `frame` must have different names of columns, got {shown(name)} twice.")
        seen.add(name)


def require_column(frame: Frame, argument: str, name: object) -> str:
    """Return the name of a column, after a check that it exists; the message suggests the nearest one."""
    if not isinstance(name, str):
        raise rejection(OWNER, argument, "the name of a column", name)
    if name not in frame.columns:
        hint = nearest(name, frame.columns) or f"Its columns are {shown(frame.columns)}."
        if frame.implementation.is_pandas_like() and name in frame.to_native().index.names:
            hint = "It is in the index: pass `frame.reset_index()`."
        raise rejection(OWNER, argument, "a column of the frame", name, hint)
    return name


def numbers(frame: Frame, name: str, fault: Callable[[Vector], str]) -> Vector:
    """Return a column of forecasts or truths as a vector; NaN where a value is missing.

    `fault` returns the rule of the loss that some values break, or "".
    """
    nw, column = narwhals(), frame[name]
    if column.dtype.is_numeric() or column.dtype == nw.Boolean:
        values = np.array(column.cast(nw.Float64).to_numpy(), np.float64)
    elif column.null_count() == len(column):
        values = np.full(len(column), np.nan)
    elif column.dtype == nw.Object:
        values = _from_objects(name, column.to_list())
    else:
        got = f"got the type {column.dtype}. {_ROLES}"
        raise InvalidInput(f"{OWNER}: the column {shown(name)} must have numbers, {got}")
    if (k := first_too_large(values)) >= 0:
        raise _bad_value(name, REAL_VALUE, float(values[k]), k)
    if rule := fault(values):
        k = next(k for k in range(len(values)) if fault(values[k : k + 1]))
        raise _bad_value(name, rule, float(values[k]), k)
    return values


def with_nulls(frame: Frame, name: str) -> Frame:
    """Return a frame with nulls for the NaNs of a column; in pandas, where NaN is missing, the same frame."""
    if frame.implementation.is_pandas_like():
        return frame
    nw = narwhals()
    column = nw.col(name)
    return frame.with_columns(nw.when(~column.is_nan()).then(column).alias(name))


def _from_objects(name: str, objects: Sequence[object]) -> Vector:
    values = [real_value(value) for value in objects]
    if None in values:
        k = values.index(None)
        raise _bad_value(name, "a number", objects[k], k)
    return np.array(values, np.float64)


def _bad_value(name: str, rule: str, got: object, row: int) -> InvalidInput:
    where = f"got {shown(got)} in row {row}"
    return InvalidInput(f"{OWNER}: the column {shown(name)} must have {rule} in every row, {where}.")


def codes(frame: Frame, names: Sequence[str]) -> tuple[Actions, list[Hashable]]:
    """Return for each row the number of its value, or of its values in several columns, and the different values."""
    for name in names:
        _require_present(frame, name)
    columns = [frame[name].to_list() for name in names]
    keys = columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
    places: dict[Hashable, int] = {}
    numbered = np.fromiter((places.setdefault(key, len(places)) for key in keys), np.int64, len(keys))
    return numbered, list(places)


def ranks(frame: Frame, name: str) -> tuple[Actions, int]:
    """Return the ranks of the times, counted from 0, equal for equal times, and the number of different times."""
    _require_present(frame, name)
    values: Array = frame[name].to_numpy()
    try:
        if values.dtype.kind != "O":
            different, rank = np.unique(values, return_inverse=True)
            return rank.astype(np.int64), len(different)
        ordered = {value: k for k, value in enumerate(sorted(set(values)))}
    except TypeError:
        raise InvalidInput(f"{OWNER}: the times in the column {shown(name)} cannot be compared.") from None
    return np.fromiter((ordered[value] for value in values), np.int64, len(values)), len(ordered)


def _require_present(frame: Frame, name: str) -> None:
    column = frame[name]
    missing = column.is_null()
    if column.dtype.is_float():
        missing = missing | column.is_nan()
    if missing.any():
        row = int(missing.arg_true()[0])
        raise InvalidInput(f"{OWNER}: the column {shown(name)} must have a value in every row, got none in row {row}.")


SERIES, TIME, CUTOFF = "unique_id", "ds", "cutoff"  # Nixtla's names
_BOUND = re.compile(r".-(lo|hi)-\d+(\.\d+)?$")


class Rounds(NamedTuple):
    """The rounds of a frame."""

    experts: tuple[str, ...]
    forecasts: Matrix
    truths: Vector
    series: Actions
    n_series: int
    kept: Frame  # the columns of the frame that its result has too, one row per round
    order: Actions | slice = slice(None)  # in which the rounds are played


def wide_rounds(frame: Frame, loss: ForecastLoss, target: str, experts: object, time: str | None, by: object) -> Rounds:
    """Return the rounds of a frame with one row per round."""
    nixtla = {SERIES, TIME} <= {*frame.columns}
    keys = _keys(frame, by, [SERIES] if nixtla else [])
    time = TIME if nixtla and time is None else time
    if time is not None:
        require_column(frame, "time", time)
    dated = [CUTOFF] if nixtla and CUTOFF in frame.columns and CUTOFF not in [*keys, time, target] else []
    kept = [*keys, *([] if time is None else [time]), *dated, target]
    names = _experts(frame, experts, kept)
    forecasts = np.column_stack([numbers(frame, name, loss.forecast_fault) for name in names])
    truths = numbers(frame, target, loss.truth_fault)
    series, n_series = _series(frame, keys)
    rounds = Rounds(names, forecasts, truths, series, n_series, frame.select(kept))
    if time is None:
        return rounds
    rank, _ = ranks(frame, time)
    _check_order(frame, time, series, rank, bool(dated))
    if not dated:
        return rounds
    _warn_of_later_truths(frame, series)
    return rounds._replace(order=np.lexsort((rank, series)))


def long_rounds(frame: Frame, loss: ForecastLoss, target: str, columns: dict[str, str | None], by: object) -> Rounds:
    """Return the rounds of a frame with one row per round and expert: by series, then by time.

    `columns` has those of the experts, of the forecasts and of the time.
    """
    expert, forecast, time = (require_column(frame, argument, name) for argument, name in columns.items())
    keys = _keys(frame, by, [SERIES] if {SERIES, TIME} <= {*frame.columns} and time == TIME else [])
    _check_different([*keys, time, target, expert, forecast])
    values = numbers(frame, forecast, loss.forecast_fault)
    row_truths = numbers(frame, target, loss.truth_fault)
    series, n_series = _series(frame, keys)
    rank, n_times = ranks(frame, time)
    which, labels = codes(frame, [expert])
    names = as_names(OWNER, labels, "expert")
    _, first, rounds = np.unique(series * n_times + rank, return_index=True, return_inverse=True)
    _, earliest, places = np.unique(rounds * len(names) + which, return_index=True, return_inverse=True)
    if (again := earliest[places] < np.arange(len(frame))).any():
        row = int(again.argmax())
        got = f"{shown(names[which[row]])} at {_text(frame, time, row)}"
        hint = "Name the columns that tell the series apart with `by`."
        raise InvalidInput(f"{OWNER}: every expert must have one row per time, got {got} again in row {row}. {hint}")
    forecasts = np.full((len(first), len(names)), np.nan)
    forecasts[rounds, which] = values
    truths, present = np.full(len(first), np.nan), ~np.isnan(row_truths)
    truths[rounds[present]] = row_truths[present]
    if (differ := present & (row_truths != truths[rounds])).any():
        row = int(np.argmax(differ))
        got = f"{row_truths[row]} and {truths[rounds[row]]} at {_text(frame, time, row)}"
        raise InvalidInput(f"{OWNER}: the column {shown(target)} must have one truth per time, got {got}, row {row}.")
    nw = narwhals()
    kept = nw.maybe_reset_index(frame.select([*keys, time])[first.tolist()])
    kept = kept.with_columns(nw.new_series(target, truths, nw.Float64, backend=frame.implementation))
    return Rounds(names, forecasts, truths, series[first], n_series, with_nulls(kept, target))


def _keys(frame: Frame, by: object, default: list[str]) -> list[str]:
    keys = default if by is None else [by] if isinstance(by, str) else by
    if not isinstance(keys, Sequence):
        raise rejection(OWNER, "by", "the name of a column, or a list of names", by)
    for key in keys:
        require_column(frame, "by", key)
    return list(keys)


def _experts(frame: Frame, experts: object, kept: list[str]) -> tuple[str, ...]:
    if experts is None:
        others = [name for name in frame.columns if name not in kept]
        if bounds := [name for name in others if _BOUND.search(name)]:
            text = ", ".join(bounds[:4]) + (", ..." if len(bounds) > 4 else "")
            _warn(f"{OWNER}: bounds of intervals are no experts, left out: {text}. List the columns with `experts`.")
        experts = [name for name in others if not _BOUND.search(name)]
        if not experts:
            got = ", ".join(frame.columns)
            raise InvalidInput(f"{OWNER}: the frame must have a column of forecasts, got only {got}.")
    elif isinstance(experts, str) or not isinstance(experts, Sequence) or not len(experts):
        raise rejection(OWNER, "experts", "a list of names of columns", experts)
    columns = {*frame.columns}
    for name in experts:
        if not isinstance(name, str) or name not in columns:
            require_column(frame, "experts", name)  # raises
    _check_different([*kept, *experts])
    return tuple(experts)


def _check_different(names: list[str]) -> None:
    for name, n_uses in Counter(names).items():
        if n_uses > 1:
            raise InvalidInput(f"{OWNER}: a column must have one role, got {shown(name)} twice.")


def _series(frame: Frame, keys: list[str]) -> tuple[Actions, int]:
    if not keys:
        return np.zeros(len(frame), np.int64), 1
    series, different = codes(frame, keys)
    return series, len(different)


def _check_order(frame: Frame, time: str, series: Actions, rank: Actions, any_order: bool) -> None:
    """Check that the times of each series increase; if rows may have any order, that none occurs twice."""
    order = np.lexsort((rank, series)) if any_order else np.argsort(series, kind="stable")
    back = (np.diff(rank[order]) <= 0) & (np.diff(series[order]) == 0)
    if not back.any():
        return
    row = int(order[1:][back].min())
    got = f"{_text(frame, time, row)} in row {row}"
    if not any_order and not (rank[:row] == rank[row])[series[:row] == series[row]].any():
        rule = "must increase within a series"
        raise InvalidInput(f"{OWNER}: the column {shown(time)} {rule}, got {got}. Sort the frame by it.")
    rule, hint = "must have different times in the rows of a series", _KEEP_ONE_CUTOFF if any_order else _NAME_SERIES
    raise InvalidInput(f"{OWNER}: the column {shown(time)} {rule}, got again {got}. {hint}")


def _text(frame: Frame, time: str, row: int) -> str:
    value = frame[time].to_list()[row]
    return shown(value) if isinstance(value, (str, int, float)) else str(value)


def _warn_of_later_truths(frame: Frame, series: Actions) -> None:
    cutoffs, different = codes(frame, [CUTOFF])
    if len(np.unique(series * len(different) + cutoffs)) < len(series):
        _warn(
            f"{OWNER}: a row is weighed with the truths of all earlier times, also of those later than its {CUTOFF}, so"
            " forecasts of several steps ahead are combined better than is possible when they are made."
        )


def _warn(text: str) -> None:
    warnings.warn(text, LayoutWarning, stacklevel=5)


FORECAST, WEIGHT = "forecast", "weight_"  # the columns that a result adds
FrameT = TypeVar("FrameT")


def combine(
    frame: FrameT,
    target: str = "y",
    *,
    experts: Sequence[str] | None = None,
    time: str | None = None,
    by: str | Sequence[str] | None = None,
    expert: str | None = None,
    forecast: str | None = None,
    loss: str | ForecastLoss = "square",
    learner: ExpertLearner | Combinations | None = None,
    gradient: bool = True,
    hint: str = "last-truth",
    extras: tuple[str, ...] = (),
    scale: float | None = None,
    weights: bool = True,
    n_threads: int = 1,
) -> FrameT:
    """Combine the forecasts in a frame: each row with weights that were learned from the rows before it.

    Every series has a mixture of its own. Rows whose truth is missing are combined but change no weights, so a frame
    can end with forecasts whose truths are not known yet. The given frame is not changed.

    Parameters
    ----------
    frame : pandas, polars or Arrow frame
        Wide: one row per round and one column per expert. Long: one row per round and expert; `expert` and `forecast`
        name the columns. A lazy frame must be collected first.
    target : str, default "y"
        The column of the truths.
    experts : list of str, default None
        Wide: the columns of forecasts. None: all others, but bounds of intervals such as `AutoARIMA-lo-90`.
    time : str, default None
        The column of the time, which must increase within each series. None: `ds` if the frame has the columns
        `unique_id` and `ds`, else the rows are in order. A long frame needs it and may have its rows in any order.
    by : str or list of str, default None
        The columns that tell the series apart. None: `unique_id` if the frame has the columns `unique_id` and `ds`,
        else there is one series.
    expert : str, default None
        Long: the column of the experts' names.
    forecast : str, default None
        Long: the column of the forecasts.
    loss, learner, gradient, hint, extras, scale
        The options of the mixtures, see `MixtureOptions`.
    weights : bool, default True
        Whether the result has the weights.
    n_threads : int, default 1
        Threads that share the series.

    Returns
    -------
    frame of the same library
        The columns `by`, `time` and `target`, then `forecast` and, for each expert, `weight_<expert>`. Wide: one row
        for each row of the frame, in its order and, for pandas, with its index. Long: one row per series and time,
        sorted by time within a series.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"y": [1.0, 1.0, None], "a": [1.0, 1.0, 1.0], "b": [3.0, None, None]})
    >>> combine(frame)["forecast"].to_list()
    [2.0, 1.0, 1.0]
    """
    options = MixtureOptions(loss, learner, gradient, hint, extras, scale)
    read = opened(frame)
    require_column(read, "target", target)
    if expert is None and forecast is None:
        rounds = wide_rounds(read, options.forecast_loss, target, experts, time, by)
    elif experts is not None:
        raise InvalidInput(f"{OWNER}: `experts` is of wide frames, `expert` and `forecast` are of long ones.")
    else:
        columns = {"expert": expert, "forecast": forecast, "time": time}
        rounds = long_rounds(read, options.forecast_loss, target, columns, by)
    names = options.names(rounds.experts)
    added = [FORECAST, *(WEIGHT + name for name in names)] if weights else [FORECAST]
    if taken := [name for name in added if name in rounds.kept.columns]:
        raise InvalidInput(f"{OWNER}: the result has a column {shown(taken[0])}; rename that of the frame.")
    combined, played = _played(options, rounds, n_threads)
    nw, backend = narwhals(), rounds.kept.implementation
    series = [  # the weights are left out if they are not added
        nw.new_series(name, np.ascontiguousarray(values), nw.Float64, backend=backend)
        for name, values in zip(added, (combined, *played.T), strict=False)
    ]
    result: FrameT = with_nulls(rounds.kept.with_columns(*series), FORECAST).to_native()
    return result


def _played(options: MixtureOptions, rounds: Rounds, n_threads: int) -> tuple[Vector, Matrix]:
    n_threads, order = count(OWNER, "n_threads", n_threads), rounds.order
    stack = MixtureStack(options, len(rounds.experts), rounds.n_series)
    played = stack.run(rounds.forecasts[order], rounds.truths[order], rounds.series[order], n_threads)
    combined, weights = np.empty_like(played.combined), np.empty_like(played.weights)
    combined[order], weights[order] = played.combined, played.weights
    return combined, weights
