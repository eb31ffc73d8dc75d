"""Results of simulations: regret against a comparator, its confidence intervals, and files."""

from driftwise.regret.comparators import (
    Comparator as Comparator,
    Dynamic as Dynamic,
    Interval as Interval,
    Static as Static,
    Switched as Switched,
)
from driftwise.results.cell_files import read_cells as read_cells, write_cells as write_cells
from driftwise.results.cells import CellRecord as CellRecord, CellTable as CellTable
from driftwise.results.results import Results as Results
from driftwise.results.store import Store as Store
from driftwise.results.sweep_results import SweepResults as SweepResults
