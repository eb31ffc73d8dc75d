"""A damaged store is replaced by what can be read of it, and a full disk leaves it as it was."""

import contextlib
import random
import re
import resource
import shutil
import sqlite3
import subprocess
import sys

import pytest

from cell_examples import by_key, cell, failed, key, table
from driftwise.core.errors import BadFile, InvalidInput
from driftwise.results import CellTable, Store, store
from driftwise.results.store import FILE, read_store
from outside_files import HELPERS, ROOT
from store_examples import cells, content, expected, flip, names, run_sql

N_CELLS = 400


def filled(folder):
    """Store cells, some of them with long curves, and return the path of the file."""
    records = [cell(i, 1 + 40 * (i % 50 == 7)) for i in range(N_CELLS)]
    with Store(folder) as store:
        store.add(records)
        store.label(learners={records[0].learner: "Hedge"})
    return folder / FILE


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = filled(tmp_path_factory.mktemp("whole"))
    return path, by_key(read_store(path.parent).table)


def check_repair(folder, expected_cells, least=0):
    """Reading and opening leave out damaged cells only; those are stored again."""
    before = (folder / FILE).read_bytes()
    snapshot = read_store(folder)
    assert (folder / FILE).read_bytes() == before
    with Store(folder) as store:
        kept = content(store)
        assert kept == by_key(snapshot.table)
        assert {*kept} == store.keys
        assert least <= len(kept)
        assert all(expected_cells[each] == kept[each] for each in kept), "a cell was changed"
        missing = [i for i in range(N_CELLS) if key(i) not in kept]
        assert bool(store.damaged) >= bool(missing)
        assert bool(snapshot.damaged) >= bool(missing)
        assert all("\n" not in reason for _, reason in store.damaged)
        if store.damaged:
            (copy,) = [path for path in (folder / "damaged").iterdir() if path.suffix == ".sqlite"]
            assert copy.read_bytes() == before
        store.add([cell(i, 1 + 40 * (i % 50 == 7)) for i in missing])
        assert content(store) == expected_cells
    with Store(folder) as store:
        assert content(store) == expected_cells
        assert store.damaged == ()
    return len(missing)


@pytest.mark.parametrize("seed", range(4))
def test_a_flipped_bit_costs_few_cells_and_changes_none(tmp_path, whole, seed):
    path, wanted = whole
    page_size, chance, n_missing = 4096, random.Random(seed), []
    pages = range(path.stat().st_size // page_size)
    for i, page in enumerate(chance.sample(pages, 12)):
        folder = tmp_path / str(i)
        folder.mkdir()
        shutil.copyfile(path, folder / FILE)
        flip(folder / FILE, page * page_size + chance.randrange(page_size), chance.randrange(8))
        n_missing.append(check_repair(folder, wanted))
    assert sorted(n_missing)[len(n_missing) // 2] < N_CELLS / 4  # the median: the first pages hold what all need


@pytest.mark.parametrize("position", [0, 16, 20, 28, 40, 44, 56, 60, 68, 92, 100, 105, 110, 4000])
@pytest.mark.parametrize("bit", [0, 3, 7])
def test_a_flipped_bit_in_the_first_page_is_damage_or_harmless(tmp_path, whole, position, bit):
    path, wanted = whole
    shutil.copyfile(path, tmp_path / FILE)
    flip(tmp_path / FILE, position, bit)
    check_repair(tmp_path, wanted)


@pytest.mark.parametrize("part", [0.0, 0.001, 0.01, 0.3, 0.7, 0.99])
def test_a_cut_file_keeps_what_can_be_read(tmp_path, whole, part):
    path, wanted = whole
    content = path.read_bytes()
    (tmp_path / FILE).write_bytes(content[: int(part * len(content))])
    n_missing = check_repair(tmp_path, wanted) if part else N_CELLS
    assert n_missing == N_CELLS or part > 0.1


def test_a_file_that_is_no_database_is_set_aside(tmp_path, whole):
    (tmp_path / FILE).write_text("not SQLite\n" * 1000)
    assert check_repair(tmp_path, whole[1]) == N_CELLS


def test_random_bytes_in_many_pages(tmp_path, whole):
    path, wanted = whole
    shutil.copyfile(path, tmp_path / FILE)
    chance = random.Random(3)
    for _ in range(20):
        flip(tmp_path / FILE, chance.randrange(4096, path.stat().st_size), chance.randrange(8))
    check_repair(tmp_path, wanted)


CHANGES = {
    "another regret": "UPDATE cells SET regret = 3.5 WHERE id = 2",
    "another seed": "UPDATE cells SET seed = 99 WHERE id = 2",
    "another key": f"UPDATE cells SET key = '{'0' * 32}' WHERE id = 2",
    "another learner": "UPDATE cells SET learner = (SELECT max(learner) FROM cells) WHERE id = 2",
    "no such text": "UPDATE cells SET learner = 12345 WHERE id = 2",
    "text for a number": "UPDATE cells SET n_rounds = 'many' WHERE id = 2",
    "a huge text": "UPDATE cells SET drift = 'x' WHERE id = 2",
    "bytes for a number": "UPDATE cells SET drift = x'00ff' WHERE id = 2",
    "a short curve": "UPDATE cells SET curve = x'00' WHERE id = 2",
    "no curve": "UPDATE cells SET curve = x'' WHERE id = 2",
    "text for a curve": "UPDATE cells SET curve = 'abc' WHERE id = 2",
    "another curve": "UPDATE cells SET curve = (SELECT curve FROM cells WHERE id = 3) WHERE id = 2",
    "not failed": "UPDATE cells SET failed = 1 WHERE id = 2",
    "half a character": "UPDATE cells SET key = CAST(x'ff' AS TEXT) WHERE id = 2",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_row_that_was_changed_is_left_out(tmp_path, whole, change):
    path, wanted = whole
    shutil.copyfile(path, tmp_path / FILE)
    run_sql(tmp_path, CHANGES[change])
    assert check_repair(tmp_path, wanted) == 1


def test_a_row_that_is_there_twice_counts_once(tmp_path, whole):
    path, wanted = whole
    shutil.copyfile(path, tmp_path / FILE)
    run_sql(
        tmp_path,
        "CREATE TEMP TABLE one AS SELECT * FROM cells WHERE id = 2; UPDATE one SET id = 9999;"
        " INSERT INTO cells SELECT * FROM one",
    )
    assert check_repair(tmp_path, wanted) == 0


def test_rows_out_of_order_are_damage(tmp_path, whole):
    """A flipped bit in the number of a row: a cell that is stored later has a lower number and was not seen again."""
    path, wanted = whole
    data = path.read_bytes()
    row_id = bytes([0x80 | 150 >> 7, 150 & 0x7F])  # a number of 7 bits a byte, the highest first
    for place in (found.start() for found in re.finditer(re.escape(row_id), data)):
        shutil.rmtree(tmp_path / "store", ignore_errors=True)
        (tmp_path / "store").mkdir()
        (tmp_path / "store" / FILE).write_bytes(data)
        flip(tmp_path / "store" / FILE, place, 6)
        with contextlib.closing(sqlite3.connect(tmp_path / "store" / FILE)) as db:
            ids = [id for (id,) in db.execute("SELECT id FROM cells")]
        if ids != sorted(ids):
            break
    assert ids != sorted(ids)
    with Store(tmp_path / "store") as opened:
        assert opened.add([cell(1000)]) == 1
        assert key(1000) in opened.keys
        assert opened.add([cell(1000)]) == 0
        opened.discard([key(1000)])
    check_repair(tmp_path / "store", wanted)


def test_a_changed_text_costs_its_cells(tmp_path, whole):
    path, wanted = whole
    shutil.copyfile(path, tmp_path / FILE)
    run_sql(tmp_path, "UPDATE texts SET text = text || ' ' WHERE id = (SELECT learner FROM cells WHERE id = 2)")
    assert check_repair(tmp_path, wanted) == N_CELLS // 4


@pytest.mark.parametrize("change", ["DELETE FROM facts WHERE name = 'removals'", "UPDATE facts SET value = 'x'"])
def test_a_store_without_its_counts_is_repaired(tmp_path, whole, change):
    path, wanted = whole
    shutil.copyfile(path, tmp_path / FILE)
    run_sql(tmp_path, change)
    with Store(tmp_path) as store:
        assert content(store) == wanted
        assert len(store.damaged) == 1


def test_labels_survive_a_repair(tmp_path, whole):
    path, wanted = whole
    shutil.copyfile(path, tmp_path / FILE)
    run_sql(tmp_path, CHANGES["another seed"])
    check_repair(tmp_path, wanted)
    assert [*Store(tmp_path).labels()["learners"].values()] == ["Hedge"]


def test_rows_with_right_digests_that_break_a_rule_are_refused(tmp_path):
    """Another program may compute digests too; such a file is no accident."""
    forged = CellTable.from_records([cell(0)])
    forged.cells["n_actions"] = 0
    with Store(tmp_path) as opened:
        with pytest.raises(InvalidInput, match=r"^Store: `n_actions` must be a whole number in \[1, 2\^62\], got 0\.$"):
            opened.add(forged)
        store._insert(opened._db, forged)
        with pytest.raises(BadFile, match=r"cells whose `n_actions` is not a whole number in \[1, 2\^62\]\.$"):
            opened.table()
    with pytest.raises(BadFile, match="cells whose `n_actions` is not"):
        read_store(tmp_path)


def test_damage_to_long_curves_and_to_labels_costs_few_cells(tmp_path):
    """A curve of 400 points is on pages of its own, with pointers that may lead anywhere."""
    cases = [cell(i, 400 if i % 5 == 0 else 1) for i in range(60)]
    with Store(tmp_path / "whole") as opened:
        opened.add(cases)
        wanted = content(opened)
    with contextlib.closing(sqlite3.connect(tmp_path / "whole" / FILE)) as db:
        roots = dict(db.execute("SELECT name, rootpage FROM sqlite_schema WHERE type = 'table'"))
    size, chance = (tmp_path / "whole" / FILE).stat().st_size, random.Random(1)
    pages = [chance.randrange(8, size // 4096) for _ in range(40)]
    starts = [(roots[name] - 1) * 4096 for name in ("labels", "machines", "facts")]
    n_kept = []
    for i, place in enumerate([*starts, *(page * 4096 + chance.randrange(8) for page in pages)]):
        folder = tmp_path / str(i)
        shutil.copytree(tmp_path / "whole", folder)
        flip(folder / FILE, place, 2)
        with Store(folder) as opened:
            kept = content(opened)
        assert all(kept[each] == wanted[each] for each in kept)
        n_kept.append(len(kept))
    assert n_kept[: len(starts)] == [60] * len(starts)
    assert min(n_kept) >= 40  # a page holds about twenty rows


@pytest.mark.parametrize(("bit", "n_missing"), [(0, N_CELLS // 4), (7, N_CELLS // 4)])
def test_a_damaged_spec_costs_its_cells_only(tmp_path, whole, bit, n_missing):
    path, wanted = whole
    data = path.read_bytes()
    (tmp_path / FILE).write_bytes(data)
    flip(tmp_path / FILE, data.index(b'{"name": "hedge", "learning_rate": 1}'), bit)
    assert check_repair(tmp_path, wanted) == n_missing


def test_a_text_that_becomes_equal_to_another_costs_its_cells_only(tmp_path, whole):
    path, wanted = whole
    data = path.read_bytes()
    (tmp_path / FILE).write_bytes(data)
    flip(tmp_path / FILE, data.index(b'"learning_rate": 1}') + len(b'"learning_rate": '))
    assert check_repair(tmp_path, wanted) == N_CELLS // 4


@pytest.mark.parametrize("change", [
    "DROP TABLE machines", "DROP TABLE labels", "ALTER TABLE labels RENAME COLUMN label TO other",
    "UPDATE machines SET facts = CAST(x'ff7b7d' AS TEXT); DROP TABLE facts",
])  # fmt: skip
def test_cells_do_not_need_the_other_tables(tmp_path, whole, change):
    path, wanted = whole
    shutil.copyfile(path, tmp_path / FILE)
    run_sql(tmp_path, change)
    assert check_repair(tmp_path, wanted) == 0


def test_a_file_that_another_program_has_locked_is_not_emptied(tmp_path, whole, monkeypatch):
    path, _ = whole
    shutil.copyfile(path, tmp_path / FILE)
    monkeypatch.setattr(store, "_PATIENCE", 0.1)
    with Store(tmp_path) as opened:
        run_sql(tmp_path, CHANGES["another seed"])
        other, salvaged = sqlite3.connect(tmp_path / FILE, isolation_level=None), store._salvaged

        def locked_meanwhile(*arguments):
            other.execute("BEGIN EXCLUSIVE")
            try:
                return salvaged(*arguments)
            finally:
                other.execute("ROLLBACK")

        monkeypatch.setattr(store, "_salvaged", locked_meanwhile)
        with pytest.raises(BadFile, match="database is locked"):
            opened.table()
        other.close()
        monkeypatch.setattr(store, "_salvaged", salvaged)
        assert len(opened.table()) == N_CELLS - 1


def test_a_view_in_the_place_of_a_table_is_not_computed(tmp_path, whole):
    shutil.copyfile(whole[0], tmp_path / FILE)
    columns = ", ".join(f"0 AS {name}" for name in store._ROW)
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
    run_sql(tmp_path, f"DROP TABLE cells; CREATE VIEW cells AS {endless} SELECT x AS id, -x AS rowid, {columns} FROM c")
    assert len(read_store(tmp_path).table) == 0
    assert check_repair(tmp_path, whole[1]) == N_CELLS


def test_texts_in_another_encoding_are_refused(tmp_path):
    run_sql(tmp_path, f"PRAGMA encoding = 'UTF-16le'; {store._SCHEMA}")
    with pytest.raises(BadFile, match=r"has texts in another encoding than UTF-8\.$"):
        Store(tmp_path)


def test_a_folder_that_is_a_link_is_read_with_its_journal(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "linked").symlink_to("real")
    with Store(tmp_path / "linked") as opened:
        opened.add([cell(i, 50) for i in range(50)])
        wanted = content(opened)
    killed = (
        "import os, signal, sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None);"
        " db.execute('PRAGMA cache_size = 5'); db.execute('BEGIN IMMEDIATE');"
        " db.execute('UPDATE cells SET curve = zeroblob(length(curve))'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", killed, tmp_path / "real" / FILE], check=False)
    assert names(tmp_path / "real") == [FILE, f"{FILE}-journal", "lock"]
    assert by_key(read_store(tmp_path / "linked").table) == wanted
    assert content(Store(tmp_path / "linked")) == wanted


def test_a_process_that_is_forked_while_a_thread_stores_can_store_too(tmp_path):
    program = """
import os, sys, threading, warnings
warnings.simplefilter("ignore")
from cell_examples import cell
from driftwise.results import Store, store
store._PATIENCE = 1.0
opened, go = Store(sys.argv[1]), threading.Event()
def fill():
    i = 0
    while not go.wait(0.002):  # others get the lock too
        opened.add([cell(i)])
        i += 1
thread = threading.Thread(target=fill)
thread.start()
codes = []
for i in range(6):
    child = os.fork()
    if child == 0:
        try:
            Store(sys.argv[1]).add([cell(10_000 + i)])
            os._exit(0)
        except BaseException as error:
            print(error, flush=True)
            os._exit(1)
    codes.append(os.waitpid(child, 0)[1])
go.set()
thread.join()
assert not any(codes), codes
"""
    path = [str(HELPERS), str(ROOT / "src")]
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path], env={"PYTHONPATH": ":".join(path)}, capture_output=True, text=True,
        timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_another_process_that_replaced_the_file_is_noticed(tmp_path, whole):
    shutil.copyfile(whole[0], tmp_path / FILE)
    with Store(tmp_path) as one, Store(tmp_path) as other:
        run_sql(tmp_path, CHANGES["another seed"])
        one.table()
        assert len(one.damaged) == 1
        lost = next(i for i in range(N_CELLS) if key(i) not in one.keys)
        assert other.add([cell(1000), cell(lost, 1 + 40 * (lost % 50 == 7))]) == 2
        assert content(one) == content(other) == {**whole[1], **expected(1000)}


def test_an_interrupted_write_is_undone(tmp_path):
    """A journal that a killed process left is played back by the next store, and by a reader in a copy."""
    folder, copy = tmp_path / "store", tmp_path / "copy"
    with Store(folder) as store:
        store.add([cell(i, 50) for i in range(100)])
        db = store._db
        db.execute("PRAGMA cache_size = 5")  # pages are written before the transaction ends
        db.execute("BEGIN IMMEDIATE")
        db.execute("UPDATE cells SET seed = seed + 1, curve = zeroblob(length(curve))")
        copy.mkdir()
        for name in (FILE, f"{FILE}-journal"):
            subprocess.run(
                ["cp", str(folder / name), str(copy / name)], check=True
            )  # closing it here ends SQLite's locks
        db.execute("ROLLBACK")
        wanted = content(store)
    assert (copy / FILE).read_bytes() != (folder / FILE).read_bytes()
    shutil.copytree(copy, tmp_path / "without")
    assert by_key(read_store(copy).table) == wanted
    assert names(copy) == [FILE, f"{FILE}-journal"]
    assert content(Store(copy)) == wanted
    assert names(copy) == [FILE, "lock"]
    (tmp_path / "without" / f"{FILE}-journal").unlink()  # what a lost journal would leave: nothing wrong is kept
    with Store(tmp_path / "without") as store:
        kept = content(store)
        assert all(kept[each] == wanted[each] for each in kept)
        store.add([cell(i, 50) for i in range(100)])
        assert content(store) == wanted


# Full disks


def test_a_full_disk_leaves_the_store_as_it_was(tmp_path):
    with Store(tmp_path) as store:
        store.add(cells(*range(50)))
        before = (tmp_path / FILE).read_bytes()
        n_pages = store._db.execute("PRAGMA page_count").fetchone()[0]
        store._db.execute(f"PRAGMA max_page_count = {n_pages + 1}")
        with pytest.raises(BadFile, match=r"^Cannot use the store .*: cells\.sqlite: database or disk is full\.$"):
            store.add([cell(i, 100) for i in range(100, 150)])
        assert (tmp_path / FILE).read_bytes() == before
        assert store.keys == {key(i) for i in range(50)}
        assert store.add(cells(100)) == 1  # the connection is a new one
        assert content(store) == expected(*range(50), 100)
    assert names(tmp_path) == [FILE, "lock"]


LIMITED = """
import resource, sys
from cell_examples import cell, key
from driftwise.core.errors import BadFile, InvalidInput
from driftwise.results import Store
store = Store(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    print(store.add([cell(i, 20) for i in range(100, 150)]))
except BadFile as error:
    print(error)
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="the system has no limit of file sizes")
@pytest.mark.parametrize("room", [0, 1, 4096, 8192, 40_000, 1 << 20])
def test_a_write_that_fails_anywhere_leaves_the_store_as_before_or_after(tmp_path, room):
    with Store(tmp_path) as store:
        store.add(cells(*range(20)))
    limit = (tmp_path / FILE).stat().st_size + room if room else 100
    path = [str(HELPERS), str(ROOT / "src")]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, tmp_path, str(limit)],
        env={"PYTHONPATH": ":".join(path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    is_stored = done.stdout == "50\n"
    assert is_stored or done.stdout.startswith("Cannot use the store "), done.stdout
    assert is_stored or room < 1 << 20
    assert not is_stored or room > 1
    more = by_key(CellTable.from_records(cell(i, 20) for i in range(100, 150)))
    assert content(Store(tmp_path)) == {**expected(*range(20)), **(more if is_stored else {})}
    assert names(tmp_path) == [FILE, "lock"]


def test_a_program_that_keeps_reading_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("driftwise.results.store._PATIENCE", 0.2)
    with Store(tmp_path) as store:
        store.add(table(100))
        reader = sqlite3.connect(tmp_path / FILE)
        rows = reader.execute("SELECT * FROM results")
        rows.fetchone()  # holds a lock until it is closed
        with pytest.raises(BadFile, match=r": another program keeps reading cells\.sqlite \(database is locked\)\.$"):
            store.add([failed(1000)])
        rows.close()
        assert store.add([failed(1000)]) == 1
        assert len(store.table()) == 101
