"""Checks of what a bandit learner is told after a round."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from driftwise.core.errors import outside, rejection
from driftwise.core.validation import as_real, count

__all__ = ["checked_feedback"]


def checked_feedback(
    owner: object, n_actions: int, action: Any, loss: Any, probability: Any
) -> tuple[int, float, float]:
    """Return the action, the loss and the probability, NaN for None, or raise `InvalidInput`."""
    action = count(owner, "action", action, at_least=0)
    if action >= n_actions:
        raise rejection(owner, "action", f"< n_actions = {n_actions}", action)
    number = float(loss) if isinstance(loss, (bool, np.bool_)) else as_real(loss)
    if number is None:
        raise rejection(owner, "loss", "a number in [0, 1]", loss)
    if not 0 <= number <= 1:
        raise outside(owner, "loss", number, "")
    chance = math.nan if probability is None else as_real(probability)
    if chance is None or not (probability is None or 0 < chance <= 1):
        raise rejection(owner, "probability", "in (0, 1] or None", probability)
    return action, number, chance
