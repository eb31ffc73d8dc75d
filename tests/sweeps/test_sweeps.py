"""Sweeps: cells are those of `simulate`, are identified by their content, and survive whatever happens in between."""

import contextlib
import os
import pickle
import re
import sqlite3
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from driftwise import Bernoulli, Environment, Measures, OptimisticGD, Replay, Sweep, Switching, TwoPoint, simulate
from driftwise.adversaries import BanditLow, FullLow, FullV
from driftwise.core.errors import BadFile, DriftwiseError, InvalidInput
from driftwise.core.measures import collected
from driftwise.engine.run import play_run
from driftwise.environments import Beta, RandomWalk, Sinusoidal
from driftwise.learners import (
    FLH,
    UCB1,
    DetectAndRestart,
    Exp3,
    FixedShare,
    Hedge,
    OracleRestarts,
    Player,
    RerunUCBV,
    learners,
)
from driftwise.results import Dynamic, Interval, Static, Store, Switched, store
from driftwise.sweeps import Progress, Source, run_sweeps
from driftwise.sweeps.batches import Batch
from outside_files import HELPERS, ROOT
from sweep_helpers import SMALL, SWITCHING, TOGETHER, content, keys, leftovers
from user_modules import FRAGILE, import_module

WALK = Environment(RandomWalk(3, step=0.05).with_drift(2.0), Beta(0.2))
PLAYERS = [
    OptimisticGD.tuned,
    Hedge(),
    Exp3(),
    OracleRestarts.tuned,
    RerunUCBV.tuned,
    Player("fixed-share", "rounds"),
    Player("flh", "budget"),
]


@pytest.fixture
def fragile(tmp_path_factory, monkeypatch):
    """Return a learner of a user's module that fails as long as a file exists, and the file."""
    monkeypatch.setattr(learners, "_classes", dict(learners._classes))
    folder = tmp_path_factory.mktemp("fragile")
    flag = folder / "flag"
    flag.touch()
    monkeypatch.setenv("FRAGILE_FLAG", str(flag))
    module = import_module(folder, "fragile_learner", FRAGILE)
    learners.add("fragile", module.Fragile)  # also if an earlier test imported it
    return module.Fragile(), flag


def played(monkeypatch):
    """Count the runs that are played from now on; return the list of them."""
    seen = []

    def count(plan, run):
        seen.append((run, [entry.player.text for entry in plan.players]))
        return play_run(plan, run)

    monkeypatch.setattr("driftwise.sweeps.batches.play_run", count)
    return seen


def forbid_playing(monkeypatch):
    def refuse(*_):
        raise AssertionError("a cell was played")

    monkeypatch.setattr("driftwise.sweeps.batches.play_run", refuse)


# Cells are those of `simulate`


def assert_cells_equal(sweep_results, results):
    """Compare the results of cells with one environment, number of rounds and seed with those of `simulate`."""
    cells = sweep_results.results()
    last = slice(None) if len(cells.rounds) == len(results.rounds) else slice(-1, None)
    assert cells.rounds.tolist() == results.rounds[last].tolist()
    assert cells.regrets.tobytes() == np.ascontiguousarray(results.regrets[:, :, last]).tobytes()
    for i in range(len(results.labels)):
        for run in range(results.n_runs):
            expected = dict(zip(results.bound_rounds.tolist(), results.bounds[i, run].tolist(), strict=True))
            found = dict(zip(cells.bound_rounds.tolist(), cells.bounds[i, run].tolist(), strict=True))
            same = [t for t in expected if t in found or not np.isnan(expected[t])][last]
            assert [found[t] for t in same] == pytest.approx([expected[t] for t in same], rel=0, abs=0, nan_ok=True)
    without_points = [
        Measures(m.n_actions, m.n_rounds, m.segments, m.drift, m.variance, m.drift_within, m.squared_drift)
        for m in results.measures
    ]
    assert list(cells.measures) == without_points
    assert [tuple(map(repr, run)) for run in cells.realised] == [tuple(map(repr, run)) for run in results.realised]
    assert [cells.caveats.get(label) for label in cells.labels] == [results.caveats.get(x) for x in results.labels]
    assert cells.learners == results.learners
    for name in ("comparator", "play", "kind", "n_actions", "n_rounds", "n_runs", "seed"):
        assert getattr(cells, name) == getattr(results, name)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"curves": True},
        {"play": "sample", "curves": True},
        {"comparator": Static(), "curves": True},
        {"comparator": Switched(2)},
        {"comparator": Interval(10, 40, action=1), "curves": True},
        {"realised": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("environment", [SWITCHING, WALK], ids=["switching", "walk"])
def test_cells_equal_those_of_simulate_bit_for_bit(environment, settings, tmp_path):
    sweep = Sweep(environment, PLAYERS, [50, 120], n_runs=2, seed=[0, 5], **settings)
    found = sweep.run(tmp_path)
    assert len(found.cells) == sweep.n_cells
    settings = {"comparator": Dynamic(), **{key: value for key, value in settings.items() if key != "curves"}}
    for n_rounds, seed in [(120, 5), (50, 0)]:
        with collected():
            results = simulate(environment, PLAYERS, n_rounds, 2, seed, **settings)
        assert_cells_equal(found.select(n_rounds=n_rounds, seed=seed), results)


def test_cells_of_recorded_losses_equal_those_of_simulate(tmp_path):
    replay = Replay(np.random.default_rng(3).random((60, 3)))
    players = [Hedge(), Exp3(), Player("fixed-share", "rounds")]
    found = Sweep(replay, players, [40, 60], n_runs=2, curves=True).run(tmp_path)
    for n_rounds in (40, 60):
        assert_cells_equal(found.select(n_rounds=n_rounds), simulate(replay, players, n_rounds, 2))


@pytest.mark.parametrize("adversary", [FullV(4.0, 0.0), FullLow(3, 20.0, n_actions=3), BanditLow(2, 3)], ids=str)
def test_cells_of_a_random_adversary_equal_those_of_simulate(adversary, tmp_path):
    full = [] if adversary.feedbacks == ("bandit",) else [Player("optimistic-gd", "budget"), Hedge()]
    players = [*full, UCB1(), Exp3.tuned]
    with collected():
        found = Sweep(adversary, players, 100, n_runs=2, seed=4).run(tmp_path)
        assert_cells_equal(found, simulate(adversary.against(None, 100, 4), players, 100, 2, 4))


@pytest.mark.parametrize(
    "adversary",
    [FullV(4.0, 0.0, mode="best-response"), FullLow(2, 10.0, n_actions=2, mode="best-response", n_copies=2)],
)
def test_an_adversary_builds_an_environment_against_each_learner(adversary, tmp_path):
    players = [Player("optimistic-gd", "budget"), Player("optimistic-gd", "budget", {"rule": "sharp"}), Hedge(0.5)]
    sweep = Sweep(adversary, players, 60, n_runs=2, seed=[3, 4])
    assert len([*sweep.groups()]) == 3 * 2
    with collected():
        found = sweep.run(tmp_path)
        for player in players:
            for seed in (3, 4):
                budget = adversary.budget(60)
                learner = Player.of(player).learner(adversary.n_actions, 60, budget, budget)
                expected = simulate(adversary.against(learner, 60, seed), player, 60, 2, seed)
                assert_cells_equal(found.select(learner=Player.of(player).label, seed=seed), expected)


def test_all_learners_play_in_an_environment_built_against_a_given_one(tmp_path):
    adversary, target = FullV(4.0, 0.0, mode="best-response"), Player("hedge", "budget")
    sweep = Sweep(Source(adversary, target), [target, FixedShare()], 60, n_runs=1)
    assert len([*sweep.groups()]) == 1
    environment = adversary.against(Hedge.tuned(adversary.budget(60)), 60, 0)
    with collected():
        assert_cells_equal(sweep.run(tmp_path), simulate(environment, [target, FixedShare()], 60, 1))


def test_results_depend_neither_on_threads_nor_on_how_often_a_sweep_was_interrupted(tmp_path):
    sweep = Sweep([SWITCHING, WALK], PLAYERS, [40, 90], n_runs=3, seed=[1, 2], play="sample", curves=True)
    one = sweep.run(tmp_path / "one", n_threads=1)
    several = sweep.run(tmp_path / "several", n_threads=3)
    part = Sweep([WALK], PLAYERS[2:4], [40], n_runs=2, seed=[2, 7], play="sample", curves=True)
    part.run(tmp_path / "parts")
    assert content(sweep.run(tmp_path / "parts")) == content(several) == content(one)
    assert leftovers(tmp_path / "one") == leftovers(tmp_path / "parts") == []


# Keys

BUILT = FullV(4.0, 0.0, mode="best-response")


def one_cell(**changes):
    settings = {"environments": SWITCHING, "learners": Hedge(0.5), "n_rounds": 30, "n_runs": 1, "seed": 0}
    return Sweep(**{**settings, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"environments": Environment(Switching(3, 3, best=0.3), Bernoulli())},
        {"environments": Environment(Switching(3, 3), TwoPoint(0.1))},
        {"environments": FullV(4.0, 0.0, n_actions=3)},
        {"environments": Replay(np.zeros((30, 3)))},
        {"learners": Hedge()},
        {"learners": FixedShare(0.5)},
        {"learners": Hedge.tuned},
        {"n_rounds": 31},
        {"seed": 1},
        {"comparator": "static"},
        {"comparator": "switching:2"},
        {"play": "sample"},
        {"curves": True},
        {"realised": True},
    ],
    ids=str,
)
def test_a_key_changes_with_every_part_of_the_content(changes):
    assert {*keys(one_cell(**changes))}.isdisjoint(keys(one_cell()))


def test_keys_of_all_kinds_of_tuning_runs_and_seeds_differ():
    players = [Hedge(), *(Player("hedge", tuned) for tuned in ("measures", "rounds", "budget"))]
    built = FullV(4.0, 0.0, mode="best-response")
    sweep = Sweep([SWITCHING, WALK, built], players, [20, 30], n_runs=3, seed=[0, 1, 10])
    assert len({*keys(sweep)}) == sweep.n_cells
    assert all(re.fullmatch("[0-9a-f]{32}", key) for key in keys(sweep))


def test_keys_of_recordings_depend_on_every_loss():
    losses = np.random.default_rng(0).random((30, 3))
    changed = losses.copy()
    changed[29, 2] = np.nextafter(changed[29, 2], 1.0)
    assert keys(one_cell(environments=Replay(losses))) == keys(one_cell(environments=Replay(losses.copy())))
    assert keys(one_cell(environments=Replay(losses))) != keys(one_cell(environments=Replay(changed)))
    renamed = Replay(losses, origin="elsewhere.npy")
    assert keys(one_cell(environments=Replay(losses))) == keys(one_cell(environments=renamed))


def test_a_recorded_file_is_sent_to_workers_with_its_losses(tmp_path):
    losses = np.random.default_rng(1).random((50, 2))
    np.save(tmp_path / "losses.npy", losses)
    source = Source(Replay.from_file(tmp_path / "losses.npy"))
    content = pickle.dumps(source)
    (tmp_path / "losses.npy").unlink()
    sent = pickle.loads(content)
    assert sent.spec == source.spec
    assert np.array_equal(sent.environment(50, 0).start(50).draw(50).losses, losses)


def test_keys_depend_neither_on_labels_nor_on_order_nor_on_the_other_cells():
    sweep = Sweep([SWITCHING, WALK], [Hedge(), UCB1()], [20, 30], n_runs=2, seed=[1, 2])
    other = Sweep(
        {"w": WALK, "s": SWITCHING, "new": Environment(Sinusoidal(3), Bernoulli())},
        {"second": UCB1(), "first": {"name": "hedge"}, "third": Exp3()},
        [30, 10, 20],
        n_runs=3,
        seed=[2, 3, 1],
    )
    assert {*keys(sweep)} < {*keys(other)}


def test_a_key_is_the_same_in_every_process():
    """If this key changes, every stored cell is played again."""
    assert keys(one_cell()) == ["fc4421dfb710bc0ee690159f27013b05"]


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("driftwise.learners.Hedge", "version"),
        ("driftwise.environments.Switching", "version"),
        ("driftwise.environments.Bernoulli", "version"),
        ("driftwise.sweeps.sources", "VERSION"),
    ],
)
def test_a_key_changes_with_every_version(module, name, monkeypatch):
    before = keys(one_cell())
    monkeypatch.setattr(f"{module}.{name}", 99)
    assert keys(one_cell()) != before


@pytest.mark.parametrize(
    ("changes", "inner"),
    [
        ({"learners": FLH()}, "driftwise.learners.Hedge"),
        ({"learners": FLH.tuned}, "driftwise.learners.Hedge"),
        ({"learners": Player("flh", "budget", {"base": "optimistic-gd"})}, "driftwise.learners.OptimisticGD"),
        ({"learners": OracleRestarts.tuned}, "driftwise.learners.KLUCB"),
        ({"learners": DetectAndRestart()}, "driftwise.detectors.PageHinkley"),
        ({"environments": WALK}, "driftwise.environments.RandomWalk"),
        (
            {"environments": Environment(Switching(3, 3), Beta().with_variance(5.0))},
            "driftwise.environments.Beta",
        ),
        ({"environments": FullV(4.0, 0.0)}, "driftwise.adversaries.FullV"),
        ({"environments": BUILT, "learners": FLH.tuned}, "driftwise.learners.Hedge"),
        (
            {"environments": Source(BUILT, Player("flh", "budget", {"base": "optimistic-gd"}))},
            "driftwise.learners.OptimisticGD",
        ),
    ],
    ids=str,
)
def test_a_key_changes_with_the_version_of_every_inner_class(changes, inner, monkeypatch):
    before, others = keys(one_cell(**changes)), keys(one_cell(learners=UCB1()))
    monkeypatch.setattr(f"{inner}.version", 99)
    assert keys(one_cell(**changes)) != before
    assert keys(one_cell(learners=UCB1())) == others


# What is played


def test_a_second_run_plays_nothing(tmp_path, monkeypatch):
    first = SMALL.run(tmp_path)
    forbid_playing(monkeypatch)
    assert content(SMALL.run(tmp_path)) == content(first)
    renamed = Sweep({"world": SWITCHING}, {"b": UCB1(), "a": Hedge()}, 30, n_runs=3, seed=[2]).run(tmp_path)
    assert renamed.environments.tolist() == ["world"] * 6
    assert renamed.learners.tolist() == ["b"] * 3 + ["a"] * 3
    assert renamed.cells.final.tolist() == [*first.select(learner="ucb1", seed=2).cells.final[:3],
                                            *first.select(learner="hedge", seed=2).cells.final[:3]]  # fmt: skip


def test_cells_that_sweeps_share_are_played_once(tmp_path, monkeypatch):
    seen = played(monkeypatch)
    other = Sweep([WALK, SWITCHING], [UCB1(), Exp3()], [30, 40], n_runs=2, seed=2)
    one, two = run_sweeps([SMALL, other], tmp_path)
    started = [(run, text) for run, texts in seen for text in texts]
    assert len(started) == len({*keys(SMALL), *keys(other)}) == 16 + 16 - 2
    assert (len(one.cells), len(two.cells)) == (16, 16)
    assert one.cells.keys() == keys(SMALL)
    assert two.cells.keys() == keys(other)


def test_stored_cells_are_there_once_and_have_the_time_of_their_storing(tmp_path):
    results = SMALL.run(tmp_path)
    with Store(tmp_path) as store:
        table = store.table()
    assert sorted(table.keys()) == sorted(keys(SMALL))
    assert (table.cells["stored"] > 0).all()
    assert (table.cells["seconds"] > 0).all()
    assert not results.cells.failed.any()


def test_progress_counts_stored_cells(tmp_path):
    seen = []
    SMALL.run(tmp_path, progress=seen.append)
    assert all(isinstance(one, Progress) for one in seen)
    assert seen[-1] == Progress(16, 16, 0, seen[-1].seconds_left, "")
    assert [one.done for one in seen] == sorted(one.done for one in seen)
    seen.clear()
    SMALL.run(tmp_path, progress=seen.append)
    assert all(one.done == 16 for one in seen)


class Stopped(Exception):
    """Something that no cell raises."""


@pytest.mark.parametrize("error", [Stopped, KeyboardInterrupt])
def test_an_exception_in_the_middle_loses_no_finished_cell(error, tmp_path, monkeypatch):
    seen, enough = played(monkeypatch), threading.Event()

    def interrupt(now):
        if len(seen) >= 3:
            enough.set()
            raise error

    monkeypatch.setattr("driftwise.sweeps.runner._REPORT_EVERY", 0.0)
    monkeypatch.setattr("driftwise.sweeps.work._BATCH_SECONDS", 1e-9)  # one run in a batch
    monkeypatch.setattr("driftwise.sweeps.work._LEAST_SECONDS", 1e-9)
    with pytest.raises(error):
        SMALL.run(tmp_path, n_threads=1, progress=interrupt)
    monkeypatch.undo()
    with Store(tmp_path) as store:
        n_stored = len(store.keys)
    assert leftovers(tmp_path) == []
    again = played(monkeypatch)
    assert content(SMALL.run(tmp_path)) == content(SMALL.run(tmp_path / "uninterrupted"))
    assert sum(len(texts) for _, texts in again) == 16 - n_stored + 16


def test_an_error_in_a_thread_stops_the_sweep_and_stores_what_was_finished_before(tmp_path, monkeypatch):
    seen = []

    def fail(plan, run):
        seen.append(run)
        if len(seen) > 3:
            raise KeyboardInterrupt("no error of a cell")
        return play_run(plan, run)

    monkeypatch.setattr("driftwise.sweeps.batches.play_run", fail)
    monkeypatch.setattr("driftwise.sweeps.runner._STORE_EVERY", 1e9)
    with pytest.raises(KeyboardInterrupt, match="no error of a cell"):
        SMALL.run(tmp_path, n_threads=1)
    with Store(tmp_path) as store:
        assert len(store.keys) == 2 * 3


# Cells that fail


def test_a_learner_that_fails_is_recorded_and_stops_nothing(fragile, tmp_path, monkeypatch):
    learner, flag = fragile
    sweep = Sweep([SWITCHING, WALK], [Hedge(), learner, UCB1()], 30, n_runs=2)
    results = sweep.run(tmp_path)
    assert repr(results) == "SweepResults(12 cells: 2 environments, 3 learners, 1 number of rounds, 1 seed, 4 failed)"
    error = "ZeroDivisionError: the learner failed\\nin two lines"
    assert [(place.learner, seed, run, text) for place, seed, run, text in results.failures()] == [
        ("fragile", 0, 0, error), ("fragile", 0, 1, error), ("fragile", 0, 0, error), ("fragile", 0, 1, error)
    ]  # fmt: skip
    alone = Sweep([SWITCHING, WALK], [Hedge(), UCB1()], 30, n_runs=2).run(tmp_path / "alone")
    for name in ("hedge", "ucb1"):
        assert content(results.select(learner=name)) == content(alone.select(learner=name))
    rows = {row.place.learner: (row.n_cells, row.n_failed) for row in results.summaries()}
    assert rows == {"hedge": (2, 0), "fragile": (0, 2), "ucb1": (2, 0)}
    flag.unlink()
    assert content(sweep.run(tmp_path)) == content(results), "without being asked, nothing is played again"
    seen = played(monkeypatch)
    (retried,) = run_sweeps([sweep], tmp_path, retry_failed=True)
    assert sum(len(texts) for _, texts in seen) == 4
    assert not retried.cells.failed.any()
    assert np.array_equal(retried.select(learner="fragile").cells.final, retried.select(learner="hedge").cells.final)


def test_retrying_leaves_failed_cells_of_other_sweeps(fragile, tmp_path):
    learner, flag = fragile
    one, other = (Sweep(SWITCHING, learner, 30, n_runs=2, seed=seed) for seed in (1, 2))
    run_sweeps([one, other], tmp_path)
    flag.unlink()
    run_sweeps([one], tmp_path, retry_failed=True)
    assert not one.run(tmp_path).cells.failed.any()
    assert other.run(tmp_path).cells.failed.all()


def test_an_environment_that_fails_is_recorded_for_all_its_learners(tmp_path):
    sweep = Sweep([SWITCHING, Environment(Switching(8, 3), Bernoulli())], [Hedge(), UCB1()], [5, 20], n_runs=2)
    (results,) = run_sweeps([sweep], tmp_path)  # without the check
    failures = results.failures()
    assert len(failures) == 4
    assert {(place.n_rounds, error) for place, _, _, error in failures} == {(5, failures[0][3])}
    assert failures[0][3].startswith("Switching: ")
    with pytest.raises(DriftwiseError) as caught:
        sweep.run(tmp_path)
    assert str(caught.value) == failures[0][3]


def test_a_bad_parameter_in_a_long_sweep_is_found_before_anything_is_played(tmp_path):
    player = Player("fixed-share", "measures", {"switch_rate": 7.0})
    sweep = Sweep(Environment(Switching(3, 10), Bernoulli()), player, 10**7, n_runs=1)
    with pytest.raises(InvalidInput, match=r"`switch_rate` must be in \[0, 1\], got 7\.0\.$"):
        sweep.run(tmp_path / "store")
    assert not (tmp_path / "store").exists()


def test_a_rule_that_needs_measures_fails_on_recorded_losses(tmp_path):
    sweep = Sweep(Replay(np.zeros((20, 2))), [Hedge.tuned, Hedge()], 20, n_runs=1)
    (results,) = run_sweeps([sweep], tmp_path)  # without the check
    error = "'hedge (tuned)' needs measures for its tuning, but replayed losses have none."
    assert [text for *_, text in results.failures()] == [error]
    assert results.select(learner="hedge").cells.final.tolist() == [0.0]


# Several at once


PROGRAM = """
import sys, time
from pathlib import Path
import started_cells
from sweep_helpers import TOGETHER
Path(sys.argv[2]).touch()
while not Path(sys.argv[1], "go").exists():
    time.sleep(0.01)
TOGETHER.run(Path(sys.argv[1], "store"), n_threads=1)
"""


def test_two_processes_fill_one_folder_and_play_each_cell_once(tmp_path):
    journal = tmp_path / "journal"
    variables = {
        **os.environ,
        "STARTED_CELLS": str(journal),
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(HELPERS)]),
    }
    ready = [tmp_path / "first", tmp_path / "second"]
    workers = [
        subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path), str(one)], env=variables) for one in ready
    ]
    try:
        while not all(one.exists() for one in ready) and all(worker.poll() is None for worker in workers):
            time.sleep(0.01)
        (tmp_path / "go").touch()
        assert [worker.wait(timeout=60) for worker in workers] == [0, 0]
    finally:
        for worker in workers:
            worker.kill()
    started = [line.split()[0] for line in journal.read_text().splitlines()]
    assert sorted(started) == sorted(keys(TOGETHER))
    assert content(TOGETHER.run(tmp_path / "store")) == content(TOGETHER.run(tmp_path / "alone"))
    assert leftovers(tmp_path / "store") == []


def test_two_threads_fill_one_folder_and_play_each_cell_once(tmp_path, monkeypatch):
    seen = played(monkeypatch)
    sweep, found = Sweep(SWITCHING, [Hedge(), UCB1()], [200, 300], n_runs=10, seed=[1, 2]), []
    barrier = threading.Barrier(2)

    def run():
        barrier.wait()
        found.append(sweep.run(tmp_path, n_threads=1))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 2
    assert content(found[0]) == content(found[1])
    assert sum(len(texts) for _, texts in seen) == sweep.n_cells


def test_cells_that_were_played_twice_are_stored_once(tmp_path, monkeypatch):
    """As on a file system without locks for claims."""
    seen, barrier = played(monkeypatch), threading.Barrier(2)
    monkeypatch.setattr(Store, "claim", lambda _, wanted, most: [*wanted][:most])

    def run():
        barrier.wait()
        SMALL.run(tmp_path, n_threads=1)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(len(texts) for _, texts in seen) >= SMALL.n_cells
    with contextlib.closing(sqlite3.connect(tmp_path / "cells.sqlite")) as db:
        stored = [key for (key,) in db.execute("SELECT key FROM cells")]
    assert sorted(stored) == sorted(keys(SMALL))


def test_cells_that_another_process_has_claimed_are_waited_for(tmp_path, monkeypatch):
    """The other process ends without storing them; then they are played here."""
    seen, notes = played(monkeypatch), []
    other = Store(tmp_path)
    mine = keys(SMALL)[:5]
    assert other.claim(mine, 5) == mine

    def progress(now):
        notes.append(now.note)
        if now.note:
            assert sum(len(texts) for _, texts in seen) == 11
            other.close()

    results = SMALL.run(tmp_path, progress=progress)
    assert "waiting for cells that another process plays" in notes
    assert sum(len(texts) for _, texts in seen) == 16
    assert len(results.cells) == 16


# Files and disks


@pytest.mark.parametrize("damage", ["cut short", "one byte"])
def test_a_damaged_file_is_moved_aside_and_its_cells_are_played_again(damage, tmp_path):
    first = SMALL.run(tmp_path)
    file = tmp_path / "cells.sqlite"
    data = bytearray(file.read_bytes())
    if damage == "one byte":
        data[data.index(first.cells.final[5].tobytes())] ^= 1
    file.write_bytes({"cut short": data[:5000], "one byte": data}[damage])
    again = SMALL.run(tmp_path)
    assert content(again) == content(first)
    assert [found.name for found in again.damaged] == [file.name]
    assert len([*(tmp_path / "damaged").iterdir()]) == 1
    assert SMALL.run(tmp_path).damaged == ()


def test_a_full_disk_stops_the_sweep_with_one_error_and_a_later_run_completes(tmp_path, monkeypatch):
    SMALL.run(tmp_path)
    sweep = Sweep(SWITCHING, [Hedge(), UCB1()], 30, n_runs=6, seed=[1, 2])

    def full(path, mode, **options):
        db = connect(path, mode, **options)
        db.execute("PRAGMA max_page_count = 1")  # that is, no further page
        return db

    connect = store._connect
    with monkeypatch.context() as patched:
        patched.setattr(store, "_connect", full)
        with pytest.raises(BadFile, match=r"^Cannot use the store [^\n]*: database or disk is full\.$"):
            sweep.run(tmp_path)
    assert leftovers(tmp_path) == []
    with Store(tmp_path) as opened:
        assert sorted(opened.keys) == sorted(keys(SMALL))
        assert opened.damaged == ()
    results = sweep.run(tmp_path)
    assert len(results.cells) == 24
    assert results.damaged == ()


def test_a_folder_that_cannot_be_made_is_rejected_before_anything_is_played(tmp_path, monkeypatch):
    forbid_playing(monkeypatch)
    (tmp_path / "file").touch()
    with pytest.raises(BadFile, match=r"^Cannot write .*: Not a directory\.$"):
        SMALL.run(tmp_path / "file" / "folder")


# Labels


def test_labels_are_those_of_the_mapping_or_made_from_the_specs(tmp_path):
    results = Sweep({"x": SWITCHING, "path": WALK}, {"name": Hedge(), "y": UCB1()}, 20, n_runs=1).run(tmp_path)
    assert [*zip(results.environments, results.learners, strict=True)] == [
        ("x", "name"), ("x", "y"), ("path", "name"), ("path", "y")
    ]  # fmt: skip
    made = Sweep([SWITCHING, FullV(4.0, 0.0)], [Hedge(0.5), FixedShare.tuned], 20)
    assert [*made.sources] == [
        "switching(n_segments=3, n_actions=3), bernoulli",
        made.sources.popitem()[1].label,
    ]
    assert [*made.players] == ["hedge(learning_rate=0.5)", "fixed-share (tuned)"]


def test_an_environment_built_against_each_learner_has_one_label(tmp_path):
    adversary = FullV(4.0, 0.0, mode="best-response")
    results = Sweep({"worst case": adversary}, [Hedge(), FixedShare()], 30, n_runs=1).run(tmp_path)
    assert results.environments.tolist() == ["worst case"] * 2
    assert len({*results.cells.texts["environment"]}) == 2


# Arguments


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"environments": []}, "Sweep: `environments` must have at least one member, got none."),
        ({"environments": {}}, "Sweep: `environments` must have at least one member, got none."),
        ({"learners": []}, "Sweep: `learners` must have at least one member, got none."),
        ({"learners": {1: Hedge()}}, "Sweep: `learners` must have text for labels, got 1."),
        ({"learners": [Hedge(), Hedge()]}, "Sweep: `learners` has 'hedge' twice."),
        ({"learners": {"a": Hedge(), "b": Hedge()}}, "Sweep: `learners` has 'a' again as 'b'."),
        ({"environments": {"a": SWITCHING, "b": SWITCHING}}, "Sweep: `environments` has 'a' again as 'b'."),
        (
            {"learners": "hedge"},
            "A player must be a learner, `X.tuned` of a learner X, or a Player, got 'hedge'.",
        ),
        (
            {"environments": 3},
            "Sweep: `environments` must hold an Environment, a Replay or an adversary, got int.",
        ),
        (
            {"environments": FullV(2.0, 0.0).against(None, 30)},
            "Sweep: `environments` must hold an Environment, a Replay or an adversary, got AdversarialEnvironment."
            " Give the adversary, not what its `against` returns.",
        ),
        ({"n_rounds": 0}, "Sweep: `n_rounds` must be a whole number >= 1, got 0."),
        ({"n_rounds": 1.5}, "Sweep: `n_rounds` must be a whole number >= 1, got 1.5."),
        ({"n_rounds": True}, "Sweep: `n_rounds` must be a whole number >= 1, got True."),
        ({"n_rounds": "30"}, "Sweep: `n_rounds` must be a whole number >= 1, got '30'."),
        ({"n_rounds": []}, "Sweep: `n_rounds` must have at least one value, got none."),
        ({"n_rounds": [5, 5]}, "Sweep: `n_rounds` must have distinct values, got [5, 5]."),
        ({"seed": -1}, "Sweep: `seed` must be a whole number >= 0, got -1."),
        ({"seed": 2**63}, "Sweep: `seed` must be a whole number in [0, 2^62], got 9223372036854775808."),
        ({"n_runs": 0}, "Sweep: `n_runs` must be a whole number >= 1, got 0."),
        ({"comparator": 3}, "Sweep: `comparator` must be a comparator such as `Static()`, or its text, got 3."),
        (
            {"comparator": "best"},
            "Sweep: `comparator` must be dynamic, static, switching:N or interval:FIRST-LAST[@ACTION], got 'best'.",
        ),
        ({"comparator": Interval(0, 40)}, "Interval: `last` must be < n_rounds = 30, got 40."),
        ({"play": "best"}, "Sweep: `play` must be 'weights' or 'sample', got 'best'."),
        ({"curves": 1}, "Sweep: `curves` must be True or False, got 1."),
        ({"realised": None}, "Sweep: `realised` must be True or False, got None."),
        ({"n_runs": 10**8 + 1}, "Sweep: it must have at most 100000000 cells, got 100000001."),
    ],
    ids=str,
)
def test_a_sweep_with_a_bad_argument_is_rejected(changes, message):
    with pytest.raises(InvalidInput) as caught:
        one_cell(**changes)
    assert str(caught.value) == message


def test_an_adversary_that_needs_no_learner_is_not_built_against_one():
    with pytest.raises(InvalidInput) as caught:
        Source(FullV(4.0, 0.0), Player("hedge"))
    rule = "given only with an adversary that is built against a learner"
    assert str(caught.value) == f"Sweep: `against` must be {rule}, got Player('hedge')."


def test_a_sweep_may_have_many_cells_and_is_made_at_once():
    sweep = Sweep([SWITCHING, WALK], [Hedge(), UCB1()], [10, 20], n_runs=10**6, seed=range(10))
    assert sweep.n_cells == 8 * 10**7


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_threads": 0}, "Sweep: `n_threads` must be a whole number >= 1, got 0."),
        ({"client": 3}, "Sweep: `client` must be a synchronous distributed.Client, got int."),
    ],
)
def test_a_bad_argument_of_run_is_rejected(settings, message, tmp_path):
    with pytest.raises(InvalidInput) as caught:
        SMALL.run(tmp_path, **settings)
    assert str(caught.value) == message


def test_batches_have_every_cell_once():
    (group,) = Sweep(SWITCHING, [Hedge(), UCB1(), Exp3()], 30, n_runs=4).groups()
    batch = Batch.of(group)
    assert batch.restrict(lambda _: True) == [batch]
    assert batch.restrict(lambda _: False) == []
    wanted = {*batch.all_keys[1:10:2]}
    parts = batch.restrict(wanted.__contains__)
    assert sorted(key for part in parts for key in part.all_keys) == sorted(wanted)
    assert all(Batch.of(part.group) == part for part in parts)
    assert sorted(key for one in batch.single_cells() for key in one.all_keys) == sorted(batch.all_keys)
