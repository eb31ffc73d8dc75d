"""What a learner suffers, added up round by round so that no block border shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from driftwise.core.compensated_sums import add
from driftwise.core.kernel import kernel
from driftwise.core.random import draw_from
from driftwise.core.types import Actions, Matrix, Vector

__all__ = ["LossAccumulator", "sample_actions"]


class LossAccumulator:
    """The cumulative loss of one learner in one run."""

    def __init__(self) -> None:
        self._total = np.zeros(2)

    def add_block(self, played: Matrix | Actions, target: Matrix, marks: Actions) -> Vector:
        """Take in a block's plays; return the cumulative loss after each marked round of it."""
        out = np.empty(len(marks))
        add_block: Callable[..., None] = _add_weights if played.ndim == 2 else _add_actions
        add_block(self._total, played, target, marks, out)
        return out


def sample_actions(played: Matrix | Actions, generator: np.random.Generator) -> Actions:
    """Play weights by drawing one action per round from them; actions are drawn already."""
    actions = np.empty(len(played), np.int64)
    if played.ndim == 1:
        actions[:] = played
    else:
        _sample(played, generator.random(len(played)), actions)
    return actions


@kernel
def _add_weights(total: Vector, played: Matrix, target: Matrix, marks: Actions, out: Vector) -> None:
    mark = 0
    for t in range(target.shape[0]):
        loss = 0.0
        for k in range(target.shape[1]):
            loss += played[t, k] * target[t, k]
        so_far = add(total, loss)
        if mark < marks.size and marks[mark] == t:
            out[mark] = so_far
            mark += 1


@kernel
def _add_actions(total: Vector, played: Actions, target: Matrix, marks: Actions, out: Vector) -> None:
    mark = 0
    for t in range(target.shape[0]):
        so_far = add(total, target[t, played[t]])
        if mark < marks.size and marks[mark] == t:
            out[mark] = so_far
            mark += 1


@kernel
def _sample(weights: Any, uniforms: Vector, actions: Actions) -> None:
    for t in range(weights.shape[0]):
        actions[t] = draw_from(weights[t], uniforms[t])
