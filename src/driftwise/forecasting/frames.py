"""Combine the forecasts in a frame of pandas, polars or Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from driftwise.core.errors import InvalidInput, shown
from driftwise.core.types import Matrix, Vector
from driftwise.core.validation import count
from driftwise.forecasting.frame_columns import OWNER, narwhals, opened, require_column, with_nulls
from driftwise.forecasting.frame_layouts import Rounds, long_rounds, wide_rounds
from driftwise.forecasting.losses import ForecastLoss
from driftwise.forecasting.mixture_stack import MixtureStack
from driftwise.forecasting.options import MixtureOptions
from driftwise.learners.contract import ExpertLearner

__all__ = ["FORECAST", "WEIGHT", "combine"]

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
    learner: ExpertLearner | None = None,
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
        rounds = long_rounds(read, options.forecast_loss, target, expert, forecast, time, by)
    names = options.names(rounds.experts)
    added = [FORECAST, *(WEIGHT + name for name in names)] if weights else [FORECAST]
    if taken := [name for name in added if name in rounds.kept.columns]:
        raise InvalidInput(f"{OWNER}: the result has a column {shown(taken[0])}; rename that of the frame.")
    combined, played = _played(options, rounds, n_threads)
    columns = [combined, *played.T] if weights else [combined]
    result: FrameT = _with_columns(rounds.kept, dict(zip(added, columns, strict=True))).to_native()
    return result


def _played(options: MixtureOptions, rounds: Rounds, n_threads: int) -> tuple[Vector, Matrix]:
    n_threads = count(OWNER, "n_threads", n_threads)
    stack = MixtureStack(options, len(rounds.experts), rounds.n_series)
    if rounds.order is None:
        played = stack.run(rounds.forecasts, rounds.truths, rounds.series, n_threads)
        return played.combined, played.weights
    order = rounds.order
    played = stack.run(rounds.forecasts[order], rounds.truths[order], rounds.series[order], n_threads)
    combined, weights = np.empty_like(played.combined), np.empty_like(played.weights)
    combined[order], weights[order] = played.combined, played.weights
    return combined, weights


def _with_columns(kept: Any, columns: dict[str, Vector]) -> Any:
    nw = narwhals()
    series = [
        nw.new_series(name, np.ascontiguousarray(values), nw.Float64, backend=kept.implementation)
        for name, values in columns.items()
    ]
    return with_nulls(kept.with_columns(*series), FORECAST)
