"""When forecasts are made and truths become known: the order in which a table is played.

A row is a round: what it is for (its time), when its forecasts were issued, and when its truth was known. Times are
whole numbers here, ranks on one axis. A row is combined with what was learned from the truths known by then:

==================  =================================================  ==============================================
given               a forecast is issued                               a truth is known
==================  =================================================  ==============================================
`issued`            at the time in that column                         at the time that it is for, or that of `known`
`step`, not issued  so many times of its series before its own         the same
`known` only        at its time, before the truths of the same time    at the time in that column
`delay` N           in the order of the times, or of the rows          after N more forecasts of its series
==================  =================================================  ==============================================

A truth that is known at the time of issue is used (an issue time is the time of the latest data, as the cutoff of
Nixtla's libraries is). With `step` every step ahead has weights of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, NoReturn

import numpy as np

from driftwise.core.types import Actions, Flags, Vector

RowFault = Callable[..., Exception]  # of a row, an option that names a column, a message, and possibly a hint


class Times(NamedTuple):
    """The times of the rows of a table, as ranks on one axis."""

    time: Actions | None  # None: rows are in order
    issued: Actions | None = None
    known: Actions | None = None  # -1: not known
    step: Actions | None = None
    delay: int | None = None


class Order(NamedTuple):
    """How a table is played: mixtures are numbered by series, then by step ahead."""

    mixture: Actions  # of each row
    n_steps: int
    truths: Vector
    events: Actions  # see `MixtureStack.play`


def round_order(series: Actions, times: Times, truths: Vector, fault: RowFault, revised: str = "refuse") -> Order:
    """Return the order of the events, after checks that no truth is known before its forecast was issued."""
    if times.delay is not None:
        mixture, n_steps = _by_step(series, times.step)
        check_once(fault, "time", (mixture, times.time))
        place = places(mixture, times.time)
        events = _sorted(place, 2 * place + 1, 2 * (place + times.delay + 1), truths)
        return Order(mixture, n_steps, truths, events)
    assert times.time is not None
    issued = times.issued
    if issued is None and times.step is not None:
        issued = _issued_before(series, times.time, times.step)
    if issued is None:
        assert times.known is not None
        check_once(fault, "time", (series, times.time))
        known = _known(times.known, truths, fault)
        _check(fault, "known", ~np.isnan(truths) & (known < times.time), "it must not be before the time of its row")
        return Order(series, 1, truths, _sorted(times.time, 2 * times.time, 2 * known + 1, truths))
    if times.issued is not None:
        _check(fault, "issued", issued >= times.time, "it must be before the time that the forecasts are for")
    check_once(fault, "issued" if times.issued is not None else "step", (series, issued, times.time))
    truths = _one_truth(series, times.time, truths, fault, revised)
    known = times.time if times.known is None else _known(times.known, truths, fault)
    _check(fault, "known", ~np.isnan(truths) & (known <= issued), "it must be after its forecasts were issued")
    mixture, n_steps = _by_step(series, times.step)
    return Order(mixture, n_steps, truths, _sorted(times.time, 2 * issued + 1, 2 * known, truths))


def _by_step(series: Actions, step: Actions | None) -> tuple[Actions, int]:
    """Return the numbers of the mixtures, and how many a series has: one for each step that occurs."""
    if step is None:
        return series, 1
    different, place = np.unique(step, return_inverse=True)
    return series * len(different) + place, len(different)


def row_codes(*columns: Actions) -> Actions:
    """Return equal numbers for rows with equal values."""
    code = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        different, place = np.unique(column, return_inverse=True)
        code = np.unique(code * len(different) + place, return_inverse=True)[1]
    return code


def places(group: Actions, time: Actions | None) -> Actions:
    """Return the place of each row among those of its group, by time or else by row, counted from 0."""
    order = np.argsort(group, kind="stable") if time is None else np.lexsort((time, group))
    starts = np.flatnonzero(np.append(True, np.diff(group[order]) != 0))
    places = np.empty(len(group), np.int64)
    places[order] = np.arange(len(group)) - np.repeat(starts, np.diff(np.append(starts, len(group))))
    return places


def _issued_before(series: Actions, time: Actions, step: Actions) -> Actions:
    """Return the time that is so many different times of the series before that of each row, -1 if there is none."""
    issued = np.full(len(time), -1)
    pairs = np.unique(np.column_stack([series, time]), axis=0)
    first = np.searchsorted(pairs[:, 0], series)
    width = int(time.max(initial=0)) + 1
    at = np.searchsorted(pairs[:, 0] * width + pairs[:, 1], series * width + time) - step
    is_inside = at >= first
    issued[is_inside] = pairs[at[is_inside], 1]
    return issued


def _known(known: Actions, truths: Vector, fault: RowFault) -> Actions:
    _check(fault, "known", ~np.isnan(truths) & (known < 0), "it must not be missing where there is a truth")
    return known


def _one_truth(series: Actions, time: Actions, truths: Vector, fault: RowFault, revised: str) -> Vector:
    """Return the truth of each row's time, which rows that were issued at other times may have, too."""
    code = row_codes(series, time)
    has = np.flatnonzero(~np.isnan(truths))
    first = np.full(int(code.max(initial=-1)) + 1, -1)
    first[code[has[::-1]]] = has[::-1]
    chosen = np.where(first[code] >= 0, truths[first[code]], np.nan)
    if revised == "refuse" and (differs := ~np.isnan(truths) & (truths != chosen)).any():
        row = int(differs.argmax())
        raise fault(row, "target", f"a time must have one truth, which was {chosen[row]} in an earlier row")
    return chosen


def _check(fault: RowFault, option: str, is_wrong: Flags, rule: str) -> None:
    if is_wrong.any():
        raise fault(int(is_wrong.argmax()), option, rule)


def check_once(fault: RowFault, option: str, columns: tuple[Actions | None, ...]) -> None:
    """Refuse two rows with equal values."""
    given = [column for column in columns if column is not None]
    if len(given) < len(columns):  # rows are in order
        return
    code = row_codes(*given)
    again = np.ones(len(code), bool)
    again[np.unique(code, return_index=True)[1]] = False
    if again.any():
        _twice(fault, option, int(again.argmax()))


def _twice(fault: RowFault, option: str, row: int) -> NoReturn:
    what = {"issued": "the same time was issued twice at this time", "step": "it has this step twice at its time"}
    raise fault(row, option, what.get(option, "the time occurs twice in its series"))


def _sorted(time: Actions, issued: Actions, known: Actions, truths: Vector) -> Actions:
    """Return events in order: by when they are, what they are for, and when this was issued.

    A row without a truth has one event.
    """
    rows = np.arange(len(time))
    return in_order(rows, rows[~np.isnan(truths)], time, issued, known)


def in_order(rows: Actions, learned: Actions, time: Actions, issued: Actions, known: Actions) -> Actions:
    """Return the events of some rows that are issued and some whose truths are learned, in the same order."""
    events, of_event = np.concatenate([rows, ~learned]), np.concatenate([rows, learned])
    when = np.concatenate([issued[rows], known[learned]])
    return events[np.lexsort((issued[of_event], time[of_event], when))]
