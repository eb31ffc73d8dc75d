"""Combine the forecasts in a frame of pandas, polars or Arrow.

Layouts. Wide: one row per round, one column per expert. Long: one row per round and expert. The names `unique_id`, `ds`
and `cutoff` are those of Nixtla's libraries: a wide frame with the first two has its series and its time in them, and
`cutoff` is the time at which the forecasts were issued. Columns named `h`, `step`, `horizon` or `lead_time` have the
steps ahead. Columns with names such as `AutoARIMA-lo-90` or `AutoARIMA-q-0.9` are quantiles, which are combined by
level with `quantiles`, and are no experts otherwise.
"""

from __future__ import annotations

import ast
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from driftwise.core.errors import BadFile, InvalidInput, LayoutWarning, rejection, shown
from driftwise.core.types import Actions, Matrix, Vector
from driftwise.core.validation import count
from driftwise.forecasting.combinations import Combinations
from driftwise.forecasting.frame_columns import (
    OWNER,
    check_different,
    codes,
    narwhals,
    numbers,
    opened,
    require_column,
    require_experts,
    times,
    with_nulls,
)
from driftwise.forecasting.labelled_values import as_names
from driftwise.forecasting.losses import ForecastLoss
from driftwise.forecasting.mixture_stack import Combined, MixtureStack
from driftwise.forecasting.options import MixtureOptions, quantile_levels
from driftwise.forecasting.quantile_columns import level_of, level_text, quantile_experts, quantile_notes
from driftwise.forecasting.round_order import Order, RowFault, Times, round_order
from driftwise.forecasting.time_axis import TimeAxis, clocks_hint
from driftwise.learners.base import ExpertLearner

if TYPE_CHECKING:
    from driftwise.forecasting.frame_columns import Frame

SERIES, TIME, CUTOFF = "unique_id", "ds", "cutoff"  # Nixtla's names
STEPS = ("h", "step", "horizon", "lead_time")
FORECAST, WEIGHT = "forecast", "weight_"  # the columns that a result adds
_NAME_SERIES = "Name the columns that tell the series apart with `by`, those of a long frame with `expert`, `forecast`."
_NAME_ISSUE = "If they were issued at different times, name these times with `issued`, or the steps ahead with `step`."
_SEVERAL = "If each time is forecast several times: `issued` or `step`."
_BEGUN = re.compile(r"it was begun with (?P<name>\w+)=(?P<value>.*), got ")
_KEEP_FIRST = "To keep the first one: revised='ignore'."
_CURES = {  # by how the rule begins that a row breaks
    "a time must have one truth": _KEEP_FIRST,
    "it was issued in an earlier run with": "Leave its forecasts empty to give the truth only.",
}


class ColumnUses(NamedTuple):
    """The columns that a user names, and how truths become known."""

    target: str
    experts: Any = None
    time: str | None = None
    by: Any = ()
    expert: str | None = None
    forecast: str | None = None
    issued: str | None = None
    known: str | None = None
    step: str | None = None
    delay: int | None = None
    revised: str = "refuse"
    quantiles: tuple[float, ...] | None = None
    continued: bool = False  # whether a state is continued: then rows may have a truth only
    seen: str = "refuse"

    @property
    def times(self) -> dict[str, str]:
        """The columns of times, by option."""
        named = {"time": self.time, "issued": self.issued, "known": self.known}
        return {option: name for option, name in named.items() if name is not None}

    @property
    def timing(self) -> str:
        """When truths were taken as known, in sentences of the report of the command."""
        late = " What came later was used when it came." if self.continued else ""
        return self._timing + late

    @property
    def _timing(self) -> str:
        if self.delay is not None:
            rows = f"at least {self.delay + 1} rows" if self.delay else "one row"
            return f"Each forecast used the truths from {rows} before it in its series."
        if self.issued is not None:
            columns = f"columns {self.issued!r}, {self.known!r}"
            if self.known is not None:
                return f"Each forecast used the truths known by its time of issue ({columns})."
            return f"Each forecast used the truths of times up to its time of issue (column {self.issued!r})."
        if self.step is not None:
            return f"Each forecast used the truths of times at least as many steps before (column {self.step!r})."
        if self.known is not None:
            return f"Each forecast used the truths known before its time (column {self.known!r})."
        assumed = "Each truth was taken as known before the next row of its series."
        return f"{assumed} If they were not: --issued, --step, --known, --delay."

    @property
    def kept(self) -> list[str]:
        """The columns that the result of a wide table has too."""
        step = [] if self.step is None or self.step in self.by else [self.step]
        return [*self.by, *self.times.values(), *step, self.target]

    @property
    def is_ordered(self) -> bool:
        """Whether anything says when forecasts were issued or truths known."""
        return any(given is not None for given in (self.issued, self.known, self.step, self.delay))


class FrameRows(NamedTuple):
    """A frame, its times if they are known already, and how its rows are called in messages."""

    frame: Frame
    times: TimeAxis | None = None
    place: Callable[[int], str] = "row {}".format


class Unordered(NamedTuple):
    """What says how rounds are ordered when a state is continued."""

    axis: TimeAxis
    step: Actions | None  # 0 where it is missing
    fault: RowFault
    sources: dict[str, list[str]]  # the columns of each expert of a wide frame


class Rounds(NamedTuple):
    """The rounds of a frame."""

    experts: tuple[str, ...]
    forecasts: tuple[Matrix, ...]  # one for each level, or one
    truths: Vector
    series: Actions
    series_names: tuple[str | int, ...]  # ("",) if there is one without a name
    kept: Frame  # the columns of the frame that its result has too, one row per round
    rows: Actions  # of the frame, the first one of each round
    times: Actions | None  # the ranks of their times
    order: Order | None  # None: the rows are in order, each truth known before the next row
    unordered: Unordered | None = None


def read_rounds(table: FrameRows, loss: ForecastLoss, columns: ColumnUses) -> Rounds:
    """Return the rounds of a frame; `columns` are as `recognised` returns them."""
    is_long = columns.expert is not None
    keys = list(columns.by)
    named = [*columns.times.values(), *([] if columns.step is None or columns.step in keys else [columns.step])]
    of_long = [name for name in (columns.expert, columns.forecast) if name is not None]
    check_different([*keys, *named, columns.target, *of_long])
    read = _long if is_long else _wide
    return read(table, loss, columns, [*keys, *named])


def recognised(frame: Frame, columns: ColumnUses) -> ColumnUses:
    """Return the columns with those that are recognised by their names: series, time, issue times and steps ahead."""
    require_column(frame, "target", columns.target)
    is_long = columns.expert is not None or columns.forecast is not None
    if is_long and (columns.experts is not None or columns.quantiles is not None):
        raise InvalidInput(
            f"{OWNER}: `experts` and `quantiles` are of wide frames, `expert` and `forecast` are of long ones."
        )
    for option in ("expert", "forecast", "time", "issued", "known", "step"):
        if (name := getattr(columns, option)) is not None or (is_long and option in ("expert", "forecast", "time")):
            require_column(frame, option, name)
    names = {*frame.columns}
    nixtla = {SERIES, TIME} <= names and (not is_long or columns.time == TIME)
    time = TIME if columns.time is None and (nixtla or {TIME, CUTOFF} <= names) else columns.time
    by = _keys(frame, None if columns.by == () else columns.by, [SERIES] if nixtla else [])
    experts = columns.experts if isinstance(columns.experts, Sequence) else ()
    taken = {columns.target, columns.expert, columns.forecast, time, columns.known, columns.step, *experts}
    if CUTOFF in names - taken and columns.issued is None:
        if columns.delay is not None:
            hint = "drop one of them"
            raise InvalidInput(f"{OWNER}: `delay` and the column {CUTOFF!r} both say when truths were known; {hint}.")
        columns = columns._replace(issued=CUTOFF)
    if columns.issued in by:
        hint = "Leave it out of `by`."
        raise InvalidInput(f"{OWNER}: the column {shown(columns.issued)} has issue times, it names no series. {hint}")
    steps = [name for name in frame.columns if name.lower() in STEPS and name not in taken | {columns.issued}]
    if columns.step is None and steps:
        if len(steps) > 1:
            raise InvalidInput(f"{OWNER}: the columns {shown(steps)} may be steps ahead; name one with `step`.")
        columns = columns._replace(step=steps[0])
    columns = columns._replace(time=time, by=by)
    if columns.is_ordered and time is None and (columns.delay is None or columns.step is not None):
        named = next(name for name in (columns.issued, columns.known, columns.step) if name is not None)
        hint = "Name the column of the times that the forecasts are for with `time`."
        raise InvalidInput(f"{OWNER}: the column {shown(named)} says when forecasts were issued. {hint}")
    if columns.delay is not None and (columns.issued is not None or columns.known is not None):
        raise InvalidInput(f"{OWNER}: `delay` is for tables without `issued` and `known`.")
    if columns.continued:
        _check_continued(columns)
    several = is_long or columns.continued or columns.issued is not None or columns.step is not None
    if columns.revised == "ignore" and not several:
        which = "with `issued`, `step` or `state`, or with a row for each expert"
        raise InvalidInput(f"{OWNER}: revised='ignore' is for tables in which a time can have several truths: {which}.")
    return columns


def _check_continued(columns: ColumnUses) -> None:
    """Refuse tables whose rows cannot be found again in a later table."""
    if columns.time is None:
        raise InvalidInput(f"{OWNER}: a `state` needs the times that rows are for. Name their column with `time`.")
    if columns.step is not None and columns.issued is None and columns.delay is None:
        why = "steps ahead do not say when a row was issued if its earlier rows are in other tables"
        raise InvalidInput(f"{OWNER}: with a `state`, {why}. Name the column of the issue times with `issued`.")


def _wide(table: FrameRows, loss: ForecastLoss, columns: ColumnUses, named: list[str]) -> Rounds:
    """Return the rounds of a frame with one row per round."""
    frame = table.frame
    kept = [*named, columns.target]
    if columns.quantiles is None:
        names = _experts(frame, columns, kept)
        chosen: tuple[list[str | None], ...] = ([*names],)
    else:
        names, chosen = quantile_experts(frame, columns)
        for text in quantile_notes(frame.columns, columns, names, chosen):
            _warn(f"{OWNER}: {text}", stacklevel=5)
    missing = np.full(len(frame), np.nan)
    forecasts = tuple(
        np.column_stack([missing if name is None else numbers(frame, name, loss.forecast_fault) for name in of_level])
        for of_level in chosen
    )
    truths = numbers(frame, columns.target, loss.truth_fault)
    rounds = _ordered(table, names, forecasts, truths, columns, frame.select(kept), np.arange(len(frame)))
    if rounds.unordered is None:
        return rounds
    of_experts = zip(names, zip(*chosen, strict=True), strict=True)
    sources = {name: [column for column in theirs if column is not None] for name, theirs in of_experts}
    return rounds._replace(unordered=rounds.unordered._replace(sources=sources))


def _long(table: FrameRows, loss: ForecastLoss, columns: ColumnUses, named: list[str]) -> Rounds:
    """Return the rounds of a frame with one row per round and expert: by series, then by time."""
    frame, target, expert, forecast = table.frame, columns.target, columns.expert, columns.forecast
    assert expert is not None
    assert forecast is not None
    values = numbers(frame, forecast, loss.forecast_fault)
    row_truths = numbers(frame, target, loss.truth_fault)
    series, _ = _series(frame, [name for name in columns.by if name != columns.step])
    axis = _axis(table, columns)
    times = {} if axis is None else axis.ranks
    step = () if columns.step is None else (_steps(table, columns.step, columns.continued),)
    which, labels = codes(frame, [expert])
    names = as_names(OWNER, labels, "expert")
    keys = np.column_stack([series, *(times[name] for name in ("time", "issued") if name in times), *step])
    _, first, rounds = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    rounds = rounds.reshape(-1)
    _, earliest, places = np.unique(rounds * len(names) + which, return_index=True, return_inverse=True)
    if (again := earliest[places] < np.arange(len(frame))).any():
        row = int(again.argmax())
        got = f"{shown(names[which[row]])} at {_text(frame, columns.time, row)}"
        clocks = clocks_hint(_value(frame, columns.time, row))
        hint = f"Name the columns that tell the series apart with `by`. {_NAME_ISSUE} {clocks}".rstrip()
        raise InvalidInput(
            f"{OWNER}: every expert must have one row per time, got {got} again in {table.place(row)}. {hint}"
        )
    pivoted = np.full((len(first), len(names)), np.nan)
    pivoted[rounds, which] = values
    truths, present = np.full(len(first), np.nan), ~np.isnan(row_truths)
    truths[rounds[present][::-1]] = row_truths[present][::-1]  # the first one of each round
    if columns.revised == "refuse" and (differ := present & (row_truths != truths[rounds])).any():
        row = int(np.argmax(differ))
        got = f"{row_truths[row]} and {truths[rounds[row]]} at {_text(frame, columns.time, row)}"
        rule = f"must have one truth per time, got {got}, {table.place(row)}"
        raise InvalidInput(f"{OWNER}: the column {shown(target)} {rule}. {_KEEP_FIRST}")
    nw = narwhals()
    reduced = nw.maybe_reset_index(frame[first.tolist()])
    kept = reduced.select(named)
    kept = kept.with_columns(nw.new_series(target, truths, nw.Float64, backend=frame.implementation))
    return _ordered(table, names, (pivoted,), truths, columns, with_nulls(kept, target), first)


def _ordered(
    table: FrameRows,
    names: tuple[str, ...],
    forecasts: tuple[Matrix, ...],
    truths: Vector,
    columns: ColumnUses,
    kept: Frame,
    rows: Actions,
) -> Rounds:
    """Return rounds with the order in which they are played; `rows` are the first rows of the rounds."""
    series, series_names = _series(kept, [name for name in columns.by if name != columns.step])
    axis = _axis(table, columns)
    times = {} if axis is None else {option: ranks[rows] for option, ranks in axis.ranks.items()}
    rounds = Rounds(names, forecasts, truths, series, series_names, kept, rows, times.get("time"), None)

    def fault(row: int, option: str, rule: str, hint: str = "") -> InvalidInput:
        name = getattr(columns, option)
        got = f"got {_text(kept, name, row)} in {table.place(int(rows[row]))}"
        if "twice" in rule:
            hint = " ".join(filter(None, [_NAME_SERIES, clocks_hint(_value(kept, columns.time, row))]))
        hint = hint or next((cure for start, cure in _CURES.items() if rule.startswith(start)), "")
        at = f" at {_text(kept, columns.time, row)}" if option not in ("time", "step") else ""
        return InvalidInput(f"{OWNER}: the column {shown(name)}: {rule}, {got}{at}. {hint}".rstrip())

    step = None if columns.step is None else _steps(table, columns.step, columns.continued)[rows]
    if columns.continued and axis is not None:
        of_rounds = {option: column.take(rows) for option, column in axis.columns.items()}
        return rounds._replace(unordered=Unordered(TimeAxis(of_rounds, times, axis.kind), step, fault, {}))
    if not columns.is_ordered:
        if columns.time is not None and columns.expert is None:
            _check_order(table, columns.time, series, times["time"])
        return rounds
    of_rows = Times(times.get("time"), times.get("issued"), times.get("known"), step, columns.delay)
    return rounds._replace(order=round_order(series, of_rows, truths, fault, columns.revised))


def _axis(table: FrameRows, columns: ColumnUses) -> TimeAxis | None:
    """Return the times by option."""
    if not columns.times or table.times is not None:
        return table.times
    optional = ("known", "issued") if columns.continued else ("known",)
    return times(table.frame, columns.times, optional, parse=columns.continued)


def _steps(table: FrameRows, name: str, may_miss: bool) -> Actions:
    """Return the steps ahead, whole numbers from 1 on; 0 where one is missing, if it may be."""
    steps = numbers(table.frame, name, _no_fault)
    missing = np.isnan(steps) & may_miss
    if (wrong := ~missing & ~((steps >= 1) & (steps % 1 == 0))).any():
        row = int(wrong.argmax())
        hint = (
            f"If it has forecasts, list it in `experts`; if it is something else, drop it: {shown(name)} means steps."
        )
        rule = "must have steps ahead, whole numbers >= 1"
        raise InvalidInput(f"{OWNER}: the column {shown(name)} {rule}, got {steps[row]} in {table.place(row)}. {hint}")
    return np.where(missing, 0.0, steps).astype(np.int64)


def _no_fault(_: Vector) -> str:
    return ""


def _keys(frame: Frame, by: object, default: list[str]) -> list[str]:
    keys = default if by is None else [by] if isinstance(by, str) else by
    if not isinstance(keys, Sequence):
        raise rejection(OWNER, "by", "the name of a column, or a list of names", by)
    for key in keys:
        require_column(frame, "by", key)
    return list(keys)


def _experts(frame: Frame, columns: ColumnUses, kept: list[str]) -> tuple[str, ...]:
    experts = columns.experts
    if experts is None:
        others = [name for name in frame.columns if name not in kept]
        if bounds := [name for name in others if level_of(name) is not None]:
            text = ", ".join(bounds[:4]) + (", ..." if len(bounds) > 4 else "")
            rule = "Combine them with `quantiles`, or list the columns with `experts`."
            _warn(f"{OWNER}: quantiles are no experts, left out: {text}. {rule}", stacklevel=6)
        experts = [name for name in others if name not in bounds]
        if not experts:
            got = ", ".join(frame.columns)
            raise InvalidInput(f"{OWNER}: the frame must have a column of forecasts, got only {got}.")
    elif isinstance(experts, str | Mapping) or not isinstance(experts, Sequence) or not len(experts):
        raise rejection(OWNER, "experts", "a list of names of columns", experts)
    require_experts(frame, experts)
    check_different([*kept, *experts])
    return tuple(experts)


def _series(frame: Frame, keys: list[str]) -> tuple[Actions, tuple[str | int, ...]]:
    """Return the number of the series of each row, and the names of the series."""
    if not keys:
        return np.zeros(len(frame), np.int64), ("",)
    series, different = codes(frame, keys)
    parts = [key if isinstance(key, tuple) and len(keys) > 1 else (key,) for key in different]
    return series, tuple(map(series_name, parts))


def series_name(parts: Sequence[object]) -> str | int:
    """Return the name of a series from its values in the columns that tell series apart."""
    if len(parts) == 1 and type(parts[0]) is int:
        return parts[0]
    return ", ".join(map(str, parts))


def _check_order(table: FrameRows, time: str, series: Actions, rank: Actions) -> None:
    """Check that the times of each series increase."""
    order = np.argsort(series, kind="stable")
    back = (np.diff(rank[order]) <= 0) & (np.diff(series[order]) == 0)
    if not back.any():
        return
    place = 1 + int(np.flatnonzero(back)[order[1:][back].argmin()])
    row, before = int(order[place]), int(order[place - 1])
    got = f"{_text(table.frame, time, row)} in {table.place(row)}"
    if not (rank[:row] == rank[row])[series[:row] == series[row]].any():
        rule = "must increase within a series"
        hint = f"Sort the frame by it. {_SEVERAL}"
        if hint_of_clocks := clocks_hint(_value(table.frame, time, row), _value(table.frame, time, before)):
            hint = f"{hint} {hint_of_clocks}"
        raise InvalidInput(f"{OWNER}: the column {shown(time)} {rule}, got {got}. {hint}")
    rule = "must have different times in the rows of a series"
    hint = " ".join(filter(None, [_NAME_SERIES, _NAME_ISSUE, clocks_hint(_value(table.frame, time, row))]))
    raise InvalidInput(f"{OWNER}: the column {shown(time)} {rule}, got again {got}. {hint}")


def _value(frame: Frame, name: str | None, row: int) -> object:
    return None if name is None else frame[name].to_list()[row]


def _text(frame: Frame, name: str | None, row: int) -> str:
    value = _value(frame, name, row)
    return shown(value) if isinstance(value, (str, int, float)) else str(value)


def _warn(text: str, stacklevel: int) -> None:
    warnings.warn(text, LayoutWarning, stacklevel=stacklevel)


FrameT = TypeVar("FrameT")


def combine(
    frame: FrameT,
    target: str = "y",
    *,
    experts: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    time: str | None = None,
    by: str | Sequence[str] | None = None,
    expert: str | None = None,
    forecast: str | None = None,
    issued: str | None = None,
    known: str | None = None,
    step: str | None = None,
    delay: int | None = None,
    revised: str = "refuse",
    quantiles: Sequence[float] | None = None,
    state: str | os.PathLike[str] | None = None,
    seen: str = "refuse",
    loss: str | ForecastLoss = "square",
    learner: ExpertLearner | Combinations | str | None = None,
    gradient: bool = True,
    hint: str = "last-truth",
    extras: tuple[str, ...] = (),
    scale: float | None = None,
    weights: bool = True,
    n_threads: int = 1,
) -> FrameT:
    """Combine the forecasts in a frame: each row with weights that were learned from truths known before it was issued.

    Without `issued`, `known`, `step` and `delay` rows are in order, and each truth is taken as known before the next
    row of its series. Every series has weights of its own, and with `step` every step ahead. Rows whose truth is
    missing are combined but change no weights, so a frame can end with forecasts whose truths are not known yet. The
    given frame is not changed.

    Parameters
    ----------
    frame : pandas, polars or Arrow frame
        Wide: one row per round and one column per expert. Long: one row per round and expert; `expert` and `forecast`
        name the columns. A lazy frame must be collected first.
    target : str, default "y"
        The column of the truths.
    experts : list of str, default None
        Wide: the columns of forecasts. None: all others, but quantiles such as `AutoARIMA-lo-90`. With `quantiles` the
        names of experts, or a dict from a name to its columns, one for each level (None: asleep there).
    time : str, default None
        The column of the time that a row is for. None: `ds` if the frame has the columns `unique_id` and `ds`, else the
        rows are in order. A long frame needs it.
    by : str or list of str, default None
        The columns that tell the series apart. None: `unique_id` if the frame has the columns `unique_id` and `ds`,
        else there is one series.
    expert : str, default None
        Long: the column of the experts' names.
    forecast : str, default None
        Long: the column of the forecasts.
    issued : str, default None
        The column of the time at which a row was issued: the time of the latest data that it may use. None: `cutoff`,
        if there is such a column.
    known : str, default None
        The column of the time at which a truth was known. None: the time that the row is for.
    step : str, default None
        The column of the steps ahead, 1, 2, ...; each has weights of its own. Without `issued`, a row was issued so
        many times of its series before its own. None: a column `h`, `step`, `horizon` or `lead_time`.
    delay : int, default None
        Truths are known after so many more rows of their series: h - 1 for forecasts h steps ahead, one for each time.
    revised : {"refuse", "ignore"}, default "refuse"
        What happens if a time has several truths; "ignore" keeps the first.
    quantiles : sequence of float, default None
        Levels of quantiles to combine, under the pinball loss; combined quantiles do not cross. Columns have names such
        as `a-lo-80`, `a-hi-80` (levels 0.1, 0.9), `a-q-0.25`, `a-median`; `a` stands for a median that is not there.
    state : path, default None
        A file that continues from frame to frame, see `driftwise.forecasting.mixture_state`; it is made if it is
        missing, and changed only when the result is complete.
    seen : {"refuse", "skip"}, default "refuse"
        What happens to rows that the state has already; "skip" leaves them without a forecast.
    loss, learner, gradient, hint, extras, scale
        The options of the mixtures, see `MixtureOptions`.
    weights : bool, default True
        Whether the result has the weights.
    n_threads : int, default 1
        Threads that share the series.

    Returns
    -------
    frame of the same library
        The columns `by`, of times and steps, and `target`, then `forecast` and, for each expert, `weight_<expert>`;
        with `quantiles` these end in `-q-<level>`. Wide: one row for each row of the frame, in its order and, for
        pandas, with its index. Long: one row per round, sorted by series and time.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"y": [1.0, 1.0, None], "a": [1.0, 1.0, 1.0], "b": [3.0, None, None]})
    >>> combine(frame)["forecast"].to_list()
    [2.0, 1.0, 1.0]
    """
    levels = None if quantiles is None else quantile_levels(OWNER, quantiles)
    if levels is not None and loss != "square":
        raise InvalidInput(f"{OWNER}: the loss of quantiles is their pinball loss.")
    delay = None if delay is None else count(OWNER, "delay", delay, at_least=0)
    if revised not in ("refuse", "ignore"):
        raise rejection(OWNER, "revised", "'refuse' or 'ignore'", revised)
    if seen not in ("refuse", "skip"):
        raise rejection(OWNER, "seen", "'refuse' or 'skip'", seen)
    if seen == "skip" and state is None:
        raise InvalidInput(f"{OWNER}: seen='skip' needs a `state`: without one, no row was seen before.")
    others: Any = (learner, gradient, hint, extras, scale)
    options = level_options(MixtureOptions(loss, *others), levels)
    columns = ColumnUses(target, experts, time, by, expert, forecast, issued, known, step, delay, revised, levels)
    read, n_threads = opened(frame), count(OWNER, "n_threads", n_threads)
    if state is None:
        rounds = read_rounds(FrameRows(read), options[0].forecast_loss, recognised(read, columns))
        whole: FrameT = _result(rounds, options, levels, weights, lambda: play_rounds(options, rounds, n_threads))
        return whole
    from driftwise.forecasting.mixture_state import MixtureState

    with MixtureState(state) as memory:
        read = memory.complete(read, is_long=expert is not None or forecast is not None)
        columns = recognised(read, columns._replace(continued=True, seen=seen))
        rounds = read_rounds(FrameRows(read), options[0].forecast_loss, columns)
        try:
            run = memory.play(rounds, options, columns, n_threads)
        except BadFile as error:
            if (before := begun_with(str(error))) is None:
                raise
            value = "the one it was begun with" if isinstance(before[1], dict) else repr(before[1])
            raise BadFile(f"{error} Use {before[0]}={value}, or another `state`.") from None
        result: FrameT = _result(run.rounds, options, levels, weights, lambda: run.played)
        memory.commit()
    for note in memory.notes:
        warnings.warn(f"{OWNER}: {note}", LayoutWarning, stacklevel=2)
    return result


def _result(
    rounds: Rounds,
    options: list[MixtureOptions],
    levels: tuple[float, ...] | None,
    weights: bool,
    play: Callable[[], Played],
) -> Any:
    """Return the frame with the columns that a result adds."""
    added = added_columns(options[0].names(rounds.experts), levels, weights)
    if taken := [name for name in added if name in rounds.kept.columns]:
        raise InvalidInput(f"{OWNER}: the result has a column {shown(taken[0])}; rename that of the frame.")
    played = play()
    of_levels = zip(played.combined.T, played.weights, strict=True)
    columns_of_levels = [[forecasts, *table.T] for forecasts, table in of_levels]
    values = [column for of_level in columns_of_levels for column in (of_level if weights else of_level[:1])]
    nw, backend = narwhals(), rounds.kept.implementation
    series = [
        nw.new_series(name, np.ascontiguousarray(column), nw.Float64, backend=backend)
        for name, column in zip(added, values, strict=True)
    ]
    whole = rounds.kept.with_columns(*series)
    for name in added:
        if name.startswith(FORECAST):
            whole = with_nulls(whole, name)
    return whole.to_native()


def level_options(options: MixtureOptions, levels: tuple[float, ...] | None) -> list[MixtureOptions]:
    """Return the options of the mixtures of each level."""
    if levels is None:
        return [options]
    return [replace(options, loss=ForecastLoss("pinball", level=level)) for level in levels]


def added_columns(names: tuple[str, ...], levels: tuple[float, ...] | None, weights: bool = True) -> list[str]:
    """Return the names of the columns that a result adds."""
    ends = [""] if levels is None else list(map(level_text, levels))
    return [name + end for end in ends for name in (FORECAST, *((WEIGHT + name for name in names) if weights else ()))]


def begun_with(text: str) -> tuple[str, object] | None:
    """Return the option with which a state was begun, and its value, if an error says that it now has another one.

    >>> begun_with("Cannot use the state mix.db: it was begun with loss='square', got 'absolute'.")
    ('loss', 'square')
    """
    found = _BEGUN.search(text)
    if found is None:
        return None
    try:
        return found["name"], ast.literal_eval(found["value"])
    except (ValueError, SyntaxError):  # a long value is cut
        return found["name"], {}


class Played(NamedTuple):
    """The rounds as they were played, by level."""

    combined: Matrix  # (rounds, levels), in increasing order
    weights: list[Matrix]
    inputs: list[Matrix]  # the forecasts of all experts, also of those that the options add
    cuts: list[tuple[Actions, Vector]]


def play_rounds(options: list[MixtureOptions], rounds: Rounds, n_threads: int) -> Played:
    """Play rounds in their order, with one stack of mixtures for each level."""
    played, cuts, order = [], [], rounds.order
    n_experts, n_series = len(rounds.experts), len(rounds.series_names)
    for of_level, forecasts in zip(options, rounds.forecasts, strict=True):
        if order is None:
            stack = MixtureStack(of_level, n_experts, n_series)
            played.append(stack.run(forecasts, rounds.truths, rounds.series, n_threads))
        else:
            stack = MixtureStack(of_level, n_experts, n_series * order.n_steps)
            issued, _ = stack.play(order.events, forecasts, order.truths, order.mixture, n_threads)
            played.append(Combined(issued.combined, issued.weights, issued.inputs))
        cuts.append(stack.cuts)
    combined = np.sort(np.column_stack([of_level.combined for of_level in played]), axis=1)
    return Played(combined, [of.weights for of in played], [of.inputs for of in played], cuts)
