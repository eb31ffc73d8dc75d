"""A store keeps each finished cell once, and rejects what it cannot use in one line."""

import contextlib
import json
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from cell_examples import by_key, cell, failed, key, table
from driftwise.core.errors import BadFile, InvalidInput
from driftwise.results import CellTable, Store, SweepResults
from driftwise.results.cells import Machine
from driftwise.results.store import FILE, read_store
from store_examples import cells, content, expected, fails, hidden, names, run_sql


# Adding
def test_cells_are_stored_once(tmp_path):
    store = Store(tmp_path / "new" / "store")
    assert store.add(cells(0, 1, 2)) == 3
    assert store.add(cells(1, 2, 3, 3)) == 1
    assert store.add(cells(1)) == store.add([]) == 0
    assert store.keys == {key(i) for i in range(4)}
    for each in (store, Store(store.folder)):
        assert content(each) == expected(0, 1, 2, 3)
        assert each.keys == store.keys
    assert names(store.folder) == [FILE, "lock"]
    assert hidden(store.folder) == []


def test_a_table_can_be_added(tmp_path):
    assert Store(tmp_path).add(table(5, 3)) == 5
    assert content(Store(tmp_path)) == by_key(table(5, 3))


def test_an_empty_store_has_an_empty_table(tmp_path):
    store = Store(tmp_path)
    assert len(store.table()) == len(store.keys) == len(store.failed) == 0


def test_the_store_sets_the_time(tmp_path):
    store = Store(tmp_path)
    store.add([cell(0, stored=5)])
    assert store.table().cells["stored"][0] > 1_700_000_000_000_000


def test_bad_cells_change_nothing(tmp_path):
    store = Store(tmp_path)
    store.add(cells(0))
    before = (tmp_path / FILE).read_bytes()
    for bad in (cell(1, key=""), cell(1, seed=-1)):
        with pytest.raises(InvalidInput, match=r"^(Store|CellRecord): `(key|seed)` must be .*\.$"):
            store.add([cell(2), bad])
    assert (tmp_path / FILE).read_bytes() == before
    assert store.keys == {key(0)}


def test_failed_cells_are_discarded_and_played_again(tmp_path):
    store = Store(tmp_path)
    store.add([cell(0), failed(1), cell(2)])
    store.add([failed(3)])
    assert store.failed == Store(tmp_path).failed == {key(1), key(3)}
    store.discard([key(1), key(3), key(99)])
    assert store.failed == set()
    assert content(store) == content(Store(tmp_path)) == expected(0, 2)
    store.add(cells(1, 3))
    assert content(Store(tmp_path)) == expected(0, 1, 2, 3)


def test_another_process_is_seen_after_a_refresh(tmp_path):
    one, other = Store(tmp_path), Store(tmp_path)
    one.add(cells(0))
    assert other.keys == set()
    other.refresh()
    assert other.keys == {key(0)}
    assert other.add(cells(0, 1)) == 1
    one.discard([key(1)])
    other.refresh()
    assert other.keys == {key(0)}
    assert content(other) == expected(0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda store: store.claim("ab", 1), "`wanted` must be a list of texts, got 'ab'"),
        (lambda store: store.claim([1], 1), "`wanted` must be a list of texts, got [1]"),
        (lambda store: store.claim(3, 1), "`wanted` must be a list of texts, got [3]"),
        (lambda store: store.claim(["\ud800"], 1), "`wanted` must be valid Unicode, got ['\\ud800']"),
        (lambda store: store.claim(["a"], -1), "`most` must be a whole number >= 0, got -1"),
        (lambda store: store.claim(["a"], True), "`most` must be a whole number >= 0, got True"),
        (lambda store: store.release("a"), "`ids` must be a list of texts, got 'a'"),
        (lambda store: store.discard(key(0)), f"`keys` must be a list of texts, got '{key(0)}'"),
        (lambda store: store.label(learners={"{}": 3}), "`learners` must be a list of texts, got ['{}', 3]"),
        (lambda _: Store(3), "`folder` must be the name of a folder, got 3"),
    ],
)
def test_bad_arguments_are_rejected_in_one_line(tmp_path, call, message):
    store = Store(tmp_path)
    before = names(tmp_path)
    with pytest.raises(InvalidInput) as caught:
        call(store)
    assert str(caught.value) == f"Store: {message}."
    assert names(tmp_path) == before


# The folder
def test_an_unusable_folder_is_rejected(tmp_path):
    (tmp_path / "file").write_text("x")
    for name in ("file", "file/below", "x" * 300, "a\0b"):
        with pytest.raises(BadFile, match=r"^Cannot .*\.$"):
            Store(tmp_path / name)
    assert names(tmp_path) == ["file"]


def test_a_folder_that_is_deleted_is_named(tmp_path):
    store = Store(tmp_path / "store")
    for path in store.folder.iterdir():
        path.unlink()
    store.folder.rmdir()
    with pytest.raises(BadFile, match=r"^Cannot use the store .*store: lock: No such file or directory\.$"):
        store.add(cells(0))


def test_a_file_system_without_locks_is_refused_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr("fcntl.flock", fails(OSError(37, "No locks available")))
    with pytest.raises(BadFile, match=r"^Cannot use the store .*: its file system has no locks, as some network file "):
        Store(tmp_path)


def test_a_sweep_needs_no_arrow(tmp_path):
    program = """
import sys
sys.modules["pyarrow"] = None
from driftwise import Bernoulli, Environment, Hedge, Sweep, SweepResults, Switching
results = Sweep(Environment(Switching(3, 4), Bernoulli()), Hedge(), 50, 2).run(sys.argv[1])
assert SweepResults.read(sys.argv[1]).table() == results.table()
results.to_csv(sys.argv[1] + "/cells.csv")
"""
    subprocess.run([sys.executable, "-c", program, tmp_path], check=True, timeout=120)


def test_labels_and_machines_are_stored(tmp_path):
    store = Store(tmp_path)
    store.add(cells(0))
    store.label(environments={'{"name": "é"}': "calm"})
    store.label(learners={"{}": "Hedge"})
    store.label(learners={"{}": "Hedge again"})
    assert Store(tmp_path).labels() == {"environments": {'{"name": "é"}': "calm"}, "learners": {"{}": "Hedge again"}}
    with contextlib.closing(sqlite3.connect(tmp_path / FILE)) as db:
        ((id, facts),) = db.execute("SELECT * FROM machines")
    assert (id, json.loads(facts)) == (Machine.here().id, Machine.here().facts)
    assert {"cpu", "driftwise", "numba", "numpy", "python", "system"} == {*Machine.here().facts}


def test_another_format_is_refused_and_left_as_it_is(tmp_path):
    Store(tmp_path).close()
    run_sql(tmp_path, "PRAGMA user_version = 2; UPDATE facts SET value = 2 WHERE name = 'format'")
    before = (tmp_path / FILE).read_bytes()
    for read in (Store, read_store):
        with pytest.raises(BadFile, match=rf"{FILE} has store format 2; this version reads format 1\.$"):
            read(tmp_path)
    assert (tmp_path / FILE).read_bytes() == before


def test_the_file_of_another_program_is_refused_and_left_as_it_is(tmp_path):
    run_sql(tmp_path, "CREATE TABLE songs (name TEXT)")
    before = (tmp_path / FILE).read_bytes()
    for read in (Store, read_store):
        with pytest.raises(BadFile, match=rf"{FILE} is not a store of driftwise\.$"):
            read(tmp_path)
    assert (tmp_path / FILE).read_bytes() == before


def test_a_file_with_triggers_is_refused(tmp_path):
    Store(tmp_path).close()
    run_sql(tmp_path, "CREATE TRIGGER t AFTER INSERT ON cells BEGIN DELETE FROM texts; END")
    with pytest.raises(BadFile, match=r"has triggers, which a store has not\.$"):
        Store(tmp_path)


def test_indexes_and_views_of_others_are_left_alone(tmp_path):
    Store(tmp_path).add(cells(0))
    run_sql(tmp_path, "CREATE INDEX by_seed ON cells (seed); CREATE VIEW mine AS SELECT regret FROM results; ANALYZE")
    store = Store(tmp_path)
    store.add(cells(1))
    assert content(store) == expected(0, 1)
    assert store.damaged == ()


# Other programs


def test_any_client_of_sqlite_can_query_the_results(tmp_path):
    cases = [cell(5, 3), failed(1, segments=0), cell(2)]
    with Store(tmp_path) as store:
        store.add(cases)
        store.label(learners={cases[0].learner: "Hedge"})
    with contextlib.closing(sqlite3.connect(tmp_path / FILE)) as db:
        db.row_factory = sqlite3.Row
        rows = {row["key"]: dict(row) for row in db.execute("SELECT * FROM results")}
        ((name,),) = db.execute("SELECT DISTINCT json_extract(learner_spec, '$.name') FROM results")
    assert name == "hedge"
    first, second, third = (rows[one.key] for one in cases)
    assert (first["regret"], first["bound"], first["n_rounds"], first["seed"]) == (5.25, None, 300, 5)
    assert (first["learner"], third["learner"]) == ("Hedge", cases[2].learner)  # without a label: the spec
    assert (second["regret"], second["error"], second["segments"]) == (None, "OverflowError: too large", None)
    assert (third["bound"], third["segments"], third["drift"], third["best_loss"]) == (52.0, 2, 2 / 3, None)
    assert third["stored"].startswith("20")


def test_numbers_are_those_of_the_curves(tmp_path):
    """A curve is three arrays of 64 bits in little-endian order: rounds, regrets, bounds."""
    Store(tmp_path).add([cell(4, 3)])
    with contextlib.closing(sqlite3.connect(tmp_path / FILE)) as db:
        ((curve, regret),) = db.execute("SELECT curve, regret FROM cells")
    assert np.frombuffer(curve, "<i8")[:3].tolist() == [100, 200, 300]
    assert np.frombuffer(curve, "<f8")[3:].tolist() == [4.0, 4.125, 4.25, 54.0, 54.0, 54.0]
    assert regret == 4.25


def test_values_that_sqlite_has_not_are_kept_as_one_nan_and_one_zero(tmp_path):
    strange = cell(0, drift=-0.0, variance=-np.nan, seconds=np.inf, bounds=np.array([-np.inf]))
    store = Store(tmp_path)
    store.add([strange])
    back = store.table().record(0)
    assert store.damaged == ()
    assert back.drift == 0.0
    assert np.isnan(back.variance)
    assert (back.seconds, back.bounds[0]) == (np.inf, -np.inf)


def test_pandas_and_polars_read_a_store(tmp_path):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    Store(tmp_path).add(table(6))
    for read in (pandas.read_sql, polars.read_database):
        with contextlib.closing(sqlite3.connect(tmp_path / FILE)) as db:
            frame = read("SELECT learner, avg(regret) AS regret FROM results GROUP BY learner", db)
        assert sorted(frame["regret"]) == [2.0, 2.0, 3.0, 3.0]  # 0 and 4, 1 and 5, 2, 3


def test_duckdb_reads_an_export(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    Store(tmp_path / "store").add(table(6, 2))
    SweepResults.read(tmp_path / "store").to_parquet(tmp_path / "cells.parquet")
    query = f"SELECT avg(regret) FROM '{tmp_path}/cells.parquet' WHERE final GROUP BY learner_spec ORDER BY 1"
    assert [mean for (mean,) in duckdb.sql(query).fetchall()] == [2.125, 2.125, 3.125, 3.125]


def test_an_export_is_read_again_with_its_labels(tmp_path):
    cases = [cell(i, 3) for i in range(5)]
    with Store(tmp_path / "store") as store:
        store.add(cases)
        store.label(learners={cases[0].learner: "Hedge"})
    results = SweepResults.read(tmp_path / "store")
    results.to_parquet(tmp_path / "cells.parquet")
    again = SweepResults.read(tmp_path / "cells.parquet")
    assert by_key(again.cells) == by_key(results.cells) == by_key(CellTable.from_records(cases))
    assert again.table() == results.table()
    assert "Hedge" in again.table()


def test_reading_changes_nothing_and_needs_no_permission_to_write(tmp_path):
    Store(tmp_path).add(cells(0, 1))
    (tmp_path / "lock").unlink()
    before = (tmp_path / FILE).read_bytes(), (tmp_path / FILE).stat().st_mtime_ns
    (tmp_path / FILE).chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        assert by_key(read_store(tmp_path).table) == expected(0, 1)
        assert names(tmp_path) == [FILE]
    finally:
        tmp_path.chmod(0o755)
    assert ((tmp_path / FILE).read_bytes(), (tmp_path / FILE).stat().st_mtime_ns) == before
