"""Sweeps from TOML files.

A table may have `each`: lists of values for some of its keys. It stands for one table for every combination of them:
``each = {learning_rate = [0.1, 0.3], switch_rate = [0.01, 0.1]}`` makes four. Nested tables may have their own.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from driftwise.core.errors import DriftwiseError, InvalidInput, UnknownName, rejection, shown
from driftwise.core.file_names import shown_path
from driftwise.core.toml_files import read_toml
from driftwise.learners import Player
from driftwise.results.labels import short_text
from driftwise.sweeps.sources import Source
from driftwise.sweeps.sweep import Sweep, check_sweep

__all__ = ["read_sweep", "spread"]

# The keys of a file, their types, and the types in words.
_KEYS: dict[str, tuple[tuple[type, ...], str]] = {
    "environments": ((list,), "tables, each under [[environments]]"),
    "learners": ((list,), "tables, each under [[learners]]"),
    "n_rounds": ((int, list), "a whole number or a list of them"),
    "n_runs": ((int,), "a whole number"),
    "seed": ((int, list), "a whole number or a list of them"),
    "comparator": ((str,), "text"),
    "play": ((str,), "text"),
    "curves": ((bool,), "true or false"),
    "realised": ((bool,), "true or false"),
}
_MOST_TABLES = 100_000  # that `each` may make of one


def read_sweep(path: Path) -> Sweep:
    """Return the sweep of a file; an error names the place in the file, and nothing is played."""
    spec, text = read_toml(path)
    file = shown_path(path)
    for key, value in spec.items():
        if key not in _KEYS:
            raise UnknownName("key", key, _KEYS, f"in {file}")
        kinds, rule = _KEYS[key]
        if type(value) not in kinds:
            raise rejection(str(path), key, rule, value)
    for key in ("environments", "learners", "n_rounds"):
        if key not in spec:
            raise InvalidInput(f"{file}: `{key}` is missing.")
    places: dict[tuple[str, str], str] = {}
    members: dict[str, dict[str, Any]] = {"environments": {}, "learners": {}}
    for kind, found in members.items():
        if not spec[kind]:
            raise InvalidInput(f"{file}: `{kind}` must have at least one table, got none.")
        make = Source.from_spec if kind == "environments" else Player.from_spec
        first: dict[str, str] = {}  # where each label and each member was given first
        for number, table in enumerate(spec[kind], start=1):
            here = _place(text, kind, number)
            place = f"{file}, {here}: "
            try:
                if isinstance(table, Mapping) and "label" in table:
                    _check_new(f"the label '{table['label']}'", first, here)
                for label, one in _members(table, make):
                    _check_new(one.text, first, here, f"'{label}'")
                    unique, n = label, 2
                    while unique in found:
                        unique, n = f"{label} #{n}", n + 1
                    found[unique], places[kind, unique] = one, place
            except DriftwiseError as error:
                raise InvalidInput(f"{place}{error}") from None
    settings: dict[str, Any] = {**spec, **members}
    try:
        sweep = Sweep(**settings)
    except DriftwiseError as error:
        raise InvalidInput(f"{file}: {error}") from None
    check_sweep(sweep, lambda kind, label: places[kind, label])
    return sweep


def _check_new(key: str, first: dict[str, str], here: str, named: str = "") -> None:
    """Reject a label or a member that the file has already."""
    if key in first:
        raise InvalidInput(f"{named or key} was given before, in {first[key]}.")
    first[key] = here


def spread(table: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a table for every combination of the values under `each`, here and in nested tables.

    >>> list(spread({"name": "hedge", "each": {"learning_rate": [0.1, 0.3]}}))
    [{'name': 'hedge', 'learning_rate': 0.1}, {'name': 'hedge', 'learning_rate': 0.3}]
    """
    each = table.get("each", {})
    if not isinstance(each, Mapping):
        raise InvalidInput(f"`each` must be a table of lists, got {shown(each)}.")
    choices: dict[str, list[Any]] = {}
    for key, value in table.items():
        if key != "each":
            choices[key] = [*spread(value)] if isinstance(value, Mapping) else [value]
    for key, values in each.items():
        if key in choices:
            raise InvalidInput(f"`{key}` is given itself and under `each`.")
        if not isinstance(values, list) or not values:
            raise InvalidInput(f"`each.{key}` must be a list of at least one value, got {shown(values)}.")
        choices[key] = [one for value in values for one in (spread(value) if isinstance(value, Mapping) else [value])]
    n_tables = 1
    for values in choices.values():
        n_tables *= len(values)
    if n_tables > _MOST_TABLES:
        raise InvalidInput(f"`each` must make at most {_MOST_TABLES} tables of one, got {n_tables}.")
    for combination in itertools.product(*choices.values()):
        yield dict(zip(choices, combination, strict=True))


def _members(table: Any, make: Any) -> Iterator[tuple[str, Any]]:
    """Yield the members of a table with their labels; `label` is that of all, with the values under `each`."""
    if not isinstance(table, Mapping):
        raise InvalidInput(f"it must be a table, got {shown(table)}.")
    label = table.get("label")
    if label is not None and not isinstance(label, str):
        raise InvalidInput(f"`label` must be text, got {shown(label)}.")
    tables = [*spread({key: value for key, value in table.items() if key != "label"})]
    for values in tables:
        one = make(values)
        varied = ", ".join(f"{key}={short_text(value)}" for key, value in _varied(table, values))
        yield (one.label if label is None else f"{label} ({varied})" if varied else label), one


def _varied(table: Mapping[str, Any], values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the values that `each` sets, here and in nested tables."""
    for key in table.get("each", {}):
        yield key, values[key]
    for key, value in table.items():
        if key != "each" and isinstance(value, Mapping):
            yield from _varied(value, values[key])


def _place(text: str, kind: str, number: int) -> str:
    """Return where a table is: its number and, if it is under a heading, its line."""
    heading = re.compile(rf"^[ \t]*\[\[[ \t]*{kind}[ \t]*\]\]", re.MULTILINE)
    starts = [match.start() for match in heading.finditer(text)]
    line = f" (line {text.count(chr(10), 0, starts[number - 1]) + 1})" if len(starts) >= number else ""
    return f"[[{kind}]] number {number}{line}"
