"""A virtual environment with the rival packages, made on first use, and a process in it that runs them."""

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

__all__ = ["RivalError", "Worker", "install", "pins", "working"]

FOLDER = Path(__file__).parent
REQUIREMENTS = FOLDER / "rivals-requirements.txt"
WORKER = FOLDER / "rival_worker.py"
HOME = FOLDER.parent / ".venv-rivals"
PYTHON = HOME / "bin" / "python"
READY = HOME / ".ready"  # a copy of the installed requirements

INSTALL = ("-m", "pip", "install", "--disable-pip-version-check", "--retries", "1")
PINNED = ("--no-deps", "--only-binary", ":all:", "--requirement")  # exactly the pinned versions, without compilation


class RivalError(Exception):
    """A rival could not be installed, or its run failed."""


def pins() -> list[str]:
    """Return the packages of the environment with their versions."""
    return [line for line in REQUIREMENTS.read_text().splitlines() if not line.startswith("#")]


def install() -> None:
    """Make the virtual environment, unless it exists with the same requirements."""
    wanted = REQUIREMENTS.read_text()
    if READY.exists() and READY.read_text() == wanted:
        return
    print(f"Installing {', '.join(pins())} into {HOME.name}/ (only once).", file=sys.stderr, flush=True)
    for command in ([sys.executable, "-m", "venv", "--clear", HOME], [PYTHON, *INSTALL, *PINNED, REQUIREMENTS]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RivalError(([*done.stdout.splitlines(), *done.stderr.splitlines()] or ["no reason given"])[-1])
    READY.write_text(wanted)


class Worker(NamedTuple):
    """A process that runs rivals, the file with their losses, and the file with their plays."""

    requests: IO[str]
    answers: IO[str]
    losses: Path
    plays: Path

    def prepare(self, losses: Matrix) -> None:
        """Write the losses of the next runs to the file."""
        np.save(self.losses, losses)

    def played(self) -> Any:
        """Return the actions or the weights of the latest run."""
        return np.load(self.plays)

    def play(self, package: str, name: str, parameters: Mapping[str, Any], feedback: str = "bandit") -> float:
        """Return the seconds of a run; `feedback` "none" is a whole simulation by the package."""
        request = {"package": package, "name": name, "parameters": parameters, "feedback": feedback}
        files = {"losses": str(self.losses), "plays": str(self.plays)}
        print(json.dumps(request | files), file=self.requests, flush=True)
        answer = json.loads(self.answers.readline() or '{"error": "its process ended"}')
        if "error" in answer:
            raise RivalError(answer["error"])
        return float(answer["seconds"])


@contextmanager
def working() -> Iterator[Worker]:
    """Start a worker and end it."""
    command = [PYTHON, "-I", "-W", "ignore", WORKER]
    with (
        suppress(BrokenPipeError),  # closing the pipe to a process that ended; its error was already reported
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        yield Worker(process.stdin, process.stdout, Path(folder) / "losses.npy", Path(folder) / "plays.npy")
