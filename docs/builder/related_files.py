"""Finds the source of a class and the tests that name it."""

from __future__ import annotations

import functools
import inspect
import re
from collections import Counter
from pathlib import Path
from typing import Any

from driftwise.registry import Registered

__all__ = ["ROOT", "is_registered", "place", "source", "tests_of"]

ROOT = Path(__file__).parents[2]
_MOST_TESTS = 6
_WORD = re.compile(r"(?<=\")[a-z0-9]+(?:-[a-z0-9]+)+|\w+")
# Tests that run on every member of a registry.
_EVERY = {
    "learner": ("tests/checks/test_every_learner.py",),
    "path": ("tests/checks/test_every_environment.py",),
    "noise": ("tests/checks/test_every_environment.py",),
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
    names = {member.__name__, member.name if is_registered(member) else member.__name__}
    counted = sorted(((sum(words[each] for each in names), file) for file, words in _tests().items()), key=_by_count)
    found = [*_EVERY.get(member.kind if is_registered(member) else "", ()), *(file for count, file in counted if count)]
    return list(dict.fromkeys(found))[:_MOST_TESTS]


def _by_count(pair: tuple[int, str]) -> int:
    return -pair[0]


@functools.cache
def _tests() -> dict[str, Counter[str]]:
    """Return the words of every test, and the names in quotation marks, which may have hyphens."""
    files = [*sorted((ROOT / "tests").rglob("test_*.py")), *sorted((ROOT / "tests" / "references").glob("[a-z]*.py"))]
    return {file.relative_to(ROOT).as_posix(): Counter(_WORD.findall(file.read_text("utf-8"))) for file in files}
