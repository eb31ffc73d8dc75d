"""One line on standard error, once in a process, when kernels have been compiled for more than two seconds.

Numba reports when it begins and ends to compile, not what it loads from its cache; a timer prints the line while a long
compilation goes on. There is no thread before the first compilation, and none after a short one. A process that
`multiprocessing` started, such as a worker of a cluster, prints nothing.
"""

# mypy: allow-untyped-calls
from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from driftwise.core.private_numba import events

_LONG = 2.0  # seconds of compilation in total, after which the line is printed
_COMPILE = "numba:compile"  # the name of the event in Numba
_WORKER = "multiprocessing.process"  # a module that is loaded in every such process


class CompileNotice:
    """Sums the seconds of compilation of kernels; the time of a kernel includes that of the kernels it calls."""

    def __init__(self, mark: str) -> None:
        self._mark = mark  # an attribute of kernels: functions that others compile with Numba do not count
        self._depth, self._seconds, self._began = 0, 0.0, 0.0
        self._timer: threading.Timer | None = None
        self._silent = self._printed = False

    def notify(self, event: Any) -> None:
        """Take an event of Numba, the start or the end of a compilation; it holds Numba's lock of the compiler."""
        dispatcher = event.data["dispatcher"]
        if not hasattr(dispatcher, self._mark):
            return
        self._depth += 1 if event.is_start else -1
        if event.is_start and self._depth == 1:
            self._began = time.monotonic()
            if not self._printed and not self._silent:
                self._start_timer(plain_name(dispatcher.py_func.__qualname__))
        elif self._depth == 0:
            self._seconds += time.monotonic() - self._began
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    def _start_timer(self, name: str) -> None:
        self._timer = threading.Timer(max(0.0, _LONG - self._seconds), self._print_line, [name])
        self._timer.daemon = True
        try:
            self._timer.start()
        except RuntimeError:  # the system has no more threads, or the interpreter ends
            self._timer = None

    def _print_line(self, name: str) -> None:
        worker = sys.modules.get(_WORKER)
        if self._printed or sys.stderr is None or (worker is not None and worker.parent_process() is not None):
            return
        self._printed = True
        with contextlib.suppress(OSError, ValueError):  # it is closed
            clear = "\r\033[K" if sys.stderr.isatty() else ""  # there may be a progress bar on the line
            ahead = "later runs load it from the cache (`driftwise compile` does it ahead)"
            sys.stderr.write(f"{clear}driftwise: compiling {name} for this machine, once; {ahead}.\n")
            sys.stderr.flush()

    @contextlib.contextmanager
    def silenced(self) -> Iterator[None]:
        """Print nothing meanwhile."""
        before, self._silent = self._silent, True
        try:
            yield
        finally:
            self._silent = before


def plain_name(qualified: str) -> str:
    """Return the learner that a kernel belongs to; the qualified name is kernel, learner and digest, joined by dots.

    >>> plain_name("_run_expert.optimistic-gd.0a1b2c3d4e5f"), plain_name("_measure.0a1b2c3d4e5f")
    ('optimistic-gd', 'the engine')
    """
    parts = qualified.split(".")
    return parts[1] if len(parts) == 3 else "the engine"


def installed_notice(mark: str) -> CompileNotice:
    """Return a notice that Numba informs from now on; without Numba's events it prints nothing."""
    notice = CompileNotice(mark)
    if events is not None:
        events.Listener.register(CompileNotice)  # counts as a subclass
        events.register(_COMPILE, notice)
    return notice
