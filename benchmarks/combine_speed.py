"""Rows a second and peak memory of `driftwise combine`, against the speeds and the memory that it must reach.

python benchmarks/combine_speed.py                # all cases, about ten minutes and 3 GB of disk
python benchmarks/combine_speed.py --rows 1000000 # smaller
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

N_EXPERTS = 10
_BATCH = 1_000_000  # rows that are made at once


class Case(NamedTuple):
    """A run and what it must reach."""

    name: str
    order: str  # of the series: "one", "sorted" or "interleaved"
    format: str
    options: tuple[str, ...]
    rows_a_second: float | None
    megabytes: float | None


CASES = (
    Case("Parquet, default learner", "one", "parquet", (), 100_000, 1000),
    Case("Parquet, fixed-share", "one", "parquet", ("--learner", "fixed-share"), 500_000, 1000),
    Case("Parquet, sorted series", "sorted", "parquet", ("--by", "series"), 100_000, None),
    Case("Parquet, interleaved series", "interleaved", "parquet", ("--by", "series"), 100_000, None),
    Case("CSV, fixed-share", "one", "csv", ("--learner", "fixed-share"), None, 1000),
)


def write_input(path: Path, n_rows: int, n_series: int, order: str) -> None:
    """Write forecasts of ten experts, two in a hundred missing; series have about 300 rows each."""
    rng = np.random.default_rng(1)
    writer = None
    for first in range(0, n_rows, _BATCH):
        rows = np.arange(first, min(n_rows, first + _BATCH))
        truths = np.sin(rows / 50) + 0.1 * rng.normal(size=len(rows))
        columns = {"ds": pa.array(rows)}
        if order != "one":
            numbers = rows % n_series if order == "interleaved" else rows * n_series // n_rows
            columns["series"] = pa.DictionaryArray.from_arrays(
                pa.array(numbers.astype(np.int32)), pa.array([f"s{i}" for i in range(n_series)])
            ).dictionary_decode()
        columns["y"] = pa.array(truths)
        for k in range(N_EXPERTS):
            forecasts = truths + (0.5 + 0.2 * k) * rng.normal(size=len(rows))
            columns[f"m{k}"] = pa.array(forecasts, mask=rng.random(len(rows)) < 0.02)
        table = pa.table(columns)
        if writer is None:
            make = parquet.ParquetWriter if path.suffix == ".parquet" else csv.CSVWriter
            writer = make(path, table.schema)
        writer.write_table(table)
    writer.close()


def measure(folder: Path, file: Path, options: tuple[str, ...]) -> tuple[float, float]:
    """Return the seconds and the peak megabytes of a run."""
    words = [sys.executable, "-m", "driftwise", "combine", str(file), "--target", "y", "--time", "ds", "--quiet"]
    began = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    subprocess.run([*words, "--out", str(folder / "out"), *options], check=True, stdout=subprocess.DEVNULL)
    seconds = time.monotonic() - began
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss  # the largest of all children so far
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return seconds, peak / unit if peak > before else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--series", type=int, default=30_000)
    parser.add_argument("--case", type=int, help="only this one, from 0; then its memory is exact")
    settings = parser.parse_args()
    if settings.case is None:  # a process of its own each: the system keeps only the largest child's memory
        fine = True
        for i in range(len(CASES)):
            words = ["--rows", str(settings.rows), "--series", str(settings.series), "--case", str(i)]
            fine &= subprocess.run([sys.executable, __file__, *words]).returncode == 0
        sys.exit(not fine)
    case = CASES[settings.case]
    n_rows = settings.rows if case.order == "one" else min(settings.rows, 300 * settings.series)
    n_series = 1 if case.order == "one" else max(1, n_rows // 300)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        small, file = folder / f"small.{case.format}", folder / f"in.{case.format}"
        write_input(small, 100, min(3, n_series), case.order)
        measure(folder, small, case.options)  # compiles
        write_input(file, n_rows, n_series, case.order)
        seconds, megabytes = measure(folder, file, case.options)
    speed = n_rows / seconds
    fast = case.rows_a_second is None or speed >= case.rows_a_second
    frugal = case.megabytes is None or not megabytes > case.megabytes
    bars = [f"at least {case.rows_a_second:,.0f} rows/s"] if case.rows_a_second else []
    bars += [f"below {case.megabytes:,.0f} MB"] if case.megabytes else []
    verdict = "" if fast and frugal else "  TOO SLOW" if not fast else "  TOO LARGE"
    series = f", {n_series:,} series" if n_series > 1 else ""
    print(
        f"{case.name}: {n_rows:,} rows{series}: {speed:,.0f} rows/s, {megabytes:,.0f} MB ({', '.join(bars)}){verdict}",
        flush=True,
    )
    sys.exit(not (fast and frugal))


if __name__ == "__main__":
    main()
