"""Combine mutated tables of forecasts in every format: `make fuzz`.

Each run must succeed with finite forecasts and weights that are distributions, or print exactly one line, exit with 2,
and leave nothing behind. The runs share one process, so a crash of a reader ends the program.
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
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from pyarrow import parquet

from combine_examples import FIXED_SHARE, FORMATS, example, write
from driftwise.cli.main import main as command_line

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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    settings = parser.parse_args()
    faulthandler.enable()
    began = time.monotonic()
    last = Path(tempfile.gettempdir()) / f"fuzz-tables-{os.getpid()}"  # which case it was, if the process ends
    counts = fuzz(settings.cases, settings.seed, last)
    last.unlink(missing_ok=True)
    print(f"{settings.cases} tables in {time.monotonic() - began:.0f} s: {dict(sorted(counts.items()))}")


if __name__ == "__main__":
    main()
