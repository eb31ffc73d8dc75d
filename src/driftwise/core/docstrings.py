"""Reading the symbol tables of docstrings: the bridge between letters in the maths and words in the code."""

from __future__ import annotations

import inspect
import re
import sys
from typing import NamedTuple

__all__ = ["Symbol", "symbols"]


class Symbol(NamedTuple):
    """One row: the letter, the parameter's name, what it means."""

    letter: str
    name: str
    meaning: str


def symbols(member: type) -> list[Symbol]:
    """Return the symbol table of a class: its own docstring's, or its module's.

    >>> from driftwise.learners import OptimisticGD
    >>> symbols(OptimisticGD)[0].name
    'learning_rate'
    """
    own = _rows(inspect.cleandoc(member.__doc__ or ""))
    return own or _rows(inspect.cleandoc(sys.modules[member.__module__].__doc__ or ""))


def _rows(text: str) -> list[Symbol]:
    """Parse a table between three rules of equal signs; a line without a name continues the row above."""
    lines = text.splitlines()
    rules = [i for i, line in enumerate(lines) if re.fullmatch(r"=+( +=+)+", line.strip())]
    if len(rules) < 3 or "name in the code" not in lines[rules[0] + 1]:
        return []
    starts = [match.start() for match in re.finditer(r"=+", lines[rules[0]])]
    found: list[Symbol] = []
    for line in lines[rules[1] + 1 : rules[2]]:
        cells = [line[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)]
        letter, name, meaning = cells[0], cells[1].strip("`"), cells[2]
        if name:
            found.append(Symbol(letter, name, meaning))
        elif found:
            found[-1] = found[-1]._replace(meaning=f"{found[-1].meaning} {meaning}")
    return found
