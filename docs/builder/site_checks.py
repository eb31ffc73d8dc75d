"""Finishes and checks a site: writes a page for each source file that is linked, then follows every link.

`python docs/builder/site_checks.py FOLDER` checks a built site.
"""

from __future__ import annotations

import html
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_for_filename
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from name_links import CODE
from related_files import ROOT

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name}</title><link rel="stylesheet" href="{top}_static/code.css"></head>
<body><header><a href="{top}index.html">driftwise</a> / {name}</header>
{code}
</body></html>
"""


class _Links(HTMLParser):
    """The links, the sources of pictures and scripts, and the names of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the targets and names of one tag."""
        for key, value in attrs:
            if key in ("href", "src") and value and not (tag == "link" and ("rel", "canonical") in attrs):
                self.targets.append(value)
            if key in ("id", "name") and value:
                self.names.add(value)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.connect("build-finished", finish, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def finish(app: Sphinx, error: Exception | None) -> None:
    """Write the pages of source files and check all links; a broken link fails the build."""
    if error is not None or app.builder.name != "html":
        return
    site = Path(app.outdir)
    n_files = write_sources(site)
    n_links, broken = check_links(site)
    if broken:
        raise ExtensionError("Broken links:\n" + "\n".join(broken))
    print(f"Links: {n_links} checked, none is broken; {n_files} source files are shown.")


def write_sources(site: Path) -> int:
    """Write a page for every source file that a page of the site links to."""
    wanted: set[str] = set()
    for page in _pages(site):
        for target in _Links(page.read_text(encoding="utf-8")).targets:
            file = _resolve(page, target)
            if file is not None and file.is_relative_to(site / CODE):
                wanted.add(file.relative_to(site / CODE).as_posix())
    formatter = HtmlFormatter(linenos="inline", lineanchors="line", anchorlinenos=True, cssclass="highlight")
    for name in wanted:
        source = name.removesuffix(".html")
        text = (ROOT / source).read_text(encoding="utf-8")
        code = highlight(text, get_lexer_for_filename(source), formatter)
        target = site / CODE / name
        target.parent.mkdir(parents=True, exist_ok=True)
        top = "../" * (name.count("/") + 1)
        target.write_text(_PAGE.format(name=html.escape(source), top=top, code=code), encoding="utf-8")
    return len(wanted)


def check_links(site: Path) -> tuple[int, list[str]]:
    """Return how many links inside the site there are, and those whose page or name does not exist."""
    pages = {page: _Links(page.read_text(encoding="utf-8")) for page in _pages(site)}
    count, broken = 0, []
    for page, links in pages.items():
        for target in links.targets:
            file = _resolve(page, target)
            if file is None:
                continue
            count += 1
            name = unquote(urlsplit(target).fragment)
            if not file.exists() or (name and file in pages and name not in pages[file].names):
                broken.append(f"{page.relative_to(site)}: {target}")
    return count, sorted(set(broken))


def _pages(site: Path) -> list[Path]:
    return [page for page in site.rglob("*.html") if "_static" not in page.relative_to(site).parts]  # templates


def _resolve(page: Path, target: str) -> Path | None:
    """Return the file that a link points to, None for another site."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return None
    return (page.parent / unquote(parts.path)).resolve() if parts.path else page.resolve()


if __name__ == "__main__":
    n, failures = check_links(Path(sys.argv[1]).resolve())
    print("\n".join(failures) or f"{n} links, none is broken")
    sys.exit(bool(failures))
