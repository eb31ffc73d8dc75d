"""`driftwise combine` gives the forecasts of `MixtureStack`, whatever the format, the order and the chunks."""

import csv
import gzip
import io
import json
import os
import sys
import threading

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from combine_examples import FIXED_SHARE, FORMATS, OUTPUTS, SMALL_BLOCK, example, read, small_blocks, visible, write
from command_line import runner
from driftwise.cli.combine import _row_progress
from driftwise.core.errors import BadData
from driftwise.forecasting.combining import CombineTask, RowProgress, combine_table, table_source
from driftwise.forecasting.frames import ColumnUses
from driftwise.forecasting.mixture_stack import MixtureStack
from driftwise.forecasting.options import MixtureOptions
from driftwise.learners import FixedShare


@pytest.fixture
def combine(monkeypatch, capsys, tmp_path):
    run = runner(monkeypatch, capsys, tmp_path)

    def combine(*words, no_page=True):
        return run("combine", *words, "--target", "y", *FIXED_SHARE, *(["--no-page"] if no_page else []))

    return combine


def numbers(table, name):
    return np.array(table.column(name).to_pylist(), dtype=float)


def expected(table, by=False, extras=()):
    """Return the forecasts and weights of the rows, run by the stack in one block."""
    forecasts = np.column_stack([numbers(table, name) for name in "abc"])
    names = table.column("series").to_pylist()
    series = np.array([list(dict.fromkeys(names)).index(name) for name in names]) if by else None
    options = MixtureOptions(learner=FixedShare(), extras=extras)
    stack = MixtureStack(options, 3, int(series.max()) + 1 if by else 1)
    return stack.run(forecasts, numbers(table, "y"), series)


def same(found, wanted):
    found = np.array([np.nan if value is None else value for value in found], dtype=float)
    assert np.array_equal(found, wanted, equal_nan=True)


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("given", FORMATS)
def test_every_format_gives_the_numbers_of_the_stack(combine, tmp_path, monkeypatch, given, output):
    small_blocks(monkeypatch)
    table = example()
    file = write(table, tmp_path / f"in.{given}")
    left = combine(file, "--time", "ds", "--by", "series", "--format", output, "--out", "out")
    assert left.code == 0, left.err
    found = read(tmp_path / "out" / f"forecasts.{output}")
    assert [*found] == ["ds", "series", "y", "forecast", "weight_a", "weight_b", "weight_c"]
    wanted = expected(table)
    same(found["forecast"], wanted.combined)
    for k, name in enumerate("abc"):
        same(found[f"weight_{name}"], wanted.weights[:, k])
    same(found["y"], numbers(table, "y"))
    assert [int(time) for time in found["ds"]] == table.column("ds").to_pylist()
    assert found["series"] == table.column("series").to_pylist()
    assert {*visible(tmp_path / "out")} == {f"forecasts.{output}", "summary.json"}


def test_interleaved_series_are_combined_as_sorted_ones(combine, tmp_path, monkeypatch):
    small_blocks(monkeypatch)
    table = example(n_series=7, interleaved=True)
    order = np.argsort(table.column("series").to_pylist(), kind="stable")
    write(table, tmp_path / "interleaved.parquet")
    write(table.take(pa.array(order)), tmp_path / "sorted.csv")
    for name in ("interleaved.parquet", "sorted.csv"):
        words = ("--time", "ds", "--by", "series", "--format", "parquet", "--out", name[0])
        assert combine(name, *words, "--threads", 2).code == 0
    found, ordered = read(tmp_path / "i" / "forecasts.parquet"), read(tmp_path / "s" / "forecasts.parquet")
    wanted = expected(table, by=True)
    same(found["forecast"], wanted.combined)
    same(ordered["forecast"], wanted.combined[order])
    summary = json.loads((tmp_path / "i" / "summary.json").read_text())
    assert (summary["rows"], summary["series"]) == (300, 7)


def test_series_may_be_whole_numbers(combine, tmp_path):
    table = example(n_series=3)
    whole = pa.array([int(name[1:]) + 2**60 for name in table.column("series").to_pylist()])
    write(table.set_column(1, "series", whole), tmp_path / "in.parquet")
    assert combine("in.parquet", "--by", "series", "--experts", "a,b,c", "--out", "out").code == 0
    found = read(tmp_path / "out" / "forecasts.parquet")
    assert found["series"] == whole.to_pylist()
    same(found["forecast"], expected(table, by=True).combined)


def test_bytes_do_not_depend_on_chunks_and_threads(combine, tmp_path, monkeypatch):
    write(example(1000, n_series=5, interleaved=True), tmp_path / "in.csv")
    words = ("in.csv", "--time", "ds", "--by", "series")
    monkeypatch.setattr("driftwise.forecasting.combining.block_rows", lambda _: 128)
    assert combine(*words, "--out", "first", "--threads", 1, no_page=False).code == 0
    small_blocks(monkeypatch, 128)
    assert combine(*words, "--out", "second", "--threads", 3, no_page=False).code == 0
    first = visible(tmp_path / "first")
    assert {*first} == {"forecasts.csv", "summary.json", "report.html"}
    assert first == visible(tmp_path / "second")


def test_extras_have_weights(combine, tmp_path):
    table = example()
    write(table, tmp_path / "in.parquet")
    words = ("in.parquet", "--experts", "a,b,c", "--add", "scaled", "--add", "last-truth")
    assert combine(*words, "--out", "out").code == 0
    found = read(tmp_path / "out" / "forecasts.parquet")
    names = MixtureOptions(extras=("scaled", "last-truth")).names(["a", "b", "c"])
    assert len(names) == 6
    assert [*found][2:] == [f"weight_{name}" for name in names]
    same(found["forecast"], expected(table, extras=("scaled", "last-truth")).combined)


@pytest.mark.parametrize(("delimiter", "decimal"), [(";", ","), ("\t", "."), ("|", ","), (",", ".")])
def test_delimiter_and_decimal_sign_are_found(combine, tmp_path, delimiter, decimal):
    table = example()
    rows = zip(*table.to_pydict().values(), strict=True)
    cells = [["" if cell is None else str(cell).replace(".", decimal) for cell in row] for row in rows]
    text = "\r\n".join(delimiter.join(row) for row in [table.schema.names, *cells])
    (tmp_path / "in.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    left = combine("in.csv", "--time", "ds", "--by", "series", "--out", "out")
    assert left.code == 0, left.err
    same(read(tmp_path / "out" / "forecasts.csv")["forecast"], expected(table).combined)
    given = ("--delimiter", "tab" if delimiter == "\t" else delimiter, "--decimal", decimal)
    assert combine("in.csv", "--time", "ds", "--by", "series", "--out", "given", *given).code == 0
    assert visible(tmp_path / "given") == visible(tmp_path / "out")


def test_signs_that_are_found_are_named_in_a_note(monkeypatch, capsys, tmp_path):
    run = runner(monkeypatch, capsys, tmp_path)
    words = ("combine", "in.csv", "--target", "y", "--learner", "fixed-share", "--no-page")
    (tmp_path / "in.csv").write_text("y;a;b\n1,5;2;3\n")
    note = "driftwise: in.csv: it was read with {}; --delimiter and --decimal give others.\n"
    assert run(*words).err == note.format("the delimiter ';' and the decimal sign ','")
    assert run(*words, "--decimal", ",").err == note.format("the delimiter ';'")
    assert run(*words, "--delimiter", ";").err == note.format("the decimal sign ','")
    assert run(*words, "--delimiter", ";", "--decimal", ",").err == ""
    assert run(*words, "--quiet").err == ""


SIGNS = {
    "a comma that is given": ("y;a\n1,900;900\n", ("--decimal", ","), (1.9, 900.0)),
    "a point that is given": ("y;a;b\n1.900;2.000;1,5\n", ("--decimal", ".", "--experts", "a"), (1.9, 2.0)),
    "points with three decimals": ("y,a\n1.900,2.125\n", (), (1.9, 2.125)),
    "commas after a zero": ("y;a\n0,900;-0,125\n", (), (0.9, -0.125)),
    "commas after four digits": ("y;a\n1900,125;1,5\n", (), (1900.125, 1.5)),
    "a column that shows its commas later": ("y;a\n1,900;2,125\n1,5;2,5\n", (), (1.9, 2.125)),
    "whole numbers beside commas": ("y;a\n900;1,5\nNA;-\n1000;3\n", (), (900.0, 1.5)),
    "thousands in a column that is not used": ('y,a,n\n1.5,2.5,"1,900"\n', ("--experts", "a"), (1.5, 2.5)),
}


@pytest.mark.parametrize(("text", "options", "numbers"), SIGNS.values(), ids=SIGNS)
def test_numbers_that_have_one_meaning_are_read(combine, tmp_path, text, options, numbers):
    (tmp_path / "in.csv").write_text(text)
    left = combine("in.csv", *options, "--out", "out")
    assert left.code == 0, left.err
    rows = read(tmp_path / "out" / "forecasts.csv")
    assert (rows["y"][0], rows["forecast"][0]) == numbers


def test_the_decimal_sign_can_be_given_in_python(tmp_path):
    (tmp_path / "in.csv").write_text("y;a\n1,900;900\n")
    source, options = table_source(str(tmp_path / "in.csv")), MixtureOptions(learner=FixedShare())
    task = CombineTask(source, ColumnUses("y"), options, tmp_path / "out", "csv", page=False)
    with pytest.raises(BadData, match=r"column 'y': '1,900' may be 1\.900 or 1900"):
        combine_table(task, None, print)
    combine_table(task._replace(decimal=","), None, lambda _: None)
    assert read(tmp_path / "out" / "forecasts.csv")["y"] == [1.9]


def test_points_beside_semicolons_are_decimal_if_another_number_shows_it(combine, tmp_path):
    (tmp_path / "in.csv").write_text("y;a;b\n0.123;0.456;1.234\n1.123;1.456;2.234\n")
    assert combine("in.csv", "--target", "y", "--out", "out").code == 0
    assert read(tmp_path / "out" / "forecasts.csv")["y"] == [0.123, 1.123]


def test_cells_in_quotation_marks_are_read_whatever_the_blocks(combine, tmp_path, monkeypatch):
    """Quotation marks and ends of lines are at every place of a block of Arrow."""
    rows = [f'{i % 3},"{i % 5}","n{"x" * (i % 11)}\r\n""{i}"""' for i in range(400)]
    for end in ("\n", "\r\n"):
        (tmp_path / "in.csv").write_bytes(("\ufeffy,a,n\n" + end.join(rows) + end).encode())
        for block in (64, 101, 1000):
            small_blocks(monkeypatch)
            monkeypatch.setattr("driftwise.environments.csv_tables._BLOCK", block)
            left = combine("in.csv", "--out", "out")
            assert left.code == 0, left.err
            assert read(tmp_path / "out" / "forecasts.csv")["y"] == [i % 3 for i in range(400)]


def test_spellings_of_missing_numbers(combine, tmp_path):
    cells = ["", "NA", "NaN", "nan", "null", "NULL", "None", "N/A", "#N/A", "-", " NA", "n/a "]
    (tmp_path / "in.csv").write_text("y,a,b\n" + "".join(f"1,{cell},2\n" for cell in cells))
    left = combine("in.csv", "--out", "out", "--quiet")
    assert left.code == 0, left.err
    assert read(tmp_path / "out" / "forecasts.csv")["weight_b"] == [1] * len(cells)


def test_columns_without_numbers_are_named_in_a_note(monkeypatch, capsys, tmp_path):
    run = runner(monkeypatch, capsys, tmp_path)
    (tmp_path / "in.csv").write_text("shop,day,y,a,b\np,2026-01-01,1,2,3\nq,2026-01-01,1,2,3\n")
    note = "driftwise: in.csv: not used, because they are not numbers: {}. Name the column of the times by --time,"
    for options, unused in [
        ("", "'shop', 'day'"),
        ("--by shop", "'day'"),
        ("--by shop --time day", None),
        ("--experts a,b", None),
        ("--quiet", None),
    ]:
        words = ["--target", "y", "--learner", "fixed-share", "--no-page", *options.split()]
        left = run("combine", "in.csv", *words)
        assert left.code == 0
        assert left.err.startswith(note.format(unused)) if unused else left.err == ""


def test_a_single_expert_is_named_in_a_note(monkeypatch, capsys, tmp_path):
    """A table with a row for each model and no --time looks like one expert."""
    run = runner(monkeypatch, capsys, tmp_path)
    (tmp_path / "in.csv").write_text("y,f\n1,2\n1,3\n")
    words = ("combine", "in.csv", "--target", "y", "--learner", "fixed-share", "--no-page")
    note = "driftwise: in.csv: 'f' is the only expert, so its weight is 1 in every row."
    assert run(*words).err == f"{note} A table for this command has one column for each expert.\n"
    assert run(*words, "--add", "last-truth").err == ""


def test_a_time_of_an_earlier_block_may_not_come_again(combine, tmp_path, monkeypatch):
    small_blocks(monkeypatch)
    rows = [f"{min(t, 2 * SMALL_BLOCK - 1)},1,2" for t in range(2 * SMALL_BLOCK + 1)]
    (tmp_path / "in.csv").write_text("\n".join(["t,y,a", *rows]))
    assert "line 130, column 't': times must increase, got '127' again." in combine("in.csv", "--time", "t").err


def test_a_column_that_is_missing_throughout_is_a_sleeper_with_a_warning(monkeypatch, capsys, tmp_path):
    run = runner(monkeypatch, capsys, tmp_path)
    (tmp_path / "in.csv").write_text("y,a,b\n1,,2\n1,,2\n")
    left = run("combine", "in.csv", "--target", "y", "--learner", "fixed-share", "--no-page")
    assert (left.code, left.err) == (0, "driftwise: in.csv, column 'a': all forecasts are missing.\n")
    assert read(tmp_path / "out" / "combine" / "forecasts.csv")["weight_a"] == [0, 0]


def test_compressed_csv(combine, tmp_path):
    table = example()
    plain = write(table, tmp_path / "in.csv").read_bytes()
    (tmp_path / "in.csv.gz").write_bytes(gzip.compress(plain))
    assert combine("in.csv.gz", "--experts", "a,b,c", "--out", "out").code == 0
    same(read(tmp_path / "out" / "forecasts.csv")["forecast"], expected(table).combined)


@pytest.mark.parametrize("given", ["csv", "jsonl"])
def test_standard_input(combine, tmp_path, monkeypatch, given):
    table = example()
    content = write(table, tmp_path / f"in.{given}").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    left = combine("-", "--experts", "a,b,c", "--input-format", given, "--format", "parquet", "--out", "out")
    assert left.code == 0, left.err
    same(read(tmp_path / "out" / "forecasts.parquet")["forecast"], expected(table).combined)


def test_a_pipe_is_read_once(combine, tmp_path):
    """As in `driftwise combine <(command)`."""
    os.mkfifo(tmp_path / "pipe")
    writing = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=[b"y,a\n1,2\n"])
    writing.start()
    left = combine("pipe", "--input-format", "csv", "--out", "out")
    writing.join()
    assert left.code == 0, left.err
    assert (tmp_path / "out" / "forecasts.csv").read_text() == "y,forecast,weight_a\n1,2,1\n"


def test_quoted_cells_may_have_delimiters_and_line_breaks(combine, tmp_path, monkeypatch):
    small_blocks(monkeypatch)
    names = ['a,"b"', "line\nbreak", "plain", "tab\tand \\", 'say "hi']
    rows = "".join('"{}",{},{}\n'.format(names[i % 5].replace('"', '""'), i % 7, i % 3) for i in range(300))
    (tmp_path / "in.csv").write_text("by,y,a\n" + rows)
    for output in OUTPUTS:
        left = combine("in.csv", "--by", "by", "--format", output, "--out", output)
        assert left.code == 0, left.err
        if output == "csv":
            with (tmp_path / "csv" / "forecasts.csv").open(newline="") as file:
                found = [row[0] for row in csv.reader(file)][1:]
        else:
            found = read(tmp_path / output / f"forecasts.{output}")["by"]
        assert found == [names[i % 5] for i in range(300)]


def test_times_are_compared_by_their_meaning(combine, tmp_path):
    """An hour is repeated when clocks go back; 9 comes before 10."""
    times = {
        "offsets": ["2024-10-27 02:00:00+02:00", "2024-10-27 02:00:00+01:00", "2024-10-27 03:00:00+01:00"],
        "numbers": ["9", "10", "10.5"],
        "dates": ["2024-01-31", "2024-02-01 12:30", "2024-02-01T12:30:00.5"],
        "words": ["a", "b", "ba"],
    }
    for name, values in times.items():
        (tmp_path / "in.csv").write_text("t,y,a\n" + "".join(f"{value},1,2\n" for value in values))
        left = combine("in.csv", "--time", "t", "--out", name)
        assert left.code == 0, left.err
        text = (tmp_path / name / "forecasts.csv").read_text()
        assert [line.split(",")[0] for line in text.splitlines()[1:]] == values
        (tmp_path / "in.csv").write_text("t,y,a\n" + "".join(f"{value},1,2\n" for value in reversed(values)))
        assert "line 3, column 't': times must increase, got" in combine("in.csv", "--time", "t").err


WHOLE_TIMES = {
    "above 2**53": [2**53, 2**53 + 1, 2**53 + 2],
    "int64": [2**60, 2**60 + 1, 2**60 + 2],
    "negative": [-(2**60) - 1, -(2**60), 5],
    "uint64": [2**63 + 1, 2**63 + 2, 2**64 - 1],
}


@pytest.mark.parametrize("values", WHOLE_TIMES.values(), ids=WHOLE_TIMES)
@pytest.mark.parametrize("block", [1, 100])
def test_whole_times_of_any_size_are_compared_exactly(combine, tmp_path, monkeypatch, values, block):
    small_blocks(monkeypatch, block)
    times = pa.array(values, pa.uint64() if values[-1] >= 2**63 else pa.int64())
    for suffix in ("csv", "parquet", *(["jsonl"] if values[-1] < 2**63 else [])):
        for order in ([0, 1, 2], [0, 2, 1], [1, 0, 2], [0, 0, 1]):
            columns = {"t": times.take(pa.array(order)), "y": pa.array([1.0] * 3), "a": pa.array([2.0] * 3)}
            write(pa.table(columns), tmp_path / f"in.{suffix}")
            left = combine(f"in.{suffix}", "--time", "t", "--out", "out", "--format", "csv")
            assert left.code == (0 if order == [0, 1, 2] else 2), left.err
            text = (tmp_path / "out" / "forecasts.csv").read_text()
            assert [int(line.split(",")[0]) for line in text.splitlines()[1:]] == values


def test_whole_times_and_fractions_are_compared_exactly(combine, tmp_path, monkeypatch):
    small_blocks(monkeypatch, 2)
    times = ["0.5", "3", str(2**53 + 1), str(2**53 + 2), "1e16", str(10**16 + 1), str(2**64 + 1), str(2**64 + 2)]
    for order in ([*range(8)], [0, 1, 3, 2, 4, 5, 6, 7], [0, 1, 2, 3, 5, 4, 6, 7], [0, 1, 2, 3, 4, 5, 7, 6]):
        (tmp_path / "in.csv").write_text("t,y,a\n" + "".join(f"{times[i]},1,2\n" for i in order))
        assert combine("in.csv", "--time", "t", "--out", "out").code == (0 if order == sorted(order) else 2)


def test_timestamps_of_parquet_keep_their_type(combine, tmp_path):
    table = example().set_column(0, "ds", pa.array(np.arange(300) * 10**9, pa.timestamp("ns", "Europe/Berlin")))
    write(table, tmp_path / "in.parquet")
    assert combine("in.parquet", "--time", "ds", "--by", "series", "--out", "out").code == 0
    assert parquet.read_table(tmp_path / "out" / "forecasts.parquet").column("ds").equals(table.column("ds"))
    assert combine("in.parquet", "--time", "ds", "--by", "series", "--out", "csv", "--format", "csv").code == 0
    text = (tmp_path / "csv" / "forecasts.csv").read_text()
    assert text.count("1970-01-01 01:00:02.000000000+0100") == 1


def test_text_in_other_columns_is_not_read(combine, tmp_path):
    """Neither its encoding nor its meaning matters."""
    (tmp_path / "in.csv").write_bytes(b"note,y,a\nfine,1,2\n\xff\xfe,1,2\n")
    assert combine("in.csv", "--out", "out").code == 0
    assert (tmp_path / "out" / "forecasts.csv").read_text() == "y,forecast,weight_a\n1,2,1\n1,2,1\n"


def test_a_parquet_file_has_a_row_group_for_each_block(combine, tmp_path, monkeypatch):
    small_blocks(monkeypatch)
    write(example(), tmp_path / "in.csv")
    assert combine("in.csv", "--by", "series", "--format", "parquet", "--out", "out").code == 0
    about = parquet.ParquetFile(tmp_path / "out" / "forecasts.parquet").metadata
    sizes = [about.row_group(i).num_rows for i in range(about.num_row_groups)]
    assert sizes == [SMALL_BLOCK] * 4 + [300 - 4 * SMALL_BLOCK]


def test_forecasts_of_json_lines_are_written_as_csv(combine, tmp_path):
    write(example(), tmp_path / "in.jsonl")
    assert combine("in.jsonl", "--by", "series", "--out", "out").code == 0
    assert {*visible(tmp_path / "out")} == {"forecasts.csv", "summary.json"}


def test_help_has_examples(monkeypatch, capsys, tmp_path):
    left = runner(monkeypatch, capsys, tmp_path)("combine", "--help")
    assert left.code == 0
    assert "driftwise combine forecasts.csv --target y\n" in left.out


def test_json_is_the_record_of_the_report(monkeypatch, capsys, tmp_path):
    run = runner(monkeypatch, capsys, tmp_path)
    write(example(), tmp_path / "in.parquet")
    left = run("combine", "in.parquet", "--target", "y", "--experts", "a,b", "--json", *FIXED_SHARE, "--no-page")
    summary = json.loads((tmp_path / "out" / "combine" / "summary.json").read_text())
    assert json.loads(left.out) == summary["report"]


def test_the_speed_does_not_count_the_time_of_compiling(monkeypatch, capsys):
    """It is that of the rows after the first block, and is not shown for short runs."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with _row_progress(quiet=False) as progress:
        progress(RowProgress(480, 8.4, 0.1))
        progress(RowProgress(200_480, 18.4, 0.6))
    first, last = capsys.readouterr().err.split("\r\033[K")[1:]
    assert first == "480 rows"
    assert last == "200,480 rows, 20,000 rows a second (60 %), about 8 s left\n"
