"""Writes the pages of the reference from the registries, before Sphinx reads the sources: one for every class.

`python docs/builder/reference_pages.py FOLDER` writes them without Sphinx.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from api_pages import api_pages
from docstring_markdown import row
from driftwise.cli.catalogue import registries
from driftwise.core.docstrings import described
from driftwise.registry import Registry
from driftwise.theory.statements import statements
from member_figures import draw
from member_pages import member_page
from theorem_pages import theorem_page

__all__ = ["kinds", "members_of", "pages", "write_pages"]

_EVERY = 10.0  # seconds between lines of progress, where the output is not a terminal
INTRODUCTIONS = {
    "learners": "Algorithms that weigh or choose actions. With full feedback a learner observes the losses of all"
    " actions, with bandit feedback only that of the action it chose. [Which learner?](../../which-learner.md) helps to"
    " choose, and [all learners in one table](../../learners.md) compares them.",
    "environments": "An environment is a path, which says how the means of the losses move, and a noise, which says"
    " how the losses scatter around them.",
    "adversaries": "Environments built against one learner, or against all: the lower bounds of the paper as code.",
    "detectors": "Tests that find a change of the mean in a stream of numbers in [0, 1].",
    "comparators": "What regret is measured against. Regret is the loss of the learner minus that of a comparator,"
    " which is chosen in hindsight.",
    "theorems": "The statements of Wei, Hong and Lu (NIPS 2016) with their printed numbers, and what is true of them."
    " [The paper, theorem by theorem](../../tutorials/the-paper-theorem-by-theorem.md) measures them.",
}


def kinds() -> dict[str, list[Registry[Any]]]:
    """Return the registries of each folder of the reference."""
    found = registries()
    alone = {name: [found[name]] for name in ("adversaries", "detectors", "comparators")}
    return {"learners": [found["learners"]], "environments": [found["paths"], found["noises"]], **alone}


def members_of(registry: Registry[Any]) -> list[type[Any]]:
    """Return the classes of driftwise in a registry; installed packages and tests may have added others."""
    found = [registry.get(name) for name in registry]
    return [member for member in found if member.__module__.startswith("driftwise.")]


def pages() -> Iterator[tuple[str, str]]:
    """Yield the file name and the text of every page."""
    folders = list(kinds())
    for folder, inside in kinds().items():
        members = [member for registry in inside for member in members_of(registry)]
        yield f"{folder}/index.md", _index(folder, inside)
        for member in members:
            picture = f"{member.name}.png" if folder != "comparators" else None
            yield f"{folder}/{member.name}.md", member_page(member, picture)
    yield "theorems/index.md", _theorems()
    for statement in statements.values():
        yield f"theorems/{statement.slug}.md", theorem_page(statement)
    yield from api_pages()
    yield "index.md", _front([*folders, "theorems", "api"])


def write_pages(folder: Path, pictures: bool = True) -> None:
    """Write all pages and pictures; a file that would not change is not touched, so that Sphinx does not read it."""
    wanted = set()
    for name, text in pages():
        wanted.add(folder / name)
        _write(folder / name, text)
    if pictures:
        drawn = {folder / kind / f"{m.name}.png": m for kind, m in _drawn()}
        wanted |= drawn.keys()
        _draw_all({target: member for target, member in drawn.items() if _is_old(target, member)})
    for left in [path for path in folder.rglob("*") if path.is_file() and path not in wanted]:
        left.unlink()


def _drawn() -> Iterator[tuple[str, type[Any]]]:
    for folder, inside in kinds().items():
        if folder != "comparators":
            yield from ((folder, member) for registry in inside for member in members_of(registry))


def _draw_all(pictures: dict[Path, type[Any]]) -> None:
    """Draw in several processes: each picture may load or compile a learner."""
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("forkserver")) as pool:
        tasks = {pool.submit(draw, member, target): member.name for target, member in pictures.items()}
        last = time.monotonic()
        for done, (task, name) in enumerate(tasks.items(), 1):
            task.result()
            if sys.stderr.isatty():
                print(f"\rpictures of the reference: {done}/{len(tasks)} {name:<40}", end="", file=sys.stderr)
            elif time.monotonic() - last > _EVERY or done == len(tasks):
                print(f"pictures of the reference: {done}/{len(tasks)}", flush=True)
                last = time.monotonic()
    if pictures and sys.stderr.isatty():
        print(file=sys.stderr)


def _is_old(target: Path, member: type[Any]) -> bool:
    from related_files import ROOT, place

    files = [ROOT / place(member)[0], Path(__file__).with_name("member_figures.py")]
    return not target.exists() or target.stat().st_mtime < max(file.stat().st_mtime for file in files)


def _write(target: Path, text: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")


def _index(folder: str, inside: list[Registry[Any]]) -> str:
    parts = [f"# {folder.capitalize()}", INTRODUCTIONS[folder]]
    for registry in inside:
        for heading, members in _groups(registry):
            parts.append(f"## {heading}" if heading else "")
            parts.append(_table([(f"[{m.__name__}]({m.name}.md)", described(m).summary) for m in members]))
    names = [member.name for registry in inside for member in members_of(registry)]
    return "\n\n".join(part for part in [*parts, _toctree(names)] if part) + "\n"


def _groups(registry: Registry[Any]) -> list[tuple[str, list[type[Any]]]]:
    members = members_of(registry)
    if registry.kind == "learner":
        return [
            ("With full feedback", [m for m in members if m.feedback == "full"]),
            ("With bandit feedback", [m for m in members if m.feedback == "bandit"]),
        ]
    return [(f"{registry.kind.capitalize()}s" if registry.kind in ("path", "noise") else "", members)]


def _theorems() -> str:
    rows = [
        (f"[{s.number}]({s.slug}.md)", f"{s.title} (`{s.label}`)" if s.label else s.title) for s in statements.values()
    ]
    listed = _toctree([s.slug for s in statements.values()])
    return "\n\n".join(["# Theorems", INTRODUCTIONS["theorems"], _table(rows), listed]) + "\n"


def _front(folders: list[str]) -> str:
    words = {
        **INTRODUCTIONS,
        "api": "Everything else that is public: simulations, sweeps, sessions, mixtures, results.",
    }
    rows = [
        (f"[{_title(name)}]({name}/index.md)", words[name].partition(". ")[0].rstrip(".") + ".") for name in folders
    ]
    return "\n\n".join(["# Reference", _table(rows), _toctree([f"{name}/index" for name in folders])]) + "\n"


def _title(folder: str) -> str:
    return "Classes and functions" if folder == "api" else folder.capitalize()


def _table(rows: list[tuple[str, str]]) -> str:
    return "\n".join(["| name | what it is |", "|---|---|", *(row(list(each)) for each in rows)])


def _toctree(names: list[str]) -> str:
    return "```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```"


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))
