"""Sphinx extension: SVG figures become part of the page, so that they have its colours, light or dark.

They are those that driftwise draws (`driftwise.report.page`): three greys stand for the colours of the page, and a
style sheet in each is limited to it. A figure that is wider than the page scrolls by itself.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

COLOURS = {
    "#ffffff": "var(--pst-color-background)",
    "#22262a": "var(--pst-color-text-base)",
    "#5d646b": "var(--pst-color-text-muted)",
    "#e3e4e2": "var(--pst-color-border)",
}


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.connect("doctree-read", inline_figures, priority=450)  # after code ran, before pictures are collected
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def inline_figures(app: Sphinx, document: nodes.document) -> None:
    """Replace the SVG pictures of a page by their code."""
    folder = Path(app.srcdir)
    page = folder / app.env.docname
    for node in [*document.findall(nodes.image)]:
        uri: str = node["uri"]
        if uri.endswith(".svg") and ":" not in uri:
            path = folder / uri[1:] if uri.startswith("/") else page.parent / uri
            app.env.note_dependency(str(path))
            drawing = inlined(path.read_text("utf-8"), f"figure-{path.stem}", node.get("alt", ""))
            node.parent.replace(node, nodes.raw("", drawing, format="html"))


def inlined(drawing: str, name: str, alt: str) -> str:
    """Return the code of a figure for a page; `name` is its id there."""
    for grey, colour in COLOURS.items():
        drawing = drawing.replace(grey, colour)
    drawing = drawing[drawing.index("<svg") :]
    drawing = re.sub(r"<style>(.*?)</style>", rf"<style>#{name} {{\1}}</style>", drawing, count=1, flags=re.DOTALL)
    label = html.escape(alt)
    return f'<div class="inline-figure" id="{name}" role="img" aria-label="{label}">{drawing}</div>'
