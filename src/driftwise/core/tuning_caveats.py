"""Caveats: reports that a tuning rule is meaningless in an environment, and the mark of learners tuned by it.

`tuned` reports the reason. Within a block `with collected()`, the reasons of this thread are collected in a list, for
callers that make many learners; elsewhere each reason becomes a `TuningWarning`.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from contextvars import ContextVar

from driftwise.core.errors import TuningWarning

__all__ = ["MARK", "SAYS_NOTHING", "collected", "marked", "report"]

SAYS_NOTHING = "tuning says nothing here"
MARK = "*"

# Not `warnings.catch_warnings`, which affects all threads.
_reasons: ContextVar[list[str] | None] = ContextVar("reasons", default=None)


@contextlib.contextmanager
def collected() -> Iterator[list[str]]:
    """Collect the reasons reported inside, without warnings.

    >>> with collected() as reasons:
    ...     report("FixedShare", "99 changes in 100 rounds")
    >>> reasons
    ['99 changes in 100 rounds']
    """
    reasons: list[str] = []
    token = _reasons.set(reasons)
    try:
        yield reasons
    finally:
        _reasons.reset(token)


def report(who: str, reason: str) -> None:
    """Add a reason to the list of `collected`; outside of it, warn the caller of the function that reports."""
    reasons = _reasons.get()
    if reasons is not None:
        reasons.append(reason)
    else:
        warnings.warn(f"{who}: {SAYS_NOTHING}: {reason}.", TuningWarning, stacklevel=3)


def marked(label: str, caveat: object) -> str:
    """Return a label with the mark if there is a caveat.

    >>> marked("fixed-share (tuned)", "99 changes in 100 rounds"), marked("hedge", None)
    ('fixed-share (tuned) *', 'hedge')
    """
    return f"{label} {MARK}" if caveat else label
