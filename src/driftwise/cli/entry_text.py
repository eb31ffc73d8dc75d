"""The entries of the catalogue as text, at most 100 columns wide except for long formulas."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable
from typing import Any

from driftwise.report.maths_text import formula_text, readable

__all__ = ["member_text", "statement_text", "words_text"]

_WIDTH, _FACTS = 100, 18  # columns; the second where the text of a fact starts


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
