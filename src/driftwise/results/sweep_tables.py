"""The tables of sweeps: as text, LaTeX and CSV."""

from __future__ import annotations

import csv
import math
import os
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from driftwise.core.errors import one_line
from driftwise.core.files import write_atomically
from driftwise.core.tuning_caveats import SAYS_NOTHING, marked
from driftwise.report.tables import TableGroup, grouped_table, number, text_table
from driftwise.results.cells import REALS, CellTable
from driftwise.results.labels import CellLabels
from driftwise.results.results import bound_texts, footnote, regret_name
from driftwise.results.summaries import Comparison, Place, Summary, Unpaired, by_number

__all__ = [
    "CSV_COLUMNS",
    "comparison_text",
    "counts_text",
    "escaped",
    "failures_text",
    "listing_text",
    "varied_columns",
    "write_cells_csv",
    "write_latex",
]


def counts_text(table: CellTable, n_environments: int, n_learners: int) -> str:
    """Return how many cells there are, and of what, in one line."""
    n_failed = int(table.failed.sum())
    counts = [
        _counted(n_environments, "environment"),
        _counted(n_learners, "learner"),
        _counted(len(np.unique(table.cells["n_rounds"])), "number", " of rounds"),
        _counted(len(np.unique(table.cells["seed"])), "seed"),
        f"{n_failed or 'none'} failed",
    ]
    return f"{_counted(len(table), 'cell')}: {', '.join(counts)}" if len(table) else "no cells"


def listing_text(rows: Sequence[Summary], confidence: float) -> str:
    """Return the table of regrets: rows in order, those of an environment below its name."""
    if not rows:
        return ""
    varied = varied_columns(row.place for row in rows)
    failed = any(row.n_failed for row in rows)
    headers = ["learner", *varied, "rounds", "cells", *(["failed"] if failed else [])]
    headers += ["regret", f"{100 * confidence:g}% interval", "bound", "ratio"]
    groups = []
    for _, members in groupby(rows, key=lambda row: (row.place.environment, row.kind or "pseudo")):
        some = list(members)
        lines = [
            [
                marked(row.place.learner, row.caveat),
                *(getattr(row.place, name) for name in varied),
                str(row.place.n_rounds),
                str(row.n_cells),
                *([str(row.n_failed)] if failed else []),
                number(row.regret.mean),
                _interval(row.regret.low, row.regret.high),
                *bound_texts(row.place.n_rounds, row.regret.mean, row.bound),
            ]
            for row in some
        ]
        groups.append(TableGroup(heading_of(some[0], varied), lines, _footnotes(some)))
    return grouped_table(headers, groups, left=1 + len(varied))


def comparison_text(rows: Sequence[Comparison], unpaired: Sequence[Unpaired], baseline: str, confidence: float) -> str:
    """Return the table of differences of regret from a baseline, and why some learners are not in it."""
    rows = sorted(rows, key=lambda row: (*_order(row.place), row.difference.mean))
    varied = varied_columns(row.place for row in rows)
    headers = ["learner", *varied, "rounds", "pairs", "difference", f"{100 * confidence:g}% interval", "regret is"]
    groups = []
    for environment, members in groupby(rows, key=lambda row: row.place.environment):
        lines = [
            [
                row.place.learner,
                *(getattr(row.place, name) for name in varied),
                str(row.place.n_rounds),
                str(row.n_pairs) if row.n_pairs == row.n_cells else f"{row.n_pairs} of {row.n_cells}",
                number(row.difference.mean),
                _interval(row.difference.low, row.difference.high),
                row.verdict or "-",
            ]
            for row in members
        ]
        groups.append(TableGroup(environment, lines))
    parts = [f"Regret minus that of '{one_line(baseline)}' on the same losses (same environment, seed and run)."]
    parts += ["", grouped_table(headers, groups, left=1 + len(varied))] if rows else ["There are no such pairs."]
    if rows:
        parts.append("lower, higher: the interval excludes 0; no correction is made for the number of comparisons.")
    reasons: dict[tuple[str, str], dict[str, None]] = {}
    for place, reason in sorted(unpaired, key=lambda one: _order(one.place)):
        reasons.setdefault((place.environment, reason), {})[place.learner] = None
    parts += ["", "Not compared:"] if reasons else []
    for (environment, reason), learners in reasons.items():
        parts.append(f"  {one_line(', '.join(learners))} in {one_line(environment)}: {reason}.")
    return "\n".join(parts)


def failures_text(failures: Sequence[tuple[Place, int, int, str]], width: int) -> str:
    """Return a table of cells that could not be played; the runs of a learner with the same error share a row."""
    if not failures:
        return "No cell failed."
    varied = varied_columns(place for place, *_ in failures)
    runs: dict[tuple[Place, int, str], list[int]] = {}
    for place, seed, run, error in failures:
        runs.setdefault((place, seed, error), []).append(run)
    ordered = sorted(runs.items(), key=lambda item: (*_order(item[0][0]), by_number(item[0][0].learner), item[0][1:]))
    headers = ["learner", *varied, "rounds", "seed", "runs", "error"]
    parts = []
    for environment, members in groupby(ordered, key=lambda item: item[0][0].environment):
        lines = [
            [
                place.learner,
                *(getattr(place, name) for name in varied),
                str(place.n_rounds),
                str(seed),
                _ranges(sorted(numbers)),
                one_line(error),
            ]
            for (place, seed, error), numbers in members
        ]
        parts.append(f"{one_line(environment)}\n{text_table(headers, lines, len(headers), width)}")
    return "\n\n".join(parts)


def varied_columns(places: Iterator[Place]) -> list[str]:
    """Return which of comparator and play differ between places; these are columns of a table."""
    seen = [(place.comparator, place.play) for place in places]
    return [name for i, name in enumerate(("comparator", "play")) if len({one[i] for one in seen}) > 1]


def heading_of(row: Summary, varied: Sequence[str]) -> str:
    """Return the heading of the rows of an environment: its name and the kind of regret."""
    comparator = "" if "comparator" in varied else f"{row.place.comparator} "
    return f"{row.place.environment}: {comparator}{regret_name(row.kind or 'pseudo')}"


def _footnotes(rows: Sequence[Summary]) -> list[str]:
    several = len({row.place.n_rounds for row in rows}) > 1
    reasons = {}
    for row in rows:
        if row.caveat:
            rounds = f" ({row.place.n_rounds} rounds)" if several else ""
            reasons[one_line(f"{row.place.learner}{rounds}")] = one_line(row.caveat)
    return [f"  {line}" for line in footnote(reasons).splitlines()]


def _order(place: Place) -> tuple[object, ...]:
    return by_number(place.environment), place.comparator, place.play, place.n_rounds


def _interval(low: float, high: float) -> str:
    return "-" if np.isnan(low) else f"{number(low)} .. {number(high)}"


def _counted(n: int, noun: str, rest: str = "") -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}{rest}"


def _ranges(numbers: Sequence[int]) -> str:
    """Return numbers as text, consecutive ones as a range.

    >>> _ranges([0, 1, 2, 5])
    '0-2, 5'
    """
    parts: list[list[int]] = []
    for one in numbers:
        if parts and one == parts[-1][-1] + 1:
            parts[-1] = [parts[-1][0], one]
        else:
            parts.append([one])
    return ", ".join("-".join(map(str, part)) for part in parts)


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


_SPECS = {"environment_spec": "environment", "learner_spec": "learner"}
_FIRST = ("environment", "learner", "n_rounds", "seed", "run", "regret", "bound", "error")
_LATER = ("comparator", "play", "kind", "n_actions", "segments", *REALS, "caveat", "machine")
CSV_COLUMNS = (*_FIRST, *_LATER, *_SPECS)


def write_cells_csv(
    path: str | os.PathLike[str], table: CellTable, environments: CellLabels, learners: CellLabels
) -> None:
    """Write one line per cell, with the regret and the bound at its last marked round.

    A number that is unknown is an empty field; others have enough digits to be read back equal.
    """
    columns = [_column(table, name, environments, learners) for name in CSV_COLUMNS]

    def fill(file: Path) -> None:
        with file.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(CSV_COLUMNS)
            writer.writerows(zip(*columns, strict=True))

    write_atomically(path, fill)


def _column(table: CellTable, name: str, environments: CellLabels, learners: CellLabels) -> list[Any]:
    if name in ("environment", "learner"):
        return [*(environments if name == "environment" else learners).texts]
    if name == "regret":
        return _known(table.final.tolist())
    if name == "bound":
        return _known(table.bound[table.offsets[1:] - 1].tolist())
    if name in table.texts or name in _SPECS:
        column = _SPECS.get(name, name)
        texts = [text.rstrip(" ") if name in _SPECS else text for text in table.texts[column]]
        return [texts[code] for code in table.cells[column].tolist()]
    values: list[Any] = table.cells[name].tolist()
    return _known(values) if name in REALS else [value or "" for value in values] if name == "segments" else values


def _known(values: list[float]) -> list[float | str]:
    return ["" if math.isnan(value) else value for value in values]
