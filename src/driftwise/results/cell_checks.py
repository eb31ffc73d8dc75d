"""Rules that every table of cells obeys, whether its cells come from a simulation or from a file."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from driftwise.core.spec_text import is_unicode
from driftwise.core.types import Flags
from driftwise.core.validation import MAX_COUNT
from driftwise.results.cells import COUNTS, KEY_LENGTH, TEXTS

if TYPE_CHECKING:
    from driftwise.results.cell_table import CellTable

__all__ = ["Fault", "first_fault"]

_KINDS = ("pseudo", "realised")
_SPECS = ("environment", "learner")
_LATEST = 253_402_300_799_999_999  # the last microsecond of the year 9999
_MOST_SEED = 2**63 - 1
_RANGES = {
    "n_actions": (1, MAX_COUNT, "a whole number in [1, 2^62]"),
    "n_rounds": (1, MAX_COUNT, "a whole number in [1, 2^62]"),
    "seed": (0, _MOST_SEED, "a whole number in [0, 2^63)"),
    "run": (0, MAX_COUNT, "a whole number in [0, 2^62]"),
    "segments": (0, MAX_COUNT, "a whole number in [0, 2^62]"),
    "stored": (0, _LATEST, "a time in microseconds, before the year 10000"),
}
_IS_HEX = np.isin(np.arange(256), np.frombuffer(b"0123456789abcdef", np.uint8))


class Fault(NamedTuple):
    """A broken rule: the column, the rule and the value that breaks it."""

    name: str
    rule: str
    got: object


def first_fault(table: CellTable) -> Fault | None:
    """Return the first broken rule of a table, None if it obeys all."""
    for faults in (_shape_faults, _text_faults, _number_faults, _curve_faults):  # later rules rely on earlier ones
        fault = next(faults(table), None)
        if fault is not None:
            return fault
    return None


def _shape_faults(table: CellTable) -> Iterator[Fault]:
    n_rows = len(table.round)
    if len(table.offsets) != len(table.cells) + 1 or table.offsets[0] != 0 or table.offsets[-1] != n_rows:
        yield Fault("offsets", "one more than the cells, from 0 to the number of rows", table.offsets)
    elif (np.diff(table.offsets) < 1).any():
        yield Fault("rounds", "at least one round", [])
    if not len(table.regret) == len(table.bound) == n_rows:
        lengths = [n_rows, len(table.regret), len(table.bound)]
        yield Fault("rounds", "as long as regrets and bounds", lengths)


def _text_faults(table: CellTable) -> Iterator[Fault]:
    for name in TEXTS:
        values, codes = table.texts[name], table.cells[name]
        if len(codes) and not 0 <= codes.min() <= codes.max() < len(values):
            yield Fault(name, "an index into the list of its texts", int(codes.max()))
        if len(set(values)) != len(values):
            yield Fault(name, "a list of distinct texts", values)
        for value in values:
            if not is_unicode(value):
                yield Fault(name, "valid Unicode", value)
            elif name in _SPECS and not _is_spec(value):
                yield Fault(name, "a spec as JSON text", value)
            elif name == "kind" and value not in _KINDS:
                yield Fault(name, "'pseudo' or 'realised'", value)


def _number_faults(table: CellTable) -> Iterator[Fault]:
    raw = np.ascontiguousarray(table.cells["key"]).view(np.uint8).reshape(-1, KEY_LENGTH)
    bad_keys = ~(_IS_HEX[raw].all(axis=1) | (raw == 0).all(axis=1))
    if bad_keys.any():
        yield Fault("key", "32 hex digits, or empty", table.cells["key"][bad_keys][0])
    for name in COUNTS:
        least, most, rule = _RANGES[name]
        column = table.cells[name]
        yield from _first(name, rule, (column < least) | (column > most), column)


def _curve_faults(table: CellTable) -> Iterator[Fault]:
    starts, ends = table.offsets[:-1], table.offsets[1:] - 1
    steps = np.diff(table.round, prepend=0)
    steps[starts] = table.round[starts]
    yield from _first("rounds", "increasing, counted from 1", (table.round < 1) | (steps < 1), table.round)
    last = table.round[ends]
    yield from _first("rounds", "at most n_rounds", last > table.cells["n_rounds"], last)
    failed = table.failed
    if (failed & ((starts != ends) | ~np.isnan(table.final))).any():
        yield Fault("regrets", "a single NaN where there is an error", table.final[failed][0])


def _first(name: str, rule: str, bad: Flags, column: Any) -> Iterator[Fault]:
    if bad.any():
        yield Fault(name, rule, column[bad][0].item())


@functools.lru_cache(maxsize=4096)
def _is_spec(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
