"""A cell: one run of one learner in one environment, and the columns in which many cells are kept."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from driftwise.core.types import Actions, Vector

__all__ = ["CELL", "COUNTS", "KEY_LENGTH", "MEASURES", "REALISED", "REALS", "TEXTS", "CellRecord"]

KEY_LENGTH = 32  # hex digits
TEXTS = ("environment", "learner", "comparator", "play", "kind", "caveat", "error", "machine")
COUNTS = ("n_actions", "n_rounds", "seed", "run", "segments", "stored")
MEASURES = ("drift", "variance", "drift_within", "squared_drift")
REALISED = ("deviation", "deviation_max", "oscillation", "movement", "best_loss")
REALS = (*MEASURES, *REALISED, "seconds")

# One cell in memory: its key, its numbers, and for each text its place in the list of distinct texts.
CELL = np.dtype(
    [("key", f"S{KEY_LENGTH}")]
    + [(name, "<i8") for name in COUNTS]
    + [(name, "<f8") for name in REALS]
    + [(name, "<i4") for name in TEXTS]
)


class CellRecord(NamedTuple):
    """One run of one learner in one environment. NaN stands for a number that is unknown or was not computed."""

    key: str  # 32 hex digits that identify the cell, or "" outside a store
    environment: str  # spec, as JSON text
    learner: str  # spec, as JSON text
    n_actions: int
    n_rounds: int
    seed: int  # in [0, 2^63)
    run: int
    comparator: str
    play: str
    kind: str  # of regret: "pseudo" or "realised"
    rounds: Actions  # the marked rounds, counted from 1, increasing
    regrets: Vector  # at the marked rounds
    bounds: Vector  # at the marked rounds, NaN where there is none
    segments: int = 0  # 0 if unknown
    drift: float = math.nan
    variance: float = math.nan
    drift_within: float = math.nan
    squared_drift: float = math.nan
    deviation: float = math.nan
    deviation_max: float = math.nan
    oscillation: float = math.nan
    movement: float = math.nan
    best_loss: float = math.nan
    caveat: str = ""  # why the tuning rule is meaningless here, "" if there is no caveat
    error: str = ""  # why the cell could not be played, "" if it was; then its one regret is NaN
    machine: str = ""  # short id of the machine and its libraries
    seconds: float = math.nan
    stored: int = 0  # time in microseconds since 1970 (UTC), set by the store; 0 if unknown
