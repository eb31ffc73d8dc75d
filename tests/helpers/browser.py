"""A real browser for the tests: Chromium without a window, driven by its own driver, without network access."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from selenium.webdriver import Chrome, ChromeOptions, ChromeService
from selenium.webdriver.support.ui import WebDriverWait

FLAGS = [
    "--headless=new",
    "--no-sandbox",  # continuous integration runs as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--window-size=1280,900",
]
FORBIDDEN = 2  # Chromium's word for a setting that is off


@contextmanager
def browser(profile: Path, scripts: bool = True, dark: bool = False) -> Iterator[Chrome]:
    """Start a browser with a profile of its own, and end it."""
    binary, driver = (_found(name) for name in ("chromium", "chromedriver"))
    options = ChromeOptions()
    options.binary_location = binary
    for flag in [*FLAGS, f"--user-data-dir={profile}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    if not scripts:
        options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": FORBIDDEN})
    chrome = Chrome(options=options, service=ChromeService(driver))
    try:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        yield chrome
    finally:
        chrome.quit()


def _found(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.fail(f"These tests need {name}, which is not on the PATH: run `make browser`.", pytrace=False)
    return path


def requests(chrome: Chrome) -> list[str]:
    """Return the addresses that pages have requested since the last call."""
    messages = [json.loads(entry["message"])["message"] for entry in chrome.get_log("performance")]
    return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


# Calls back when two frames were drawn: the first one after a change may still have the old layout.
DRAWN = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))"


@contextmanager
def screen(chrome: Chrome, width: int, height: int = 800) -> Iterator[None]:
    """Show the page on a screen of this size, and wait until it has it."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        WebDriverWait(chrome, 20, 0.05).until(lambda page: page.execute_script("return innerWidth") == width)
        chrome.execute_async_script(DRAWN)
        yield
    finally:
        chrome.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
