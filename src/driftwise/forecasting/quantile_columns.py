"""The columns of quantiles in a table: the experts and levels in their names, and what is not used of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from driftwise.core.errors import rejection, shown
from driftwise.forecasting.frame_columns import OWNER, check_different, listed, require_experts
from driftwise.forecasting.labelled_values import as_names

if TYPE_CHECKING:
    from driftwise.forecasting.frame_columns import Frame
    from driftwise.forecasting.frames import ColumnUses

_BOUND = re.compile(r"(?P<expert>.+)-(?:(?P<side>lo|hi)-(?P<percent>\d+(?:\.\d+)?)|q-(?P<level>\d*\.?\d+))$")
_MEDIAN = "-median"
Chosen = tuple[list[str | None], ...]  # for each level the columns of the experts
_SAME_LEVEL = 1e-9  # levels are equal up to rounding: (1 + 80 / 100) / 2 is not 0.9


def level_of(name: str) -> tuple[str, float] | None:
    """Return the expert and the level in the name of a column, None if it is no quantile.

    >>> level_of("arima-hi-80"), level_of("arima-q-0.25"), level_of("arima")
    (('arima', 0.9), ('arima', 0.25), None)
    """
    if name.endswith(_MEDIAN) and len(name) > len(_MEDIAN):
        return name[: -len(_MEDIAN)], 0.5
    found = _BOUND.match(name)
    if found is None:
        return None
    if found["side"] is None:
        return found["expert"], float(found["level"])
    half = float(found["percent"]) / 200
    return found["expert"], round(0.5 - half if found["side"] == "lo" else 0.5 + half, 12)


def quantile_experts(frame: Frame, columns: ColumnUses) -> tuple[tuple[str, ...], Chosen]:
    """Return the names of the experts, and for each level their columns; None where an expert has none."""
    levels, experts, kept = columns.quantiles or (), columns.experts, columns.kept
    if isinstance(experts, Mapping):
        for name, theirs in experts.items():
            if isinstance(theirs, str) or not isinstance(theirs, Sequence) or len(theirs) != len(levels):
                rule = f"a list of {len(levels)} columns, one for each level"
                raise rejection(OWNER, f"experts[{name!r}]", rule, theirs)
            require_experts(frame, [name for name in theirs if name is not None])
        check_different([*kept, *(name for theirs in experts.values() for name in theirs if name is not None)])
        names = as_names(OWNER, experts, "experts")
        return names, tuple([theirs[i] for theirs in experts.values()] for i in range(len(levels)))
    by_expert: dict[str, dict[float, str]] = {}
    for column in frame.columns:
        if column not in kept and (found := level_of(column)) is not None:
            by_expert.setdefault(found[0], {})[found[1]] = column
    if experts is not None:
        if unknown := [name for name in experts if name not in by_expert]:
            rule = "experts with columns such as `name-lo-90` and `name-q-0.9`, or a dict from names to columns"
            raise rejection(OWNER, "experts", rule, unknown[0])
        by_expert = {name: by_expert[name] for name in experts}
    for name, theirs in by_expert.items():  # the point forecast of a library stands for a median that is not there
        if name in frame.columns and not any(_is_same(level, 0.5) for level in theirs):
            theirs[0.5] = name
    tables = tuple(
        [next((theirs[has] for has in theirs if _is_same(has, level)), None) for theirs in by_expert.values()]
        for level in levels
    )
    for level, table in zip(levels, tables, strict=True):
        if not any(table):
            has = sorted({level for theirs in by_expert.values() for level in theirs})
            rule = "levels for which there are columns such as `name-lo-90`, `name-hi-90` or `name-q-0.9`"
            raise rejection(OWNER, "quantiles", rule, level, f"There are {shown(has)}." if has else "There are none.")
    return tuple(by_expert), tables


def quantile_notes(columns: Sequence[str], uses: ColumnUses, names: Sequence[str], chosen: Chosen) -> list[str]:
    """Return sentences about the columns that are not used with quantiles, and the levels that experts lack.

    There are none if the user named the columns. A point forecast beside quantiles of its expert is not mentioned.
    """
    if isinstance(uses.experts, Mapping):
        return []
    levels = uses.quantiles or ()
    lacks = [
        f"{shown(name)} has no column for the level {level:g}: asleep there."
        for level, of_level in zip(levels, chosen, strict=True)
        for name, column in zip(names, of_level, strict=True)
        if column is None
    ]
    used = {*uses.kept, *names, *(column for of_level in chosen for column in of_level)}
    unused = [] if uses.experts is not None else [name for name in columns if name not in used]
    which = ", ".join(f"{level:g}" for level in levels)
    return [*lacks, *([f"not used with the quantiles {which}: {listed(unused)}."] if unused else [])]


def _is_same(first: float, second: float) -> bool:
    return abs(first - second) < _SAME_LEVEL


def level_text(level: float) -> str:
    """Return the end of the name of a column of a quantile.

    >>> level_text(0.9)
    '-q-0.9'
    """
    return f"-q-{level:g}"
