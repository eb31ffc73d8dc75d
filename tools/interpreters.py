"""Finds CPython interpreters by version: on the PATH, in pyenv, and by the `py` launcher."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["Interpreter", "interpreter"]

_ASK = """import platform, sys
print(sys.executable, platform.python_implementation(), platform.python_version(), sep="\\n")"""


class Interpreter(NamedTuple):
    """A program that runs Python, and its full version."""

    command: str
    version: str


def interpreter(python: str) -> Interpreter | None:
    """Return a CPython of a version such as "3.12", or None if there is none that starts."""
    for command in _candidates(python):
        answer = _printed([*command, "-c", _ASK]).splitlines()
        if len(answer) == 3 and answer[1] == "CPython" and answer[2].startswith(f"{python}."):
            return Interpreter(command=answer[0], version=answer[2])
    return None


def _candidates(python: str) -> Iterator[list[str]]:
    if path := shutil.which(f"python{python}"):
        yield [path]  # a shim of pyenv may be there and refuse to start
    if pyenv := shutil.which("pyenv"):
        installed = [name for name in _printed([pyenv, "versions", "--bare"]).split() if name.startswith(f"{python}.")]
        for name in reversed(installed):
            yield [str(Path(_printed([pyenv, "prefix", name]).strip()) / "bin" / "python")]
    if launcher := shutil.which("py"):
        yield [launcher, f"-{python}"]


def _printed(command: list[str]) -> str:
    """Return what a command prints; nothing if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""
