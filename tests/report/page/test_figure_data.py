"""Figures of the page in a real browser: their values by pointer and keys, zoom, and the files they are saved to."""

from __future__ import annotations

import csv
import math
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
from selenium.webdriver import ActionChains, Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from browser import browser, requests, screen
from driftwise.report.page import (
    Axis,
    DotPanel,
    Page,
    Panel,
    RowPanel,
    Series,
    WeightHistory,
    write as write_module,
    write_page,
)
from driftwise.report.page.markup import plain
from driftwise.report.page.write import page_text
from fake_page import fake_page
from plain_page import plain_page

NAN, INF = float("nan"), float("inf")
SECONDS = 20.0  # to wait for a file
SVG = "{http://www.w3.org/2000/svg}"


def page_of_all_kinds() -> Page:
    """Return a page with every kind of figure; its numbers need all of their digits."""
    fake, plain_panels = fake_page(), plain_page().panels
    thirds = Series('one third, "quoted"', "", [1 / 3, 2 / 3], [0.1 + 0.2, NAN], [-1e-9, -INF], [1e22, INF])
    times = {float(t): f"2024-01-{t + 1:02d}" for t in range(5)}
    dated = Series("dated", "", list(times), [1.0, 2.0, 4.0, 3.0, 5.0], [NAN] * 5, [NAN] * 5)
    alone = [Series(name, "", [100.0], [value], [value - 1], [value + 1]) for name, value in (("a", 3.7), ("b", 9.1))]
    cells = ["calm", "switching", "drifting"]
    dots = [
        Series(name, "", [0, 1, 2], [1.1, factor, 2.3], [1.0] * 3, [9.0] * 3) for name, factor in (("a", 4.7), ("b", 8))
    ]
    score = Axis("score", "log")
    panels = [
        fake.panels[0],
        plain_panels[1],
        Panel("thirds", "", "Thirds", Axis("x"), Axis("y"), [thirds]),
        Panel("dated", "", "Dated", Axis("round", times=times), Axis("y"), [dated]),
        RowPanel("rows", "", "Rows", Axis("rounds T"), Axis("regret"), alone),
        DotPanel("dots", "", "Dots", Axis("cell"), score, dots, names=cells, centers=[2.2, 2.7], center_label="mean"),
    ]
    weights = [[0.1 + 0.2, 1 / 3, 1.0], [0.7, 2 / 3, NAN]]
    days = ["2024-01-01", "2024-01-02", "2024-01-03"]
    history = WeightHistory(
        "dated-weights", "W", "A", [0, 10, 20], weights, [0, 1, -1], [10], names=["p", "q"], times=days
    )
    return Page("All kinds", panels=panels, histories=[fake.histories[0], history])


PAGE = page_of_all_kinds()
KEYS = [part.key for part in (*PAGE.panels, *PAGE.histories)]


class Opened(NamedTuple):
    chrome: Chrome
    downloads: Path


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """Open the page once; at the end there is no entry in the log, and no request except that of the page."""
    path, downloads = tmp_path_factory.mktemp("page") / "page.html", tmp_path_factory.mktemp("downloads")
    write_page(path, PAGE)
    with browser(tmp_path_factory.mktemp("profile")) as chrome:
        allowed = {"behavior": "allow", "downloadPath": str(downloads)}
        chrome.execute_cdp_cmd("Browser.setDownloadBehavior", allowed)
        chrome.get("about:blank")
        requests(chrome)
        chrome.get(path.as_uri())
        yield Opened(chrome, downloads)
        assert chrome.get_log("browser") == []
        assert {url.partition(":")[0] for url in requests(chrome)} <= {"file", "data", "blob"}


@pytest.fixture
def page(opened: Opened) -> Chrome:
    """Show the page from its beginning, with every figure as a whole."""
    opened.chrome.refresh()
    return opened.chrome


def the(page: Chrome | WebElement, selector: str) -> WebElement:
    return page.find_element(By.CSS_SELECTOR, selector)


def saved(opened: Opened, key: str, kind: str) -> str:
    """Press a button that saves, and return the text of the file."""
    file = opened.downloads / f"{key}.{kind}"
    file.unlink(missing_ok=True)
    press(opened.chrome, key, kind.upper())
    end = time.monotonic() + SECONDS
    while not file.exists() or not file.stat().st_size:  # it is empty while it is written elsewhere
        assert time.monotonic() < end, f"{file.name} was not saved"
        time.sleep(0.02)
    return file.read_text("utf-8")


def press(page: Chrome, key: str, text: str) -> None:
    script = "[...document.querySelectorAll(`#${arguments[0]} .actions button`)]"
    page.execute_script(f"{script}.find((button) => button.textContent === arguments[1]).click()", key, text)


def rows_of(text: str) -> list[dict[str, str]]:
    lines = list(csv.reader(text.splitlines()))
    assert len({len(line) for line in lines}) == 1
    return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]


def numbers(cells: list[str]) -> list[float]:
    return [float(cell) if cell else NAN for cell in cells]


def assert_same(cells: list[str], values: list[float]) -> None:
    """The cells are the numbers, in every digit; a missing number is an empty cell."""
    assert [repr(number) for number in numbers(cells)] == [repr(float(value)) for value in values]


def said(page: Chrome) -> str:
    return the(page, "#said").get_attribute("textContent")


def ticks(page: Chrome, key: str, side: str = "across") -> list[float]:
    texts = "[...document.querySelectorAll(`#${arguments[0]} .axes .${arguments[1]} text`)]"
    return [float(text) for text in page.execute_script(f"return {texts}.map((one) => one.textContent)", key, side)]


# Saved numbers


def test_a_saved_table_has_every_number_of_the_panel_with_bounds_and_intervals(page: Chrome, opened: Opened) -> None:
    for panel in PAGE.panels[:3]:
        rows = rows_of(saved(opened, panel.key, "csv"))
        assert list(rows[0]) == ["name", "kind", panel.x.label, panel.y.label, "low", "high"]
        for series in panel.series:
            own = [row for row in rows if (row["name"], row["kind"]) == (series.label, "series")]
            columns = {panel.x.label: series.x, panel.y.label: series.mean, "low": series.low, "high": series.high}
            for name, values in columns.items():
                assert_same([row[name] for row in own], list(values))
        for line in panel.lines:
            own = [row for row in rows if (row["name"], row["kind"]) == (plain(line.label), f"{line.kind} bound")]
            assert_same([row[panel.x.label] for row in own], list(line.x))
            assert_same([row[panel.y.label] for row in own], list(line.y))
            assert {row["low"] + row["high"] for row in own} == {""}
        assert len(rows) == sum(len(part.x) for part in (*panel.series, *panel.lines))


def test_a_saved_table_has_times_cells_and_centres(page: Chrome, opened: Opened) -> None:
    dated = rows_of(saved(opened, "dated", "csv"))
    assert [(row["round"], row["time"]) for row in dated] == [(str(t), f"2024-01-{t + 1:02d}") for t in range(5)]
    rows = rows_of(saved(opened, "rows", "csv"))
    assert [(row["name"], row["regret"], row["rounds T"]) for row in rows] == [("a", "3.7", "100"), ("b", "9.1", "100")]
    dots = rows_of(saved(opened, "dots", "csv"))
    points = [(row["name"], row["cell"], float(row["score"])) for row in dots if row["kind"] == "series"]
    assert points[:3] == [("a", "calm", 1.1), ("a", "switching", 4.7), ("a", "drifting", 2.3)]
    assert [(row["name"], row["score"]) for row in dots if row["kind"] == "mean"] == [("a", "2.2"), ("b", "2.7")]


def test_a_saved_table_has_every_weight(page: Chrome, opened: Opened) -> None:
    for history in PAGE.histories:
        rows = rows_of(saved(opened, history.key, "csv"))
        assert_same([row["round"] for row in rows], list(history.rounds))
        for label, weights in zip(history.labels, history.weights, strict=True):
            assert_same([row[f"weight of {label}"] for row in rows], list(weights))
        assert [row["best action"] for row in rows] == [history.labels[k] if k >= 0 else "" for k in history.best]
        assert [row.get("time") for row in rows] == (list(history.times) or [None] * len(rows))


# Saved figures


def test_a_saved_figure_needs_no_page(page: Chrome, opened: Opened) -> None:
    for part in (*PAGE.panels, *PAGE.histories):
        text = saved(opened, part.key, "svg")
        root = ElementTree.fromstring(text)
        assert root.tag == f"{SVG}svg"
        style = root.find(f"{SVG}style").text
        assert "font:" in style
        assert not re.search(r"var\(|light-dark|color-mix|url\((?!#)|@import", text)
        assert {name.split(":")[0] for name in re.findall(r'href="(.*?)"', text)} == set()
        assert "nan" not in text.lower().replace("dominant", "")
        texts = [node.text for node in root.iter(f"{SVG}text")]
        (title,) = [node.text for node in root.iter(f"{SVG}text") if node.get("class") == "title"]
        assert title == (part.title if isinstance(part, Panel) else f"{part.learner}: {part.title}")
        names = [series.label for series in part.series] if isinstance(part, Panel) else part.labels
        assert set(names) <= set(texts)
        clips = {node.get("id") for node in root.iter(f"{SVG}clipPath")}
        assert set(re.findall(r"url\(#(.*?)\)", text)) <= clips


def test_a_saved_figure_has_what_is_shown(page: Chrome, opened: Opened) -> None:
    panel = PAGE.panels[0]
    hidden = panel.series[0].label
    page.execute_script("document.querySelector(`.key[data-series=${arguments[0]}]`).click()", hidden)
    press(page, panel.key, "Zoom in")
    text = saved(opened, panel.key, "svg")
    assert f">{hidden}<" not in text
    assert f">{panel.series[1].label}<" in text
    across = [
        float(node.text) for node in ElementTree.fromstring(text).iterfind(f".//{SVG}g[@class='across']/{SVG}text")
    ]
    assert across == ticks(page, panel.key)
    assert 'class="slope' not in text  # exponents are those of the whole curves


# Values


def test_keys_go_through_the_rounds_and_say_each_value(page: Chrome) -> None:
    panel = PAGE.panels[1]
    chart = the(page, f"#{panel.key} .chart")
    first, second = panel.series[:2]
    chart.send_keys(Keys.ARROW_RIGHT)
    assert page.switch_to.active_element == chart
    assert chart.value_of_css_property("outline-style") == "solid"  # the focus is visible
    assert said(page).startswith(f"{first.label}, rounds = 2000, static regret {first.mean[0]:.4g} [")
    chart.send_keys(Keys.END)
    assert said(page).startswith(f"{first.label}, rounds = 10000, ")
    chart.send_keys(Keys.ARROW_DOWN, Keys.HOME)
    assert said(page).startswith(f"{second.label}, rounds = 2000, ")
    assert the(page, "#tip").text.replace("\n", ", ") == said(page)
    assert the(page, "#said").get_attribute("role") == "status"
    weights = the(page, "#dated-weights .chart")
    weights.send_keys(Keys.END)
    weights.send_keys(Keys.END)
    assert said(page) == "Round 20 (2024-01-03), p: 1.000, q: -"
    the(page, "#dots .chart").send_keys(Keys.ARROW_RIGHT)
    assert said(page) == "a, calm, score 1.1 [1, 9]"


# Zoom


def test_buttons_and_keys_zoom_and_show_all_again(page: Chrome) -> None:
    for key in KEYS:
        if key == "thirds":  # it has one point
            continue
        markup = page.execute_script("return document.querySelector(`#${arguments[0]} .chart`).innerHTML", key)
        press(page, key, "Zoom in")
        zoomed = page.execute_script("return document.querySelector(`#${arguments[0]} .chart`).innerHTML", key)
        assert zoomed != markup
        assert "NaN" not in zoomed
        assert re.match("Shown: .* from .* to ", said(page))
        chart = the(page, f"#{key} .chart")
        chart.send_keys("+")
        chart.send_keys("0")
        assert said(page) == "The whole figure is shown."
        whole = page.execute_script("return document.querySelector(`#${arguments[0]} .chart`).innerHTML", key)
        assert whole == markup


def test_zoom_shows_half_of_each_axis_around_the_last_value(page: Chrome) -> None:
    panel = PAGE.panels[1]
    chart = the(page, f"#{panel.key} .chart")
    chart.send_keys(Keys.ARROW_RIGHT)
    chart.send_keys("+")
    assert max(ticks(page, panel.key)) <= 6200
    assert "rounds from 1680 to " in said(page)
    chart.send_keys(Keys.END)  # the last round is outside: the window moves to it
    assert max(ticks(page, panel.key)) == 10000
    assert said(page).startswith(f"{panel.series[0].label}, rounds = 10000, ")
    before = ticks(page, panel.key, "up")
    chart.send_keys(Keys.SHIFT, Keys.ARROW_UP)
    assert ticks(page, panel.key, "up") != before
    chart.send_keys("-")
    assert said(page) == "The whole figure is shown."


def test_dragging_over_a_part_zooms_to_it(page: Chrome) -> None:
    panel = PAGE.panels[1]
    chart = the(page, f"#{panel.key} .chart")
    page.execute_script("arguments[0].scrollIntoView({ block: 'center' })", chart)
    width, height = chart.size["width"], chart.size["height"]
    drag = ActionChains(page, duration=0).move_to_element(chart).click_and_hold()
    drag.move_by_offset(int(width / 8), int(height / 8)).move_by_offset(int(width / 8), int(height / 8)).perform()
    assert the(page, f"#{panel.key} .selection").is_displayed()
    assert not the(page, "#tip").is_displayed()
    ActionChains(page, duration=0).release().perform()
    assert page.find_elements(By.CSS_SELECTOR, ".selection") == []
    low, high = map(float, re.search(r"rounds from (\S+) to (\S+),", said(page)).groups())
    middle, quarter = (10320 + 1680) / 2, 8640 / 4
    assert low == pytest.approx(middle, rel=0.06)
    assert high - low == pytest.approx(quarter * 520 / 446, rel=0.1)  # a quarter of the chart with its margins
    point = the(page, f"#{panel.key} .series[data-series=hedge] .point")
    assert "out" in point.get_attribute("class").split()  # the first round is not in the part that is shown
    press(page, panel.key, "Show all")
    assert "out" not in point.get_attribute("class").split()


def test_a_click_reads_a_value_and_does_not_zoom(page: Chrome) -> None:
    panel = PAGE.panels[1]
    point = the(page, f"#{panel.key} .series[data-series=hedge] .point")
    page.execute_script("arguments[0].scrollIntoView({ block: 'center' })", point)
    ActionChains(page, duration=0).move_to_element(point).click().perform()
    assert the(page, "#tip").text.startswith("hedge\nrounds = 2000\n")
    assert said(page) == ""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_zoomed_figures_fit_and_can_be_read(page: Chrome, width: int, dark: bool) -> None:
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    with screen(page, width):
        for key in KEYS:
            press(page, key, "Zoom in")
            press(page, key, "Zoom in")
        assert page.execute_script("return document.documentElement.scrollWidth") <= width
        inside = "(t) => { const b = t.getBoundingClientRect(); return b.left >= 0 && b.right <= innerWidth; }"
        assert page.execute_script(
            f"return [...document.querySelectorAll('.chart text, .actions button')].every({inside})"
        )
        for selector in (".actions button", ".chart .across text"):
            front = luminance(the(page, selector).value_of_css_property("fill" if "text" in selector else "color"))
            back = luminance(the(page, "body").value_of_css_property("background-color"))
            assert (max(front, back) + 0.05) / (min(front, back) + 0.05) > 4.5  # WCAG 2.2, contrast of text


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour (WCAG 2.2)."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


# The page as text


def test_the_page_names_its_guide_until_the_documentation_has_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    class Metadata:
        def get_all(self, name: str) -> list[str]:
            assert name == "Project-URL"
            return ["Source, https://example.org/source", "Documentation, https://example.org/docs/"]

    page = replace(Page("t"), guide="sweeps")
    assert "<code>docs/sweeps.md</code>" in page_text(page)
    monkeypatch.setattr(write_module, "metadata", lambda _: Metadata())
    assert '<a href="https://example.org/docs/sweeps.html" rel="noreferrer">' in page_text(page)


def test_guides_are_pages_of_the_documentation() -> None:
    root = Path(__file__).parents[3]
    sources = [*(root / "src").rglob("*.py")]
    guides = {
        name for source in sources for name in re.findall(r'\bguide(?:: str)?\s?=\s?"(.*?)"', source.read_text("utf-8"))
    }
    assert {"landscape", "sweeps", "forecasting"} < guides
    assert all((root / "docs" / f"{name}.md").exists() for name in guides)


def test_infinite_numbers_are_text_in_the_data() -> None:
    assert math.isinf(PAGE.panels[2].series[0].high[1])
    assert "Infinity" not in page_text(PAGE).split("<footer>")[0]
