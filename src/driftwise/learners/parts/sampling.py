"""Drawing an action, and the probability by which its loss is divided in an importance-weighted estimate."""

from __future__ import annotations

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.random import draw_from, next_uniform
from driftwise.core.types import Vector, Words

__all__ = ["RAREST", "chance", "draw"]

RAREST = 1e-100  # no action with a smaller probability is ever drawn; the inverse can be cubed without overflow


@kernel
def draw(probabilities: Vector, generator: Words) -> tuple[int, float]:
    """Draw an action; return it with its probability."""
    action = draw_from(probabilities, next_uniform(generator))
    return action, min(1.0, probabilities[action])  # rounding may leave it a little above 1


@kernel
def chance(passed: float, own: float, rarest: float) -> float:
    """Return the probability passed, or the learner's own where it is NaN, but at least `rarest` and `RAREST`.

    No learner draws an action with a smaller probability; with one that a caller passes the estimate would overflow.
    """
    return max(own if np.isnan(passed) else passed, rarest, RAREST)
