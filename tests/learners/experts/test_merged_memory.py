"""Algorithm 4 with merged memory: the recursion against plain lists, and what merging costs against exact memory."""

import numpy as np
import pytest

from driftwise import Bernoulli, Deterministic, Environment, SleepingOptimisticAdaptMLProd, Switching, simulate
from driftwise.environments import RandomWalk, Sinusoidal, TwoPoint
from paths import MAKERS
from references.sleeping import merged

ENVIRONMENTS = {
    "switching": Environment(Switching(6, 10), Bernoulli()),
    "noiseless": Environment(Switching(6, 2), Deterministic()),
    "stationary": Environment(Switching(1, 5), Bernoulli()),
    "sinusoid": Environment(Sinusoidal(10, 3.0, 0.3), TwoPoint().with_variance(50.0)),
    "wandering": Environment(RandomWalk(5, 0.01), Bernoulli()),
}


@pytest.mark.parametrize("n_actions", [1, 2, 5])
@pytest.mark.parametrize("resolution", [1, 2, 5])
@pytest.mark.parametrize("n_rounds", [None, 150])
@pytest.mark.parametrize("family", MAKERS)
def test_the_weights_are_those_of_plain_lists(family, n_rounds, resolution, n_actions):
    losses = MAKERS[family](np.random.default_rng(3), 150, n_actions)
    learner = SleepingOptimisticAdaptMLProd("merged", n_rounds, resolution)
    played = learner.run(learner.start(n_actions), losses)
    assert played == pytest.approx(merged(losses, resolution, n_rounds), abs=1e-9)


@pytest.mark.parametrize("environment", ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def test_merging_costs_less_than_a_hundredth_of_the_regret(environment):
    players = {memory: SleepingOptimisticAdaptMLProd(memory) for memory in ("exact", "merged")}
    results = simulate(environment, players, 1000, 2, seed=1)
    assert results.regret("merged").mean == pytest.approx(results.regret("exact").mean, rel=0.01)


@pytest.mark.parametrize("resolution", [1, 2, 5])
def test_rows_are_few_and_hold_every_start(resolution):
    learner = SleepingOptimisticAdaptMLProd("merged", resolution=resolution)
    state = learner.start(2)
    for n in range(1, 3000):
        learner.update(state, [0.0, 1.0])
        rows = state.memory.awake[0]
        sizes = state.memory.size[:rows]
        assert sizes.sum() == n + 1
        assert (np.diff(sizes) <= 0).all()
        assert np.unique(sizes, return_counts=True)[1].max() <= resolution
    assert rows <= resolution * (np.log2(n) + 1)


def test_no_bound_is_claimed_for_it():
    measures = ENVIRONMENTS["switching"].measures(100)
    assert SleepingOptimisticAdaptMLProd("merged").bound(measures) is None
    assert SleepingOptimisticAdaptMLProd.tuned(measures, memory="merged") == SleepingOptimisticAdaptMLProd(
        "merged", 100
    )
