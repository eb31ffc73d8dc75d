"""A file that is damaged, forged or of another kind is refused in one line."""

import base64
import json
import re
import tracemalloc
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cell_examples import cell, failed, key, same, table, written
from driftwise.core.errors import BadFile
from driftwise.results import CellTable, cell_columns, read_cells
from driftwise.results.cell_files import NewerFormat, parse_cells
from driftwise.results.cells import CELL
from driftwise.results.parquet_columns import file_metadata
from mutating import mutations

HEADER, DIGEST = b"driftwise cells", b"driftwise cells sha256"


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
    return cell_columns.parquet_bytes(cells, file_metadata(HEADER.decode(), text, loaded), {})


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
