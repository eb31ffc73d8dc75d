"""Rates as formulas, from plain text.

>>> plain("(Lambda V T)^(1/3) + sqrt(K) Gamma")
'(Λ V T)^(1/3) + √K Γ'
>>> formula("sqrt(Gamma Lambda)")
'<span class="maths">√<span class="root">Γ Λ</span></span>'
"""

from __future__ import annotations

import re

from driftwise.report.page.markup import Markup, element, joined

__all__ = ["formula", "plain"]

_LETTERS = {"Gamma": "Γ", "Lambda": "Λ", "Delta": "Δ", "Sigma": "Σ", "gamma": "γ", "delta": "δ"}
_ROOTS = {"sqrt": "√", "cbrt": "∛"}
_WORDS = re.compile(r"\b(" + "|".join(_LETTERS) + r")\b")
_ATOMIC_ROOT = re.compile(r"\b(sqrt|cbrt)\((\w+)\)")
_PIECES = re.compile(r"\b(?P<root>sqrt|cbrt)(?=\()|\^(?P<power>\w+|(?=\())")


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
