"""Assemble a page with its tables and write it as one HTML file that loads nothing from the network."""

from __future__ import annotations

import base64
import hashlib
import math
import os
import re
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, metadata
from itertools import groupby
from string import Template

from driftwise.core.files import write_bytes_atomically
from driftwise.core.measures import MARK, SAYS_NOTHING, marked
from driftwise.report.drawing import COLOURS, DARK_COLOURS, DARK_GREY, GREY
from driftwise.report.page.contents import Cell, Claim, Measured, Page, PageColumn, PageTable, Text
from driftwise.report.page.figure_files import style_sheet
from driftwise.report.page.markup import (
    Markup,
    Style,
    by_group,
    element,
    formula,
    glyph,
    joined,
    resource,
    styles_of,
    swatch,
)
from driftwise.report.page.panels import panel_figure
from driftwise.report.page.scales import LinearScale
from driftwise.report.page.weight_charts import history_figure
from driftwise.report.tables import fixed, number, with_interval

_WIDTH, _HEIGHT = 80, 18  # of a whisker chart
_LETTERS_A_LINE = 14  # that fit the narrowest of the columns that are shown once
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")
_SCRIPTS = ("page.zoom.js", "page.readers.js", "page.saving.js", "page.js")
_MORE_DECIMALS = 4  # of the values by which rows are sorted


def write_page(path: str | os.PathLike[str], page: Page, follow_link: bool = True) -> None:
    """Write a page as one HTML file; equal pages give equal files.

    If the path is a symbolic link, the file that it leads to is written, or without `follow_link` the link is replaced.
    """
    write_bytes_atomically(path, page_text(page).encode(), follow_link)


def page_text(page: Page) -> str:
    """Return the page as HTML, including its style sheet and script."""
    style = resource("page.css") + colour_rules() + "\n"
    script = "".join(map(resource, _SCRIPTS))
    sections = _sections(page)
    links = [element("a", name, href=f"#{name.lower()}") for name in sections]
    bodies = [
        element("section", element("h2", heading), content, id=name.lower())
        for name, (heading, content) in sections.items()
    ]
    return Template(resource("page.html")).substitute(
        title=element("title", page.title),
        # The browser accepts only this style sheet and this script, and loads nothing else.
        policy=f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; img-src data:",
        style=style,
        script=script,
        figure_style=style_sheet(),
        documentation=_documentation(page.guide),
        heading=element("h1", page.title),
        subtitle=element("p", page.subtitle, class_="subtitle") if page.subtitle else "",
        links="\n".join(links),
        sections="\n".join(bodies),
    )


def _documentation(guide: str) -> Markup:
    """Return a link to a page of the documentation, or where it is in the sources while it has no address."""
    try:
        urls = metadata("driftwise").get_all("Project-URL") or []
    except PackageNotFoundError:  # the package is used from its sources
        urls = []
    addresses = [url for name, _, url in (text.partition(", ") for text in urls) if name == "Documentation"]
    if not addresses:
        return joined([" Documentation: ", element("code", f"docs/{guide}.md"), " in the sources of driftwise."])
    link = element("a", "documentation", href=f"{addresses[0].rstrip('/')}/{guide}.html", rel="noreferrer")
    return joined([" How to read it: ", link, "."])


def colour_rules() -> str:
    """Return the CSS rules of the palette, for a light and for a dark background."""
    pairs = enumerate(zip(COLOURS, DARK_COLOURS, strict=True))
    rules = [f".c{i} {{ --ink: light-dark({light}, {dark}); }}" for i, (light, dark) in pairs]
    return "\n".join([*rules, f".grey {{ --ink: light-dark({GREY}, {DARK_GREY}); }}"])


def _sections(page: Page) -> dict[str, tuple[str, Markup]]:
    """Return headings and contents of the sections by their names in the list of links; an empty one is left out."""
    styles = styles_of(page.panels, page.groups)
    commands = [element("pre", element("code", command)) for command in page.commands]
    histories = element("div", *map(history_figure, page.histories), class_="grid") if page.histories else Markup()
    contents = {
        "Findings": ("Findings", _list([_claim(claim) for claim in page.claims], "claims")),
        "Table": _table(page.table, styles),
        "Series": _table(page.series_table, styles),
        "Figures": (page.figures_heading, _figures(page, styles)),
        "Weights": ("Weights over time", histories),
        "Commands": (page.commands_heading, _list(commands, "commands")),
        "Notes": ("Notes", _list(page.notes, "notes")),
    }
    order = ("Findings", "Figures", *contents) if page.figures_first else contents
    return {name: contents[name] for name in order if contents[name][1]}


def _table(table: PageTable | None, styles: Mapping[str, Style]) -> tuple[str, Markup]:
    """Return the heading of a table, and the table with its explanation and chooser."""
    if table is None or not table.rows:
        return "", Markup()
    about = element("p", table.about, class_="hint") if table.about else ""
    grid = element("div", _grid(table, styles), class_="scroll")
    return table.heading, element("div", about, _chooser(table), grid)


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
        labels = dict.fromkeys(series.label for panel in panels for series in panel.series)
        with_caveat = {series.label for panel in panels for series in panel.series if series.caveat}
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


def _chooser(table: PageTable) -> Markup:
    """Return a choice of the rows to show; the script makes it visible."""
    if table.filter is None:
        return Markup()
    choices = [element("option", table.filter.everything, value="")]
    texts = [str(text) for text in dict.fromkeys(_filter_texts(table)) if text]
    choices += [element("option", text, value=text) for text in texts]
    chooser = element("label", f"{table.filter.label} ", element("select", *choices, id="filter"))
    return element("div", chooser, element("output", id="count", for_="filter"), class_="tools", hidden=True)


def _filter_texts(table: PageTable) -> list[str | bool]:
    """Return for each row the text by which it is filtered, False without a filter."""
    if table.filter is None:
        return [False] * len(table.rows)
    (column,) = [column for column in table.columns if column.key == table.filter.column]
    return [_text(column, cell) for cell in table.column(column.key)]


def _grid(table: PageTable, styles: Mapping[str, Style]) -> Markup:
    writers = [_ColumnWriter(column, table.column(column.key), styles) for column in table.columns]
    heads = [writer.head() for writer in writers]
    texts = iter(_filter_texts(table))
    lines = []
    for group in _groups(table):
        for place, row in enumerate(group):
            cells = [writer.cell(cell, place, len(group)) for writer, cell in zip(writers, row, strict=True)]
            lines.append(element("tr", *cells, data_filter=next(texts), class_="goes-on" if place else False))
    return element("table", element("thead", element("tr", *heads)), element("tbody", *lines), class_="measured")


def _groups(table: PageTable) -> list[list[Sequence[Cell]]]:
    """Return the groups of consecutive rows that are equal in all columns that are shown once."""
    once = [i for i, column in enumerate(table.columns) if column.once]
    if not once:
        return [[row] for row in table.rows]
    shared = groupby(table.rows, key=lambda row: [_shown(table.columns[i], row[i]) for i in once])
    return [list(group) for _, group in shared]


class _ColumnWriter:
    """Writes the heading and the cells of a column."""

    def __init__(self, column: PageColumn, cells: Sequence[Cell], styles: Mapping[str, Style]) -> None:
        self.column = column
        self.styles = styles
        by_number = column.sorted_as == "number"
        classes = {
            f"{column.kind}-cell": True,
            "detailed": column.kind == "text" and any(_as_text(cell).small for cell in cells),
            "one-line": by_number,
            "unlabelled": by_number and len(column.label_in_card) <= 1,  # no label, or a sign such as ×
            "once": column.once,
        }
        self.classes = " ".join(name for name, holds in classes.items() if holds)
        ends = [value for cell in cells for value in (_as_number(cell) if column.kind == "whisker" else ())]
        covered = [value for value in (*ends, *column.rules) if LinearScale.drawable(value)] or [0.0]
        low, high = min(covered), max(covered)
        self.scale = LinearScale(low, high if high > low else low + max(1.0, abs(low)), 4.0, _WIDTH - 4.0)

    def head(self) -> Markup:
        order = self.column.sorted_as if self.column.sorted_as != "none" else False
        return element("th", self.column.heading, scope="col", data_sort=order and self.column.key, data_order=order)

    def cell(self, cell: Cell, place: int, size: int) -> Markup:
        """Return a cell of row number `place` of a group of `size` rows that share the columns shown once."""
        value = _value(self.column, cell)
        return element(
            "td",
            element("span", *self._parts(cell)),
            class_=f"{self.classes} {_shared_class(value, place, size)}" if self.column.once else self.classes,
            data_column=self.column.key,
            data_label=self.column.label_in_card,
            data_value=value,
        )

    def _parts(self, cell: Cell) -> list[str]:
        kind = self.column.kind
        if kind == "formula":
            return [formula(_as_text(cell).text)]
        if kind == "whisker":
            return [self._whisker(_as_number(cell)), _text(self.column, cell)]
        if kind == "number":
            return [_text(self.column, cell)]
        text, small, caveat = _as_text(cell)
        parts: list[str] = [text, " ", element("span", small, class_="small")] if small else [text]
        if caveat:
            parts.append(element("span", f"{MARK} {SAYS_NOTHING}", class_="caveat", title=caveat))
        if kind == "text":
            return parts
        style = self.styles.get(text)
        return [swatch(style) if style else "", element("span", *parts)]

    def _whisker(self, measured: Measured) -> Markup:
        """Return a small chart of a number and its interval, with thin lines at the rules of the column."""
        middle = _HEIGHT / 2
        at, drawable = self.scale.at, self.scale.drawable
        rules = "".join(f"M{at(v):.1f},2V{_HEIGHT - 2}" for v in self.column.rules)
        shapes = [element("path", class_="rules", d=rules)]
        value, low, high = measured
        if drawable(low) and drawable(high):
            shapes.append(element("path", class_="whisker", d=f"M{at(low):.1f},{middle:g}H{at(high):.1f}"))
        if drawable(value):
            shapes.append(element("path", class_="middle", d=f"M{at(value):.1f},4V{_HEIGHT - 4}"))
        return glyph(_WIDTH, _HEIGHT, "glyph", *shapes)


def _shared_class(value: str, place: int, size: int) -> str:
    """Return the CSS class of a shared cell: shown in the first row only, over the empty cells below if it fits."""
    if place:
        return "same"
    return "leads" if len(value) <= _LETTERS_A_LINE * size else "alone"


def _text(column: PageColumn, cell: Cell) -> str:
    """Return the text of a cell, without small letters."""
    if not column.numeric:
        return _as_text(cell).text
    return with_interval(*(_written(value, column.decimals) for value in _as_number(cell)))


def _written(value: float, decimals: int | None) -> str:
    """Return a number as text; counts, which have no decimals, have commas as in sentences."""
    if decimals == 0 and math.isfinite(value):
        return f"{value:,.0f}"
    return number(value) if decimals is None else fixed(value, decimals)


def _shown(column: PageColumn, cell: Cell) -> str | Text:
    """Return all that a cell shows, to compare it with others."""
    return _text(column, cell) if column.numeric else _as_text(cell)


def _value(column: PageColumn, cell: Cell) -> str:
    """Return the value by which rows are sorted; the script puts rows without one last."""
    if column.numeric:
        value = _as_number(cell).value
        return f"{value:.12g}" if column.decimals is None else f"{value:.{column.decimals + _MORE_DECIMALS}f}"
    text, small, _ = _as_text(cell)
    if column.sorted_as == "number":
        match = _NUMBER.search(text)  # a range is sorted by its lower end
        return match[0] if match else ""
    return f"{text} {small}" if small and column.kind == "text" else text


def _as_text(cell: Cell) -> Text:
    return cell if isinstance(cell, Text) else Text(str(cell))


def _as_number(cell: Cell) -> Measured:
    assert not isinstance(cell, str | Text)  # checked by `PageTable`
    return cell if isinstance(cell, Measured) else Measured(cell)
