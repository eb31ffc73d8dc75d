"""Sphinx extension: formulas are drawn by a copy of MathJax in the site, without a network.

A dollar sign that is left in the text of a page is a formula that was not read, and fails the build: for example, a
line of it starts with a sign of Markdown.

The files are those of the package `sphinx-mathjax-offline`; its own extension copies 24 MB, of which a page with LaTeX
formulas loads a few.
"""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

_NEEDED = ("tex-chtml.js", "input/tex/extensions", "output/chtml")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.connect("doctree-read", check_formulas)
    app.connect("build-finished", copy_files, priority=800)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def check_formulas(app: Sphinx, document: nodes.document) -> None:
    """Warn of every formula of the page that was not read; `make docs` makes warnings errors."""
    for text in unread_formulas(document):
        logging.getLogger(__name__).warning("this formula was not read: %s", text, location=app.env.docname)


def unread_formulas(document: nodes.document) -> list[str]:
    """Return the texts of a page, outside code and formulas, that have a dollar sign."""
    code = (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw, nodes.comment)
    texts = [text for text in document.findall(nodes.Text) if not isinstance(text.parent, code)]
    return [text.astext() for text in texts if "$" in text]


def copy_files(app: Sphinx, error: Exception | None) -> None:
    """Copy MathJax into the site."""
    found = importlib.util.find_spec("sphinx-mathjax-offline")
    if error is not None or found is None or found.origin is None:
        return
    files, target = Path(found.origin).parent / "static" / "mathjax", Path(app.outdir) / "_static" / "mathjax"
    for name in _NEEDED:
        if (files / name).is_dir():
            shutil.copytree(files / name, target / name, dirs_exist_ok=True)
        else:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(files / name, target / name)
