"""Results of simulations: regret against a comparator, its confidence intervals, and files."""

from driftwise.results.cell_files import read_cells, write_cells
from driftwise.results.cells import CellRecord, CellTable
from driftwise.results.comparators import Comparator, Dynamic, Interval, Static, Switched
from driftwise.results.results import Results
from driftwise.results.store import Store
from driftwise.results.sweep_results import SweepResults

__all__ = [
    "CellRecord",
    "CellTable",
    "Comparator",
    "Dynamic",
    "Interval",
    "Results",
    "Static",
    "Store",
    "SweepResults",
    "Switched",
    "read_cells",
    "write_cells",
]
