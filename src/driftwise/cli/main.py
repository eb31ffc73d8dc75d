"""The entry point: finds the command, and turns a user's mistakes into one line and an exit code."""

from __future__ import annotations

import importlib
import os
import sys
from typing import NoReturn

import click

from driftwise import __version__
from driftwise.core.errors import DriftwiseError, InvalidInput, UnknownName

__all__ = ["main"]

_COMMANDS = ("landscape", "list", "show", "simulate")
_FAILED, _MISUSED, _INTERRUPTED = 1, 2, 130  # as a shell expects


class _LazyGroup(click.Group):
    """A group whose commands live in modules of their own."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"driftwise.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in _COMMANDS:
            raise UnknownName("command", args[0], _COMMANDS)
        return super().resolve_command(ctx, args)


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="driftwise %(version)s")
def _cli() -> None:
    """Decisions in a changing world.

    Weigh experts or choose arms while the losses switch or drift, and see how far that is from the best that
    could have been done.
    """


def main() -> NoReturn:
    """Run the command line."""
    try:
        code = _cli.main(prog_name="driftwise", standalone_mode=False)
        sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except DriftwiseError as error:
        _leave(str(error), _MISUSED if isinstance(error, (InvalidInput, UnknownName)) else _FAILED)
    except (KeyboardInterrupt, click.exceptions.Abort):
        click.echo("driftwise: interrupted.", err=True)
        os._exit(_INTERRUPTED)  # without waiting for threads in the middle of a block; files are whole or absent
    except OSError as error:
        # A reader, say `head`, has seen enough, or the disk is full: write nothing more, not on leaving either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            sys.exit(_FAILED)
        _leave(f"{error.strerror or error}.", _FAILED)


def _leave(message: str, code: int) -> NoReturn:
    click.echo(f"driftwise: {message}", err=True)
    sys.exit(code)
