"""A worker of a Dask cluster that returns something else than the cells of its batch, and a client that sends none."""

import logging
import pickle

import numpy as np
import pytest

import fuzz_sweeps
from driftwise import Environment, Sweep
from driftwise.environments import Bernoulli, Switching
from driftwise.learners import UCB1, Hedge, Player
from driftwise.results import Store
from driftwise.sweeps import executors
from driftwise.sweeps.batches import Batch
from driftwise.sweeps.executors import ClusterError
from driftwise.sweeps.messages import Finished, read_message, write_message
from sweep_helpers import SMALL, content

distributed = pytest.importorskip("distributed")

CELLS = "it must have the 1 cells of its batch, each once, got {} with {} of their keys."
WRONG = "A Dask worker returned a wrong reply, which is not stored: "


@pytest.fixture(scope="module")
def client():
    """Return a client of a cluster with one worker, in this process."""
    local = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.CRITICAL}
    with (
        distributed.LocalCluster(processes=False, **local) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def forge(monkeypatch):
    """Let the worker return a changed reply."""

    def start(change, whole=False):
        play = executors._play_on_worker

        def forged(modules, message):
            reply = play(modules, message)
            return change(reply) if whole else write_message(change(read_message(reply)))

        monkeypatch.setattr(executors, "_play_on_worker", forged)

    return start


def records(**changes):
    """Return a function that changes fields of all records of a reply."""

    def change(finished):
        changed = [
            record._replace(**{name: make(record) for name, make in changes.items()}) for record in finished.records
        ]
        return Finished(changed, finished.machine)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (records(run=lambda record: record.run + 77), "`run` must be that of the cell, "),
        (records(seed=lambda _: 3), "`seed` must be that of the cell, "),
        (records(n_rounds=lambda _: 31), "`n_rounds` must be that of the cell, 30, got 31."),
        (records(n_actions=lambda _: 2), "`n_actions` must be that of the cell, 3, got 2."),
        (records(environment=lambda _: "{}"), "`environment` must be that of the cell, "),
        (records(learner=lambda _: '{"name":"boa"}'), "`learner` must be that of the cell, "),
        (records(comparator=lambda _: "static"), "`comparator` must be that of the cell, dynamic, got 'static'."),
        (records(play=lambda _: "sample"), "`play` must be that of the cell, weights, got 'sample'."),
        (records(kind=lambda _: "realised"), "`kind` must be 'pseudo', got 'realised'."),
        (records(machine=lambda _: "0" * 8), "`machine` must be that of its cells, "),
        (records(segments=lambda _: 31), "`segments` must be at most n_rounds, got 31."),
        (records(drift=lambda _: np.inf), "`drift` must be finite, or NaN, got inf."),
        (records(regrets=lambda record: record.regrets * np.nan), "the regret must be in [-30, 30], got nan."),
        (records(regrets=lambda record: record.regrets + 31), "the regret must be in [-30, 30], got "),
        (records(rounds=lambda record: record.rounds - 1), "`rounds` must be the marked rounds, got array([29])."),
        (
            records(rounds=lambda _: [29, 30], regrets=lambda _: [0.0, 0.0], bounds=lambda _: [0.0, 0.0]),
            "`rounds` must be the marked rounds, got [29, 30].",
        ),
        (
            records(error=lambda _: "x" * 501, regrets=lambda _: [np.nan]),
            "`error` must be a text of at most 500 characters, got ",
        ),
        (records(key=lambda _: "0" * 32), CELLS.format(1, 0)),
        (
            lambda finished: Finished(2 * finished.records, finished.machine),
            CELLS.format(2, 1),
        ),
        (
            lambda finished: Finished([], finished.machine),
            CELLS.format(0, 0),
        ),
        (lambda _: None, "`reply` must be the records of a batch, got None."),
        (lambda finished: tuple(finished), "`reply` must be the records of a batch, got (["),
        (lambda finished: Finished(finished.records, None), "`machine` must be an id and the facts of a machine, "),
    ],
)
def test_a_reply_that_is_not_of_its_batch_stops_the_sweep_and_is_not_stored(change, message, client, tmp_path, forge):
    forge(change)
    with pytest.raises(ClusterError) as caught:
        SMALL.run(tmp_path, client=client)
    assert str(caught.value).startswith(f"{WRONG}Reply: {message}")
    with Store(tmp_path) as store:
        assert not store.keys


def test_a_field_of_another_type_is_not_stored(client, tmp_path, forge):
    forge(records(seed=lambda _: "1"))
    with pytest.raises(ClusterError) as caught:
        SMALL.run(tmp_path, client=client)
    assert str(caught.value) == f"{WRONG}CellRecord: `seed` must be a whole number, got '1'."


def flipped(message):
    return message[:100] + bytes([message[100] ^ 4]) + message[101:]


@pytest.mark.parametrize("change", [flipped, lambda message: message[:-1], lambda message: message + b"x", lambda _: 3])
def test_a_damaged_reply_is_not_stored(change, client, tmp_path, forge):
    forge(change, whole=True)
    with pytest.raises(ClusterError) as caught:
        SMALL.run(tmp_path, client=client)
    reason = "a message between client and worker was damaged, or is of another version of driftwise."
    assert str(caught.value) == f"{WRONG}{reason}"
    with Store(tmp_path) as store:
        assert not store.keys


def test_a_worker_refuses_a_message_of_another_version(monkeypatch):
    message = write_message(Batch.of(next(SMALL.groups())))
    monkeypatch.setattr("driftwise.sweeps.messages._PERSON", b"0.0.1")
    with pytest.raises(ClusterError, match=r"^a message .* is of another version of driftwise\.$"):
        executors._play_on_worker((), message)


def test_cells_that_were_right_are_stored_and_the_next_call_continues(client, tmp_path, monkeypatch):
    read, replies = executors._reply, []

    def damaged(batch, message):
        replies.append(message)
        return read(batch, message if len(replies) < 3 else b"")

    with monkeypatch.context() as patch:
        patch.setattr(executors, "_reply", damaged)
        with pytest.raises(ClusterError):
            SMALL.run(tmp_path / "cluster", client=client)
    with Store(tmp_path / "cluster") as store:
        assert 0 < len(store.keys) < 16
    assert content(SMALL.run(tmp_path / "cluster", client=client)) == content(SMALL.run(tmp_path / "threads"))


class _Unreadable(Exception):
    """An error without a text, which no client can unpickle."""

    def __str__(self):
        raise RuntimeError("no text")

    def __reduce__(self):
        raise RuntimeError("no pickle")


def test_an_error_without_a_text_is_named_by_its_class(client, tmp_path, monkeypatch):
    def fail(*_):
        raise _Unreadable

    monkeypatch.setattr(executors, "play_batch", fail)
    with pytest.raises(ClusterError) as caught:
        SMALL.run(tmp_path, client=client)
    assert str(caught.value) == "A Dask worker could not play a batch: _Unreadable"


def test_a_module_that_ends_its_process_does_not_end_the_worker(tmp_path, monkeypatch):
    (tmp_path / "ends_its_process.py").write_text("import sys\nsys.exit(3)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ClusterError, match=r"^SystemExit: 3$"):
        executors._play_on_worker(("ends_its_process",), write_message(Batch.of(next(SMALL.groups()))))


def batch():
    return Batch.of(next(SMALL.groups()))


@pytest.mark.parametrize(
    ("request_of", "message"),
    [
        (lambda: None, "the client sent no valid batch: Batch: `batch` must be a batch, got None."),
        (lambda: tuple(batch()), "the client sent no valid batch: Batch: `batch` must be a batch, got "),
        (
            lambda: Batch.of(batch().group._replace(n_rounds=-5)),
            "the client sent no valid batch: Batch: `n_rounds` must be a whole number >= 1, got -5.",
        ),
        (
            lambda: Batch.of(batch().group._replace(runs=(0, 0))),
            "the client sent no valid batch: it has a cell twice.",
        ),
        (
            lambda: Batch.of(batch().group._replace(runs=(-1,))),
            "the client sent no valid batch: Batch: `runs` must be a whole number >= 0, got -1.",
        ),
        (
            lambda: Batch.of(batch().group._replace(outputs=batch().group.outputs._replace(comparator="none"))),
            "the client sent no valid batch: Batch: `comparator` must be dynamic, static, ",
        ),
        (
            lambda: batch()._replace(group=batch().group._replace(seed=5)),
            "the worker has another version of driftwise or of a learner than the client.",
        ),
    ],
)
def test_a_worker_refuses_what_is_no_batch(request_of, message):
    with pytest.raises(ClusterError) as caught:
        executors._play_on_worker((), write_message(request_of()))
    assert str(caught.value).startswith(message)


def test_forged_messages_are_refused_or_have_the_cells_of_their_batch():
    counts = fuzz_sweeps.fuzz(1000, seed=7)
    assert counts["reply refused"] > 500
    assert counts["request refused"] > 200
    assert counts["reply taken, as it was played"] > 0
    assert counts["request played"] > 0


def test_a_message_is_a_pickle_with_a_digest_behind_it():
    message = write_message(batch())
    assert pickle.loads(message).keys == read_message(message).keys == batch().keys


def test_a_batch_of_every_kind_passes_its_own_check():
    for batch, message, _ in fuzz_sweeps.plays():
        assert executors._reply(batch, message)


def test_sweeps_with_several_cells_in_a_batch_do_not_mix_them_up(client, tmp_path, forge, monkeypatch):
    def swap(finished):
        keys = [record.key for record in finished.records][::-1]
        return Finished(
            [record._replace(key=key) for record, key in zip(finished.records, keys, strict=True)], finished.machine
        )

    monkeypatch.setattr("driftwise.sweeps.work.Costs.are_known", lambda *_: True)  # batches of several runs
    sweep = Sweep(Environment(Switching(3, 3), Bernoulli()), [Hedge(), Player.of(UCB1())], 30, n_runs=4)
    forge(swap)
    with pytest.raises(ClusterError, match=r"`run` must be that of the cell"):
        sweep.run(tmp_path, client=client)
    with Store(tmp_path) as store:
        assert not store.keys
