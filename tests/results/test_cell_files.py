"""Files of cells give back what was written, to the last bit, and other programs can read them."""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

from cell_examples import cell, failed, key, same, table, written
from driftwise.core.errors import InvalidInput
from driftwise.results import CellRecord, CellTable, cell_files, read_cells, write_cells
from driftwise.results.cell_files import parse_cells
from driftwise.results.cells import CELL, REALS
from outside_files import HELPERS

NAN_WITH_PAYLOAD = np.array([0x7FF8DEADBEEF0001], np.uint64).view(np.float64)[0]
SPECS = ("environment_spec", "learner_spec")


# Round trips

numbers = st.floats(width=64) | st.just(float(NAN_WITH_PAYLOAD))
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@st.composite
def records(draw, i):
    n_marks = draw(st.integers(1, 4))
    rounds = np.cumsum([draw(st.integers(1, 2**60)) for _ in range(n_marks)])
    error = draw(texts)
    if error:
        rounds, curve = rounds[-1:], np.array([np.nan])
    else:
        curve = np.array([draw(numbers) for _ in rounds])
    return CellRecord(
        key=draw(st.sampled_from(["", key(i)])),
        environment=json.dumps({"name": draw(texts)}),
        learner=json.dumps({draw(texts): 1}),
        n_actions=draw(st.integers(1, 2**62)),
        n_rounds=draw(st.integers(int(rounds[-1]), 2**62)),
        seed=draw(st.integers(0, 2**63 - 1)),
        run=draw(st.integers(0, 2**62)),
        comparator=draw(texts),
        play=draw(texts),
        kind=draw(st.sampled_from(["pseudo", "realised"])),
        rounds=rounds,
        regrets=curve,
        bounds=np.array([draw(numbers) for _ in rounds]),
        segments=draw(st.integers(0, 2**62)),
        **{name: draw(st.floats(width=64).map(lambda x: np.nan if np.isnan(x) else x)) for name in REALS},
        caveat=draw(texts),
        error=error,
        machine=draw(texts),
        stored=draw(st.integers(0, 253_402_300_799_999_999)),
    )


@settings(max_examples=60, deadline=None)
@given(data=st.data(), n=st.integers(0, 4), extra=st.dictionaries(texts, st.none() | st.integers() | texts, max_size=2))
def test_a_file_gives_back_what_was_written(tmp_path_factory, data, n, extra):
    path = tmp_path_factory.mktemp("cells") / "cells.parquet"
    cells = CellTable.from_records([data.draw(records(i)) for i in range(n)])
    write_cells(path, cells, extra)
    back, back_extra = read_cells(path)
    assert same(back, cells)
    assert back_extra == extra


def test_long_curves_span_several_groups_of_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(cell_files, "_GROUP", 50)
    cells = CellTable.from_records([cell(i, 1 + i * 7 % 120) for i in range(40)])
    content = written(tmp_path, cells)
    assert pq.ParquetFile(tmp_path / "cells.parquet").num_row_groups > 20
    assert same(parse_cells(content, "x")[0], cells)


def test_equal_content_gives_equal_bytes(tmp_path):
    whole = table(6)
    backwards = CellTable.from_records([cell(i) for i in range(9, -1, -1)])  # its texts are in another order
    again = CellTable.concatenate([backwards.select(backwards.cells["key"] == key(i).encode()) for i in range(6)])
    assert written(tmp_path, whole, {"a": 1, "b": 2}) == written(tmp_path, again, {"b": 2, "a": 1})


def test_bytes_do_not_depend_on_the_process(tmp_path):
    program = "from cell_examples import table; from driftwise.results import write_cells; write_cells(path, table(9))"
    program = f"import sys; sys.path.insert(0, {str(HELPERS)!r}); path = sys.argv[1]; {program}"
    subprocess.run([sys.executable, "-c", program, tmp_path / "other"], check=True, timeout=60)
    assert (tmp_path / "other").read_bytes() == written(tmp_path, table(9))


@pytest.mark.parametrize("extra", [{"a": np.nan}, {"a": {1, 2}}, {"a": b""}, {(1,): 2}])
def test_extra_values_are_plain(tmp_path, extra):
    with pytest.raises(InvalidInput, match=r"^write_cells: `extra` must be a dictionary of plain values, got \{.*\.$"):
        write_cells(tmp_path / "x", table(), extra)
    assert not [*tmp_path.iterdir()]


def test_a_key_twice_is_not_written(tmp_path):
    with pytest.raises(
        InvalidInput, match=r"^write_cells: `table` must be cells with distinct keys, got 'a key twice'"
    ):
        write_cells(tmp_path / "x", CellTable.concatenate([table(2), table(1)]))


# Other programs


def test_other_programs_see_one_row_per_marked_round_and_null_where_a_value_is_unknown(tmp_path):
    cells = CellTable.from_records([cell(5, 3, stored=1_700_000_000_000_001), failed(1, segments=0), cell(2, key="")])
    written(tmp_path, cells)
    frame = pq.read_table(tmp_path / "cells.parquet")
    rows = frame.to_pylist()
    assert [row["round"] for row in rows] == [100, 200, 300, 100, 100]
    assert [row["final"] for row in rows] == [False, False, True, True, True]
    assert [row["regret"] for row in rows[:3]] == [5.0, 5.125, 5.25]
    assert [row["seed"] for row in rows] == [5, 5, 5, 1, 2]
    assert [row["key"] for row in rows] == [key(5)] * 3 + [key(1), None]
    assert [row["error"] for row in rows] == [None] * 3 + ["OverflowError: too large", None]
    assert [row["segments"] for row in rows] == [None] * 4 + [2]  # 5 % 5 = 0
    assert {row["best_loss"] for row in rows} == {None}
    assert rows[0]["stored"].isoformat() == "2023-11-14T22:13:20.000001+00:00"
    assert rows[3]["stored"] is None
    assert frame.schema.field("stored").type == pa.timestamp("us", tz="UTC")
    assert frame.column_names[:3] == ["key", "environment", "learner"]
    assert {*frame.column_names} == {*CELL.names, "round", "final", "regret", "bound", *SPECS}


def test_sql_over_a_folder(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    for first in (0, 8):
        write_cells(tmp_path / f"{first}.parquet", table(8, 3, first))
    query = f"SELECT learner, avg(regret) FROM '{tmp_path}/*.parquet' WHERE final GROUP BY learner ORDER BY learner"
    means = [np.mean([i + 0.25 for i in range(16) if i % 4 == k]) for k in range(4)]
    assert [mean for _, mean in duckdb.sql(query).fetchall()] == means
