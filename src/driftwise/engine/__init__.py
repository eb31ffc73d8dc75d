"""Putting learners into environments: many runs at once, or one live stream."""

from driftwise.engine.session import Session
from driftwise.engine.simulate import simulate

__all__ = ["Session", "simulate"]
