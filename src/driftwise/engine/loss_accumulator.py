"""The cumulative loss of a learner, added round by round, so that block sizes do not change the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from driftwise.core.compensated_sums import add_term, read_sum, write_sum
from driftwise.core.kernel import kernel
from driftwise.core.random import draw_from
from driftwise.core.types import Actions, Matrix, Vector

__all__ = ["LossAccumulator", "sample_actions"]


class LossAccumulator:
    """The cumulative loss of one learner in one run."""

    def __init__(self) -> None:
        self._total = np.zeros(2)

    def add_block(self, played: Matrix | Actions, target: Matrix, marks: Actions) -> Vector:
        """Add the losses of a block, given the weights or actions played; return the sum after each marked round."""
        cumulative = np.empty(len(target))
        add: Callable[..., None] = _add_weights if played.ndim == 2 else _add_actions
        add(self._total, played, target, cumulative)
        return cumulative[marks]


def sample_actions(played: Matrix | Actions, generator: np.random.Generator) -> Actions:
    """Return one action per round, drawn from the weights of the round; actions are returned as they are."""
    actions = np.empty(len(played), np.int64)
    if played.ndim == 1:
        actions[:] = played
    else:
        _sample(played, generator.random(len(played)), actions)
    return actions


@kernel
def _add_weights(total: Vector, played: Matrix, target: Matrix, cumulative: Vector) -> None:
    sums = read_sum(total)
    for t in range(target.shape[0]):
        loss = 0.0
        for k in range(target.shape[1]):
            loss += played[t, k] * target[t, k]
        sums = add_term(sums, loss)
        cumulative[t] = sums[0] + sums[1]
    write_sum(total, sums)


@kernel
def _add_actions(total: Vector, played: Actions, target: Matrix, cumulative: Vector) -> None:
    sums = read_sum(total)
    for t in range(target.shape[0]):
        sums = add_term(sums, target[t, played[t]])
        cumulative[t] = sums[0] + sums[1]
    write_sum(total, sums)


@kernel
def _sample(weights: Any, uniforms: Vector, actions: Actions) -> None:
    for t in range(weights.shape[0]):
        actions[t] = draw_from(weights[t], uniforms[t])
