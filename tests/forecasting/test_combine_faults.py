"""Every malformed table is refused with one line that names the file, the place and the rule; nothing is written."""

import gzip
import io
import math
import subprocess
import sys
import tempfile
from decimal import Decimal

import pyarrow as pa
import pytest
from pyarrow import parquet

import fuzz_tables
from combine_examples import example, write
from command_line import runner
from driftwise.core.errors import MissingDependency
from driftwise.environments import csv_tables, table_files

INDEX = "looks like the index of a pandas table. Write the table with index=False, or name the forecasts by --experts."
EMPTY = "If it is missing, leave the cell empty."
GUESSED = f"{EMPTY} If the column is no expert, name those that are by --experts."
LONG = (
    "A table with one row for each expert? Name its columns by --expert and --forecast. Issued at different times? Name"
    " the column of these times by --issued, or that of the steps ahead by --step."
)
SORT = "Sort the rows. If each time is forecast several times: --issued or --step."
BY = "If there are several series, name them by --by."
UTF8 = "save the file as UTF-8."
UNCLOSED = "a quotation mark opens a cell here, and none closes it."
TWO = "Is it not closed? Inside of a cell, write two."
SHUFFLED = b"\x93NUMPY\x01\0\x76\0junk\n,y"

CSV = {
    "a row is too short": ("y,a\n1,2\n1\n", "", ", line 3: 1 value where the header has 2 columns."),
    "a row is too long": ("y,a\n1,2\n\n1,2,3\n", "", ", line 4: 3 values where the header has 2 columns."),
    "text in a number": ("y,a\n1,2\n1,x y\n", "--experts a", f", line 3, column 'a': 'x y' is not a number. {EMPTY}"),
    "text in a guessed expert": ("y,a\n1,2\n1,x\n", "", f", line 3, column 'a': 'x' is not a number. {GUESSED}"),
    "a point among commas": (
        "y;a\n1,5;2,5\n1.5;2,5\n",
        "",
        ", line 3, column 'y': '1.5' is not a number. The decimal sign of the file is ','; --decimal gives another.",
    ),
    "text in quotes over two lines": (
        'n,y,a\n"p\nq",1,2\nr,1,x\n',
        "--experts a",
        f", line 4, column 'a': 'x' is not a number. {EMPTY}",
    ),
    "a quotation mark is not closed": ('y,a,n\n1,2,x\n1,2,"x\n' + "1,2,x\n" * 3, "", f", line 3: {UNCLOSED}"),
    "it is not closed in the last line": ('y,a\n1,2\n1,"2', "", f", line 3: {UNCLOSED}"),
    "it is not closed in the header": ('y,a,"n\n1,2,x\n1,2,x\n', "", f", line 1: {UNCLOSED}"),
    "it is not closed after a byte order mark": ('\ufeff"y,a\n1,2\n', "", f", line 1: {UNCLOSED}"),
    "it is not closed, with CRLF": ('y,a,n\r\n1,2,"p\r\nq"\r\n1,2,"x\r\n1,2,x\r\n', "", f", line 4: {UNCLOSED}"),
    "it is not closed, with CR": ('y,a,n\r1,2,"p\rq"\r1,2,"x\r1,2,x\r', "", f", line 4: {UNCLOSED}"),
    "it is not closed after two": ('y,a,n\n1,2,"x ""\n1,2,x\n', "", f", line 2: {UNCLOSED}"),
    "it is closed by the next one": (
        'y,a,n\n1,2,"x\n1,2,"x"\n1,2,x\n',
        "",
        f", line 2: a quotation mark opens a cell here, and on line 3 text follows the next one. {TWO}",
    ),
    "thousands": (
        'y,a,b\n1,1,900\n1,1,"1,900"\n',
        "",
        ", line 3, column 'b': '1,900' may be 1.900 or 1900;"
        " with --decimal , it is 1.900, with --decimal . it must be written as 1900.",
    ),
    "millions": (
        'y,a\n1,2\n"1,900,000",2\n',
        "",
        ", line 3, column 'y': '1,900,000' is not a number. Write it without separators of thousands.",
    ),
    "thousands in all columns": (
        "y;a\n1,000;2,000\n",
        "",
        ", line 2, column 'y': '1,000' may be 1.000 or 1000;"
        " with --decimal , it is 1.000, with --decimal . it must be written as 1000.",
    ),
    "thousands beside decimal commas": (
        "y;a;b\n1,5;2,5;900\n1,5;2,5;1,900\n",
        "",
        ", line 3, column 'b': '1,900' may be 1.900 or 1900;"
        " with --decimal , it is 1.900, with --decimal . it must be written as 1900.",
    ),
    "thousands with points beside decimal commas": (
        "y;a\n1,5;1.000\n",
        "--experts a",
        ", line 2, column 'a': '1.000' is not a number."
        " The decimal sign is ',', and thousands have no separator; --decimal gives another.",
    ),
    "points that may be of thousands": (
        "y;a;b\n1.000;2.000;1.5\n1.000;2.000;1,5\n",
        "--experts a",
        ", line 2, column 'y': '1.000' may be 1.000 or 1000;"
        " with --decimal . it is 1.000, with --decimal , it must be written as 1000.",
    ),
    "points that may be of thousands beside semicolons": (
        "y;a\n1.000;2.000\n",
        "",
        ", line 2, column 'y': '1.000' may be 1.000 or 1000;"
        " with --decimal . it is 1.000, with --decimal , it must be written as 1000.",
    ),
    "thousands and decimals": (
        "y;a\n1,5;2,5\n1.234,56;2,5\n",
        "",
        ", line 3, column 'y': '1.234,56' is not a number. Write it without separators of thousands.",
    ),
    "thousands and decimals with points": (
        'y,a\n1.5,2.5\n"1,234.56",2.5\n',
        "",
        ", line 3, column 'y': '1,234.56' is not a number. Write it without separators of thousands.",
    ),
    "thousands with a given sign": (
        'y,a\n1,2\n"1,900",2\n',
        "--decimal .",
        ", line 3, column 'y': '1,900' is not a number."
        " The decimal sign is '.', and thousands have no separator; --decimal gives another.",
    ),
    "an expert with thousands in all rows": (
        'y,a,b\n1.5,2.5,"1,900"\n1.5,2.5,"2,900"\n',
        "",
        ", line 2, column 'b': '1,900' is not a number. The decimal sign is '.', and thousands have no separator;"
        " --decimal gives another. If the column is no expert, name those that are by --experts.",
    ),
    "spaces between thousands": (
        "y,a\n1,2\n1 000,2\n",
        "",
        ", line 3, column 'y': '1 000' is not a number. Write it without separators of thousands.",
    ),
    "apostrophes between thousands": (
        "y,a\n1,2\n1'000,2\n",
        "",
        ", line 3, column 'y': \"1'000\" is not a number. Write it without separators of thousands.",
    ),
    "parentheses": ("y,a\n1,2\n(5),2\n", "", f", line 3, column 'y': '(5)' is not a number. {EMPTY}"),
    "percent": ("y,a\n1,2\n5%,2\n", "", f", line 3, column 'y': '5%' is not a number. {EMPTY}"),
    "an earlier time above 2**53": (
        f"t,y,a\n{2**60 + 1},1,2\n{2**60},1,2\n",
        "--time t",
        f", line 3, column 't': times must increase, got '{2**60}' after '{2**60 + 1}'. {SORT} {BY}",
    ),
    "an equal time above 2**63": (
        f"t,y,a\n{2**63 + 1},1,2\n{2**63 + 1},1,2\n",
        "--time t",
        f", line 3, column 't': times must increase, got '{2**63 + 1}' again. {LONG} {BY}",
    ),
    "a number in another encoding": (
        b"y,a\n1,2\n1,\xff\n",
        "--experts a",
        f", line 3, column 'a': the text is not in UTF-8; {UTF8}",
    ),
    "a series in another encoding": (
        b"s,y,a\np,1,2\n\xe9,1,2\n",
        "--by s",
        f", line 3, column 's': the text is not in UTF-8; {UTF8}",
    ),
    "names in another encoding": (
        b"\xe9,y,a\np,1,2\n",
        "",
        f", line 1: the names of the columns are not in UTF-8; {UTF8}",
    ),
    "UTF-16": ("y,a\n1,2\n".encode("utf-16"), "", ": it is text in UTF-16; save it as UTF-8."),
    "no such column": ("why,a\n1,2\n", "", ": there is no column 'y'. It has 'why', 'a'."),
    "nearly that column": ("yy,a\n1,2\n", "", ": there is no column 'y'. Did you mean 'yy'?"),
    "no such expert": ("y,a,bb\n1,2,3\n", "--experts a,b", ": there is no column 'b'. Did you mean 'bb'?"),
    "a name twice": ("y,a,a\n1,2,3\n", "", ": the columns 2 and 3 have the same name 'a'."),
    "empty": ("", "", ": it is empty."),
    "blank lines": ("\n\n", "", ": it is empty."),
    "only a header": ("y,a\n", "", ": it has no rows."),
    "Parquet": (b"PAR1\0\0", "", ": it is a Parquet file; read it from a file, with --input-format parquet."),
    "binary": (SHUFFLED, "", ", line 1: it has a null byte, so it is not a CSV file."),
    "infinite": ("y,a\n1,2\n1,-inf\n", "", ", line 3, column 'a': it must be finite, got -inf."),
    "overflow": ("y,a\n1,2\n1,1e400\n", "", ", line 3, column 'a': it must be finite, got inf."),
    "huge": ("y,a\n1,2\n1e101,2\n", "", ", line 3, column 'y': it must be at most 1e+100 in size, got 1e+101."),
    "an earlier time": (
        "t,y,a\n10,1,2\n9,1,2\n",
        "--time t",
        f", line 3, column 't': times must increase, got '9' after '10'. {SORT}"
        " If there are several series, name them by --by.",
    ),
    "an earlier time in a series": (
        "t,s,y,a\n2,p,1,2\n1,q,1,2\n1,p,1,2\n",
        "--time t --by s",
        f", line 4, column 't': times must increase within a series, got '1' after '2'. {SORT}",
    ),
    "a row for each expert": (
        "t,model,y,f\n2026-01-30,p,1,2\n2026-01-31,p,1,2\n2026-01-31,q,1,3\n",
        "--time t",
        f", line 4, column 't': times must increase, got '2026-01-31' again. {LONG} {BY}",
    ),
    "a time twice in a series": (
        "t,s,y,a\n1,p,1,2\n1,q,1,2\n2,p,1,2\n1.0,q,1,2\n",
        "--time t --by s",
        f", line 5, column 't': times must increase within a series, got '1.0' again. {LONG}",
    ),
    "a text twice": (
        "t,y,a\nMay,1,2\nMay,1,2\n",
        "--time t",
        f", line 3, column 't': times must increase, got 'May' again. {LONG} {BY}",
    ),
    "an earlier text": (
        "t,y,a\n9/1/24,1,2\n10/1/24,1,2\n",
        "--time t",
        ", line 3, column 't': times must increase, got '10/1/24' after '9/1/24'."
        " They are compared as text: write dates as YYYY-MM-DD. If there are several series, name them by --by.",
    ),
    "another kind of time": (
        "t,y,a\n2024-01-01,1,2\nx,1,2\n",
        "--time t",
        ", line 3, column 't': it must be an ISO date or timestamp without an offset, as the first one is, got 'x'.",
    ),
    "no time": ("t,y,a\n,1,2\n", "--time t", ", line 2, column 't': it is missing."),
    "no series": ("s,y,a\np,1,2\n,1,2\n", "--by s", ", line 3, column 's': it is missing."),
    "a long series": (
        f"s,y,a\n{'p' * 1001},1,2\n",
        "--by s",
        ", line 2, column 's': the text is longer than 1000 bytes.",
    ),
    "a pandas index": (",y,a\n0,1,2\n1,1,2\n", "", f": column 1 has no name and {INDEX}"),
    "a named pandas index": ("Unnamed: 0,y,a\n0,1,2\n", "", f": column 1 is named 'Unnamed: 0' and {INDEX}"),
    "a column without a name": ("y,a,\n1,2,\n", "", ": column 3 has no name. Name the forecasts by --experts."),
    "no experts": ("y,n\n1,p\n", "", ": there is no column of forecasts beside the target 'y'."),
    "a name of the output": (
        "forecast,y,a\n1,1,2\n",
        "--time forecast",
        ": the column 'forecast' has the name of a column of the output; rename it.",
    ),
    "a truth that is no outcome": (
        "y,a\n1,0.5\n2,0.5\n",
        "--loss log",
        ", line 3, column 'y': it must be 0 or 1 for the log loss, got 2.0.",
    ),
    "a forecast that is no probability": (
        "y,a\n1,0.5\n1,1.5\n",
        "--loss log",
        ", line 3, column 'a': it must be in [0, 1] for the log loss, got 1.5.",
    ),
}
JSON = {
    "empty": ("", "", ": it is empty."),
    "text in a number": (
        '{"y":1,"a":2}\n\n{"y":1,"a":"x"}\n',
        "",
        ", line 3, column 'a': it must be a number, got 'x'. A missing number is null.",
    ),
    "a truth value": ('{"y":1,"a":2}\n{"y":true,"a":2}\n', "", ", line 2, column 'y': it must be a number, got True."),
    "no object": ('{"y":1,"a":2}\n[1]\n', "", ", line 2: it must be a JSON object, got [1]."),
    "cut short": ('{"y":1,"a":2}\n{"y":1,', "", ", line 2: it is not one JSON object."),
    "two objects in a line": ('{"y":1,"a":2} {"y":1,"a":2}\n', "", ", line 1: it is not one JSON object."),
    "an object in two lines": ('{"y":1,\n"a":2}\n', "", ", line 1: it is not one JSON object."),
    "a key twice": ('{"y":1,"a":2,"a":3}\n', "", ", line 1, column 'a': it is given twice."),
    "overflow": ('{"y":1,"a":2}\n{"y":1,"a":1e400}\n', "", ", line 2, column 'a': it must be finite, got inf."),
    "infinite": ('{"y":1,"a":-Infinity}\n', "", ", line 1, column 'a': it must be finite, got -inf."),
    "no such column": ('{"x":1,"a":2}\n', "", ": there is no column 'y'. It has 'x', 'a'."),
    "another encoding": (b'{"y":1,"a":2,"s":"\xff"}\n', "--by s", f", line 1: the text is not in UTF-8; {UTF8}"),
    "series of fractions": ('{"y":1,"a":2,"s":1.5}\n', "--by s", ", column 's': it must hold text or whole numbers."),
    "no series": ('{"y":1,"a":2,"s":"p"}\n{"y":1,"a":2}\n', "--by s", ", line 2, column 's': it is missing."),
    "binary": (b"\0\1\2", "", ": it has a null byte, so it is not a file of JSON lines."),
}
PARQUET = {
    "text in a number": ({"y": ["p"], "a": [1.0]}, "", ", column 'y': it must hold numbers, got string."),
    "lists": (
        {"y": [1.0], "a": [[1.0]]},
        "--experts a",
        ", column 'a': it must hold numbers, got list<element: double>.",
    ),
    "infinite": ({"y": [1.0, 2], "a": [1.0, float("inf")]}, "", ", row 2, column 'a': it must be finite, got inf."),
    "an earlier time": (
        {"y": [1.0, 2], "a": [1, 2], "t": [2, 1]},
        "--time t",
        f", row 2, column 't': times must increase, got 1 after 2. {SORT}"
        " If there are several series, name them by --by.",
    ),
    "an earlier time above 2**63": (
        {"y": [1.0, 2], "a": [1, 2], "t": pa.array([2**63 + 1, 2**63], pa.uint64())},
        "--time t",
        f", row 2, column 't': times must increase, got {2**63} after {2**63 + 1}. {SORT} {BY}",
    ),
    "an equal decimal above 2**53": (
        {"y": [1.0, 2], "a": [1, 2], "t": pa.array([Decimal(2**60), Decimal(2**60)], pa.decimal128(30, 0))},
        "--time t",
        f", row 2, column 't': times must increase, got Decimal('{2**60}') again. {LONG} {BY}",
    ),
    "a row for each expert": (
        {"y": [1.0, 2], "a": [1, 2], "t": [2, 2]},
        "--time t",
        f", row 2, column 't': times must increase, got 2 again. {LONG} {BY}",
    ),
    "series of fractions": (
        {"y": [1.0], "a": [1.0], "s": [1.5]},
        "--by s",
        ", column 's': it must hold text or whole numbers, got double.",
    ),
    "a pandas index": (
        {"y": [1.0], "a": [1.0], "__index_level_0__": [0]},
        "",
        f": column 3 is named '__index_level_0__' and {INDEX}",
    ),
    "no rows": ({"y": pa.array([], pa.float64()), "a": pa.array([], pa.float64())}, "", ": it has no rows."),
    "a missing series": (
        {"y": [1.0, 1.0], "a": [1.0, 1.0], "s": ["p", None]},
        "--by s",
        ", row 2, column 's': it is missing.",
    ),
}


@pytest.fixture
def refused(monkeypatch, capsys, tmp_path):
    """Return the only line about a file, after a check that nothing was written."""
    run = runner(monkeypatch, capsys, tmp_path)

    def refused(name, options=""):
        words = ["--target", "y", "--learner", "fixed-share", "--quiet", *options.split()]  # no progress if it is slow
        left = run("combine", name, *words)
        assert (left.code, left.out) == (2, ""), left
        assert not (tmp_path / "out").exists()
        assert left.err.startswith("driftwise: ")
        assert left.err.count("\n") == 1
        return left.err.removeprefix("driftwise: ").removesuffix("\n")

    return refused


@pytest.mark.parametrize(("content", "options", "message"), CSV.values(), ids=CSV)
def test_malformed_csv(refused, tmp_path, content, options, message):
    (tmp_path / "in.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert refused("in.csv", options) == f"in.csv{message}"


@pytest.mark.parametrize(("content", "options", "message"), JSON.values(), ids=JSON)
def test_malformed_json_lines(refused, tmp_path, content, options, message):
    (tmp_path / "in.jsonl").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert refused("in.jsonl", options) == f"in.jsonl{message}"


@pytest.mark.parametrize(("columns", "options", "message"), PARQUET.values(), ids=PARQUET)
def test_malformed_parquet(refused, tmp_path, columns, options, message):
    parquet.write_table(pa.table(columns), tmp_path / "in.parquet")
    assert refused("in.parquet", options) == f"in.parquet{message}"


def test_a_fault_far_down_has_its_line(refused, tmp_path):
    """The file is read in chunks; only the one with the fault is searched."""
    rows = ["y,a,n", *(f'{i % 3},{i % 5},"text\n{i}"' for i in range(200_000))]
    rows[150_001] = "1,oops,z"
    (tmp_path / "in.csv").write_text("\n".join(rows))
    assert refused("in.csv") == f"in.csv, line 300002, column 'a': 'oops' is not a number. {GUESSED}"
    rows[150_001] = "1,inf,z"
    (tmp_path / "in.csv").write_text("\n".join(rows))
    assert refused("in.csv") == "in.csv, line 300002, column 'a': it must be finite, got inf."


def test_damaged_parquet(refused, tmp_path):
    content = write(example(), tmp_path / "in.parquet").read_bytes()
    file = tmp_path / "in.parquet"
    file.write_bytes(content[:-100])
    assert refused("in.parquet") == "in.parquet: it is cut short: a Parquet file ends as it begins."
    file.write_bytes(b"junk" + content[4:])
    assert refused("in.parquet") == "in.parquet: it is not a Parquet file."
    file.write_bytes(content[:1000] + content[2000:])
    assert refused("in.parquet").startswith("in.parquet, row 1: from here on its content is damaged (")
    file.write_bytes(content[:-8] + b"\xff\xff\xff\x7fPAR1")
    assert refused("in.parquet").startswith("in.parquet: it is not a complete Parquet file (")
    file.write_bytes(b"")
    assert refused("in.parquet") == "in.parquet: it is empty."
    file.write_bytes(b"PARE" + content[4:])
    assert refused("in.parquet") == "in.parquet: it is encrypted."


def test_row_groups_that_unpack_to_more_than_memory_are_not_unpacked(refused, tmp_path, monkeypatch):
    zeros = pa.table({"y": [0.0] * 100_000, "a": [0.0] * 100_000})
    parquet.write_table(zeros, tmp_path / "in.parquet", use_dictionary=False, compression="zstd")
    assert (tmp_path / "in.parquet").stat().st_size < 5000
    monkeypatch.setattr("driftwise.environments.table_files.memory_bytes", lambda: 1_000_000)
    message = "in.parquet, row 1: from here on its row group unpacks to 0.0016 GB, which do not fit into the memory"
    assert refused("in.parquet") == f"{message} of this machine. Write smaller row groups."


def test_batches_of_parquet_have_few_rows_if_there_are_many_columns(tmp_path, monkeypatch):
    table = pa.table({f"a{k}": [0.0] * 1000 for k in range(40)})
    parquet.write_table(table, tmp_path / "in.parquet")
    monkeypatch.setattr(table_files, "_BATCH_CELLS", 400)
    with table_files.open_parquet(str(tmp_path / "in.parquet")) as file:
        assert {batch.num_rows for batch in table_files.parquet_batches(file, "in.parquet")} == {10}


LITTLE_MEMORY = """
import resource, sys
from driftwise.core.errors import BadFile
from driftwise.environments import Replay
from driftwise.environments.table_files import ColumnChoice, ParquetTable
from driftwise.forecasting.combining import table_source
with open("/proc/self/statm") as file:
    taken = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + {more}, taken + {more}))
try:
    {read}
except BadFile as error:
    print(error)
"""


def with_little_memory(read, more, file):
    """Run a line of code in a process that may take `more` bytes; return what it prints and its exit code."""
    script = LITTLE_MEMORY.format(read=read, more=more)
    done = subprocess.run([sys.executable, "-c", script, str(file)], capture_output=True, text=True)
    return done.stdout, done.returncode


@pytest.mark.skipif(sys.platform != "linux", reason="the address space of a process is known on Linux only")
def test_columns_that_repeat_a_value_are_unpacked_with_little_memory(tmp_path):
    """A batch of 65,536 rows took 650 MB, from a file of 0.7 MB."""
    names = ["y", *(f"a{k}" for k in range(1250))]
    zeros = pa.array([0.0] * 65_536)
    parquet.write_table(pa.table([zeros] * len(names), names), tmp_path / "in.parquet")
    assert (tmp_path / "in.parquet").stat().st_size < 1_000_000
    choice = f"ColumnChoice('y', tuple(f'a{{k}}' for k in range({len(names) - 1})))"
    read = f"print(sum(b.num_rows for b in ParquetTable(table_source(sys.argv[1])).batches({choice})))"
    assert with_little_memory(read, 450_000_000, tmp_path / "in.parquet") == ("65536\n", 0)


@pytest.mark.skipif(sys.platform != "linux", reason="the address space of a process is known on Linux only")
def test_a_csv_file_whose_columns_need_more_memory_than_there_is_is_refused(tmp_path):
    """Arrow ended the process: "terminate called after throwing an instance of 'std::bad_alloc'"."""
    (tmp_path / "in.csv").write_text(",".join(["0.5"] * 60_000) + "\n")
    out, code = with_little_memory("Replay.from_file(sys.argv[1])", 300_000_000, tmp_path / "in.csv")
    rule = "its 60000 columns of numbers take 0.383 GB, which do not fit into the memory of this machine."
    assert (out.partition("in.csv")[2], code) == (f": {rule}\n", 0)


def test_compressed_files_that_are_cut_short(refused, tmp_path):
    (tmp_path / "in.csv.gz").write_bytes(gzip.compress(b"y,a\n" + b"1,2\n" * 1000)[:40])
    assert refused("in.csv.gz").startswith("in.csv.gz: its compressed content is damaged (")


def test_names_that_are_not_readable_files(refused, tmp_path, monkeypatch):
    (tmp_path / "folder.csv").mkdir()
    assert refused("folder.csv") == "folder.csv is a folder; give a file."
    assert refused("missing.csv") == "There is no file missing.csv."
    (tmp_path / "table.xyz").write_text("y,a\n1,2\n")
    message = "the format of table.xyz is not known by its suffix; give --input-format, one of csv, parquet, jsonl."
    assert refused("table.xyz") == f"combine: {message}"

    def forbidden(*_, **__):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "secret.csv").write_text("y,a\n1,2\n")
    monkeypatch.setattr("driftwise.environments.table_files.Path.open", forbidden)  # root may read all files
    assert refused("secret.csv") == "Cannot read secret.csv: Permission denied."


def test_options_that_contradict_each_other(refused, tmp_path):
    (tmp_path / "in.csv").write_text("y,a\n1,2\n")
    assert refused("in.csv", "--experts a,y") == "combine: the column 'y' is given as --target and --experts."
    assert refused("in.csv", "--experts a,a") == "combine: the column 'a' is given as --experts twice."
    assert refused("in.csv", "--by y") == "combine: the column 'y' is given as --target and --by."
    assert refused("in.csv", "--experts=") == "combine: --experts must name at least one column."
    message = "combine: --delimiter must be one ASCII character or `tab`, got 'ab'."
    assert refused("in.csv", "--delimiter ab") == message
    stream = "combine: Parquet cannot be read from a stream; unpack it into a file first."
    assert refused("-", "--input-format parquet") == stream


def test_unknown_learners(monkeypatch, capsys, tmp_path):
    run = runner(monkeypatch, capsys, tmp_path)
    (tmp_path / "in.csv").write_text("y,a\n1,2\n")
    words = ("combine", "in.csv", "--target", "y", "--learner")
    assert run(*words, "fixed-shar").err.startswith(
        "driftwise: There is no learner 'fixed-shar'. Did you mean 'fixed-share'?"
    )
    bandit = "driftwise: combine: --learner must have full feedback; ucb1 has bandit feedback.\n"
    assert run(*words, "ucb1")[::2] == (2, bandit)
    tuned = "driftwise: combine: --learner cannot be tuned, because the measures of a file are not known.\n"
    assert run(*words, "hedge:tuned")[::2] == (2, tuned)


def test_faults_of_standard_input(refused, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"y,a\n1,2\n1,x\n")))
    assert refused("-", "--experts a") == f"standard input, line 3, column 'a': 'x' is not a number. {EMPTY}"


def test_a_fault_far_down_a_stream_has_its_line(refused, monkeypatch):
    """What was read is kept in a temporary file, because the rows before the fault are gone."""
    rows = ["y,a,n", *(f'{i % 3},{i % 5},"text\n{i}"' for i in range(200_000))]
    for cell, message in (("oops", f"'oops' is not a number. {GUESSED}"), ("inf", "it must be finite, got inf.")):
        rows[150_001] = f"1,{cell},z"
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("\n".join(rows).encode())))
        assert refused("-") == f"standard input, line 300002, column 'a': {message}"


def test_rows_that_are_too_long_are_refused_with_their_line(refused, tmp_path):
    start = "y,a,n\n" + "1,2,x\n" * 200_000
    (tmp_path / "in.csv").write_text(start + "1,2," + "x" * 5_000_000 + "\n1,2,x\n")
    assert refused("in.csv") == "in.csv, line 200002: it is not CSV (field larger than field limit (131072))."
    (tmp_path / "in.csv").write_text(start + '1,2,"x\n' + "1,2,x\n" * 1_000_000)
    fault = "a quotation mark opens a cell here, and none closes it."
    assert refused("in.csv") == f"in.csv, line 200002: {fault}"


def test_a_quotation_mark_that_is_not_closed_after_some_blocks_has_its_line(refused, tmp_path):
    rows = ["y,a,n", *['1,2,"p\nq ""r"""', "1,2,x"] * 200_000]  # 9 MB
    for row in (100_000, 250_001, 400_000):
        content = "\n".join([*rows[:row], '1,2,"x', *(text.replace('"', "") for text in rows[row:])])
        line = 1 + row + row // 2
        (tmp_path / "in.csv").write_text(content)
        assert refused("in.csv") == f"in.csv, line {line}: {UNCLOSED}"
        (tmp_path / "in.csv.gz").write_bytes(gzip.compress(content.encode(), 1))
        assert refused("in.csv.gz") == f"in.csv.gz, line {line}: {UNCLOSED}"


def test_a_first_line_that_is_very_long_or_has_too_many_columns_is_refused_at_once(refused, tmp_path, monkeypatch):
    (tmp_path / "in.csv").write_text("y," + "a" * 17_000_000)
    assert refused("in.csv") == "in.csv, line 1: it is longer than 16 MB."
    (tmp_path / "in.csv").write_text("y" + ",a" * 5_000_000 + "\n")
    assert refused("in.csv") == "in.csv: it must have at most 100000 columns, its first line has 5000001."
    (tmp_path / "in.csv").write_text("y,a,b\n1,2,3\n")
    monkeypatch.setattr(csv_tables, "_MOST_NUMBERS", 2)
    rule = "at most 2 columns of numbers are read from CSV, got 3. Name fewer by --experts, or write Parquet."
    assert refused("in.csv") == f"in.csv: {rule}"


def test_thousands_after_the_first_rows_are_refused(refused, tmp_path):
    """The decimal sign is found in the first thousand rows, in which the last column has whole numbers only."""
    rows = ["y;a;b", *["1,5;2,5;900"] * 3000, "1,5;2,5;1,900", "1,5;2,5;1,9"]
    (tmp_path / "in.csv").write_text("\n".join(rows))
    message = "'1,900' may be 1.900 or 1900; with --decimal , it is 1.900, with --decimal . it must be written as 1900."
    assert refused("in.csv") == f"in.csv, line 3002, column 'b': {message}"


def test_a_pandas_index_is_ignored_if_the_experts_are_named(monkeypatch, capsys, tmp_path):
    run = runner(monkeypatch, capsys, tmp_path)
    (tmp_path / "in.csv").write_text(",y,a\n0,1,2\n1,1,2\n")
    words = ("--target", "y", "--experts", "a", "--learner", "fixed-share", "--no-page")
    assert run("combine", "in.csv", *words).code == 0
    assert (tmp_path / "out" / "combine" / "forecasts.csv").read_text() == "y,forecast,weight_a\n1,2,1\n1,2,1\n"


def test_without_arrow_the_command_says_what_to_install(monkeypatch, capsys, tmp_path):
    run = runner(monkeypatch, capsys, tmp_path)
    (tmp_path / "in.csv").write_text("y,a\n1,2\n")
    monkeypatch.delitem(sys.modules, "driftwise.forecasting.combining", raising=False)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    left = run("combine", "in.csv", "--target", "y")
    message = "needs pyarrow: install it with `pip install 'driftwise[files]'`."
    assert left == (1, "", f"driftwise: Reading and writing tables of forecasts {message}\n")
    assert issubclass(MissingDependency, ImportError)


def test_mutated_tables_are_combined_or_refused():
    """`make fuzz` has two thousand tables."""
    counts = fuzz_tables.fuzz(150, seed=3)
    assert counts.total() == 150
    assert all(counts[f"{name} combined"] and counts[f"{name} refused"] for name in fuzz_tables.FORMATS)


def test_written_tables_are_read_as_a_slow_reader_reads_them():
    """`make fuzz` has three thousand tables."""
    counts, faults = fuzz_tables.fuzz_written(80, seed=3)
    assert not faults
    assert counts["tried"] == counts["played on"] + counts["refused"] == 80
    assert min(counts["played on"], counts["refused"]) > 10


PLANTED = {
    "quotation marks are not followed": ("csv_tables.Quotes.add", lambda *_: None),
    "separators of thousands are decimal signs": ("csv_tables._first_marks", lambda *_: (9**9, 9**9)),
}


@pytest.mark.parametrize(("name", "error"), PLANTED.values(), ids=PLANTED)
def test_a_planted_error_of_the_reader_is_found_by_the_slow_reader(monkeypatch, tmp_path, name, error):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # what breaks is kept there
    monkeypatch.setattr(f"driftwise.environments.{name}", error)
    counts, faults = fuzz_tables.fuzz_written(200, seed=4)
    assert counts["broke"] == len(faults) > 0


def test_planted_errors_of_the_order_of_times_are_found_by_the_slow_reader(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("driftwise.forecasting.time_columns.LARGEST_EXACT", math.inf)  # times are compared as floats
    counts, faults = fuzz_tables.fuzz_written(120, seed=4)
    assert counts["broke"] == len(faults) > 0
    assert any("refused, but nothing is wrong" in fault for fault in faults)


def test_the_output_folder_must_be_writable(monkeypatch, capsys, tmp_path):
    run = runner(monkeypatch, capsys, tmp_path)
    (tmp_path / "in.csv").write_text("y,a\n1,2\n")
    (tmp_path / "file").write_text("")
    left = run("combine", "in.csv", "--target", "y", "--learner", "fixed-share", "--out", "file/out")
    assert left.code == 1
    assert left.err.startswith("driftwise: Cannot write file/out")
    assert left.err.count("\n") == 1
