r"""Tables of regret in LaTeX, which need the package booktabs.

All numbers of a column have the same decimals, and the least mean regret of a comparison is in bold. With a caption the
table is a float, `\begin{table}`; without one it is a `tabular`.
"""

from __future__ import annotations

import math
import os
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from driftwise.core.errors import InvalidInput, UnknownName, one_line, rejection
from driftwise.core.files import write_atomically
from driftwise.core.measures import SAYS_NOTHING
from driftwise.report.tables import even_decimals, fixed, number
from driftwise.results.columns import MeanRegret, TableColumn, caveat_of, interval_notes, needed_columns

_SPECIAL = {*"\\{}%#$&~^"}  # characters that a label cannot have
_DIGITS, _RATIO_DIGITS = 4, 2  # of the largest number of a column
_STAR = r"\textsuperscript{*}"


def write_latex(
    path: str | os.PathLike[str],
    owner: str,
    columns: Sequence[TableColumn[Any]],
    rows: Sequence[Any],
    heading: Callable[[Any], str],
    confidence: float,
    over: str,
    caption: str | None,
    label: str | None,
    names: Sequence[str] | None,
) -> None:
    """Write rows of mean regrets as a table; a `heading` is above the rows that share it.

    `names` are those of the columns; None takes all that the rows need. What intervals of recordings are `over` is in
    the notes.
    """
    if not isinstance(caption, str | None):
        raise rejection(owner, "caption", "None or text", caption)
    if label is not None and not (isinstance(label, str) and label.strip() and not _SPECIAL & {*label}):
        raise rejection(owner, "label", "None or text without special characters of LaTeX", label)
    if label is not None and caption is None:
        raise rejection(owner, "label", "None without a `caption`", label)
    chosen = _chosen(owner, columns, rows, names)
    decimals = {column.name: _decimals(column, rows) for column in chosen}
    headers = [column.title(confidence).capitalize().replace("%", r"\,\%") for column in chosen]
    alignment = "".join("l" if column.is_left else "r" for column in chosen)
    lines = [rf"\begin{{tabular}}{{{alignment}}}", r"\toprule", " & ".join(headers) + r" \\"]
    for title, members in groupby(rows, key=heading):
        group = list(members)
        lines += [r"\midrule", rf"\multicolumn{{{len(headers)}}}{{l}}{{\textit{{{escaped(title)}}}}} \\"]
        least = _least(group)
        for row in group:
            is_least = _rounded(row, decimals) == _rounded(least.get(_comparison(row)), decimals)
            lines.append(" & ".join(_cell(column, row, decimals, is_least) for column in chosen) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}", *_notes(rows, over)]
    if caption is not None:
        named = [rf"\label{{{label}}}"] if label is not None else []
        lines = [r"\begin{table}", r"\centering", rf"\caption{{{caption}}}", *named, *lines, r"\end{table}"]
    first = r"% Mean regrets, written by driftwise. Needs \usepackage{booktabs}."
    content = "\n".join([first, *lines]) + "\n"
    write_atomically(path, lambda file: file.write_text(content, encoding="utf-8"))


def _chosen(
    owner: str, columns: Sequence[TableColumn[Any]], rows: Sequence[Any], names: Sequence[str] | None
) -> list[TableColumn[Any]]:
    """Return the columns of these names in their order."""
    if names is None:
        return [column for column in needed_columns(columns, rows) if column.heading]
    by_name = {column.name: column for column in columns if column.heading}
    if isinstance(names, str) or not isinstance(names, Sequence) or not names:
        raise rejection(owner, "columns", f"None or a list of some of {', '.join(by_name)}", names)
    for name in names:
        if name not in by_name:
            raise UnknownName("column", str(name), by_name, "in this table")
    if len({*names}) < len(names):
        raise InvalidInput(f"{owner}: `columns` must be different, got {', '.join(names)}.")
    return [by_name[name] for name in names]


def _decimals(column: TableColumn[Any], rows: Sequence[Any]) -> int:
    """Return the decimals of a column's numbers; an interval has those of its mean."""
    if column.kind in ("estimate", "interval"):
        return even_decimals((column.value(row).mean for row in rows), _DIGITS)
    if column.kind == "number":
        values = (column.value(row) for row in rows if column.text(row) != "T")
        return even_decimals(values, _RATIO_DIGITS if column.name == "ratio" else _DIGITS)
    return 0


def _comparison(row: MeanRegret) -> tuple[object, ...]:
    """Return what rows have in common whose regrets are compared."""
    return row.place._replace(learner="")


def _least(rows: Sequence[MeanRegret]) -> dict[tuple[object, ...], MeanRegret]:
    """Return the row with the least mean regret of each comparison of at least two."""
    known = [row for row in rows if math.isfinite(row.regret.mean)]
    compared = Counter(map(_comparison, known))
    ordered = sorted(known, key=lambda row: -row.regret.mean)
    return {_comparison(row): row for row in ordered if compared[_comparison(row)] > 1}


def _rounded(row: MeanRegret | None, decimals: Mapping[str, int]) -> str | None:
    """Return a mean regret as it is shown: equal ones are all the least."""
    return None if row is None else fixed(row.regret.mean, decimals.get("regret", _DIGITS))


def _cell(column: TableColumn[Any], row: Any, decimals: Mapping[str, int], is_least: bool) -> str:
    value, text, places = column.value(row), column.text(row), decimals[column.name]
    if column.kind == "learner":
        return escaped(value) + (_STAR if caveat_of(row) else "")
    if column.kind == "label":
        return escaped(text)
    if column.kind == "interval":
        low, high = (_formula(fixed(end, places)) for end in (value.low, value.high))
        return "" if math.isnan(value.low) else rf"\([{low},\ {high}]\)"
    if column.kind == "count":
        return text
    if text == number(None):
        return "--"
    shown = text if text == "T" else fixed(value.mean if column.kind == "estimate" else value, places)
    return rf"\(\mathbf{{{_formula(shown)}}}\)" if column.kind == "estimate" and is_least else rf"\({_formula(shown)}\)"


def _notes(rows: Sequence[Any], over: str) -> list[str]:
    """Return the lines below a table: the reasons of its stars, and those of intervals that are missing."""
    lines = []
    reasons = dict.fromkeys(
        f"{row.place.learner}{f' in {row.place.environment}' if row.place.environment else ''}: {row.caveat}"
        for row in rows
        if row.caveat
    )
    if reasons:
        sentences = "\n".join(f"{escaped(reason)}." for reason in reasons)
        lines += [r"\par\smallskip", rf"{{\footnotesize{_STAR} {SAYS_NOTHING}:", rf"{sentences}\par}}"]
    if notes := interval_notes(rows, over):
        lines += [r"\par\smallskip", rf"{{\footnotesize {' '.join(map(escaped, notes))}\par}}"]
    return lines


_CHARACTERS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\(<\)", ">": r"\(>\)", "|": r"\(|\)",
    '"': r"{\char34}", "'": r"{\char39}", "`": r"{\char96}", "[": "{[}", "]": "{]}", "*": "{*}",
    "\u00a0": "~", "ß": r"\ss{}", "æ": r"\ae{}", "Æ": r"\AE{}", "ø": r"\o{}", "Ø": r"\O{}", "ł": r"\l{}",
    "Ł": r"\L{}", "×": r"\(\times\)", "±": r"\(\pm\)", "≤": r"\(\leq\)", "≥": r"\(\geq\)", "–": "--", "—": "---",
    "…": r"\dots{}", "²": r"\textsuperscript{2}", "³": r"\textsuperscript{3}", "∞": r"\(\infty\)",
    "ς": r"\(\varsigma\)", "Α": "A", "Β": "B", "Ε": "E", "Ζ": "Z", "Η": "H", "Ι": "I", "Κ": "K", "Μ": "M", "Ν": "N",
    "Ο": "O", "Ρ": "P", "Τ": "T", "Χ": "X", "ο": "o",
}  # fmt: skip
_LIGATURES = "-,"  # two of these become another character
_ACCENTS = {
    "\u0300": r"\`", "\u0301": r"\'", "\u0302": r"\^", "\u0303": r"\~", "\u0304": r"\=", "\u0306": r"\u",
    "\u0307": r"\.", "\u0308": r"\"", "\u030a": r"\r", "\u030b": r"\H", "\u030c": r"\v", "\u0327": r"\c",
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


def _formula(text: str) -> str:
    """Return a number within a formula."""
    return text.replace("inf", r"\infty")


def _escaped_character(character: str) -> str:
    if character in _CHARACTERS or character.isascii():
        return _CHARACTERS.get(character, character)
    base, *marks = list(unicodedata.normalize("NFD", character))
    if len(marks) == 1 and marks[0] in _ACCENTS and base.isascii() and base.isalpha():
        return f"{_ACCENTS[marks[0]]}{{{base}}}"
    name = unicodedata.name(character, "")
    for case, change in (("GREEK CAPITAL LETTER ", str.capitalize), ("GREEK SMALL LETTER ", str.lower)):
        letter = change(name.removeprefix(case).replace("LAMDA", "LAMBDA"))
        if name.startswith(case) and letter.isalpha() and len(letter) <= len("epsilon") and not marks:
            return rf"\(\{letter}\)"
    return rf"U+{ord(character):04X}"
