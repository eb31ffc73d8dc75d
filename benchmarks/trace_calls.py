"""Count the project's own functions and files that one command passes through, and the files that it enters again.

    python benchmarks/trace_calls.py                             # one learner in `simulate` and in `landscape`
    python benchmarks/trace_calls.py landscape --preset quick    # another command
    PYTHONPATH=OTHER/src python benchmarks/trace_calls.py        # the code of another tree

Every module is imported first, so what runs on import is not counted; compiled code is not seen. A file is entered
again where one of its functions is called while another of its functions is still running and has called a function
of another file in between.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import pkgutil
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import driftwise
from driftwise.cli.main import main as run

ROOT = Path(driftwise.__file__).parent
COMMANDS = (
    ["simulate", "--learner", "hedge"],
    ["landscape", "--cell", "full-drifting", "--learners", "hedge"],
)


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


def trace(words: list[str]) -> Trace:
    """Run a command with its output thrown away."""
    found = Trace()
    saved, sys.argv = sys.argv, ["driftwise", *words]
    threading.setprofile(found)
    sys.setprofile(found)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            run()
    except SystemExit:
        pass
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        sys.argv = saved
    return found


def main() -> None:
    for module in pkgutil.walk_packages([str(ROOT)], "driftwise."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for words in [sys.argv[1:]] if len(sys.argv) > 1 else COMMANDS:
        with tempfile.TemporaryDirectory() as folder:
            found = trace([*words, "--out", folder] if words[0] == "landscape" else words)
        print(f"driftwise {' '.join(words)}: {len(found.functions)} functions in {len(found.files)} files")
        for (file, through, caller, callee), n in sorted(found.returns.items()):
            print(f"  {file} is entered again from {through}: {caller} -> {callee} ({n} times)")


if __name__ == "__main__":
    main()
