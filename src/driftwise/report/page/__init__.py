"""A report as one HTML file that needs no network, and its figures as separate files.

The caller fills a `Page` with numbers and text, and `write_page(path, page)` writes it.

>>> curve = Series("hedge", "", x=[100, 200], mean=[8.0, -1.5], low=[6.0, -3.0], high=[10.0, 0.0])
>>> panel = Panel("switching", "", "A switching environment", Axis("rounds"), Axis("static regret"), [curve])
>>> columns = [PageColumn("learner", "Learner", "series"), PageColumn("regret", "Static regret", "whisker")]
>>> table = PageTable(columns, [["hedge", Measured(-1.5, -3.0, 0.0)]])
>>> page = Page("Simulations", table=table, panels=[panel])
"""

from driftwise.report.page.contents import (
    Axis as Axis,
    Claim as Claim,
    DotPanel as DotPanel,
    Filter as Filter,
    Line as Line,
    Measured as Measured,
    Page as Page,
    PageColumn as PageColumn,
    PageTable as PageTable,
    Panel as Panel,
    RowPanel as RowPanel,
    Series as Series,
    SeriesGroup as SeriesGroup,
    Text as Text,
    WeightHistory as WeightHistory,
)
from driftwise.report.page.figure_files import write_figures as write_figures
from driftwise.report.page.write import write_page as write_page
