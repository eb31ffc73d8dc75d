"""Grids that take hints."""

# ruff: noqa: ARG002 (methods have the arguments of the contract)

from dataclasses import dataclass

import numpy as np
import pytest

from driftwise.core.errors import InvalidInput
from driftwise.learners import Hedge, OptimisticFixedShare, OptimisticHedge, learners
from driftwise.learners.base import HintedLearner
from driftwise.learners.shared.grid_learner import (
    Bank,
    GridLearner,
    LearnerBank,
    grid,
)
from paths import FAMILIES, make_path
from references import exponential, meta

RATES, PAIRS = (0.5, 4.0), ((0.8, 0.1), (2.0, 0.01))


@dataclass(frozen=True)
class TwoBanks(GridLearner, HintedLearner):
    """Two banks of learners that take hints."""

    def banks(self, n_actions: int) -> list[Bank]:
        hedges = LearnerBank(tuple(OptimisticHedge(rate) for rate in RATES))
        return [hedges, LearnerBank(tuple(OptimisticFixedShare(*pair) for pair in PAIRS))]


BANKS = (OptimisticHedge, OptimisticFixedShare)


@grid("hinted-rule-grid", rule=OptimisticHedge, banks=BANKS)
@dataclass(frozen=True)
class HintedRule(TwoBanks):
    """The rule takes hints, too."""

    def rule(self, n_actions: int) -> OptimisticHedge:
        return OptimisticHedge(1.5)


@grid("plain-rule-grid", rule=Hedge, banks=BANKS)
@dataclass(frozen=True)
class PlainRule(TwoBanks):
    """The rule takes no hints."""

    def rule(self, n_actions: int) -> Hedge:
        return Hedge(1.5)


for name in ("hinted-rule-grid", "plain-rule-grid"):
    del learners._classes[name]  # other tests read the registry


def base_plays(losses, hints):
    return np.array(
        [
            *(meta.optimistic_hedge(losses, hints, rate) for rate in RATES),
            *(exponential.optimistic_fixed_share(losses, *pair, hints) for pair in PAIRS),
        ]
    ).transpose(1, 0, 2)


def reference(kind, losses, hints=None):
    """Return the plays of the bases alone, weighed by the rule; its hint is their loss with the guess."""
    guesses = np.vstack([np.zeros_like(losses[:1]), losses[:-1]]) if hints is None else hints
    plays = base_plays(losses, guesses)
    lost, guessed = (np.einsum("tbk,tk->tb", plays, rows) for rows in (losses, guesses))
    shares = meta.optimistic_hedge(lost, guessed, 1.5) if kind is HintedRule else meta.hedge(lost, 1.5)
    return np.einsum("tb,tbk->tk", np.array(shares), plays)


@pytest.mark.interpreted
@pytest.mark.parametrize("kind", [HintedRule, PlainRule])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_grid_passes_hints_to_its_bases_and_its_rule(family, kind):
    for n_rounds, n_actions in ((1, 3), (10, 1), (25, 4)):
        losses, learner = make_path(family, n_rounds, n_actions, seed=1), kind()
        for hints in (None, losses, 1.0 - losses, make_path("uniform", n_rounds, n_actions, seed=2)):
            played = learner.run(learner.start(n_actions), losses, hints=hints)
            np.testing.assert_allclose(played, reference(kind, losses, hints), rtol=0.0, atol=1e-9)


@pytest.mark.interpreted
@pytest.mark.parametrize("kind", [HintedRule, PlainRule])
def test_stepping_with_hints_writes_the_memory_that_a_block_writes(kind):
    losses, hints, learner = make_path("uniform", 20, 3, seed=1), make_path("coin", 20, 3, seed=2), kind()
    whole, stepped = learner.start(3), learner.start(3)
    played = learner.run(whole, losses, hints=hints)
    for t in range(20):
        learner.hint(stepped, hints[t])
        assert learner.predict(stepped).tobytes() == played[t].tobytes()
        learner.update(stepped, losses[t])
    for field, array in whole.arrays().items():
        assert array.tobytes() == stepped.arrays()[field].tobytes(), field


def test_the_banks_of_a_grid_that_takes_hints_must_take_them():
    what = "the bases of a grid that takes hints must take them, Hedge not"
    with pytest.raises(InvalidInput, match=rf"^wrong: {what}\.$"):
        grid("wrong", rule=Hedge, banks=[OptimisticHedge, Hedge])(TwoBanks)
    assert "wrong" not in learners
