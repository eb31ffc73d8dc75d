"""Panels with a row of dots for each series: their contents, the page, separate figures, and a real browser."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.common.by import By

from browser import browser, screen
from driftwise.core.errors import InvalidInput
from driftwise.report.page import (
    Axis,
    DotPanel,
    Line,
    Page,
    PageColumn,
    PageTable,
    Series,
    SeriesGroup,
    write_figures,
    write_page,
)
from driftwise.report.page.panels import heights
from driftwise.report.page.write import page_text

NAMES = ["calm", "switching", "drifting"]


def series(label="mine", group="Default", values=(1.0, 4.0, 2.0), x=(0, 1, 2)):
    return Series(label, group, x, values, [0.9 * value for value in values], [1.1 * value for value in values])


def panel(*rows, centers=None, names=NAMES, lines=(), scale="log"):
    centers = [2.0] * len(rows) if centers is None else centers
    return DotPanel(
        "dots", "", "Scores", Axis("cell"), Axis("score", scale), rows, lines,
        names=names, centers=centers, center_label="geometric mean", rules=[1.0],
    )  # fmt: skip


def page_of(*panels, **fields):
    return Page("Study", panels=panels, groups=[SeriesGroup("Default"), SeriesGroup("Other", "baseline")], **fields)


OTHER = series("other", "Other", (3.0, math.nan, 9.0))


def test_every_value_is_a_dot_that_says_where_it_was_measured():
    text = page_text(page_of(panel(series(), OTHER)))
    chart = text[text.index('<svg class="chart"') :]
    chart = chart[: chart.index("</svg>")]
    assert chart.count('class="point dot"') == 5  # one value is missing
    assert "<title>mine\nswitching\nscore 4 [3.6, 4.4]</title>" in chart
    assert chart.count('class="center"') == 2
    assert chart.count(">2.00</text>") == 2
    assert "Not shown: 1 of the values" in text


def test_dots_are_in_the_order_of_their_values_and_inside_their_row():
    text = page_text(page_of(panel(series())))
    places = [(float(x), float(y)) for x, y in re.findall(r'class="point dot".*?translate\((.*?),(.*?)\)', text)]
    assert [x for x, _ in places] == sorted(x for x, _ in places)
    assert max(y for _, y in places) - min(y for _, y in places) <= 9
    assert all(-0.5 <= height < 0.5 for height in heights(500))
    assert min(abs(a - b) for a, b in zip(heights(500), heights(500)[1:], strict=False)) > 0.3


def test_the_numbers_are_the_centre_and_the_range_of_each_row():
    text = page_text(page_of(panel(series(), centers=[2.5])))
    numbers = text[text.index("<details>") : text.index("</details>")]
    assert re.findall("<td>(.*?)</td>", numbers) == ["2.5", "1", "4", "3"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: panel(series(x=(0, 1, 3))), "DotPanel: `names` must be one for each value of `x` of a series"),
        (lambda: panel(series(), centers=[]), "DotPanel: `centers` must be as long as the 1 series"),
        (lambda: panel(series(), lines=[Line("T", "upper", [1.0], [1.0])]), "DotPanel: `lines` must be absent"),
    ],
)
def test_bad_dots_are_rejected(make, message):
    with pytest.raises(InvalidInput, match=re.escape(message)):
        make()


@pytest.mark.parametrize("part", [panel(), panel(OTHER, centers=[math.nan]), panel(series(), scale="linear")])
def test_dots_are_drawn_with_finite_coordinates(part, tmp_path):
    places = re.findall(' (?:d|x|y|transform)="(.*?)"', page_text(page_of(part)))
    assert not [place for place in places if re.search("nan|inf", place)]
    write_figures(tmp_path, page_of(part))
    assert (tmp_path / "dots.svg").stat().st_size > 0


def test_a_separate_figure_has_a_row_of_dots_for_each_series(tmp_path):
    dots = panel(series(), OTHER)
    (file,) = write_figures(tmp_path, page_of(dots))
    text = file.read_text(encoding="utf-8")
    assert re.findall('class="row">(.*?)</text>', text) == ["other", "mine"]  # the first is drawn last
    assert text.count('class="point dot"') == 5


def test_figures_may_be_above_the_table():
    table = PageTable([PageColumn("name", "Name")], [["x"]])
    page = page_of(panel(series()), table=table)
    for one, expected in ((page, ["table", "figures"]), (replace(page, figures_first=True), ["figures", "table"])):
        assert re.findall('<section id="(.*?)"', page_text(one)) == expected


def test_dots_can_be_read_in_a_browser(tmp_path: Path):
    path = tmp_path / "page.html"
    write_page(path, page_of(panel(series(), OTHER)))
    with browser(tmp_path / "profile") as chrome:
        chrome.get(path.as_uri())
        chart = chrome.find_element(By.CSS_SELECTOR, "#dots .chart")
        chart.send_keys(Keys.ARROW_RIGHT)  # the first dot of the first row
        chart.send_keys(Keys.ARROW_RIGHT)
        assert chrome.find_element(By.ID, "tip").text.split("\n") == ["mine", "drifting", "score 2 [1.8, 2.2]"]
        dot = chrome.find_elements(By.CSS_SELECTOR, "#dots .series[data-series=other] .dot")[-1]
        ActionChains(chrome, duration=0).move_to_element(dot).perform()
        assert chrome.find_element(By.ID, "tip").text.split("\n") == ["other", "drifting", "score 9 [8.1, 9.9]"]
        for width in (360, 1280):
            with screen(chrome, width):
                assert chrome.execute_script("return document.documentElement.scrollWidth") <= width
        assert chrome.get_log("browser") == []
