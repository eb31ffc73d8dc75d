"""Checks that the times of each series increase: an equal time is often a table with a row for each expert.

Times that are numbers, dates or timestamps are compared as such. Text is compared as numbers if the first one is a
number, as timestamps if the first one is an ISO date or timestamp (with or without an offset from UTC), else as text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute, types

from driftwise.core.errors import shown
from driftwise.core.types import Actions
from driftwise.forecasting.tables.row_blocks import Block

__all__ = ["TimeOrder", "texts_of"]

Array = np.ndarray[Any, Any]

_WORDS = {
    "number": "a number",
    "time": "an ISO date or timestamp without an offset",
    "offset": "an ISO timestamp with an offset",
    "text": "text",
}
_KINDS = ("", "whole", *_WORDS)  # "whole": whole numbers, also the times of a Parquet file
_LONG = "A table with one row for each expert? In Python, driftwise.combine(frame, expert=..., forecast=...) takes it."
_TYPES = {
    "number": [pa.float64()],
    "time": [pa.timestamp("us"), pa.timestamp("ns")],
    "offset": [pa.timestamp("us", "UTC"), pa.timestamp("ns", "UTC")],
}


class TimeOrder:
    """The last time of each series."""

    def __init__(self, column: str) -> None:
        self._column = column
        self.kind = ""
        self._last: Array = np.empty(0)
        self._texts: list[str] = []  # the last times, if they are compared as text

    def check(self, block: Block, series: Actions | None, n_series: int) -> None:
        """Reject a time that is not after the last one of the same series."""
        kind = _kind(block.time)
        if not self.kind:
            self.kind = kind
        elif self.kind != kind and not (types.is_string(block.time.type) and self.kind in _WORDS):
            advice = "start again without --resume"
            raise block.fault(0, self._column, f"the checkpoint has times of another kind; {advice}.")
        known = len(self._texts) if self.kind == "text" else len(self._last)
        order = np.arange(len(block)) if series is None else np.argsort(series, kind="stable")
        sorted_series = np.zeros(len(block), np.int64) if series is None else series[order]
        first = np.append(True, sorted_series[1:] != sorted_series[:-1])
        last = np.append(first[1:], True)
        present = sorted_series[first]
        old = present[present < known]  # series are numbered as they appear, so the known ones are first here
        keys, before = self._compared(block, old)
        keys = keys[order]
        previous = np.empty_like(keys)
        previous[1:] = keys[:-1]
        previous[np.flatnonzero(first)[present < known]] = before
        follows = ~first  # rows with an earlier one of their series
        follows[np.flatnonzero(first)[present < known]] = True
        wrong = np.flatnonzero(follows & (keys <= previous))
        if wrong.size:
            at = int(wrong[order[wrong].argmin()])
            again = bool(keys[at] == previous[at])
            self._reject(block, at, again, order, sorted_series, series is not None)
        self._keep(block, order[last], present, keys[last], n_series)

    def _compared(self, block: Block, old: Actions) -> tuple[Array, Array]:
        """Return the times of the block and the last ones of some series as values that can be compared."""
        if self.kind != "text":
            keys = _keys(block, self._column, self.kind)
            return keys, self._last[old].astype(keys.dtype)
        texts = pa.concat_arrays([block.time, pa.array([self._texts[i] for i in old.tolist()], pa.string())])
        encoded = texts.dictionary_encode()
        ranks = np.empty(len(encoded.dictionary), np.int64)
        ranks[compute.sort_indices(encoded.dictionary).to_numpy()] = np.arange(len(ranks))
        keys = ranks[encoded.indices.to_numpy()]
        return keys[: len(block)], keys[len(block) :]

    def _keep(self, block: Block, rows: Actions, series: Actions, keys: Array, n_series: int) -> None:
        if self.kind == "text":
            self._texts += [""] * (n_series - len(self._texts))
            for i, text in zip(series.tolist(), block.time.take(pa.array(rows)).to_pylist(), strict=True):
                self._texts[i] = text
            return
        if len(self._last) < n_series:
            self._last = np.concatenate(
                [self._last.astype(keys.dtype), np.zeros(n_series - len(self._last), keys.dtype)]
            )
        self._last[series] = keys

    def _reject(self, block: Block, at: int, again: bool, order: Actions, series: Actions, several: bool) -> None:
        """Raise the error about row `at` in the order of the series; `again`: its time is that of the row before."""
        i = int(order[at])
        now = shown(block.time[i].as_py())
        if again:
            what, hint = f"got {now} again.", _LONG
        else:
            if at > 0 and series[at - 1] == series[at]:
                before = shown(block.time[int(order[at - 1])].as_py())
            else:
                before = shown(self._texts[series[at]]) if self.kind == "text" else "a later one"
            what = f"got {now} after {before}."
            hint = "They are compared as text: write dates as YYYY-MM-DD." if self.kind == "text" else "Sort the rows."
        within = " within a series" if several else ""
        by = "" if several else " If there are several series, name them by --by."
        raise block.fault(i, self._column, f"times must increase{within}, {what} {hint}{by}")

    def arrays(self) -> dict[str, Array]:
        """Return the last times."""
        if self.kind != "text":
            return {"last": self._last}
        content = [text.encode() for text in self._texts]
        return {
            "texts": np.frombuffer(b"".join(content), np.uint8),
            "lengths": np.array([len(text) for text in content], np.int64),
        }

    def set_arrays(self, kind: str, arrays: dict[str, Array], n_series: int) -> None:
        """Continue from what `arrays` returned."""
        if kind not in _KINDS:
            raise ValueError("the kind of times is unknown")
        self.kind = kind
        if kind == "text":
            self._texts = texts_of(arrays["texts"], arrays["lengths"])
        else:
            self._last = arrays["last"]
            if self._last.dtype != (np.int64 if kind in ("whole", "time", "offset") else np.float64):
                raise ValueError("the times have another type")
            if self._last.ndim != 1 or not np.isfinite(self._last).all():
                raise ValueError("the times are not finite")
        if (len(self._texts) if kind == "text" else len(self._last)) != n_series:
            raise ValueError("there is not one time per series")


def texts_of(content: Array, lengths: Array) -> list[str]:
    """Return the texts that are stored one after the other; raise `ValueError` if the lengths are wrong."""
    if content.dtype != np.uint8 or lengths.dtype != np.int64 or content.ndim != 1 or lengths.ndim != 1:
        raise ValueError("the texts have another type")
    if (lengths < 0).any() or (lengths > content.size).any() or lengths.sum() != content.size:
        raise ValueError("the lengths of the texts are wrong")
    ends = np.cumsum(lengths).tolist()
    data = content.tobytes()
    return [data[start:end].decode() for start, end in zip([0, *ends[:-1]], ends, strict=True)] if ends else []


def _kind(column: Any) -> str:
    if types.is_floating(column.type) or types.is_decimal(column.type):
        return "number"
    if not types.is_string(column.type):
        return "whole"
    first = column.slice(0, 1)
    return next((kind for kind in _TYPES if _cast(first, kind) is not None), "text")


def _keys(block: Block, name: str, kind: str) -> Array:
    column = block.time
    if types.is_string(column.type):
        found = _cast(column, kind)
        if found is None:
            row = _first_bad(column, lambda part: _cast(part, kind) is None)
            raise block.fault(
                row, name, f"it must be {_WORDS[kind]}, as the first one is, got {shown(column[row].as_py())}."
            )
        column = found
    try:
        if kind == "number":
            keys: Array = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        else:
            keys = _whole(column).to_numpy(zero_copy_only=False)
    except pa.ArrowException:
        raise block.fault(0, name, f"times of the type {column.type} cannot be compared.") from None
    if kind == "number" and not np.isfinite(keys).all():
        row = int(np.argmin(np.isfinite(keys)))
        raise block.fault(row, name, f"it must be finite, got {float(keys[row])}.")
    return keys


def _whole(column: Any) -> Any:
    if types.is_date32(column.type) or types.is_time32(column.type):
        column = column.cast(pa.int32())
    return column.cast(pa.int64())


def _cast(column: Any, kind: str) -> Any:
    """Return a column of text as numbers or timestamps, None if it has something else."""
    for target in _TYPES[kind]:
        try:
            found = compute.utf8_trim_whitespace(column).cast(target)
            return found.cast(pa.timestamp("ns", target.tz)) if kind != "number" else found
        except pa.ArrowException:
            continue
    return None


def _first_bad(column: Any, is_bad: Callable[[Any], bool]) -> int:
    low, high = 0, len(column)  # the first `low` rows are right, the first `high` are not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_bad(column.slice(0, middle)) else (middle, high)
    return low
