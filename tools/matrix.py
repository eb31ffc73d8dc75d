"""Install the wheel in clean environments, oldest and newest releases for every Python, and use it: `make matrix`.

Each cell of the matrix is a virtual environment in a temporary folder. `smoke.py` is run there. A failed cell does not
stop the others; its output is in a file beside the table. Where a Python is not found, only its wheels are looked up.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from interpreters import Interpreter, interpreter
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
OLDEST = ROOT / "constraints-oldest.txt"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
_SHOWN = (
    "numpy",
    "numba",
    "scipy",
    "click",
    "docstring-parser",
    "pyarrow",
    "matplotlib",
    "distributed",
    "narwhals",
    "river",
)
_LONGEST = 900  # seconds for one command
_INSTALL = ("install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:")


class Cell(NamedTuple):
    """One environment: a Python, a set of releases, and the extras of driftwise."""

    python: str
    releases: str  # "oldest" or "newest"
    extras: str  # "all", or "" for the core only

    @property
    def name(self) -> str:
        """As in the names of files."""
        return f"{self.python}-{self.releases}{'' if self.extras else '-core'}"

    def requirement(self, wheel: Path) -> str:
        """Return what pip installs."""
        return f"driftwise{f'[{self.extras}]' if self.extras else ''} @ {wheel.resolve().as_uri()}"


class Outcome(NamedTuple):
    """What happened in a cell."""

    cell: Cell
    python: str
    versions: dict[str, str]
    seconds: float
    text: str
    failed: bool


class Failed(Exception):
    """A command of a cell failed; the message is its output."""


def cells(pythons: list[str]) -> Iterator[Cell]:
    """Yield all cells; the core alone is installed once, in the first Python."""
    for python in pythons:
        for releases in ("oldest", "newest"):
            yield Cell(python, releases, "all")
    yield Cell(pythons[0], "newest", "")


def play(cell: Cell, wheel: Path, log: Path) -> Outcome:
    """Install and use the wheel in a clean environment, or look up its wheels if there is no such Python."""
    began = time.perf_counter()
    found: Interpreter | None = interpreter(cell.python)
    versions: dict[str, str] = {}
    try:
        with tempfile.TemporaryDirectory(prefix="driftwise-matrix-") as name:
            folder = Path(name)
            if found is None:
                versions = _resolved(cell, wheel, folder)
                text = "untested: no interpreter; the wheels exist"
            else:
                versions = _installed(cell, wheel, found.command, folder)
                _use(cell, folder)
                text = "ok"
        failed = False
    except (Failed, OSError, subprocess.TimeoutExpired) as error:
        log.write_text(f"{error}\n", encoding="utf-8")
        text, failed = f"failed, see {log.relative_to(log.parents[1])}", True
    return Outcome(cell, found.version if found else cell.python, versions, time.perf_counter() - began, text, failed)


def _installed(cell: Cell, wheel: Path, python: str, folder: Path) -> dict[str, str]:
    """Install the wheel in a new environment, and return the versions of all packages there."""
    print(f"  installing with {python}", flush=True)
    _run([python, "-m", "venv", folder / "venv"], folder)
    inside = _python_in(folder)
    limits: list[str | Path] = ["--constraint", OLDEST] if cell.releases == "oldest" else []
    _run([inside, "-m", "pip", *_INSTALL, *limits, cell.requirement(wheel)], folder)
    listed = json.loads(_run([inside, "-m", "pip", "list", "--format", "json"], folder))
    return {_normal(one["name"]): one["version"] for one in listed}


def _use(cell: Cell, folder: Path) -> None:
    print("  using it", flush=True)
    (folder / "work").mkdir()
    options = [] if cell.extras else ["--core"]
    print(_run([_python_in(folder), ROOT / "tools" / "smoke.py", *options], folder / "work"), end="")


def _python_in(folder: Path) -> Path:
    return folder / "venv" / "bin" / "python"


def _resolved(cell: Cell, wheel: Path, folder: Path) -> dict[str, str]:
    """Return the versions that pip would install for a Python that is not here.

    Pip evaluates the markers of requirements for the Python that runs it, so the newest one that is here runs it.
    """
    newest = next((found for python in reversed(PYTHONS) if (found := interpreter(python))), None)
    if newest is None:
        raise Failed(f"no CPython of {', '.join(PYTHONS)} was found")
    limits = folder / "constraints.txt"
    limits.write_text("\n".join(constraints(cell.python) if cell.releases == "oldest" else []), encoding="utf-8")
    _run([newest.command, "-m", "venv", folder / "venv"], folder)
    foreign: list[str | Path] = ["--dry-run", "--python-version", cell.python, "--target", folder / "none"]
    asked: list[str | Path] = ["--report", folder / "report", "--constraint", limits, cell.requirement(wheel)]
    _run([_python_in(folder), "-m", "pip", *_INSTALL, *foreign, *asked], folder)
    report = json.loads((folder / "report").read_text(encoding="utf-8"))
    return {_normal(one["metadata"]["name"]): one["metadata"]["version"] for one in report["install"]}


def constraints(python: str) -> list[str]:
    """Return the oldest releases for a Python. Pip would evaluate the markers for the Python that runs it."""
    lines = [line for line in OLDEST.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    oldest = [Requirement(line) for line in lines]
    surroundings = {"python_version": python, "python_full_version": f"{python}.0"}
    return [f"{one.name}{one.specifier}" for one in oldest if not one.marker or one.marker.evaluate(surroundings)]


def _run(command: list[str | Path], folder: Path) -> str:
    """Run a command apart from the packages and the compiled code of this environment, and return what it prints."""
    env = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA_", "VIRTUAL_ENV"))
    }
    env["MPLBACKEND"] = "agg"
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=_LONGEST, check=False)
    if done.returncode:
        raise Failed(f"$ {' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def _normal(name: str) -> str:
    return name.lower().replace("_", "-")


def table(outcomes: list[Outcome]) -> str:
    """Return the Markdown table of all cells."""
    lines = [
        f"| Python | releases | extras | {' | '.join(_SHOWN)} | seconds | outcome |",
        "|" + "---|" * (len(_SHOWN) + 5),
    ]
    for one in outcomes:
        versions = [one.versions.get(name, "-") for name in _SHOWN]
        extras = one.cell.extras or "none"
        row = [one.python, one.cell.releases, extras, *versions, f"{one.seconds:.0f}", one.text]
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Play every cell, write the table, and exit with 1 if a cell failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("wheel", type=Path, help="the wheel, from `make dist`")
    parser.add_argument("--python", action="append", choices=PYTHONS, help="only this Python; repeat for more")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "matrix", help="folder of the table and the logs")
    options = parser.parse_args()
    shutil.rmtree(options.out, ignore_errors=True)
    options.out.mkdir(parents=True)
    chosen = list(cells(options.python or list(PYTHONS)))
    outcomes = []
    for number, cell in enumerate(chosen, start=1):
        print(f"{number} of {len(chosen)}: Python {cell.name}", flush=True)
        outcomes.append(play(cell, options.wheel, options.out / f"{cell.name}.log"))
        print(f"  {outcomes[-1].text}, {outcomes[-1].seconds:.0f} s", flush=True)
    text = table(outcomes)
    options.out.with_suffix(".md").write_text(text, encoding="utf-8")
    print(f"\n{text}\nwrote {options.out.with_suffix('.md')}")
    sys.exit(any(one.failed for one in outcomes))


if __name__ == "__main__":
    main()
