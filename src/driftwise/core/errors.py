"""The errors that driftwise raises. All messages have one form: who, what, rule, got."""

from __future__ import annotations

import difflib
import math
import unicodedata
from collections.abc import Iterable

_LONGEST = 80  # characters of a value in a message
IMPORT_FIRST = "If it is your own, import its module first."  # on the command line: with `--import`


class DriftwiseError(Exception):
    """Base class of all errors that the caller can correct."""


class InvalidInput(DriftwiseError, ValueError):
    """A value breaks a rule. Nothing was changed."""


class UnknownName(DriftwiseError, LookupError):
    """A name is not in a registry. The message suggests the nearest name.

    >>> print(UnknownName("learner", "hege", ["hedge", "ucb1"]))
    There is no learner 'hege'. Did you mean 'hedge'? If it is your own, import its module first.
    """

    def __init__(self, kind: str, name: str, names: Iterable[str], where: str = "", listing: str = "") -> None:
        names = sorted(names)
        near = difflib.get_close_matches(name, names, n=1)
        listing = listing or f"Known: {', '.join(names) or 'none'}."  # what to say if no name is near
        advice = f" Did you mean '{near[0]}'?" if near else f" {listing}"
        called = name if len(name) <= _LONGEST else name[: _LONGEST - 3] + "..."
        if kind.startswith("learner") and not where:  # the registry has only the learners that were imported
            advice += f" {IMPORT_FIRST}"
        super().__init__(one_line(f"There is no {kind} '{called}'{' ' + where if where else ''}.{advice}"))


class BadFile(DriftwiseError, OSError):
    """A file is missing, cut short, or has another content than expected."""


class BadData(BadFile, InvalidInput):
    """The content of a file breaks a rule: the command line exits with 2, as for any invalid input."""


class KernelError(DriftwiseError):
    """A kernel of a user's learner cannot be used; the compiler's error is the `__context__`."""


class LearnerError(DriftwiseError):
    """A method of a user's learner in plain Python breaks a rule. The state was not changed."""


class MissingDependency(DriftwiseError, ImportError):
    """An optional library is needed for this call."""

    def __init__(self, task: str, library: str, extra: str) -> None:
        super().__init__(f"{task} needs {library}: install it with `pip install 'driftwise[{extra}]'`.")


class LayoutWarning(UserWarning):
    """Columns of a frame were left out, or its layout makes the forecasts look better than they are."""


class TuningWarning(UserWarning):
    """A tuning rule is meaningless in the environment for which it was used."""


def rejection(owner: object, name: str, rule: str, got: object, hint: str = "") -> InvalidInput:
    """Return the error for a broken rule: ``OptimisticGD: `learning_rate` must be > 0, got -1.0.``

    >>> print(rejection("OptimisticGD", "learning_rate", "> 0", -1.0))
    OptimisticGD: `learning_rate` must be > 0, got -1.0.
    """
    return InvalidInput(f"{name_of(owner)}: `{name}` must be {rule}, got {shown(got)}.{' ' + hint if hint else ''}")


def name_of(owner: object) -> str:
    """Return a text as it is, and the name of the class of anything else."""
    return owner if isinstance(owner, str) else type(owner).__name__


def outside(owner: object, name: str, got: float, where: str) -> InvalidInput:
    """Return the error for a loss outside [0, 1], with the likely cause."""
    hint = "Is a value missing?" if math.isnan(got) else "Rescale your losses by their known range."
    place = f" {where}" if where else ""
    return InvalidInput(f"{type(owner).__name__}: `{name}` must be in [0, 1], got {float(got)}{place}. {hint}")


def shown(value: object) -> str:
    """Return any value as a message shows it: on one line, at most 80 characters.

    >>> shown([0.5] * 40)
    '[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0...'
    >>> shown(10**5000)
    'a whole number of 16610 bits'
    >>> import numpy as np
    >>> shown([np.float64(0.5), np.True_])
    '[0.5, True]'
    """
    try:
        text = repr(_plain(value))
    except Exception:  # more than 4,300 digits, infinite nesting, or whatever a class of the user raises
        text = f"a whole number of {value.bit_length()} bits" if isinstance(value, int) else type(value).__name__
    text = one_line(text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _plain(value: object) -> object:
    """Return NumPy's numbers as those of Python, also in lists and tuples: 0.5, not np.float64(0.5)."""
    kind = type(value)
    if kind.__module__ == "numpy" and kind.__name__.startswith(("float", "int", "uint", "bool")):  # it is not imported
        return value.item()  # type: ignore[attr-defined]
    if type(value) in (list, tuple):
        return type(value)(_plain(part) for part in value[:_LONGEST])  # type: ignore[index, call-arg]  # more is not shown
    return value


def message_of(error: BaseException) -> str:
    """Return the message of any error on one line: that of driftwise as it is, of others with the class.

    >>> message_of(ZeroDivisionError("division by zero")), message_of(KeyboardInterrupt())
    ('ZeroDivisionError: division by zero', 'KeyboardInterrupt')
    """
    name = type(error).__name__
    try:
        text = str(error).strip()
    except Exception:  # whatever the class of the error raises
        text = ""
    return one_line(text if text and isinstance(error, DriftwiseError) else f"{name}: {text}" if text else name)


def one_line(text: str) -> str:
    """Return a text with line breaks and other control characters escaped.

    >>> one_line("a\\nb")
    'a\\\\nb'
    """
    if text.isprintable():
        return text
    return "".join(c if _is_shown(c) else c.encode("unicode_escape").decode() for c in text)


def _is_shown(character: str) -> bool:
    return character.isprintable() or unicodedata.category(character) == "Zs"  # no-break spaces
