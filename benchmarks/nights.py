"""What a night with a state costs: seconds, the size of the file, and memory.

python benchmarks/nights.py                              # 10,000 series, 10 experts, one row each night
python benchmarks/nights.py --rows 24                    # a day of hours, issued at midnight
python benchmarks/nights.py --rows 24 --steps            # with weights for each of the 24 steps
python benchmarks/nights.py --learner ada-hedge
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from driftwise.forecasting import combine, read_state
from driftwise.learners import AdaHedge, Tracker

LEARNERS = {"combinations": None, "ada-hedge": AdaHedge(), "tracker": Tracker(both_guesses=True)}
N_EXPERTS = 10


def night(random, number, n_series, n_rows, steps):
    """Return the rows that are issued in a night, with their truths."""
    times = np.tile(np.arange(number * n_rows, (number + 1) * n_rows), n_series)
    truths = random.normal(size=len(times))
    experts = {f"m{k}": truths + random.normal(size=len(times)) * (1 + k / 5) for k in range(N_EXPERTS)}
    names = np.repeat([f"s{i}" for i in range(n_series)], n_rows)
    columns = {"unique_id": names, "ds": times, "cutoff": np.full(len(times), number * n_rows - 1), "y": truths}
    return pl.DataFrame({**columns, **({"step": times % n_rows + 1} if steps else {}), **experts})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=10_000)
    parser.add_argument("--rows", type=int, default=1, help="of each series in a night")
    parser.add_argument("--nights", type=int, default=4)
    parser.add_argument("--steps", action="store_true", help="weights for each step ahead")
    parser.add_argument("--learner", choices=LEARNERS, default="combinations")
    given = parser.parse_args()
    random, before = np.random.default_rng(0), None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mix.db"
        for number in range(given.nights):
            rows = night(random, number, given.series, given.rows, given.steps)
            new = rows.with_columns(pl.lit(None, pl.Float64).alias("y"))
            table = new if before is None else pl.concat([before, new])  # yesterday's truths, tomorrow's forecasts
            began = time.perf_counter()
            combine(table, state=path, weights=False, learner=LEARNERS[given.learner])
            seconds, peak = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            sizes = f"file {path.stat().st_size / 1e6:.0f} MB, peak memory {peak:.0f} MB"
            print(f"night {number}: {len(table):,} rows, {seconds:.2f} s, {sizes}", flush=True)
            before = rows
        print(read_state(path))


if __name__ == "__main__":
    main()
