"""Combine mutated tables of forecasts in every format, and read mutated Parquet files: `make fuzz`.

    python tests/helpers/fuzz_tables.py --cases 2000
    python tests/helpers/fuzz_tables.py --cases 0 --parquet 5000    # also with another interpreter and version of Arrow

Each run of a table must succeed with finite forecasts and weights that are distributions, or print exactly one line,
exit with 2, and leave nothing behind. The runs share one process, so a crash of a reader ends the program.

The Parquet files are read in child processes, some hundred in each, by the reader of `driftwise combine` and by
`Replay.from_file`: each must be read, or refused in one line. If a child is ended by a signal, the file is found by
bisection and kept.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import io
import json
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
from driftwise.cli.main import main as command_line
from driftwise.core.errors import BadFile, DriftwiseError
from driftwise.environments import Replay
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


def run(words):
    """Run the command in this process; return its exit code and what it wrote to standard error."""
    out, err = io.StringIO(), io.StringIO()
    before, sys.argv = sys.argv, ["driftwise", *words]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            command_line()
    except SystemExit as left:
        return left.code, err.getvalue()
    finally:
        sys.argv = before
    raise AssertionError("the command did not exit")


def check(folder, words):
    """Run a case; return "combined" or "refused", raise if it is neither."""
    out = folder / "out"
    code, err = run(["combine", *words, "--target", "y", "--no-page", "--out", str(out), *FIXED_SHARE])
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
    choice = ColumnChoice("y", experts, *(name if name in names else None for name in ("ds", "series")))
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--parquet", type=int, default=0, help="Parquet files to read in child processes")
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
    print(f"{taken}: {dict(sorted(counts.items()))}, {len(faults)} faults")
    sys.exit("\n".join(faults) or 0)


if __name__ == "__main__":
    main()
