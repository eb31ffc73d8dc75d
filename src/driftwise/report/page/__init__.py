"""A report as one file: a page of HTML that needs no network, and the same pictures for a paper.

Whoever measures fills a `Page` with numbers and words; nothing here knows learners.
"""

from driftwise.report.page.contents import Claim, Line, Page, Panel, Series, TableRow, WeightHistory
from driftwise.report.page.exported_figures import write_figures
from driftwise.report.page.write import write_page

__all__ = ["Claim", "Line", "Page", "Panel", "Series", "TableRow", "WeightHistory", "write_figures", "write_page"]
