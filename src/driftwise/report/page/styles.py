"""Styles: a learner has one colour and marker on the whole page; its role determines the line style."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import NamedTuple

from driftwise.report.page.contents import ROLES, Panel
from driftwise.report.page.markup import Markup, element
from driftwise.report.palette import COLOURS, DARK_COLOURS, DARK_GREY, GREY

__all__ = ["MARKERS", "ROLE_NAMES", "Marker", "Style", "by_role", "colour_rules", "styles_of", "swatch"]

ROLE_NAMES = {
    "paper": "This paper",
    "cited": "Cited",
    "parameter-free": "Parameter-free",
    "added": "Added",
    "baseline": "Baseline",
}
_GREY_ROLE = "baseline"


class Marker(NamedTuple):
    """A shape: its outline around the origin, and its name in Matplotlib."""

    outline: str
    plotted: str


# Eight shapes and seven colours: pairs repeat from the 57th learner on.
MARKERS = (
    Marker("M-3.4,0a3.4,3.4 0 1 0 6.8,0a3.4,3.4 0 1 0 -6.8,0z", "o"),
    Marker("M-3,-3h6v6h-6z", "s"),
    Marker("M0,-4L3.8,2.8H-3.8z", "^"),
    Marker("M0,-4.3L4.3,0L0,4.3L-4.3,0z", "D"),
    Marker("M0,4L3.8,-2.8H-3.8z", "v"),
    Marker("M-1.3,-4h2.6v2.7h2.7v2.6h-2.7v2.7h-2.6v-2.7h-2.7v-2.6h2.7z", "P"),
    Marker("M-4,0L2.8,-3.8V3.8z", "<"),
    Marker("M4,0L-2.8,-3.8V3.8z", ">"),
)


class Style(NamedTuple):
    """The style of one learner."""

    number: int
    role: str

    @property
    def colour(self) -> str:
        """Its colour on a light background; baselines are grey."""
        return GREY if self.role == _GREY_ROLE else COLOURS[self.number % len(COLOURS)]

    @property
    def marker(self) -> Marker:
        """Its marker."""
        return MARKERS[self.number % len(MARKERS)]

    @property
    def classes(self) -> str:
        """Its CSS classes."""
        return f"{'grey' if self.role == _GREY_ROLE else f'c{self.number % len(COLOURS)}'} {self.role}"


def styles_of(panels: Sequence[Panel]) -> dict[str, Style]:
    """Return a style for every learner of the page; learners of one cell have different ones, the paper's the first."""
    roles: dict[str, str] = {}
    shown_with: dict[str, set[str]] = {}  # learner -> the learners of its cells
    for panel in panels:
        together = {one.label for other in panels if other.cell == panel.cell for one in other.series}
        for one in panel.series:
            roles.setdefault(one.label, one.role)
            shown_with.setdefault(one.label, set()).update(together)
    styles: dict[str, Style] = {}
    for label in sorted(roles, key=lambda label: ROLES.index(roles[label])):
        grey = roles[label] == _GREY_ROLE  # grey learners are numbered separately
        taken = {
            styles[other].number
            for other in shown_with[label]
            if other in styles and (roles[other] == _GREY_ROLE) == grey
        }
        styles[label] = Style(next(n for n in count() if n not in taken), roles[label])
    return styles


def swatch(style: Style) -> Markup:
    """Return a short piece of a learner's line, for a legend."""
    line = element("path", class_="curve", d="M1,7H27")
    point = element("path", class_="point", d=style.marker.outline, transform="translate(14,7)")
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


def by_role(labels: Iterable[str], styles: Mapping[str, Style]) -> dict[str, list[str]]:
    """Group learners by role, in the order of `ROLES`."""
    labels = list(labels)
    groups = {role: [label for label in labels if styles[label].role == role] for role in ROLES}
    return {role: group for role, group in groups.items() if group}
