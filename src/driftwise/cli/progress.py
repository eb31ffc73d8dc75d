"""Output of long commands on standard error: progress, each warning once, what compiles, and how to continue."""

# mypy: allow-untyped-calls

from __future__ import annotations

import contextlib
import shlex
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from driftwise.sweeps import Progress

_LONG = 1.0  # seconds of compilation in total, after which a line is printed
_COMPILE = "numba:compile"  # the name of the event in Numba


@contextlib.contextmanager
def notes(quiet: bool) -> Iterator[None]:
    """Print the message of each warning once, and a line if compilation takes long."""
    with compile_notice(quiet), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for message in () if quiet else dict.fromkeys(str(warning.message) for warning in caught):
        click.echo(f"driftwise: {message}", err=True)


@contextlib.contextmanager
def compile_notice(quiet: bool) -> Iterator[None]:
    """Print one line if compilation takes more than a second in total."""
    from driftwise.core.private_numba import events

    if quiet or events is None:
        yield
        return
    notice = _CompileNotice()
    events.Listener.register(_CompileNotice)  # counts as a subclass
    events.register(_COMPILE, notice)
    try:
        yield
    finally:
        events.unregister(_COMPILE, notice)


class _CompileNotice:
    """Sums the seconds of compilation; the time of a kernel includes that of the kernels it calls."""

    def __init__(self) -> None:
        self._depth, self._seconds, self._began = 0, 0.0, 0.0
        self._timer: threading.Timer | None = None
        self._printed = False

    def notify(self, event: Any) -> None:
        """Take an event of Numba: the start or the end of the compilation of a kernel."""
        self._depth += 1 if event.is_start else -1
        if event.is_start and self._depth == 1 and not self._printed:
            self._began = time.monotonic()
            name = plain_name(event.data["dispatcher"].py_func.__qualname__)
            self._timer = threading.Timer(max(0.0, _LONG - self._seconds), self._print_line, [name])
            self._timer.daemon = True
            self._timer.start()
        elif self._depth == 0 and self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._seconds += time.monotonic() - self._began

    def _print_line(self, name: str) -> None:
        self._printed = True
        clear = "\r\033[K" if sys.stderr.isatty() else ""  # there may be a progress bar on the line
        click.echo(f"{clear}driftwise: compiling {name} (only once; the compiled code is kept on disk).", err=True)


def plain_name(qualified: str) -> str:
    """Return the learner that a kernel belongs to; the qualified name is kernel, learner and digest, joined by dots.

    >>> plain_name("_run_expert.optimistic-gd.0a1b2c3d4e5f"), plain_name("_measure.0a1b2c3d4e5f")
    ('optimistic-gd', 'the engine')
    """
    parts = qualified.split(".")
    return parts[1] if len(parts) == 3 else "the engine"


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
    return f"finished {what} are stored; to continue: {shlex.join(['driftwise', *sys.argv[1:]])}"


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
