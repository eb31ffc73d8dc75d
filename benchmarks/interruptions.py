"""Sweeps under interruption: kill their processes at random, then compare with a sweep that nobody disturbed.

python benchmarks/interruptions.py local      # 100 kills of `driftwise sweep` on threads
python benchmarks/interruptions.py dask       # 30 kills of Dask workers and one of the client
python benchmarks/interruptions.py together   # two processes, one folder
python benchmarks/interruptions.py overhead   # time of tiny cells above that of the learner and its losses
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil

from driftwise import Bernoulli, Environment, Hedge, Sweep, Switching
from driftwise.results import CellTable, Store, read_cells
from driftwise.sweeps import read_sweep

SWEEP = """
n_rounds = [{n_rounds}]
n_runs = {n_runs}
seed = 3

[[environments]]
path = {{name = "switching", n_actions = 10, each = {{n_segments = [2, 8, 32, 128]}}}}
noise = "bernoulli"

[[environments]]
path = {{name = "random-walk", n_actions = 10, step = 0.01}}
noise = "bernoulli"

[[learners]]
name = "hedge"
each = {{learning_rate = [0.1, 0.3]}}

[[learners]]
name = "optimistic-gd"
tuned = true

[[learners]]
name = "sleeping-optimistic-adapt-ml-prod"
memory = "merged"

[[learners]]
name = "ucb1"

[[learners]]
name = "glr-kl-ucb"
tuned = "rounds"
"""
_LIMIT = 1800.0  # seconds of any one step


def sweep_file(folder: Path, n_rounds: int, n_runs: int) -> Path:
    """Write the sweep: five environments and six learners."""
    path = folder / "sweep.toml"
    path.write_text(SWEEP.format(n_rounds=n_rounds, n_runs=n_runs))
    return path


def start(file: Path, out: Path, *options: str, journal: Path | None = None) -> subprocess.Popen[bytes]:
    """Start `driftwise sweep` in a process of its own."""
    variables = {**os.environ, **({} if journal is None else {"DRIFTWISE_JOURNAL": str(journal)})}
    words = [sys.executable, "-m", "driftwise", "sweep", str(file), "--out", str(out), "--quiet", *options]
    return subprocess.Popen(words, env=variables, stdout=subprocess.DEVNULL)


def finish(process: subprocess.Popen[bytes]) -> None:
    if process.wait(_LIMIT) != 0:
        raise SystemExit(f"a sweep ended with {process.returncode}")


def content(folder: Path) -> dict[str, bytes]:
    """Return each cell's numbers, without the time and the machine."""
    table = Store(folder).table()
    found = {}
    for record in map(table.record, range(len(table))):
        curves = [array.tobytes() for array in (record.rounds, record.regrets, record.bounds)]
        plain = record._replace(stored=0, seconds=0.0, machine="", rounds=(), regrets=(), bounds=())
        found[record.key] = b"".join([repr(plain).encode(), *curves])
    return found


def compare(folder: Path, reference: Path, n_cells: int) -> None:
    """Print whether a folder equals that of an undisturbed sweep, and what else is in it; exit if it does not."""
    rows = sum(len(keys_of(path)) for path in folder.glob("*.parquet"))
    left = sorted(path.name for path in folder.iterdir() if path.name.startswith("."))  # a store would delete them
    damaged = (folder / "damaged").exists()
    found, expected = content(folder), content(reference)
    print(f"  cells {len(found)} of {n_cells}; rows in the files {rows}; equal bit for bit: {found == expected}")
    print(f"  temporary files and claims left: {left or 'none'}; damaged files: {damaged}", flush=True)
    if found != expected or not len(found) == rows == n_cells or left or damaged:
        raise SystemExit("the folders differ, or files are left")


def keys_of(path: Path) -> list[str]:
    return read_cells(path)[0].keys()


def n_stored(folder: Path) -> int:
    with contextlib.suppress(OSError):
        return sum(len(keys_of(path)) for path in folder.glob("cells-*.parquet"))
    return 0


def journal_of(path: Path) -> list[tuple[str, int, int]]:
    """Return key, process and start in microseconds of each computation."""
    return [(key, int(process), int(began)) for key, process, began in map(str.split, path.read_text().splitlines())]


def local(folder: Path, kills: int, n_rounds: int, n_runs: int) -> None:
    """Kill a sweep on threads at random moments, then let it finish."""
    file, out = sweep_file(folder, n_rounds, n_runs), folder / "disturbed"
    n_cells, rng = read_sweep(file).n_cells, random.Random(1)
    print(f"local: {n_cells} cells, {kills} kills", flush=True)
    process = start(file, out)
    while not n_stored(out):
        time.sleep(0.05)
    done, before_end = 0, 0
    while done < kills:
        time.sleep(rng.uniform(0.2, 4.0))
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            done += 1
            before_end += n_stored(out) < n_cells
        process.wait()
        process = start(file, out)
    print(f"  kills while cells were missing: {before_end}; stored at the last kill: {n_stored(out)}", flush=True)
    finish(process)
    finish(start(file, folder / "undisturbed"))
    compare(out, folder / "undisturbed", n_cells)


@contextlib.contextmanager
def cluster(folder: Path, journal: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Start a Dask scheduler and two worker processes, each with a nanny that starts it again; yield its address."""
    address_file, variables = folder / "scheduler.json", {**os.environ, "DRIFTWISE_JOURNAL": str(journal)}
    common = {"env": variables, "stdout": subprocess.DEVNULL, "stderr": (folder / "dask.log").open("ab")}
    words = [sys.executable, "-m", "dask"]
    on_loopback = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(address_file)]
    scheduler = subprocess.Popen([*words, "scheduler", "--port", "0", *on_loopback], **common)
    while not address_file.exists():
        time.sleep(0.1)
    two = ["--nworkers", "2", "--nthreads", "1", "--local-directory", str(folder / "workers")]
    workers = subprocess.Popen([*words, "worker", *two, *on_loopback], **common)
    try:
        yield json.loads(address_file.read_text())["address"], workers
    finally:
        for process in (workers, scheduler):
            process.terminate()
            process.wait(30)


def worker_processes(workers: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """Return the worker processes below the nannies."""
    with contextlib.suppress(psutil.NoSuchProcess):
        below = psutil.Process(workers.pid).children(recursive=True)
        return [process for process in below if "spawn_main" in " ".join(_command(process))]
    return []


def _command(process: psutil.Process) -> list[str]:
    with contextlib.suppress(psutil.Error):
        return process.cmdline()
    return []


def dask(folder: Path, kills: int, n_rounds: int, n_runs: int) -> None:
    """Kill a random worker every 5 to 10 seconds, and the client once; compare with threads, and check the journal."""
    file, out, journal = sweep_file(folder, n_rounds, n_runs), folder / "disturbed", folder / "journal"
    n_cells, rng, began = read_sweep(file).n_cells, random.Random(2), time.monotonic()
    print(f"dask: {n_cells} cells, {kills} kills of workers, one of the client", flush=True)
    with cluster(folder, journal) as (address, workers):
        client, done, while_missing, client_killed = start(file, out, "--dask", address), 0, 0, False
        while client.poll() is None:
            time.sleep(rng.uniform(5.0, 10.0))
            alive = worker_processes(workers)
            if done < kills and alive:
                rng.choice(alive).kill()
                done += 1
                while_missing += n_stored(out) < n_cells
            if not client_killed and done >= kills // 2:
                client.kill()
                client.wait()
                print(f"  client killed with {n_stored(out)} cells stored", flush=True)
                client, client_killed = start(file, out, "--dask", address), True
        if client.returncode != 0:
            raise SystemExit(f"the client ended with {client.returncode}")
    seconds = time.monotonic() - began
    print(f"  {done} workers killed, {while_missing} while cells were missing, in {seconds:.0f} s", flush=True)
    finish(start(file, folder / "threads"))
    compare(out, folder / "threads", n_cells)
    check_journal(out, journal)


def check_journal(out: Path, journal: Path) -> None:
    """Print whether a cell was computed after it had been stored, and how many were computed more than once."""
    table: CellTable = Store(out).table()
    stored = dict(zip(table.keys(), table.cells["stored"].tolist(), strict=True))
    lines = journal_of(journal)
    late = [key for key, _, began in lines if began > stored[key]]
    again = sum(n - 1 for n in Counter(key for key, _, _ in lines).values())
    n_processes, share = len({process for _, process, _ in lines}), 100 * again / len(stored)
    print(f"  journal: {len(lines)} computations by {n_processes} processes, {again} repeated ({share:.1f} %)")
    print(f"  started after the cell was stored: {len(late)}", flush=True)
    if late:
        raise SystemExit("cells were computed after they had been stored")


def together(folder: Path, n_rounds: int, n_runs: int) -> None:
    """Let two processes fill one folder."""
    file, out, journal = sweep_file(folder, n_rounds, n_runs), folder / "shared", folder / "journal"
    n_cells = read_sweep(file).n_cells
    print(f"together: {n_cells} cells, two processes of one thread", flush=True)
    for process in [start(file, out, "--threads", "1", journal=journal) for _ in range(2)]:
        finish(process)
    finish(start(file, folder / "alone"))
    compare(out, folder / "alone", n_cells)
    check_journal(out, journal)


def overhead(folder: Path, n_cells: int) -> None:
    """Time tiny cells on one thread, and the learner's block and the drawing of losses by themselves."""
    environment, learner = Environment(Switching(8, 10), Bernoulli()), Hedge()
    Sweep(environment, learner, 1000, 100, 1).run(folder / "compiled", n_threads=1)
    began = time.perf_counter()
    Sweep(environment, learner, 1000, n_cells, 2).run(folder / "cells", n_threads=1)
    whole = time.perf_counter() - began
    drawing = playing = 0.0
    for run in range(n_cells):
        began = time.perf_counter()
        losses = environment.start(1000, np.random.SeedSequence(2, spawn_key=(run, 0))).draw(1000).losses
        drawn = time.perf_counter()
        learner.play_block(learner.start(10), losses)
        drawing, playing = drawing + drawn - began, playing + time.perf_counter() - drawn
    above = (whole - drawing - playing) / n_cells
    cell, draw, play = (1e6 * seconds / n_cells for seconds in (whole, drawing, playing))
    print(f"overhead: {n_cells} cells in {whole:.2f} s: {cell:.0f} us a cell, of which drawing {draw:.0f}, the learner")
    print(f"  {play:.0f}, all else {1e6 * above:.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("local", "dask", "together", "overhead"))
    parser.add_argument("--kills", type=int, help="[default: 100, dask: 30]")
    parser.add_argument("--rounds", type=int, default=20_000, help="in a cell  [default: 20000]")
    parser.add_argument("--runs", type=int, default=100, help="of each learner in each environment  [default: 100]")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if given.part == "overhead":
            overhead(folder, 10_000)
        elif given.part == "together":
            together(folder, given.rounds, given.runs)
        elif given.part == "local":
            local(folder, given.kills or 100, given.rounds, given.runs)
        else:
            dask(folder, given.kills or 30, given.rounds, given.runs)


if __name__ == "__main__":
    main()
