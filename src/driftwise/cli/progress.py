"""Output of long commands on standard error: a progress bar, and each warning once."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

import click

__all__ = ["notes", "progress_bar"]


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
