"""Assemble a page and write it as one HTML file that loads nothing from the network."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Mapping, Sequence
from string import Template
from typing import NamedTuple

from driftwise.core.files import write_bytes_atomically
from driftwise.core.tuning_caveats import MARK, SAYS_NOTHING, marked
from driftwise.report.page.contents import SECTIONS, Claim, Page
from driftwise.report.page.markup import Markup, element, resource
from driftwise.report.page.page_table import page_table
from driftwise.report.page.panels import panel_figure
from driftwise.report.page.styles import Style, by_group, colour_rules, styles_of, swatch
from driftwise.report.page.table_contents import Table
from driftwise.report.page.weight_charts import history_figure

__all__ = ["page_text", "write_page"]


def write_page(path: str | os.PathLike[str], page: Page) -> None:
    """Write a page as one HTML file; equal pages give equal files."""
    write_bytes_atomically(path, page_text(page).encode())


def page_text(page: Page) -> str:
    """Return the page as HTML, including its style sheet and script."""
    style = resource("page.css") + colour_rules() + "\n"
    script = resource("page.readers.js") + resource("page.js")
    sections = [section for section in _sections(page) if section.content]
    links = [element("a", section.name, href=f"#{section.name.lower()}") for section in sections]
    bodies = [
        element("section", element("h2", section.heading), section.content, id=section.name.lower())
        for section in sections
    ]
    return Template(resource("page.html")).substitute(
        title=element("title", page.title),
        # The browser accepts only this style sheet and this script, and loads nothing else.
        policy=f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; img-src data:",
        style=style,
        script=script,
        heading=element("h1", page.title),
        subtitle=element("p", page.subtitle, class_="subtitle") if page.subtitle else "",
        links="\n".join(links),
        sections="\n".join(bodies),
    )


class _Section(NamedTuple):
    name: str  # in the list of links
    heading: str
    content: Markup


def _sections(page: Page) -> list[_Section]:
    """Return the sections of the page; an empty one is left out."""
    styles = styles_of(page.panels, page.groups)
    commands = [element("pre", element("code", command)) for command in page.commands]
    histories = element("div", *map(history_figure, page.histories), class_="grid") if page.histories else Markup()
    contents = (
        ("Findings", _list([_claim(claim) for claim in page.claims], "claims")),
        _table(page.table, styles),
        _table(page.series_table, styles),
        (page.figures_heading, _figures(page, styles)),
        ("Weights over time", histories),
        (page.commands_heading, _list(commands, "commands")),
        ("Notes", _list(page.notes, "notes")),
    )
    sections = [_Section(name, *content) for name, content in zip(SECTIONS, contents, strict=True)]
    if page.figures_first:
        table_at, figures_at = SECTIONS.index("Table"), SECTIONS.index("Figures")
        sections.insert(table_at, sections.pop(figures_at))
    return sections


def _table(table: Table | None, styles: Mapping[str, Style]) -> tuple[str, Markup]:
    """Return the heading and the content of the section of a table."""
    return (table.heading, page_table(table, styles)) if table and table.rows else ("", Markup())


def _claim(claim: Claim) -> Markup:
    verdict = ("holds", "Holds") if claim.holds else ("fails", "Does not hold")
    figures = [element("div", element("dt", what), element("dd", value)) for what, value in claim.figures]
    return element(
        "div",
        element("span", verdict[1], class_=f"verdict {verdict[0]}"),
        element("p", claim.text),
        element("dl", *figures) if figures else "",
    )


def _figures(page: Page, styles: Mapping[str, Style]) -> Markup:
    """Return the panels by section; each section has one legend."""
    parts: list[str] = []
    for section in dict.fromkeys(panel.section for panel in page.panels):
        panels = [panel for panel in page.panels if panel.section == section]
        labels = dict.fromkeys(one.label for panel in panels for one in panel.series)
        with_caveat = {one.label for panel in panels for one in panel.series if one.caveat}
        groups = [
            element(
                "div",
                element("span", name, class_="small") if name else "",
                *(_legend_key(label, styles[label], label in with_caveat) for label in group),
                role="group",
                aria_label=name or False,
            )
            for name, group in by_group(labels, styles).items()
        ]
        figures = element("div", *(panel_figure(panel, styles) for panel in panels), class_="grid")
        heading = element("h3", section) if section else ""
        about = element("p", f"{MARK} {SAYS_NOTHING}: see below the figures.", class_="note") if with_caveat else ""
        legend = element("div", *groups, class_="legend")
        parts.append(element("div", heading, legend, about, figures, class_="setting"))
    hint = element("p", page.hint, class_="hint", id="hint", hidden=True) if page.hint else ""
    return element("div", hint, *parts) if parts else Markup()


def _legend_key(label: str, style: Style, has_caveat: bool) -> Markup:
    """Return an entry of a legend; the script turns it into a button that hides and shows the series."""
    return element(
        "button",
        swatch(style),
        marked(label, has_caveat),
        type="button",
        class_="key",
        data_series=label,
        aria_pressed="true",
        disabled=True,
    )


def _list(items: Sequence[str], name: str) -> Markup:
    return element("ul", *(element("li", item) for item in items), class_=name) if items else Markup()


def _digest(text: str) -> str:
    """Return the digest of a style sheet or script, for the content security policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
