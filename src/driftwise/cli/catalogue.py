"""What `list` and `show` know: members of the registries, statements of the paper and words, as plain records."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from driftwise.adversaries import Adversary, adversaries
from driftwise.cli.entry_text import member_text, statement_text, words_text
from driftwise.core.docstrings import FACTS, described
from driftwise.core.errors import UnknownName
from driftwise.detectors import detectors
from driftwise.environments.noises import noises
from driftwise.environments.paths import paths
from driftwise.glossary import Word, find_words, words
from driftwise.learners import Learner, learners
from driftwise.registry import Registry
from driftwise.results.comparators import comparators
from driftwise.theory.statements import Statement, find_statement, statements, statements_about

__all__ = ["Entry", "describe", "entries", "plain", "records", "registries"]


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
