"""What `list` and `show` know: members of the registries, statements of the paper and words.

They are plain records, and text of at most 100 columns except for long formulas.
"""

from __future__ import annotations

import dataclasses
import re
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from driftwise.adversaries import Adversary, adversaries
from driftwise.core.docstrings import FACTS, described
from driftwise.core.errors import UnknownName
from driftwise.detectors import detectors
from driftwise.environments.noises import noises
from driftwise.environments.paths import paths
from driftwise.glossary import Word, find_words, words
from driftwise.learners import Learner, learners
from driftwise.registry import Registry
from driftwise.report.maths_text import formula_text, readable
from driftwise.results.comparators import comparators
from driftwise.theory.statements import Statement, find_statement, statements, statements_about

__all__ = ["Entry", "describe", "entries", "plain", "records", "registries"]

_WIDTH, _FACTS = 100, 18  # columns; the second where the text of a fact starts


@dataclass(frozen=True)
class Entry:
    """Something that has a name, as a record and as text."""

    name: str  # of no other entry
    record: dict[str, Any]
    write: Callable[[dict[str, Any], bool], str]

    def text(self, plain: bool = False) -> str:
        """Return the text; formulas in LaTeX if plain."""
        return self.write(self.record, plain)


def registries() -> dict[str, Registry[Any]]:
    """Return every registry by the plural of its kind."""
    return {
        "learners": learners,
        "detectors": detectors,
        "paths": paths,
        "noises": noises,
        "adversaries": adversaries,
        "comparators": comparators,
    }


def records(kind: str) -> list[dict[str, Any]]:
    """Return the records of all entries of a kind, given in the plural."""
    if kind in ("theorems", "words"):
        known: dict[str, Any] = statements if kind == "theorems" else words()
        return [plain(each) for each in known.values()]
    registry = registries()[kind]
    return [describe(registry.get(name)) for name in registry]


def entries(name: str) -> list[Entry]:
    """Return everything of that name, the likeliest first; raise `UnknownName` with the nearest name if nothing is."""
    members = [
        Entry(name, describe(registry.get(name)), member_text)
        for registry in registries().values()
        if name in set(registry)
    ]
    stated = [Entry(each.number, plain(each), statement_text) for each in _statements(name)]
    defined = find_words(name)
    glossary = [Entry(defined[0].word, {"words": [plain(each) for each in defined]}, words_text)] if defined else []
    exact = any(name in each.names for each in defined)  # "Lambda" is the variance, "lambda" the label of a lemma
    found = [*members, *(glossary + stated if exact else stated + glossary)]
    if not found:
        listing = "`driftwise list KIND` has all names."
        raise UnknownName("learner, theorem or other entry", name, _names(), listing=listing)
    return found


def describe(member: Any) -> dict[str, Any]:
    """Return what the docstring of a class says, where the class is, and what the paper says about it."""
    about = described(member)
    record: dict[str, Any] = {
        "name": member.name,
        "summary": about.summary,
        "class": member.__name__,
        "module": ".".join(member.__module__.split(".")[:2]),
        "parameters": [
            {"name": each.name, "type": each.kind, "default": each.default or "(required)", "meaning": each.meaning}
            for each in about.parameters
        ],
    }
    if issubclass(member, Learner):
        record["feedback"] = member.feedback
    if issubclass(member, Adversary):
        record["feedback"] = " or ".join(member.feedbacks)
    record |= {name.lower().replace(" ", "_"): about.facts[name] for name in FACTS if name in about.facts}
    if numbers := [each.number for each in statements_about(member)]:
        record["statements"] = numbers
    return record | {"notes": about.notes, "references": list(about.references)}


def plain(entry: Statement | Word) -> dict[str, Any]:
    """Return a statement or a word as plain values."""
    values = dataclasses.asdict(entry)
    return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}


def _statements(name: str) -> list[Statement]:
    try:
        return [find_statement(name)]
    except UnknownName:
        return []


def _names() -> Iterable[str]:
    """Return every name that an error may suggest."""
    yield from (name for registry in registries().values() for name in registry)
    yield from (name for each in statements.values() for name in (each.number, each.label) if name)
    yield from (name for each in words().values() for name in each.names)


def member_text(record: dict[str, Any], plain: bool) -> str:
    """Return what the docstring of a registered class says; formulas in LaTeX if plain."""
    shown = _shown(plain)
    facts = [
        _fact(heading.replace("_", " "), shown(record[heading]))
        for heading in ("feedback", "must_know", "time_per_round", "regret", "in_practice")
        if record.get(heading)
    ]
    if record.get("statements"):
        numbers = ", ".join(record["statements"])
        facts.append(_fact("in the paper", f'{numbers}; see `driftwise show "{record["statements"][0]}"`'))
    facts += _facts("references", record["references"])
    parameters = ["  parameters"] if record["parameters"] else []
    for parameter in record["parameters"]:
        parameters.append(f"    {parameter['name']} = {parameter['default']}")
        parameters.append(_filled(shown(parameter["meaning"]), " " * 8))
    sections = [
        [_filled(f"{record['name']}: {record['summary']}", "", 2)],
        facts,
        parameters,
        [_notes(record["notes"], plain)] if record["notes"] else [],
        [f"  in Python: from {record['module']} import {record['class']}"],
    ]
    return _joined(sections)


def statement_text(record: dict[str, Any], plain: bool) -> str:
    """Return a statement of the paper; formulas in LaTeX if plain."""
    shown = _shown(plain)
    printed = record["formula"] if plain else formula_text(record["formula"])
    name = f"{record['number']} ({record['label']})" if record["label"] else record["number"]
    facts = _facts("errata", [f"{', '.join(record['errata'])} of docs/errata.md"] if record["errata"] else [])
    for heading in ("code", "tests", "commands"):
        facts += _facts(heading, record[heading])
    sections = [
        [_filled(f"{name}: {record['title']}", "", 2)],
        [_filled(shown(record["words"]), "  ")],
        ["  as printed", _formula(printed, "    ")],
        ["  in driftwise", _filled(shown(record["ours"]), "    ")] if record["ours"] else [],
        facts,
    ]
    return _joined(sections)


def words_text(record: dict[str, Any], plain: bool) -> str:
    """Return the entries of the glossary with one name; formulas in LaTeX if plain."""
    shown = _shown(plain)
    parts = []
    for word in record["words"]:
        facts = [_fact("letter", shown(word["symbol"]))] if word["symbol"] else []
        facts += _facts("also", [", ".join(word["also"])])
        facts += _facts("in tables of", [", ".join(f"driftwise {name}" for name in word["tables"])])
        formula = word["formula"] if plain else formula_text(word["formula"])
        sections = [
            [_filled(f"{word['word']}: {shown(word['meaning'])}", "", 2)],
            [_formula(formula, "    ")] if formula else [],
            facts,
        ]
        parts.append(_joined(sections))
    return "\n\n".join(parts)


def _joined(sections: Iterable[list[str]]) -> str:
    return "\n\n".join("\n".join(section) for section in sections if section)


def _shown(plain: bool) -> Callable[[str], str]:
    return str if plain else readable


def _filled(text: str, first: str, indent: int | None = None) -> str:
    after = " " * (len(first) if indent is None else indent)
    return textwrap.fill(text, _WIDTH, initial_indent=first, subsequent_indent=after, break_on_hyphens=False)


def _fact(heading: str, text: str) -> str:
    return _filled(text, f"  {heading:<{_FACTS - 2}}", _FACTS)


def _facts(heading: str, texts: Iterable[str]) -> list[str]:
    """Return facts with one heading, each on lines of its own."""
    return [_fact("" if i else heading, text) for i, text in enumerate(texts) if text]


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


def _notes(notes: str, plain: bool) -> str:
    """Return the notes of a docstring; displayed formulas on lines of their own."""
    if plain:
        return textwrap.indent(notes, "  ")
    parts = []
    for paragraph in notes.split("\n\n"):
        lines = []
        for i, part in enumerate(re.split(r"\$\$(.*?)\$\$", paragraph, flags=re.DOTALL)):
            if i % 2:
                lines.append(_formula(formula_text(part), "    "))
            elif part.strip():
                items = re.split(r"\n(?=- )", part.strip())
                lines += [_filled(readable(" ".join(item.split())), "  ", 4 if item[0] == "-" else 2) for item in items]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)
