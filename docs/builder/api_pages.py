"""Writes a page for every other public class and function, and one for every module of theorems."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from typing import Any

import driftwise
from docstring_markdown import call, example, function, markdown, methods, parameters, row, signature
from driftwise import theory
from driftwise.core.docstrings import described
from related_files import is_registered, source, tests_of

__all__ = ["api_pages", "public_names", "theory_modules"]

PACKAGES = (
    "engine",
    "sweeps",
    "regret",
    "results",
    "forecasting",
    "environments",
    "learners",
    "detectors",
    "adversaries",
    "checks",
)

# Of these classes, only what users call or write; the rest of the contract is on the page of `Learner`.
METHODS = {
    "PythonLearner": (
        "predict",
        "choose",
        "update",
        "start",
        "run",
        "beliefs",
        "tuned",
        "bound",
        "tuning_caveat",
        "label",
    ),
}


def api_pages() -> Iterator[tuple[str, str]]:
    """Yield the file name and the text of every page."""
    named, modules = public_names(), theory_modules()
    for name, member in named.items():
        yield f"api/{name}.md", _page(name, member)
    for name, module in modules.items():
        yield f"api/{name}.md", _module(name, module)
    yield "api/index.md", _index(named, modules)


def public_names() -> dict[str, Any]:
    """Return the public classes and functions that no registry holds, by name."""
    found = {name: getattr(driftwise, name) for name in driftwise.__all__}
    for package in PACKAGES:
        module = importlib.import_module(f"driftwise.{package}")
        found |= {name: value for name, value in vars(module).items() if not name.startswith("_")}
    kept = {name: member for name, member in found.items() if inspect.isclass(member) or inspect.isfunction(member)}
    return {name: member for name, member in sorted(kept.items()) if not is_registered(member) and member.__doc__}


def theory_modules() -> dict[str, Any]:
    """Return the modules of bounds, by dotted name."""
    names = [info.name for info in pkgutil.iter_modules(theory.__path__)]
    found = {f"theory.{name}": importlib.import_module(f"driftwise.theory.{name}") for name in names}
    return {name: module for name, module in found.items() if any(map(inspect.isroutine, vars(module).values()))}


def _page(name: str, member: Any) -> str:
    about = described(member)
    called = methods(member, METHODS.get(name, ())) if inspect.isclass(member) else ""
    imported = f"driftwise.{next((p for p in PACKAGES if _offers(p, name)), '')}".rstrip(".")
    if name in driftwise.__all__:
        imported = "driftwise"
    parts = [
        f"# {name}",
        about.summary,
        markdown(about.description),
        f"`from {imported} import {name}`",
        signature(call(name, member)),
        parameters(about.parameters),
        markdown(about.notes),
        example(about.example, member.__module__),
        "## Methods\n\n" + called if called else "",
        _of(member),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _offers(package: str, name: str) -> bool:
    return hasattr(importlib.import_module(f"driftwise.{package}"), name)


def _of(member: Any) -> str:
    tests = ", ".join(f"`{each}`" for each in tests_of(member))
    return f"## Source and tests\n\nSource: {source(member)}." + (f" Tests: {tests}." if tests else "")


def _module(name: str, module: Any) -> str:
    text = inspect.cleandoc(module.__doc__ or "")
    prose, _, session = text.partition("\n>>> ")
    functions = [
        value
        for name, value in sorted(vars(module).items())
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
    ]
    parts = [
        f"# {name}",
        markdown(prose),
        example(f">>> {session}", module.__name__) if session else "",
        f"Source: {source(module)}.",
        *(function(each.__name__, each) for each in functions),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _index(named: dict[str, Any], modules: dict[str, Any]) -> str:
    def table(rows: list[list[str]]) -> str:
        return "\n".join(["| name | what it is |", "|---|---|", *map(row, rows)])

    first = {name: (inspect.cleandoc(module.__doc__ or "").partition("\n")[0]) for name, module in modules.items()}
    names = [*named, *modules]
    return "\n\n".join([
        "# Classes and functions",
        "Names that no registry holds. Those of `driftwise` itself come first in most programs: `simulate`, `Session`,"
        " `Mixture`, `Sweep`, `record`, `combine`.",
        table([[f"[{name}]({name}.md)", described(member).summary] for name, member in named.items()]),
        "## Bounds as functions",
        table([[f"[{name}]({name}.md)", text] for name, text in first.items()]),
        "```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```",
    ]) + "\n"  # fmt: skip
