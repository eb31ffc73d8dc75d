"""Checks of learners with full feedback, and of those that take hints."""

from __future__ import annotations

from typing import Any

import numpy as np

from driftwise.checks.check import (
    BAD_NUMBERS,
    Check,
    check,
    expect,
    expect_equal,
    expect_rejected,
    expect_same,
    fixed_losses,
    mixed_losses,
)
from driftwise.core.types import Matrix
from driftwise.learners import ExpertLearner
from driftwise.learners.contract import HintedLearner

__all__ = ["CHECKS", "HINTED_CHECKS"]

CHECKS: list[Check] = []
_CLOSE = 1e-9  # a generous bound of the rounding errors of sums of weights and of permuted sums
_BLOCK = 10_000
HINTED_CHECKS: list[Check] = []


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
        expect(apart[t] <= _CLOSE, f"in round {t} the order {order} changes the weights by {apart[t]:.2g}")


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
    good = (weights >= 0).all(axis=1) & (np.abs(weights.sum(axis=1) - 1.0) <= _CLOSE)  # NaN is neither
    t = int(good.argmin())
    expect(good[t], f"the weights {weights[t]} are not a distribution")


@check(HINTED_CHECKS)
def hinted_run_equals_hinted_stepping(learner: HintedLearner) -> None:
    """A block with hints and the same rounds with hints one by one give equal results, bit for bit."""
    losses, hints = mixed_losses(120, 3, seed=0), mixed_losses(120, 3, seed=1)
    one, other = learner.start(3), learner.start(3)
    weights = np.empty_like(losses)
    for t in range(len(losses)):
        learner.hint(other, hints[t])
        weights[t] = learner.predict(other)
        learner.update(other, losses[t])
    expect_equal("the weights of a hinted run and of hinted stepping", learner.run(one, losses, hints), weights)
    expect_same(one, other, "after a hinted run and after hinted stepping")


@check(HINTED_CHECKS)
def the_last_losses_are_the_default_hint(learner: HintedLearner) -> None:
    """Without hints, the result is that of hinting the losses of the last round, and zeros in the first round."""
    losses = mixed_losses(120, 3)
    hints = np.concatenate([np.zeros((1, 3)), losses[:-1]])
    apart = np.abs(learner.run(learner.start(3), losses, hints) - learner.run(learner.start(3), losses)).max(axis=1)
    t = int(apart.argmax())
    expect(apart[t] <= _CLOSE, f"in round {t} the hint changes the weights by {apart[t]:.2g}")


@check(HINTED_CHECKS)
def a_higher_hint_lowers_the_weight(learner: HintedLearner) -> None:
    """An action has less weight if the hint for its loss is 1 than if it is 0."""
    state = learner.start(3)
    learner.run(state, mixed_losses(30, 3))
    learner.hint(state, [0.0, 0.5, 0.5])
    weight_at_zero = learner.predict(state)[0]
    learner.hint(state, [1.0, 0.5, 0.5])
    weight_at_one = learner.predict(state)[0]
    extreme = weight_at_zero in (0.0, 1.0)  # a weight of 0 or 1 need not change
    expect(
        weight_at_one < weight_at_zero or extreme or learner.no_learning != "",
        f"the weight is {weight_at_zero} when the hint is 0 and {weight_at_one} when it is 1",
    )


@check(HINTED_CHECKS)
def a_rejected_hint_changes_nothing(learner: HintedLearner) -> None:
    """An invalid hint leaves the state unchanged, alone and in a block."""
    state = learner.start(3, seed=1)
    losses = mixed_losses(20, 3)
    learner.run(state, losses)
    for bad in BAD_NUMBERS:
        expect_rejected(f"the hint {bad}", state, learner.hint, [bad, 0.5, 0.5])
        hints = losses.copy()
        hints[-1, -1] = bad
        expect_rejected(f"a block with the hint {bad}", state, learner.run, losses, hints)
    expect_rejected("too few hints", state, learner.run, losses, losses[1:])
    expect_rejected("a hint for two actions", state, learner.hint, [0.5, 0.5])
