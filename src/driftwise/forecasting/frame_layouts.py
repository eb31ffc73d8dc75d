"""The layouts of frames of forecasts, and the rounds in them.

Wide: one row per round, one column per expert. Long: one row per round and expert. The names `unique_id`, `ds` and
`cutoff` are those of Nixtla's libraries: a wide frame with the first two has its series and its time in them, and
`cutoff`, the time at which a forecast was made, is no expert. Columns with names such as `AutoARIMA-lo-90` are the
bounds of intervals, which are no experts unless they are listed.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from driftwise.core.errors import InvalidInput, LayoutWarning, rejection, shown
from driftwise.core.types import Actions, Matrix, Vector
from driftwise.forecasting.frame_columns import (
    OWNER,
    codes,
    narwhals,
    numbers,
    ranks,
    require_column,
    times,
    with_nulls,
)
from driftwise.forecasting.labelled_values import as_names
from driftwise.forecasting.losses import ForecastLoss

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

    Frame = nw.DataFrame[Any]

__all__ = ["Rounds", "long_rounds", "wide_rounds"]

SERIES, TIME, CUTOFF = "unique_id", "ds", "cutoff"  # Nixtla's names
_BOUND = re.compile(r".-(lo|hi)-\d+(\.\d+)?$")


class Rounds(NamedTuple):
    """The rounds of a frame."""

    experts: tuple[str, ...]
    forecasts: Matrix
    truths: Vector
    series: Actions
    n_series: int
    kept: Any  # the columns of the frame that its result has too, one row per round
    order: Actions | None = None  # in which the rounds are played; None: as they are


def wide_rounds(frame: Frame, loss: ForecastLoss, target: str, experts: Any, time: Any, by: Any) -> Rounds:
    """Return the rounds of a frame with one row per round."""
    nixtla = {SERIES, TIME} <= {*frame.columns}
    keys = _keys(frame, by, [SERIES] if nixtla else [])
    time = TIME if nixtla and time is None else time
    if time is not None:
        require_column(frame, "time", time)
    dated = [CUTOFF] if nixtla and CUTOFF in frame.columns and CUTOFF not in [*keys, time, target] else []
    kept = [*keys, *([] if time is None else [time]), *dated, target]
    names = _experts(frame, experts, kept)
    forecasts = np.empty((len(frame), len(names)))
    for k, name in enumerate(names):
        forecasts[:, k] = numbers(frame, name, loss.forecast_fault)
    truths = numbers(frame, target, loss.truth_fault)
    series, n_series = _series(frame, keys)
    order = None
    if time is not None:
        rank, _ = ranks(time, times(frame, time))
        _check_order(frame, time, series, rank, bool(dated))
        if dated:
            order = np.lexsort((rank, series))
            _warn_of_later_truths(frame, series)
    return Rounds(names, forecasts, truths, series, n_series, frame.select(kept), order)


def long_rounds(
    frame: Frame, loss: ForecastLoss, target: str, expert: Any, forecast: Any, time: Any, by: Any
) -> Rounds:
    """Return the rounds of a frame with one row per round and expert: by series, then by time."""
    for argument, name in (("expert", expert), ("forecast", forecast), ("time", time)):
        require_column(frame, argument, name)
    keys = _keys(frame, by, [SERIES] if {SERIES, TIME} <= {*frame.columns} and time == TIME else [])
    _check_different([*keys, time, target, expert, forecast])
    values = numbers(frame, forecast, loss.forecast_fault)
    row_truths = numbers(frame, target, loss.truth_fault)
    series, n_series = _series(frame, keys)
    rank, n_times = ranks(time, times(frame, time))
    which, labels = codes(frame, [expert])
    names = as_names(OWNER, labels, "expert")
    _, first, rounds = np.unique(series * n_times + rank, return_index=True, return_inverse=True)
    if (row := _first_repeated(rounds * len(names) + which)) >= 0:
        got = f"{shown(names[which[row]])} at {_text(frame, time, row)}"
        hint = "Name the columns that tell the series apart with `by`."
        raise InvalidInput(f"{OWNER}: every expert must have one row per time, got {got} again in row {row}. {hint}")
    forecasts = np.full((len(first), len(names)), np.nan)
    forecasts[rounds, which] = values
    truths, known = np.full(len(first), np.nan), ~np.isnan(row_truths)
    truths[rounds[known]] = row_truths[known]
    if (differ := known & (row_truths != truths[rounds])).any():
        row = int(np.argmax(differ))
        got = f"{row_truths[row]} and {truths[rounds[row]]} at {_text(frame, time, row)}"
        raise InvalidInput(f"{OWNER}: the column {shown(target)} must have one truth per time, got {got}, row {row}.")
    nw = narwhals()
    kept = nw.maybe_reset_index(frame.select([*keys, time])[first.tolist()])
    kept = kept.with_columns(nw.new_series(target, truths, nw.Float64, backend=frame.implementation))
    return Rounds(names, forecasts, truths, series[first], n_series, with_nulls(kept, target))


def _keys(frame: Frame, by: Any, default: list[str]) -> list[str]:
    keys = default if by is None else [by] if isinstance(by, str) else by
    if not isinstance(keys, Sequence):
        raise rejection(OWNER, "by", "the name of a column, or a list of names", by)
    for key in keys:
        require_column(frame, "by", key)
    return list(keys)


def _experts(frame: Frame, experts: Any, kept: list[str]) -> tuple[str, ...]:
    if experts is None:
        others = [name for name in frame.columns if name not in kept]
        if bounds := [name for name in others if _BOUND.search(name)]:
            text = ", ".join(bounds[:4]) + (", ..." if len(bounds) > 4 else "")
            _warn(f"{OWNER}: bounds of intervals are no experts, left out: {text}. List the columns with `experts`.")
        experts = [name for name in others if not _BOUND.search(name)]
        if not experts:
            raise InvalidInput(
                f"{OWNER}: the frame must have a column of forecasts, got only {', '.join(frame.columns)}."
            )
    elif isinstance(experts, str) or not isinstance(experts, Sequence) or not len(experts):
        raise rejection(OWNER, "experts", "a list of names of columns", experts)
    known = {*frame.columns}
    for name in experts:
        if not isinstance(name, str) or name not in known:
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
    hint = (
        "Keep one cutoff for each time, or make a column of the steps ahead and name it in `by`."
        if any_order
        else "Name the columns that tell the series apart with `by`, those of a long frame with `expert`, `forecast`."
    )
    rule = "must have different times in the rows of a series"
    raise InvalidInput(f"{OWNER}: the column {shown(time)} {rule}, got again {got}. {hint}")


def _text(frame: Frame, time: str, row: int) -> str:
    value = frame[time].to_list()[row]
    return shown(value) if isinstance(value, (str, int, float)) else str(value)


def _first_repeated(keys: Actions) -> int:
    """Return the first row whose key an earlier row has, or -1."""
    order = np.argsort(keys, kind="stable")
    again = np.diff(keys[order]) == 0
    return int(order[1:][again].min()) if again.any() else -1


def _warn_of_later_truths(frame: Frame, series: Actions) -> None:
    cutoffs, different = codes(frame, [CUTOFF])
    if len(np.unique(series * len(different) + cutoffs)) < len(series):
        _warn(
            f"{OWNER}: a row is weighed with the truths of all earlier times, also of those later than its {CUTOFF}, so"
            " forecasts of several steps ahead are combined better than is possible when they are made."
        )


def _warn(text: str) -> None:
    warnings.warn(text, LayoutWarning, stacklevel=5)
