"""The engine against a simple loop; results do not depend on threads, blocks or other learners."""

import functools
import itertools
import threading
import time
import tracemalloc
from dataclasses import replace
from math import fsum, isnan

import numpy as np
import pytest

from driftwise import (
    Bernoulli,
    Deterministic,
    Environment,
    Measures,
    OptimisticAdaptMLProd,
    OptimisticGD,
    Player,
    Replay,
    RerunUCBV,
    RestartedAdaptiveGD,
    SleepingOptimisticAdaptMLProd,
    Switching,
    simulate,
)
from driftwise.core.errors import DriftwiseError, InvalidInput, TuningWarning, UnknownName
from driftwise.environments import Beta, Block, LossSource, RandomWalk, Stream
from driftwise.learners import UCB1, BanditLearner, Exp3, Hedge
from driftwise.results import Dynamic, Interval, Results, Static, Switched
from references.comparators import best_with_segments
from references.measures_reference import measures_reference

N_ROUNDS, N_RUNS, SEED = 60, 3, 7
WANDERING = Environment(RandomWalk(n_actions=3, step=0.05), Bernoulli())
SWITCHING = Environment(Switching(n_segments=4, n_actions=3), Beta(0.2))
PLAYERS = (
    OptimisticGD(0.4),
    RerunUCBV(restart_every=25, failure_probability=0.5),
    RestartedAdaptiveGD(restart_every=16),
    OptimisticAdaptMLProd(),
    SleepingOptimisticAdaptMLProd(),
)
RULES = (OptimisticGD.tuned, RestartedAdaptiveGD.tuned, SleepingOptimisticAdaptMLProd.tuned, RerunUCBV.tuned)
COMPARATORS = (Dynamic(), Static(), Switched(3), Interval(11, 42), Interval(0, 50, action=2))
every_comparator = pytest.mark.parametrize("comparator", COMPARATORS, ids=str)
every_play = pytest.mark.parametrize("play", ["weights", "sample"])
threads = pytest.mark.parametrize("n_threads", [1, 2])


def branch(seed, *key):
    """Return a branch of the seed: (j, 0) for the losses of run j, (j, 1, x) for its learner x, (j, 2, x) for draws."""
    return np.random.SeedSequence(seed, spawn_key=key)


def whole_run(environment, run, n_rounds=N_ROUNDS, seed=SEED):
    """Return the losses of a run, and the means, or the losses again if the means are unknown."""
    block = environment.start(n_rounds, branch(seed, run, 0)).draw(n_rounds)
    return block.losses, block.losses if block.means is None else block.means


def plays_by_hand(learner, losses, run, play="weights", seed=SEED, copy=0):
    """Step a learner through its losses; return its weights, one row per round."""
    n_rounds, n_actions = losses.shape
    state = learner.start(n_actions, int(branch(seed, run, 1, copy).generate_state(1, np.uint64)[0]))
    uniforms = np.random.default_rng(branch(seed, run, 2, copy)).random(n_rounds)
    rows = []
    for t in range(n_rounds):
        if isinstance(learner, BanditLearner):
            action, probability = learner.choose(state)
            learner.update(state, action, losses[t, action], probability)
            weights = np.eye(n_actions)[action]
        else:
            weights = learner.predict(state)
            learner.update(state, losses[t])
        if play == "sample":  # the action in whose share of [0, 1) the uniform number falls
            weights = np.eye(n_actions)[np.searchsorted(np.cumsum(weights), uniforms[t], side="right")]
        rows.append(weights)
    return np.array(rows)


def least_loss(comparator, target):
    if isinstance(comparator, Dynamic):
        return fsum(target.min(axis=1))
    if isinstance(comparator, Switched):
        return best_with_segments(target, comparator.n_segments)[-1]
    sums = [fsum(column) for column in target.T]
    action = getattr(comparator, "action", None)
    return min(sums) if action is None else sums[action]


def regrets_by_hand(comparator, plays, target):
    """Return the regret after every round that counts."""
    first, end = comparator.span(len(target))
    lost = (plays * target).sum(axis=1)
    return [fsum(lost[first:t]) - least_loss(comparator, target[first:t]) for t in range(first + 1, end + 1)]


@every_play
@every_comparator
def test_regret_is_that_of_an_obvious_loop(comparator, play):
    results = simulate(WANDERING, PLAYERS, N_ROUNDS, N_RUNS, SEED, comparator=comparator, play=play, block_size=13)
    for run in range(N_RUNS):
        losses, means = whole_run(WANDERING, run)
        for i, learner in enumerate(PLAYERS):
            expected = regrets_by_hand(comparator, plays_by_hand(learner, losses, run, play), means)
            assert results.regrets[i, run] == pytest.approx(expected, abs=1e-12)
    assert results.comparator == str(comparator)
    assert results.kind == "pseudo"


@pytest.mark.interpreted
@every_play
def test_regret_is_that_of_an_obvious_loop_without_the_compiler(play):
    players = PLAYERS[:2]
    results = simulate(SWITCHING, players, 25, n_runs=1, seed=SEED, play=play, block_size=7)
    losses, means = whole_run(SWITCHING, 0, 25)
    for i, learner in enumerate(players):
        expected = regrets_by_hand(Dynamic(), plays_by_hand(learner, losses, 0, play), means)
        assert results.regrets[i, 0] == pytest.approx(expected, abs=1e-12)


@every_comparator
def test_replayed_losses_have_the_realised_regret_of_the_loop(comparator):
    losses = np.random.default_rng(3).random((N_ROUNDS, 3))
    results = simulate(Replay(losses), PLAYERS, n_runs=2, seed=SEED, comparator=comparator, block_size=17)
    assert (results.kind, results.n_rounds, results.measures) == ("realised", N_ROUNDS, ())
    for run, (i, learner) in itertools.product(range(2), enumerate(PLAYERS)):
        expected = regrets_by_hand(comparator, plays_by_hand(learner, losses, run), losses)
        assert results.regrets[i, run] == pytest.approx(expected, abs=1e-12)
    assert np.isnan(results.bounds).all()
    assert results.environment == {"replay": "Replay"}


def test_a_replay_may_be_cut_short():
    losses = np.random.default_rng(3).random((N_ROUNDS, 2))
    part = simulate(Replay(losses), OptimisticGD(), n_rounds=20, n_runs=1)
    whole = simulate(Replay(losses), OptimisticGD(), n_runs=1)
    assert part.regrets.tobytes() == whole.regrets[:, :, :20].tobytes()


def test_a_replay_has_no_more_rounds_than_recorded():
    with pytest.raises(InvalidInput, match=r"^Replay: `n_rounds` must be <= 3, the rounds recorded, got 4\.$"):
        simulate(Replay(np.zeros((3, 2))), OptimisticGD(), n_rounds=4, n_runs=1)


def files_of(path, players, suffixes=(".parquet",), **how):
    """Return the bytes of the files of one simulation."""
    results = simulate(SWITCHING, players, N_ROUNDS * 2, N_RUNS, SEED, **how)
    found = []
    for suffix in suffixes:
        (results.to_parquet if suffix == ".parquet" else results.plot)(path / f"results{suffix}")
        found.append((path / f"results{suffix}").read_bytes())
    return found


@every_play
def test_the_results_file_does_not_depend_on_threads_or_blocks(play, tmp_path):
    ways = itertools.product([1, 2], [1, 7, 1024])
    files = [files_of(tmp_path, [*PLAYERS, *RULES], n_threads=n, block_size=size, play=play)[0] for n, size in ways]
    assert len(files) == 6
    assert len(set(files)) == 1


@pytest.mark.parametrize("comparator", COMPARATORS[1:], ids=str)
def test_blocks_do_not_change_the_regret_for_any_comparator(comparator):
    curves = [
        simulate(WANDERING, PLAYERS, N_ROUNDS, N_RUNS, comparator=comparator, n_threads=n, block_size=size).regrets
        for n, size in ((1, 1), (2, 7), (2, 1024))
    ]
    assert curves[0].tobytes() == curves[1].tobytes() == curves[2].tobytes()


def test_the_figures_do_not_depend_on_threads_or_blocks(tmp_path):
    suffixes = (".png", ".svg", ".pdf")
    ways = ((1, 7), (2, 1024))
    one, other = (files_of(tmp_path, PLAYERS[:2], suffixes, n_threads=n, block_size=size) for n, size in ways)
    assert one == other


@every_play
def test_a_learner_added_to_the_list_does_not_change_the_others(play):
    few, more = (simulate(SWITCHING, players, N_ROUNDS, N_RUNS, SEED, play=play) for players in (PLAYERS[:2], PLAYERS))
    assert few.regrets.tobytes() == more.regrets[:2].tobytes()
    assert few.bounds.tobytes() == more.bounds[:2].tobytes()


def test_runs_added_do_not_change_the_others():
    few, more = (simulate(WANDERING, PLAYERS, N_ROUNDS, n, SEED, play="sample") for n in (2, 5))
    assert few.regrets.tobytes() == more.regrets[:, :2].tobytes()
    assert few.measures == more.measures[:2]
    assert few.realised == more.realised[:2]


def test_results_depend_on_the_seed_only():
    one, again, other = (simulate(WANDERING, PLAYERS, N_ROUNDS, 2, seed, play="sample") for seed in (1, 1, 2))
    assert one.regrets.tobytes() == again.regrets.tobytes()
    assert one.measures == again.measures
    assert not np.isclose(one.regrets[..., -1], other.regrets[..., -1]).any()
    assert one.measures != other.measures


def test_runs_differ():
    results = simulate(WANDERING, OptimisticGD(), N_ROUNDS, 4)
    assert len(set(results.final("optimistic-gd"))) == 4
    assert len(set(results.measures)) == 4


def test_equal_learners_are_both_present_with_distinct_labels():
    results = simulate(SWITCHING, [OptimisticGD(), RerunUCBV(), OptimisticGD(), OptimisticGD()], N_ROUNDS, 2)
    assert results.labels == ("optimistic-gd", "rerun-ucbv", "optimistic-gd #2", "optimistic-gd #3")
    assert np.array_equal(results.final("optimistic-gd"), results.final("optimistic-gd #3"))


def test_equal_learners_draw_their_actions_independently():
    results = simulate(SWITCHING, [OptimisticGD(), OptimisticGD()], N_ROUNDS, 2, play="sample")
    assert not np.array_equal(*results.regrets)


def test_draws_depend_neither_on_the_label_nor_on_the_other_learners():
    alone = simulate(SWITCHING, {"short": Exp3()}, N_ROUNDS, 2).regrets[0]
    tuned = functools.partial(Exp3.tuned)
    among = simulate(SWITCHING, {"first": UCB1(), "renamed": Exp3(), "rule": tuned, "copy": Exp3()}, N_ROUNDS, 2)
    assert np.array_equal(among.regrets[1], alone)
    assert not np.array_equal(among.regrets[3], alone)
    twice = simulate(SWITCHING, [functools.partial(Exp3.tuned), tuned], N_ROUNDS, 2).regrets
    assert np.array_equal(twice[0], among.regrets[2])
    assert not np.array_equal(*twice)


def test_labels_name_the_parameters_that_were_changed():
    sharp = functools.partial(OptimisticGD.tuned, rule="sharp")
    to_rounds = Player("optimistic-gd", "rounds", {"prox_scale": 0.5})
    results = simulate(SWITCHING, [OptimisticGD(0.5), OptimisticGD.tuned, sharp, to_rounds], N_ROUNDS, 1)
    assert results.labels == (
        "optimistic-gd(learning_rate=0.5)",
        "optimistic-gd (tuned)",
        "optimistic-gd (tuned, rule=sharp)",
        "optimistic-gd (tuned to rounds, prox_scale=0.5)",
    )


def test_labels_of_a_mapping_are_kept():
    results = simulate(SWITCHING, {"slow": OptimisticGD(0.01), "as in theory": OptimisticGD.tuned}, N_ROUNDS, 2)
    assert results.labels == ("slow", "as in theory")
    assert results.learners[0] == {"name": "optimistic-gd", "learning_rate": 0.01, "prox_scale": 1.0}
    assert results.learners[1] == {"name": "optimistic-gd", "tuned": "measures"}
    assert results.played[0] == results.learners[0]
    assert results.played[1]["learning_rate"] == OptimisticGD.tuned(results.measures[0]).learning_rate
    with pytest.raises(UnknownName, match=r"^There is no learner 'slwo' in these results\. Did you mean 'slow'\?$"):
        results.regret("slwo")


def test_results_find_a_learner_by_itself_or_by_its_rule(tmp_path):
    sharp = functools.partial(OptimisticGD.tuned, rule="sharp")
    players = {"slow": OptimisticGD(0.01), "fast": OptimisticGD(0.5), "as in theory": RestartedAdaptiveGD.tuned}
    one, two = simulate(SWITCHING, players, N_ROUNDS, 2), simulate(SWITCHING, [OptimisticGD.tuned, sharp], N_ROUNDS, 2)
    one.to_parquet(tmp_path / "results.parquet")
    for results in (one, Results.from_parquet(tmp_path / "results.parquet")):
        for label, player in players.items():
            assert results.final(player).tolist() == results.final(label).tolist()
            assert results.regret(player) == results.regret(label)
            assert results.caveat(player) == results.caveat(label)
            assert np.array_equal(results.bound(player), results.bound(label), equal_nan=True)
        assert results.difference(OptimisticGD(0.01), "fast") == results.difference("slow", OptimisticGD(0.5))
    assert two.bound(OptimisticGD.tuned) == two.bound("optimistic-gd (tuned)")
    assert two.bound(sharp) == two.bound("optimistic-gd (tuned, rule=sharp)") < two.bound(OptimisticGD.tuned)


def test_a_learner_that_is_missing_or_ambiguous_in_results_is_rejected_in_one_line():
    results = simulate(SWITCHING, [OptimisticGD(), OptimisticGD(), RestartedAdaptiveGD.tuned], N_ROUNDS, 1)
    twice = "'optimistic-gd' is 'optimistic-gd' and 'optimistic-gd #2'."
    expected = {
        OptimisticGD(): f"Results: `learner` must be one label, but {twice}",
        OptimisticGD(0.5): "There is no learner 'optimistic-gd(learning_rate=0.5)' in these results."
        " Known: optimistic-gd, optimistic-gd #2, restarted-adaptive-gd (tuned).",
        RestartedAdaptiveGD(): "There is no learner 'restarted-adaptive-gd' in these results."
        " Did you mean 'restarted-adaptive-gd (tuned)'?",
        OptimisticGD: "Results: `learner` must be a label, or a learner such as Hedge() or Hedge.tuned,"
        f" got {OptimisticGD!r}.",
    }
    for learner, message in expected.items():
        with pytest.raises(DriftwiseError) as caught:
            results.final(learner)
        assert str(caught.value) == message


def test_a_single_learner_needs_no_list():
    results = simulate(SWITCHING, OptimisticGD(), N_ROUNDS, 1)
    assert results.labels == ("optimistic-gd",)


@threads
def test_a_rule_is_called_with_the_measures_of_each_run(n_threads, monkeypatch):
    seen, tuned = {}, OptimisticGD.tuned

    def rule(_, measures):
        seen[measures] = tuned(measures)
        return seen[measures]

    monkeypatch.setattr(OptimisticGD, "tuned", classmethod(rule))
    with pytest.warns(TuningWarning, match=r"^simulate: 'rule': tuning says nothing here: 59 changes in 60 rounds"):
        results = simulate(WANDERING, {"rule": OptimisticGD.tuned}, N_ROUNDS, N_RUNS, SEED, n_threads=n_threads)
    assert set(seen) == set(results.measures)
    assert len({learner.learning_rate for learner in seen.values()}) == N_RUNS
    for run, measures in enumerate(results.measures):
        assert measures == WANDERING.measures(N_ROUNDS, branch(SEED, run, 0))
        losses, means = whole_run(WANDERING, run)
        expected = regrets_by_hand(Dynamic(), plays_by_hand(seen[measures], losses, run), means)
        assert results.regrets[0, run] == pytest.approx(expected, abs=1e-12)
    assert results.played[0]["learning_rate"] == seen[results.measures[0]].learning_rate


def test_measures_and_realised_quantities_are_those_of_the_runs():
    results = simulate(SWITCHING, OptimisticGD(), N_ROUNDS, N_RUNS, SEED, block_size=11, realised=True)
    for run in range(N_RUNS):
        losses, _ = whole_run(SWITCHING, run)
        moves = np.diff(losses, axis=0, prepend=np.zeros((1, 3)))
        assert results.measures[run].segments == 4
        assert results.realised[run].deviation == pytest.approx((moves**2).sum(), rel=1e-13)
        assert results.realised[run].best_loss == pytest.approx(best_with_segments(losses, 4)[-1], rel=1e-13)


def test_a_bound_is_that_of_the_measures_up_to_its_round():
    learner = OptimisticGD(0.4)
    results = simulate(WANDERING, [learner, OptimisticAdaptMLProd()], N_ROUNDS, N_RUNS, SEED, block_size=13)
    marks = results.bound_rounds.tolist()
    assert (marks[0], marks[-1], len(marks)) == (1, N_ROUNDS, 32)
    expected = np.zeros((N_RUNS, len(marks)))
    for run in range(N_RUNS):
        block = WANDERING.start(N_ROUNDS, branch(SEED, run, 0)).draw(N_ROUNDS)
        for i, t in enumerate(marks):
            seen = measures_reference(block.means[:t], block.variances[:t])
            expected[run, i] = learner.bound(Measures(3, t, *seen))
    assert results.bounds[0] == pytest.approx(expected, rel=1e-12)
    assert results.bound(learner) == pytest.approx(expected[:, -1].mean(), rel=1e-12)
    first_only = [True] + [False] * (len(marks) - 1)  # proved without changes
    assert np.isfinite(results.bounds[1]).tolist() == [first_only] * N_RUNS


def test_bounds_are_claimed_for_the_dynamic_and_the_static_pseudo_regret_only():
    for comparator in COMPARATORS:
        claimed = not isnan(
            simulate(SWITCHING, OptimisticGD(), N_ROUNDS, 1, comparator=comparator).bound("optimistic-gd")
        )
        assert claimed == isinstance(comparator, Dynamic | Static)


def test_a_static_bound_is_that_against_a_fixed_action_or_else_the_dynamic_bound():
    players = [Hedge(), OptimisticAdaptMLProd(), Exp3(), OptimisticGD(), UCB1()]
    results = simulate(SWITCHING, players, 400, 4, comparator=Static())
    known = results.measures[0]
    assert known.segments > 1
    for learner in players[:3]:
        assert learner.bound(known) is None
        assert results.bound(learner) == pytest.approx(learner.static_bound(known), rel=1e-12)
    assert OptimisticGD().static_bound(known) is None
    assert results.bound(OptimisticGD()) == pytest.approx(OptimisticGD().bound(known), rel=1e-12)
    assert isnan(results.bound(UCB1()))  # its bound is for means that do not change
    still = replace(known, segments=1, change_points=())
    assert [learner.bound(still) for learner in players[:2]] == [learner.static_bound(known) for learner in players[:2]]
    for i, learner in enumerate(players[:4]):
        assert (results.regrets[i].mean(axis=0)[-1] <= results.bound(learner)).all()


def test_long_curves_are_kept_at_a_thousand_rounds():
    environment, learner = Environment(Switching(4, 3), Deterministic()), OptimisticGD(0.4)
    long = simulate(environment, learner, 2500, 1, SEED, block_size=999)
    assert len(long.rounds) == long.regrets.shape[-1] == 1000
    assert (long.rounds[0], long.rounds[-1]) == (1, 2500)
    assert set(np.diff(long.rounds)) == {2, 3}
    losses, means = whole_run(environment, 0, 2500)
    lost = (plays_by_hand(learner, losses, 0) * means).sum(axis=1) - means.min(axis=1)
    assert long.regrets[0, 0] == pytest.approx(np.cumsum(lost)[long.rounds - 1], abs=1e-9)


@pytest.mark.parametrize("n_rounds", [1, 2, 3])
def test_the_shortest_runs_are_measured_too(n_rounds):
    environment = Environment(Switching(1, 2), Bernoulli())
    results = simulate(environment, PLAYERS, n_rounds, n_runs=2)
    assert results.rounds.tolist() == list(range(1, n_rounds + 1))
    assert results.regrets[0, 0, 0] == pytest.approx(0.1)  # half of the gap 0.2: the first play is uniform


def test_paired_differences_are_the_mean_of_the_differences():
    results = simulate(SWITCHING, PLAYERS[:2], N_ROUNDS, 8, SEED)
    one, other = results.labels
    differences = results.final(one) - results.final(other)
    found = results.difference(one, other)
    assert found.mean == pytest.approx(differences.mean(), rel=1e-14)
    assert found.mean == pytest.approx(results.regret(one).mean - results.regret(other).mean, rel=1e-12)
    assert results.difference(one, one).mean == 0.0
    assert isnan(results.difference(one, one).low)  # the same in every run


@threads
def test_progress_increases_to_the_total(n_threads):
    calls = []
    simulate(SWITCHING, PLAYERS[:2], 50, 4, n_threads=n_threads, block_size=20, progress=lambda *c: calls.append(c))
    done, totals = zip(*calls, strict=True)
    assert set(totals) == {50 * 4 * 2}
    assert all(later > earlier for earlier, later in itertools.pairwise(done))
    assert done[-1] == 400


class Faulty(LossSource):
    """Half losses for all, but in one round of one run a loss outside [0, 1]."""

    has_means, n_actions = False, 2

    def __init__(self, bad_run, bad_round):
        self.bad_run, self.bad_round = bad_run, bad_round
        self.drawn = 0  # over all runs

    def start(self, n_rounds, seed=0):
        return _FaultyStream(self, n_rounds, seed.spawn_key[0])

    def measures(self, *_):
        raise AssertionError("measures were requested from a source without means")

    def to_spec(self):
        return {"name": "faulty"}


class _FaultyStream(Stream):
    def __init__(self, source, n_rounds, run):
        super().__init__(n_rounds, source.n_actions)
        self.source, self.run = source, run

    def _next(self, n):
        losses = np.full((n, 2), 0.5)
        if self.run == self.source.bad_run and 0 <= self.source.bad_round - self._drawn < n:
            losses[self.source.bad_round - self._drawn, 1] = 1.5
        self.source.drawn += n
        return Block(losses, None, None)


def assert_threads_end(before, seconds=10.0):
    """The error does not wait for the other runs; each ends at its next block."""
    end = time.monotonic() + seconds
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.01)
    assert threading.active_count() <= before


@threads
@pytest.mark.parametrize("bad_run", [0, 1])
def test_an_error_in_one_run_ends_them_all(bad_run, n_threads):
    source, before = Faulty(bad_run, bad_round=23), threading.active_count()
    message = r"^simulate: the environment's losses must be in \[0, 1\], got 1\.5 in round 23, action 1\.$"
    with pytest.raises(InvalidInput, match=message):
        simulate(source, OptimisticGD(), 200_000, n_runs=20, n_threads=n_threads, block_size=10)
    others = 0 if n_threads > 1 else bad_run  # with one thread, the runs before the bad one were played out
    assert source.drawn < (others + 0.5) * 200_000
    assert_threads_end(before)


@threads
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_interrupt_from_the_progress_callback_is_raised(error, n_threads):
    before, last = threading.active_count(), []

    def stop(done, total):
        last.append(done)
        if done >= 1000:
            raise error("enough")

    with pytest.raises(error, match="enough"):
        simulate(SWITCHING, OptimisticGD(), 1_000_000, n_runs=4, n_threads=n_threads, block_size=100, progress=stop)
    assert last[-1] < 1_000_000
    assert_threads_end(before)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_rounds": 0}, "simulate: `n_rounds` must be a whole number >= 1, got 0."),
        ({"n_rounds": None}, "simulate: `n_rounds` must be given, unless recorded losses are replayed."),
        ({"n_runs": 0}, "simulate: `n_runs` must be a whole number >= 1, got 0."),
        ({"n_runs": 2.0}, "simulate: `n_runs` must be a whole number >= 1, got 2.0."),
        ({"seed": -1}, "simulate: `seed` must be a whole number >= 0, got -1."),
        ({"n_threads": 0}, "simulate: `n_threads` must be a whole number >= 1, got 0."),
        ({"block_size": 0}, "simulate: `block_size` must be a whole number >= 1, got 0."),
        ({"play": "best"}, "simulate: `play` must be 'weights' or 'sample', got 'best'."),
        ({"realised": 1}, "simulate: `realised` must be True or False, got 1."),
        ({"comparator": Interval(0, 10)}, "Interval: `last` must be < n_rounds = 10, got 10."),
        ({"learners": []}, "simulate: `learners` must name at least one learner, got none."),
        ({"learners": [3]}, "simulate: `learners` must hold learners, got 3."),
        (
            {"learners": OptimisticGD},
            "simulate: `learners` must hold learners, got the class OptimisticGD."
            " Write OptimisticGD() or OptimisticGD.tuned.",
        ),
        (
            {"learners": "optimistic-gd"},
            "simulate: `learners` must hold learners, got the name 'optimistic-gd'. Write OptimisticGD().",
        ),
        (
            {"learners": "optimistc-gd"},
            "There is no learner 'optimistc-gd'. Did you mean 'optimistic-gd'?"
            " If it is your own, import its module first.",
        ),
        (
            {"learners": [print]},
            "simulate: `learners` must hold learners, got <built-in function print>."
            " A rule of your own is the class method `tuned` of a learner of your own.",
        ),
        (
            {"learners": OptimisticAdaptMLProd.tuned},
            "OptimisticAdaptMLProd: it has no rule for tuning; give its parameters.",
        ),
        (
            {"environment": Replay([[0.5, 0.5]]), "learners": OptimisticGD.tuned, "n_rounds": None},
            "'optimistic-gd (tuned)' needs measures for its tuning, but replayed losses have none.",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_invalid_arguments_are_rejected_in_one_form(arguments, message):
    given = {"environment": SWITCHING, "learners": OptimisticGD(), "n_rounds": 10, "n_runs": 1, **arguments}
    with pytest.raises((InvalidInput, UnknownName)) as raised:
        simulate(**given)
    assert str(raised.value) == message


def test_memory_does_not_grow_with_the_rounds():
    environment = Environment(Switching(n_segments=8, n_actions=10), Bernoulli())
    simulate(environment, OptimisticGD(), 10_000, n_runs=1)  # compiles
    tracemalloc.start()
    try:
        simulate(environment, OptimisticGD(), 400_000, n_runs=1)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 30e6  # the losses alone would take 32 MB
