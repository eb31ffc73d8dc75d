"""Checks of learners with bandit feedback."""

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
from driftwise.learners import BanditLearner

__all__ = ["CHECKS"]

CHECKS: list[Check] = []
_BLOCK = 10_000


@check(CHECKS)
def unobserved_losses_have_no_effect(learner: BanditLearner) -> None:
    """Actions and state do not depend on the losses of actions that were not chosen."""
    losses = mixed_losses(300, 4)
    one, other = learner.start(4, seed=1), learner.start(4, seed=1)
    actions = learner.run(one, losses)
    scrambled = np.random.default_rng(1).random(losses.shape)
    rounds = np.arange(len(losses))
    scrambled[rounds, actions] = losses[rounds, actions]
    expect_equal("the actions on scrambled losses", learner.run(other, scrambled), actions)
    expect_same(one, other, "after the losses and after scrambled ones")


@check(CHECKS)
def every_action_is_tried(learner: BanditLearner) -> None:
    """Each of three actions is chosen at least once in thirty rounds, for low, high and mixed losses."""
    n_actions, n_rounds = 3, 30
    for losses in (
        fixed_losses((0.0,) * n_actions, n_rounds),
        fixed_losses((1.0,) * n_actions, n_rounds),
        mixed_losses(n_rounds, n_actions),
    ):
        chosen = np.unique(learner.run(learner.start(n_actions, seed=1), losses))
        enough = len(chosen) == n_actions or learner.no_learning != ""
        expect(enough, f"only the actions {chosen} were chosen in {n_rounds} rounds")


@check(CHECKS)
def choose_gives_an_action_and_its_probability(learner: BanditLearner) -> None:
    """The action is a whole number below `n_actions`; the probability is in (0, 1], or None."""
    state = learner.start(3, seed=1)
    for losses in mixed_losses(40, 3):
        action, probability = learner.choose(state)
        expect(type(action) is int and 0 <= action < 3, f"the action was {action!r}")
        known = probability is None or (isinstance(probability, float) and 0 < probability <= 1)
        expect(known, f"the probability was {probability!r}")
        learner.update(state, action, float(losses[action]), probability)


@check(CHECKS)
def a_rejected_update_changes_nothing(learner: BanditLearner) -> None:
    """An invalid action, loss or probability leaves the state unchanged, bit for bit."""
    state = learner.start(3, seed=1)
    learner.run(state, mixed_losses(20, 3))
    others: tuple[Any, ...] = ("a", [0.5], 0.5j, 10**400)
    for loss in (*BAD_NUMBERS, *others, None):
        expect_rejected(f"the loss {loss!r}", state, learner.update, 0, loss, 1.0)
    for action in (-1, 3, 0.5, *others, None, True):
        expect_rejected(f"the action {action!r}", state, learner.update, action, 0.5, 1.0)
    for probability in (*BAD_NUMBERS, *others, 0.0, True):
        expect_rejected(f"the probability {probability!r}", state, learner.update, 0, 0.5, probability)


@check(CHECKS)
def choices_survive_a_million_constant_rounds(learner: BanditLearner, n_rounds: int = 1_000_000) -> None:
    """The better of two actions is found, also after the losses have changed late.

    As for weights: the second phase ends when the new best action is ahead over all rounds by as much as the old one
    was at most. In the last tenth of each phase the best action is chosen in more than half of the rounds. Parameters
    with which a learner cannot learn (`no_learning`) are exempt.
    """
    state = learner.start(2, seed=1)
    for losses, length, best in (((0.4, 0.5), n_rounds, 0), ((1.0, 0.0), n_rounds // 5, 1)):
        actions = np.empty(length, np.int64)
        for first in range(0, length, _BLOCK):
            n = min(_BLOCK, length - first)
            actions[first : first + n] = learner.run(state, fixed_losses(losses, n))
        share = float((actions[-length // 10 :] == best).mean())
        expect(
            share > 0.5 or learner.no_learning != "",
            f"after {length} rounds of the losses {losses} the best action is chosen in a share of {share:.2g}",
        )
