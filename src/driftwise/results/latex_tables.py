r"""Tables in LaTeX, for the package booktabs. They compile with pdfLaTeX, XeLaTeX and LuaLaTeX.

All text is escaped. Characters that pdfLaTeX does not have in every font are written as accents on letters, as
formulas, or by their number, such as U+4E2D.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from driftwise.core.errors import one_line
from driftwise.core.files import write_atomically
from driftwise.core.tuning_caveats import SAYS_NOTHING
from driftwise.report.tables import number
from driftwise.results.results_text import bound_texts
from driftwise.results.summaries import Summary
from driftwise.results.sweep_text import heading_of, varied_columns

__all__ = ["escaped", "latex_table", "write_latex"]

_ASCII = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\(<\)", ">": r"\(>\)", "|": r"\(|\)",
    '"': r"{\char34}", "'": r"{\char39}", "`": r"{\char96}", "[": "{[}", "]": "{]}", "*": "{*}",
}  # fmt: skip
_LIGATURES = "-,"  # two of these become another character
_ACCENTS = {
    "\u0300": r"\`", "\u0301": r"\'", "\u0302": r"\^", "\u0303": r"\~", "\u0304": r"\=", "\u0306": r"\u",
    "\u0307": r"\.", "\u0308": r"\"", "\u030a": r"\r", "\u030b": r"\H", "\u030c": r"\v", "\u0327": r"\c",
}  # fmt: skip
_SYMBOLS = {
    "\u00a0": "~", "ß": r"\ss{}", "æ": r"\ae{}", "Æ": r"\AE{}", "ø": r"\o{}", "Ø": r"\O{}", "ł": r"\l{}",
    "Ł": r"\L{}", "×": r"\(\times\)", "±": r"\(\pm\)", "≤": r"\(\leq\)", "≥": r"\(\geq\)", "–": "--", "—": "---",
    "…": r"\dots{}", "²": r"\textsuperscript{2}", "³": r"\textsuperscript{3}", "∞": r"\(\infty\)",
    "ς": r"\(\varsigma\)", "Α": "A", "Β": "B", "Ε": "E", "Ζ": "Z", "Η": "H", "Ι": "I", "Κ": "K", "Μ": "M", "Ν": "N",
    "Ο": "O", "Ρ": "P", "Τ": "T", "Χ": "X", "ο": "o",
}  # fmt: skip


def escaped(text: str) -> str:
    r"""Return text in one line as LaTeX that prints it.

    >>> print(escaped("50 % of $x_1$"), escaped("Γ=é"))
    50 \% of \$x\_1\$ \(\Gamma\)=\'{e}
    """
    characters = unicodedata.normalize("NFC", one_line(text))
    parts = [_escaped_character(character) for character in characters]
    for i in range(1, len(parts)):
        if characters[i] == characters[i - 1] and characters[i] in _LIGATURES:
            parts[i] = "{}" + parts[i]
    return "".join(parts)


def write_latex(path: str | os.PathLike[str], rows: Sequence[Summary], confidence: float) -> None:
    """Write a table of mean regrets."""
    content = latex_table(rows, confidence)
    write_atomically(path, lambda file: Path(file).write_text(content, encoding="utf-8"))


def latex_table(rows: Sequence[Summary], confidence: float) -> str:
    r"""Return a table of mean regrets, to be read by \input; rows are in order."""
    varied = varied_columns(row.place for row in rows)
    failed = any(row.n_failed for row in rows)
    headers = ["Learner", *(name.capitalize() for name in varied), "Rounds", "Cells", *(["Failed"] if failed else [])]
    headers += ["Regret", rf"{100 * confidence:g}\,\% interval", "Bound", "Ratio"]
    n_left = 1 + len(varied)
    lines = [
        "% Mean regrets of sweeps, written by `driftwise results`. Needs \\usepackage{booktabs}.",
        rf"\begin{{tabular}}{{{'l' * n_left}{'r' * (len(headers) - n_left)}}}",
        r"\toprule",
        " & ".join(headers) + r" \\",
    ]
    for _, members in groupby(rows, key=lambda row: (row.place.environment, row.kind or "pseudo")):
        some = list(members)
        heading = escaped(heading_of(some[0], varied))
        lines += [r"\midrule", rf"\multicolumn{{{len(headers)}}}{{l}}{{\textit{{{heading}}}}} \\"]
        lines += [" & ".join(_cells(row, varied, failed)) + r" \\" for row in some]
    lines += [r"\bottomrule", r"\end{tabular}"]
    reasons = dict.fromkeys(
        f"{row.place.learner} in {row.place.environment}: {row.caveat}" for row in rows if row.caveat
    )
    if reasons:
        lines += [r"\par\smallskip", rf"{{\footnotesize\textsuperscript{{*}} {SAYS_NOTHING}:"]
        lines += [f"{escaped(reason)}." for reason in reasons]
        lines[-1] += r"\par}"
    return "\n".join(lines) + "\n"


def _cells(row: Summary, varied: Sequence[str], failed: bool) -> list[str]:
    place, (mean, low, high) = row.place, row.regret
    star = r"\textsuperscript{*}" if row.caveat else ""
    bound, ratio = bound_texts(place.n_rounds, mean, row.bound)
    return [
        f"{escaped(place.learner)}{star}",
        *(escaped(getattr(place, name)) for name in varied),
        str(place.n_rounds),
        str(row.n_cells),
        *([str(row.n_failed)] if failed else []),
        _number(number(mean)),
        _number("-") if low != low else rf"\([{_formula(number(low))},\ {_formula(number(high))}]\)",
        r"\(T\)" if bound == "T" else _number(bound),
        _number(ratio),
    ]


def _number(text: str) -> str:
    """Return a number as a formula, for its minus sign; a dash where there is none."""
    return "--" if text == number(None) else rf"\({_formula(text)}\)"


def _formula(text: str) -> str:
    r"""Return a number within a formula.

    >>> print(_formula("1.2e-05"), _formula("-inf"))
    1.2 \times 10^{-5} -\infty
    """
    digits, e, power = text.replace("inf", r"\infty").partition("e")
    return rf"{digits} \times 10^{{{int(power)}}}" if e else digits


def _escaped_character(character: str) -> str:
    if character in _ASCII or character in _SYMBOLS:
        return _ASCII.get(character) or _SYMBOLS[character]
    if character.isascii():
        return character
    base, *marks = list(unicodedata.normalize("NFD", character))
    if len(marks) == 1 and marks[0] in _ACCENTS and base.isascii() and base.isalpha():
        return f"{_ACCENTS[marks[0]]}{{{base}}}"
    name = unicodedata.name(character, "")
    for case, change in (("GREEK CAPITAL LETTER ", str.capitalize), ("GREEK SMALL LETTER ", str.lower)):
        letter = change(name.removeprefix(case).replace("LAMDA", "LAMBDA"))
        if name.startswith(case) and letter.isalpha() and len(letter) <= len("epsilon") and not marks:
            return rf"\(\{letter}\)"
    return rf"U+{ord(character):04X}"
