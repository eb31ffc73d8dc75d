"""Start-up times of new processes."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from common import QUICK, Effort, scaled, verdict
from timing import interleaved, seconds

from driftwise.report.tables import text_table

__all__ = ["first_run", "help_screen"]

HELP_RATIO = 2.0

_LIVE = """
from driftwise import Session
from driftwise.learners import UCB1
session = Session(UCB1(), 3)
action, probability = session.choose()
session.update(action, probability, loss=0.5)
"""
_SIMULATE = ("simulate", "--quiet", "--rounds", "200", "--runs", "2")
_LEARNERS = ("--learner", "hedge", "--learner", "optimistic-gd", "--learner", "ucb1")
FIRST_RUNS = {  # arguments of a process, and the seconds that it may take with an empty cache
    "driftwise simulate, three learners": (("-m", "driftwise", *_SIMULATE, *_LEARNERS), 6.0),
    "one live round of UCB1": (("-c", _LIVE), 3.0),
}


def help_screen(effort: Effort) -> str:
    """Compare `driftwise --help` with an import of NumPy, each in a new process."""
    program = Path(sys.executable).with_name("driftwise")
    command = [str(program), "--help"]
    if not program.exists() or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        return "`driftwise --help` is not available."
    commands = {"driftwise --help": command, 'python -c "import numpy"': [sys.executable, "-c", "import numpy"]}

    def timer(command: list[str]) -> Callable[[], float]:
        return lambda: seconds(lambda: subprocess.run(command, capture_output=True, check=True))

    repetitions = effort.repetitions + 4
    times = interleaved({name: timer(command) for name, command in commands.items()}, repetitions)
    ours, numpys = times.values()
    best, middle = ours.best / numpys.best, ours.middle / numpys.middle
    rows = [[name, *scaled(1e3, taken.best, taken.middle), "", ""] for name, taken in times.items()]
    rows.append(["ratio", f"{best:.2f}", f"{middle:.2f}", f"<= {HELP_RATIO:g}", verdict(best <= HELP_RATIO)])
    headers = ("process", "best, ms", "median, ms", "target", "")
    return f"{repetitions} processes each.\n\n{text_table(headers, rows)}"


def first_run(effort: Effort) -> str:
    """Time processes with an empty and with a filled cache of compiled code."""
    rows = []
    turns = 1 if effort is QUICK else 3
    for name, (words, most) in FIRST_RUNS.items():
        cold, warm = [], []
        for _ in range(turns):
            with tempfile.TemporaryDirectory() as folder:
                environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
                command = [sys.executable, *words]
                for taken in (cold, warm):
                    run = functools.partial(subprocess.run, command, env=environment, capture_output=True, check=True)
                    taken.append(seconds(run))
        rows.append([name, f"{min(cold):.2f}", f"{min(warm):.2f}", f"<= {most:g}", verdict(min(cold) <= most)])
    headers = ("process", "empty cache, s", "filled, s", "target", "")
    return f"Best of {turns}; including start of the interpreter and imports.\n\n{text_table(headers, rows)}"
