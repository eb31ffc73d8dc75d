"""Cells made by hand, for tests of what is stored."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path

import numpy as np

from driftwise.registry import spec_text
from driftwise.results import CellRecord, Store, SweepResults
from driftwise.results.cells import CellTable

SWITCHING = {"path": {"name": "switching", "n_segments": 3, "n_actions": 4}, "noise": {"name": "bernoulli"}}
SINUSOIDAL = {"path": {"name": "sinusoidal", "n_actions": 2}, "noise": {"name": "bernoulli"}}
# Labels that try to break out of a format.
HOSTILE = [
    "a\nb",
    "<script>alert(1)</script>",
    r"\input{x} $ & % # _ { } ^ ~ -- ``?`",
    "x" * 3000,
    "Γ × 中文 é ł 🎉 \u202e",
    "*",
    ", ; \" '",
    "[1]",
]


def cell(learner="hedge", run=0, regret=1.0, environment=None, n_rounds=100, seed=0, bound=math.nan, **more):
    """Return a cell; an error makes it a failed one, and lists of rounds, regrets and bounds make a curve."""
    environment = SWITCHING if environment is None else environment
    learner = {"name": learner} if isinstance(learner, str) else learner
    fields = {
        "environment": spec_text(environment),
        "learner": spec_text(learner),
        "n_actions": 4,
        "n_rounds": n_rounds,
        "seed": seed,
        "run": run,
        "comparator": "dynamic",
        "play": "weights",
        "kind": "pseudo",
        "rounds": np.array([n_rounds]),
        "regrets": np.array([math.nan if more.get("error") else regret]),
        "bounds": np.array([math.nan if more.get("error") else bound]),
        **more,
    }
    key = hashlib.sha256(json.dumps(fields, default=str, sort_keys=True).encode()).hexdigest()[:32]
    return CellRecord(**{"key": key, **fields})


def results_of(cells, labels=None) -> SweepResults:
    """Return results of these cells."""
    return SweepResults(CellTable.from_records(cells), {"environments": {}, "learners": {}, **(labels or {})})


def hostile_results():
    """Return results whose labels and errors try to break out of every format."""
    cells, environments, learners = [], {}, {}
    for i, label in enumerate(HOSTILE):
        environment, learner = {**SWITCHING, "n": i}, {"name": f"learner-{i}"}
        environments[spec_text(environment)] = learners[spec_text(learner)] = label
        cells += [
            cell(learner, run, (i - 2) * 10.0 ** (-3 * i) + run * 1e-9, environment, caveat=label) for run in (0, 1)
        ]
        cells.append(cell(learner, 2, environment=environment, error=label))
    return results_of(cells, {"environments": environments, "learners": learners})


def stored(folder: Path, cells, environments=None, learners=None) -> Path:
    """Store cells in a folder."""
    with Store(folder) as store:
        store.add(cells)
        store.label(environments, learners)
    return folder


def content(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return everything in a folder, to see whether it was changed."""
    files = {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.rglob("*") if path.is_file()}
    return {**files, "folder": (folder.stat().st_mtime_ns, b"")}
