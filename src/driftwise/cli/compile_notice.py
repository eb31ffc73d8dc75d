"""A line on standard error when the first use of a learner takes long because it is compiled."""

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

_LONG = 1.0  # seconds of compilation, added up, that are worth a line
_COMPILE = "numba:compile"  # what Numba calls it


@contextlib.contextmanager
def compile_notice(quiet: bool) -> Iterator[None]:
    """Say once that something is being compiled, if that takes more than a second in all."""
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
    """Adds up the seconds of compilation; kernels that are compiled for others are part of theirs."""

    def __init__(self) -> None:
        self._depth, self._seconds, self._began = 0, 0.0, 0.0
        self._timer: threading.Timer | None = None
        self._told = False

    def on_start(self, event: Any) -> None:
        self._depth += 1
        if self._depth == 1 and not self._told:
            self._began = time.monotonic()
            name = plain_name(event.data["dispatcher"].py_func.__qualname__)
            self._timer = threading.Timer(max(0.0, _LONG - self._seconds), self._tell, [name])
            self._timer.daemon = True
            self._timer.start()

    def on_end(self, event: Any) -> None:  # noqa: ARG002
        self._depth -= 1
        if self._depth == 0 and self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._seconds += time.monotonic() - self._began

    def _tell(self, name: str) -> None:
        self._told = True
        clear = "\r\033[K" if sys.stderr.isatty() else ""  # a progress bar may stand there
        click.echo(f"{clear}driftwise: compiling {name}, once; later runs find it on disk.", err=True)


def plain_name(qualified: str) -> str:
    """Return the name of what a kernel belongs to: its own name, its learner's and a digest make up the qualified one.

    >>> plain_name("_run_expert.optimistic-gd.0a1b2c3d4e5f"), plain_name("_add_actions.0a1b2c3d4e5f")
    ('optimistic-gd', 'the engine')
    """
    parts = qualified.split(".")
    return parts[1] if len(parts) == 3 else "the engine"
