"""A report as one HTML file that needs no network, and its figures as separate files.

The caller fills a `Page` with numbers and text.
"""

from driftwise.report.page.contents import Axis, Claim, Group, Line, Page, Panel, Series, WeightHistory
from driftwise.report.page.exported_figures import write_figures
from driftwise.report.page.table_contents import Column, Filter, Measured, Table, Text
from driftwise.report.page.write import write_page

__all__ = [
    "Axis",
    "Claim",
    "Column",
    "Filter",
    "Group",
    "Line",
    "Measured",
    "Page",
    "Panel",
    "Series",
    "Table",
    "Text",
    "WeightHistory",
    "write_figures",
    "write_page",
]
