"""From what a user writes, flags or a TOML file, to an environment and learners.

A member of a registry is written ``name`` or ``name:key=value,key=value`` on the command line, and as a table
with a `name` in a file. A learner may be ``name:tuned``: its parameters then come from the environment.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from driftwise.core.errors import BadFile, InvalidInput, UnknownName
from driftwise.core.measures import Measures
from driftwise.environments import Environment, Replay
from driftwise.learners import Learner, learners
from driftwise.results.comparators import Comparator, Dynamic, Interval, Static, Switched

__all__ = ["make_comparator", "make_environment", "make_player", "parse_member", "read_spec"]

_KEYS = ("environment", "learners", "n_rounds", "n_runs", "seed", "comparator", "play")


def read_spec(path: Path) -> dict[str, Any]:
    """Read a TOML file and check its top-level names."""
    try:
        spec = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFile(f"Cannot read {path}: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadFile(f"{path} is not TOML: {error}.") from None
    for key in spec:
        if key not in _KEYS:
            raise UnknownName(f"key in {path}", key, _KEYS)
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
    for part in re.split(r",(?![^\[]*\])", rest) if rest.strip() else []:  # commas in brackets stay
        key, equals, value = part.partition("=")
        spec[key.strip()] = _value(value.strip()) if equals else True
    return spec


def make_environment(spec: Mapping[str, Any]) -> Environment | Replay:
    """Build an environment from its table; `drift` and `variance` beside path and noise are budgets."""
    values = dict(spec)
    if "replay" in values:
        return Replay.from_file(values["replay"])
    if "drift" in values and "path" in values:
        values["path"] = {"name": "with-drift", "path": values["path"], "drift": values.pop("drift")}
    if "variance" in values and "noise" in values:
        values["noise"] = {"name": "with-variance", "noise": values["noise"], "variance": values.pop("variance")}
    return Environment.from_spec(values)


def make_player(spec: Mapping[str, Any]) -> Learner | Callable[[Measures], Learner]:
    """Build a learner, or the rule that tunes it."""
    values = dict(spec)
    if not values.pop("tuned", False):
        return learners.build(values)
    rule = learners.get(values.pop("name")).tuned
    return functools.partial(rule, **values) if values else rule


def make_comparator(text: str) -> Comparator:
    """Read ``dynamic``, ``static``, ``switching:N`` or ``interval:FIRST-LAST``.

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
    if kind == "interval" and (match := re.fullmatch(r"(\d+)-(\d+)", rest)):
        return Interval(int(match[1]), int(match[2]))
    raise InvalidInput(
        f"simulate: `comparator` must be dynamic, static, switching:N or interval:FIRST-LAST, got '{text}'."
    )


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
