"""A file that is damaged, forged or of another kind is refused in one line."""

import json
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cell_examples import cell, failed, key, same, table, written
from driftwise.core.errors import BadFile
from driftwise.results import CellTable, cell_files, read_cells
from driftwise.results.cell_files import parse_cells
from mutating import mutations

HEADER, DIGEST = b"driftwise cells", b"driftwise cells sha256"


@pytest.fixture(autouse=True, scope="module")
def _content(tmp_path_factory):
    global CONTENT
    CONTENT = written(tmp_path_factory.mktemp("content"), table(3, 2))


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


def forged(change=None, header=None, cells=None, options=None):
    """Return a file with other columns or another header, and with a digest that matches the header."""
    cells = table(3, 2) if cells is None else cells
    sink = pa.BufferOutputStream()
    fields = {"format": cell_files.FORMAT, "extra": {}}
    text = header if isinstance(header, bytes) else json.dumps({**fields, **(header or {})}).encode()
    frame = pq.read_table(pa.BufferReader(CONTENT))
    frame = frame if change is None else change(frame)
    metadata = {HEADER: text, DIGEST: cell_files._digest(text, cells)}
    pq.write_table(frame.replace_schema_metadata(metadata), sink, **(options or {}))
    return sink.getvalue().to_pybytes()


def column(name, change):
    """Change the values of a column."""

    def changed(frame):
        place, values = frame.column_names.index(name), frame[name].to_pylist()
        change(values)
        field = frame.schema.field(name).with_nullable(True)
        return frame.set_column(place, field, pa.array(values, field.type))

    return changed


def value(name, new, *rows):
    """Change some values of a column; those of the second cell if no rows are given."""

    def change(values):
        for row in rows or (2, 3):
            values[row] = new

    return column(name, change)


def other_type(name, kind):
    def changed(frame):
        place = frame.column_names.index(name)
        return frame.set_column(place, pa.field(name, kind), frame[name].cast(kind))

    return changed


HEADERS = {
    "no JSON": (b"{", "holds damaged cells"),
    "not UTF-8": (b"\xff", "holds damaged cells"),
    "a list": (b"[]", "holds damaged cells"),
    "deep": (b"[" * 100_000, "holds damaged cells"),
    "a huge number": (b'{"format": ' + b"9" * 5000 + b"}", "holds damaged cells"),
    "NaN": (b'{"format": NaN}', "its header has the number NaN"),
    "no fields": (b'{"format": 2}', "holds damaged cells: KeyError"),
    "extra list": ({"extra": []}, "its extra values are not a dictionary"),
}
COLUMNS = {
    "a kind": (value("kind", "best"), "`kind` must be 'pseudo' or 'realised', got 'best'"),
    "a spec": (value("learner_spec", "x"), "`learner` must be a spec as JSON text, got 'x'"),
    "no spec": (value("environment_spec", None), "`environment` must be a spec as JSON text, got ''"),
    "a key": (value("key", "0" * 31), "`key` must be 32 hex digits, or empty"),
    "a long key": (value("key", "0" * 33), "`key` must be 32 hex digits, or empty"),
    "a key that is no number": (value("key", "é" * 32), "`key` must be 32 hex digits, or empty"),
    "a key twice": (value("key", key(0)), "`table` must be cells with distinct keys"),
    "a seed": (value("seed", -5), r"`seed` must be a whole number in [0, 2^63), got -5"),
    "no actions": (value("n_actions", None), "`n_actions` must be a whole number in [1, 2^62], got 0"),
    "few rounds": (value("n_rounds", 199), "`rounds` must be at most n_rounds, got 200"),
    "an error": (value("error", "x"), "`regrets` must be a single NaN where there is an error"),
    "shifted rows": (value("final", True, 0), "`table` must be cells with distinct keys"),
    "no end": (value("final", False, 5), "its last cell has no end"),
    "joined cells": (value("final", False, 1), "`rounds` must be increasing, counted from 1, got 100"),
    "a missing round": (value("round", None, 3), "the column 'round' has missing values"),
    "another regret": (value("regret", 2.0, 3), "its checksum does not match its content"),
    "another drift": (value("drift", 2.0), "its checksum does not match its content"),
    "another caveat": (value("caveat", "é"), "its checksum does not match its content"),
    "without a column": (lambda frame: frame.drop_columns(["bound"]), "it has no column 'bound' of double"),
    "rounds as reals": (other_type("round", pa.float64()), "it has no column 'round' of int64"),
    "a text of bytes": (other_type("caveat", pa.binary()), "it has no column 'caveat' of string"),
    "fewer rows": (lambda frame: frame.slice(0, 4), "its checksum does not match its content"),
    "no rows": (lambda frame: frame.slice(0, 0), "its checksum does not match its content"),
}


@pytest.mark.parametrize(("header", "message"), HEADERS.values(), ids=HEADERS)
def test_a_forged_header_is_refused(header, message):
    with pytest.raises(BadFile, match=r"^x holds damaged cells: .*\.$") as caught:
        parse_cells(forged(header=header), "x")
    assert re.search(re.escape(message), str(caught.value))


@pytest.mark.parametrize(("change", "message"), COLUMNS.values(), ids=COLUMNS)
def test_forged_columns_are_refused(change, message):
    with pytest.raises(BadFile, match=r"^x (holds damaged cells|is damaged): .*\.$") as caught:
        parse_cells(forged(change), "x")
    assert re.search(re.escape(message), str(caught.value))


@pytest.mark.parametrize(
    "options", [{}, {"compression": "gzip"}, {"row_group_size": 2}, {"use_dictionary": False}, {"version": "1.0"}]
)
def test_the_forger_forges_nothing_by_itself(options):
    """Another program may write the same content in another way."""
    assert same(parse_cells(forged(options=options), "x")[0], table(3, 2))


@pytest.mark.parametrize("version", [0, 1, 3, None, "2", 2.5, True])
def test_another_format_is_named(version):
    with pytest.raises(BadFile, match=rf"^x has format {version!r} of cells; this version reads format 2\.$"):
        parse_cells(forged(header={"format": version}), "x")


def test_a_file_that_does_not_fit_into_memory_is_refused(monkeypatch):
    monkeypatch.setattr(cell_files, "memory_bytes", lambda: 1000)
    with pytest.raises(BadFile, match=r"^x holds damaged cells: they do not fit into the memory of this machine\.$"):
        parse_cells(CONTENT, "x")


def test_a_table_of_others_and_a_missing_file_are_refused(tmp_path):
    pq.write_table(pa.table({"x": [1]}), tmp_path / "x.parquet")
    with pytest.raises(BadFile, match=r"x\.parquet holds no cells of driftwise\.$"):
        read_cells(tmp_path / "x.parquet")
    with pytest.raises(BadFile, match=r"^There is no file .*none\.parquet\.$"):
        read_cells(tmp_path / "none.parquet")
