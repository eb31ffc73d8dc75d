"""Output of long commands on standard error: progress, each warning once, what compiles, and how to continue."""

from __future__ import annotations

import contextlib
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import click

from driftwise.core.errors import one_line

if TYPE_CHECKING:
    from driftwise.sweeps import Progress


@contextlib.contextmanager
def notes(quiet: bool) -> Iterator[None]:
    """Print the message of each warning once, and a line if compilation takes long."""
    with compile_notice(quiet), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for message in () if quiet else dict.fromkeys(str(warning.message) for warning in caught):
        click.echo(f"driftwise: {one_line(message)}", err=True)


@contextlib.contextmanager
def compile_notice(quiet: bool) -> Iterator[None]:
    """Let a long compilation print one line, or nothing if the command is quiet."""
    from driftwise.core.kernel import NOTICE

    with NOTICE.silenced() if quiet else contextlib.nullcontext():
        yield


@contextlib.contextmanager
def progress_bar(quiet: bool, label: str, eta: bool = True) -> Iterator[Callable[[int, int], None] | None]:
    """Show a progress bar if standard error is a terminal; `eta` is for steps that take equal times."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    with click.progressbar(length=1, label=label, file=sys.stderr, show_eta=eta) as bar:

        def advance(done: int, total: int) -> None:
            bar.length = total
            bar.update(done - bar.pos)

        yield advance


@contextlib.contextmanager
def hint_on_interrupt(hint: str) -> Iterator[None]:
    """On an interrupt, print how to continue."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo(f"\ndriftwise: {hint}", err=True)
        raise


def continued_by(what: str) -> str:
    """Return the hint that the same command continues, if what it has finished is stored."""
    return one_line(f"finished {what} are stored; to continue: {shlex.join(['driftwise', *sys.argv[1:]])}")


@contextlib.contextmanager
def progress_line() -> Iterator[Callable[[str, bool], None]]:
    """Show a line: on a terminal it is rewritten; a log file gets few lines, those that are due."""
    is_terminal, shown = sys.stderr.isatty(), [False]

    def show(line: str, due: bool) -> None:
        if is_terminal:
            click.echo(f"\r\033[K{line}", nl=False, err=True)
            shown[0] = True
        elif due:
            click.echo(line, err=True)

    try:
        yield show
    finally:
        if shown[0]:
            click.echo("", err=True)


@contextlib.contextmanager
def sweep_progress(quiet: bool, title: str = "", what: str = "cells") -> Iterator[Callable[[Progress], None] | None]:
    """Show a line with the number of finished cells and the remaining time."""
    if quiet:
        yield None
        return
    last_tenth, last_note = 0, ""
    with progress_line() as show_line:

        def show(now: Progress) -> None:
            nonlocal last_tenth, last_note
            done = f"{now.done} of {now.total} {what} ({100 * now.done // now.total} %)"
            parts = [f"{title}: {done}" if title else done]
            parts += [f"{now.failed} failed"] if now.failed else []
            if now.seconds_left is not None and now.done < now.total:
                parts.append(f"about {duration(now.seconds_left)} left")
            parts += [now.note] if now.note else []
            tenth = 10 * now.done // now.total
            show_line(", ".join(parts), tenth > last_tenth or now.note not in ("", last_note))
            last_tenth, last_note = max(tenth, last_tenth), now.note

        yield show


def duration(seconds: float) -> str:
    """Return a time in words, in two units at most.

    >>> [duration(seconds) for seconds in (0.2, 42, 750, 9000, 200_000)]
    ['1 s', '42 s', '12 min 30 s', '2 h 30 min', '2 d 7 h']
    """
    whole = max(1, round(seconds))
    for unit, size, smaller, part in (("d", 86_400, "h", 3600), ("h", 3600, "min", 60), ("min", 60, "s", 1)):
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size} {unit}{f' {rest} {smaller}' if rest else ''}"
    return f"{whole} s"
