"""From what a user writes, flags or a TOML file, to an environment and learners.

A member of a registry is written ``name`` or ``name:key=value,key=value`` on the command line, and as a table
with a `name` in a file. A learner may be ``name:tuned``: its parameters then come from the environment.
"""

from __future__ import annotations

import functools
import inspect
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from driftwise.core.errors import BadFile, InvalidInput, UnknownName, rejection, shown
from driftwise.core.measures import Measures
from driftwise.environments import Environment, Replay
from driftwise.learners import Learner, learners
from driftwise.results.comparators import Comparator, Dynamic, Interval, Static, Switched

__all__ = ["make_comparator", "make_environment", "make_player", "parse_member", "read_spec"]

# What a file may say: its names, their types, and the types in words.
_KEYS: dict[str, tuple[type, str]] = {
    "environment": (dict, "a table"),
    "learners": (list, "tables, each under [[learners]]"),
    "n_rounds": (int, "a whole number"),
    "n_runs": (int, "a whole number"),
    "seed": (int, "a whole number"),
    "comparator": (str, "a word"),
    "play": (str, "a word"),
}


def read_spec(path: Path) -> dict[str, Any]:
    """Read a TOML file and check its top-level names and types."""
    try:
        spec = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFile(f"Cannot read {path}: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadFile(f"{path} is not TOML: {error}.") from None
    for key, value in spec.items():
        if key not in _KEYS:
            raise UnknownName("key", key, _KEYS, f"in {path}")
        kind, rule = _KEYS[key]
        if not isinstance(value, kind):
            raise rejection(str(path), key, rule, value)
    return spec


def parse_member(text: str) -> dict[str, Any]:
    """Turn ``name:key=value,flag`` into a spec; values are written as in TOML, bare words are strings.

    >>> parse_member("switching:n_segments=8,n_actions=10")
    {'name': 'switching', 'n_segments': 8, 'n_actions': 10}
    >>> parse_member("optimistic-gd:tuned")
    {'name': 'optimistic-gd', 'tuned': True}
    """
    name, _, rest = text.partition(":")
    spec: dict[str, Any] = {"name": name.strip()}
    for part in _parts(rest) if rest.strip() else []:
        key, equals, value = part.partition("=")
        spec[key.strip()] = _value(value.strip()) if equals else True
    return spec


def _parts(text: str) -> list[str]:
    """Split at the commas that stand outside of all brackets.

    >>> _parts("means=[[0.1,0.9],[0.9,0.1]],lengths=equal")
    ['means=[[0.1,0.9],[0.9,0.1]]', 'lengths=equal']
    """
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def make_environment(spec: Mapping[str, Any]) -> Environment | Replay:
    """Build an environment from its table; `drift` and `variance` beside path and noise are budgets."""
    values = dict(spec)
    if "replay" in values:
        return _make_replay(values)
    if "drift" in values and "path" in values:
        values["path"] = {"name": "with-drift", "path": values["path"], "drift": values.pop("drift")}
    if "variance" in values and "noise" in values:
        values["noise"] = {"name": "with-variance", "noise": values["noise"], "variance": values.pop("variance")}
    return Environment.from_spec(values)


def make_player(spec: Any) -> Learner | Callable[[Measures], Learner]:
    """Build a learner, or the rule that tunes it."""
    if not isinstance(spec, Mapping) or not isinstance(spec.get("name"), str):
        raise InvalidInput(f"A learner spec must have a `name`, got {shown(spec)}.")
    values = dict(spec)
    if not values.pop("tuned", False):
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
    """Read ``dynamic``, ``static``, ``switching:N`` or ``interval:FIRST-LAST[@ACTION]``.

    >>> make_comparator("switching:3")
    Switched(n_segments=3)
    """
    kind, _, rest = text.partition(":")
    if kind == "dynamic" and not rest:
        return Dynamic()
    if kind == "static" and not rest:
        return Static()
    if kind == "switching" and rest.isdigit():
        return Switched(int(rest))
    if kind == "interval" and (match := re.fullmatch(r"(\d+)-(\d+)(?:@(\d+))?", rest)):
        return Interval(int(match[1]), int(match[2]), None if match[3] is None else int(match[3]))
    raise InvalidInput(
        f"simulate: `comparator` must be dynamic, static, switching:N or interval:FIRST-LAST[@ACTION], got '{text}'."
    )


def _make_replay(values: dict[str, Any]) -> Replay:
    file = values.pop("replay")
    if values:
        raise InvalidInput(f"A replayed environment has no path, noise or budget, got `{next(iter(values))}`.")
    if not isinstance(file, str):
        raise InvalidInput(f"A replayed environment must name a file, got {shown(file)}.")
    return Replay.from_file(file)


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
