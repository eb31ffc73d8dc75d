"""Sweeps under interruption: kill their processes, damage their files, then compare with a sweep left in peace.

python benchmarks/interruptions.py local      # 100 kills of `driftwise sweep` on threads
python benchmarks/interruptions.py dask       # 30 kills of Dask workers and one of the client
python benchmarks/interruptions.py together   # two processes, one folder
python benchmarks/interruptions.py damage     # a flipped bit in 200 random pages, cut files, lost journals
python benchmarks/interruptions.py full-disk  # a small file system in memory that is full (needs root)
python benchmarks/interruptions.py size       # 400,000 cells: opening, reading and checking
python benchmarks/interruptions.py overhead   # time of tiny cells above that of the learner and its losses
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psutil

from driftwise import Bernoulli, Environment, Hedge, Sweep, Switching
from driftwise.core.errors import BadFile
from driftwise.results import CellRecord, CellTable, Store
from driftwise.results.store import FILE, read_store
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
PARTS = ("local", "dask", "together", "damage", "full-disk", "size", "overhead")
_LIMIT = 1800.0  # seconds of any one step
_HELPERS = Path(__file__).parents[1] / "tests" / "helpers"  # with the module that writes down which cells are started


def sweep_file(folder: Path, n_rounds: int, n_runs: int) -> Path:
    """Write the sweep: five environments and six learners."""
    path = folder / "sweep.toml"
    path.write_text(SWEEP.format(n_rounds=n_rounds, n_runs=n_runs))
    return path


def start(file: Path, out: Path, *options: str, journal: Path | None = None) -> subprocess.Popen[bytes]:
    """Start `driftwise sweep` in a process of its own; a journal gets a line for each cell that is started."""
    words = [sys.executable, "-m", "driftwise", "sweep", str(file), "--out", str(out), "--quiet", *options]
    words += [] if journal is None else ["--import", "started_cells"]
    return subprocess.Popen(words, env=variables(journal), stdout=subprocess.DEVNULL)


def variables(journal: Path | None) -> dict[str, str]:
    """Return the environment variables of a process, with the file for the cells that it starts."""
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(_HELPERS)]))
    return {**os.environ, "PYTHONPATH": path, "STARTED_CELLS": str(journal)}


def finish(process: subprocess.Popen[bytes]) -> None:
    if process.wait(_LIMIT) != 0:
        raise SystemExit(f"a sweep ended with {process.returncode}")


def content(folder: Path) -> dict[str, bytes]:
    """Return each cell's numbers, without the time and the machine."""
    table = read_store(folder).table
    found = {}
    for record in map(table.record, range(len(table))):
        curves = [array.tobytes() for array in (record.rounds, record.regrets, record.bounds)]
        plain = record._replace(stored=0, seconds=0.0, machine="", rounds=(), regrets=(), bounds=())
        found[record.key] = b"".join([repr(plain).encode(), *curves])
    return found


def compare(folder: Path, reference: Path, n_cells: int) -> None:
    """Print whether a folder equals that of an undisturbed sweep, and what else is in it; exit if it does not."""
    left = sorted(
        path.name for path in folder.iterdir() if path.name not in (FILE, "lock")
    )  # a store would delete them
    found, expected = content(folder), content(reference)
    print(f"  cells {len(found)} of {n_cells}; equal bit for bit: {found == expected}; other files: {left or 'none'}")
    if found != expected or len(found) != n_cells or left:
        raise SystemExit("the folders differ, or files are left")


def n_stored(folder: Path) -> int:
    with contextlib.suppress(BadFile):
        return len(read_store(folder).table)
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
    address_file = folder / "scheduler.json"
    common = {"env": variables(journal), "stdout": subprocess.DEVNULL, "stderr": (folder / "dask.log").open("ab")}
    words = [sys.executable, "-m", "dask"]
    on_loopback = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(address_file)]
    scheduler = subprocess.Popen([*words, "scheduler", "--port", "0", *on_loopback], **common)
    while not address_file.exists():
        time.sleep(0.1)
    two = ["--nworkers", "2", "--nthreads", "1", "--local-directory", str(folder / "workers")]
    two += ["--preload", "started_cells"]
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
    table = read_store(out).table
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


def damage(folder: Path, n_rounds: int, n_runs: int) -> None:
    """Flip a bit in random pages, cut the file, and lose the journal of an unfinished write; resume each time."""
    file, whole = sweep_file(folder, n_rounds, n_runs), folder / "whole"
    n_cells, rng = read_sweep(file).n_cells, random.Random(7)
    finish(start(file, whole))
    expected, size = content(whole), (whole / FILE).stat().st_size
    sweep, counts = read_sweep(file), Counter[str]()
    print(f"damage: {n_cells} cells, {size // 4096} pages", flush=True)
    cases = [("flipped", rng.randrange(size // 4096) * 4096 + rng.randrange(4096)) for _ in range(200)]
    cases += [("cut", rng.randrange(size)) for _ in range(20)] + [("lost journal", i) for i in range(10)]
    for kind, place in cases:
        damaged = folder / "damaged"
        shutil.copytree(whole, damaged)
        lost = _hurt(damaged / FILE, kind, place, rng)
        results = sweep.run(damaged)
        counts[kind] += 1
        counts[f"{kind}: set aside"] += bool(results.damaged)
        counts[f"{kind}: cells played again"] += lost()
        if content(damaged) != expected:
            raise SystemExit(f"{kind} at {place}: the cells differ")
        shutil.rmtree(damaged)
    print("  " + "; ".join(f"{name} {n}" for name, n in counts.items()) + "; all cells equal bit for bit", flush=True)


def _hurt(path: Path, kind: str, place: int, rng: random.Random) -> Callable[[], int]:
    """Damage a store; return how to count the cells that were stored after it."""
    if kind == "lost journal":  # a process is killed in the middle of a write, and its journal is deleted
        child = os.fork()
        if child == 0:
            db = sqlite3.connect(path, isolation_level=None)
            db.execute("PRAGMA cache_size = 5")
            db.execute("BEGIN IMMEDIATE")
            db.execute(f"DELETE FROM cells WHERE id % {place + 2} = 0")
            os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(child, 0)
        path.with_name(f"{FILE}-journal").unlink(missing_ok=True)
    else:
        content = bytearray(path.read_bytes())
        if kind == "cut":
            del content[place:]
        else:
            content[place] ^= 1 << rng.randrange(8)
        path.write_bytes(content)
    now = time.time_ns() // 1000
    return lambda: int((read_store(path.parent).table.cells["stored"] > now).sum())


def full_disk(folder: Path) -> None:
    """Fill a file system in memory while a sweep stores cells; make room, and resume."""
    disk = folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)], check=True)
    try:
        file = sweep_file(folder, 20_000, 50)
        n_cells = read_sweep(file).n_cells
        finish(start(file, folder / "alone"))
        for room in (0, 30_000, 150_000, 250_000, 350_000):
            out, filler = disk / "store", disk / "filler"
            shutil.rmtree(out, ignore_errors=True)
            free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
            filler.write_bytes(bytes(free - room - 8192))
            process = start(file, out)
            code, before = process.wait(_LIMIT), n_stored(out)
            filler.unlink()
            finish(start(file, out))
            print(f"  {room} bytes free: exit code {code}, {before} cells stored; then resumed", flush=True)
            compare(out, folder / "alone", n_cells)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def size(folder: Path, n: int) -> None:
    """Time a store of many cells: additions, opening, reading and checking all, a table."""
    real = dict.fromkeys(("drift", "variance", "deviation", "oscillation", "movement", "seconds"), 1.25)
    records = [
        CellRecord(
            f"{i:032x}", json.dumps({"i": i % 6}), json.dumps({"name": "hedge", "learning_rate": i % 10}), 10, 1000,
            i % 3, i // 180, "dynamic", "weights", "pseudo", [1000], [i / 7], [50.0], segments=8, **real,
        )
        for i in range(n)
    ]  # fmt: skip
    table = CellTable.from_records(records)
    began = time.perf_counter()
    with Store(folder) as store:
        for first in range(0, n, 20_000):
            store.add(table.take(np.arange(first, min(first + 20_000, n))))
    added = time.perf_counter()
    with Store(folder) as store:
        opened = time.perf_counter()
        store.table()
        read = time.perf_counter()
    print(f"size: {n} cells, {(folder / FILE).stat().st_size / n:.0f} bytes each; added in {added - began:.1f} s")
    print(f"  opened in {opened - added:.2f} s, read and checked in {read - opened:.2f} s", flush=True)


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
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--kills", type=int, help="[default: 100, dask: 30]")
    parser.add_argument("--rounds", type=int, default=20_000, help="in a cell  [default: 20000]")
    parser.add_argument("--runs", type=int, default=100, help="of each learner in each environment  [default: 100]")
    parser.add_argument("--cells", type=int, help="of size and overhead  [default: 400000, overhead: 10000]")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if given.part == "overhead":
            overhead(folder, given.cells or 10_000)
        elif given.part == "damage":
            damage(folder, 500, 20)
        elif given.part == "full-disk":
            full_disk(folder)
        elif given.part == "size":
            size(folder, given.cells or 400_000)
        elif given.part == "together":
            together(folder, given.rounds, given.runs)
        elif given.part == "local":
            local(folder, given.kills or 100, given.rounds, given.runs)
        else:
            dask(folder, given.kills or 30, given.rounds, given.runs)


if __name__ == "__main__":
    main()
