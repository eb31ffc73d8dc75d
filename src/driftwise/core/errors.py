"""The errors driftwise raises, and the one voice they speak with: who, what, rule, got."""

from __future__ import annotations

import difflib
import math
import unicodedata
from collections.abc import Iterable

__all__ = [
    "BadFile",
    "DriftwiseError",
    "InvalidInput",
    "MissingDependency",
    "TuningWarning",
    "UnknownName",
    "one_line",
    "outside",
    "rejection",
    "shown",
]

_LONGEST = 80  # characters of a value in a message


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
        called = name if len(name) <= _LONGEST else name[: _LONGEST - 3] + "..."
        super().__init__(one_line(f"There is no {kind} '{called}'{' ' + where if where else ''}.{advice}"))


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
    return InvalidInput(f"{who}: `{name}` must be {rule}, got {shown(got)}.{' ' + hint if hint else ''}")


def outside(owner: object, name: str, got: float, where: str) -> InvalidInput:
    """Word a loss outside [0, 1], with the likely cause."""
    hint = "Is a value missing?" if math.isnan(got) else "Rescale your losses by their known range."
    who = type(owner).__name__
    return InvalidInput(f"{who}: `{name}` must be in [0, 1], got {float(got)}{' ' + where if where else ''}. {hint}")


def shown(value: object) -> str:
    """Write a value for a message: in one line, at most 80 characters, whatever it is.

    >>> shown([0.5] * 40)
    '[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0...'
    >>> shown(10**5000)
    'a whole number of 16610 bits'
    """
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # Python writes no number of more than 4,300 digits, and no endless nesting
        text = f"a whole number of {value.bit_length()} bits" if isinstance(value, int) else type(value).__name__
    text = one_line(text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def one_line(text: str) -> str:
    """Write line breaks and other control characters as Python does, and leave the rest.

    >>> one_line("a\\nb")
    'a\\\\nb'
    """
    if text.isprintable():
        return text
    return "".join(c if _is_shown(c) else c.encode("unicode_escape").decode() for c in text)


def _is_shown(character: str) -> bool:
    return character.isprintable() or unicodedata.category(character) == "Zs"  # spaces that do not break
