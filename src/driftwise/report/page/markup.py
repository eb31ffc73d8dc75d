"""HTML and SVG elements from text, and rates as formulas from plain text. All text is escaped here.

>>> plain("(Lambda V T)^(1/3) + sqrt(K) Gamma")
'(Λ V T)^(1/3) + √K Γ'
>>> formula("sqrt(Gamma Lambda)")
'<span class="maths">√<span class="root">Γ Λ</span></span>'

Styles are those of series: each has one colour and marker on the whole page, and its group determines the line style.
"""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from itertools import count
from typing import NamedTuple
from unicodedata import category

from driftwise.report.drawing import COLOURS
from driftwise.report.page.contents import Panel, SeriesGroup

_EMPTY = frozenset(("path", "rect"))  # elements without content
_LETTERS = {"Gamma": "Γ", "Lambda": "Λ", "Delta": "Δ", "Sigma": "Σ", "gamma": "γ", "delta": "δ"}
_ROOTS = {"sqrt": "√", "cbrt": "∛"}
_WORDS = re.compile(r"\b(" + "|".join(_LETTERS) + r")\b")
_ROOT = re.compile(r"\b(sqrt|cbrt)(?:\((\w+)\)|(?=\())")  # with its argument, if that needs no brackets
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


def chart(width: float, height: float, about: str, *parts: str) -> Markup:
    """Return a chart of a figure; `about` describes it to readers who do not see it."""
    box = f"0 0 {width:g} {height:g}"
    return element("svg", *parts, class_="chart", viewBox=box, role="img", aria_label=about)


def glyph(width: int, height: int, classes: str, *shapes: str) -> Markup:
    """Return a small drawing within a text."""
    box = f"0 0 {width} {height}"
    return element("svg", *shapes, class_=classes, viewBox=box, width=width, height=height, aria_hidden="true")


def figure(
    kind: str, key: str, title: str, picture: str, legend: Sequence[str], notes: Sequence[str], numbers: str, data: str
) -> Markup:
    """Return a chart with its caption, its legend, its notes, its numbers, and data for the script."""
    return element(
        "figure",
        element("h4", title, id=f"{key}-title"),
        element("div", picture, class_="picture"),
        element("ul", *legend, class_="lines") if legend else "",
        *(element("p", note, class_="note") for note in notes if note),
        element("details", element("summary", "Numbers"), element("div", numbers, class_="scroll")),
        data,
        class_=kind,
        id=key,
    )


def figure_data(data: Mapping[str, object]) -> Markup:
    """Return the data of a figure as JSON, which the script saves, reads out and zooms."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return element("script", Markup(text.replace("<", "\\u003c")), type="application/json")  # no name ends the script


def json_numbers(values: Iterable[float]) -> list[float | str | None]:
    """Return numbers as JSON has them, in full precision: NaN becomes null, an infinite number text.

    >>> json_numbers([0.1, float("nan"), float("-inf")])
    [0.1, None, '-inf']
    """
    plain_values = [float(value) for value in values]
    return [v if math.isfinite(v) else None if math.isnan(v) else str(v) for v in plain_values]


def number_table(key: str, heads: Iterable[str], *bodies: Markup) -> Markup:
    """Return a table of the numbers of a figure."""
    head = element("tr", *(element("th", text, scope="col") for text in heads))
    return element("table", element("thead", head), *bodies, aria_labelledby=f"{key}-title")


def table_row(cells: Iterable[str], *head: Markup) -> Markup:
    """Return a row of a table; its head is already markup."""
    return element("tr", *head, *(element("td", cell) for cell in cells))


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
    return _greek(_ROOT.sub(lambda match: _ROOTS[match[1]] + (match[2] or ""), text))


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


_GREY = "baseline"  # the style of a group


# Outlines around the origin. Eight shapes and seven colours: pairs repeat from the 57th series on.
MARKERS = (
    "M-3.4,0a3.4,3.4 0 1 0 6.8,0a3.4,3.4 0 1 0 -6.8,0z",
    "M-3,-3h6v6h-6z",
    "M0,-4L3.8,2.8H-3.8z",
    "M0,-4.3L4.3,0L0,4.3L-4.3,0z",
    "M0,4L3.8,-2.8H-3.8z",
    "M-1.3,-4h2.6v2.7h2.7v2.6h-2.7v2.7h-2.6v-2.7h-2.7v-2.6h2.7z",
    "M-4,0L2.8,-3.8V3.8z",
    "M4,0L-2.8,-3.8V3.8z",
)


class Style(NamedTuple):
    """The style of one series."""

    number: int
    group: SeriesGroup

    @property
    def marker(self) -> str:
        """The outline of its marker."""
        return MARKERS[self.number % len(MARKERS)]

    @property
    def classes(self) -> str:
        """Its CSS classes."""
        return f"{'grey' if self.group.style == _GREY else f'c{self.number % len(COLOURS)}'} {self.group.style}"


def styles_of(panels: Sequence[Panel], groups: Sequence[SeriesGroup] = ()) -> dict[str, Style]:
    """Return a style for every series, by label, in the order of the groups; series of one section have different ones.

    A label has the group of its first series. Groups that are not given come last, in order of appearance.
    """
    named_groups = {group.name: group for group in groups}
    group_of: dict[str, SeriesGroup] = {}
    shown_with: dict[str, set[str]] = {}  # label -> the labels of its sections
    for panel in panels:
        together = {series.label for other in panels if other.section == panel.section for series in other.series}
        for series in panel.series:
            group_of.setdefault(series.label, named_groups.setdefault(series.group, SeriesGroup(series.group)))
            shown_with.setdefault(series.label, set()).update(together)
    ranks = {name: i for i, name in enumerate(named_groups)}
    styles: dict[str, Style] = {}
    for label in sorted(group_of, key=lambda label: ranks[group_of[label].name]):
        grey = group_of[label].style == _GREY  # grey series are numbered separately
        taken = {
            styles[other].number
            for other in shown_with[label]
            if other in styles and (group_of[other].style == _GREY) == grey
        }
        styles[label] = Style(next(n for n in count() if n not in taken), group_of[label])
    return styles


def swatch(style: Style) -> Markup:
    """Return a short piece of a series' line, for a legend."""
    line = element("path", class_="curve", d="M1,7H27")
    point = element("path", class_="point", d=style.marker, transform="translate(14,7)")
    return glyph(28, 14, f"swatch {style.classes}", line, point)


def by_group(labels: Iterable[str], styles: Mapping[str, Style]) -> dict[str, list[str]]:
    """Return labels by the name of their group, in the order of the styles."""
    labels = list(labels)
    names = dict.fromkeys(style.group.name for style in styles.values())
    groups = {name: [label for label in labels if styles[label].group.name == name] for name in names}
    return {name: group for name, group in groups.items() if group}
