"""The errors driftwise raises, and the one voice they speak with: who, what, rule, got."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "BadFile",
    "DriftwiseError",
    "InvalidInput",
    "MissingDependency",
    "TuningWarning",
    "UnknownName",
    "rejection",
]


class DriftwiseError(Exception):
    """The base of every error that is the caller's to mend."""


class InvalidInput(DriftwiseError, ValueError):
    """A value breaks a rule; nothing was changed."""


class UnknownName(DriftwiseError, LookupError):
    """A name is not in a registry; the message suggests the nearest."""

    def __init__(self, kind: str, name: str, known: Iterable[str], where: str = "") -> None:
        known = sorted(known)
        near = difflib.get_close_matches(name, known, n=1)
        advice = f" Did you mean '{near[0]}'?" if near else f" Known: {', '.join(known) or 'none'}."
        super().__init__(f"There is no {kind} '{name}'{' ' + where if where else ''}.{advice}")


class BadFile(DriftwiseError, OSError):
    """A file is missing, cut short, or not what it claims to be."""


class MissingDependency(DriftwiseError, ImportError):
    """An optional library is needed for this call."""

    def __init__(self, task: str, library: str, extra: str) -> None:
        super().__init__(f"{task} needs {library}: install it with `pip install 'driftwise[{extra}]'`.")


class TuningWarning(UserWarning):
    """A rule for tuning was asked about a world of which it says nothing."""


def rejection(owner: object, name: str, rule: str, got: object, hint: str = "") -> InvalidInput:
    """Word a broken rule: ``OptimisticGD: `learning_rate` must be > 0, got -1.0.``

    >>> print(rejection("OptimisticGD", "learning_rate", "> 0", -1.0))
    OptimisticGD: `learning_rate` must be > 0, got -1.0.
    """
    who = owner if isinstance(owner, str) else type(owner).__name__
    shown = repr(got)
    if len(shown) > 80:
        shown = shown[:77] + "..."
    return InvalidInput(f"{who}: `{name}` must be {rule}, got {shown}.{' ' + hint if hint else ''}")
