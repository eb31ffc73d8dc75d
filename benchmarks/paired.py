"""Time this tree against another one: live rounds, the engine, sweeps and `combine`, in processes that take turns.

python benchmarks/paired.py OTHER       # OTHER/src is timed with the same interpreter and libraries
python benchmarks/paired.py OTHER --only combine --turns 9

Each number is the least over all turns; the ratio is this tree over the other one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent.parent
PARTS = ("live", "engine", "sweep", "combine")
Times = dict[str, float]


def best(work: Callable[[], object], repetitions: int = 5) -> float:
    """Return the least seconds of some repetitions, after one that is not counted."""
    work()
    taken = []
    for _ in range(repetitions):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return min(taken)


def live(_: Path) -> Times:
    """Time live rounds of three sessions with ten actions."""
    from driftwise import BanditTracker, Hedge, Session, Tracker

    losses = np.random.default_rng(1).random((5000, 10))
    found = {}
    for name, learner in (("Hedge", Hedge()), ("Tracker", Tracker()), ("BanditTracker", BanditTracker())):

        def rounds(learner: object = learner) -> None:
            session = Session(learner, n_actions=10, seed=1)
            if learner.feedback == "full":
                for row in losses:
                    session.predict()
                    session.update(row)
            else:
                for row in losses:
                    action, probability = session.choose()
                    session.update(action, probability, loss=row[action])

        found[f"live {name}, 5,000 rounds"] = best(rounds)
    return found


def engine(_: Path) -> Times:
    """Time a long simulation, and a short one, which is mostly overhead."""
    from driftwise import Bernoulli, Environment, Hedge, Switching, simulate

    environment = Environment(Switching(10, 10), Bernoulli())
    return {
        "simulate, 300,000 rounds": best(lambda: simulate(environment, Hedge(), 300_000, 1, n_threads=1), 3),
        "simulate, 500 rounds, 2 runs": best(lambda: simulate(environment, [Hedge()], n_rounds=500, n_runs=2), 30),
    }


def sweep(folder: Path) -> Times:
    """Time tiny cells, and additions of two cells to a store."""
    from driftwise import Bernoulli, Environment, Hedge, Sweep, Switching
    from driftwise.results import CellRecord, Store

    environment, found = Environment(Switching(8, 10), Bernoulli()), {}
    Sweep(environment, Hedge(), 1000, 100, 1).run(folder / "compiled", n_threads=1)
    began = time.perf_counter()
    Sweep(environment, Hedge(), 1000, 5000, 2).run(folder / "cells", n_threads=1)
    found["sweep, 5,000 cells of 1,000 rounds"] = time.perf_counter() - began
    began = time.perf_counter()
    Sweep(environment, Hedge(), 1000, 5000, 2).run(folder / "cells", n_threads=1)
    found["the same sweep again, all stored"] = time.perf_counter() - began
    with Store(folder / "additions") as store:
        began = time.perf_counter()
        for i in range(0, 400, 2):
            store.add(
                [
                    CellRecord(f"{i + j:032x}", "{}", "{}", 2, 9, 0, 0, "", "", "pseudo", [9], [1.0], [2.0])
                    for j in (0, 1)
                ]
            )
        found["200 additions of two cells"] = time.perf_counter() - began
    return found


def combine(folder: Path) -> Times:
    """Time `driftwise combine` of 10^6 rows and five experts, whole processes, with a fast learner."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    rng, n_rows = np.random.default_rng(1), 1_000_000
    truths = np.sin(np.arange(n_rows) / 50)
    columns = {"t": np.arange(n_rows), "y": truths}
    table = pa.table({**columns, **{f"m{k}": truths + (0.5 + k) * rng.normal(size=n_rows) for k in range(5)}})
    csv.write_csv(table, folder / "in.csv")
    parquet.write_table(table, folder / "in.parquet")
    found = {}
    for name in ("in.csv", "in.parquet"):
        words = ["combine", str(folder / name), "--target", "y", "--time", "t", "--learner", "fixed-share", "--quiet"]
        call = [sys.executable, "-m", "driftwise", *words, "--out", str(folder / "out")]
        found[f"combine {name}, 10^6 rows"] = best(
            lambda call=call: subprocess.run(call, check=True, stdout=subprocess.DEVNULL), 2
        )
    return found


def timed(tree: Path, part: str) -> Times:
    """Time one part of a tree in a process of its own."""
    variables = {**os.environ, "PYTHONPATH": str(tree / "src")}
    words = [sys.executable, __file__, "--worker", part]
    found: Times = json.loads(subprocess.run(words, env=variables, check=True, stdout=subprocess.PIPE).stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, nargs="?")
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--worker", choices=PARTS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(globals()[given.worker](Path(folder))))
        return
    if given.other is None:
        parser.error("the other tree is missing")
    for part in [given.only] if given.only else PARTS:
        here, there = [], []
        for turn in range(given.turns):
            for tree, taken in ((HERE, here), (given.other, there))[:: 1 if turn % 2 else -1]:
                taken.append(timed(tree, part))
        for name in here[0]:
            mine, other = (min(times[name] for times in taken) for taken in (here, there))
            print(
                f"{name}: {1e3 * mine:.1f} ms, {1e3 * other:.1f} ms in the other tree, ratio {mine / other:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
