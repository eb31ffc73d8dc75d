"""Opens every page of the built site in Chromium, from disk: `make site`.

On each page: formulas are rendered without an error, the console has no errors or warnings, no request leaves the disk,
and nothing is wider than the screen at 390 and 1280 px, light and dark. Then the search must find "Fixed Share".

`python docs/builder/browser_check.py out/docs --pictures FOLDER PAGE ...` also takes pictures of these pages.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "helpers"))

from selenium.webdriver import Chrome
from selenium.webdriver.support.ui import WebDriverWait

from browser import browser, requests, screen

WIDTHS = (390, 1280)
SOUGHT, FOUND = "Fixed Share", "reference/learners/fixed-share.html"
# A page without formulas does not load MathJax.
_READY = "return !(window.MathJax && MathJax.startup) || !!window.formulasDone"
_WAIT = "if (window.MathJax && MathJax.startup) MathJax.startup.promise.then(() => { window.formulasDone = true })"
_FORMULAS = """return [document.querySelectorAll('mjx-container').length,
 document.querySelectorAll('span.math.notranslate, div.math.notranslate').length,
 document.querySelectorAll('mjx-merror, [data-mjx-error]').length]"""
_WIDEST = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
_RESULTS = "return [...document.querySelectorAll('#search-results li a')].map(link => link.getAttribute('href'))"


def main() -> None:
    """Check the site that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("pages", nargs="*", help="pages to take pictures of, such as index.html")
    parser.add_argument("--pictures", type=Path, help="folder for pictures of these pages")
    given = parser.parse_intermixed_args()
    site = given.site.resolve()
    faults: list[str] = []
    for dark in (False, True):
        with tempfile.TemporaryDirectory() as profile, browser(Path(profile), dark=dark) as chrome:
            if given.pictures:
                take_pictures(chrome, site, given.pages, given.pictures, "dark" if dark else "light")
            else:
                faults += check_pages(chrome, site, dark)
                faults += check_search(chrome, site)
    print("\n".join(faults) or "No faults.")
    sys.exit(bool(faults))


def check_pages(chrome: Chrome, site: Path, dark: bool) -> list[str]:
    """Return the faults of all pages."""
    pages = sorted(p for p in site.rglob("*.html") if not {"_static", "_code"} & set(p.relative_to(site).parts))
    pages = pages if not dark else pages[::10]  # formulas and links are the same
    n_formulas, faults = 0, []
    chrome.get("about:blank")
    requests(chrome)  # those of the browser's own first page
    for done, page in enumerate(pages, 1):
        name = page.relative_to(site).as_posix()
        print(f"\r{done}/{len(pages)} {name:<70.70}", end="", file=sys.stderr)
        open_page(chrome, page)
        rendered, written, errors = chrome.execute_script(_FORMULAS)
        n_formulas += rendered
        if rendered != written or errors:
            faults.append(f"{name}: {rendered} of {written} formulas rendered, {errors} with an error")
        for width in WIDTHS:
            with screen(chrome, width):
                if (excess := chrome.execute_script(_WIDEST)) > 0:
                    faults.append(f"{name}: {excess} px wider than a screen of {width} px")
        logged = [entry for entry in chrome.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
        faults += [f"{name}: console: {entry['message']}" for entry in logged]
        outside = [url for url in requests(chrome) if urlsplit(url).scheme not in ("file", "data", "about", "blob")]
        faults += [f"{name}: requested {url}" for url in outside]
    scheme = "dark" if dark else "light"
    print(f"\r{scheme}: {len(pages)} pages, {n_formulas} formulas rendered, {len(faults)} faults{' ' * 50}")
    return faults


def check_search(chrome: Chrome, site: Path) -> list[str]:
    """Return a fault if the search does not find a learner by its name."""
    chrome.get((site / "search.html").as_uri() + "?q=" + SOUGHT.replace(" ", "+"))
    try:
        WebDriverWait(chrome, 20, 0.1).until(lambda page: page.execute_script(_RESULTS))
        time.sleep(1.0)  # results are shown one by one
        found = [urlsplit(link).path for link in chrome.execute_script(_RESULTS)]
    except Exception as error:  # whatever the driver raises when nothing appears
        return [f"search: no result for {SOUGHT} ({type(error).__name__})"]
    place = found.index(FOUND) + 1 if FOUND in found else 0
    print(f"search for {SOUGHT!r}: {len(found)} pages; {FOUND} is number {place}")
    return [] if place == 1 else [f"search: {FOUND} is not the first result for {SOUGHT}"]


def open_page(chrome: Chrome, page: Path) -> None:
    """Open a page and wait for its formulas."""
    chrome.get(page.as_uri())
    chrome.execute_script(_WAIT)
    WebDriverWait(chrome, 30, 0.05).until(lambda shown: shown.execute_script(_READY))


def take_pictures(chrome: Chrome, site: Path, pages: list[str], folder: Path, scheme: str) -> None:
    """Write pictures of pages at both widths."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in pages:
        for width in WIDTHS:
            with screen(chrome, width, 1000):
                open_page(chrome, site / name)
                chrome.save_screenshot(
                    str(folder / f"{name.removesuffix('.html').replace('/', '-')}-{width}-{scheme}.png")
                )


if __name__ == "__main__":
    main()
