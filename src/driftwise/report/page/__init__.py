"""A report as one HTML file that needs no network, and its figures as separate files.

The caller fills a `Page` with numbers and text, and `write_page(path, page)` writes it.

>>> curve = Series("hedge", "", x=[100, 200], mean=[8.0, -1.5], low=[6.0, -3.0], high=[10.0, 0.0])
>>> panel = Panel("switching", "", "A switching environment", Axis("rounds"), Axis("static regret"), [curve])
>>> columns = [Column("learner", "Learner", "series"), Column("regret", "Static regret", "whisker")]
>>> table = Table(columns, [["hedge", Measured(-1.5, -3.0, 0.0)]])
>>> page = Page("Simulations", table=table, panels=[panel])
"""

from driftwise.report.page.contents import (
    Axis,
    Claim,
    DotPanel,
    Group,
    Line,
    Page,
    Panel,
    RowPanel,
    Series,
    WeightHistory,
)
from driftwise.report.page.figure_files import write_figures
from driftwise.report.page.table_contents import Column, Filter, Measured, Table, Text
from driftwise.report.page.write import write_page

__all__ = [
    "Axis",
    "Claim",
    "Column",
    "DotPanel",
    "Filter",
    "Group",
    "Line",
    "Measured",
    "Page",
    "Panel",
    "RowPanel",
    "Series",
    "Table",
    "Text",
    "WeightHistory",
    "write_figures",
    "write_page",
]
