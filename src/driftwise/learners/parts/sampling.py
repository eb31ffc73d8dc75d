"""Drawing an action, and the probability by which its loss is weighed: what learners that draw share."""

from __future__ import annotations

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.random import draw_from, next_uniform
from driftwise.core.types import Vector, Words

__all__ = ["RAREST", "chance", "draw"]

RAREST = 1e-100  # never drawn; its inverse can be cubed


@kernel
def draw(probabilities: Vector, generator: Words) -> tuple[int, float]:
    """Draw an action; return it with its probability."""
    action = draw_from(probabilities, next_uniform(generator))
    return action, min(1.0, probabilities[action])  # rounding may have left the sum a little above 1


@kernel
def chance(passed: float, own: float, rarest: float) -> float:
    """Return the probability passed, or the learner's own where none was (NaN), but at least `rarest` and `RAREST`.

    No learner draws what is rarer; the floor keeps whatever a caller passes from overflowing the estimate.
    """
    return max(own if np.isnan(passed) else passed, rarest, RAREST)
