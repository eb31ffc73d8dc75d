"""Finds the source of a class and the tests that name it."""

from __future__ import annotations

import functools
import inspect
import re
from pathlib import Path
from typing import Any

from driftwise.registry import Registered

__all__ = ["ROOT", "is_registered", "place", "source", "tests_of"]

ROOT = Path(__file__).parents[2]
_MOST_TESTS = 6
# Tests that run on every member of a registry.
_EVERY = {
    "learner": ("tests/test_every_learner.py",),
    "path": ("tests/test_every_environment.py",),
    "noise": ("tests/test_every_environment.py",),
}


def place(member: Any) -> tuple[str, int]:
    """Return the file that defines a class, function or module, relative to the root, and the line."""
    file = Path(inspect.getsourcefile(member) or "").resolve().relative_to(ROOT)
    return file.as_posix(), 1 if inspect.ismodule(member) else inspect.getsourcelines(inspect.unwrap(member))[1]


def source(member: Any) -> str:
    """Return the file of a class as inline code, which becomes a link to it."""
    return f"`{place(member)[0]}`"


def is_registered(member: Any) -> bool:
    """Return whether a registry holds a class."""
    return isinstance(member, type) and issubclass(member, Registered) and "kind" in vars(member)


def tests_of(member: Any) -> list[str]:
    """Return the tests of a class: those of all members of its kind, and the files that name it most often."""
    name = member.name if is_registered(member) else member.__name__
    word = re.compile(rf"\b{member.__name__}\b|\"{re.escape(name)}[\":]")
    counted = sorted(((len(word.findall(text)), name) for name, text in _tests().items()), key=lambda pair: -pair[0])
    found = [*_EVERY.get(member.kind if is_registered(member) else "", ()), *(name for count, name in counted if count)]
    return list(dict.fromkeys(found))[:_MOST_TESTS]


@functools.cache
def _tests() -> dict[str, str]:
    files = [*sorted((ROOT / "tests").glob("test_*.py")), *sorted((ROOT / "tests" / "references").glob("[a-z]*.py"))]
    return {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in files}
