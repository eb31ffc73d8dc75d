"""A first round in which the experts differ by rounding is no scale for long."""

import math

import pytest

from driftwise.forecasting import Mixture
from driftwise.learners import OptimisticHedge

N_ENOUGH = 10  # rounds in which the better expert gets most of the weight, whatever the first round was
FIRST_ROUNDS = {
    "a difference of the size that follows": ((0.0, 4.0), 4.0),
    "no difference": ((0.3, 0.3), 0.3),
    "a difference by rounding": ((0.1 + 0.2, 0.3), 0.3),
    "a difference of the smallest numbers": ((1e-160, 0.0), 0.0),
}
LEARNERS = {
    "default": {},
    "hedge": {"learner": OptimisticHedge(), "hint": "none"},
    "hedge, losses": {"learner": OptimisticHedge(), "hint": "none", "gradient": False},
}


@pytest.mark.interpreted
@pytest.mark.parametrize("options", LEARNERS.values(), ids=LEARNERS)
@pytest.mark.parametrize("first", FIRST_ROUNDS)
def test_the_better_expert_is_preferred_soon_after_any_first_round(first, options):
    mix, (forecasts, truth) = Mixture(2, **options), FIRST_ROUNDS[first]
    mix.predict(forecasts)
    mix.update(truth)
    for t in range(N_ENOUGH):
        truth = 1.0 + 0.1 * math.sin(t)
        mix.predict([truth + 0.01, truth + 4.0])
        mix.update(truth)
    mix.predict([1.0, 5.0])
    assert mix.weights["expert 0"] > 0.75
