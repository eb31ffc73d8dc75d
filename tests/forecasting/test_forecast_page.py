"""The page of a report on forecasts in a browser: what it shows under the pointer and with the arrow keys."""

import numpy as np
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from browser import browser, requests, screen
from driftwise.forecasting.forecast_views import write_report_page
from driftwise.forecasting.running_report import report_of

N_ROUNDS = 500
NAMES = ["arima", "ets & theta", "<naive>"]


@pytest.fixture(scope="module")
def report():
    random = np.random.default_rng(3)
    truths = 0.1 * np.cumsum(random.normal(size=N_ROUNDS))
    spread = np.where(np.arange(N_ROUNDS)[:, None] < 200, [0.2, 1.0, 1.5], [1.0, 0.2, 1.5])
    forecasts = truths[:, None] + spread * random.normal(size=(N_ROUNDS, 3))
    weights = np.where(np.arange(N_ROUNDS)[:, None] < 210, [0.7, 0.2, 0.1], [0.1, 0.8, 0.1])
    times = [str(day) for day in np.datetime64("2024-01-01") + np.arange(N_ROUNDS)]
    return report_of(NAMES, "square", forecasts, truths, (weights * forecasts).sum(axis=1), weights, times=times)


@pytest.fixture(scope="module")
def chrome(tmp_path_factory, report):
    folder = tmp_path_factory.mktemp("page")
    write_report_page(folder / "page.html", report, ["driftwise explain forecasts.csv"])
    with browser(folder / "profile") as chrome:
        chrome.get((folder / "page.html").as_uri())
        requested = requests(chrome)
        assert [address for address in requested if not address.startswith(("file:", "data:", "chrome:"))] == []
        yield chrome
        assert chrome.get_log("browser") == []


def read(chrome, selector, across, down):
    """Move the pointer to a position in a chart, from -0.5 to 0.5, and return the text of the reading."""
    chart = chrome.find_element(By.CSS_SELECTOR, selector)
    chrome.execute_script("arguments[0].scrollIntoView({block: 'center'})", chart)
    x, y = int(across * chart.size["width"]), int(down * chart.size["height"])
    ActionChains(chrome).move_to_element_with_offset(chart, x, y).perform()
    return chrome.find_element(By.ID, "tip").text.splitlines()


@pytest.mark.parametrize("width", [1280, 400])
def test_the_weights_under_the_pointer_have_the_names_and_the_time(chrome, report, width):
    with screen(chrome, width):
        lines = read(chrome, "#weights-of-experts .chart", 0.3, 0.0)
    words = lines[0].split()
    assert words[0] == "Round"
    place = report.periods.starts.tolist().index(int(words[1]))
    assert words[2] == f"({report.periods.times[place]})"
    assert lines[1:] == ["best ets & theta: 0.800", "arima: 0.100", "<naive>: 0.100"]


@pytest.mark.parametrize("width", [1280, 400])
def test_the_losses_under_the_pointer_have_the_name_and_the_time(chrome, report, width):
    with screen(chrome, width):
        name, place, value = read(chrome, "#differences .chart", 0.2, -0.1)
    assert name in [*NAMES, "uniform mean"]
    t = int(place.split()[2])
    assert place == f"round = {t} ({report.periods.times[t // report.periods.length]})"
    assert value.startswith("loss so far, minus that of the mixture ")


def test_the_arrow_keys_show_the_mean_loss_of_a_period(chrome, report):
    chart = chrome.find_element(By.CSS_SELECTOR, "#losses .chart")
    chart.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    name, place, value = chrome.find_element(By.ID, "tip").text.splitlines()
    assert (name, place) == ("mixture", f"round = {report.periods.starts[1]} ({report.periods.times[1]})")
    assert value == f"mean square loss {report.periods.mixture[1]:.4g}"
    chart.send_keys(Keys.ESCAPE)


@pytest.mark.parametrize("width", [1280, 800, 400])
def test_nothing_is_wider_than_the_screen(chrome, width):
    with screen(chrome, width):
        assert chrome.execute_script("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("width", "display"), [(1200, "table"), (800, "table"), (400, "block")])
def test_rows_are_cards_on_narrow_screens_only(chrome, width, display):
    with screen(chrome, width):
        assert chrome.find_element(By.CSS_SELECTOR, ".measured").value_of_css_property("display") == display


def test_the_axes_show_times(chrome):
    for chart in ("#losses", "#differences", "#weights-of-experts"):
        texts = [text.text for text in chrome.find_elements(By.CSS_SELECTOR, f"{chart} .axes text.middle")]
        assert texts[-1] == "time"
        assert len(texts) > 3
        assert all(text.startswith(("2024-", "2025-")) for text in texts[:-1])
