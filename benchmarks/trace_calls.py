"""Count the project's own functions and files that one command passes through, and the files that it enters again.

    python benchmarks/trace_calls.py                             # four calls
    python benchmarks/trace_calls.py --returns                   # and where a file is entered again
    python benchmarks/trace_calls.py landscape --preset quick    # another command
    PYTHONPATH=OTHER/src python benchmarks/trace_calls.py        # the code of another tree

The four calls are `simulate` of one learner, a sweep of two cells, `driftwise combine` of 300 rows and one cell of the
landscape, each made once before, so what compiles is not counted. Every module is imported first, so what runs on
import is not counted; compiled code is not seen. A file is entered
again where one of its functions is called while another of its functions is still running and has called a function
of another file in between.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import math
import pkgutil
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import driftwise
from driftwise import Bernoulli, Environment, Hedge, Sweep, Switching, simulate
from driftwise.cli.main import main as run

ROOT = Path(driftwise.__file__).parent
ENVIRONMENT = Environment(Switching(4, 5), Bernoulli())


class Trace:
    """The functions that were called, and which file was entered again through which."""

    def __init__(self) -> None:
        self.functions: set[tuple[str, str]] = set()
        self.returns: Counter[tuple[str, str, str, str]] = Counter()

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or (here := _file(frame)) is None:
            return
        self.functions.add((here, frame.f_code.co_qualname))
        chain = [(file, each.f_code.co_qualname) for each in _callers(frame) if (file := _file(each)) is not None]
        if chain and chain[0][0] != here and any(file == here for file, _ in chain):
            self.returns[here, chain[0][0], chain[0][1], frame.f_code.co_qualname] += 1

    @property
    def files(self) -> set[str]:
        return {file for file, _ in self.functions}


def _file(frame: FrameType) -> str | None:
    name = frame.f_code.co_filename
    if not name.startswith(f"{ROOT}/") or frame.f_code.co_name.startswith("<"):
        return None
    return name[len(str(ROOT)) + 1 :]


def _callers(frame: FrameType) -> Iterator[FrameType]:
    while frame.f_back is not None:
        frame = frame.f_back
        yield frame


def trace(call: Callable[[Path], object]) -> Trace:
    """Make a call with a new folder and with its output thrown away."""
    found = Trace()
    with tempfile.TemporaryDirectory() as folder:
        threading.setprofile(found)
        sys.setprofile(found)
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                call(Path(folder))
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    return found


def command(*words: str) -> None:
    """Run a command."""
    saved, sys.argv = sys.argv, ["driftwise", *words]
    try:
        run()
    except SystemExit as ended:
        if ended.code:
            raise RuntimeError(f"driftwise {' '.join(words)} ended with {ended.code}") from None
    finally:
        sys.argv = saved


def simulate_one(_: Path) -> None:
    simulate(ENVIRONMENT, [Hedge()], n_rounds=500, n_runs=2)


def sweep_two_cells(folder: Path) -> None:
    Sweep(ENVIRONMENT, Hedge(), 500, 2).run(folder)


def combine_300_rows(folder: Path) -> None:
    rows = [f"{t},{math.sin(t)},{math.sin(t) + 0.1},{math.cos(t)}" for t in range(300)]
    (folder / "in.csv").write_text("\n".join(["t,y,a,b", *rows]) + "\n")
    command("combine", str(folder / "in.csv"), "--target", "y", "--time", "t", "--out", str(folder / "out"))


def landscape_cell(folder: Path) -> None:
    command("landscape", "--cell", "full-drifting", "--learners", "hedge", "--out", str(folder))


CALLS = (simulate_one, sweep_two_cells, combine_300_rows, landscape_cell)


def main() -> None:
    for module in pkgutil.walk_packages([str(ROOT)], "driftwise."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    words = [word for word in sys.argv[1:] if word != "--returns"]
    for call in [lambda _: command(*words)] if words else CALLS:
        trace(call)
        found = trace(call)
        name = " ".join(words) or call.__name__
        print(f"{name}: {len(found.functions)} functions in {len(found.files)} files", flush=True)
        for (file, through, caller, callee), n in sorted(found.returns.items()) if "--returns" in sys.argv else ():
            print(f"  {file} is entered again from {through}: {caller} -> {callee} ({n} times)")


if __name__ == "__main__":
    main()
