"""Checks of learners with full feedback."""

from __future__ import annotations

from typing import Any

import numpy as np

from driftwise.checks.bad_input import BAD_NUMBERS, expect_rejected
from driftwise.checks.check import Check, check, expect, expect_equal
from driftwise.checks.plays import expect_same, fixed_losses, mixed_losses
from driftwise.core.types import Matrix
from driftwise.learners import ExpertLearner

__all__ = ["CHECKS"]

CHECKS: list[Check] = []
CLOSE = 1e-9  # a generous bound of the rounding errors of sums of weights and of permuted sums
_BLOCK = 10_000


@check(CHECKS)
def weights_are_a_distribution(learner: ExpertLearner) -> None:
    """Weights are finite, not negative and sum to 1 in every round, for losses of all kinds and for 0 and 1."""
    for n_actions in (2, 17):
        constant = (0.0,) * n_actions, (1.0,) * n_actions, (0.0,) + (1.0,) * (n_actions - 1)
        for losses in (mixed_losses(100, n_actions), *(fixed_losses(row, 100) for row in constant)):
            state = learner.start(n_actions)
            _expect_distributions(learner.run(state, losses))
            _expect_distributions(learner.predict(state)[np.newaxis])


@check(CHECKS)
def predict_changes_nothing(learner: ExpertLearner) -> None:
    """`predict` does not change the state, and the array that it returns belongs to the caller."""
    state = learner.start(3, seed=1)
    for losses in mixed_losses(40, 3):
        before = state.copy()
        weights = learner.predict(state)
        expect_equal("the weights of two calls of `predict`", learner.predict(state), weights)
        weights[:] = -1.0
        expect_same(state, before, "before and after `predict`")
        learner.update(state, losses)


@check(CHECKS)
def relabelling_actions_relabels_the_weights(learner: ExpertLearner) -> None:
    """Weights do not depend on the order of the actions."""
    losses = mixed_losses(100, 5)
    weights = learner.run(learner.start(5), losses)
    for order in ([4, 3, 2, 1, 0], [1, 2, 3, 4, 0], [2, 0, 3, 1, 4]):
        relabelled = learner.run(learner.start(5), losses[:, order])
        apart = np.abs(relabelled - weights[:, order]).max(axis=1)
        t = int(apart.argmax())
        expect(apart[t] <= CLOSE, f"in round {t} the order {order} changes the weights by {apart[t]:.2g}")


@check(CHECKS)
def a_rejected_update_changes_nothing(learner: ExpertLearner) -> None:
    """Invalid losses leave the state unchanged, bit for bit."""
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
    """Weights neither overflow nor vanish in a million constant rounds, and move to a new best action.

    The best action leads by a tenth per round, then loses by 1 per round. After a fifth as many rounds, the other
    action is ahead over all rounds by as much as the first was at most: a learner that only competes with fixed actions
    must have moved its weight by then, and a tracking learner long before. Then the losses change back: a weight stored
    as a number, not as a logarithm, has become 0 in the meantime. Parameters with which a learner cannot learn
    (`no_learning`) are exempt from moving the weight.
    """
    state = learner.start(2)
    turn = n_rounds // 5
    for losses, length, best in (((0.4, 0.5), n_rounds, 0), ((1.0, 0.0), turn, 1), ((0.0, 1.0), turn, 0)):
        for first in range(0, length, _BLOCK):
            block = fixed_losses(losses, min(_BLOCK, length - first))
            _expect_distributions(learner.run(state, block))
        weights = learner.predict(state)
        expect(
            weights[best] > 0.5 or learner.no_learning != "",
            f"after {length} rounds of the losses {losses}, action {best} must have a weight above 0.5, got {weights}",
        )


def _expect_distributions(weights: Matrix) -> None:
    """Expect every row to be a distribution."""
    good = (weights >= 0).all(axis=1) & (np.abs(weights.sum(axis=1) - 1.0) <= CLOSE)  # NaN is neither
    t = int(good.argmin())
    expect(good[t], f"the weights {weights[t]} are not a distribution")
