"""Rates, written in words by whoever measures, set as formulas.

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
    """Set a rate in one line of text, for a label in a picture."""
    text = _ATOMIC_ROOT.sub(lambda match: _ROOTS[match[1]] + match[2], text)
    for word, sign in _ROOTS.items():
        text = re.sub(rf"\b{word}(?=\()", sign, text)
    return _greek(text)


def formula(text: str) -> Markup:
    """Set a rate with a bar over what is under a root, and exponents raised."""
    return element("span", _set(text), class_="maths")


def _set(text: str) -> Markup:
    parts: list[str] = []
    at = 0
    while piece := _PIECES.search(text, at):
        parts.append(_greek(text[at : piece.start()]))
        end = piece.end()
        inside = piece["power"]
        if not inside:  # what follows stands in brackets, which a root and an exponent do without
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
    return joined([_greek(text)])  # unbalanced: better plain than half set


def _closing(text: str, opening: int) -> int:
    """Return the place after the bracket that closes the one at `opening`, or -1."""
    depth = 0
    for at in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at + 1
    return -1


def _greek(text: str) -> str:
    return _WORDS.sub(lambda match: _LETTERS[match[1]], text)
