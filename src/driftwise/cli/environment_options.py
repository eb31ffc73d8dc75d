"""The options that describe an environment, which several commands have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

__all__ = ["DEFAULT_ENVIRONMENT", "environment_options", "environment_table"]

C = TypeVar("C", bound=Callable[..., Any])
DEFAULT_ENVIRONMENT: dict[str, Any] = {
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


def environment_options(command: C) -> C:
    """Add the options to a command, in this order."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def environment_table(environment: Mapping[str, Any], flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table of an environment with the flags, which override it."""
    from driftwise.cli.specs import parse_member

    table = dict(environment)
    if flags["replay"]:
        table = {"replay": flags["replay"]}
    for key in ("path", "noise"):
        if flags[key]:
            table[key] = parse_member(flags[key])
    for key in ("drift", "variance", "header"):
        if flags[key] is not None:
            table[key] = flags[key]
    return table
