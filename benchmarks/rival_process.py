"""The rivals' own environment, made on first use, and the process in it that plays them."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from driftwise.core.types import Matrix

__all__ = ["NotPlayed", "Worker", "pins", "settle", "working"]

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "rivals-requirements.txt"
WORKER = HERE / "rival_worker.py"
HOME = HERE.parent / ".venv-rivals"
PYTHON = HOME / "bin" / "python"
READY = HOME / ".ready"  # holds the requirements that are installed

INSTALL = ("-m", "pip", "install", "--disable-pip-version-check", "--retries", "1")
PINNED = ("--no-deps", "--only-binary", ":all:", "--requirement")  # nothing is looked for, nothing is compiled


class NotPlayed(Exception):
    """A rival could not be installed, or did not play to the end."""


def pins() -> list[str]:
    """Return the packages of the environment with their versions."""
    return [line for line in REQUIREMENTS.read_text().splitlines() if not line.startswith("#")]


def settle() -> None:
    """Make the environment, unless it is there with the same requirements."""
    wanted = REQUIREMENTS.read_text()
    if READY.exists() and READY.read_text() == wanted:
        return
    print(f"Installing {', '.join(pins())} into {HOME.name}/, once.", file=sys.stderr, flush=True)
    for command in ([sys.executable, "-m", "venv", "--clear", HOME], [PYTHON, *INSTALL, *PINNED, REQUIREMENTS]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise NotPlayed(([*done.stdout.splitlines(), *done.stderr.splitlines()] or ["no reason given"])[-1])
    READY.write_text(wanted)


class Worker(NamedTuple):
    """A process that plays rivals, and the file where it finds the losses."""

    requests: IO[str]
    answers: IO[str]
    losses: Path

    def prepare(self, losses: Matrix) -> None:
        """Leave the losses of the coming games."""
        np.save(self.losses, losses)

    def play(self, package: str, name: str, parameters: Mapping[str, Any]) -> float:
        """Return the seconds of a game."""
        request = {"package": package, "name": name, "parameters": parameters, "losses": str(self.losses)}
        print(json.dumps(request), file=self.requests, flush=True)
        answer = json.loads(self.answers.readline() or '{"error": "its process ended"}')
        if "error" in answer:
            raise NotPlayed(answer["error"])
        return float(answer["seconds"])


@contextmanager
def working() -> Iterator[Worker]:
    """Start a worker and end it."""
    command = [PYTHON, "-I", "-W", "ignore", WORKER]
    with (
        suppress(BrokenPipeError),  # from closing the pipe to a process that died; who played with it has been told
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        yield Worker(process.stdin, process.stdout, Path(folder) / "losses.npy")
