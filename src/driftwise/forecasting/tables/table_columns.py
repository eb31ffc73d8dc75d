"""Which columns of a table are the truths, the forecasts, the times and the names of the series."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import NamedTuple

from driftwise.core.errors import BadData, InvalidInput, one_line, shown
from driftwise.forecasting.tables.table_sources import TableSource

__all__ = ["ColumnChoice", "Columns", "Wanted", "check_names", "choose_columns"]

_INDEX_NAMES = ("", "Unnamed: 0", "__index_level_0__")  # the index of a pandas table, as it appears in files
_MOST_SHOWN = 12  # names in a message


class Wanted(NamedTuple):
    """The columns that the user names; without `experts`, all other columns of numbers."""

    target: str
    experts: tuple[str, ...] | None = None
    time: str | None = None
    by: str | None = None


class Columns(NamedTuple):
    """The columns of a table, and which of them hold numbers."""

    names: tuple[str, ...]
    numeric: tuple[bool, ...]

    @property
    def places(self) -> dict[str, int]:
        """The number of each column, from 0; of the first one if a name occurs twice.

        >>> Columns(("a", "b", "a"), (True, True, True)).places
        {'a': 0, 'b': 1}
        """
        return {name: len(self.names) - 1 - i for i, name in enumerate(reversed(self.names))}


class ColumnChoice(NamedTuple):
    """The columns to read."""

    target: str
    experts: tuple[str, ...]
    time: str | None
    by: str | None
    guessed: tuple[str, ...] = ()  # the experts, if the user did not name them

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns of numbers: the truths, then the forecasts."""
        return (self.target, *self.experts)

    @property
    def texts(self) -> tuple[str, ...]:
        """The other columns: the times and the series, if they are given."""
        return tuple(name for name in (self.time, self.by) if name is not None)


def check_names(wanted: Wanted) -> None:
    """Reject a column that has two uses."""
    roles = [("--target", wanted.target), ("--time", wanted.time), ("--by", wanted.by)]
    roles += [("--experts", name) for name in wanted.experts or ()]
    used: dict[str, str] = {}
    for option, name in roles:
        if name is None:
            continue
        if name in used:
            also = f"{used[name]} and {option}" if used[name] != option else f"{option} twice"
            raise InvalidInput(f"combine: the column {shown(name)} is given as {also}.")
        used[name] = option
    if wanted.experts is not None and not wanted.experts:
        raise InvalidInput("combine: --experts must name at least one column.")


def choose_columns(source: TableSource, columns: Columns, wanted: Wanted) -> ColumnChoice:
    """Return the columns to read; raise `BadData` if one is missing or the choice is not clear."""
    seen: set[str] = set()
    for i, name in enumerate(columns.names):
        if name in seen and not (name == "" and wanted.experts is not None):
            first = columns.names.index(name) + 1
            raise source.fault(f": the columns {first} and {i + 1} have the same name {shown(name)}.")
        seen.add(name)
    for needed in (wanted.target, wanted.time, wanted.by, *(wanted.experts or ())):
        if needed is not None and needed not in seen:
            raise _missing(source, columns, needed)
    experts = wanted.experts
    if experts is None:
        others = {wanted.target, wanted.time, wanted.by}
        experts = tuple(name for name, numeric in zip(*columns, strict=True) if numeric and name not in others)
        _reject_index(source, columns, experts)
    if not experts:
        raise source.fault(f": there is no column of forecasts beside the target {shown(wanted.target)}.")
    guessed = experts if wanted.experts is None else ()
    return ColumnChoice(wanted.target, experts, wanted.time, wanted.by, guessed)


def _reject_index(source: TableSource, columns: Columns, experts: Sequence[str]) -> None:
    places = columns.places
    for name in experts:
        place = places[name] + 1
        if name in _INDEX_NAMES and (place == 1 or name == _INDEX_NAMES[-1]):
            what = "has no name" if name == "" else f"is named {shown(name)}"
            raise source.fault(
                f": column {place} {what} and looks like the index of a pandas table."
                " Write the table with index=False, or name the forecasts by --experts."
            )
        if name == "":
            raise source.fault(f": column {place} has no name. Name the forecasts by --experts.")


def _missing(source: TableSource, columns: Columns, name: str) -> BadData:
    near = difflib.get_close_matches(name, columns.names, n=1)
    if near:
        advice = f"Did you mean {shown(near[0])}?"
    else:
        known = ", ".join(shown(one) for one in columns.names[:_MOST_SHOWN])
        more = len(columns.names) - _MOST_SHOWN
        advice = f"It has {known}{f' and {more} more' if more > 0 else ''}."
    return source.fault(one_line(f": there is no column {shown(name)}. {advice}"))
