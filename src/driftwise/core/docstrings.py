"""Class docstrings in the numpydoc convention, read once for `driftwise show`, the generated pages and the checks.

A docstring has a summary line, `Parameters`, `Notes`, `References` and `Examples`. A paragraph of the notes that starts
with one of `FACTS` and a colon is a fact that tables show.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from typing import Any, NamedTuple

_EXAMPLES = "\nExamples\n--------\n"  # the last section
FACTS = ("Regret", "Must know", "Time per round", "In practice")


class Parameter(NamedTuple):
    """One entry of the section `Parameters`."""

    name: str
    kind: str
    default: str  # as Python writes it; "" where the parameter is required
    meaning: str


class Description(NamedTuple):
    """The parts of a docstring; the summary, the meanings, the facts and the references are each on one line."""

    summary: str
    description: str  # the paragraphs between the summary and the parameters
    parameters: tuple[Parameter, ...]
    notes: str  # without the facts
    facts: dict[str, str]  # by their names in `FACTS`
    references: tuple[str, ...]
    example: str  # as in an interactive session


@functools.cache
def described(member: Any) -> Description:
    """Return the parts of the docstring of a class or function; all are empty if it has none.

    >>> from driftwise.learners import OptimisticGD
    >>> described(OptimisticGD).parameters[0].name
    'learning_rate'
    """
    import docstring_parser

    own = vars(member).get("__doc__") if isinstance(member, type) else member.__doc__  # a class may inherit one
    text = inspect.cleandoc(own or "")
    parsed = docstring_parser.parse(text, style=docstring_parser.DocstringStyle.NUMPYDOC)
    sections: dict[str, list[str]] = {}
    for part in parsed.meta:
        sections.setdefault(part.args[0], []).append(part.description or "")
    paragraphs = "\n\n".join(sections.get("notes", [])).split("\n\n")
    facts = {name: text for name, text in map(_fact, paragraphs) if name}
    return Description(
        summary=_one_line(parsed.short_description or ""),
        description=parsed.long_description or "",
        parameters=tuple(_parameter(entry) for entry in parsed.params if entry.args[0] == "param"),
        notes="\n\n".join(paragraph for paragraph in paragraphs if not _fact(paragraph)[0]),
        facts=facts,
        references=tuple(map(_one_line, "\n\n".join(sections.get("references", [])).split("\n\n"))),
        example=text.partition(_EXAMPLES)[2].strip(),
    )


def shown_default(field: dataclasses.Field[Any]) -> str:
    """Return the default of a dataclass field as a docstring writes it, "" where there is none.

    >>> from driftwise.learners import DetectAndRestart
    >>> [shown_default(field) for field in dataclasses.fields(DetectAndRestart)][2:]
    ['0.05', 'False', '"local"']
    """
    if field.default_factory is not dataclasses.MISSING:
        return repr(field.default_factory())
    if field.default is dataclasses.MISSING:
        return ""
    if isinstance(field.default, str):
        return f'"{field.default}"'
    return f"{type(field.default).__name__}()" if dataclasses.is_dataclass(field.default) else repr(field.default)


def _parameter(entry: Any) -> Parameter:
    kind, _, default = (entry.type_name or "").partition(", default ")  # before version 0.18 it is part of the type
    return Parameter(entry.arg_name, kind, default or entry.default or "", _one_line(entry.description or ""))


def _fact(paragraph: str) -> tuple[str, str]:
    name, colon, text = paragraph.partition(":")
    return (name, _one_line(text)) if colon and name in FACTS else ("", "")


def _one_line(text: str) -> str:
    return " ".join(text.split())
