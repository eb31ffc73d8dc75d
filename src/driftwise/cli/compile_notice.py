"""A line on standard error if the first use of a learner takes long because it is compiled."""

# mypy: allow-untyped-calls, allow-subclassing-any
from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import click

from driftwise.core.compiler import events as event

__all__ = ["compile_notice"]

_LONG = 1.0  # seconds of compilation in total, after which the line is printed
_COMPILE = "numba:compile"  # the name of the event in Numba


@contextlib.contextmanager
def compile_notice(quiet: bool) -> Iterator[None]:
    """Print one line if compilation takes more than a second in total."""
    if quiet or event is None:
        yield
        return
    notice = _Notice()
    event.register(_COMPILE, notice)
    try:
        yield
    finally:
        event.unregister(_COMPILE, notice)


class _Notice(event.Listener if event else object):  # type: ignore[misc]
    """Sums the seconds of compilation; the time of a kernel includes that of the kernels it calls."""

    def __init__(self) -> None:
        self._depth, self._seconds, self._began = 0, 0.0, 0.0
        self._timer: threading.Timer | None = None
        self._printed = False

    def on_start(self, event: Any) -> None:
        self._depth += 1
        if self._depth == 1 and not self._printed:
            self._began = time.monotonic()
            name = plain_name(event.data["dispatcher"].py_func.__qualname__)
            self._timer = threading.Timer(max(0.0, _LONG - self._seconds), self._print_line, [name])
            self._timer.daemon = True
            self._timer.start()

    def on_end(self, event: Any) -> None:  # noqa: ARG002
        self._depth -= 1
        if self._depth == 0 and self._timer is not None:
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
