"""HTML and SVG elements from text, and rates as formulas from plain text. All text is escaped here.

>>> plain("(Lambda V T)^(1/3) + sqrt(K) Gamma")
'(Λ V T)^(1/3) + √K Γ'
>>> formula("sqrt(Gamma Lambda)")
'<span class="maths">√<span class="root">Γ Λ</span></span>'
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from importlib.resources import files
from unicodedata import category

__all__ = ["Markup", "element", "formula", "joined", "plain", "resource"]

_EMPTY = frozenset(("path", "rect"))  # elements without content
_LETTERS = {"Gamma": "Γ", "Lambda": "Λ", "Delta": "Δ", "Sigma": "Σ", "gamma": "γ", "delta": "δ"}
_ROOTS = {"sqrt": "√", "cbrt": "∛"}
_WORDS = re.compile(r"\b(" + "|".join(_LETTERS) + r")\b")
_ATOMIC_ROOT = re.compile(r"\b(sqrt|cbrt)\((\w+)\)")
_PIECES = re.compile(r"\b(?P<root>sqrt|cbrt)(?=\()|\^(?P<power>\w+|(?=\())")


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


def plain(text: str) -> str:
    """Return a rate as one line of text, for a label in a figure."""
    text = _ATOMIC_ROOT.sub(lambda match: _ROOTS[match[1]] + match[2], text)
    for word, sign in _ROOTS.items():
        text = re.sub(rf"\b{word}(?=\()", sign, text)
    return _greek(text)


def formula(text: str) -> Markup:
    """Return a rate as HTML, with bars over roots and raised exponents."""
    return element("span", _set(text), class_="maths")


def _set(text: str) -> Markup:
    parts: list[str] = []
    at = 0
    while piece := _PIECES.search(text, at):
        parts.append(_greek(text[at : piece.start()]))
        end = piece.end()
        inside = piece["power"]
        if not inside:  # the argument is in brackets, which are not shown
            end = _closing(text, end)
            if end < 0:
                break
            inside = text[piece.end() + 1 : end - 1]
        if piece["root"]:
            parts += [_ROOTS[piece["root"]], element("span", _set(inside), class_="root")]
        else:
            parts.append(element("sup", _set(inside)))
        at = end
    else:
        return joined([*parts, _greek(text[at:])])
    return joined([_greek(text)])  # unbalanced brackets: plain text


def _closing(text: str, opening: int) -> int:
    """Return the position after the bracket that closes the one at `opening`, or -1."""
    depth = 0
    for at in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at + 1
    return -1


def _greek(text: str) -> str:
    return _WORDS.sub(lambda match: _LETTERS[match[1]], text)
