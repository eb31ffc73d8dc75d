"""Sweeps on a Dask cluster: the results of threads, whatever happens to workers and scheduler."""

import logging
import os
import pickle
import signal
import sys
from collections import Counter
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from driftwise import Bernoulli, Environment, OptimisticGD, Replay, Sweep, Switching
from driftwise.adversaries import BanditLow, FullV
from driftwise.cli.main import main
from driftwise.core.errors import InvalidInput, MissingDependency
from driftwise.environments import Beta
from driftwise.learners import UCB1, Exp3, Hedge, OracleRestarts, Player, learners
from driftwise.results import Store
from driftwise.sweeps import Source, executors, run_sweeps
from driftwise.sweeps.executors import ClusterError, connect
from outside_files import ROOT
from sweep_helpers import SMALL, SWITCHING, content, keys, leftovers
from user_modules import FRAGILE, OWN, PATH, PYTHON_GREEDY, import_module

PYTHON = PYTHON_GREEDY.format(name="greedy-on-workers")

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder of users' modules that workers can import."""
    return tmp_path_factory.mktemp("modules")


@pytest.fixture(scope="module")
def client(folder):
    """Return a client of a cluster of two processes, in which a task is lost with its worker at once."""
    source = str(ROOT / "src")
    texts = {"own_on_workers": OWN, "path_on_workers": PATH, "fragile_on_workers": FRAGILE, "python_on_workers": PYTHON}
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [source, str(folder), *sys.path])
        patch.setenv("PYTHONPATH", os.pathsep.join([source, str(folder)]))
        patch.setenv("FRAGILE_FLAG", str(folder / "flag"))
        with (
            dask.config.set({"distributed.scheduler.allowed-failures": 0}),
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=logging.CRITICAL
            ) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            yield client


@pytest.fixture
def own_module(folder, monkeypatch):
    """Import one of the users' modules here, so that no other test sees its classes."""

    def load(name, text):
        monkeypatch.setattr(learners, "_classes", dict(learners._classes))
        sys.modules.pop(name, None)
        return import_module(folder, name, text)

    return load


def test_results_are_those_of_threads_bit_for_bit(client, tmp_path):
    sweep = Sweep(
        [
            SWITCHING,
            Environment(Switching(2, 3), Beta().with_variance(5.0)),
            Replay(np.random.default_rng(1).random((90, 3))),
            FullV(4.0, 0.0),
            FullV(4.0, 0.0, mode="best-response"),
            Source(FullV(4.0, 0.0, mode="best-response"), Player("optimistic-gd", "budget")),
        ],
        [Hedge(), Player("optimistic-gd", "budget"), UCB1(), Exp3()],
        [60, 90],
        n_runs=2,
        seed=[1, 2],
        play="sample",
        curves=True,
    )
    (found,) = run_sweeps([sweep], tmp_path / "cluster", client=client)
    assert content(found) == content(run_sweeps([sweep], tmp_path / "threads")[0])
    assert leftovers(tmp_path / "cluster") == []
    assert len(found.failures()) == 2 * 2 * 2  # recorded losses have no measures


def test_a_cluster_plays_only_what_is_missing(client, tmp_path, monkeypatch):
    SMALL.run(tmp_path, client=client)
    monkeypatch.setattr(executors.DaskExecutor, "submit", lambda *_: pytest.fail("a cell was played"))
    assert len(SMALL.run(tmp_path, client=client).cells) == 16


def test_workers_import_the_modules_of_the_user(client, tmp_path, own_module):
    own = own_module("own_on_workers", OWN)
    waves = own_module("path_on_workers", PATH).Waves(3)
    built = FullV(4.0, 0.0, mode="best-response")
    sweep = Sweep(
        [Environment(waves.with_drift(2.0), Bernoulli()), Source(built, Player("own-hedge"))],
        [own.Own.tuned, Player("own-hedge", "rounds", {"boost": 2.0}), Hedge()],
        50,
        n_runs=2,
    )
    found = sweep.run(tmp_path / "cluster", client=client)
    assert content(found) == content(sweep.run(tmp_path / "threads"))
    assert not found.cells.failed.any()


def test_workers_play_a_learner_in_plain_python(client, tmp_path, own_module):
    greedy = own_module("python_on_workers", PYTHON).Greedy
    sweep = Sweep(
        Source(BanditLow(2, mode="proof", n_copies=2), Player("greedy-on-workers")),
        [greedy(), greedy(0.3)],
        50,
        n_runs=2,
    )
    found = sweep.run(tmp_path / "cluster", client=client)
    assert content(found) == content(sweep.run(tmp_path / "threads"))
    assert not found.cells.failed.any()


def test_workers_import_the_module_of_a_learner_inside_another(client, tmp_path, monkeypatch, folder):
    text = OWN.replace("Hedge", "UCB1").replace("own-hedge", "own-ucb").replace("learning_rate=boost", "scale=boost")
    (folder / "inner_on_workers.py").write_text(text)
    monkeypatch.setattr(learners, "_classes", dict(learners._classes))
    inner = import_module(folder, "inner_on_workers", text)
    sweep = Sweep(SWITCHING, [OracleRestarts(inner.Own(), (10,))], 50, n_runs=1)
    found = sweep.run(tmp_path / "cluster", client=client)
    assert [error for *_, error in found.failures()] == []
    assert content(found) == content(sweep.run(tmp_path / "threads"))


def test_a_module_that_workers_cannot_import_is_named(client, tmp_path, monkeypatch):
    monkeypatch.setattr(learners, "_classes", dict(learners._classes))
    own = import_module(tmp_path, "own_on_this_machine", OWN)
    with pytest.raises(ClusterError) as caught:
        Sweep(SWITCHING, own.Own(), 30).run(tmp_path / "store", client=client)
    hint = "Install it there, or start the workers with its folder in PYTHONPATH."
    assert str(caught.value) == f"A Dask worker cannot import 'own_on_this_machine'. {hint}"
    assert leftovers(tmp_path / "store") == []


def test_a_learner_of_a_script_is_refused(client, tmp_path, monkeypatch):
    monkeypatch.setattr(learners, "_classes", dict(learners._classes))

    @dataclass(frozen=True)
    class Scripted(Hedge):
        """A learner as if it was defined in a script."""

    Scripted.__module__, Scripted.name = "__main__", "scripted"
    learners.add("scripted", Scripted)
    with pytest.raises(InvalidInput) as caught:
        Sweep(SWITCHING, [Scripted()], 30).run(tmp_path, client=client)
    rule = "must be in a module that Dask workers can import, not in a script."
    assert str(caught.value) == f"Sweep: a learner of your own {rule}"


@pytest.mark.parametrize(
    "changed",
    [
        "driftwise.learners.Hedge.version",
        "driftwise.environments.Switching.version",
        "driftwise.sweeps.sources.VERSION",
    ],
)
def test_a_worker_with_another_version_is_refused_in_one_line(changed, client, tmp_path, monkeypatch):
    monkeypatch.setattr(changed, 99)
    with pytest.raises(ClusterError) as caught:
        Sweep(SWITCHING, Hedge(), 30).run(tmp_path, client=client)
    why = "the worker has another version of driftwise or of a learner than the client."
    assert str(caught.value) == f"A Dask worker could not play a batch: {why}"
    with Store(tmp_path) as store:
        assert not store.keys


def test_cells_of_a_killed_worker_are_played_elsewhere(client, tmp_path):
    sweep = Sweep(SWITCHING, [Hedge(), UCB1(), OptimisticGD.tuned], [500, 700], n_runs=20)
    workers = [*client.run(os.getpid).values()]
    assert len(workers) == 2

    def kill(_):
        if workers:  # at the first report, after batches were submitted
            os.kill(workers.pop(), signal.SIGKILL)
            workers.clear()

    found = sweep.run(tmp_path / "cluster", client=client, progress=kill)
    assert workers == []
    assert not found.cells.failed.any()
    assert content(found) == content(sweep.run(tmp_path / "threads"))


def test_a_cell_that_always_kills_its_worker_is_recorded_as_failed(client, folder, tmp_path, own_module, monkeypatch):
    fragile = own_module("fragile_on_workers", FRAGILE).Fragile
    players = [Hedge(), fragile(how="exit"), fragile(how="never"), fragile(how="raise")]
    sweep = Sweep(SWITCHING, players, 30, n_runs=1)
    monkeypatch.setattr(executors, "ATTEMPTS", 1)  # a new worker takes seconds
    (folder / "flag").touch()
    try:
        found = sweep.run(tmp_path / "cluster", client=client)
    finally:
        (folder / "flag").unlink()
    assert [(place.learner, error) for place, _, _, error in found.failures()] == [
        ("fragile(how=exit)", "Its worker died in 1 attempts."),
        ("fragile", "ZeroDivisionError: the learner failed\\nin two lines"),
    ]
    assert found.cells.final[0] == found.cells.final[2] > 0
    assert {*found.cells.keys()} == {*keys(sweep)}


def test_a_batch_and_then_each_of_its_cells_alone_is_submitted_five_times(client, tmp_path, monkeypatch):
    def die(*_):
        raise distributed.KilledWorker("task", worker, 0)  # as the scheduler reports the death of a worker

    worker, submitted = SimpleNamespace(address="somewhere"), []

    def submit(self, batch, attempt):
        submitted.append((len(batch.all_keys), attempt))
        return real(self, batch, attempt)

    real = executors.DaskExecutor._submit
    monkeypatch.setattr(executors, "_play_on_worker", die)
    monkeypatch.setattr(executors.DaskExecutor, "_submit", submit)
    found = Sweep(SWITCHING, Hedge(), 30, n_runs=2).run(tmp_path, client=client)
    assert [error for *_, error in found.failures()] == ["Its worker died in 5 attempts."] * 2
    # Two batches, since Hedge was not timed yet; then each cell alone.
    assert Counter(submitted) == {(1, attempt): 4 for attempt in (1, 2, 3, 4, 5)}
    assert submitted[-5:] == [(1, attempt) for attempt in (1, 2, 3, 4, 5)]


def test_a_batch_is_halved_when_its_worker_died(client, tmp_path, monkeypatch):
    sizes = []

    def submit(self, batch, attempt):
        sizes.append((len(batch.all_keys), attempt))
        return real(self, batch, attempt)

    def die_with_many(modules, content):
        if len(pickle.loads(content).all_keys) > 3:
            raise distributed.KilledWorker("task", SimpleNamespace(address="somewhere"), 0)
        return play(modules, content)

    real, play = executors.DaskExecutor._submit, executors._play_on_worker
    monkeypatch.setattr(executors, "_play_on_worker", die_with_many)
    monkeypatch.setattr(executors.DaskExecutor, "_submit", submit)
    monkeypatch.setattr("driftwise.sweeps.work.Costs.are_known", lambda *_: True)
    monkeypatch.setattr("driftwise.sweeps.work._LEAST_SECONDS", 10.0)
    sweep = Sweep(SWITCHING, Hedge(), 30, n_runs=10)
    found = sweep.run(tmp_path / "cluster", client=client)
    assert sizes == [(10, 1), (5, 2), (5, 2), (2, 3), (3, 3), (2, 3), (3, 3)]
    assert content(found) == content(sweep.run(tmp_path / "threads"))


def test_a_lost_scheduler_stops_the_sweep_and_finished_cells_are_stored(tmp_path, monkeypatch):
    monkeypatch.setattr("driftwise.sweeps.runner._REPORT_EVERY", 0.0)
    monkeypatch.setattr("driftwise.sweeps.runner._STORE_EVERY", 0.0)
    monkeypatch.setattr("driftwise.sweeps.work._LEAST_SECONDS", 1e-9)  # one run in a batch
    monkeypatch.setattr("driftwise.sweeps.work._BATCH_SECONDS", 1e-9)
    sweep = Sweep(SWITCHING, Hedge(), 30, n_runs=200)
    local = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with (
        distributed.LocalCluster(processes=False, **local) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):

        def close(now):
            if now.done:
                cluster.close()

        with pytest.raises(ClusterError) as caught:
            sweep.run(tmp_path, client=client, progress=close)
    assert str(caught.value) == "The connection to the Dask scheduler is lost."
    with Store(tmp_path) as store:
        assert 0 < len(store.keys) < 200
    assert leftovers(tmp_path) == []
    assert len(sweep.run(tmp_path).cells) == 200


def test_an_address_without_a_scheduler_is_reported_in_one_line(monkeypatch):
    monkeypatch.setattr(executors, "_CONNECT_WITHIN", "0.2s")
    address = "tcp://127.0.0.1:1"
    with pytest.raises(ClusterError) as caught:
        connect(address)
    reason = f"Timed out trying to connect to {address} after "
    assert str(caught.value).startswith(f"There is no Dask scheduler at {address!r}: {reason}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("address", ["", "nowhere", "127.0.0.1:8786", "tcp://127.0.0.1"])
def test_text_that_is_no_address_is_rejected(address):
    rule = "the address of a scheduler such as tcp://127.0.0.1:8786"
    with pytest.raises(InvalidInput, match=rf"^sweep: `dask` must be {rule}, got '{address}'\.$"):
        connect(address)


def test_without_the_library_its_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    message = "A Dask cluster needs distributed: install it with `pip install 'driftwise[cluster]'`."
    for use in (lambda: connect("tcp://127.0.0.1:8786"), lambda: SMALL.run(tmp_path, client=object())):
        with pytest.raises(MissingDependency) as caught:
            use()
        assert str(caught.value) == message


def test_the_command_line_uses_a_cluster_and_reports_a_missing_one(client, tmp_path, monkeypatch, capsys):
    text = 'n_rounds = 30\nn_runs = 2\nlearners = [{name = "hedge"}]\n'
    text += 'environments = [{path = {name = "switching", n_segments = 3, n_actions = 3}, noise = "bernoulli"}]\n'
    (tmp_path / "small.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(executors, "_CONNECT_WITHIN", "0.2s")

    def run(address):
        monkeypatch.setattr(sys, "argv", ["driftwise", "sweep", "small.toml", "--quiet", "--dask", address])
        with pytest.raises(SystemExit) as left:
            main()
        return (left.value.code, *capsys.readouterr())

    code, out, err = run("tcp://127.0.0.1:1")
    assert (code, out) == (1, "")
    assert err.startswith("driftwise: There is no Dask scheduler at 'tcp://127.0.0.1:1': ")
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "out").exists()
    monkeypatch.setattr(executors, "_CONNECT_WITHIN", "10s")
    stored = "All 2 cells of the sweep are stored in out/small.\ndriftwise results out/small\n"
    assert run(client.scheduler.address) == (0, stored, "")
