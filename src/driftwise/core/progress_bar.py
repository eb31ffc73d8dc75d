"""A progress bar for calls from Python: in a terminal, in a notebook, and as few lines in a log."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from driftwise.core.errors import MissingDependency, rejection

Progress = Callable[[int, int], None]  # is told how much is done, of how much
DELAY = 2.0  # seconds before anything is shown


@contextlib.contextmanager
def progress_shown(owner: str, progress: bool | Progress | None, unit: str) -> Iterator[Progress | None]:
    """Return what must be told of the progress: the user's function, a bar for True, nothing for None or False."""
    if progress is None or progress is False:
        yield None
    elif progress is True:
        with contextlib.closing(_bar(owner, unit) if _draws() else _Lines(owner, unit)) as bar:
            yield bar.show
    elif callable(progress):
        yield progress
    else:
        raise rejection(owner, "progress", "True, False or a function of what is done and of all", progress)


def _draws() -> bool:
    """Return whether standard error is a terminal, or this is a notebook."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return sys.stderr.isatty() or hasattr(shell, "kernel")


class _Lines:
    """A line for each tenth, for a log."""

    def __init__(self, owner: str, unit: str) -> None:
        self._owner, self._unit = owner, unit
        self._began, self._tenths = time.monotonic(), 0

    def show(self, done: int, total: int) -> None:
        tenths = 10 * done // total
        if tenths > self._tenths and time.monotonic() - self._began >= DELAY:
            print(f"{self._owner}: {done:,} of {total:,} {self._unit} ({100 * done // total} %)", file=sys.stderr)
        self._tenths = max(tenths, self._tenths)

    def close(self) -> None:
        pass


def _bar(owner: str, unit: str) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise MissingDependency("A progress bar", "tqdm", "progress") from None

    class Bar(tqdm):  # type: ignore[misc]
        def show(self, done: int, total: int) -> None:
            self.total = total
            self.update(done - self.n)

    return Bar(desc=owner, unit=f" {unit}", unit_scale=True, delay=DELAY, dynamic_ncols=True)
