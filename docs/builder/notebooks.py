"""Sphinx extension: every tutorial as a notebook to download, from the same text.

Blocks of Python are cells of code, commands start with an exclamation mark, and a picture that a block writes is shown
below it. Links to other pages are text, since a notebook has no site around it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

FOLDER = "notebooks"  # in the site
_FENCE = re.compile(r"^```(\w+)[ \t]*\n(.*?)^```\n?", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:)[^)]*\)")
_PICTURE = re.compile(r"""["']([\w-]+\.(?:png|svg))["']""")
_INSTALL = '# Once, in an environment of your own: pip install "driftwise[all]"\n'


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.connect("doctree-read", link_notebook, priority=900)
    app.connect("build-finished", write_notebooks)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def tutorials(folder: Path) -> list[Path]:
    """Return the tutorials of the sources."""
    return [path for path in sorted((folder / "tutorials").glob("*.md")) if path.stem != "index"]


def link_notebook(app: Sphinx, document: nodes.document) -> None:
    """Put a link to its notebook below the title of a tutorial."""
    path = Path(app.srcdir, app.env.docname + ".md")
    title = next(document.findall(nodes.title), None)
    if path in tutorials(Path(app.srcdir)) and title is not None:
        link = f'<a href="../{FOLDER}/{path.stem}.ipynb" download>This page as a notebook</a>'
        title.parent.insert(1, nodes.raw("", f'<p class="notebook">{link}</p>', format="html"))


def write_notebooks(app: Sphinx, error: Exception | None) -> None:
    """Write the notebooks into the site."""
    if error is None and app.builder.format == "html":
        folder = Path(app.outdir, FOLDER)
        folder.mkdir(exist_ok=True)
        for path in tutorials(Path(app.srcdir)):
            text = json.dumps(notebook(path.read_text("utf-8")), indent=1, ensure_ascii=False)
            (folder / f"{path.stem}.ipynb").write_text(text + "\n", encoding="utf-8")


def notebook(page: str) -> dict[str, Any]:
    """Return a page as a notebook."""
    cells: list[dict[str, Any]] = []
    end = 0
    for fence in _FENCE.finditer(page):
        cells += _prose(page[end : fence.start()])
        cells += _code(fence[1], fence[2]) if fence[1] in ("python", "console") else _prose(fence[0])
        end = fence.end()
    cells += _prose(page[end:])
    cells.insert(1, _cell("code", _INSTALL))
    for i, cell in enumerate(cells):
        cell["id"] = f"cell-{i}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _prose(text: str) -> list[dict[str, Any]]:
    return [_cell("markdown", _LINK.sub(r"\1", text.strip("\n")))] if text.strip() else []


def _code(language: str, text: str) -> list[dict[str, Any]]:
    if language == "console":
        text = "".join(f"!{line.removeprefix('$ ')}" for line in re.sub(r"\\\n\s*", "", text).splitlines(keepends=True))
    if pictures := dict.fromkeys(_PICTURE.findall(text)):
        text += "\nfrom IPython.display import SVG, Image, display\n\n"
        text += "".join(f'display({"SVG" if name.endswith("svg") else "Image"}("{name}"))\n' for name in pictures)
    return [_cell("code", text)]


def _cell(kind: str, text: str) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": text.rstrip("\n").splitlines(keepends=True)}
    return cell if kind == "markdown" else {**cell, "execution_count": None, "outputs": []}
