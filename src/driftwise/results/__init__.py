"""What a simulation found: regret against a comparator, its uncertainty, and where to keep it."""

from driftwise.results.comparators import Comparator, Dynamic, Interval, Static, Switched
from driftwise.results.results import Results

__all__ = ["Comparator", "Dynamic", "Interval", "Results", "Static", "Switched"]
