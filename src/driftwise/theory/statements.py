"""The theorems, lemmas, algorithms and the table of Wei, Hong and Lu (NIPS 2016), in the order of the paper.

Numbers are those that the paper prints: theorems and lemmas share one counter, which starts again in every section.
Labels are those of its source. The texts are in `statements.toml`, which is read when this module is imported.

>>> statements["Theorem 3.2"].label
'dev'
>>> find_statement("dev").number, find_statement("lem:dev").number, find_statement("b.1").number
('Theorem 3.2', 'Lemma C.1', 'Lemma B.1')
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from driftwise.core.errors import UnknownName

_LABEL_PREFIXES = ("theorem", "thm", "lemma", "lem")


@dataclass(frozen=True)
class Statement:
    r"""One statement of the paper: what it says, what is true of it, and where the code and the tests are.

    Parameters
    ----------
    number : str
        What the paper prints, as in "Theorem 3.2".
    label : str
        Its label in the paper's source, "" if it has none. A prefix is kept only where two labels differ by it alone.
    title : str
        A short noun phrase.
    words : str
        The statement in plain English, with every symbol explained; maths between dollar signs.
    formula : str
        The printed claim in LaTeX, without dollar signs.
    ours : str
        What driftwise proves or uses instead, "" if it is the same.
    code : tuple of str
        Dotted names of the objects that implement it.
    tests : tuple of str
        Files with its tests, from the root of the repository.
    errata : tuple of str
        Entries of ``docs/errata.md``, as in "E1".
    commands : tuple of str
        Command lines that show it at work.

    Examples
    --------
    >>> find_statement("3.2").slug
    'theorem-3-2'
    """

    number: str
    label: str
    title: str
    words: str
    formula: str
    ours: str
    code: tuple[str, ...]
    tests: tuple[str, ...]
    errata: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("words", "formula", "ours"):  # written over several lines, kept on one
            object.__setattr__(self, name, " ".join(getattr(self, name).split()))

    @property
    def kind(self) -> str:
        """Return "theorem", "lemma", "algorithm" or "table"."""
        return self.number.partition(" ")[0].lower()

    @property
    def name(self) -> str:
        """Return the number with the label, as a page writes it where it names the statement first."""
        return f"{self.number} ({self.label})" if self.label else self.number

    @property
    def slug(self) -> str:
        """Return the number as part of a file name."""
        return re.sub(r"[^a-z0-9]+", "-", self.number.lower())


def _fields(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an entry of the file, with tuples for lists."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}


_TEXT = files("driftwise.theory").joinpath("statements.toml").read_text(encoding="utf-8")
#: the statements by their numbers, in the order of the paper
statements: dict[str, Statement] = {
    entry["number"]: Statement(**_fields(entry)) for entry in tomllib.loads(_TEXT)["statement"]
}


def find_statement(text: str) -> Statement:
    """Return the statement with this number, with or without its kind, or with this label.

    Capitals do not matter. A label may have the prefix of the paper's source, as in "thm:dev". A number without its
    kind is that of a theorem or lemma.
    """
    wanted = " ".join(text.lower().split())
    prefix, _, rest = wanted.replace("_", ":", 1).partition(":")
    spellings = [wanted, wanted[len(prefix) + 1 :]] if prefix in _LABEL_PREFIXES and rest else [wanted]
    for spelling in spellings:
        for statement in statements.values():
            bare = statement.number.partition(" ")[2] if statement.kind in ("theorem", "lemma") else ""
            if spelling and spelling in (statement.number.lower(), bare.lower(), statement.label.lower()):
                return statement
    names = [name for entry in statements.values() for name in (entry.number, entry.label) if name]
    raise UnknownName("theorem, lemma or algorithm", text, names)


def statements_about(member: type[Any]) -> list[Statement]:
    """Return the statements whose code is a class of driftwise, or a part of it.

    >>> from driftwise.learners import OptimisticGD
    >>> [entry.number for entry in statements_about(OptimisticGD)]
    ['Algorithm 2', 'Theorem 3.2']
    """
    place = f"{'.'.join(member.__module__.split('.')[:2])}.{member.__name__}"
    return [entry for entry in statements.values() if any(f"{name}.".startswith(f"{place}.") for name in entry.code)]
