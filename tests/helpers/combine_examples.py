"""Small tables of forecasts in every format, and the command that combines them."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

FORMATS = ("csv", "parquet", "jsonl")
OUTPUTS = ("csv", "parquet")
SMALL_BLOCK = 64
FIXED_SHARE = ("--learner", "fixed-share", "--quiet")  # one learner and one loss: each pair compiles for seconds


def example(n_rows=300, n_series=1, seed=0, interleaved=False):
    """Return a table with times, series, truths and three experts with missing forecasts and truths."""
    rng = np.random.default_rng(seed)
    truths = np.sin(np.arange(n_rows) / 20) + 0.1 * rng.normal(size=n_rows)
    experts = truths[:, None] + rng.normal(size=(n_rows, 3)) * [0.2, 0.4, 0.8]
    experts[rng.random((n_rows, 3)) < 0.1] = np.nan
    truths[rng.random(n_rows) < 0.05] = np.nan
    rows = np.arange(n_rows)
    series = rows % n_series if interleaved else rows * n_series // n_rows
    columns = {"ds": pa.array(rows), "series": pa.array([f"s{i}" for i in series]), "y": _missing(truths)}
    return pa.table({**columns, **{name: _missing(experts[:, k]) for k, name in enumerate("abc")}})


def _missing(numbers):
    return pa.array(numbers, from_pandas=True)


def write(table, path):
    """Write a table in the format of the suffix."""
    if path.suffix == ".parquet":
        parquet.write_table(table, path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    else:
        csv.write_csv(table, path, csv.WriteOptions(quoting_style="none", include_header=False))
        path.write_text(",".join(table.schema.names) + "\n" + path.read_text())
    return path


def read(path):
    """Return the columns of a file of forecasts as lists."""
    if path.suffix == ".parquet":
        return parquet.read_table(path).to_pydict()
    return csv.read_csv(path).to_pydict()


def small_blocks(monkeypatch, n_rows=SMALL_BLOCK):
    """Use blocks of 64 rows, blocks of a thousand bytes, and small samples and batches."""
    monkeypatch.setattr("driftwise.forecasting.combining.block_rows", lambda _: n_rows)
    monkeypatch.setattr("driftwise.environments.csv_tables._BLOCK", 1000)
    monkeypatch.setattr("driftwise.environments.table_files._BLOCK", 1000)
    monkeypatch.setattr("driftwise.environments.table_files._SAMPLE", 500)
    monkeypatch.setattr("driftwise.environments.table_files._BATCH", 50)


def visible(folder):
    """Return the files of a folder by their paths in it, without temporary ones."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".driftwise-")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
