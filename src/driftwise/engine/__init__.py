"""Run learners in environments: `simulate` plays many runs, `Session` keeps one learner on a live stream."""

from driftwise.engine.session import Session
from driftwise.engine.simulation import simulate

__all__ = ["Session", "simulate"]
