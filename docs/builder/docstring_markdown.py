"""Writes docstrings as Markdown: the parts of the pages of the reference."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

from driftwise.core.docstrings import Parameter, described, shown_default

__all__ = ["call", "example", "function", "markdown", "methods", "parameters", "row", "signature"]


def markdown(text: str) -> str:
    """Return the text of a docstring with every formula on one line: a line that starts with + or - is a list."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        if inside and line.strip():
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
            inside = False
        inside ^= line.replace("$$", "").count("$") % 2 == 1
    return "\n".join(lines)


def parameters(listed: tuple[Parameter, ...]) -> str:
    """Return a table of parameters, '' if there are none."""
    if not listed:
        return ""
    lines = ["| parameter | type | default | meaning |", "|---|---|---|---|"]
    lines += [row([f"`{p.name}`", p.kind, f"`{p.default}`" if p.default else "", p.meaning]) for p in listed]
    return "\n".join(lines)


def example(text: str, module: str) -> str:
    """Return an interactive session, which runs in the namespace of the module; '' without one."""
    name = "module-" + module.encode().hex()  # a class may have letters, digits and hyphens only
    return f"```{{code-block}} pycon\n:class: {name}\n\n{text}\n```" if text else ""


def signature(text: str) -> str:
    """Return a call that is shown, not run."""
    return f"```{{code-block}} python\n:class: signature\n\n{text}\n```"


def row(cells: list[str]) -> str:
    """Return a row of a table."""
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"


def call(name: str, member: Callable[..., Any], skip_first: bool = False) -> str:
    """Return a call as a reader would write it: names and defaults, no types."""
    try:
        given = list(inspect.signature(member).parameters.values())
    except ValueError:  # no signature: written in C
        return f"{name}()"
    shown: list[str] = []
    for each in given[1:] if skip_first else given:
        if each.kind is inspect.Parameter.KEYWORD_ONLY and not any(text.startswith("*") for text in shown):
            shown.append("*")
        star = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(each.kind, "")
        default = "" if each.default is inspect.Parameter.empty else f"={_default(member, each)}"
        shown.append(f"{star}{each.name}{default}")
    return f"{name}({', '.join(shown)})"


def _default(member: Any, given: inspect.Parameter) -> str:
    if dataclasses.is_dataclass(member):
        return next((shown_default(f) for f in dataclasses.fields(member) if f.name == given.name), repr(given.default))
    return repr(given.default)


def function(name: str, member: Callable[..., Any], level: int = 2, bound: bool = False) -> str:
    """Return a section for a function or a method (`bound`: its first argument is the object)."""
    about = described(member)
    parts = [
        f"{'#' * level} `{name}`",
        signature(call(name, member, bound)),
        about.summary,
        markdown(about.description),
        parameters(about.parameters),
        markdown(about.notes),
        example(about.example, member.__module__),
    ]
    return "\n\n".join(part for part in parts if part)


def methods(member: type[Any], only: tuple[str, ...] = ()) -> str:
    """Return a table of the public methods and properties that the class or its bases in driftwise define."""
    lines: list[str] = []
    for name in [each for each in only if hasattr(member, each)] or sorted(dir(member)):
        found = inspect.getattr_static(member, name)
        kind: Any = found.__func__ if isinstance(found, (classmethod, staticmethod)) else found
        text = inspect.getdoc(kind.fget if isinstance(kind, property) else getattr(kind, "func", kind)) or ""
        owner = next((base for base in member.__mro__ if name in vars(base)), member)
        if name.startswith("_") or not owner.__module__.startswith("driftwise") or not text:
            continue
        if isinstance(kind, property):
            shown = name
        elif inspect.isfunction(kind):
            shown = call(name, kind, skip_first=not isinstance(found, staticmethod))
        else:
            continue
        lines.append(row([f"`{shown}`", text.partition("\n\n")[0]]))
    return "\n".join(["| method or property | what it does |", "|---|---|", *lines]) if lines else ""
