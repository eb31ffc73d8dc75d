"""Results of simulations: regret against a comparator, its confidence intervals, and files."""

from driftwise.results.comparators import Comparator, Dynamic, Interval, Static, Switched
from driftwise.results.results import Results

__all__ = ["Comparator", "Dynamic", "Interval", "Results", "Static", "Switched"]
