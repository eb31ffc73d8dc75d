"""Digests of results and of files, to show that a change of the code changed none of them.

python benchmarks/proofs.py             # compare this tree with `proofs.json`
python benchmarks/proofs.py --write     # write that file

They are of one sweep of all learners in six environments, and of the files that `driftwise combine` writes for four
tables. All digests are of exact bits, which depend on the processor and, for Parquet, on the version of Arrow: on
another machine write the file with the tree before the change, and compare with it. Plays within tolerances are in
`tests/helpers/reference_values.py`, public names and signatures in `tests/helpers/public_signatures.py`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from driftwise import Bernoulli, Beta, Deterministic, Environment, RandomWalk, Replay, Sinusoidal, Sweep, Switching
from driftwise.adversaries import BanditLow
from driftwise.environments import TruncatedGaussian
from driftwise.learners import learners

FILE = Path(__file__).with_suffix(".json")
N_ROWS = 300_000  # of a table: more than two blocks
N_ROUNDS, N_RUNS, N_ACTIONS = 400, 2, 4


def environments() -> dict[str, Any]:
    """Return six sources of losses; one has no means, one is an adversary."""
    rng = np.random.default_rng(5)
    return {
        "switching": Environment(Switching(4, N_ACTIONS), Bernoulli()),
        "walk": Environment(RandomWalk(N_ACTIONS, 0.02), TruncatedGaussian(0.1)),
        "sinusoidal": Environment(Sinusoidal(N_ACTIONS, 3), Beta(0.2)),
        "without noise": Environment(Switching(3, N_ACTIONS), Deterministic()),
        "recorded": Replay(rng.random((N_ROUNDS, N_ACTIONS))),
        "adversary": BanditLow(segments=4, n_actions=N_ACTIONS),
    }


def sweep_digests(folder: Path) -> dict[str, str]:
    """Return the digest of the cells of each environment: keys, specs, measures, regrets, bounds, without times."""
    found = {}
    for name, environment in environments().items():
        every = [learners.get(one)() for one in learners]
        players = [one for one in every if name != "adversary" or one.feedback == "bandit"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = Sweep(environment, players, N_ROUNDS, N_RUNS, seed=7).run(folder / name)
        content = hashlib.sha256()
        for record in sorted(map(results.cells.record, range(len(results.cells)))):
            curves = [np.ascontiguousarray(curve).tobytes() for curve in (record.rounds, record.regrets, record.bounds)]
            plain = record._replace(stored=0, seconds=0.0, machine="", rounds=(), regrets=(), bounds=())
            content.update(b"".join([repr(plain).encode(), *curves]))
        found[f"sweep: {name}, {len(results.cells)} cells"] = content.hexdigest()
    return found


def table(n_series: int) -> pa.Table:
    """Return forecasts of four experts, some missing; series take turns."""
    rng, rows = np.random.default_rng(3), np.arange(N_ROWS)
    truths = np.sin(rows / 50) + 0.1 * rng.normal(size=N_ROWS)
    columns = {"ds": pa.array(rows)}
    if n_series > 1:
        columns["series"] = pa.array([f"s{i}" for i in rows % n_series])
    columns["y"] = pa.array(truths, mask=rng.random(N_ROWS) < 0.01)
    for k in range(4):
        forecasts = truths + (0.5 + 0.2 * k) * rng.normal(size=N_ROWS)
        columns[f"m{k}"] = pa.array(forecasts, mask=rng.random(N_ROWS) < 0.02)
    return pa.table(columns)


def combine_digests(folder: Path) -> dict[str, str]:
    """Return the digest of each file that `driftwise combine` writes for each table."""
    one, several = table(1), table(500)
    csv.write_csv(one, folder / "one.csv")
    parquet.write_table(one, folder / "one.parquet", row_group_size=70_000)
    csv.write_csv(several, folder / "series.csv")
    lines = [json.dumps(row) for row in one.slice(0, 5000).to_pylist()]
    (folder / "one.jsonl").write_text("\n".join(lines) + "\n")
    tables = {
        "one.csv": ["--time", "ds"],
        "one.parquet": ["--time", "ds", "--loss", "absolute"],
        "series.csv": ["--time", "ds", "--by", "series", "--add", "last-truth"],
        "one.jsonl": ["--time", "ds", "--format", "csv"],
    }
    found = {}
    for name, options in tables.items():
        out = folder / f"out-{name}"
        words = ["combine", str(folder / name), "--target", "y", "--out", str(out), "--quiet", *options]
        subprocess.run([sys.executable, "-m", "driftwise", *words], check=True, stdout=subprocess.DEVNULL)
        for file in sorted(out.iterdir()):
            found[f"combine: {name}, {file.name}"] = hashlib.sha256(file.read_bytes()).hexdigest()
            if file.suffix == ".parquet":
                found[f"combine: {name}, {file.name}, content"] = _content_digest(file)
    return found


def _content_digest(file: Path) -> str:
    """Return a digest of the names, types and values in a Parquet file, however they are encoded."""
    found = parquet.read_table(file).combine_chunks()
    content = hashlib.sha256(str(found.schema.remove_metadata()).encode())
    for column in found.columns:
        content.update(b"".join(bytes(part or b"") for part in column.chunk(0).buffers()))
    return content.hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the file")
    parser.add_argument("--only", choices=("sweep", "combine"), help="one part instead of both")
    parser.add_argument("--file", type=Path, default=FILE, help="another file")
    given = parser.parse_args()
    parts = {"sweep": sweep_digests, "combine": combine_digests}
    found: dict[str, str] = {}
    for name in [given.only] if given.only else parts:
        with tempfile.TemporaryDirectory() as folder:
            found |= parts[name](Path(folder))
    if given.write:
        given.file.write_text(json.dumps(found, indent=1) + "\n")
        return
    before = json.loads(given.file.read_text())
    differ = [name for name in found if before.get(name) != found[name]]
    print("\n".join([*(f"DIFFERS {name}" for name in differ), f"{len(found) - len(differ)} of {len(found)} are equal"]))
    sys.exit(bool(differ))


if __name__ == "__main__":
    main()
