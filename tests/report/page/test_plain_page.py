"""The page of any simulations: linear axes, negative numbers, groups and tables of the caller."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from driftwise.core.errors import InvalidInput
from driftwise.report.page import (
    Axis,
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
    write_figures,
)
from driftwise.report.page.markup import by_group, styles_of
from driftwise.report.page.panels import y_scale
from driftwise.report.page.scales import LinearScale
from driftwise.report.page.write import page_text
from plain_page import plain_page

NAN, INF = float("nan"), float("inf")
EMPTY = Page("t")


def series(label="A", x=(0, 1, 2), mean=(-1.0, 0.0, 2.5), group="", exponent=None):
    return Series(label, group, x, mean, [v - 0.5 for v in mean], [v + 0.5 for v in mean], exponent)


def panel(*curves, lines=(), x="linear", y="linear", key="p"):
    return Panel(key, "", "title", Axis("t", x), Axis("regret", y), curves, lines)


def markup(*panels, **fields):
    return page_text(replace(EMPTY, panels=panels, **fields))


def body(text):
    """Return a page without its style sheet and script."""
    return re.sub(r"<(style|script)\b[^>]*>.*?</(style|script)>", "", text, flags=re.DOTALL)


# linear scales


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [
        (0.0, 1.0, ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (-2.6, 2.6, ["-2", "-1", "0", "1", "2"]),
        (-0.03, 0.011, ["-0.03", "-0.02", "-0.01", "0", "0.01"]),
        (-900.0, -100.0, ["-800", "-600", "-400", "-200"]),
        (1000.0, 1000.5, ["1000.0", "1000.1", "1000.2", "1000.3", "1000.4", "1000.5"]),
        (0.0, 3e7, ["0", "10⁷", "2·10⁷", "3·10⁷"]),
        (0.0, 1.3e6, ["0", "0.5·10⁶", "1.0·10⁶"]),
        (-1e-6, 2e-6, ["-10⁻⁶", "0", "10⁻⁶", "2·10⁻⁶"]),
    ],
)
def test_ticks_of_a_linear_scale_are_round_numbers_with_short_text(low, high, texts) -> None:
    assert [text for _, text in LinearScale(low, high, 0, 1).ticks()] == texts


@pytest.mark.parametrize(
    ("low", "high"),
    [(0, 0), (5, 5), (-5, -5), (-3, 7), (0.1, 0.30000001), (1e9, 1e9 + 1), (-1e299, 1e299), (1e-320, 2e-320), (0, 6)],
)
def test_a_linear_scale_covers_its_values_and_has_a_few_ticks_in_order(low: float, high: float) -> None:
    scale = LinearScale.around([low, NAN, high, INF, -INF], 0.0, 100.0)
    assert 0 <= scale.at(low) <= scale.at(high) <= 100
    ticks = scale.ticks()
    places = [scale.at(value) for value, _ in ticks]
    assert 1 <= len(ticks) <= 7
    assert places == sorted(set(places))
    assert all(-1e-9 <= place <= 100 + 1e-9 for place in places)
    assert len({text for _, text in ticks}) == len(ticks)
    assert sum(len(text) + 1 for _, text in ticks) <= 48  # characters that fit below a chart


def test_ticks_between_integers_are_integers() -> None:
    assert [text for _, text in LinearScale.around([1, 3], 0, 1).ticks()] == ["1", "2", "3"]
    assert "1.5" in [text for _, text in LinearScale.around([1, 2.5], 0, 1).ticks()]


def test_on_a_linear_scale_every_finite_number_can_be_drawn() -> None:
    assert all(map(LinearScale.drawable, (0, -1, -0.5, 1e299, -1e299, 1e-320)))
    assert not any(map(LinearScale.drawable, (NAN, INF, -INF)))


def test_a_linear_axis_shows_zero_if_the_measurements_are_near_it() -> None:
    assert y_scale(panel(series(mean=(3, 4, 9))), 0, 1).limits[0] == 0
    assert y_scale(panel(series(mean=(-3, -4, -9))), 0, 1).limits[1] == 0
    assert y_scale(panel(series(mean=(90, 95, 99))), 0, 1).limits[0] > 80
    low, high = y_scale(panel(series(mean=(-3, 4, 9))), 0, 1).limits
    assert low < -3.5
    assert high > 9.5


def test_a_linear_axis_leaves_out_a_bound_that_is_far() -> None:
    far, near = (Line("b", "upper", [0, 2], [y, y]) for y in (1000, 20))
    scale = y_scale(panel(series(mean=(3, 4, 9)), lines=[far, near]), 0, 1)
    assert scale.at(20) <= 1 < scale.at(1000)


# panels


@pytest.mark.parametrize(
    "part",
    [
        panel(),
        panel(series(x=(), mean=())),
        panel(series(x=(5,), mean=(-7,))),
        panel(series(mean=(0, 0, 0))),
        panel(series(mean=(NAN, -INF, INF))),
        panel(series(mean=(-1e299, 0, 1e299))),
        panel(Series("A", "", [0, 1], [1, 2], [-INF, NAN], [2, INF])),
        panel(series(), lines=[Line("b", "lower", [0, 2], [-5, NAN])]),
        panel(series(x=(-1, 0, 1)), x="log"),
        panel(series(), y="log"),
    ],
)
def test_a_linear_panel_is_drawn_with_finite_coordinates(part: Panel, tmp_path: Path) -> None:
    text = markup(part)
    places = re.findall(' (?:d|x|y|width|height|transform)="(.*?)"', text)
    assert places
    assert not [place for place in places if re.search("nan|inf", place)]
    write_figures(tmp_path, replace(EMPTY, panels=[part]))


def test_zero_and_negative_values_are_points_of_a_linear_panel() -> None:
    text = markup(panel(series()))
    assert text.count("<title>A\n") == 3
    assert "<title>A\nt = 0\nregret -1 [-1.5, -0.5]</title>" in text
    assert 'class="zero"' in text
    assert "Not shown" not in text
    assert "Not shown: 1 of the values, which are missing." in markup(panel(series(mean=(-1, NAN, 2))))


def test_zero_is_not_marked_if_all_numbers_are_on_one_side_of_it() -> None:
    assert 'class="zero"' not in markup(panel(series(mean=(1, 2, 3))))


def test_a_point_is_left_out_if_either_coordinate_cannot_be_drawn() -> None:
    text = markup(panel(series(), x="log"))  # x = 0
    assert text.count("<title>A\n") == 2
    assert "Not shown: 1 of the values, which are zero, negative or missing." in text


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        ("linear", "linear", "regret against t, for A"),
        ("log", "linear", "regret against t, the horizontal axis logarithmic, for A"),
        ("linear", "log", "regret against t, the vertical axis logarithmic, for A"),
        ("log", "log", "regret against t, both axes logarithmic, for A"),
    ],
)
def test_the_description_of_a_chart_names_logarithmic_axes(x: str, y: str, said: str) -> None:
    assert f'aria-label="title: {said}"' in markup(panel(series(), x=x, y=y))


def test_without_exponents_no_slope_is_mentioned(tmp_path: Path) -> None:
    page = replace(EMPTY, panels=[panel(series()), panel(series(), x="log", y="log", key="q")])
    assert not re.search("slope|exponent", body(page_text(page)))
    for file in write_figures(tmp_path, page):
        text = file.read_text(encoding="utf-8")
        assert ">A</text>" in text
        assert not re.search(">(slope|exponent)<", text)


def test_a_fitted_power_is_a_slope_only_on_logarithmic_axes() -> None:
    fitted, other = series(exponent=Measured(0.5, 0.4, 0.6)), series("B")
    linear, log = markup(panel(fitted, other)), markup(panel(fitted, other, x="log", y="log"))
    assert "\nexponent 0.50 [0.40, 0.60]</title>" in linear
    assert "slope 0" not in linear
    assert "\nslope 0.50 [0.40, 0.60]</title>" in log
    assert log.count('class="slope end"') == 1  # B has none


def test_a_power_that_could_not_be_fitted_is_a_dash() -> None:
    assert "\nslope -</title>" in markup(panel(series(exponent=Measured(NAN)), x="log", y="log"))


def test_exported_figures_have_the_scales_of_the_panel(tmp_path: Path) -> None:
    panels = [panel(series(), key="linear"), panel(series(x=(1, 10, 100), mean=(1, 20, 300)), x="log", y="log")]
    linear, log = (file.read_text() for file in write_figures(tmp_path, replace(EMPTY, panels=panels)))
    assert ">-1</text>" in linear
    assert ">2</text>" in linear
    assert ">100</text>" in log


# groups


def test_groups_are_in_the_order_of_the_page_and_unknown_ones_last() -> None:
    part = panel(series("a", group="new"), series("b", group="Reference"), series("c", group="ours"), series("d"))
    styles = styles_of([part], [SeriesGroup("ours", "thick"), SeriesGroup("Reference", "baseline")])
    groups = by_group([one.label for one in part.series], styles)
    assert groups == {"ours": ["c"], "Reference": ["b"], "new": ["a"], "": ["d"]}
    assert [styles[label].classes for label in "cbad"] == ["c0 thick", "grey baseline", "c1 solid", "c2 solid"]


def test_a_group_without_a_name_has_none_in_the_legend() -> None:
    text = body(markup(panel(series("a"), series("b", group="<ours>"))))
    assert '<div role="group"><button' in text
    assert '<span class="small">&lt;ours&gt;</span>' in text
    assert 'aria-label="&lt;ours&gt;"' in text


def test_a_section_without_a_name_has_no_heading() -> None:
    assert "<h3>" not in markup(panel(series()))
    assert "<h3>a section</h3>" in markup(replace(panel(series()), section="a section"))


# tables


def rows_of(text):
    """Return the classes, values and contents of the cells of each row."""
    rows = re.findall("<tr.*?</tr>", text.split("<tbody>")[1].split("</tbody>")[0])
    return [re.findall('<td class="(.*?)" .*?data-value="(.*?)"><span>(.*?)</span></td>', row) for row in rows]


def with_table(columns, rows, **fields):
    return body(page_text(replace(EMPTY, table=PageTable(columns, rows, **fields))))


def test_a_page_without_table_filter_or_figures_is_complete() -> None:
    text = with_table([PageColumn("a", "A")], [["x"]])
    assert "<h2>Table</h2>" in text
    assert "<select" not in text
    assert 'id="count"' not in text
    assert 'class="hint"' not in text
    assert "data-filter" not in text
    assert "<table" not in body(page_text(replace(EMPTY, notes=["n"], table=PageTable([PageColumn("a", "A")], []))))


def test_each_kind_of_column_has_its_cells_and_its_order() -> None:
    columns = [
        PageColumn("text", "T"),
        PageColumn("range", "R", order="number"),
        PageColumn("formula", "F", "formula", order="none"),
        PageColumn("number", "N", "number"),
        PageColumn("fixed", "D", "number", decimals=1),
        PageColumn("whisker", "W", "whisker"),
    ]
    text = with_table(columns, [["a<b", "3 to 4", "sqrt(T)", 0.00012345, NAN, Measured(-5, -6, -4)]])
    heads = re.findall("<th (.*?)>", text)
    assert [re.findall('data-order="(.*?)"', head) for head in heads] == [
        ["text"], ["number"], [], ["number"], ["number"], ["number"]
    ]  # fmt: skip
    ((plain, several, formula, number, missing, whisker),) = rows_of(text)
    assert plain == ("text-cell", "a&lt;b", "a&lt;b")
    assert several == ("text-cell one-line unlabelled", "3", "3 to 4")
    assert formula[2].startswith('<span class="maths">√')
    assert number[1:] == ("0.00012345", "0.0001234")
    assert missing[1:] == ("nan", "-")
    assert whisker[1] == "-5"
    assert whisker[2].endswith("</svg>-5 [-6, -4]")


def test_equal_values_are_shown_once_and_only_in_the_columns_that_say_so() -> None:
    columns = [PageColumn("a", "A", once=True), PageColumn("n", "N", "number", once=True), PageColumn("b", "B")]
    rows = rows_of(with_table(columns, [["x", 1, "y"], ["x", 1, "y"], ["x", 2, "y"]]))
    assert [[("same" in classes) for classes, *_ in row] for row in rows] == [
        [False, False, False], [True, True, False], [False, False, False]
    ]  # fmt: skip
    text = with_table([PageColumn("a", "A")], [["x"], ["x"]])
    assert "same" not in text
    assert "goes-on" not in text


def test_ranges_that_start_with_the_same_number_are_different() -> None:
    column = PageColumn("a", "A", once=True, order="number")
    assert "same" not in with_table([column], [["1 to 2"], ["1 to 3"]])


def test_the_filter_offers_each_text_of_its_column_once() -> None:
    columns = [PageColumn("a", "A"), PageColumn("b", "B")]
    rows = [["1", Text("x", "small")], ["2", "y"], ["3", "x"], ["4", ""]]
    text = with_table(columns, rows, filter=Filter("b", "Kind", "All kinds"))
    assert "<label>Kind <select" in text
    assert re.findall('<option value="(.*?)">(.*?)<', text) == [("", "All kinds"), ("x", "x"), ("y", "y")]
    assert re.findall('data-filter="(.*?)"', text) == ["x", "y", "x", ""]


def test_the_name_of_a_series_has_its_line_in_the_table() -> None:
    page = plain_page()
    text = body(page_text(page))
    for cell in rows_of(text):
        assert cell[1][2].startswith("<svg class=")
    assert "swatch" not in body(page_text(replace(page, panels=[])))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PageColumn("A b", ""), "PageColumn: `key` must be lower-case words joined by hyphens, got 'A b'"),
        (lambda: PageColumn("a", "", "image"), "PageColumn: `kind` must be one of 'text', "),
        (lambda: PageColumn("a", "", order="up"), "PageColumn: `order` must be one of "),
        (lambda: PageTable([PageColumn("a", "")] * 2, []), "PageTable: `columns` must be of distinct keys"),
        (lambda: PageTable([PageColumn("a", "")], [["x", "y"]]), "PageTable: `rows` must be of 1 cells each"),
        (
            lambda: PageTable([PageColumn("a", "", "number")], [["1"]]),
            "PageTable: `rows` must be of numbers in the column 'a'",
        ),
        (
            lambda: PageTable([PageColumn("a", "", "number")], [[None]]),
            "PageTable: `rows` must be of numbers in the column 'a'",
        ),
        (lambda: PageTable([PageColumn("a", "")], [[1]]), "PageTable: `rows` must be of texts in the column 'a'"),
        (
            lambda: PageTable([PageColumn("a", "")], [], filter=Filter("b", "")),
            "PageTable: `filter` must be of one of the columns 'a'",
        ),
        (lambda: replace(EMPTY, panels=[panel(key="table")]), "Page: `panels` must be without keys that end in "),
        (
            lambda: replace(EMPTY, panels=[panel(), panel(key="p-clip")]),
            "Page: `panels` must be without keys that end in ",
        ),
        (
            lambda: replace(EMPTY, groups=[SeriesGroup("a"), SeriesGroup("a")]),
            "Page: `groups` must be of distinct names",
        ),
    ],
)
def test_invalid_contents_are_rejected(make, message: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{re.escape(message)}"):
        make()


def test_equal_pages_give_equal_text() -> None:
    assert page_text(plain_page()) == page_text(plain_page())
