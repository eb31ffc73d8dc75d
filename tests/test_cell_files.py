"""Files of cells give back what was written, to the last bit; anything else in a file is refused in one line."""

import base64
import json
import re
import subprocess
import sys
import tracemalloc
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cell_examples import bits, cell, failed, key, same, table
from driftwise.core.errors import BadFile, InvalidInput
from driftwise.results import CellRecord, CellTable, cell_columns, read_cells, write_cells
from driftwise.results.cell_files import NewerFormat, parse_cells
from driftwise.results.cells import CELL, COUNTS, REALS, TEXTS
from driftwise.results.parquet_columns import file_metadata
from mutating import mutations

HEADER, DIGEST = b"driftwise cells", b"driftwise cells sha256"
NAN_WITH_PAYLOAD = np.array([0x7FF8DEADBEEF0001], np.uint64).view(np.float64)[0]
SPECS = ("environment_spec", "learner_spec")


def written(tmp_path, cells, extra=None):
    write_cells(tmp_path / "cells.parquet", cells, extra)
    return (tmp_path / "cells.parquet").read_bytes()


# Tables


def test_every_field_of_a_record_is_in_one_column():
    assert {*CELL.names} | {"rounds", "regrets", "bounds"} == {*CellRecord._fields}
    assert len(CELL.names) == 1 + len(TEXTS) + len(COUNTS) + len(REALS)


def test_a_table_gives_back_its_records():
    records = [cell(0, 3), cell(1), failed(2), cell(3, 2, caveat="é ≤ 名")]
    cells = CellTable.from_records(records)
    assert len(cells) == 4
    assert [bits(cells.record(i)) for i in range(4)] == [bits(record) for record in records]
    assert bits(cells.record(-1)) == bits(records[-1])
    assert cells.keys() == [key(i) for i in range(4)]
    assert np.array_equal(cells.final, [0.25, 1.0, np.nan, 3.125], equal_nan=True)
    assert cells.failed.tolist() == [False, False, True, False]
    assert cells.lengths.tolist() == [3, 1, 1, 2]


def test_tables_are_joined_and_divided():
    whole = CellTable.from_records([cell(i, 1 + i % 3) for i in range(20)])
    mask = np.arange(20) % 3 == 0
    parts = [whole.select(mask), whole.select(~mask)]
    order = [*np.flatnonzero(mask), *np.flatnonzero(~mask)]
    joined = CellTable.concatenate(parts)
    assert [bits(joined.record(i)) for i in range(20)] == [bits(whole.record(i)) for i in order]
    assert same(CellTable.concatenate([table(2), table(3, start=2)]), table(5))
    assert len(CellTable.concatenate([])) == len(CellTable.from_records([])) == len(whole.select(mask & ~mask)) == 0


def test_a_mask_has_one_truth_value_per_cell():
    for mask in (np.array([True]), np.array([0, 1, 2])):
        with pytest.raises(InvalidInput, match=r"^CellTable: `mask` must be 3 truth values, got "):
            table(3).select(mask)


BAD_FIELDS = {
    "key": ["0" * 31, "0" * 33, "A" * 32, "0" * 31 + "\n", "\0" * 32, "é" * 32, b"0" * 32, None],
    "environment": ["", "[]", "{", "1", "{} {}", "\ud800", "[" * 5000, {}],
    "learner": ["hedge", None],
    "n_actions": [0, -1, 2**62 + 1, 2**64, 1.0, True, "1", np.nan],
    "n_rounds": [0, 2**62 + 1],
    "seed": [-1, 2**63, 2**70, 0.5],
    "run": [-1, None],
    "kind": ["", "dynamic", 3],
    "comparator": [None, "\udfff"],
    "rounds": [[], [0], [-1], [101], [1.5], [[1]], 5, ["1"], None, [2**63]],
    "regrets": [[], [1.0, 2.0], [[1.0]], ["x"], [None], 1.0, [1j]],
    "bounds": [[], [1.0, 2.0], None],
    "segments": [-1, 1.5],
    "drift": ["1", None, 1j, True, 10**400],
    "seconds": [[1.0]],
    "stored": [-1, 2**62],
    "error": [None, "played, but with an error"],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name in BAD_FIELDS for value in BAD_FIELDS[name]])
def test_a_bad_field_is_rejected_in_one_line(name, value):
    with pytest.raises(InvalidInput, match=r"^CellRecord: `\w+` must be .*, got .*\.$") as caught:
        CellTable.from_records([cell(0), cell(1, **{name: value})])
    assert "\n" not in str(caught.value)
    assert f"`{name}`" in str(caught.value) or value == [] or name == "error"


@pytest.mark.parametrize("rounds", [[1, 1], [2, 1], [0, 1], [99, 201]])
def test_rounds_increase_up_to_the_last(rounds):
    with pytest.raises(InvalidInput, match=r"^CellRecord: `rounds` must be "):
        CellTable.from_records([cell(0), cell(1, 2, rounds=rounds)])


def test_a_list_of_anything_else_is_rejected():
    with pytest.raises(InvalidInput, match=r"^CellTable: `records` must be a list of CellRecord, got \{"):
        CellTable.from_records([cell()._asdict()])


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
        **{name: draw(numbers) for name in REALS},
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
    monkeypatch.setattr(cell_columns, "_GROUP", 50)
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
    program = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); path = sys.argv[1]; {program}"
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


# Damage


def test_a_truncated_file_is_refused(tmp_path):
    content = written(tmp_path, table(4))
    lengths = [*range(0, len(content), 37), *range(len(content) - 40, len(content))]
    for length in lengths:
        with pytest.raises(BadFile):
            parse_cells(content[:length], "x")


def harmless(content, cells):
    try:
        back, extra = parse_cells(content, "x")
    except BadFile:
        return False
    assert same(back, cells)
    assert extra == {"label": "é"}
    return True


def test_a_flipped_bit_is_refused_or_harmless(tmp_path):
    cells = CellTable.from_records([cell(0, 3), failed(1), cell(2)])
    content = written(tmp_path, cells, {"label": "é"})
    n_harmless = 0
    positions = range(0, len(content) * 8, 53)
    for position in positions:
        flipped = bytearray(content)
        flipped[position // 8] ^= 1 << position % 8
        n_harmless += harmless(bytes(flipped), cells)
    assert 0 < n_harmless < len(positions)  # in columns for other programs


def test_random_damage_is_refused_or_harmless(tmp_path):
    cells = table(4)
    content = written(tmp_path, cells, {"label": "é"})
    for changed in mutations(content, 300, seed=1):
        harmless(changed, cells)


def forged(change, cells=None):
    """Return a file whose header was changed or replaced, with a digest that matches."""
    cells = table(3, 2) if cells is None else cells
    loaded = {"round": cells.round, "regret": cells.regret, "bound": cells.bound}
    packed = b"".join([cells.lengths.tobytes(), *(cells.cells[name].tobytes() for name in CELL.names)])
    header = {"format": 1, "n_cells": len(cells), "texts": dict(cells.texts), "cells": packed, "extra": {}}
    if callable(change):
        change(header)
    if isinstance(header["cells"], bytes):
        header["cells"] = base64.b64encode(zlib.compress(header["cells"])).decode()
    text = json.dumps(header).encode() if callable(change) else change
    return cell_columns.parquet_bytes(cells, file_metadata(HEADER.decode(), text, loaded))


def set_to(**values):
    return lambda header: header.update(values)


def set_text(name, values):
    return lambda header: header["texts"].update({name: values})


def set_column(name, value, place=1):
    def change(header):
        n_cells = header["n_cells"]
        start = n_cells * (8 + sum(CELL[other].itemsize for other in CELL.names[: CELL.names.index(name)]))
        raw = np.array([value], CELL[name]).tobytes()
        content = bytearray(header["cells"])
        content[start + place * len(raw) : start + (place + 1) * len(raw)] = raw
        header["cells"] = bytes(content)

    return change


def set_lengths(*lengths):
    return lambda header: header.update(cells=np.array(lengths, "<i8").tobytes() + header["cells"][8 * len(lengths) :])


FORGED = {
    "no JSON": (b"{", "holds damaged cells"),
    "not UTF-8": (b"\xff", "holds damaged cells"),
    "a list": (b"[]", "holds damaged cells"),
    "deep": (b"[" * 100_000, "holds damaged cells"),
    "a huge number": (b'{"format": ' + b"9" * 5000 + b"}", "holds damaged cells"),
    "NaN": (b'{"format": NaN}', "its header has the number NaN"),
    "no fields": (b'{"format": 1}', "holds damaged cells: KeyError"),
    "format 0": (set_to(format=0), "unknown format 0"),
    "format None": (set_to(format=None), "unknown format None"),
    "format True": (set_to(format="1"), "unknown format '1'"),
    "too few cells": (set_to(n_cells=2), "its header does not have the length of 2 cells"),
    "too many cells": (set_to(n_cells=7), "it has 6 rows for 7 cells"),
    "negative cells": (set_to(n_cells=-1), "it has 6 rows for -1 cells"),
    "far too many cells": (set_to(n_cells=2**62), "it has 6 rows for 4611686018427387904 cells"),
    "half a cell": (set_to(n_cells=2.5), "it has 6 rows for 2.5 cells"),
    "true cells": (set_to(n_cells=True), "it has 6 rows for True cells"),
    "cells as a list": (set_to(cells=[1, 2]), "holds damaged cells"),
    "cells not base64": (set_to(cells="é"), "holds damaged cells"),
    "cells not packed": (set_to(cells="AAAA"), "holds damaged cells"),
    "empty cells": (set_to(cells=b""), "its header does not have the length of 3 cells"),
    "a large pack": (set_to(cells=bytes(10_000_000)), "its header does not have the length of 3 cells"),
    "extra list": (set_to(extra=[]), "its extra values are not a dictionary"),
    "texts missing": (set_to(texts={}), "holds damaged cells: KeyError"),
    "texts null": (set_text("caveat", None), "holds damaged cells: TypeError"),
    "texts numbers": (set_text("caveat", [1]), "its texts are not text"),
    "texts too few": (set_text("learner", ["{}"]), "`learner` must be an index into the list of its texts, got 2"),
    "texts twice": (set_text("caveat", ["", ""]), "`caveat` must be a list of distinct texts"),
    "texts not a spec": (set_text("environment", ["x"]), "`environment` must be a spec as JSON text, got 'x'"),
    "half a pair": (set_text("machine", ["\ud800"]), "`machine` must be valid Unicode"),
    "a kind": (set_text("kind", ["best"]), "`kind` must be 'pseudo' or 'realised', got 'best'"),
    "an error": (set_text("error", ["x"]), "`regrets` must be a single NaN where there is an error"),
    "a negative index": (set_column("play", -1), "`play` must be an index into the list of its texts"),
    "a key": (set_column("key", b"0" * 31), "`key` must be 32 hex digits, or empty"),
    "a key twice": (set_column("key", key(0).encode()), "a key is there twice"),
    "a seed": (set_column("seed", -5), r"`seed` must be a whole number in [0, 2^63), got -5"),
    "no actions": (set_column("n_actions", 0), "`n_actions` must be a whole number in [1, 2^62], got 0"),
    "a time": (set_column("stored", 2**62), "`stored` must be a time in microseconds"),
    "few rounds": (set_column("n_rounds", 199), "`rounds` must be at most n_rounds, got 200"),
    "no rows": (set_lengths(0, 4, 2), "a cell has no rows, or more than there are"),
    "negative rows": (set_lengths(-2, 4, 4), "a cell has no rows, or more than there are"),
    "many rows": (set_lengths(2**62, 2**62, 2), "a cell has no rows, or more than there are"),
    "rows left": (set_lengths(1, 1, 2), "`offsets` must be one more than the cells"),
    "shifted rows": (set_lengths(1, 3, 2), "`rounds` must be increasing, counted from 1, got 100"),
}


@pytest.mark.parametrize(("change", "message"), FORGED.values(), ids=FORGED)
def test_a_forged_header_is_refused(change, message):
    content = forged(change)
    with pytest.raises(BadFile, match=r"^x holds damaged cells: .*\.$") as caught:
        parse_cells(content, "x")
    assert re.search(re.escape(message), str(caught.value))
    assert not isinstance(caught.value, NewerFormat)


def test_the_forger_forges_nothing_by_itself():
    assert same(parse_cells(forged(set_to()), "x")[0], table(3, 2))


def test_a_newer_format_is_named():
    with pytest.raises(NewerFormat, match=r"^x has format 2 of cells; this version reads format 1\. Install a newer"):
        parse_cells(forged(set_to(format=2)), "x")


def test_a_pack_that_grows_is_not_unpacked():
    content = forged(set_to(cells=bytes(50_000_000)))
    tracemalloc.start()
    try:
        with pytest.raises(BadFile):
            parse_cells(content, "x")
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def changed_columns(tmp_path, change, **options):
    """Write a file again with other columns and the same metadata, as another program might."""
    written(tmp_path, table(3, 2))
    frame = change(pq.read_table(tmp_path / "cells.parquet"))
    metadata = pq.read_metadata(tmp_path / "cells.parquet").metadata
    frame = frame.replace_schema_metadata({name: metadata[name] for name in (HEADER, DIGEST)})
    pq.write_table(frame, tmp_path / "cells.parquet", **options)
    return read_cells(tmp_path / "cells.parquet")


PLAIN = {"compression": "none", "use_dictionary": False}


def test_a_file_copied_by_another_program_as_it_is_loads(tmp_path):
    assert same(changed_columns(tmp_path, lambda frame: frame, **PLAIN)[0], table(3, 2))


@pytest.mark.parametrize(
    ("change", "options"),
    [
        (lambda frame: frame, {}),
        (lambda frame: frame, {**PLAIN, "compression": "snappy"}),
        (lambda frame: frame.slice(0, 5), PLAIN),
        (lambda frame: frame.drop_columns("bound"), PLAIN),
        (lambda frame: frame.set_column(10, pa.field("round", pa.float64(), False), frame["bound"]), PLAIN),
        (lambda frame: frame.set_column(12, pa.field("regret", pa.int64(), False), frame["round"]), PLAIN),
        (lambda frame: frame.set_column(12, pa.field("regret", pa.float64(), False), frame["bound"]), PLAIN),
    ],
    ids=["encoded", "compressed", "shorter", "without bounds", "rounds as reals", "whole regrets", "other regrets"],
)
def test_a_file_changed_by_another_program_is_refused(tmp_path, change, options):
    with pytest.raises(BadFile, match=r"cells\.parquet is (not a complete Parquet file|damaged): .*\.$"):
        changed_columns(tmp_path, change, **options)


def test_a_table_of_others_and_a_missing_file_are_refused(tmp_path):
    pq.write_table(pa.table({"x": [1]}), tmp_path / "x.parquet")
    with pytest.raises(BadFile, match=r"x\.parquet holds no cells of driftwise\.$"):
        read_cells(tmp_path / "x.parquet")
    with pytest.raises(BadFile, match=r"^There is no file .*none\.parquet\.$"):
        read_cells(tmp_path / "none.parquet")
