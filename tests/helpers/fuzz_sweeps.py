"""Forge what clients and workers of a Dask cluster send each other: `make fuzz`.

A reply is damaged bit by bit, or its records are changed and it is sealed again, as a faulty worker would. Each must be
refused with a `ClusterError`, or have exactly the cells of its batch. What no client can know, such as a regret that is
possible but wrong, is counted as such: the store must then hold it as it was sent. A forged request must be refused by
the function of the worker, or played. With `--cluster`, sweeps run on a cluster whose worker forges replies.
"""

from __future__ import annotations

import argparse
import logging
import pickle
import tempfile
import time
from collections import Counter
from unittest import mock

import numpy as np

from driftwise import Bernoulli, Environment, Replay, Sweep, Switching
from driftwise.adversaries import FullV
from driftwise.core.errors import DriftwiseError
from driftwise.learners import UCB1, Hedge, Player
from driftwise.results import Store
from driftwise.results.cells import MEASURES, REALISED, CellRecord, Machine
from driftwise.sweeps import executors
from driftwise.sweeps.batches import Batch
from driftwise.sweeps.messages import ClusterError, Finished, read_message, write_message
from driftwise.sweeps.sources import cell_keys

SWITCHING = Environment(Switching(3, 3), Bernoulli())
SWEEPS = [
    Sweep(SWITCHING, [Hedge(), UCB1()], 30, n_runs=3, seed=[1, 2]),
    Sweep(SWITCHING, [Hedge()], 20, n_runs=2, curves=True, realised=True, comparator="switching:2"),
    Sweep(
        [Replay(np.random.default_rng(1).random((40, 3))), FullV(4.0, 0.0)],
        [Player("optimistic-gd", "budget"), Hedge()],  # the former fails with recorded losses
        40,
        n_runs=1,
        comparator="interval:5-9",
        play="sample",
    ),
]
MEASURED = {
    "regrets",
    "bounds",
    "segments",
    "seconds",
    "caveat",
    "error",
    *MEASURES,
    *REALISED,
}  # unknown to the client


class Odd:
    """Something that cannot be shown."""

    def __repr__(self):
        raise RuntimeError("no text")


def values(rng, before):
    """Return a value to put in the place of another."""
    pool = [
        None, True, 0, 1, -1, 2**31, 2**63, 10**400, 0.5, -0.0, np.nan, np.inf, -np.inf, 1e300, "", "x", "é" * 600,
        "\ud800", "0" * 32, b"bytes", [], [[1], [2, 3]], (), {}, {"name": "hedge"}, '{"name":"hedge"}', "{}", Odd(),
        np.int64(3), np.float32(0.25), np.array(1.0), np.array([1.0, 2.0]), np.array([[1]]), np.array(["a"]),
        np.array([None]), np.zeros(0), np.zeros(10**6), np.arange(1, 10**5), range(3), 1j, before, [before],
    ]  # fmt: skip
    if isinstance(before, np.ndarray) and rng.random() < 0.6:
        pool = [before * 1, before + 1, -before, before * np.nan, before[:0], before[::-1], np.tile(before, 2),
                before.astype(str), before.astype(complex), before.astype(np.float32), before.reshape(1, -1),
                before + 10.0**9, np.append(before, before[-1]), [*before]]  # fmt: skip
    if isinstance(before, int) and rng.random() < 0.5:
        pool = [before + 1, before - 1, -before, before ^ (1 << int(rng.integers(0, 70))), float(before), str(before)]
    return pool[rng.integers(len(pool))]


def forged_records(rng, records, others):
    """Return records of which some are changed, missing, foreign or in another order."""
    records, at = list(records), int(rng.integers(len(records)))
    way = str(rng.choice(["field", "field", "field", "keys", "drop", "twice", "foreign", "other", "order", "type"]))
    if way == "field":
        names = rng.choice(CellRecord._fields, int(rng.integers(1, 3)), replace=False).tolist()
        for name in names:
            records[at] = records[at]._replace(**{name: values(rng, getattr(records[at], name))})
        return records
    if way == "keys":
        keys = [record.key for record in records]
        records = [record._replace(key=key) for record, key in zip(records, np.roll(keys, 1).tolist(), strict=True)]
    elif way == "drop":
        del records[at]
    elif way == "twice":
        records.insert(int(rng.integers(len(records) + 1)), records[at])
    elif way == "foreign":
        records.append(others[rng.integers(len(others))])
    elif way == "other":
        records[at] = others[rng.integers(len(others))]
    elif way == "order":
        records = [records[i] for i in rng.permutation(len(records))]
    else:
        records[at] = [None, tuple(records[at]), records[at]._asdict(), Odd(), 3][rng.integers(5)]
    return records


def forged_machine(rng, machine):
    facts = machine.facts
    pool = [None, (), tuple(machine), Machine(None, facts), Machine(machine.id, None), Machine("", {}),
            Machine("0" * 8, facts), Machine(machine.id, {1: 2}), Machine(machine.id, {"cpu": Odd()})]  # fmt: skip
    return pool[rng.integers(len(pool))]


def damaged(rng, message):
    """Return a message with a flipped bit, cut, longer, or something else in its place."""
    way, content = rng.integers(6), bytearray(message)
    if way <= 2:
        for _ in range(int(rng.integers(1, 4))):
            content[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
        return bytes(content)
    if way == 3:
        return message[: rng.integers(len(message))]
    if way == 4:
        return message + rng.bytes(int(rng.integers(1, 100)))
    pool = [None, "text", b"", [message], bytearray(message), pickle.loads(message), pickle.dumps(3), Odd(), 0]
    return pool[rng.integers(len(pool))]


def forge(rng, message, others):
    """Return a forged reply."""
    way = rng.random()
    if way < 0.25:
        return damaged(rng, message)
    content = read_message(message)
    if way < 0.35:
        return write_message(Finished(content.records, forged_machine(rng, content.machine)))
    if way < 0.4:
        pool = [None, 3, content.records, tuple(content), [content], Odd(), Finished(None, content.machine),
                Finished(tuple(content.records), content.machine)]  # fmt: skip
        return write_message(pool[rng.integers(len(pool))])
    return write_message(Finished(forged_records(rng, content.records, others), content.machine))


def differences(record, other):
    """Return the fields in which records differ, but for the time that the play took, and the sign of 0."""
    before, after = plain(record), plain(other)
    return {name for name in before if before[name] != after[name]}


def plain(record):
    numbers = ("rounds", "regrets", "bounds", *MEASURES, *REALISED)
    return {
        name: (np.asarray(value, np.float64) + 0.0).tobytes() if name in numbers else value
        for name, value in record._asdict().items()
        if name not in ("seconds", "stored")
    }


def expect_line(text):
    assert "\n" not in text, text
    assert len(text) < 2000, f"{len(text)} characters"


def expect_reply(batch, truth, message, counts):
    """Let a client read a reply, and count what it did."""
    try:
        finished = executors._reply(batch, message)
    except ClusterError as error:
        expect_line(str(error))
        counts["reply refused"] += 1
        return
    assert finished.machine == Machine.here(), f"machine {finished.machine}"
    wanted = {record.key: record for record in truth}
    assert sorted(record.key for record in finished.records) == sorted(wanted), "other cells"
    changed = {name for record in finished.records for name in differences(record, wanted[record.key])}
    if not changed:
        counts["reply taken, as it was played"] += 1
        return
    assert MEASURED.issuperset(changed), f"{changed} was taken"
    for record in finished.records:
        assert record.error or (np.abs(record.regrets) <= 1.001 * record.n_rounds).all(), f"regrets {record.regrets}"
    counts["reply taken, another possible number"] += 1
    with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
        store.add(finished.records, [finished.machine])
        table = store.table()
        stored = {table.record(i).key: table.record(i) for i in range(len(table))}
        assert not any(differences(stored[record.key], record) for record in finished.records), "stored otherwise"


def forged_batch(rng, batch):
    """Return a changed batch; half of them with the keys that belong to what was changed."""
    group = batch.group
    name = str(rng.choice([*group._fields, "outputs", "keys", "batch"]))
    if name == "batch":
        return [None, 3, tuple(batch), [batch], group, Odd(), Batch(None, batch.keys), Batch(group, None)][
            rng.integers(8)
        ]
    if name == "keys":
        return Batch(group, [values(rng, batch.keys), batch.keys[:-1], batch.keys * 2, [*batch.keys]][rng.integers(4)])
    if name == "outputs":
        field = str(rng.choice(group.outputs._fields))
        forged = group.outputs._replace(**{field: values(rng, getattr(group.outputs, field))})
        group = group._replace(outputs=forged)
    elif name in ("runs", "players") and rng.random() < 0.7:
        group = group._replace(**{name: (*getattr(group, name), values(rng, getattr(group, name)[0]))})
    else:
        group = group._replace(**{name: values(rng, getattr(group, name))})
    try:
        keys = tuple(tuple(cell_keys(group, player)) for player in group.players) if rng.random() < 0.5 else batch.keys
    except Exception:  # there are no keys for it
        keys = batch.keys
    return Batch(group, keys)


def expect_request(rng, batch, counts):
    """Call the function of a worker with something else than a client sends."""
    message, way = write_message(batch), rng.random()
    modules = ()
    if way < 0.2:
        message = damaged(rng, message)
    elif way < 0.3:
        modules = [None, 3, "os", ("",), (None,), ("no_such_module",), (".x",), ("os", 3), (Odd(),)][rng.integers(9)]
    else:
        forged = forged_batch(rng, batch)
        try:
            if forged.group.n_rounds > 10**4:  # it would be valid, and take its time
                forged = forged._replace(group=forged.group._replace(n_rounds=-1))
        except (AttributeError, TypeError, ValueError):
            pass
        try:
            message = write_message(forged)
        except Exception:  # it has no pickle
            counts["request without a pickle"] += 1
            return
    try:
        reply = executors._play_on_worker(modules, message)
    except ModuleNotFoundError as error:
        expect_line(error.name)
        counts["request refused"] += 1
    except ClusterError as error:
        expect_line(str(error))
        pickle.loads(pickle.dumps(error))
        counts["request refused"] += 1
    else:
        batch = pickle.loads(message)
        finished = executors._reply(batch, reply)  # a client takes what its worker played
        counts["request played"] += 1
        counts["cells recorded as failed"] += sum(record.error != "" for record in finished.records)


def plays():
    """Return batches, the messages with their records, and the records."""
    batches = [batch for sweep in SWEEPS for batch in Batch.of_all(sweep.groups())]
    replies = [executors._play_on_worker((), write_message(batch)) for batch in batches]
    return [(batch, reply, read_message(reply).records) for batch, reply in zip(batches, replies, strict=True)]


def fuzz(n_cases, seed, report=None):
    """Forge replies and requests; return how many were refused and taken."""
    played, counts, began = plays(), Counter(), time.monotonic()
    for case in range(n_cases):
        rng = np.random.default_rng([seed, case])
        at = int(rng.integers(len(played)))
        batch, message, truth = played[at]
        others = [record for i, (_, _, records) in enumerate(played) if i != at for record in records]
        try:
            if rng.random() < 0.7:
                expect_reply(batch, truth, forge(rng, message, others), counts)
            else:
                expect_request(rng, batch, counts)
        except Exception as error:
            raise AssertionError(f"case {case} of seed {seed}: {type(error).__name__}: {error}") from error
        if report and case % 1000 == 999:
            report(case + 1, time.monotonic() - began)
    return counts


def fuzz_cluster(n_sweeps, seed):
    """Run sweeps on a cluster, forging every third reply; return how many stopped and how many ended."""
    import distributed

    counts, read = Counter(), executors._reply
    truth = {record.key: record for _, _, records in plays() for record in records}
    local = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.CRITICAL}
    with (
        distributed.LocalCluster(processes=False, **local) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        for case in range(n_sweeps):
            rng = np.random.default_rng([seed, 1, case])

            def forging(batch, message):
                return read(batch, forge(rng, message, [*truth.values()]) if rng.random() < 1 / 3 else message)

            with tempfile.TemporaryDirectory() as folder:
                try:
                    with mock.patch.object(executors, "_reply", forging):
                        SWEEPS[case % len(SWEEPS)].run(folder, client=client)
                    counts["sweep ended"] += 1
                except DriftwiseError:
                    counts["sweep stopped"] += 1
                with Store(folder) as store:
                    table = store.table()
                for i in range(len(table)):
                    changed = differences(table.record(i), truth[table.record(i).key])
                    assert MEASURED.issuperset(changed), f"sweep {case} of seed {seed}: {changed} was stored"
                    counts["cell stored, another possible number" if changed else "cell stored as it was played"] += 1
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--cluster", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    settings = parser.parse_args()
    report = lambda done, seconds: print(f"{done} messages, {seconds:.0f} s", flush=True)  # noqa: E731
    counts = fuzz(settings.cases, settings.seed, report)
    print(f"{settings.cases} messages: {dict(sorted(counts.items()))}.")
    if settings.cluster:
        print(f"{settings.cluster} sweeps: {dict(sorted(fuzz_cluster(settings.cluster, settings.seed).items()))}.")


if __name__ == "__main__":
    main()
