"""Selection of cells by labels, patterns of labels, and numbers."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

import numpy as np

from driftwise.core.errors import DriftwiseError, UnknownName, one_line, rejection, shown
from driftwise.core.types import Actions, Flags
from driftwise.results.sweep_labels import CellLabels

__all__ = ["UnknownLabel", "cells_with_labels", "cells_with_numbers"]

_MOST_SHOWN = 10
_LONGEST_COMPARED = 300  # characters; comparing texts takes the product of their lengths


class UnknownLabel(UnknownName):
    """No cell has a label that was asked for. The message names the nearest label.

    >>> print(UnknownLabel("environment", "switchin", ["switching(n_segments=3)", "drifting"]))
    There is no environment 'switchin' in these cells. Did you mean 'switching(n_segments=3)'?
    """

    def __init__(self, kind: str, wanted: str, labels: Sequence[str]) -> None:
        near = _nearest(wanted, labels)
        advice = f"Did you mean '{near}'?" if near else "There are none."
        DriftwiseError.__init__(self, one_line(f"There is no {kind} {shown(wanted)} in these cells. {advice}"))


def cells_with_labels(kind: str, labels: CellLabels, wanted: str | Sequence[str]) -> Flags:
    """Return which cells have one of these labels; in a text that is no label, * stands for any text."""
    chosen = np.zeros(len(labels.names) + 1, np.bool_)
    present = {labels.names[code]: code for code in np.unique(labels.codes).tolist()}
    for text in [wanted] if isinstance(wanted, str) else wanted:
        if not isinstance(text, str):
            raise rejection("SweepResults", kind, "a label or a list of labels", wanted)
        matches = [code for label, code in present.items() if _matches(text, label)] if text not in present else []
        matches = [present[text]] if text in present else matches
        if not matches:
            raise UnknownLabel(kind, text, [*present])
        chosen[matches] = True
    found: Flags = chosen[labels.codes]
    return found


def cells_with_numbers(name: str, column: Actions, wanted: int | Sequence[int]) -> Flags:
    """Return which cells have one of these numbers."""
    numbers = [*wanted] if isinstance(wanted, Sequence) else [wanted]
    for number in numbers:
        if number not in column:
            known = np.unique(column).tolist()
            more = f" or {len(known) - _MOST_SHOWN} others" if len(known) > _MOST_SHOWN else ""
            rule = f"one of {', '.join(map(str, known[:_MOST_SHOWN]))}{more}" if known else "absent, without cells"
            raise rejection("SweepResults", name, rule, number)
    return np.isin(column, numbers)


def _matches(pattern: str, label: str) -> bool:
    """Return whether a label has the form of a pattern, without regular expressions: many stars would take long."""
    first, *others = pattern.split("*")
    if not others:
        return pattern == label
    *between, last = others
    if not label.startswith(first) or not label.endswith(last) or len(label) < len(first) + len(last):
        return False
    position, end = len(first), len(label) - len(last)
    for part in between:
        position = label.find(part, position, end)
        if position < 0:
            return False
        position += len(part)
    return True


def _nearest(wanted: str, labels: Sequence[str]) -> str:
    plain = re.sub(r"\*+", "", wanted).lower()
    containing = [label for label in labels if plain and plain in label.lower()]
    if containing:
        return min(containing, key=len)
    compared = {label[:_LONGEST_COMPARED]: label for label in labels}
    near = difflib.get_close_matches(plain[:_LONGEST_COMPARED], compared, n=1, cutoff=0.0)
    return compared[near[0]] if near else ""
