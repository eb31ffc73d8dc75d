"""Run learners in environments: `simulate` plays many runs, `record` one run, and `Session` a live stream.

`preview` shows a run of an environment without a learner.
"""

from driftwise.engine.run_history import History, Preview, preview, record
from driftwise.engine.session import Session
from driftwise.engine.simulation import simulate

__all__ = ["History", "Preview", "Session", "preview", "record", "simulate"]
