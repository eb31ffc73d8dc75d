"""The report page in a real browser. Without one these tests fail: `make browser` installs it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from selenium.webdriver import ActionChains, Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.select import Select

from browser import browser, requests, screen
from driftwise.report.page import write_page
from driftwise.report.tables import number
from fake_page import fake_page
from plain_page import plain_page
from tiny_landscape import tiny_landscape

PAGE = fake_page()
SETTINGS = [cell.text for cell in PAGE.table.column("environment")]
LEARNERS = [cell.text for cell in PAGE.table.column("learner")]
LEARNER = "FixedShare"  # drawn in four of the eight panels


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "page.html"
    write_page(path, PAGE)
    return path.as_uri()


@pytest.fixture(scope="module")
def chrome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with browser(tmp_path_factory.mktemp("profile")) as chrome:
        yield chrome


@pytest.fixture
def page(chrome: Chrome, address: str) -> Iterator[Chrome]:
    """Open the page again; no test may cause a log entry or a network request."""
    chrome.get("about:blank")
    chrome.get_log("browser")
    requests(chrome)
    chrome.get(address)
    yield chrome
    assert chrome.get_log("browser") == []
    assert {url.split("#")[0] for url in requests(chrome)} <= {address, "data:,"}


def all_of(page: Chrome | WebElement, selector: str) -> list[WebElement]:
    return page.find_elements(By.CSS_SELECTOR, selector)


def the(page: Chrome | WebElement, selector: str) -> WebElement:
    return page.find_element(By.CSS_SELECTOR, selector)


# One request instead of hundreds: the boxes of everything that is drawn, as [width, height].
BOXES = """
const boxes = (inside, selector) => [...inside.querySelectorAll(selector)].map((shape) => {
  const { width, height } = shape.getBoundingClientRect();
  return [width, height];
});
return Object.fromEntries([...document.querySelectorAll("figure")].map((figure) => [figure.id, {
  chart: boxes(figure, ".chart"),
  curves: boxes(figure, ".chart .curve"),
  bands: boxes(figure, ".chart .band"),
  points: boxes(figure, ".chart .point"),
  bounds: boxes(figure, ".chart .bound"),
  areas: boxes(figure, ".chart > .area"),
  strip: boxes(figure, ".strip rect"),
  changes: boxes(figure, ".changes path"),
}]));
"""


def assert_pictures_are_drawn(page: Chrome) -> None:
    drawn = page.execute_script(BOXES)
    assert set(drawn) == {part.key for part in (*PAGE.panels, *PAGE.histories)}
    for boxes in drawn.values():
        ((width, height),) = boxes["chart"]
        assert width > 300
        assert height > 150
        for name in ("curves", "bands", "bounds", "areas"):
            assert all(width > 10 and height > 5 for width, height in boxes[name])
        assert all(min(box) > 3 for box in boxes["points"])
    for panel in PAGE.panels:
        boxes = drawn[panel.key]
        assert len(boxes["curves"]) == len(boxes["bands"]) == len(panel.series)
        assert len(boxes["points"]) == sum(len(series.x) for series in panel.series)
        assert len(boxes["bounds"]) == len(panel.lines)
    for history in PAGE.histories:
        boxes = drawn[history.key]
        assert len(boxes["areas"]) == len(history.weights)
        assert len(boxes["changes"]) == 4
        assert len(boxes["strip"]) == 5


SHOWN = """
const seen = (group) => group.getBoundingClientRect().width > 0;
return Object.fromEntries([...document.querySelectorAll(".panel")].map((panel) => [panel.id,
  [...panel.querySelectorAll(".series")].filter(seen).map((group) => group.dataset.series)]));
"""


def shown(page: Chrome) -> dict[str, set[str]]:
    """Return the learners that are visible in each panel."""
    return {key: set(learners) for key, learners in page.execute_script(SHOWN).items()}


def all_learners() -> dict[str, set[str]]:
    return {panel.key: {series.label for series in panel.series} for panel in PAGE.panels}


def all_but(learner: str) -> dict[str, set[str]]:
    return {key: labels - {learner} for key, labels in all_learners().items()}


LINES = """
return [...document.querySelectorAll(`.measured td[data-column=${arguments[0]}]`)]
  .filter((cell) => cell.checkVisibility()).map((cell) => cell.dataset.value);
"""


def lines(page: Chrome, column: str) -> list[str]:
    """Return a column of the table, for the visible lines."""
    return page.execute_script(LINES, column)


def point_at(page: Chrome, shape: WebElement, right: int = 0, down: int = 0) -> None:
    """Move the pointer to the middle of a shape, or beside it."""
    page.execute_script("arguments[0].scrollIntoView({ block: 'center' })", shape)
    ActionChains(page, duration=0).move_to_element_with_offset(shape, right, down).perform()


def background(page: Chrome) -> list[int]:
    """Return the background colour of the page as red, green, blue."""
    colour = the(page, "body").value_of_css_property("background-color")
    return [int(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]


def test_every_panel_and_every_weight_history_is_drawn(page: Chrome) -> None:
    assert_pictures_are_drawn(page)


def test_pointing_at_a_value_reads_it_out(page: Chrome) -> None:
    panel = PAGE.panels[0]
    series = panel.series[2]
    group = the(page, f"#{panel.key} .series[data-series={series.label}]")
    for j in (0, len(series.x) - 1):
        point_at(page, all_of(group, ".point")[j])
        said = the(page, "#tip").text.split("\n")
        assert said[0] == series.label
        assert said[1] == f"{panel.x.label} = {series.x[j]}"
        figures = f"{number(series.mean[j])} [{number(series.low[j])}, {number(series.high[j])}]"
        assert said[2] == f"{panel.y.label} {figures}"
        exponent, low, high = series.exponent
        assert said[3] == f"slope {exponent:.2f} [{low:.2f}, {high:.2f}]"
    point_at(page, the(page, "h1"))
    assert not the(page, "#tip").is_displayed()


def test_pointing_beside_a_value_reads_the_nearest(page: Chrome) -> None:
    panel = PAGE.panels[0]
    best = panel.series[0]  # the lowest curve: no other is below it
    point = all_of(page, f"#{panel.key} .series[data-series={best.label}] .point")[1]
    point_at(page, point, right=4, down=18)
    assert the(page, "#tip").text.split("\n")[:2] == [best.label, f"{panel.x.label} = {best.x[1]}"]


def test_pointing_at_a_weight_history_reads_the_weights(page: Chrome) -> None:
    history = PAGE.histories[0]
    point_at(page, the(page, f"#{history.key} .chart"))
    said = the(page, "#tip").text.split("\n")
    i = history.rounds.index(int(said[0].removeprefix("Round ")))
    assert abs(i - len(history.rounds) / 2) < 0.1 * len(history.rounds)
    action = history.best[i]
    assert said[1] == f"best action {action + 1}: {history.weights[action][i]:.3f}"


def test_arrow_keys_read_values_too(page: Chrome) -> None:
    panel = PAGE.panels[0]
    chart = the(page, f"#{panel.key} .chart")
    chart.send_keys(Keys.ARROW_RIGHT)
    first, second = panel.series[:2]
    assert the(page, "#tip").text.split("\n")[:2] == [first.label, f"{panel.x.label} = {first.x[0]}"]
    chart.send_keys(Keys.ARROW_RIGHT)
    assert the(page, "#tip").text.split("\n")[1] == f"{panel.x.label} = {first.x[1]}"
    chart.send_keys(Keys.ARROW_DOWN)
    assert the(page, "#tip").text.split("\n")[:2] == [second.label, f"{panel.x.label} = {second.x[1]}"]
    chart.send_keys(Keys.ESCAPE)
    assert not the(page, "#tip").is_displayed()


def test_a_learner_is_hidden_everywhere_and_in_the_link(page: Chrome, address: str) -> None:
    assert shown(page) == all_learners()
    keys = all_of(page, f".key[data-series={LEARNER}]")
    assert len(keys) == 2  # it plays in two settings
    keys[0].click()
    assert shown(page) == all_but(LEARNER)
    assert {key.get_attribute("aria-pressed") for key in keys} == {"false"}
    assert page.current_url == f"{address}#hide={LEARNER}"
    keys[1].click()
    assert shown(page) == all_learners()
    assert {key.get_attribute("aria-pressed") for key in keys} == {"true"}
    assert page.current_url == address


def test_a_legend_responds_to_the_keyboard(page: Chrome) -> None:
    key = the(page, f".key[data-series={LEARNER}]")
    key.send_keys(Keys.SPACE)
    assert shown(page) == all_but(LEARNER)
    key.send_keys(Keys.ENTER)
    assert shown(page) == all_learners()


def test_a_hidden_learner_is_not_read_out(page: Chrome) -> None:
    panel = PAGE.panels[0]
    first = panel.series[0]
    point = the(page, f"#{panel.key} .series[data-series={first.label}] .point")
    point_at(page, point)
    assert the(page, "#tip").text.startswith(first.label)
    page.execute_script("document.querySelector(arguments[0]).click()", f".key[data-series={first.label}]")
    ActionChains(page, duration=0).move_by_offset(1, -1).perform()
    assert the(page, "#tip").text.split("\n")[0] == panel.series[1].label  # the next curve above


def test_a_link_brings_a_view_back(page: Chrome, address: str) -> None:
    cell = SETTINGS[0]
    link = f"{address}#hide={LEARNER}&hide=unknown&filter={cell.replace(' ', '+')}&sort=exponent&order=descending"
    page.get("about:blank")
    page.get(link)
    assert shown(page) == all_but(LEARNER)
    assert len(lines(page, "exponent")) == 12
    exponents = [float(value) for value in lines(page, "exponent")]
    assert exponents == sorted(exponents, reverse=True)
    page.get(address + "#")  # the address changes under the open page
    assert shown(page) == all_learners()


def test_links_on_the_page_keep_the_view(page: Chrome, address: str) -> None:
    the(page, f".key[data-series={LEARNER}]").click()
    link = the(page, "nav a[href='#notes']")
    link.click()
    assert page.current_url == f"{address}#hide={LEARNER}"
    assert page.execute_script("return scrollY") > 1000


def test_the_table_is_filtered_by_setting(page: Chrome) -> None:
    assert len(lines(page, "learner")) == len(LEARNERS)
    cell = SETTINGS[-1]
    Select(the(page, "#filter")).select_by_value(cell)
    assert lines(page, "learner") == [name for name, setting in zip(LEARNERS, SETTINGS, strict=True) if setting == cell]
    assert the(page, "#count").text == f"12 of {len(LEARNERS)} rows"
    Select(the(page, "#filter")).select_by_value("")
    assert len(lines(page, "learner")) == len(LEARNERS)


def test_the_table_is_sorted_up_down_and_back(page: Chrome) -> None:
    printed = lines(page, "exponent")
    head = the(page, "th[data-sort=exponent]")
    the(head, "button").click()
    assert [float(v) for v in lines(page, "exponent")] == sorted(map(float, printed))
    assert head.get_attribute("aria-sort") == "ascending"
    the(head, "button").click()
    assert [float(v) for v in lines(page, "exponent")] == sorted(map(float, printed), reverse=True)
    assert head.get_attribute("aria-sort") == "descending"
    the(head, "button").click()
    assert lines(page, "exponent") == printed
    assert head.get_attribute("aria-sort") is None
    the(page, "th[data-sort=multiple] button").click()
    starts = [float(value) for value in lines(page, "multiple")]
    assert max(starts) >= 10 > min(starts)  # as words they would come in another order
    assert starts == sorted(starts)
    the(page, "th[data-sort=learner] button").click()
    assert lines(page, "learner") == sorted(LEARNERS, key=str.lower)


def test_a_sorted_table_repeats_the_setting_in_every_line(page: Chrome) -> None:
    environment = all_of(page, ".measured td[data-column=environment] > span")[1]  # same as above: not shown again
    assert environment.size["width"] <= 1
    the(page, "th[data-sort=exponent] button").click()
    assert all(span.size["width"] > 50 for span in all_of(page, ".measured td[data-column=environment] > span"))


def test_dark_mode_can_be_switched_on_and_off(page: Chrome) -> None:
    button = the(page, "#theme")
    assert button.get_attribute("aria-pressed") == "false"
    assert min(background(page)) > 200
    button.click()
    assert max(background(page)) < 60
    assert button.get_attribute("aria-pressed") == "true"
    page.refresh()
    assert max(background(page)) < 60  # it is remembered
    the(page, "#theme").click()
    assert min(background(page)) > 200


def test_the_numbers_of_a_panel_open(page: Chrome) -> None:
    details = the(page, f"#{PAGE.panels[0].key} details")
    assert not the(details, "table").is_displayed()
    the(details, "summary").click()
    assert the(details, "table").is_displayed()
    assert the(details, "tbody th").text.startswith(PAGE.panels[0].series[0].label)


@pytest.mark.parametrize("width", [360, 800, 1280])
def test_no_width_makes_the_page_scroll_sideways_or_labels_leave_it(page: Chrome, width: int) -> None:
    with screen(page, width):
        assert page.execute_script("return document.documentElement.scrollWidth") <= width
        out = "(t) => { const b = t.getBoundingClientRect(); return b.left < 0 || b.right > innerWidth; }"
        assert page.execute_script(f"return [...document.querySelectorAll('.chart text')].filter({out}).length") == 0
        assert page.execute_script(OVERLAPS) == []


# Labels of one chart whose boxes share more than a sliver.
OVERLAPS = """
const met = [];
for (const chart of document.querySelectorAll(".chart")) {
  const boxes = [...chart.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
  boxes.forEach(([one, a], i) => boxes.slice(i + 1).forEach(([other, b]) => {
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (across > 1 && down > 0.3 * Math.min(a.height, b.height)) met.push([one, other]);
  }));
}
return met;
"""


def test_a_measured_landscape_is_drawn_and_responds(chrome: Chrome, tmp_path: Path) -> None:
    names = ["optimistic-gd", "sleeping-optimistic-adapt-ml-prod", "hedge", "rerun-ucbv", "ucb1"]
    _, measured = tiny_landscape(tmp_path / "measurements", ["full-switching", "bandit-switching"], names)
    path = tmp_path / "landscape.html"
    write_page(path, measured)
    chrome.get("about:blank")
    chrome.get_log("browser")
    requests(chrome)
    chrome.get(path.as_uri())

    drawn = chrome.execute_script(BOXES)
    assert set(drawn) == {part.key for part in (*measured.panels, *measured.histories)}
    assert all(width > 300 and height > 150 for boxes in drawn.values() for width, height in boxes["chart"])
    for panel in measured.panels:
        boxes = drawn[panel.key]
        assert len(boxes["points"]) == sum(len(series.x) for series in panel.series)
        assert len(boxes["curves"]) == len(boxes["bands"]) == len(panel.series)
        assert len(boxes["bounds"]) == len(panel.lines)
        assert all(width > 10 for name in ("curves", "bounds") for width, _ in boxes[name])
        # Runs that are all equal have no interval, so no band.
        has_band = [not all(math.isnan(low) for low in series.low) for series in panel.series]
        assert [width > 10 for width, _ in boxes["bands"]] == has_band
    for history in measured.histories:
        assert len(drawn[history.key]["areas"]) == len(history.weights)
        assert len(drawn[history.key]["changes"]) == len(history.change_points)
        assert drawn[history.key]["strip"]
    assert len(lines(chrome, "learner")) == len(measured.table.rows)
    assert chrome.execute_script(OVERLAPS) == []

    all_learners = {panel.key: {series.label for series in panel.series} for panel in measured.panels}
    assert shown(chrome) == all_learners
    the(chrome, ".key[data-series=hedge]").click()
    assert shown(chrome) == {key: labels - {"hedge"} for key, labels in all_learners.items()}

    assert chrome.get_log("browser") == []
    assert {url.split("#")[0] for url in requests(chrome)} <= {path.as_uri(), "data:,"}


def test_a_page_with_linear_axes_is_drawn_and_responds(chrome: Chrome, tmp_path: Path) -> None:
    plain = plain_page()
    path = tmp_path / "plain.html"
    write_page(path, plain)
    chrome.get("about:blank")
    chrome.get_log("browser")
    requests(chrome)
    chrome.get(path.as_uri())

    drawn = chrome.execute_script(BOXES)
    for panel in plain.panels:
        boxes = drawn[panel.key]
        assert len(boxes["points"]) == sum(len(series.x) for series in panel.series)
        assert len(boxes["curves"]) == len(boxes["bands"]) == len(panel.series)
        assert all(width > 300 for name in ("curves", "bands", "bounds") for width, _ in boxes[name])
    panel = plain.panels[1]
    last = all_of(chrome, f"#{panel.key} .series[data-series=hedge] .point")[-1]
    point_at(chrome, last)
    name, at, regret = the(chrome, "#tip").text.split("\n")  # no line about a slope
    assert (name, at) == ("hedge", "rounds = 10000")
    assert regret.startswith("static regret -")
    for width in (360, 800, 1280):
        with screen(chrome, width):
            assert chrome.execute_script("return document.documentElement.scrollWidth") <= width
            assert chrome.execute_script(OVERLAPS) == []

    the(chrome, "th[data-sort=regret] button").click()
    regrets = [float(value) for value in lines(chrome, "regret")]
    assert regrets[0] < 0 < regrets[-1]
    assert regrets == sorted(regrets)
    Select(the(chrome, "#filter")).select_by_value(panel.title)
    assert set(lines(chrome, "environment")) == {panel.title}
    the(chrome, ".key[data-series='uniform weights']").click()
    assert all("uniform weights" not in labels for labels in shown(chrome).values())
    assert chrome.current_url.endswith("#hide=uniform+weights&filter=sinusoid%2C+2+actions&sort=regret&order=ascending")

    assert chrome.get_log("browser") == []
    assert {url.split("#")[0] for url in requests(chrome)} <= {path.as_uri(), "data:,"}


def test_a_table_without_a_filter_is_sorted(chrome: Chrome, tmp_path: Path) -> None:
    path = tmp_path / "unfiltered.html"
    page = plain_page()
    write_page(path, replace(page, panels=[], table=replace(page.table, filter=None)))
    chrome.get("about:blank")
    chrome.get_log("browser")
    chrome.get(path.as_uri())
    the(chrome, "th[data-sort=seconds] button").click()
    assert lines(chrome, "seconds") == sorted(lines(chrome, "seconds"), key=float)
    assert chrome.get_log("browser") == []


def test_print_does_not_use_the_layout_of_narrow_screens(page: Chrome) -> None:
    width = 717  # of A4, without the margins
    light = [{"name": "prefers-color-scheme", "value": "light"}]
    with screen(page, width, 1000):
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": light})
        assert page.execute_script("return document.documentElement.scrollWidth") <= width
        assert the(page, ".measured").value_of_css_property("display") == "table"
        assert the(page, ".measured thead th").size["height"] > 10
        # Room for the longest word of a name, so that it is not broken anywhere.
        assert min(cell.size["width"] for cell in all_of(page, ".measured td[data-column=learner]")) > 100
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": light})


def test_without_scripts_the_pictures_and_the_table_are_there(tmp_path: Path, address: str) -> None:
    with browser(tmp_path / "profile", scripts=False, dark=True) as chrome:
        chrome.get(address)
        assert_pictures_are_drawn(chrome)
        assert len(lines(chrome, "learner")) == len(LEARNERS)
        assert not the(chrome, "#theme").is_displayed()  # controls that need the script are hidden
        assert not the(chrome, ".tools").is_displayed()
        assert not any(key.is_enabled() for key in all_of(chrome, ".key"))
        title = the(chrome, f"#{PAGE.panels[0].key} .point title").get_attribute("textContent")
        assert title.startswith(PAGE.panels[0].series[-1].label)
        assert max(background(chrome)) < 60  # follows the reader's preference for dark mode
        assert [entry for entry in chrome.get_log("browser") if "JavaScript" not in entry["message"]] == []


def test_a_machine_without_a_browser_fails_with_advice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(pytest.fail.Exception, match="run `make browser`"), browser(tmp_path):
        pass
