"""Environments from tables of plain values, as files and the command line write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from driftwise.core.errors import InvalidInput, shown
from driftwise.environments import Environment, Replay


def make_environment(spec: Mapping[str, Any]) -> Environment | Replay:
    """Return the environment of a table; its keys `drift` and `variance` scale the path and the noise.

    A path and a noise are tables with a `name`, or the name only.
    """
    values = dict(spec)
    if "replay" in values:
        return _make_replay(values)
    for part, measure in (("path", "drift"), ("noise", "variance")):
        if isinstance(values.get(part), str):
            values[part] = {"name": values[part]}
        if measure in values and part in values:
            values[part] = {"name": f"with-{measure}", part: values[part], measure: values.pop(measure)}
    return Environment.from_spec(values)


def _make_replay(values: dict[str, Any]) -> Replay:
    file, header = values.pop("replay"), values.pop("header", None)
    if values:
        raise InvalidInput(f"A replayed environment has no path, noise or budget, got `{next(iter(values))}`.")
    if not isinstance(file, str):
        raise InvalidInput(f"A replayed environment must name a file, got {shown(file)}.")
    return Replay.from_file(file, header)
