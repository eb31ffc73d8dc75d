"""Sweeps: every learner in every environment, played by threads or by a Dask cluster, and stored cell by cell."""

from driftwise.sweeps.runner import Progress, run_sweeps
from driftwise.sweeps.sources import Source
from driftwise.sweeps.sweep import Sweep
from driftwise.sweeps.sweep_file import read_sweep

__all__ = ["Progress", "Source", "Sweep", "read_sweep", "run_sweeps"]
