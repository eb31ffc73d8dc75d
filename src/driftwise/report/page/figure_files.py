"""The figures of a page as SVG files: the charts of the page with a title, a legend and their style sheet.

Image viewers know neither variables nor mixed colours of CSS: the style sheet of a file has the values instead. It is
that of the page on a light background.
"""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from driftwise.core.errors import one_line
from driftwise.core.files import write_bytes_atomically
from driftwise.core.measures import MARK, SAYS_NOTHING, marked
from driftwise.report.drawing import COLOURS, GREY
from driftwise.report.page.contents import DotPanel, Page, Panel, RowPanel, WeightHistory
from driftwise.report.page.markup import Markup, Style, by_group, element, plain, resource, styles_of, swatch
from driftwise.report.page.panels import chart_of, line_swatch
from driftwise.report.page.weight_charts import action_classes, history_chart
from driftwise.report.tables import shortened, text_width

_MARGIN = 16.0  # around the chart
_LINE, _CHARACTER = 20.0, 6.6  # the height of a line of text, and about the width of a character
_TITLE, _LABEL = 70, 72  # characters of a line of the title, and the most of a label
_BEFORE, _AFTER = 34.0, 14.0  # of a label in the legend: its swatch, and the gap to the next swatch
_STRENGTHS = {"": 0.72, ".pale": 0.35}  # of the colours of areas, as in the style sheet

# Rules of charts that are about their place on the page, the pointer, and the strength of the colours of areas.
_OF_THE_PAGE = re.compile(
    r"\.setting|\.hint|\.grid|figure|\.picture|\.chart \{|\S*\.read |\.series|\.reading|\.cursor|.*--strength: "
)

_Key = tuple[Markup, str]  # a swatch and its label


def write_figures(folder: str | os.PathLike[str], page: Page) -> list[Path]:
    """Write every panel and weight history to an SVG file named by its key; return the files.

    A symbolic link with such a name is replaced.
    """
    styles = styles_of(page.panels, page.groups)
    figures = {panel.key: _panel_figure(panel, styles) for panel in page.panels}
    figures |= {history.key: _history_figure(history) for history in page.histories}
    written = [Path(folder) / f"{key}.svg" for key in figures]
    for path, figure in zip(written, figures.values(), strict=True):
        write_bytes_atomically(path, f"{figure}\n".encode(), follow_link=False)
    return written


def _panel_figure(panel: Panel, styles: Mapping[str, Style]) -> Markup:
    keys: list[_Key] = []
    if not isinstance(panel, DotPanel | RowPanel):  # these have the labels in their rows
        caveats = {series.label: series.caveat for series in panel.series}
        labels = [label for group in by_group(caveats, styles).values() for label in group]
        keys += [(swatch(styles[label]), marked(shortened(label, _LABEL), caveats[label])) for label in labels]
    keys += [(line_swatch(line), shortened(plain(line.name), _LABEL)) for line in panel.lines]
    has_caveat = any(series.caveat for series in panel.series)
    return _figure(panel.title, chart_of(panel, styles), keys, has_caveat)


def _history_figure(history: WeightHistory) -> Markup:
    keys = [
        (
            element("rect", class_=f"area {action_classes(history, k)}", x=1, y=1, width=26, height=12),
            shortened(label, _LABEL),
        )
        for k, label in enumerate(history.labels)
    ]
    title = f"{marked(history.learner, history.caveat)}: {history.title}"
    return _figure(title, history_chart(history), keys, bool(history.caveat))


def _figure(title: str, chart: Markup, keys: Sequence[_Key], has_caveat: bool) -> Markup:
    """Return a chart below its title and above its legend, without the texts that the page shows under the pointer."""
    chart = Markup(re.sub("<title>.*?</title>", "", chart, flags=re.DOTALL))
    size = re.search(r'viewBox="0 0 (\d+) (\d+)"', chart)
    assert size is not None
    width, height = map(float, size.groups())
    y = _MARGIN
    parts: list[str] = []
    for line in textwrap.wrap(one_line(title), _TITLE):
        parts.append(element("text", line, x=_MARGIN, y=y + 12, class_="title"))
        y += _LINE
    place = f'<svg x="{_MARGIN:g}" y="{y + 6:g}" width="{width:g}" height="{height:g}" overflow="visible" '
    parts.append(Markup(place + chart.removeprefix("<svg ")))
    y += height + _LINE
    for row in _rows(keys, width):
        x = _MARGIN
        for sign, label in row:
            moved = element("g", sign, element("text", label, x=_BEFORE, y=11), transform=f"translate({x:g},{y:g})")
            parts.append(moved)
            x += _length(label)
        y += _LINE
    if has_caveat:
        parts.append(element("text", f"{MARK} {SAYS_NOTHING}", x=_MARGIN, y=y + 11))
        y += _LINE
    whole = {"width": width + 2 * _MARGIN, "height": y + _MARGIN / 2}
    style = Markup(f"<style>\n{style_sheet()}</style>")
    paper = element("rect", class_="paper", **whole)
    box = f"0 0 {whole['width']:g} {whole['height']:g}"
    about = {"xmlns": "http://www.w3.org/2000/svg", "class_": "chart", "viewBox": box}
    return element("svg", style, paper, *parts, **about, **whole)


def _rows(keys: Sequence[_Key], width: float) -> Iterator[list[_Key]]:
    """Split a legend into rows that fit into a width."""
    row: list[_Key] = []
    for key in keys:
        if row and sum(_length(label) for _, label in [*row, key]) - _AFTER > width:
            yield row
            row = []
        row.append(key)
    if row:
        yield row


def _length(label: str) -> float:
    return _BEFORE + _CHARACTER * text_width(label) + _AFTER


def style_sheet() -> str:
    """Return the rules of charts with the values of their variables; `color` is a colour of the palette."""
    page = resource("page.css")
    variables = re.findall(r"(--\w+): (?:light-dark\((#\w+), #\w+\)|(.*?));", page)
    values = {name: light or other for name, light, other in variables} | {"--paper": "#ffffff"}
    charts = page.partition("/* Charts */\n")[2].partition("\n\n")[0].splitlines()
    rules = "\n".join(line for line in charts if not _OF_THE_PAGE.match(line))
    rules = re.sub(r"color-mix\([^;]*\)", "currentColor", rules)
    rules = re.sub(r"var\((--\w+)\)", lambda match: values.get(match[1], "currentColor"), rules)
    paper, text = values["--paper"], values["--text"]
    lines = [rules, f".paper {{ fill: {paper}; }}"]
    lines.append(f".chart text.title {{ font-weight: 600; font-size: 13px; fill: {text}; }}")
    for name, colour in [*((f"c{i}", colour) for i, colour in enumerate(COLOURS)), ("grey", GREY)]:
        lines.append(f".{name} {{ color: {colour}; }}")
        lines += [
            f".area.{name}{pale} {{ fill: {_mixed(colour, paper, share)}; }}" for pale, share in _STRENGTHS.items()
        ]
    return "\n".join([*lines, ""])


def _mixed(colour: str, paper: str, share: float) -> str:
    """Return a colour with a share of another, both as #rrggbb.

    >>> _mixed("#000000", "#ffffff", 0.75)
    '#404040'
    """
    pairs = zip(bytes.fromhex(colour[1:]), bytes.fromhex(paper[1:]), strict=True)
    return "#" + bytes(round(share * front + (1 - share) * back) for front, back in pairs).hex()
