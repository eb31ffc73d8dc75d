"""What commands put out: JSON, their own command line, and files, checked before anything long happens."""

from __future__ import annotations

import json
import math
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click
from click.core import ParameterSource

from driftwise.core.errors import InvalidInput, one_line
from driftwise.core.files import check_writable, shown_path
from driftwise.report.figures import canvas, figure_format
from driftwise.results.results import check_format


def json_text(value: object) -> str:
    """Return plain values as JSON; NaN becomes null and infinity text, since JSON has neither.

    >>> json_text([float("nan"), float("inf")])
    '[\\n  null,\\n  "inf"\\n]'
    """
    return json.dumps(_finite(value), indent=2, allow_nan=False)


def _finite(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def command_line(command: str, options: Mapping[str, object], *arguments: object) -> str:
    """Return a command as one types it; options with None are left out, those with several values are repeated.

    True stands for an option that takes no value.

    >>> command_line("results", {"--learner": ("hedge", "ucb1"), "--scale": None}, "out/my sweep")
    "driftwise results 'out/my sweep' --learner hedge --learner ucb1"
    """
    words = ["driftwise", command, *map(str, arguments)]
    for option, value in options.items():
        for word in value if isinstance(value, tuple) else () if value is None else (value,):
            words += [option] if word is True else [option, str(word)]
    return shlex.join(words)


def given_command(*without: str) -> str:
    """Return the command that is running as it was given; options `without` which it does the same are left out."""
    context = click.get_current_context()
    arguments: list[object] = []
    options: dict[str, object] = {}
    for parameter in context.command.params:
        name, value = parameter.name or "", context.params.get(parameter.name or "")
        if isinstance(parameter, click.Argument):
            arguments.append(value)
        elif context.get_parameter_source(name) is ParameterSource.COMMANDLINE and parameter.opts[0] not in without:
            options[parameter.opts[0]] = value
    return command_line(context.command.name or "", options, *arguments)


def check_outputs(
    command: str,
    inputs: Sequence[object],
    figure: Path | None,
    out: Path | None = None,
    others: Sequence[Path | None] = (),
) -> None:
    """Reject a figure that cannot be drawn, results in an unknown format, and what `check_output_files` rejects."""
    if out is not None:
        check_format(out)
    if figure is not None:
        figure_format(figure)
        canvas()
    check_output_files(command, (*others, out, figure), inputs)


def write_files(quiet: bool, *files: tuple[Path | None, Callable[[Path], object]]) -> None:
    """Write the files that are wanted, each by its function, and say so."""
    for path, write in files:
        if path is not None:
            write(path)
            if not quiet:
                click.echo(f"wrote {one_line(str(path))}", err=True)


def check_output_files(
    command: str, outputs: Sequence[Path | None], inputs: Sequence[object], follow_links: bool = True
) -> None:
    """Reject output files of a command that cannot be written, or that it reads, or writes twice.

    Without `follow_links` the command replaces symbolic links: it names the files itself.
    """
    used = {_identity(file): "read" for file in inputs if isinstance(file, str | os.PathLike) and str(file)}
    for path in outputs:
        if path is None:
            continue
        check_writable(path, follow_links)
        if use := used.get(_identity(path)):
            raise InvalidInput(f"{command}: {shown_path(path)} is {use} by the same command; write to another file.")
        used[_identity(path)] = "also written"


def _identity(file: str | os.PathLike[str]) -> str:
    try:
        return os.path.realpath(file)
    except ValueError:  # a null character, which no file name has
        return os.fspath(file)
