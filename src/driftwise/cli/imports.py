"""The option `--import`, which every command has: modules of the user that register learners and other classes."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import click

from driftwise.core.errors import DriftwiseError, InvalidInput

__all__ = ["with_import_option"]


def with_import_option(command: click.Command) -> click.Command:
    """Add the option to a command; modules are imported before anything else is read."""
    if all(parameter.name != "import" for parameter in command.params):
        command.params.append(
            click.Option(
                ["--import", "import"],
                multiple=True,
                metavar="MODULE",
                expose_value=False,
                is_eager=True,
                callback=_import_modules,
                help="Import a module of your own that registers learners. Repeat for more.",
            )
        )
    return command


def _import_modules(_: click.Context, __: click.Parameter, names: tuple[str, ...]) -> None:
    if names and "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))  # as `python` does; the script `driftwise` has its own folder there
    for name in names:
        if "/" in name or "\\" in name:
            advice = "call driftwise in the folder of the file"
            raise InvalidInput(f"--import {name}: it must be the name of a module, without a folder; {advice}.")
        try:
            importlib.import_module(name)
        except DriftwiseError:
            raise
        except ModuleNotFoundError as error:
            hint = f" Write --import {name.removesuffix('.py')}." if name.endswith(".py") else ""
            raise InvalidInput(f"--import {name}: {error}.{hint}") from None
        except Exception as error:  # whatever the module raises
            raise InvalidInput(f"--import {name}: {type(error).__name__}: {error}") from None
