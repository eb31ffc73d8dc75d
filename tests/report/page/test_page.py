"""The report page as text: complete, escaped, reproducible, and valid with missing numbers."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from driftwise.core.errors import BadFile, InvalidInput
from driftwise.landscape.pages import page_table
from driftwise.report.drawing import layers
from driftwise.report.page import (
    Axis,
    Claim,
    Filter,
    Line,
    Measured,
    Page,
    PageColumn,
    PageTable,
    Panel,
    Series,
    SeriesGroup,
    Text,
    WeightHistory,
    write_figures,
    write_page,
)
from driftwise.report.page.contents import KINDS_OF_COLUMNS
from driftwise.report.page.markup import formula, plain, styles_of
from driftwise.report.page.panels import y_scale
from driftwise.report.page.scales import LogScale, steps
from driftwise.report.page.write import page_text
from fake_page import fake_history, fake_page

NAN, INF = float("nan"), float("inf")
NASTY = "</script><script>alert(1)</script>\"'&<b onclick=x>$title ${x} \x00\ud800\u202e"
LONG = "A" * 300
EMPTY = Page("t")
VOID = {"meta", "link"}


class Outline(HTMLParser):
    """Reads a page and collects its elements; unbalanced tags are an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"{tag} has an attribute twice"
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        assert "svg" in self.open, f"<{tag}/> closes itself only inside a picture"
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.texts.append(data)

    def having(self, tag: str, name: str | None = None) -> list[dict[str, str | None]]:
        """Return the attributes of all such elements, of one class if it is named."""
        return [a for t, a in self.tags if t == tag and (name is None or name in (a.get("class") or "").split())]


def series(label="A", x=(1, 10, 100), mean=(1, 2, 3), low=None, high=None, group="ours", exponent=0.5):
    measured = None if exponent is None else Measured(exponent)
    return Series(label, group, x, mean, mean if low is None else low, mean if high is None else high, measured)


def panel(*curves, lines=(), key="p", section="c", scale="log"):
    return Panel(key, section, "title", Axis("T", scale), Axis("regret", scale), curves, lines)


def with_panel(*curves, lines=()):
    return replace(EMPTY, panels=[panel(*curves, lines=lines)])


def hostile_page() -> Page:
    half = Measured(0.5, 0.4, 0.6)
    columns = [PageColumn(f"c{i}", NASTY, kind, card_label=NASTY) for i, kind in enumerate(KINDS_OF_COLUMNS)]
    row = [half if column.numeric else Text(NASTY, NASTY, NASTY) for column in columns]
    table = PageTable(columns, [row], NASTY, NASTY, Filter("c0", NASTY, NASTY))
    curve = Series(NASTY, NASTY, [1, 2], [1, 2], [1, 2], [1, 2], half, NASTY)
    one = Panel("p", NASTY, NASTY, Axis(NASTY), Axis(NASTY), [curve], [Line(NASTY, "upper", [1, 2], [1, 2])])
    history = WeightHistory("t", NASTY, NASTY, [0, 1], [[0.5, 0.5], [0.5, 0.5]], [0, 1], [1])
    claim = Claim(NASTY, True, [(NASTY, NASTY)])
    groups = [SeriesGroup(NASTY, "dashed")]
    return Page(NASTY, NASTY, table, [one], [history], [claim], [NASTY], [NASTY], groups, NASTY, NASTY)


def test_the_made_up_page_is_well_formed_and_small() -> None:
    text = page_text(fake_page())
    outline = Outline(text)
    assert len(text.encode()) < 2_000_000
    ids = [attributes["id"] for _, attributes in outline.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert len(outline.having("figure", "panel")) == 8
    assert len(outline.having("figure", "history")) == 3
    assert len(outline.having("svg", "chart")) == 11
    assert len(outline.having("details")) == 11
    named = {attributes["aria-labelledby"] for attributes in outline.having("table") if "aria-labelledby" in attributes}
    assert named <= set(ids)


def test_every_link_leads_somewhere() -> None:
    outline = Outline(page_text(fake_page()))
    ids = {attributes.get("id") for _, attributes in outline.tags}
    assert [attributes["href"] for attributes in outline.having("a")] == [
        "#findings", "#table", "#figures", "#weights", "#commands", "#notes",
    ]  # fmt: skip
    assert {attributes["href"][1:] for attributes in outline.having("a")} <= ids


@pytest.mark.parametrize("page", [fake_page(), hostile_page()], ids=["made up", "hostile"])
def test_nothing_is_fetched_and_no_handler_stands_in_the_markup(page: Page) -> None:
    outline = Outline(page_text(page))
    for tag, attributes in outline.tags:
        assert not any(name.startswith("on") or name == "style" for name in attributes), tag
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith(("#", "data:"))
    (policy,) = [a["content"] for a in outline.having("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert "http" not in re.sub(r"sha256-\S+", "", policy)
    assert "@import" not in page_text(page)
    assert "url(" not in page_text(page).replace("url(#", "")


def test_text_is_escaped() -> None:
    text = page_text(hostile_page())
    outline = Outline(text)
    # The numbers of the panel and of the history, the style sheet of saved figures, and ours.
    assert [script.get("type") for script in outline.having("script")] == [
        "application/json", "application/json", "text/plain", None,
    ]  # fmt: skip
    assert "alert(1)" in "".join(outline.texts)
    assert "<b onclick" not in text
    shown = "</script><script>alert(1)</script>\"'&<b onclick=x>$title ${x} \ufffd\ufffd\ufffd"
    assert outline.having("button", "key")[0]["data-series"] == shown
    assert {a["data-series"] for a in outline.having("g", "series")} == {shown}


def test_equal_pages_give_equal_files(tmp_path: Path) -> None:
    write_page(tmp_path / "a" / "one.html", fake_page())
    write_page(tmp_path / "two.html", fake_page())
    assert (tmp_path / "a" / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "two.html"]


def test_a_page_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadFile, match=r"^Cannot write "):
        write_page(tmp_path / "file" / "page.html", EMPTY)


def test_empty_sections_are_left_out() -> None:
    outline = Outline(page_text(EMPTY))
    assert outline.having("section") == []
    assert outline.having("a") == []
    outline = Outline(page_text(replace(EMPTY, notes=["n"])))
    assert len(outline.having("section")) == 1


@pytest.mark.parametrize(
    "part",
    [
        panel(),
        panel(lines=[Line("bound", "lower", [1, 2], [3, 4])]),
        panel(series(x=(), mean=())),
        panel(series(x=(5,), mean=(7,))),
        panel(series(mean=(0, -1, NAN))),
        panel(series(mean=(1, NAN, 3), low=(NAN, NAN, -INF), high=(INF, NAN, 9))),
        panel(series(mean=(INF, 1e308, 1e-308), exponent=INF)),
        panel(series(x=(0, NAN, INF))),
        panel(series(mean=(1, 2, 3), low=(-5, 0, 1), exponent=NAN), lines=[Line("far", "upper", [1, 2], [1e30, NAN])]),
        panel(*(series(label=f"{LONG}{i}") for i in range(12))),
        panel(series(x=np.array([1, 2, 3]), mean=np.array([1.0, 2.0, 3.0]))),
    ],
    ids=lambda one: str(len(one.series)),
)
def test_a_panel_is_drawn_with_finite_coordinates(part: Panel, tmp_path: Path) -> None:
    page = replace(EMPTY, panels=[part])
    outline = Outline(page_text(page))
    assert len(outline.having("svg", "chart")) == 1
    _has_finite_coordinates(outline)
    write_figures(tmp_path, page)


@pytest.mark.parametrize(
    "history",
    [
        WeightHistory("t", "none", "A", [], [], [], []),
        WeightHistory("t", "no rounds", "A", [], [[], []], [], [3]),
        WeightHistory("t", "one round", "A", [5], [[0.2], [0.8]], [1], [5, 900]),
        WeightHistory("t", "missing", "A", [0, 1, 2], [[NAN, 0.5, INF], [1.0, NAN, -1.0]], [0, 1, 1], []),
        WeightHistory("t", "arrays", "A", np.arange(3), np.full((2, 3), 0.5), np.array([0, 1, 1]), np.array([1])),
        fake_history("t", LONG, 0.01, n_actions=20),
    ],
    ids=lambda history: history.title,
)
def test_a_weight_history_is_drawn_with_finite_coordinates(history: WeightHistory, tmp_path: Path) -> None:
    page = replace(EMPTY, histories=[history])
    text = page_text(page)
    assert "NaN" not in text.split('application/json">')[1].split("</script>")[0]
    _has_finite_coordinates(Outline(text))
    write_figures(tmp_path, page)


def test_weights_are_stacked_and_missing_ones_count_as_zero() -> None:
    history = WeightHistory("t", "", "", [0, 1, 2], [[NAN, 0.5, INF], [1.0, 0.25, -1.0]], [0, 1, 1], [])
    assert layers(history.weights) == [[0.0, 0.5, 0.0], [1.0, 0.75, 0.0]]


def _has_finite_coordinates(outline: Outline) -> None:
    for tag, attributes in outline.tags:
        for name in ("d", "x", "y", "width", "height", "transform"):
            assert not re.search("nan|inf", attributes.get(name) or ""), (tag, name)


def test_missing_values_are_a_gap_a_dash_and_a_remark() -> None:
    text = page_text(with_panel(series(x=(1, 2, 3, 4, 5), mean=(1, 2, NAN, 0, 5))))
    outline = Outline(text)
    (curve,) = [a["d"] for a in outline.having("path", "curve") if a["d"] != "M1,7H27"]
    assert curve.count("M") == 2
    assert len([a for a in outline.having("path", "point") if a["transform"] != "translate(14,7)"]) == 3
    assert "<td>-</td>" in text
    assert "Not shown: 2 of the values, which are zero, negative or missing." in text


def test_a_bound_at_a_single_value_is_a_visible_dash() -> None:
    outline = Outline(page_text(with_panel(series(), lines=[Line("b", "upper", [1, 10, 100], [NAN, 2, NAN])])))
    (bound,) = [a["d"] for a in outline.having("path", "bound") if a["d"] != "M1,7H27"]
    (left, y), (right, other) = (map(float, place.split(",")) for place in bound.removeprefix("M").split("L"))
    assert right - left > 10
    assert y == other


def test_every_number_of_a_figure_is_in_its_table() -> None:
    page = fake_page()
    text = page_text(page)
    one = page.panels[0]
    details = text.split(f'id="{one.key}"')[1].split("<details>")[1].split("</details>")[0]
    cells = re.findall("<td>(.*?)</td>", details)
    assert len(cells) == sum(4 * len(curve.x) for curve in one.series) + sum(2 * len(line.x) for line in one.lines)
    assert all(curve.label in details for curve in one.series)


def test_rows_without_numbers_have_dashes() -> None:
    row = [Text("c", "w"), Text("A"), "T", "-", "-", Measured(NAN), "-"]
    text = page_text(replace(EMPTY, table=page_table([row])))
    assert 'data-value="nan"' in text
    assert "[" not in "".join(Outline(text).texts).split("World")[-1]


@pytest.mark.parametrize(
    ("multiple", "value"), [("2.1 to 3.4", "2.1"), ("-0.5", "-0.5"), ("1.2e-05 to 3", "1.2e-05"), ("-", "")]
)
def test_a_multiple_is_sorted_by_where_it_starts(multiple: str, value: str) -> None:
    row = [Text("c", "w"), Text("A"), "T", "-", "-", Measured(0.5, 0.4, 0.6), multiple]
    outline = Outline(page_text(replace(EMPTY, table=page_table([row]))))
    (cell,) = [cell for cell in outline.having("td") if cell.get("data-column") == "multiple"]
    assert cell["data-value"] == value


def test_the_numbers_of_a_weight_history_leave_out_no_round() -> None:
    history = WeightHistory("t", "", "A", [0, 10, 20, 30], [[1.0] * 4, [0.0] * 4], [0, 0, 1, 1], [20])
    text = page_text(replace(EMPTY, histories=[history]))
    assert re.findall(r"<tr><td>(\d+)</td><td>(\d+)</td><td>(\d)</td>", text) == [("0", "19", "1"), ("20", "30", "2")]


def test_an_exported_figure_names_its_bounds(tmp_path: Path) -> None:
    lines = [Line("T", kind, [1, 100], [y, y]) for kind, y in (("upper", 9), ("lower", 1))]
    (file,) = write_figures(tmp_path, with_panel(series(), lines=lines))
    text = file.read_text(encoding="utf-8")
    assert ">upper bound T</text>" in text
    assert ">lower bound T</text>" in text


def test_a_series_has_one_style_different_from_its_neighbours() -> None:
    first = panel(*(series(label=f"cited {i}", group="cited") for i in range(9)), series(label="ours"))
    second = panel(series(label="cited 3", group="cited"), series(label="alone", group="cited"), key="q", section="d")
    styles = styles_of([first, second], [SeriesGroup("ours")])
    assert styles["ours"].number == 0
    beside = [styles[one.label] for one in first.series]
    assert len({(style.classes, style.marker) for style in beside}) == len(beside)
    assert styles["alone"].number == 0  # no other series of its section has it


def test_axes_show_measurements_and_leave_out_what_is_far() -> None:
    far = Line("far", "upper", [1, 100], [1e9, 1e9])
    near = Line("near", "upper", [1, 100], [30, 30])
    up = y_scale(panel(series(), lines=[far, near]), 0, 1)
    assert up.at(1) >= 0
    assert up.at(30) <= 1
    assert up.at(1e9) > 1


@pytest.mark.parametrize(("low", "high"), [(1, 1), (2, 64), (1e3, 3e5), (1e-9, 1e9), (3e-4, 5e-4), (1e-299, 1e299)])
def test_axes_have_a_few_ticks_in_order(low: float, high: float) -> None:
    ticks = LogScale.around([low, high], 0.0, 100.0).ticks()
    assert 1 <= len(ticks) <= 7
    places = [LogScale.around([low, high], 0.0, 100.0).at(value) for value, _ in ticks]
    assert places == sorted(places)
    assert all(-1e-9 <= place <= 100 + 1e-9 for place in places)


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_times_that_an_axis_cannot_show_have_no_tick(scale: str, tmp_path: Path) -> None:
    times = {0.0: "before", 1.0: "January", 2.0: "May", 9.0: "after"}
    axis = Axis("round", scale, times=times)
    series = Series("hedge", "", [0.0, 1.0, 2.0], [1.0, 2.0, 3.0], [NAN] * 3, [NAN] * 3)
    panel = Panel("p", "", "title", axis, Axis("regret", scale), [series])
    write_figures(tmp_path, replace(EMPTY, panels=[panel]))
    (file,) = tmp_path.iterdir()
    text = file.read_text()
    assert [name for name in times.values() if f">{name}<" in text] == ["before"] * (scale == "linear") + [
        "January",
        "May",
    ]


def test_ticks_have_short_labels() -> None:
    assert [text for _, text in LogScale(0.0, 1.0, 0, 1).ticks()] == ["1", "2", "5", "10"]
    assert [text for _, text in LogScale(-4.0, -3.5, 0, 1).ticks()] == ["10⁻⁴", "2·10⁻⁴"]
    assert steps(0, 4000) == [0, 1000, 2000, 3000, 4000]
    assert not any(map(LogScale.drawable, (0, -1, NAN, INF)))


@pytest.mark.parametrize(
    ("words", "line", "markup"),
    [
        ("sqrt(K) Gamma", "√K Γ", '√<span class="root">K</span> Γ'),
        ("(Lambda V T)^(1/3)", "(Λ V T)^(1/3)", "(Λ V T)<sup>1/3</sup>"),
        ("K^2 ln(T)", "K^2 ln(T)", "K<sup>2</sup> ln(T)"),
        ("sqrt((A) sqrt(B))", "√((A) √B)", '√<span class="root">(A) √<span class="root">B</span></span>'),
        ("sqrt(Gamma", "√(Γ", "sqrt(Γ"),
        ("T^", "T^", "T^"),
        ("<i>", "<i>", "&lt;i&gt;"),
        ("", "", ""),
    ],
)
def test_rates_are_set_as_formulas(words: str, line: str, markup: str) -> None:
    assert plain(words) == line
    assert formula(words) == f'<span class="maths">{markup}</span>'


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Axis("T", "logarithmic"), "Axis: `scale` must be one of 'linear', 'log', got 'logarithmic'"),
        (lambda: SeriesGroup("ours", "bold"), "SeriesGroup: `style` must be one of 'thick', "),
        (lambda: series(low=(1,)), "Series: `low` must be as long as the 3 values of `x`, "),
        (lambda: Line("l", "above", [], []), "Line: `kind` must be one of 'upper', "),
        (lambda: Line("l", "upper", [1], []), "Line: `y` must be as long as the 1 "),
        (lambda: panel(key="../x"), "Panel: `key` must be lower-case words joined by hyphens, got '../x'"),
        (lambda: panel(series(), series()), "Panel: `series` must be of distinct labels, "),
        (lambda: replace(EMPTY, panels=[panel(), panel()]), "Page: `panels` must be of distinct keys, "),
        (
            lambda: WeightHistory("t", "", "", [0], [[0.5, 0.5]], [0], []),
            "WeightHistory: `weights` must be 1 numbers per action, ",
        ),
        (
            lambda: WeightHistory("t", "", "", [1, 1], [[1, 1]], [0, 0], []),
            "WeightHistory: `rounds` must be increasing, ",
        ),
        (
            lambda: WeightHistory("t", "", "", [0], [[1]], [1], []),
            "WeightHistory: `best` must be actions from 0 to 0, ",
        ),
        (
            lambda: WeightHistory("t", "", "", [0], [[1]], [], []),
            "WeightHistory: `best` must be as long as the 1 `rounds`, ",
        ),
    ],
)
def test_invalid_contents_are_rejected(make, message: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{re.escape(message)}"):
        make()


def test_exported_figures_are_one_file_each_and_the_same_every_time(tmp_path: Path) -> None:
    page = fake_page()
    page = replace(page, panels=page.panels[:1], histories=page.histories[:1])
    written = write_figures(tmp_path / "one", page)
    assert [path.name for path in written] == [f"{page.panels[0].key}.svg", f"{page.histories[0].key}.svg"]
    for path, other in zip(written, write_figures(tmp_path / "two", page), strict=True):
        assert path.read_bytes() == other.read_bytes()


def test_an_exported_figure_is_the_chart_of_the_page_with_a_style_sheet_for_image_viewers(tmp_path: Path) -> None:
    page = fake_page()
    text = page_text(page)
    for part, file in zip([*page.panels, *page.histories], write_figures(tmp_path, page), strict=True):
        svg = file.read_text(encoding="utf-8")
        _, chart = text.split(f'id="{part.key}"><h4', 1)
        chart = chart[chart.index("<svg ") + len("<svg ") : chart.index("</svg>")]
        assert re.sub("<title>.*?</title>", "", chart, flags=re.DOTALL) in svg
        root = ElementTree.fromstring(svg)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        style = root[0].text
        assert not re.search(r"var\(|light-dark|color-mix|--", style)
        known = set(re.findall(r"\.([a-z][\w-]*)", style))
        drawn = {name for one in root.iter() for name in one.get("class", "").split()}
        assert {f"c{i}" for i in range(7)} <= known
        assert drawn - known <= {"series", "swatch", "word", "solid", "across", "up"}  # without a style of their own
