"""What is kept of one theorem, lemma, algorithm or table of the paper."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Statement"]


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
    >>> from driftwise.theory.statements import find_statement
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
