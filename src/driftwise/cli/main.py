"""The entry point: runs the command, and turns errors of the user into one line and an exit code."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn, TextIO

import click

from driftwise import __version__
from driftwise.cli.examples import COPY_EXAMPLES, names_missing_example
from driftwise.core.errors import IMPORT_FIRST, BadFile, DriftwiseError, InvalidInput, UnknownName, message_of, one_line

# The commands, by name, and where they are; a module is imported when its command is used.
_COMMANDS = {
    "combine": "combine:command",
    "compile": "compile:command",
    "examples": "examples:command",
    "history": "history:command",
    "landscape": "landscape:command",
    "list": "catalogue:list_command",
    "regret": "regret:command",
    "results": "results:command",
    "show": "catalogue:show_command",
    "simulate": "simulate:command",
    "sweep": "sweep:command",
}
_FAILED, _MISUSED, _INTERRUPTED = 1, 2, 130  # exit codes


def _with_import_option(command: click.Command) -> click.Command:
    """Add the option `--import`: modules of the user that register learners, imported before anything else is read."""
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
        sys.path.append(str(Path.cwd()))  # last, so that a file such as `numpy.py` there is not taken for the library
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
        except (Exception, SystemExit) as error:  # whatever the module raises; a script may call `sys.exit`
            raise InvalidInput(f"--import {name}: {message_of(error)}") from None
        own = Path(f"{name}.py")
        if own.is_file() and not _is_from(name, own):
            raise InvalidInput(f"--import {name}: there is another module of this name; rename {own}.")


def _is_from(module: str, file: Path) -> bool:
    """Return whether a module that was imported is from this file."""
    origin = getattr(sys.modules[module], "__file__", None)
    return origin is not None and Path(origin).exists() and file.samefile(origin)


class _LazyGroup(click.Group):
    """A group that imports the module of a command when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name].partition(":")
        return _with_import_option(getattr(importlib.import_module(f"driftwise.cli.{module}"), name))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in _COMMANDS:
            raise UnknownName("command", args[0], _COMMANDS)
        return super().resolve_command(ctx, args)


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 100})
@click.version_option(__version__, message="driftwise %(version)s")
def _cli() -> None:
    """Online learning in changing environments.

    Simulate expert and bandit algorithms on losses that switch or drift, and compare their regret with proved bounds.
    """


def main() -> NoReturn:
    """Run the command line."""
    if not _prepare_streams():
        _exit_with("Standard output is closed.", _FAILED)
    try:
        with _short_warnings():
            code = _run_command()
        sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except click.ClickException as error:
        with contextlib.suppress(OSError):
            error.show()
        sys.exit(error.exit_code)
    except DriftwiseError as error:
        message = " ".join((_advised(error), *getattr(error, "__notes__", ())))  # of a learner in Python: its round
        _exit_with(message, _MISUSED if isinstance(error, (InvalidInput, UnknownName)) else _FAILED)
    except (KeyboardInterrupt, click.exceptions.Abort):
        _print_error("interrupted.")
        os._exit(_INTERRUPTED)  # without waiting for threads; files are complete or absent
    except (MemoryError, OSError) as error:
        if hasattr(error, "__notes__"):  # of a learner in plain Python, whose author needs the traceback
            raise
        if isinstance(error, MemoryError):
            _exit_with("Out of memory.", _FAILED)
        # The reader of a pipe, such as `head`, has closed it, or the disk is full: write nothing more.
        place = "Cannot write standard output: " if _is_of_output(error) else ""
        _silence(sys.stdout)
        if isinstance(error, BrokenPipeError):
            _silence(sys.stderr)
            sys.exit(_FAILED)
        _exit_with(f"{place}{error.strerror or error}.", _FAILED)


def _run_command() -> object:
    try:
        return _cli.main(prog_name="driftwise", standalone_mode=False)
    except SystemExit as error:  # of click, whose code is not 0, or of a class of the user
        if error.code:
            raise
        _exit_with("A learner or another class of your own called `sys.exit`, so nothing was finished.", _FAILED)


@contextlib.contextmanager
def _short_warnings() -> Iterator[None]:
    """Show a warning as one line, without the place in the source and its code."""
    before = warnings.formatwarning
    warnings.formatwarning = lambda message, *_, **__: f"driftwise: {one_line(str(message))}\n"
    try:
        yield
    finally:
        warnings.formatwarning = before


def _prepare_streams() -> bool:
    """Make both streams write any character; return whether there is a standard output.

    If a descriptor is closed, Python has no stream for it, and the next file to be opened gets the descriptor. Output
    would then go into that file. So the null device takes the place of a closed stream.
    """
    open_before = sys.stdout is not None
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name may hold characters that the terminal cannot show
    return open_before


def _advised(error: DriftwiseError) -> str:
    """Return the message of an error with the advice for the command line."""
    message = str(error).replace(IMPORT_FIRST, "If it is your own, name its module: --import MODULE.")
    return f"{message} {COPY_EXAMPLES}" if isinstance(error, BadFile) and names_missing_example(message) else message


def _is_of_output(error: OSError) -> bool:
    """Return whether an error was raised where text is printed: by `click.echo`, or when `main` flushes it."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return frame.f_globals.get("__name__") in (click.echo.__module__, __name__)


def _silence(stream: TextIO) -> None:
    with contextlib.suppress(OSError, ValueError):  # a replaced stream has no descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _print_error(message: str) -> None:
    """Write one line to standard error, if it can be written to."""
    try:
        click.echo(f"driftwise: {one_line(message)}", err=True)
    except OSError:
        _silence(sys.stderr)


def _exit_with(message: str, code: int) -> NoReturn:
    _print_error(message)
    sys.exit(code)
