"""Options that several commands have, specs of environments and learners from flags, and of a simulation from a file.

A member of a registry is written ``name`` or ``name:key=value,key=value`` on the command line, and as a table
with a `name` in a file. For ``name:tuned``, the parameters of the learner come from the measures of the environment.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from driftwise.core.errors import InvalidInput, UnknownName, one_line, rejection
from driftwise.core.files import read_toml

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

C = TypeVar("C", bound=Callable[..., Any])
PATH = click.Path(path_type=Path)
_ENVIRONMENT: dict[str, Any] = {
    "path": {"name": "switching", "n_segments": 8, "n_actions": 10},
    "noise": {"name": "bernoulli"},
}
_OPTIONS = (
    click.option("--path", metavar="NAME[:K=V,..]", help="How the means move; see `driftwise list paths`."),
    click.option(
        "--noise",
        metavar="NAME[:K=V,..]",
        help="Distribution of the losses around the means; see `driftwise list noises`.",
    ),
    click.option("--drift", type=float, metavar="V", help="Scale the path to this total drift."),
    click.option("--variance", type=float, metavar="LAMBDA", help="Scale the noise to this total variance."),
    click.option(
        "--replay", metavar="FILE", help="Replay recorded losses (.npy, .csv, .parquet) instead of a path and a noise."
    ),
    click.option("--header/--no-header", default=None, help="Whether the first row of a replayed .csv holds names."),
)


def choice(name: str, choices: Sequence[str], default: str | None, about: str) -> Callable[[C], C]:
    """Return an option with a few values; its help shows the default, if there is one."""
    return click.option(name, type=click.Choice(choices), default=default, show_default=True, help=about)


def preset_choice(about: str, *others: str) -> Callable[[C], C]:
    """Return the option for the extent of measurements: quick, or one of the others."""
    return choice("--preset", ["quick", *others], "quick", about)


def out_folder(default: str, about: str) -> Callable[[C], C]:
    """Return the option for the folder of a command's files."""
    return click.option("--out", type=PATH, default=Path(default), show_default=True, help=about)


def read_spec(path: Path) -> dict[str, Any]:
    """Read a TOML file and check its top-level names and types."""
    spec, _ = read_toml(path)
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
    >>> parse_member("optimistic-gd:tuned"), parse_member("sword:tuned=rounds")
    ({'name': 'optimistic-gd', 'tuned': True}, {'name': 'sword', 'tuned': 'rounds'})
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


def _value(text: str) -> Any:
    try:
        read = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):  # not TOML, or a number or nesting that Python does not read
        return text
    return read["value"] if len(read) == 1 else text  # a line break could start another key


def environment_options(command: C) -> C:
    """Add the options to a command, in this order."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def environment_table(flags: Mapping[str, Any], environment: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the table of an environment, or of the default one, with the flags, which override it."""
    table = dict(_ENVIRONMENT if environment is None else environment)
    if flags["replay"]:
        table = {"replay": flags["replay"]}
    table |= {key: parse_member(flags[key]) for key in ("path", "noise") if flags[key]}
    return table | {key: flags[key] for key in ("drift", "variance", "header") if flags[key] is not None}
