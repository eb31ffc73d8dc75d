"""Run learners in environments: `simulate` plays many runs, `record` one run, and `Session` a live stream."""

from driftwise.engine.run_history import History, record
from driftwise.engine.session import Session
from driftwise.engine.simulation import simulate

__all__ = ["History", "Session", "record", "simulate"]
