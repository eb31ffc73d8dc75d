"""Sphinx configuration of the documentation site: `make docs` builds it into `out/docs/`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "builder"))

from driftwise import __version__
from landscape_table import PICTURES, write_site
from reference_pages import write_pages

project = "driftwise"
author = "The driftwise developers"
copyright = "The driftwise developers"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx.ext.mathjax",
    "offline_formulas",
    "run_code",
    "inline_figures",
    "notebooks",
    "name_links",
    "site_checks",
]
exclude_patterns = ["builder", "_pictures"]
html_extra_path = [f"{PICTURES}/site"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
# A docstring may start with a deeper heading. `site_checks` follows all links, also to names that tables define.
suppress_warnings = ["myst.header", "myst.xref_missing"]
mathjax_path = "mathjax/tex-chtml.js"  # `offline_formulas` copies it
mathjax3_config = {"options": {"enableMenu": False}}  # the menu would load files that are not copied

html_theme = "pydata_sphinx_theme"
html_title = "driftwise"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # summaries are fetched, which a browser does not allow for files on disk
html_context = {"default_mode": "auto"}
html_sidebars = {"index": []}
html_theme_options = {
    "show_toc_level": 2,
    "navigation_depth": 3,
    "navbar_align": "left",
    "header_links_before_dropdown": 5,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_selector = "div:not(.output):not(.signature) > div.highlight > pre"

write_pages(Path(__file__).parent / "reference")
write_site(Path(__file__).parent / PICTURES)
