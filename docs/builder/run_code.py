"""Sphinx extension: runs the code of every page, and shows below each block what it printed and drew.

A block that fails, or has an unknown language, stops the build. The number of blocks that ran is printed at the end.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError

from code_blocks import RUN, Block, BrokenPage, Outcome, run_blocks
from page_process import commands

PICTURES = "_pictures"  # folder of the pictures that blocks wrote, below the sources
NOT_CODE = ("text", "toml")  # languages of blocks that do not run
_LONG = 30  # lines; longer output is folded
_PATIENCE = 15.0  # seconds, after which a line says whose code is running
_DOCTEST_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.connect("doctree-read", run_page, priority=400)  # before pictures are collected
    app.connect("env-purge-doc", forget_page)
    app.connect("env-merge-info", merge)
    app.connect("build-finished", print_counts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def run_page(app: Sphinx, document: nodes.document) -> None:
    """Run the code of one page and add what it printed and drew."""
    name = app.env.docname
    blocks = [node for node in document.findall(nodes.literal_block) if "signature" not in node["classes"]]
    written = [node for node in blocks if node.get("language") in RUN]
    sessions = [node for node in blocks if node.get("language") == "pycon"]
    counts = Counter(node["language"] for node in [*written, *sessions])
    counts["not run"] = len(blocks) - counts.total()
    if unknown := {node.get("language") for node in blocks} - {*RUN, "pycon", *NOT_CODE}:
        raise ExtensionError(f"{name}: a block must have one of the languages that run, or {NOT_CODE}, got {unknown}")
    with announced(name):
        for node in sessions:
            run_session(name, node)
    _counts(app.env)[name] = counts
    if not written:
        return
    pictures = Path(app.srcdir, PICTURES, name)
    try:
        with announced(name):
            outcomes = run_blocks([Block(node["language"], node.astext() + "\n") for node in written], pictures)
    except BrokenPage as error:
        raise ExtensionError(f"{name}: {error}") from None
    for node, outcome in zip(written, outcomes, strict=True):
        parent = node.parent
        place = parent.index(node)
        parent[place : place + 1] = _shown(app, node, outcome)


@contextlib.contextmanager
def announced(page: str) -> Iterator[None]:
    """Print a line every some seconds while the code of a page runs, so that a slow page does not look like a halt."""
    finished = threading.Event()

    def announce() -> None:
        while not finished.wait(_PATIENCE):
            print(f"the code of {page} is running", flush=True)

    thread = threading.Thread(target=announce, daemon=True)
    thread.start()
    try:
        yield
    finally:
        finished.set()
        thread.join()


def run_session(page: str, node: nodes.literal_block) -> None:
    """Run an interactive session of a reference page in the module of its class, as the tests do."""
    marks = [each for each in node["classes"] if each.startswith("module-")]
    names: dict[str, Any] = {}
    for mark in marks:
        names |= vars(importlib.import_module(bytes.fromhex(mark.removeprefix("module-")).decode()))
        node["classes"].remove(mark)
    test = doctest.DocTestParser().get_doctest(node.astext() + "\n", names, page, page, 0)
    report: list[str] = []
    failures, _ = doctest.DocTestRunner(optionflags=_DOCTEST_FLAGS).run(test, out=report.append)
    if failures:
        raise ExtensionError(f"{page}: {''.join(report)}")


def _shown(app: Sphinx, node: nodes.literal_block, outcome: Outcome) -> list[nodes.Node]:
    if node["language"] == "console" and len(outcome.printed) > 1:
        shown = [part for pair in zip(_commands(node), outcome.printed, strict=True) for part in _pair(*pair)]
    else:
        shown = _pair(node, outcome.printed[0] if outcome.printed else "")
    for picture in outcome.pictures:
        uri = "/" + picture.relative_to(app.srcdir).as_posix()
        shown.append(nodes.image(uri=uri, alt=picture.stem.replace("-", " "), classes=["made-here"]))
    return shown


def _commands(node: nodes.literal_block) -> list[nodes.literal_block]:
    """Return a block of several commands as one block for each."""
    texts = ["$ " + text for text in commands(node.astext())]
    return [nodes.literal_block(text, text, language="console") for text in texts]


def _pair(block: nodes.literal_block, printed: str) -> list[nodes.Node]:
    if not printed.strip():
        return [block]
    text = printed.rstrip("\n")
    output = nodes.literal_block(text, text, language="text", classes=["output"])
    if (n_lines := text.count("\n") + 1) <= _LONG:
        return [block, output]
    opening = nodes.raw("", f'<details class="long-output"><summary>Output: {n_lines} lines</summary>', format="html")
    return [block, opening, output, nodes.raw("", "</details>", format="html")]


def _counts(env: BuildEnvironment) -> dict[str, Counter[str]]:
    if not hasattr(env, "code_counts"):
        env.code_counts = {}  # type: ignore[attr-defined]
    counts: dict[str, Counter[str]] = env.code_counts  # type: ignore[attr-defined]
    return counts


def forget_page(_: Sphinx, env: BuildEnvironment, name: str) -> None:
    """Forget the counts of a page that is read again."""
    _counts(env).pop(name, None)


def merge(_: Sphinx, env: BuildEnvironment, names: list[str], other: BuildEnvironment) -> None:
    """Take over the counts of pages that another process read."""
    _counts(env).update({name: counts for name, counts in _counts(other).items() if name in names})


def print_counts(app: Sphinx, error: Exception | None) -> None:
    """Print how many blocks ran."""
    if error is not None:
        return
    pages = _counts(app.env)
    total: Counter[str] = sum(pages.values(), Counter())
    others = total.pop("not run", 0)
    kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(total.items()))
    n_pages = sum(1 for counts in pages.values() if sum(counts.values()) > counts["not run"])
    print(f"Code: {total.total()} blocks on {n_pages} pages ran ({kinds}); {others} blocks are text and did not.")
