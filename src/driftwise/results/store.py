"""Results as one Parquet file: the curves as columns, everything else as JSON in the metadata.

The file has a format version and no code; whatever is not a number or a word does not fit in.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from driftwise.core.errors import BadFile, MissingDependency
from driftwise.core.files import write_atomically
from driftwise.core.measures import Measures
from driftwise.results.footnotes import Caveat
from driftwise.results.realised import Realised

if TYPE_CHECKING:
    from driftwise.results.results import Results

__all__ = ["arrow", "read", "write"]

FORMAT = 1
_KEY = b"driftwise"
_PLAIN = (
    "labels", "learners", "environment", "comparator", "kind", "n_actions", "n_rounds", "n_runs", "seed",
)  # fmt: skip


def write(results: Results, path: str | os.PathLike[str]) -> None:
    """Write results; the same results give the same bytes."""
    pa, pq = arrow("Writing a Parquet file")
    n_learners, n_runs, n_points = results.regrets.shape
    header: dict[str, Any] = {name: getattr(results, name) for name in _PLAIN}
    header |= {
        "format": FORMAT,
        "measures": [dataclasses.asdict(m) for m in results.measures],
        "realised": [r._asdict() for r in results.realised],
        "bound_rounds": results.bound_rounds.tolist(),
        "bounds": results.bounds.tolist(),
        "caveats": dict(results.caveats),
    }
    table = pa.table(
        {
            "learner": pa.array(np.repeat(np.array(results.labels), n_runs * n_points)).dictionary_encode(),
            "run": np.tile(np.repeat(np.arange(n_runs, dtype=np.int32), n_points), n_learners),
            "round": np.tile(results.rounds, n_learners * n_runs),
            "regret": results.regrets.reshape(-1),
        },
        metadata={_KEY: json.dumps(_without_nan(header), sort_keys=True).encode()},
    )
    write_atomically(path, lambda file: pq.write_table(table, file))


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the fields of the results that `write` stored."""
    _, pq = arrow("Reading a Parquet file")
    if not Path(path).is_file():
        raise BadFile(f"There is no file {path}.")
    try:
        table = pq.read_table(path)
    except Exception as error:
        raise BadFile(f"{path} is not a whole Parquet file: {str(error).splitlines()[0]}") from None
    header_bytes = (table.schema.metadata or {}).get(_KEY)
    if header_bytes is None:
        raise BadFile(f"{path} holds no driftwise results.")
    try:
        header = json.loads(header_bytes)
        if header["format"] == FORMAT:
            return _fields(table, header)
    except (KeyError, TypeError, ValueError) as error:
        raise BadFile(f"{path} holds damaged driftwise results: {error!r}.") from None
    raise BadFile(f"{path} has results format {header['format']}; this version reads format {FORMAT}.")


def _fields(table: Any, header: dict[str, Any]) -> dict[str, Any]:
    n_learners, n_runs = len(header["labels"]), header["n_runs"]
    regrets = table.column("regret").to_numpy().reshape(n_learners, n_runs, -1)
    return {
        **{name: header[name] for name in _PLAIN},
        "labels": tuple(header["labels"]),
        "learners": tuple(header["learners"]),
        "rounds": table.column("round").to_numpy()[: regrets.shape[2]].copy(),
        "regrets": regrets,
        "measures": tuple(Measures(**m) for m in header["measures"]),
        "realised": tuple(Realised(**_with_nan(r)) for r in header["realised"]),
        "bound_rounds": np.array(header["bound_rounds"], np.int64),
        "bounds": np.array(header["bounds"], np.float64).reshape(n_learners, -1),
        "caveats": {label: Caveat(*caveat) for label, caveat in header["caveats"].items()},
    }


def arrow(task: str) -> tuple[Any, Any]:
    """Import what reads and writes Parquet, or say how to get it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingDependency(task, "pyarrow", "files") from None
    return pyarrow, pyarrow.parquet


def _without_nan(value: Any) -> Any:
    """JSON has no NaN: null stands for it."""
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _with_nan(record: dict[str, Any]) -> dict[str, Any]:
    return {key: math.nan if item is None else item for key, item in record.items()}
