"""The entry point: finds the command, and turns a user's mistakes into one line and an exit code."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
from typing import NoReturn, TextIO

import click

from driftwise import __version__
from driftwise.core.errors import DriftwiseError, InvalidInput, UnknownName, one_line

__all__ = ["main"]

_COMMANDS = ("compile", "landscape", "list", "show", "simulate")
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
    if not _prepare_streams():
        _leave("Standard output is closed.", _FAILED)
    try:
        code = _cli.main(prog_name="driftwise", standalone_mode=False)
        sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except click.ClickException as error:
        with contextlib.suppress(OSError):
            error.show()
        sys.exit(error.exit_code)
    except DriftwiseError as error:
        _leave(str(error), _MISUSED if isinstance(error, (InvalidInput, UnknownName)) else _FAILED)
    except (KeyboardInterrupt, click.exceptions.Abort):
        _say("interrupted.")
        os._exit(_INTERRUPTED)  # without waiting for threads in the middle of a block; files are whole or absent
    except MemoryError:
        _leave("Out of memory.", _FAILED)
    except OSError as error:
        # A reader, say `head`, has seen enough, or the disk is full: write nothing more, not on leaving either.
        _silence(sys.stdout)
        if isinstance(error, BrokenPipeError):
            _silence(sys.stderr)
            sys.exit(_FAILED)
        _leave(f"{error.strerror or error}.", _FAILED)


def _prepare_streams() -> bool:
    """Make both streams write whatever they are given; say whether there is a standard output.

    Python has no stream where its descriptor is closed. The next file to be opened would get the descriptor, and
    whatever writes to it would write into that file, so the null device takes its place.
    """
    open_before = sys.stdout is not None
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name may hold what the terminal cannot show
    return open_before


def _silence(stream: TextIO) -> None:
    with contextlib.suppress(OSError, ValueError):  # one that was replaced has no descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _say(message: str) -> None:
    """Write one line to standard error, if that can be written to."""
    try:
        click.echo(f"driftwise: {one_line(message)}", err=True)
    except OSError:
        _silence(sys.stderr)


def _leave(message: str, code: int) -> NoReturn:
    _say(message)
    sys.exit(code)
