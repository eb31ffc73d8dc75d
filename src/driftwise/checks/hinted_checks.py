"""What is true of every learner that takes hints."""

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
    """A block with hints and its rounds one by one, each hinted, agree bit for bit."""
    losses, hints = mixed_losses(120, 3, seed=0), mixed_losses(120, 3, seed=1)
    one, other = learner.start(3), learner.start(3)
    weights = np.empty_like(losses)
    for t in range(len(losses)):
        learner.hint(other, hints[t])
        weights[t] = learner.predict(other)
        learner.update(other, losses[t])
    expect_equal("the play of a hinted run and of hinted stepping", learner.run(one, losses, hints), weights)
    expect_same(one, other, "after a hinted run and after hinted stepping")


@check(CHECKS)
def the_last_losses_are_the_default_hint(learner: HintedLearner) -> None:
    """Hinting each round's losses for the next, and zeros for the first, is what happens without hints."""
    losses = mixed_losses(120, 3)
    hints = np.concatenate([np.zeros((1, 3)), losses[:-1]])
    apart = np.abs(learner.run(learner.start(3), losses, hints) - learner.run(learner.start(3), losses)).max(axis=1)
    t = int(apart.argmax())
    expect(apart[t] <= CLOSE, f"in round {t} the hint moves the weights by {apart[t]:.2g}")


@check(CHECKS)
def a_hint_against_an_action_lowers_its_weight(learner: HintedLearner) -> None:
    """A learner plays an action less when it is told that its loss will be high than when low."""
    state = learner.start(3)
    learner.run(state, mixed_losses(30, 3))
    learner.hint(state, [0.0, 0.5, 0.5])
    praised = learner.predict(state)[0]
    learner.hint(state, [1.0, 0.5, 0.5])
    warned = learner.predict(state)[0]
    settled = praised in (0.0, 1.0)  # nothing left to move: it is sure of this action, or of another
    expect(
        warned < praised or settled or learner.no_learning != "",
        f"the weight is {praised} when the hint is 0 and {warned} when it is 1",
    )


@check(CHECKS)
def a_rejected_hint_changes_nothing(learner: HintedLearner) -> None:
    """A bad hint leaves the state as it was, alone or in a block."""
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
