"""What is true of every learner with full feedback."""

from __future__ import annotations

from typing import Any

import numpy as np

from driftwise.checks.bad_input import BAD_NUMBERS, expect_rejected
from driftwise.checks.check import Check, check, expect, expect_equal
from driftwise.checks.plays import expect_same, fixed_losses, mixed_losses
from driftwise.core.types import Matrix
from driftwise.learners import ExpertLearner

__all__ = ["CHECKS", "expect_distributions"]

CHECKS: list[Check] = []
CLOSE = 1e-9  # what rounding may do to sums of weights and to permuted sums, with room to spare
_BLOCK = 10_000


@check(CHECKS)
def weights_are_a_distribution(learner: ExpertLearner) -> None:
    """Every round's weights are finite, not negative, and sum to 1, on losses of any kind and at their extremes."""
    for n_actions in (2, 17):
        still = (0.0,) * n_actions, (1.0,) * n_actions, (0.0,) + (1.0,) * (n_actions - 1)
        for losses in (mixed_losses(100, n_actions), *(fixed_losses(row, 100) for row in still)):
            state = learner.start(n_actions)
            expect_distributions(learner.run(state, losses))
            expect_distributions(learner.predict(state)[np.newaxis])


@check(CHECKS)
def predict_changes_nothing(learner: ExpertLearner) -> None:
    """Asking for the weights twice gives them twice; what is handed out is the caller's own."""
    state = learner.start(3, seed=1)
    for losses in mixed_losses(40, 3):
        before = state.copy()
        weights = learner.predict(state)
        expect_equal("the weights, asked for twice,", learner.predict(state), weights)
        weights[:] = -1.0
        expect_same(state, before, "before and after `predict`")
        learner.update(state, losses)


@check(CHECKS)
def relabelling_actions_relabels_the_weights(learner: ExpertLearner) -> None:
    """No action is dear to a learner for its number."""
    losses = mixed_losses(100, 5)
    weights = learner.run(learner.start(5), losses)
    for order in ([4, 3, 2, 1, 0], [1, 2, 3, 4, 0], [2, 0, 3, 1, 4]):
        relabelled = learner.run(learner.start(5), losses[:, order])
        apart = np.abs(relabelled - weights[:, order]).max(axis=1)
        t = int(apart.argmax())
        expect(apart[t] <= CLOSE, f"in round {t} the order {order} moves the weights by {apart[t]:.2g}")


@check(CHECKS)
def a_rejected_update_changes_nothing(learner: ExpertLearner) -> None:
    """A round of losses that breaks a rule leaves the state as it was, bit for bit."""
    state = learner.start(3, seed=1)
    learner.run(state, mixed_losses(20, 3))
    for bad in BAD_NUMBERS:
        expect_rejected(f"the loss {bad}", state, learner.update, [0.5, 0.5, bad])
    others: dict[str, Any] = {
        "too many losses": [0.5] * 4,
        "a block instead of a round": [[0.5] * 3],
        "one number": 0.5,
        "words": ["a", "b", "c"],
        "a ragged list": [0.5, [0.5], 0.5],
        "complex losses": [0.5, 0.5, 0.5j],
        "a missing loss": [0.5, 0.5, None],
        "nothing": None,
    }
    for what, losses in others.items():
        expect_rejected(what, state, learner.update, losses)


@check(CHECKS)
def weights_survive_a_million_constant_rounds(learner: ExpertLearner, n_rounds: int = 1_000_000) -> None:
    """Weights do not overflow or die out while nothing changes, and turn when the best action does, and again.

    The best action leads by a tenth a round, then falls behind by 1. After a fifth as many rounds the other is
    ahead over all rounds by as much as the first ever was: a learner that only competes with fixed actions must
    have turned by then, one that tracks will have long before. Then the same the other way round: at that pace
    a weight kept as a number, not as a logarithm, has become 0 in between. Parameters with which a learner says that
    it cannot learn (`no_learning`) excuse it from turning.
    """
    state = learner.start(2)
    turn = n_rounds // 5
    for losses, length, best in (((0.4, 0.5), n_rounds, 0), ((1.0, 0.0), turn, 1), ((0.0, 1.0), turn, 0)):
        for first in range(0, length, _BLOCK):
            block = fixed_losses(losses, min(_BLOCK, length - first))
            expect_distributions(learner.run(state, block))
        weights = learner.predict(state)
        expect(
            weights[best] > 0.5 or learner.no_learning != "",
            f"after {length} rounds of the losses {losses} the weights are {weights}",
        )


def expect_distributions(weights: Matrix) -> None:
    """Expect every row to be a distribution."""
    good = (weights >= 0).all(axis=1) & (np.abs(weights.sum(axis=1) - 1.0) <= CLOSE)  # NaN is neither
    t = int(good.argmin())
    expect(good[t], f"the weights {weights[t]} are not a distribution")
