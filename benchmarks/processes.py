"""What a fresh process pays before it does anything."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from common import QUICK, Effort, scaled, verdict
from timing import interleaved, seconds

from driftwise.report.tables import number, text_table

__all__ = ["first_call", "help_screen"]

HELP_RATIO = 2.0

_FIRST_CALLS = """
import time
times = [time.perf_counter()]
from driftwise import Bernoulli, Environment, OptimisticGD, Switching, simulate
times.append(time.perf_counter())
for _ in range(2):
    simulate(Environment(Switching(n_segments=8, n_actions=10), Bernoulli()), OptimisticGD(), n_rounds=100, n_runs=1)
    times.append(time.perf_counter())
print(*(later - sooner for sooner, later in zip(times, times[1:])))
"""


def help_screen(effort: Effort) -> str:
    """Compare `driftwise --help` with an import of NumPy, each in a process of its own."""
    program = Path(sys.executable).with_name("driftwise")
    ask = [str(program), "--help"]
    if not program.exists() or subprocess.run(ask, capture_output=True, check=False).returncode != 0:
        return "`driftwise --help` is not available."
    commands = {"driftwise --help": ask, 'python -c "import numpy"': [sys.executable, "-c", "import numpy"]}

    def timer(command: list[str]) -> Callable[[], float]:
        return lambda: seconds(lambda: subprocess.run(command, capture_output=True, check=True))

    repetitions = effort.repetitions + 4
    times = interleaved({name: timer(command) for name, command in commands.items()}, repetitions)
    ours, numpys = times.values()
    best, middle = ours.best / numpys.best, ours.middle / numpys.middle
    rows = [[name, *scaled(1e3, taken.best, taken.middle), "", ""] for name, taken in times.items()]
    rows.append(["ratio", f"{best:.2f}", f"{middle:.2f}", f"<= {HELP_RATIO:g}", verdict(best <= HELP_RATIO)])
    headers = ("process", "best, ms", "median, ms", "target", "")
    return f"{repetitions} processes each, in turns.\n\n{text_table(headers, rows)}"


def first_call(effort: Effort) -> str:
    """Time a process that imports the library and simulates a little, before and after its kernels are on disk."""
    taken: dict[str, list[list[float]]] = {"cold": [], "warm": []}
    for _ in range(1 if effort is QUICK else 3):
        with tempfile.TemporaryDirectory() as folder:
            for process in taken.values():  # the first fills the cache for the second
                command = [sys.executable, "-c", _FIRST_CALLS]
                environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
                done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
                process.append([float(word) for word in done.stdout.split()])
    rows = [[cache, *(number(value, 3) for value in np.min(runs, axis=0))] for cache, runs in taken.items()]
    headers = ("cache of kernels", "import, s", "first simulate, s", "second, s")
    return f"Best of {len(taken['cold'])} processes; for information.\n\n{text_table(headers, rows)}"
