"""A report as one HTML file that needs no network, and its figures as separate files.

The caller fills a `Page` with numbers and text.
"""

from driftwise.report.page.contents import Claim, Line, Page, Panel, Series, TableRow, WeightHistory
from driftwise.report.page.exported_figures import write_figures
from driftwise.report.page.write import write_page

__all__ = ["Claim", "Line", "Page", "Panel", "Series", "TableRow", "WeightHistory", "write_figures", "write_page"]
