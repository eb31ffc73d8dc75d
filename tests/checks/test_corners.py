"""Bugs at the corners of parameters: the checks pass at the defaults, and one fails at a corner."""

import math
import re

import numpy as np
import pytest

from driftwise.checks import CheckFailed, checks_of
from driftwise.core.corners import LARGEST, SMALLEST
from driftwise.core.kernel import kernel
from driftwise.core.types import Vector
from driftwise.core.vectors import least
from driftwise.learners import FixedShare, Master, Sword, learners
from driftwise.learners.bandits.master import Rates as MasterRates
from driftwise.learners.base.loops import expert_loops
from driftwise.learners.experts.fixed_share import Memory, Rates
from driftwise.learners.shared.distributions import share

LONG = ("weights_survive_a_million_constant_rounds", "choices_survive_a_million_constant_rounds")


@kernel
def _keep_numbers(memory: Memory, rates: Rates, losses: Vector) -> None:
    lowest, mass = least(losses), 0.0
    for k in range(losses.size):
        memory.weights[k] *= np.exp(-rates.scale * rates.rate * (losses[k] - lowest))
        mass += memory.weights[k]
    for k in range(losses.size):
        memory.weights[k] /= mass
    share(memory.weights, rates.switch_rate)


class KeepsNumbers(FixedShare):
    """Weights as numbers, not as logarithms: those too small for a double are lost at switch rate 0."""

    loops = expert_loops("keeps-numbers", (Memory, Rates), _keep_numbers)


class DividesRates(Sword):
    """A ratio of rates overflows where its logarithm would not."""

    def learning_rates(self, n_actions):
        n_halvings = max(0, math.ceil(math.log2(self.largest_rate / math.sqrt(8 / (n_actions * self.n_rounds)))))
        return np.ldexp(self.largest_rate, -np.arange(n_halvings + 1))


class DividesByAChance(Master):
    """A ratio with the smallest chance overflows where its logarithm would not."""

    def rates(self, n_actions):  # noqa: ARG002
        log_term = math.log(self.n_rounds / self.failure_probability)
        return MasterRates(log_term, 6.0 * self.threshold_scale * (math.log2(self.n_rounds) + 1.0) * log_term)


def broken_checks(learner):
    return [
        check.name
        for check in checks_of(learner)
        if check.name not in learner.skipped_checks and not passes(learner, check)
    ]


def passes(learner, check):
    try:
        check(learner, **({"n_rounds": 20_000} if check.name in LONG else {}))
    except (CheckFailed, ArithmeticError):
        return False
    return True


@pytest.mark.parametrize(
    ("broken", "corner"),
    [
        (KeepsNumbers, {"learning_rate": LARGEST, "switch_rate": 0.0}),
        (DividesRates, {"largest_rate": LARGEST}),
        (DividesByAChance, {"failure_probability": SMALLEST}),
    ],
)
def test_a_bug_at_a_corner_is_caught_by_the_checks_there(broken, corner, monkeypatch):
    broken.name = re.sub("(?<!^)(?=[A-Z])", "-", broken.__name__).lower()
    monkeypatch.setattr(learners, "_classes", {broken.name: broken, **learners._classes})
    assert broken_checks(broken()) == []
    assert broken(**corner) in broken.at_corners()
    assert broken_checks(broken(**corner)) != []
