"""HTML and SVG elements from text. All text is escaped here."""

from __future__ import annotations

import html
from collections.abc import Iterable
from importlib.resources import files
from unicodedata import category

__all__ = ["Markup", "element", "joined", "resource"]

_EMPTY = frozenset(("path", "rect"))  # elements without content


class Markup(str):
    """Text that is already markup; all other strings are escaped."""

    __slots__ = ()


def element(name: str, *children: str, **attributes: str | float | bool) -> Markup:
    """Return one element; `class_` is its class, other underscores become hyphens, and `True` has no value.

    >>> element("p", "a < b", class_="note", data_x='"')
    '<p class="note" data-x="&quot;">a &lt; b</p>'
    """
    opening = name
    for key, value in attributes.items():
        spelled = key.rstrip("_").replace("_", "-")
        if value is True:
            opening += f" {spelled}"
        elif value is not False:
            shown = f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
            opening += f' {spelled}="{_escaped(shown)}"'
    if name in _EMPTY and not children:
        return Markup(f"<{opening}/>")
    return Markup(f"<{opening}>{joined(children)}</{name}>")


def resource(name: str) -> str:
    """Return a file of this folder, such as the style sheet."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def joined(parts: Iterable[str]) -> Markup:
    """Concatenate parts; those that are not markup are escaped."""
    return Markup("".join(part if isinstance(part, Markup) else _escaped(part) for part in parts))


def _escaped(text: str) -> str:
    """Escape text for content and attributes; control characters become replacement characters."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() or c in "\n\t" or category(c) == "Zs" else "\ufffd" for c in text)
    return html.escape(text)
