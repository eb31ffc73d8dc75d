"""Kill `driftwise combine` at random moments, continue it with --resume, and compare the bytes of all files.

python benchmarks/combine_kills.py --kills 50     # about six minutes

Checkpoints are taken every 0.2 s instead of 5 s, so that a run of seconds has many, and many kills fall into one.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
from pyarrow import csv, parquet

SCRIPT = """
from driftwise.cli.main import main
from driftwise.forecasting.tables import table_runs
table_runs._SECONDS, table_runs._SHARE = 0.2, 1.0
table_runs.block_rows = lambda n_columns: 4096
main()
"""
HIDDEN = ".driftwise-partial"
COLUMNS = ["--target", "y", "--time", "ds", "--by", "series", "--quiet"]


def write_input(folder: Path, n_rows: int) -> None:
    """Write the same table as CSV and as Parquet: 100 interleaved series, five experts."""
    rng = np.random.default_rng(1)
    truths = np.cumsum(rng.normal(size=n_rows)) / 10
    experts = {f"m{k}": truths + (0.5 + 0.2 * k) * rng.normal(size=n_rows) for k in range(5)}
    names = pa.array([f"s{i % 100}" for i in range(n_rows)])
    table = pa.table({"ds": np.arange(n_rows), "series": names, "y": truths, **experts})
    csv.write_csv(table, folder / "in.csv")
    parquet.write_table(table, folder / "in.parquet")


def start(folder: Path, name: str, out: str, *options: str) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-c", SCRIPT, "combine", name, "--out", out, *COLUMNS, *options]
    return subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.name[0] != "."}


def stage(folder: Path) -> str:
    """Return in which part of the run it was killed."""
    if not (folder / HIDDEN).is_dir():
        return "before the first file" if not folder.is_dir() or not contents(folder) else "after the last file"
    if contents(folder):
        return "between the final files"
    return "after a checkpoint" if (folder / HIDDEN / "checkpoint.npz").exists() else "before a checkpoint"


def kill_runs(folder: Path, name: str, n_kills: int, rng: random.Random) -> None:
    """Kill and continue runs of one input until `n_kills` processes were killed; compare each finished run."""
    for _ in range(2):  # the first one compiles
        shutil.rmtree(folder / "whole", ignore_errors=True)
        running = start(folder, name, "whole")
        wait_for_lock(folder / "whole", running)
        began = time.monotonic()
        if running.wait():
            raise SystemExit("combine_kills: the undisturbed run failed.")
        longest = time.monotonic() - began
    whole = contents(folder / "whole")
    stages: Counter[str] = Counter()
    n_runs = 0
    while stages.total() < n_kills:
        shutil.rmtree(folder / "out", ignore_errors=True)
        code = None
        while code is None:
            running = start(folder, name, "out", "--resume")
            wait_for_lock(folder / "out", running)
            try:
                code = running.wait(rng.uniform(0.0, longest))
            except subprocess.TimeoutExpired:
                running.send_signal(signal.SIGKILL)
                running.wait()
                stages[stage(folder / "out")] += 1
        if code != 0 or contents(folder / "out") != whole or (folder / "out" / HIDDEN).exists():
            raise SystemExit(f"combine_kills: {name}: a continued run differs from an undisturbed one.")
        n_runs += 1
    print(f"{name}: {stages.total()} kills in {n_runs} runs, all bytes equal; killed {dict(stages)}", flush=True)


def wait_for_lock(out: Path, running: subprocess.Popen[bytes]) -> None:
    """Wait until a run has locked its folder: most of the time before is that of imports."""
    process = psutil.Process(running.pid)
    with contextlib.suppress(psutil.Error):
        while not any(file.path == str(out / HIDDEN / "lock") for file in process.open_files()):
            time.sleep(0.01)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50, help="of each format")
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--seed", type=int, default=1)
    settings = parser.parse_args()
    rng = random.Random(settings.seed)
    for name in ("in.csv", "in.parquet"):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary).resolve()
            write_input(folder, settings.rows)
            kill_runs(folder, name, settings.kills, rng)


if __name__ == "__main__":
    main()
