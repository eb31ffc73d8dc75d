"""Environments and learners from flags or a TOML file.

A member of a registry is written ``name`` or ``name:key=value,key=value`` on the command line, and as a table
with a `name` in a file. For ``name:tuned``, the parameters of the learner come from the measures of the environment.
"""

from __future__ import annotations

import functools
import inspect
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from driftwise.core.errors import BadFile, InvalidInput, UnknownName, one_line, rejection, shown
from driftwise.core.file_names import shown_path
from driftwise.core.measures import Measures
from driftwise.environments import Environment, Replay
from driftwise.learners import Learner, learners
from driftwise.results.comparators import Comparator, Dynamic, Interval, Static, Switched

__all__ = ["make_comparator", "make_environment", "make_player", "parse_member", "read_spec"]

_WHOLE = re.compile(r"[0-9]{1,100}")  # more digits than any count has; Python is slow to read millions of digits
_INTERVAL = re.compile(rf"({_WHOLE.pattern})-({_WHOLE.pattern})(?:@({_WHOLE.pattern}))?")
# The keys of a file, their types, and the types in words.
_KEYS: dict[str, tuple[type, str]] = {
    "environment": (dict, "a table"),
    "learners": (list, "tables, each under [[learners]]"),
    "n_rounds": (int, "a whole number"),
    "n_runs": (int, "a whole number"),
    "seed": (int, "a whole number"),
    "comparator": (str, "text"),
    "play": (str, "text"),
    "realised": (bool, "true or false"),
}
_MOST_BYTES = 2**20  # of a file


def read_spec(path: Path) -> dict[str, Any]:
    """Read a TOML file and check its top-level names and types."""
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise BadFile(f"Cannot read {shown_path(path)}: {error.strerror}.") from None
    if len(content) > _MOST_BYTES:
        raise BadFile(f"{shown_path(path)} is longer than the {_MOST_BYTES} bytes that a spec may have.")
    try:
        spec = tomllib.loads(content.decode())
    except RecursionError:
        raise BadFile(f"{shown_path(path)} cannot be read: its TOML is nested too deeply.") from None
    except ValueError as error:  # not UTF-8, not TOML, or a number of more than 4,300 digits
        raise BadFile(f"{shown_path(path)} is not TOML: {str(error).rstrip('.')}.") from None
    for key, value in spec.items():
        if key not in _KEYS:
            raise UnknownName("key", key, _KEYS, f"in {path}")
        kind, rule = _KEYS[key]
        if not isinstance(value, kind):
            raise rejection(str(path), key, rule, value)
    return spec


def parse_member(text: str) -> dict[str, Any]:
    """Return the spec of ``name:key=value,flag``; values are written as in TOML, bare words are strings.

    >>> parse_member("switching:n_segments=8,n_actions=10")
    {'name': 'switching', 'n_segments': 8, 'n_actions': 10}
    >>> parse_member("optimistic-gd:tuned")
    {'name': 'optimistic-gd', 'tuned': True}
    """
    name, _, rest = text.partition(":")
    spec: dict[str, Any] = {"name": name.strip()}
    for part in _parts(rest) if rest.strip() else []:
        key, equals, value = part.partition("=")
        if key.strip() in spec:
            raise InvalidInput(f"'{one_line(spec['name'])}' is given `{one_line(key.strip())}` twice.")
        spec[key.strip()] = _value(value.strip()) if equals else True
    return spec


def _parts(text: str) -> list[str]:
    """Split at the commas outside of brackets.

    >>> _parts("means=[[0.1,0.9],[0.9,0.1]],lengths=equal")
    ['means=[[0.1,0.9],[0.9,0.1]]', 'lengths=equal']
    """
    parts, depth, start = [], 0, 0
    for i, character in enumerate(text):
        depth += (character == "[") - (character == "]")
        if character == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [*parts, text[start:]]


def make_environment(spec: Mapping[str, Any]) -> Environment | Replay:
    """Return the environment of a table; its keys `drift` and `variance` scale the path and the noise."""
    values = dict(spec)
    if "replay" in values:
        return _make_replay(values)
    if "drift" in values and "path" in values:
        values["path"] = {"name": "with-drift", "path": values["path"], "drift": values.pop("drift")}
    if "variance" in values and "noise" in values:
        values["noise"] = {"name": "with-variance", "noise": values["noise"], "variance": values.pop("variance")}
    return Environment.from_spec(values)


def make_player(spec: Any) -> Learner | Callable[[Measures], Learner]:
    """Return the learner of a spec, or the rule that tunes it."""
    if not isinstance(spec, Mapping) or not isinstance(spec.get("name"), str):
        raise InvalidInput(f"A learner spec must have a `name`, got {shown(spec)}.")
    values = dict(spec)
    tuned = values.pop("tuned", False)
    if not isinstance(tuned, bool):
        raise rejection(f"learner '{one_line(spec['name'])}'", "tuned", "true or false", tuned)
    if not tuned:
        return learners.build(values)
    name = values.pop("name")
    rule = learners.get(name).tuned
    known = [parameter for parameter in inspect.signature(rule).parameters if parameter != "measures"]
    for given in values:
        if not known:
            raise InvalidInput(f"The rule that tunes '{name}' has no parameters, got `{given}`.")
        if given not in known:
            raise UnknownName("parameter", given, known, f"of the rule that tunes '{name}'")
    return functools.partial(rule, **values) if values else rule


def make_comparator(text: str) -> Comparator:
    """Return the comparator of ``dynamic``, ``static``, ``switching:N`` or ``interval:FIRST-LAST[@ACTION]``.

    >>> make_comparator("switching:3")
    Switched(n_segments=3)
    """
    kind, _, rest = text.partition(":")
    if kind == "dynamic" and not rest:
        return Dynamic()
    if kind == "static" and not rest:
        return Static()
    if kind == "switching" and _WHOLE.fullmatch(rest):
        return Switched(int(rest))
    if kind == "interval" and (match := _INTERVAL.fullmatch(rest)):
        return Interval(int(match[1]), int(match[2]), None if match[3] is None else int(match[3]))
    raise rejection("simulate", "comparator", "dynamic, static, switching:N or interval:FIRST-LAST[@ACTION]", text)


def _make_replay(values: dict[str, Any]) -> Replay:
    file, header = values.pop("replay"), values.pop("header", None)
    if values:
        raise InvalidInput(f"A replayed environment has no path, noise or budget, got `{next(iter(values))}`.")
    if not isinstance(file, str):
        raise InvalidInput(f"A replayed environment must name a file, got {shown(file)}.")
    return Replay.from_file(file, header)


def _value(text: str) -> Any:
    try:
        read = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):  # not TOML, or a number or nesting that Python does not read
        return text
    return read["value"] if len(read) == 1 else text  # a line break could start another key
