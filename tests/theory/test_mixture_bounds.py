"""The bounds of mixtures: the price of a scale that grows, and of cutting, on random and built paths."""

import numpy as np
import pytest

from driftwise.forecasting import Mixture
from driftwise.learners import FixedShare, Tracker
from driftwise.learners.meta.tracker import _BANKS, _RULES
from driftwise.theory import pathwise_mixture
from references import comparators

PAIRS = _BANKS[True].pairs
FIXED_SHARE_ROWS = [3 * (i + 1) for i in range(len(PAIRS))]  # of the bases: leader, two guesses, then three forms each
SWITCHES = 5


def streams(seed):
    """Return forecasts and truths whose scale grows, in one of several ways, and sometimes a wild truth."""
    rng = np.random.default_rng(seed)
    n_rounds, n_experts = int(rng.integers(5, 150)), int(rng.integers(2, 6))
    scales = {
        0: np.ones(n_rounds),
        1: 2.0 ** np.linspace(-10.0, 0.0, n_rounds),
        2: np.where(np.arange(n_rounds) < n_rounds // 2, 0.01, 1.0),
        3: np.exp(rng.normal(0.0, 1.5, n_rounds)),
    }[seed % 4]
    truths = rng.normal(size=n_rounds).cumsum() * scales
    spread = rng.uniform(0.1, 3.0, n_experts)
    forecasts = truths[:, None] + rng.normal(size=(n_rounds, n_experts)) * spread * scales[:, None]
    if seed % 5 == 0:
        truths[n_rounds // 2] *= 1000.0
    return forecasts, truths


class Played:
    """A mixture that played a stream round by round, with what the bounds need."""

    def __init__(self, learner, forecasts, truths):
        mix = Mixture(forecasts.shape[1], learner=learner)
        self.linear, self.gaps, self.base_weights, self.slack = [], [0.0], [], 0.0
        for row, truth in zip(forecasts, truths, strict=True):
            forecast = mix.predict(row)
            before = mix.counts["cut"]
            if isinstance(learner, Tracker):
                self.base_weights.append(mix._singles[0].stack.arrays()["learner_rule_weights"][0, FIXED_SHARE_ROWS])
            mix.update(truth)
            losses = 2.0 * (forecast - truth) * (row - forecast)
            if mix.counts["cut"] == before:
                self.linear.append(losses)
                if isinstance(learner, Tracker):
                    self.gaps.append(float(mix._singles[0].stack.arrays()["learner_rule_gap"][0, 0]))
            elif isinstance(learner, Tracker):
                self.base_weights.pop()
            self.slack -= losses.min() if mix.counts["cut"] > before else 0.0
        self.linear, self.cut = np.array(self.linear), mix.cut

    def regret(self, switches):
        """The regret of the linear losses, in which the mixture has loss 0, over the rounds that were not cut."""
        return -comparators.best_with_segments(self.linear, switches + 1)[-1]


@pytest.mark.parametrize("seed", range(40))
def test_fixed_share_in_a_mixture_obeys_its_bound(seed):
    pair = [(1.0, 0.01), (3.0, 1e-3), (0.3, 0.1)][seed % 3]
    played = Played(FixedShare(*pair), *streams(seed))
    for switches in range(SWITCHES):
        assert played.regret(switches) <= pathwise_mixture.fixed_share(played.linear, switches, pair) * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_the_default_mixture_obeys_its_bound(seed):
    played = Played(Tracker(both_guesses=True), *streams(seed))
    prior = np.array(_RULES[True].prior)[FIXED_SHARE_ROWS]
    for switches in range(SWITCHES):
        bound = pathwise_mixture.tracker_mixture(
            played.linear, switches, np.array(played.gaps), np.array(played.base_weights), prior, PAIRS
        )
        assert played.regret(switches) <= bound * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(0, 40, 5))
def test_what_is_cut_is_at_most_the_price_that_is_counted(seed):
    played = Played(FixedShare(), *streams(seed))
    assert played.slack <= played.cut * (1 + 1e-12)


def test_summation_by_parts_bounds_the_regret():
    rng = np.random.default_rng(0)
    for _ in range(200):
        regrets, scales = rng.normal(size=30), np.maximum.accumulate(rng.exponential(size=30))
        assert scales @ regrets <= pathwise_mixture.summed_by_parts(regrets, scales) + 1e-12
    assert pathwise_mixture.summed_by_parts(np.ones(3), np.array([1.0, 2.0, 4.0])) == 12.0
