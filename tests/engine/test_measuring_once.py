"""One pass over a path gives losses, measures and bounds, equal to the last bit to those of separate passes."""

import dataclasses
import math
import sys

import numpy as np
import pytest

from driftwise import Bernoulli, Deterministic, Environment, OptimisticGD, Replay, RestartedAdaptiveGD, simulate
from driftwise.adversaries import BanditLow, FullV
from driftwise.core.errors import InvalidInput
from driftwise.core.measures import collected
from driftwise.engine import run
from driftwise.environments import (
    Beta,
    Block,
    ClippedGaussian,
    Constant,
    LossSource,
    MeasuresAccumulator,
    Noise,
    PathPreview,
    RandomSegments,
    RandomWalk,
    Segments,
    Sinusoidal,
    Stream,
    Switching,
    Table,
    TwoPoint,
)
from driftwise.environments.paths.path import MeanStream, Path
from driftwise.learners import UCB1, Hedge
from driftwise.regret import comparators

N_ROUNDS, N_RUNS, SEED = 700, 2, 5
ROWS = ((0.1, 0.9, 0.5), (0.8, 0.2, 0.5), (0.8, 0.2, 0.5), (0.3, 0.3, 0.1))
ENVIRONMENTS = {
    "switching": Environment(Switching(7, 4), Bernoulli()),
    "switching at random": Environment(Switching(90, 3, lengths="random"), Beta(0.2)),
    "switching every round": Environment(Switching(N_ROUNDS, 3), Deterministic()),
    "sinusoidal": Environment(Sinusoidal(4, 3), Bernoulli()),
    "random walk": Environment(RandomWalk(3, 0.02), Bernoulli()),
    "segments": Environment(Segments(ROWS, change_points=(3, 64, 512)), ClippedGaussian(0.3)),
    "random segments": Environment(RandomSegments(20, 4), Beta().with_variance(20.0)),
    "constant": Environment(Constant((0.3, 0.4, 0.9)), Bernoulli()),
    "table": Environment(Table(tuple(map(tuple, np.random.default_rng(3).random((N_ROUNDS, 3))))), Deterministic()),
    "with drift": Environment(RandomWalk(3).with_drift(2.0), Bernoulli()),
    "segments with drift and variance": Environment(Switching(9, 4).with_drift(1.2), TwoPoint().with_variance(30.0)),
    "adversary": FullV(drift=2.0, variance=10.0).against(Hedge(), n_rounds=N_ROUNDS),
    "adversary against a bandit": BanditLow(segments=4).against(UCB1(), n_rounds=N_ROUNDS),
}
REPLAYED = Replay(np.random.default_rng(3).random((N_ROUNDS, 3)))
PLAYERS = (Hedge(), OptimisticGD(0.3), UCB1())
every_environment = pytest.mark.parametrize("environment", ENVIRONMENTS.values(), ids=ENVIRONMENTS)


def seed_of(run):
    return np.random.SeedSequence(SEED, spawn_key=(run, 0))


def measured_by_the_round(environment, seed):
    """Return the measures of a run, with a row for every round."""
    block, meter = environment.start(N_ROUNDS, seed).draw(N_ROUNDS), MeasuresAccumulator(environment.n_actions)
    for t in range(N_ROUNDS):
        meter.update(block.means[t : t + 1], block.variances[t : t + 1])
    return meter.measures()


def play(environment, players, **how):
    """Simulate, without warnings about tuning."""
    with collected():
        return simulate(environment, players, N_ROUNDS, N_RUNS, SEED, **how)


def bits(results):
    arrays = (results.regrets, results.bounds)
    return [array.tobytes() for array in arrays], results.measures, repr(results.realised)


@every_environment
def test_measures_are_those_of_a_row_for_every_round(environment):
    expected = [measured_by_the_round(environment, seed_of(run)) for run in range(N_RUNS)]
    assert [environment.measures(N_ROUNDS, seed_of(run)) for run in range(N_RUNS)] == expected
    for players in (PLAYERS, (*PLAYERS, OptimisticGD.tuned)):  # from the rounds as they are played, and before them
        assert list(play(environment, players).measures) == expected


@every_environment
def test_results_are_those_of_blocks_of_one_round(environment):
    assert bits(play(environment, PLAYERS)) == bits(play(environment, PLAYERS, block_size=1))
    requested = [play(environment, PLAYERS, realised=True, block_size=size) for size in (None, 1)]
    assert bits(requested[0]) == bits(requested[1])


@every_environment
def test_measures_before_the_rounds_do_not_change_the_results(environment):
    after, before = (play(environment, players) for players in (PLAYERS, (*PLAYERS, RestartedAdaptiveGD.tuned)))
    assert after.regrets.tobytes() == before.regrets[: len(PLAYERS)].tobytes()
    assert after.bounds.tobytes() == before.bounds[: len(PLAYERS)].tobytes()
    assert (after.measures, repr(after.realised)) == (before.measures, repr(before.realised))


@every_environment
@pytest.mark.parametrize("room", [0, 500, 2**20])
def test_a_measured_start_is_a_start_and_its_measures(environment, room, monkeypatch):
    monkeypatch.setattr(sys.modules[PathPreview.__module__], "_CELLS", 100)  # many blocks in few rounds
    stream, measures = environment.start_measured(N_ROUNDS, seed_of(0), room)
    whole = environment.start(N_ROUNDS, seed_of(0)).draw(N_ROUNDS)
    parts = [stream.draw(n) for n in (1, 30, 7, N_ROUNDS - 38)]
    for i, expected in enumerate(whole):
        assert np.concatenate([part[i] for part in parts]).tobytes() == expected.tobytes()
    assert measures == environment.measures(N_ROUNDS, seed_of(0)) == measured_by_the_round(environment, seed_of(0))


class _Counted(MeanStream):
    def __init__(self, path):
        self.path = path

    def fill(self, means):
        means[:] = 0.5
        self.path.filled.append(len(means))


class Counting(Path):
    """A path that counts the rounds it generates."""

    n_actions, name = 3, "counting"

    def __init__(self):
        self.filled = []

    def start(self, n_rounds, generator):  # noqa: ARG002
        return _Counted(self)

    def to_spec(self):
        return {"name": self.name}


@pytest.mark.parametrize("learner", [OptimisticGD(), OptimisticGD.tuned], ids=["given", "tuned"])
def test_a_path_is_generated_once(learner):
    path = Counting()
    simulate(Environment(path, Bernoulli()), learner, N_ROUNDS, n_runs=3)
    assert sum(path.filled) == 3 * N_ROUNDS


def test_a_path_too_long_to_keep_is_generated_twice(monkeypatch):
    monkeypatch.setattr(run, "_KEPT_BYTES", 8 * 3 * N_ROUNDS - 1)
    path = Counting()
    simulate(Environment(path, Bernoulli()), OptimisticGD.tuned, N_ROUNDS, n_runs=1)
    assert sum(path.filled) == 2 * N_ROUNDS


class _SettlingNoise(Noise):
    """A noise that counts how often it is fitted to a path."""

    def __init__(self):
        self.settled = 0

    def settle(self, preview):  # noqa: ARG002
        self.settled += 1
        return self

    def moments(self, means):
        return means, np.zeros_like(means)

    def draw(self, means, generator):  # noqa: ARG002
        return means.copy()

    def to_spec(self):
        return {"name": "settling"}


def test_a_noise_is_fitted_once_a_run():
    noise = _SettlingNoise()
    simulate(Environment(Switching(3, 2), noise), [OptimisticGD.tuned, Hedge()], N_ROUNDS, n_runs=2)
    assert noise.settled == 2


def test_the_best_loss_is_computed_only_on_request(monkeypatch):
    def fail(*_):
        raise AssertionError("the dynamic program was run")

    monkeypatch.setattr(comparators, "_add_switched", fail)
    environment = ENVIRONMENTS["switching"]
    for players in (PLAYERS, OptimisticGD.tuned):
        results = simulate(environment, players, N_ROUNDS, N_RUNS, SEED)
        assert all(math.isnan(one.best_loss) and one.deviation > 0 for one in results.realised)
    with pytest.raises(AssertionError, match="the dynamic program was run"):
        simulate(environment, PLAYERS, N_ROUNDS, N_RUNS, SEED, realised=True)


def test_requesting_the_best_loss_changes_nothing_else():
    for environment in (ENVIRONMENTS["switching"], REPLAYED):
        without, requested = (
            simulate(environment, PLAYERS, N_ROUNDS, N_RUNS, SEED, realised=flag) for flag in (False, True)
        )
        assert bits(without)[:2] == bits(requested)[:2]
        assert [one[:4] for one in without.realised] == [one[:4] for one in requested.realised]
        assert all(math.isnan(one.best_loss) == (environment is REPLAYED) for one in requested.realised)


def test_results_with_and_without_the_best_loss_can_be_combined(tmp_path):
    one = simulate(ENVIRONMENTS["switching"], Hedge(), N_ROUNDS, N_RUNS, SEED)
    other = simulate(ENVIRONMENTS["switching"], UCB1(), N_ROUNDS, N_RUNS, SEED, realised=True)
    assert one.combine(other).realised == other.combine(one).realised == other.realised
    for name, results in (("one", one), ("other", other)):
        results.to_parquet(tmp_path / f"{name}.parquet")
    again = [type(one).from_parquet(tmp_path / f"{name}.parquet") for name in ("one", "other")]
    assert again[0].combine(again[1]).realised == other.realised
    moved = dataclasses.replace(other, realised=tuple(r._replace(movement=0.0) for r in other.realised))
    with pytest.raises(InvalidInput, match="same `realised`"):
        one.combine(moved)


class Halved(Environment):
    """An environment whose runs are not those of its parts."""

    def start(self, n_rounds, seed=0):
        return _HalvedStream(super().start(n_rounds, seed))

    def measures(self, n_rounds, seed=0):
        found = super().measures(n_rounds, seed)
        return dataclasses.replace(found, variance=found.variance / 4)


class _HalvedStream(Stream):
    def __init__(self, stream):
        super().__init__(stream.n_rounds, stream.n_actions)
        self.stream = stream

    def _next(self, n):
        block = self.stream.draw(n)
        return Block(block.losses / 2, block.means / 2, block.variances / 4)


def test_a_subclass_may_override_its_runs():
    environment = Halved(Switching(3, 2), Bernoulli())
    stream, measures = environment.start_measured(N_ROUNDS, 1, room=2**20)
    assert stream.draw(N_ROUNDS).losses.max() == 0.5
    assert measures == environment.measures(N_ROUNDS, 1)


class WithoutVariances(LossSource):
    """A source with measures but without variances."""

    has_means, n_actions = True, 4

    def start(self, n_rounds, seed=0):
        return _WithoutVariancesStream(ENVIRONMENTS["switching"].start(n_rounds, seed))

    def measures(self, n_rounds, seed=0):
        return ENVIRONMENTS["switching"].measures(n_rounds, seed)

    def to_spec(self):
        return {"name": "secretive"}


class _WithoutVariancesStream(_HalvedStream):
    def _next(self, n):
        return self.stream.draw(n)._replace(variances=None)


def test_a_source_without_variances_gives_its_measures():
    found = simulate(WithoutVariances(), Hedge(), N_ROUNDS, N_RUNS, SEED)
    assert found.measures == simulate(ENVIRONMENTS["switching"], Hedge(), N_ROUNDS, N_RUNS, SEED).measures
