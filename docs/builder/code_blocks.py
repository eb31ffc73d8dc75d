"""Runs the code of a page: every block of Python and every command, top to bottom, as a reader would.

All blocks of a page share one process and one empty folder with a copy of `examples/`, unless the page makes one.
Languages of blocks that run:

- `python`: executed in the process of the page. Warnings are errors.
- `console`: each line that starts with `$ driftwise` runs as a command.
- `py`: a whole file, run as a script of its own (worker processes import it).

A block of another language (`text`, `toml`, ...) does not run.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

__all__ = ["RUN", "Block", "BrokenPage", "Outcome", "blocks_of", "run_blocks"]

RUN = ("python", "console", "py")
EXAMPLES = Path(__file__).parents[2] / "examples"
_FENCE = re.compile(r"^```(\w+)[ \t]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_COPIES = "driftwise examples --copy examples"  # a page that shows how readers get the examples gets them so
_WORKER = Path(__file__).with_name("page_process.py")


class Block(NamedTuple):
    """One block of code."""

    language: str
    text: str


class Outcome(NamedTuple):
    """What a block printed, one text for each command of it, and the pictures that it wrote."""

    printed: tuple[str, ...]
    pictures: tuple[Path, ...]


class BrokenPage(Exception):
    """A block failed; the text has the block and the error."""


def blocks_of(markdown: str) -> list[Block]:
    """Return the blocks of a page that run."""
    return [Block(*found) for found in _FENCE.findall(markdown) if found[0] in RUN]


def run_blocks(blocks: Sequence[Block], keep: Path | None = None) -> list[Outcome]:
    """Run the blocks of one page in a new folder; pictures are moved to `keep`, or deleted with the folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        if not any(_COPIES in block.text for block in blocks):
            shutil.copytree(EXAMPLES, folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
        described = json.dumps([block._asdict() for block in blocks])
        done = subprocess.run(
            [sys.executable, "-W", "error", str(_WORKER)],
            cwd=folder, input=described, capture_output=True, text=True, encoding="utf-8", check=False,
        )  # fmt: skip
        lines = done.stdout.splitlines()
        outcomes = [json.loads(line) for line in lines]
        if done.returncode or len(outcomes) != len(blocks):
            failed = blocks[min(len(outcomes), len(blocks) - 1)]
            raise BrokenPage(f"This block failed:\n\n{failed.text}\n{done.stderr or done.stdout}")
        return [Outcome(tuple(each["printed"]), _kept(each["pictures"], folder, keep)) for each in outcomes]


def _kept(names: list[str], folder: Path, keep: Path | None) -> tuple[Path, ...]:
    if keep is None:
        return ()
    kept = []
    for name in names:
        target = keep / Path(name).name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / name, target)
        kept.append(target)
    return tuple(kept)
