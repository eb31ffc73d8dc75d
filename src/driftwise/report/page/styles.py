"""Styles: a series has one colour and marker on the whole page; its group determines the line style."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import NamedTuple

from driftwise.report.page.contents import Group, Panel
from driftwise.report.page.markup import Markup, element
from driftwise.report.palette import COLOURS, DARK_COLOURS, DARK_GREY, GREY

__all__ = ["MARKERS", "Style", "by_group", "colour_rules", "styles_of", "swatch"]

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
    group: Group

    @property
    def marker(self) -> str:
        """The outline of its marker."""
        return MARKERS[self.number % len(MARKERS)]

    @property
    def classes(self) -> str:
        """Its CSS classes."""
        return f"{'grey' if self.group.style == _GREY else f'c{self.number % len(COLOURS)}'} {self.group.style}"


def styles_of(panels: Sequence[Panel], groups: Sequence[Group] = ()) -> dict[str, Style]:
    """Return a style for every series, by label, in the order of the groups; series of one section have different ones.

    A label has the group of its first series. Groups that are not given come last, in order of appearance.
    """
    known = {group.name: group for group in groups}
    group_of: dict[str, Group] = {}
    shown_with: dict[str, set[str]] = {}  # label -> the labels of its sections
    for panel in panels:
        together = {one.label for other in panels if other.section == panel.section for one in other.series}
        for one in panel.series:
            group_of.setdefault(one.label, known.setdefault(one.group, Group(one.group)))
            shown_with.setdefault(one.label, set()).update(together)
    ranks = {name: i for i, name in enumerate(known)}
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
    return element(
        "svg",
        line,
        point,
        class_=f"swatch {style.classes}",
        viewBox="0 0 28 14",
        width=28,
        height=14,
        aria_hidden="true",
    )


def colour_rules() -> str:
    """Return the CSS rules of the palette, for a light and for a dark background."""
    pairs = enumerate(zip(COLOURS, DARK_COLOURS, strict=True))
    rules = [f".c{i} {{ --ink: light-dark({light}, {dark}); }}" for i, (light, dark) in pairs]
    return "\n".join([*rules, f".grey {{ --ink: light-dark({GREY}, {DARK_GREY}); }}"])


def by_group(labels: Iterable[str], styles: Mapping[str, Style]) -> dict[str, list[str]]:
    """Return labels by the name of their group, in the order of the styles."""
    labels = list(labels)
    names = dict.fromkeys(style.group.name for style in styles.values())
    groups = {name: [label for label in labels if styles[label].group.name == name] for name in names}
    return {name: group for name, group in groups.items() if group}
