"""Writes the page of one statement of the paper: in words, as printed, what is true of it, code, tests, commands."""

from __future__ import annotations

import pkgutil

from docstring_markdown import function
from driftwise.theory.statements import Statement, statements
from related_files import source

__all__ = ["theorem_page"]

_MEMBERS = ("learners", "adversaries")  # packages whose classes are algorithms


def theorem_page(statement: Statement) -> str:
    """Return the page of a theorem, lemma, algorithm or table."""
    label = f" It has the label `{statement.label}` in the paper's source." if statement.label else ""
    parts = [
        f"# {statement.number}: {statement.title}",
        f"```{{index}} ! single: {statement.number.lower()}\n```",
        statement.words,
        "## As the paper prints it",
        f"$$ {statement.formula} $$",
        f'C.-Y. Wei, Y.-T. Hong, C.-J. Lu, "Tracking the best expert in non-stationary stochastic environments",'
        f" NIPS 2016, {statement.number}.{label}",
        "## What driftwise uses",
        statement.ours or "The statement as printed.",
        f"Errata: {', '.join(statement.errata)}." if statement.errata else "",
        f"See also: {', '.join(_related(statement))}." if _related(statement) else "",
        _measured(statement),
        "## Code and tests",
        "\n".join(f"- {_code(dotted)}" for dotted in statement.code),
        "Tests: " + ", ".join(f"`{name}`" for name in statement.tests) + "." if statement.tests else "",
        *_functions(statement),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _related(statement: Statement) -> list[str]:
    """Return the other statements about the same classes: the theorem of an algorithm, for example."""
    classes = {".".join(dotted.split(".")[:3]) for dotted in statement.code if dotted.split(".")[1] in _MEMBERS}
    return [
        each.name
        for each in statements.values()
        if each is not statement and classes & {".".join(dotted.split(".")[:3]) for dotted in each.code}
    ]


def _measured(statement: Statement) -> str:
    if not statement.commands:
        return ""
    lines = "\n".join(f"$ {command}" for command in statement.commands)
    return f"## At work\n\n```console\n{lines}\n```"


def _code(dotted: str) -> str:
    member = pkgutil.resolve_name(dotted)
    return f"`{dotted}` in {source(member)}" if callable(member) else f"`{dotted}`"


def _functions(statement: Statement) -> list[str]:
    """Return the sections of the functions among its code: the statement as something to call."""
    found = {dotted: pkgutil.resolve_name(dotted) for dotted in statement.code}
    return [
        function(dotted.removeprefix("driftwise."), member)
        for dotted, member in found.items()
        if callable(member) and not isinstance(member, type)
    ]
