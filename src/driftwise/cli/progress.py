"""Output of long commands on standard error: progress, each warning once, and how to continue."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from driftwise.sweeps import Progress

__all__ = ["duration", "hint_on_interrupt", "notes", "progress_bar", "sweep_progress"]


@contextlib.contextmanager
def notes(quiet: bool) -> Iterator[None]:
    """Print the message of each warning once, and a line if compilation takes long."""
    import warnings

    from driftwise.cli.compile_notice import compile_notice

    with compile_notice(quiet), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for message in () if quiet else dict.fromkeys(str(warning.message) for warning in caught):
        click.echo(f"driftwise: {message}", err=True)


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
def hint_on_interrupt(what: str) -> Iterator[None]:
    """On an interrupt, say how to continue: by the same command."""
    try:
        yield
    except KeyboardInterrupt:
        command_line = shlex.join(["driftwise", *sys.argv[1:]])
        click.echo(f"\ndriftwise: finished {what} are stored; to continue: {command_line}", err=True)
        raise


@contextlib.contextmanager
def sweep_progress(quiet: bool, title: str = "", what: str = "cells") -> Iterator[Callable[[Progress], None] | None]:
    """Show a line with the number of finished cells and the remaining time; on a terminal it is rewritten."""
    if quiet:
        yield None
        return
    is_terminal = sys.stderr.isatty()
    shown_at, last_note = [0], [""]

    def show(now: Progress) -> None:
        left = "" if now.seconds_left is None or now.done == now.total else f", about {duration(now.seconds_left)} left"
        failed = f", {now.failed} failed" if now.failed else ""
        note = f", {now.note}" if now.note else ""
        done = f"{now.done} of {now.total} {what} ({100 * now.done // now.total} %)"
        line = f"{title}{': ' if title else ''}{done}{failed}{left}{note}"
        tenth = 10 * now.done // now.total
        if is_terminal:
            click.echo(f"\r\033[K{line}", nl=False, err=True)
        elif tenth > shown_at[0] or (now.note and now.note != last_note[0]):  # a log file gets few lines
            click.echo(line, err=True)
        last_note[0] = now.note
        shown_at[0] = max(tenth, shown_at[0])

    try:
        yield show
    finally:
        if is_terminal:
            click.echo("", err=True)


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
