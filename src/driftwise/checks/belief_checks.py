"""Checks of the beliefs of all learners."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from driftwise.checks.check import Check, check, expect
from driftwise.checks.plays import AnyLearner, expect_same, mixed_losses
from driftwise.learners import Beliefs, State

__all__ = ["CHECKS"]

CHECKS: list[Check] = []
_MOST_ALARMS = 64
_CLOSE = 1e-9  # of sums of weights, and relative to the rounds


@check(CHECKS)
def beliefs_do_not_change_the_state(learner: AnyLearner) -> None:
    """`beliefs` only reads the state, its memory stays the same object, and equal states have equal beliefs."""
    for state in _states(learner):
        before, memory = state.copy(), state.memory
        found = learner.beliefs(state)
        expect_same(state, before, "before and after `beliefs`")
        expect(state.memory is memory, "`beliefs` gave the state a new memory")
        expect(found == learner.beliefs(before), f"equal states have the beliefs {found} and {learner.beliefs(before)}")


@check(CHECKS)
def beliefs_are_possible(learner: AnyLearner) -> None:
    """Effective memories are at most the rounds, weights of bases sum to 1, and alarms are rounds of the past."""
    for state in _states(learner):
        found: Any = learner.beliefs(state)
        expect(isinstance(found, Beliefs), f"`beliefs` returned {found!r}")
        expect(found.rounds == state.rounds, f"after {state.rounds} rounds, the beliefs are of {found.rounds}")
        _expect_memories(found, state.n_actions)
        weights = list(found.bases.values())
        _expect_numbers("the weight of a base", weights, 1.0 + _CLOSE)
        expect(not weights or abs(sum(weights) - 1.0) <= _CLOSE, f"the weights of the bases sum to {sum(weights)}")
        expect(all(isinstance(label, str) for label in found.bases), f"bases have the labels {list(found.bases)}")
        most = {"segments": state.rounds + 1.0, "drift": math.inf, "variance": math.inf}
        for name, high in most.items():
            value = getattr(found, name)
            _expect_numbers(f"`{name}`", [] if value is None else [value], high)
        _expect_alarms(found)


def _states(learner: AnyLearner) -> Iterator[State]:
    """Yield states after different numbers of rounds, with several actions and with one."""
    for n_actions in (1, 2, 5):
        state = learner.start(n_actions, seed=1)
        yield state
        sudden = np.repeat([[0.0], [1.0], [0.0]], 40, axis=0) * np.ones(n_actions)
        for block in (mixed_losses(1, n_actions), mixed_losses(70, n_actions), sudden):
            learner.run(state, block)
            yield state


def _expect_memories(found: Beliefs, n_actions: int) -> None:
    _expect_numbers("an effective memory", list(found.memories), found.rounds * (1.0 + _CLOSE))
    n = len(found.memories)
    expect(not isinstance(found.memory, tuple) or n == n_actions, f"{n_actions} actions have {n} effective memories")


def _expect_numbers(what: str, values: list[float], high: float) -> None:
    for value in values:
        fine = isinstance(value, (int, float)) and math.isfinite(value) and 0.0 <= value <= high
        expect(fine, f"{what} is {value!r}")


def _expect_alarms(found: Beliefs) -> None:
    if found.alarms is None or found.n_alarms is None:
        expect(
            found.alarms is None and found.n_alarms is None, f"only one of `alarms` and `n_alarms` is given: {found}"
        )
        return
    shown = f"alarms in rounds {found.alarms}, {found.n_alarms} in all, after {found.rounds} rounds"
    expect(all(type(t) is int and 0 <= t < found.rounds for t in found.alarms), shown)
    expect(all(one < other for one, other in pairwise(found.alarms)), shown)
    expect(len(found.alarms) == min(found.n_alarms, _MOST_ALARMS), shown)
