"""Cells for tests."""

import hashlib
import json

import numpy as np

from driftwise.results import CellRecord, CellTable, write_cells


def key(i):
    return hashlib.md5(str(i).encode()).hexdigest()


def cell(i=0, n_marks=1, **changes):
    """Return a cell whose numbers depend on `i`."""
    n_rounds = 100 * n_marks
    fields = {
        "key": key(i),
        "environment": json.dumps({"name": "sinusoidal", "amplitude": i // 4 % 3}),
        "learner": json.dumps({"name": "hedge", "learning_rate": i % 4}),
        "n_actions": 3,
        "n_rounds": n_rounds,
        "seed": i,
        "run": i // 12,
        "comparator": "dynamic",
        "play": "weights",
        "kind": "pseudo",
        "rounds": np.arange(100, n_rounds + 1, 100),
        "regrets": i + np.arange(n_marks) / 8,
        "bounds": np.full(n_marks, np.nan if i % 2 else 50.0 + i),
        "segments": i % 5,
        "drift": i / 3,
        "variance": i / 7,
        "machine": "0123abcd",
        "seconds": 0.25 * i,
    }
    return CellRecord(**{**fields, **changes})


def failed(i=0, error="OverflowError: too large", **changes):
    return cell(i, regrets=np.array([np.nan]), error=error, **changes)


def table(n=3, n_marks=1, start=0):
    return CellTable.from_records(cell(i, n_marks) for i in range(start, start + n))


def bits(record):
    """Return a record with its numbers as bits, so that NaN equals NaN."""
    return [
        value.tobytes()
        if isinstance(value, np.ndarray)
        else np.float64(value).tobytes()
        if isinstance(value, float)
        else value
        for value in record
    ]


def same(one, other):
    return len(one) == len(other) and all(bits(one.record(i)) == bits(other.record(i)) for i in range(len(one)))


def by_key(cells):
    """Return the cells of a table by key, without the time at which they were stored."""
    records = (cells.record(i) for i in range(len(cells)))
    return {record.key: bits(record._replace(stored=0)) for record in records}


def written(tmp_path, cells, extra=None):
    write_cells(tmp_path / "cells.parquet", cells, extra)
    return (tmp_path / "cells.parquet").read_bytes()
