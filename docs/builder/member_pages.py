"""Writes the page of one registered class: formula, parameters, bound, picture, example, reference, source, tests."""

from __future__ import annotations

import inspect
from typing import Any

import driftwise
from docstring_markdown import call, example, markdown, methods, parameters, row, signature
from driftwise.adversaries import Adversary
from driftwise.core.docstrings import FACTS, described
from driftwise.learners import Learner
from driftwise.theory.statements import statements_about
from member_figures import caption
from related_files import source, tests_of

__all__ = ["member_page"]

# What users call; the others are for those who write learners.
LEARNER_METHODS = ("start", "predict", "choose", "update", "hint", "run", "run_hinted", "beliefs", "tuned", "bound")
_OPTIONS = {"learner": "--learner", "path": "--path", "noise": "--noise"}


def member_page(member: type[Any], picture: str | None) -> str:
    """Return the page of a class; `picture` is the path of its picture from the page."""
    about = described(member)
    kind = getattr(member, "kind", "comparator")
    parts = [
        f"# {member.__name__}",
        about.summary,
        "```{index} ! single: " + member.name.replace("-", " ") + "\n```",  # the search finds words, not parts of them
        markdown(about.description),
        _facts(member, kind),
        f"![{member.__name__} at work]({picture})\n\n*{caption(member)}*" if picture else "",
        "## Definition\n\n" + markdown(about.notes) if about.notes else "",
        "## Parameters\n\n" + signature(f"{import_line(member)}\n\n{call(member.__name__, member)}"),
        parameters(about.parameters) or "It has no parameters.",
        _bound(member),
        "## Example\n\n" + example(about.example, member.__module__),
        _on_the_command_line(member, kind),
        "## References\n\n" + "\n\n".join(about.references) if any(about.references) else "",
        "## Methods\n\n" + methods(member, LEARNER_METHODS if issubclass(member, Learner) else ()),
        "## Source and tests\n\n"
        + f"Source: {source(member)}. Tests: {', '.join(f'`{name}`' for name in tests_of(member)) or 'none'}.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def import_line(member: type[Any]) -> str:
    """Return the statement that imports a class, from the package itself if it offers it."""
    package = "driftwise" if member.__name__ in driftwise.__all__ else ".".join(member.__module__.split(".")[:2])
    return f"from {package} import {member.__name__}"


def _facts(member: type[Any], kind: str) -> str:
    about = described(member)
    rows = [["kind", kind], ["name", f"`{member.name}`"]]
    if issubclass(member, Learner):
        rows.append(["feedback", member.feedback])
    if issubclass(member, Adversary):
        rows.append(["feedback", " or ".join(member.feedbacks)])
    rows += [[name.lower(), about.facts[name]] for name in FACTS if name in about.facts]
    if found := statements_about(member):
        rows.append(["in the paper", ", ".join(each.number for each in found)])
    return "\n".join(["| property | value |", "|---|---|", *map(row, rows)])


def _bound(member: type[Any]) -> str:
    """Return what `tuned` and `bound` do, or that there is none; `guarantee` of an adversary."""
    if issubclass(member, Adversary):
        return "## Bound\n\n`guarantee(n_rounds)`: " + _doc(member.guarantee)
    if not issubclass(member, Learner):
        return ""
    lines = ["## Bound and tuning", ""]
    if member.bound is Learner.bound:
        lines.append("- `bound(measures)` returns None: no theorem gives a bound on its dynamic regret with constants.")
    else:
        lines.append(f"- `bound(measures)`: {_doc(member.bound)}")
    if member.tuned.__func__ is Learner.tuned.__func__:  # type: ignore[attr-defined]
        lines.append("- It has no rule for tuning.")
    else:
        lines.append(f"- `{member.__name__}.tuned(measures)`: {_doc(member.tuned)}")
    return "\n".join(lines)


def _doc(function: Any) -> str:
    return " ".join((inspect.getdoc(function) or "").split())


def _on_the_command_line(member: type[Any], kind: str) -> str:
    if kind not in _OPTIONS:
        return ""
    values = ",".join(f"{p.name}=..." for p in described(member).parameters if not p.default)
    return f"On the command line: `{_OPTIONS[kind]} {member.name}{':' + values if values else ''}`."
