"""Text becomes markup in one place, so that nothing can be forgotten when it is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable
from unicodedata import category

__all__ = ["Markup", "element", "joined"]

_EMPTY = frozenset(("path", "rect"))  # they never have content


class Markup(str):
    """Text that is markup already; every other string is escaped before it enters a page."""

    __slots__ = ()


def element(name: str, *children: str, **attributes: str | float | bool) -> Markup:
    """Write one element; `class_` is its class, other underscores are hyphens, `True` needs no value.

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


def joined(parts: Iterable[str]) -> Markup:
    """Put parts one after the other, the plain ones escaped."""
    return Markup("".join(part if isinstance(part, Markup) else _escaped(part) for part in parts))


def _escaped(text: str) -> str:
    """Escape for content and attributes alike; what has no place in a page becomes a replacement character."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() or c in "\n\t" or category(c) == "Zs" else "\ufffd" for c in text)
    return html.escape(text)
