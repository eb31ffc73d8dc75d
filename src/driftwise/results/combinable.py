"""Which results can be combined: those of different learners on the same losses."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from driftwise.core.errors import InvalidInput

if TYPE_CHECKING:
    from driftwise.results.results import Results

__all__ = ["check_combinable"]

_SHARED = (
    "environment", "comparator", "play", "kind", "n_actions", "n_rounds", "n_runs", "seed", "rounds", "measures",
    "realised", "bound_rounds",
)  # fmt: skip


def check_combinable(one: Results, other: Results) -> None:
    """Raise unless both come from the same losses and have different labels."""
    for name in _SHARED:
        mine, theirs = getattr(one, name), getattr(other, name)
        if name == "realised":  # only one of them may have the best loss
            mine, theirs = ([run._replace(best_loss=math.nan) for run in runs] for runs in (mine, theirs))
        if not np.array_equal(mine, theirs) if isinstance(mine, np.ndarray) else repr(mine) != repr(theirs):
            raise InvalidInput(f"Results: both must have the same `{name}` to be combined.")
    if common := sorted({*one.labels} & {*other.labels}):
        raise InvalidInput(f"Results: both have a learner '{common[0]}'.")
