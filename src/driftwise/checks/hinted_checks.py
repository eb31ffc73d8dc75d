"""Checks of learners that take hints."""

from __future__ import annotations

import numpy as np

from driftwise.checks.bad_input import BAD_NUMBERS, expect_rejected
from driftwise.checks.check import Check, check, expect, expect_equal
from driftwise.checks.expert_checks import CLOSE
from driftwise.checks.plays import expect_same, mixed_losses
from driftwise.learners.contract import HintedLearner

__all__ = ["CHECKS"]

CHECKS: list[Check] = []


@check(CHECKS)
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


@check(CHECKS)
def the_last_losses_are_the_default_hint(learner: HintedLearner) -> None:
    """Without hints, the result is that of hinting the losses of the last round, and zeros in the first round."""
    losses = mixed_losses(120, 3)
    hints = np.concatenate([np.zeros((1, 3)), losses[:-1]])
    apart = np.abs(learner.run(learner.start(3), losses, hints) - learner.run(learner.start(3), losses)).max(axis=1)
    t = int(apart.argmax())
    expect(apart[t] <= CLOSE, f"in round {t} the hint changes the weights by {apart[t]:.2g}")


@check(CHECKS)
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


@check(CHECKS)
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
