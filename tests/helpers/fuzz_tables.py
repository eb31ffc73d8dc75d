"""Combine mutated tables of forecasts in every format, and read mutated Parquet files: `make fuzz`.

    python tests/helpers/fuzz_tables.py --cases 2000
    python tests/helpers/fuzz_tables.py --cases 0 --parquet 5000    # also with another interpreter and version of Arrow
    python tests/helpers/fuzz_tables.py --cases 0 --written 5000

Each run of a table must succeed with finite forecasts and weights that are distributions, or print exactly one line,
exit with 2, and leave nothing behind. The runs share one process, so a crash of a reader ends the program.

The Parquet files are read in child processes, some hundred in each, by the reader of `driftwise combine` and by
`Replay.from_file`: each must be read, or refused in one line. If a child is ended by a signal, the file is found by
bisection and kept.

The written tables are CSV files in the notations of different countries, with quotation marks, separators of thousands,
large whole numbers as times, many columns, and quotation marks that are added or left out. They are read by `driftwise
combine` or by `Replay.from_file` in blocks of different lengths. What is read must be what a slow reader has, which
knows the notation and uses the strict mode of Python's `csv`: a table that it cannot read must be refused.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import faulthandler
import io
import itertools
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from combine_examples import FIXED_SHARE, FORMATS, example, write
from command_line import run_here
from driftwise.core.errors import BadFile, DriftwiseError
from driftwise.environments import Replay, csv_tables, table_files
from driftwise.environments.table_files import ColumnChoice, ParquetTable
from driftwise.forecasting.combining import table_source

SECONDS = 20  # for a case; most take hundredths
CELLS = [b"", b"NA", b"nan", b"inf", b"-inf", b"1e400", b"1e101", b"-1e100", b"1e100", b"x", b"0", b"-0", b"1e-320"]
CELLS += [
    b"0x10",
    b"1_000",
    b"1,5",
    b"'1'",
    b'"',
    b'""',
    b'"1"',
    b'"a',
    b"\xff",
    b"\xc3\xa9",
    b"\0",
    b"\r",
    b"\n",
    b" 1 ",
]
CELLS += [
    b"2024-01-01",
    b"99999999999999999999",
    b"true",
    b"null",
    b"[1]",
    b"{}",
    b"1" * 400,
    b"t" * 1200,
    b"\xef\xbb\xbf",
]
OPTIONS = [(), ("--time", "ds"), ("--by", "series"), ("--time", "ds", "--by", "series"), ("--experts", "a,b")]
OPTIONS += [("--time", "ds", "--experts", "a"), ("--time", "series"), ("--by", "ds"), ("--add", "last-truth")]


def originals(rng, folder):
    """Return the content of small tables, by format."""
    table = example(int(rng.choice([1, 2, 40, 130])), int(rng.choice([1, 3])), seed=int(rng.integers(1000)))
    content = {name: [write(table, folder / f"original.{name}").read_bytes()] for name in FORMATS}
    for compression in ("none", "zstd"):
        options = {"compression": compression, "row_group_size": 25, "use_dictionary": bool(rng.integers(2))}
        parquet.write_table(table, folder / "original.parquet", write_page_checksum=bool(rng.integers(2)), **options)
        content["parquet"].append((folder / "original.parquet").read_bytes())
    return content


def mutate(rng, content, name):
    """Change bytes, cells, lines or columns in one to three places."""
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        changes = (
            [flip, cut, insert, repeat] if name == "parquet" else [flip, cut, insert, repeat, cell, cell, columns, line]
        )
        content = changes[rng.integers(len(changes))](rng, content)
    return content


def flip(rng, content):
    changed = bytearray(content)
    for _ in range(int(rng.choice([1, 2, 8]))):
        if changed:
            changed[int(rng.integers(len(changed)))] = int(rng.integers(256))
    return bytes(changed)


def cut(rng, content):
    start, end = sorted(int(place) for place in rng.integers(len(content) + 1, size=2))
    return content[:end] if rng.random() < 0.5 else content[:start] + content[end:]


def insert(rng, content):
    place = int(rng.integers(len(content) + 1))
    added = rng.bytes(int(rng.choice([1, 3, 100]))) if rng.random() < 0.3 else CELLS[rng.integers(len(CELLS))]
    return content[:place] + added + content[place:]


def repeat(rng, content):
    start, end = sorted(int(place) for place in rng.integers(len(content) + 1, size=2))
    return content[:end] + content[start:end] + content[end:]


def cell(rng, content):
    lines = content.split(b"\n")
    i = int(rng.integers(len(lines)))
    cells = lines[i].split(b",")
    k = int(rng.integers(len(cells)))
    new = CELLS[rng.integers(len(CELLS))]
    cells[k] = cells[k].rpartition(b":")[0] + b": " + new if b":" in cells[k] else new  # the value of a key in JSON
    lines[i] = b",".join(cells)
    return b"\n".join(lines)


def columns(rng, content):
    lines = [text.split(b",") for text in content.split(b"\n")]
    i, k = (int(place) for place in rng.integers(6, size=2))
    for cells in lines:
        if len(cells) > max(i, k):
            cells[i], cells[k] = cells[k], cells[i]
    return b"\n".join(b",".join(cells) for cells in lines)


def line(rng, content):
    lines = content.split(b"\n")
    i, k = (int(place) for place in rng.integers(len(lines), size=2))
    lines[i], lines[k] = lines[k], rng.choice([lines[i], b"", b" ", lines[i] + b","])
    return b"\n".join(bytes(text) for text in lines)


def check(folder, words):
    """Run a case; return "combined" or "refused", raise if it is neither."""
    out = folder / "out"
    code, _, err = run_here("combine", *words, "--target", "y", "--no-page", "--out", out, *FIXED_SHARE)
    if code == 0:
        found = parquet.read_table(out / "forecasts.parquet")
        summary = json.loads((out / "summary.json").read_text())
        assert found.num_rows == summary["rows"] > 0
        forecasts = found.column("forecast").drop_null().to_numpy()
        assert np.isfinite(forecasts).all()
        weights = np.column_stack(
            [
                found.column(k).to_numpy()
                for k in range(found.num_columns)
                if found.schema.names[k].startswith("weight_")
            ]
        )
        sums = weights.sum(axis=1)
        assert (weights >= 0).all()
        assert ((np.abs(sums - 1) < 1e-9) | (sums == 0)).all()
        assert sorted(path.name for path in out.iterdir()) == ["forecasts.parquet", "summary.json"]
        shutil.rmtree(out)
        return "combined"
    assert code == 2, (code, err)
    assert err.startswith("driftwise: ")
    assert err.endswith(".\n") or "?" in err, err
    assert err.count("\n") == 1, err
    assert not out.exists(), sorted(out.rglob("*"))
    return "refused"


def fuzz(n_cases, seed, report=None):
    """Run mutated tables; return how many were combined and refused."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        folder = Path(name)
        for case in range(n_cases):
            rng = np.random.default_rng([seed, case])
            kind = str(rng.choice(FORMATS))
            contents = originals(rng, folder)[kind]
            file = folder / f"case.{kind}"
            file.write_bytes(mutate(rng, contents[rng.integers(len(contents))], kind))
            words = [str(file), *OPTIONS[rng.integers(len(OPTIONS))], "--format", "parquet"]
            if report is not None:
                report.write_text(f"{seed} {case}\n")
            signal.alarm(SECONDS)
            try:
                counts[f"{kind} {check(folder, words)}"] += 1
            except BaseException:
                kept = Path(tempfile.gettempdir()) / f"fuzz-{seed}-{case}.{kind}"
                kept.write_bytes(file.read_bytes())
                print(f"case {case} of seed {seed}: {kept} {' '.join(words[1:])}", file=sys.stderr)
                raise
            finally:
                signal.alarm(0)
    return counts


FILES_PER_CHILD = 250
TAIL = 8  # bytes: the length of the footer, and PAR1


def parquet_original(rng, folder):
    """Return a small Parquet file: half of them with texts and times, half with losses only."""
    n_rows = int(rng.choice([1, 40, 300]))
    table = example(n_rows, int(rng.choice([1, 3])), seed=int(rng.integers(1000)))
    if rng.random() < 0.5:
        table = pa.table({name: rng.random(n_rows) for name in ("y", "a", "b")})
    options = {
        "compression": str(rng.choice(["none", "snappy", "zstd", "gzip"])),
        "row_group_size": int(rng.choice([25, 1000])),
        "use_dictionary": bool(rng.integers(2)),
        "write_page_checksum": bool(rng.integers(2)),
        "data_page_version": str(rng.choice(["1.0", "2.0"])),
        "data_page_size": int(rng.choice([100, 10**6])),
        "store_schema": bool(rng.integers(2)),
        "write_page_index": bool(rng.integers(2)),
    }
    parquet.write_table(table, folder / "original.parquet", **options)
    return (folder / "original.parquet").read_bytes()


def parquet_mutated(rng, content):
    """Change pages, the footer, or the lengths of both."""
    start = len(content) - TAIL - int.from_bytes(content[-TAIL:-4], "little")  # of the footer
    kind = rng.choice(["bytes", "footer", "length", "cut", "pages", "any"], p=[0.15, 0.4, 0.1, 0.05, 0.15, 0.15])
    pages, footer, tail = content[:start], content[start:-TAIL], content[-TAIL:]
    if kind == "bytes":
        return content[:4] + flip(rng, pages[4:]) + footer + tail
    if kind == "footer":
        changed = [flip, flip, flip, cut, insert, repeat][rng.integers(6)](rng, footer)
        return pages + changed + len(changed).to_bytes(4, "little") + tail[4:]
    if kind == "length":
        length = int(rng.choice([0, 1, len(footer) - 1, len(footer) + 1, len(content), 2**31 - 1, 2**32 - 1]))
        return pages + footer + (length % 2**32).to_bytes(4, "little") + tail[4:]
    if kind == "cut":
        return content[: int(rng.integers(len(content)))]
    if kind == "pages":  # two parts of the pages change places, all with the same length
        length = int(rng.integers(1, max(2, len(pages) // 2)))
        first, second = sorted(int(place) for place in rng.integers(4, max(5, len(pages) - length), size=2))
        if first + length <= second:
            one, other = pages[first : first + length], pages[second : second + length]
            pages = pages[:first] + other + pages[first + length : second] + one + pages[second + length :]
        return pages + footer + tail
    return mutate(rng, content, "parquet")


def parquet_content(seed, case, folder):
    rng = np.random.default_rng([seed, case])
    return parquet_mutated(rng, parquet_original(rng, folder))


def read_by_combine(file):
    reader = ParquetTable(table_source(str(file)))
    names = reader.columns.names
    experts = tuple(name for name, numeric in zip(*reader.columns, strict=True) if numeric and name not in ("y", "ds"))
    choice = ColumnChoice("y", experts, *((name,) if name in names else () for name in ("ds", "series")))
    if not {"y", *experts} <= {*names} or len({*names}) < len(names):
        raise BadFile("there is no target, or a name occurs twice.")  # said by `combine` before it reads
    for batch in reader.batches(choice):
        assert all(pa.types.is_float64(batch.column(name).type) for name in choice.numbers)


def read_files(seed, first, last):
    """Read files in this process; print how many were read and refused by each reader."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "case.parquet"
        for case in range(first, last):
            file.write_bytes(parquet_content(seed, case, folder))
            for reader, read in (("combine", read_by_combine), ("Replay", Replay.from_file)):
                signal.alarm(SECONDS)
                try:
                    read(file)
                    counts[f"{reader} read"] += 1
                except DriftwiseError as error:
                    n_lines = len(str(error).splitlines())
                    counts[f"{reader} refused{'' if n_lines == 1 else ' in several lines'}"] += 1
                finally:
                    signal.alarm(0)
    assert not any("several" in name for name in counts), counts
    print(json.dumps(counts))


def child(seed, first, last):
    """Return the counts of some files, read in another process, or how it ended."""
    words = [sys.executable, __file__, "--seed", str(seed), "--child", str(first), str(last)]
    ended = subprocess.run(words, capture_output=True, text=True)
    return ended.returncode, Counter(json.loads(ended.stdout)) if ended.returncode == 0 else ended.stderr


def fuzz_parquet(n_files, seed):
    """Read mutated Parquet files in child processes; return the counts, and the files that ended a process."""
    counts, faults, first = Counter(), [], 0
    while first < n_files:
        last = min(n_files, first + FILES_PER_CHILD)
        code, found = child(seed, first, last)
        if code == 0:
            counts += found
            first = last
            continue
        low, high = first, last  # the files before `low` are fine, one before `high` is not
        while high - low > 1:
            middle = (low + high) // 2
            fine, _ = child(seed, low, middle)
            low, high = (middle, high) if fine == 0 else (low, middle)
        code, found = child(seed, low, low + 1)
        counts += child(seed, first, low)[1] if low > first else Counter()
        kept = Path(tempfile.gettempdir()) / f"fuzz-{seed}-{low}.parquet"
        with tempfile.TemporaryDirectory() as folder:
            kept.write_bytes(parquet_content(seed, low, Path(folder)))
        how = f"signal {-code}" if code < 0 else str(found).strip().splitlines()[-1] if code else "not alone"
        faults.append(f"case {low} of seed {seed}: {how}: {kept}")
        first = low + 1
    return counts, faults


# Delimiter, decimal sign, separator of thousands; between commas, a point is the decimal sign.
PLAIN = [(",", ".", ""), (";", ",", ""), ("\t", ",", ""), ("|", ".", ""), (",", ",", "")]
NOTATIONS = [*PLAIN, (",", ".", ","), (";", ",", "."), (";", ".", ","), ("\t", ".", "'"), (";", ",", " ")]
TEXTS = ["x", 'say "hi"', "two\nlines", "two\r\nlines", "a,b", "a;b", "", '"', '""', '5" pipe']
NUMBER_TEXTS = ["1,5", "1.5", "1,900"]


def number_text(value, n_decimals, notation):
    _, decimal, thousands = notation
    whole, _, fraction = f"{abs(value):,.{n_decimals}f}".partition(".")
    text = whole.replace(",", thousands) + (decimal + fraction if n_decimals else "")
    return "-" + text if value < 0 else text


def written_table(rng):
    """Return the bytes of a CSV file, its notation, and whether nothing in it is wrong or has two meanings."""
    notation = NOTATIONS[int(rng.integers(len(NOTATIONS) if rng.random() < 0.7 else len(PLAIN)))]
    delimiter, end = notation[0], str(rng.choice(["\n", "\r\n"]))
    n_rows, scale = int(rng.choice([1, 3, 20, 60])), float(rng.choice([1, 100, 5000, 5000, 5000, 3e6]))
    start = int(rng.choice([0, 2**53 - 5, 2**60, 2**63 - 3, 2**63 + 5, 2**64 - 100]))
    n_decimals = [[0], [0], [3], [0, 3], [0, 1, 2, 3]][rng.integers(5)]  # none and three are those that can be misread
    steps = rng.choice([1, 1, 2, 1000], size=n_rows)
    if rng.random() < 0.2:
        steps[rng.integers(n_rows)] = int(rng.choice([0, -1]))
    times = [start + int(step) for step in np.cumsum(steps)]
    texts = TEXTS + NUMBER_TEXTS * int(rng.integers(2))
    names, n_wide = ["t", "y", "a", "note"], int(rng.choice([0, 0, 0, 0, 300])) if rng.random() < 0.97 else 100_001
    names += [f"w{k}" for k in range(n_wide)]
    rows = [names]
    for at in times:
        numbers = [
            "NA" if rng.random() < 0.05 else number_text(scale * rng.normal(), rng.choice(n_decimals), notation)
            for _ in range(2)
        ]
        rows.append([str(at), *numbers, texts[rng.integers(len(texts))], *["0"] * n_wide])
    quoting = csv.QUOTE_ALL if rng.random() < 0.3 else csv.QUOTE_MINIMAL
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(rows)
    text, is_right = text.getvalue(), not notation[2] and n_wide < 1000 and bool((steps > 0).all())
    if rng.random() < 0.4:  # a quotation mark more or less
        is_right, places = False, [i for i, sign in enumerate(text) if sign == '"']
        if places and rng.random() < 0.5:
            i = places[rng.integers(len(places))]
            text = text[:i] + text[i + 1 :]
        else:
            borders = [i + 1 for i, sign in enumerate(text) if sign in delimiter + "\n"]
            i = int(rng.choice(borders)) if borders and rng.random() < 0.7 else int(rng.integers(len(text) + 1))
            text = text[:i] + '"' + text[i:]
    if rng.random() < 0.2:
        text = text.removesuffix(end)
    mark = b"\xef\xbb\xbf" if rng.random() < 0.2 else b""
    return mark + text.encode(), notation, is_right


def slow_number(cell, notation):
    """Return the number that was written, NaN if it is missing; raise `ValueError` if it is none."""
    _, decimal, thousands = notation
    cell = cell.strip(" ")
    if cell.upper() in ("", "NA", "-", "?"):
        return math.nan
    if thousands and thousands in cell:
        whole, _, _ = cell.lstrip("-").partition(decimal)
        first, *groups = whole.split(thousands)
        if not 1 <= len(first) <= 3 or any(len(group) != 3 for group in groups):
            raise ValueError(cell)
        cell = cell.replace(thousands, "")
    return float(cell.replace(decimal, "."))


def slow_columns(content, notation):
    """Return the columns t, y and a that a table must have, None if it must be refused."""
    text = content.decode("utf-8-sig")
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=notation[0], strict=True) if row]
        header, *rows = rows
        if any(len(row) != len(header) for row in rows) or not rows:
            return None
        places = [[name.strip() for name in header].index(name) for name in "tya"]
        times = [row[places[0]] for row in rows]
        keys = (
            [int(text) for text in times] if times[0].lstrip("-").isdecimal() else times
        )  # the first one may have a quotation mark
        if "" in times or any(later <= earlier for earlier, later in itertools.pairwise(keys)):
            return None
        return times, *([slow_number(row[place], notation) for row in rows] for place in places[1:])
    except (csv.Error, ValueError):
        return None


def same_numbers(first, second):
    return np.array_equal(np.array(first, float), np.array(second, float), equal_nan=True)


def check_written(folder, content, notation, is_right, options):
    """Run `driftwise combine` with one expert, whose forecasts are those of the mixture; return the outcome."""
    file, out = folder / "case.csv", folder / "out"
    file.write_bytes(content)
    words = [str(file), "--target", "y", "--experts", "a", "--time", "t", "--no-page", "--format", "parquet", *options]
    code, _, err = run_here("combine", *words, "--out", out, *FIXED_SHARE)
    if code != 0:
        assert code == 2, (code, err)
        assert err.startswith("driftwise: "), err
        assert err.count("\n") == 1, err
        assert not out.exists()
        undecided = "--decimal" in err and "--decimal" not in options
        assert undecided or not is_right or "is longer than" in err, f"refused, but nothing is wrong: {err}"
        return "refused"
    table = parquet.read_table(out / "forecasts.parquet")
    shutil.rmtree(out)
    slow = slow_columns(content, notation)
    assert slow is not None, "read, but it must be refused"
    assert table.column("t").to_pylist() == slow[0], "other times were read"
    assert same_numbers(table.column("y").to_pylist(), slow[1]), "other truths were read"
    is_awake = table.column("weight_a").to_numpy() > 0  # else the forecast is the last truth
    forecasts = np.where(is_awake, np.array(table.column("forecast").to_pylist(), float), np.nan)
    assert same_numbers(forecasts, slow[2]), "other forecasts were read"
    return "played on"


def check_losses(folder, rng):
    """Read a table of losses by `Replay.from_file`; return the outcome."""
    losses, text = rng.random((int(rng.choice([1, 5, 50])), 3)).round(3), io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if rng.random() < 0.5 else csv.QUOTE_MINIMAL
    names = ["north", 'so"uth', "two\nlines"]
    csv.writer(text, lineterminator=str(rng.choice(["\n", "\r\n"])), quoting=quoting).writerows(
        [names, *losses.tolist()]
    )
    content = text.getvalue()
    if rng.random() < 0.6:
        i = int(rng.integers(len(content) + 1))
        content = content[:i] + '"' + content[i + int(rng.integers(2)) :]
    (folder / "case.csv").write_bytes(content.encode())
    try:
        replay = Replay.from_file(folder / "case.csv")
    except DriftwiseError as error:
        message = str(error)
    else:
        message = ""
    if message:
        assert len(message.splitlines()) == 1, message
        return "refused"
    rows = [
        row for row in csv.reader(io.StringIO(content, newline=""), strict=True) if row
    ]  # raises: it must be refused
    assert list(replay.names) == [name.strip(" \t") for name in rows[0]], "other names were read"
    assert replay.losses.tolist() == [[float(cell) for cell in row] for row in rows[1:]], "other losses were read"
    return "played on"


@contextlib.contextmanager
def blocks(rng):
    """Read in blocks and samples of random lengths."""
    before = csv_tables._BLOCK, table_files._SAMPLE
    csv_tables._BLOCK, table_files._SAMPLE = (
        int(rng.choice([400, 1000, 1 << 21])),
        int(rng.choice([150, 1000, 1 << 18])),
    )
    try:
        yield
    finally:
        csv_tables._BLOCK, table_files._SAMPLE = before


def fuzz_written(n_tables, seed):
    """Read written tables; return how many were tried, refused, played on and broke, and what broke."""
    counts, faults = Counter(), []
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        folder = Path(name)
        for case in range(n_tables):
            rng = np.random.default_rng([seed, case, 1])
            signal.alarm(SECONDS)
            try:
                with blocks(rng):
                    if rng.random() < 0.25:
                        outcome = check_losses(folder, rng)
                    else:
                        content, notation, is_right = written_table(rng)
                        signs = ["--delimiter", notation[0].replace("\t", "tab"), "--decimal", notation[1]]
                        options = [[], signs[:2], signs[2:], signs][rng.integers(4)]
                        outcome = check_written(folder, content, notation, is_right, options)
            except Exception as error:  # any kind of error is a fault
                outcome = "broke"
                kept = Path(tempfile.gettempdir()) / f"fuzz-written-{seed}-{case}.csv"
                kept.write_bytes((folder / "case.csv").read_bytes())
                shutil.rmtree(folder / "out", ignore_errors=True)
                faults.append(f"case {case} of seed {seed}: {type(error).__name__} {str(error).strip()[:200]}: {kept}")
            finally:
                signal.alarm(0)
            counts.update(["tried", outcome])
    return counts, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--parquet", type=int, default=0, help="Parquet files to read in child processes")
    parser.add_argument("--written", type=int, default=0, help="CSV files to compare with a slow reader")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child", type=int, nargs=2, help=argparse.SUPPRESS)
    settings = parser.parse_args()
    if settings.child:
        read_files(settings.seed, *settings.child)
        return
    faulthandler.enable()
    began = time.monotonic()
    last = Path(tempfile.gettempdir()) / f"fuzz-tables-{os.getpid()}"  # which case it was, if the process ends
    counts = fuzz(settings.cases, settings.seed, last)
    last.unlink(missing_ok=True)
    print(f"{settings.cases} tables in {time.monotonic() - began:.0f} s: {dict(sorted(counts.items()))}", flush=True)
    began = time.monotonic()
    counts, faults = fuzz_parquet(settings.parquet, settings.seed)
    taken = f"{settings.parquet} Parquet files in {time.monotonic() - began:.0f} s with Arrow {pa.__version__}"
    print(f"{taken}: {dict(sorted(counts.items()))}, {len(faults)} faults", flush=True)
    began = time.monotonic()
    counts, more = fuzz_written(settings.written, settings.seed)
    print(f"{settings.written} written tables in {time.monotonic() - began:.0f} s: {dict(sorted(counts.items()))}")
    sys.exit("\n".join([*faults, *more]) or 0)


if __name__ == "__main__":
    main()
