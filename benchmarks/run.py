"""Measure the speed of the library; each number is compared with a reference measured in the same run.

`python benchmarks/run.py` takes a few minutes; `--quick --only live` measures one section, less exactly.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable

import numba
import numpy as np
import twins
from common import FULL, QUICK, Effort
from covers import covers
from defaults import defaults
from engine import engine
from kernels import kernels
from live import live
from live_rivals import live_rivals
from opera_weights import opera_weights
from processes import first_run, help_screen
from python_learners import python_learners
from rivals import rivals
from threads import threads

SECTIONS: dict[str, Callable[[Effort], str]] = {
    "kernels": kernels,
    "covers": covers,
    "threads": threads,
    "engine": engine,
    "live": live,
    "defaults": defaults,
    "python": python_learners,
    "live-rivals": live_rivals,
    "rivals": rivals,
    "opera": opera_weights,
    "help": help_screen,
    "first-run": first_run,
}


def machine() -> str:
    """Return a description of this machine."""
    command = twins.compiler()
    return (
        f"{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}, NumPy {np.__version__},"
        f" Numba {numba.__version__}, C compiler: {twins.version(command) if command else 'none'}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Time every learner and compare with references.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and repetitions, less exact numbers")
    parser.add_argument("--only", choices=SECTIONS, help="one section instead of all")
    given = parser.parse_args()
    print(machine())
    missed, began = 0, time.perf_counter()
    for name in [given.only] if given.only else SECTIONS:
        section = SECTIONS[name]
        text = section(QUICK if given.quick else FULL)
        missed += text.count("MISSED")
        print(f"\n== {name} ==\n{section.__doc__}\n{text}", flush=True)
    print(f"\nTargets missed: {missed}. Took {time.perf_counter() - began:.0f} s.")


if __name__ == "__main__":
    main()
