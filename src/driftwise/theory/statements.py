"""The theorems, lemmas, algorithms and the table of Wei, Hong and Lu (NIPS 2016), in the order of the paper.

Numbers are those that the paper prints: theorems and lemmas share one counter, which starts again in every section.
Labels are those of its source.

>>> statements["Theorem 3.2"].label
'dev'
>>> find_statement("dev").number, find_statement("lem:dev").number, find_statement("b.1").number
('Theorem 3.2', 'Lemma C.1', 'Lemma B.1')
"""

from __future__ import annotations

from typing import Any

from driftwise.core.errors import UnknownName
from driftwise.theory.appendix_statements import APPENDICES
from driftwise.theory.lower_bound_statements import LOWER_BOUNDS
from driftwise.theory.statement import Statement
from driftwise.theory.upper_bound_statements import UPPER_BOUNDS

__all__ = ["Statement", "find_statement", "statements", "statements_about"]

statements: dict[str, Statement] = {each.number: each for each in (*UPPER_BOUNDS, *LOWER_BOUNDS, *APPENDICES)}

_LABEL_PREFIXES = ("theorem", "thm", "lemma", "lem")


def find_statement(text: str) -> Statement:
    """Return the statement with this number, with or without its kind, or with this label.

    Capitals do not matter. A label may have the prefix of the paper's source, as in "thm:dev". A number without its
    kind is that of a theorem or lemma.
    """
    wanted = " ".join(text.lower().split())
    prefix, _, rest = wanted.replace("_", ":", 1).partition(":")
    spellings = [wanted, wanted[len(prefix) + 1 :]] if prefix in _LABEL_PREFIXES and rest else [wanted]
    for spelling in spellings:
        for each in statements.values():
            bare = each.number.partition(" ")[2] if each.kind in ("theorem", "lemma") else ""
            if spelling and spelling in (each.number.lower(), bare.lower(), each.label.lower()):
                return each
    raise UnknownName("theorem, lemma or algorithm", text, _names())


def statements_about(member: type[Any]) -> list[Statement]:
    """Return the statements whose code is a class of driftwise, or a part of it.

    >>> from driftwise.learners import OptimisticGD
    >>> [each.number for each in statements_about(OptimisticGD)]
    ['Algorithm 2', 'Theorem 3.2']
    """
    place = f"{'.'.join(member.__module__.split('.')[:2])}.{member.__name__}"
    return [each for each in statements.values() if any(f"{name}.".startswith(f"{place}.") for name in each.code)]


def _names() -> list[str]:
    """Return every name that an error may suggest."""
    return [name for each in statements.values() for name in (each.number, each.label) if name]
