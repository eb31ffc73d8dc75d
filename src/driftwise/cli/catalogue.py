"""`driftwise list` and `driftwise show`: members of the registries, statements of the paper and words of the glossary.

Each is a plain record, printed as JSON or as text of at most 100 columns, except for long formulas.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from driftwise.core.errors import UnknownName
from driftwise.glossary import Word, find_words, words

if TYPE_CHECKING:
    from driftwise.registry import Registered, Registry
    from driftwise.theory.statements import Statement

Record = dict[str, Any]  # of plain values
_WIDTH, _FACTS = 100, 18  # columns; the second where the text of a fact starts
_REGISTRIES = {
    "learners": "driftwise.learners",
    "detectors": "driftwise.detectors",
    "paths": "driftwise.environments.paths",
    "noises": "driftwise.environments.noises",
    "adversaries": "driftwise.adversaries",
    "comparators": "driftwise.regret.comparators",
}  # the package of each
_SOURCES = {"replay": ("driftwise.environments", "Replay")}  # environments that are no part of another, by name
_COLUMNS = {
    "learners": ["name", "feedback", "summary"],
    "adversaries": ["name", "feedback", "summary"],
    "theorems": ["number", "label", "title"],
    "words": ["word", "meaning"],
}  # of the other kinds: name and summary


class Notation(NamedTuple):
    """How formulas are written: functions of a text with formulas in it, and of a formula."""

    prose: Callable[[str], str]
    formula: Callable[[str], str]


class CatalogueEntry(NamedTuple):
    """Something that has a name, as a record, and the function that makes a text of the record."""

    name: str  # of no other entry
    record: Record
    text: Callable[[Record, Notation], str]


@click.command("list")
@click.argument("kind", type=click.Choice([*_REGISTRIES, "theorems", "words"]), default="learners")
@click.option(
    "--feedback", type=click.Choice(["full", "bandit"]), help="Only learners with, or adversaries for, this feedback."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def list_command(kind: str, feedback: str | None, as_json: bool) -> None:
    """List learners, change detectors, paths, noises, adversaries or comparators.

    Also the theorems, lemmas and algorithms of the paper (theorems), and the glossary (words).
    """
    import shutil

    from driftwise.report.maths_text import readable
    from driftwise.report.tables import text_table

    listed = records(kind)
    if feedback is not None:
        listed = [record for record in listed if feedback in record.get("feedback", "").split(" or ")]
    if as_json:
        click.echo(json.dumps(listed, indent=2))
        return
    columns = _COLUMNS.get(kind, ["name", "summary"])
    rows = [[readable(record[column]) for column in columns] for record in listed]
    click.echo(text_table(columns, rows, left=len(columns), width=shutil.get_terminal_size().columns))
    what = "statements of the paper" if kind == "theorems" else kind
    click.echo(f"\n{len(listed)} {what}. `driftwise show {columns[0].upper()}` describes one.")


@click.command("show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def show_command(name: str, as_json: bool) -> None:
    """Describe NAME: a learner or another class, a statement of the paper, or a word or column of a table.

    Classes are those of `driftwise list`: learners, detectors, paths, noises, adversaries and comparators; and replay,
    for recorded losses. A statement of the paper is named by its number or its label.

    \b
    driftwise show optimistic-gd
    driftwise show "Theorem 3.2"
    driftwise show dynamic
    driftwise show "best loss"
    """
    from driftwise.report.maths_text import formula_text, readable

    first, *others = entries(name)
    if as_json:
        click.echo(json.dumps(first.record, indent=2))
        return
    notation = Notation(readable, formula_text)
    if not _can_print(first.text(first.record, notation)):
        notation = Notation(str, str)  # LaTeX
    click.echo(first.text(first.record, notation))
    if others and others[0].name == name:  # a word that is the name of a class too
        word = others.pop(0)
        click.echo(f"\nAs a word:\n\n{word.text(word.record, notation)}")
    others = [other for other in others if other.name not in first.record.get("statements", ())]  # named above
    if others:
        named = " or ".join(f'`driftwise show "{other.name}"`' for other in others)
        click.echo(f"\nAlso of this name: {named}.")


def _can_print(text: str) -> bool:
    """Return whether standard output has all characters of a text."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def registries() -> dict[str, Registry[Registered]]:
    """Return every registry by the plural of its kind."""
    return {kind: getattr(importlib.import_module(package), kind) for kind, package in _REGISTRIES.items()}


def records(kind: str) -> list[Record]:
    """Return the records of all entries of a kind, given in the plural."""
    from driftwise.theory.statements import statements

    if kind in ("theorems", "words"):
        return [plain(entry) for entry in (statements if kind == "theorems" else words()).values()]
    registry = registries()[kind]
    return [describe(registry.get(name)) for name in registry]


def entries(name: str) -> list[CatalogueEntry]:
    """Return everything of that name, the likeliest first; raise `UnknownName` with the nearest name if nothing is."""
    from driftwise.theory.statements import find_statement

    kinds = [registry.get(known) for registry in registries().values() for known in registry if known == name]
    for known, (module, class_name) in _SOURCES.items():
        if name in (known, class_name):
            kinds.append(getattr(importlib.import_module(module), class_name))
    if not kinds and name[:1].isupper():  # the name of a class
        every = (registry.get(known) for registry in registries().values() for known in registry)
        kinds = [kind for kind in every if kind.__name__ == name]
    members = [CatalogueEntry(name, describe(kind), member_text) for kind in kinds]
    stated = []
    with contextlib.suppress(UnknownName):
        statement = find_statement(name)
        stated.append(CatalogueEntry(statement.number, plain(statement), statement_text))
    defined = find_words(name)
    record = {"words": [plain(word) for word in defined]}
    glossary = [CatalogueEntry(defined[0].word, record, words_text)] if defined else []
    exact = any(name in word.names for word in defined)  # "Lambda" is the variance, "lambda" the label of a lemma
    named = [*members, *(glossary + stated if exact else stated + glossary)]
    if not named:
        listing = "`driftwise list KIND` has all names."
        raise UnknownName("learner, theorem or other entry", name, _names(), listing=listing)
    return named


def describe(member: Any) -> Record:
    """Return what the docstring of a class says, where the class is, and what the paper says about it."""
    from driftwise.adversaries import Adversary
    from driftwise.core.docstrings import FACTS, described
    from driftwise.learners import Learner
    from driftwise.theory.statements import statements_about

    about = described(member)
    record: Record = {
        "name": getattr(member, "name", member.__name__.lower()),
        "summary": about.summary,
        "class": member.__name__,
        "module": ".".join(member.__module__.split(".")[:2]),
        "parameters": [
            {"name": name, "type": kind, "default": default or "(required)", "meaning": meaning}
            for name, kind, default, meaning in about.parameters
        ],
    }
    if issubclass(member, Learner):
        record["feedback"] = member.feedback
    if issubclass(member, Adversary):
        record["feedback"] = " or ".join(member.feedbacks)
    record |= {name.lower().replace(" ", "_"): about.facts[name] for name in FACTS if name in about.facts}
    if numbers := [statement.number for statement in statements_about(member)]:
        record["statements"] = numbers
    return record | {"notes": about.notes, "references": list(about.references)}


def plain(entry: Statement | Word) -> Record:
    """Return a statement or a word as plain values."""
    values = dataclasses.asdict(entry)
    return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}


def _names() -> Iterator[str]:
    """Return every name that an error may suggest."""
    from driftwise.theory.statements import statements

    yield from (name for registry in registries().values() for name in registry)
    yield from _SOURCES
    yield from (name for statement in statements.values() for name in (statement.number, statement.label) if name)
    yield from (name for word in words().values() for name in word.names)


def member_text(record: Record, notation: Notation) -> str:
    """Return what the docstring of a registered class says."""
    facts = []
    for heading in ("feedback", "must_know", "time_per_round", "regret", "in_practice"):
        facts += _facts(heading.replace("_", " "), [notation.prose(record.get(heading, ""))])
    if numbers := record.get("statements"):
        facts += _facts("in the paper", [f'{", ".join(numbers)}; see `driftwise show "{numbers[0]}"`'])
    facts += _facts("references", record["references"])
    parameters = ["  parameters"] if record["parameters"] else []
    for parameter in record["parameters"]:
        parameters.append(f"    {parameter['name']} = {parameter['default']}")
        parameters.append(_filled(notation.prose(parameter["meaning"]), " " * 8))
    return _joined(
        [_filled(f"{record['name']}: {record['summary']}", "", 2)],
        facts,
        parameters,
        [_notes(record["notes"], notation)] if record["notes"] else [],
        [f"  in Python: from {record['module']} import {record['class']}"],
    )


def statement_text(record: Record, notation: Notation) -> str:
    """Return a statement of the paper."""
    name = f"{record['number']} ({record['label']})" if record["label"] else record["number"]
    facts = _facts("errata", [f"{', '.join(record['errata'])} of docs/errata.md"] if record["errata"] else [])
    for heading in ("code", "tests", "commands"):
        facts += _facts(heading, record[heading])
    return _joined(
        [_filled(f"{name}: {record['title']}", "", 2)],
        [_filled(notation.prose(record["words"]), "  ")],
        ["  as printed", _formula(notation.formula(record["formula"]), "    ")],
        ["  in driftwise", _filled(notation.prose(record["ours"]), "    ")] if record["ours"] else [],
        facts,
    )


def words_text(record: Record, notation: Notation) -> str:
    """Return the entries of the glossary with one name."""
    parts = []
    for word in record["words"]:
        formula = notation.formula(word["formula"])
        parts += [
            [_filled(f"{word['word']}: {notation.prose(word['meaning'])}", "", 2)],
            [_formula(formula, "    ")] if formula else [],
            [
                *_facts("letter", [notation.prose(word["symbol"])]),
                *_facts("also", [", ".join(word["also"])]),
                *_facts("in tables of", [", ".join(f"driftwise {name}" for name in word["tables"])]),
            ],
        ]
    return _joined(*parts)


def _joined(*sections: list[str]) -> str:
    return "\n\n".join("\n".join(section) for section in sections if section)


def _filled(text: str, first: str, indent: int | None = None) -> str:
    after = " " * (len(first) if indent is None else indent)
    return textwrap.fill(text, _WIDTH, initial_indent=first, subsequent_indent=after, break_on_hyphens=False)


def _facts(heading: str, texts: Iterable[str]) -> list[str]:
    """Return facts with one heading, each on lines of its own."""
    return [_filled(text, f"  {'' if i else heading:<{_FACTS - 2}}", _FACTS) for i, text in enumerate(texts) if text]


def _formula(text: str, indent: str) -> str:
    """Return a formula on a line of its own, or several, broken where there is space between its parts."""
    lines: list[str] = []
    for line in text.splitlines():
        if len(indent + line) <= _WIDTH:
            lines.append(line)
            continue
        for part in line.split("   "):
            if lines and lines[-1] and len(f"{indent}{lines[-1]}   {part}") <= _WIDTH:
                lines[-1] += f"   {part}"
            else:
                lines.append(part)
    return "\n".join(
        textwrap.fill(line, _WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ", break_long_words=False)
        if len(indent + line) > _WIDTH
        else indent + line
        for line in lines
    )


def _notes(notes: str, notation: Notation) -> str:
    """Return the notes of a docstring; displayed formulas on lines of their own, unless they are in LaTeX."""
    if notation.formula is str:
        return textwrap.indent(notes, "  ")
    parts = []
    for paragraph in notes.split("\n\n"):
        lines = []
        for i, part in enumerate(re.split(r"\$\$(.*?)\$\$", paragraph, flags=re.DOTALL)):
            if i % 2:
                lines.append(_formula(notation.formula(part), "    "))
            elif part.strip():
                for item in re.split(r"\n(?=- )", part.strip()):
                    text = notation.prose(" ".join(item.split()))
                    lines.append(_filled(text, "  ", 4 if item[0] == "-" else 2))
        parts.append("\n".join(lines))
    return "\n\n".join(parts)
