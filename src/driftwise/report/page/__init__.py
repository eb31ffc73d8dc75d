"""A report as one file: a page of HTML that needs no network, and the same pictures for a paper.

Whoever measures fills a `Page` with numbers and words; nothing here knows learners.
"""

from driftwise.report.page.contents import Claim, Line, Page, Panel, Row, Series, Track
from driftwise.report.page.plates import write_figures
from driftwise.report.page.write import write_page

__all__ = ["Claim", "Line", "Page", "Panel", "Row", "Series", "Track", "write_figures", "write_page"]
