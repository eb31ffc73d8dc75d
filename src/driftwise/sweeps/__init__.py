"""Sweeps: every learner in every environment, played by threads or by a Dask cluster, and stored cell by cell."""

from driftwise.sweeps.runner import Progress as Progress, run_sweeps as run_sweeps
from driftwise.sweeps.sources import Source as Source
from driftwise.sweeps.sweep import Sweep as Sweep, read_sweep as read_sweep
