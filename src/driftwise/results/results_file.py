"""Results as one Parquet file: the curves as columns, everything else as JSON in the metadata, with a checksum.

The file has a format version. It holds numbers and text only, no code.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from driftwise.core.errors import BadFile, DriftwiseError
from driftwise.core.file_names import shown_path
from driftwise.core.measures import Measures
from driftwise.core.types import Vector
from driftwise.core.validation import MAX_COUNT
from driftwise.results.footnotes import Caveat
from driftwise.results.parquet_columns import arrow, open_columns, write_columns
from driftwise.results.realised import Realised

if TYPE_CHECKING:
    from driftwise.results.results import Results

__all__ = ["read", "write"]

FORMAT = 3  # format 1 had no checksum, format 2 used other names of parameters
_KEY = "driftwise"
_WORDS = ("comparator", "kind")
_COUNTS = ("n_actions", "n_rounds", "n_runs")
_LISTS = ("labels", "learners", "measures", "realised", "rounds", "bound_rounds", "bounds")
_PLAIN = ("labels", "learners", "environment", *_WORDS, *_COUNTS, "seed")


def write(results: Results, path: str | os.PathLike[str]) -> None:
    """Write results; the same results give the same bytes."""
    pa, _ = arrow("Writing a Parquet file")
    n_learners, n_runs, n_points = results.regrets.shape
    header: dict[str, Any] = {name: getattr(results, name) for name in _PLAIN}
    header |= {
        "format": FORMAT,
        "measures": [dataclasses.asdict(m) for m in results.measures],
        "realised": [r._asdict() for r in results.realised],
        "rounds": results.rounds.tolist(),
        "bound_rounds": results.bound_rounds.tolist(),
        "bounds": results.bounds.tolist(),
        "caveats": dict(results.caveats),
    }
    other_columns = {
        "learner": pa.array(np.repeat(np.array(results.labels), n_runs * n_points)).dictionary_encode(),
        "run": np.tile(np.repeat(np.arange(n_runs, dtype=np.int32), n_points), n_learners),
        "round": np.tile(results.rounds, n_learners * n_runs),
    }
    text = json.dumps(_without_nan(header), sort_keys=True).encode()
    write_columns(path, _KEY, text, {"regret": results.regrets.reshape(-1)}, other_columns)


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the fields of the results that `write` wrote."""
    opened = open_columns(path, _KEY)
    if opened is None:
        raise BadFile(f"{shown_path(path)} holds no driftwise results.")
    try:
        header = json.loads(opened.header)
        if header["format"] != FORMAT:
            old = {"1": "have no checksum", "2": "use earlier names of parameters"}
            got = f"{header['format']!r:.20}"
            hint = f" Simulate again: files of format {got} {old[got]}." if got in old else ""
            raise BadFile(f"{shown_path(path)} has results format {got}; this version reads format {FORMAT}.{hint}")
        return _fields(opened.load("regret")["regret"], header)
    except BadFile:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError, DriftwiseError) as error:
        reason = f"{error!r}".splitlines()[0][:200]
        raise BadFile(f"{shown_path(path)} holds damaged driftwise results: {reason}.") from None


def _fields(regrets: Vector, header: dict[str, Any]) -> dict[str, Any]:
    _check(header)
    n_learners = len(header["labels"])
    rounds, bound_rounds = (np.array(header[name], np.int64) for name in ("rounds", "bound_rounds"))
    if any((np.diff(some, prepend=0) <= 0).any() for some in (rounds, bound_rounds)):
        raise ValueError("rounds must be increasing")
    bounds = np.array(header["bounds"], np.float64)
    if bounds.shape != (n_learners, len(bound_rounds)):
        raise ValueError("bounds must have a row per learner and a column per bound round")
    return {
        **{name: header[name] for name in _PLAIN},
        "labels": tuple(header["labels"]),
        "learners": tuple(header["learners"]),
        "rounds": rounds,
        "regrets": regrets.reshape(n_learners, header["n_runs"], len(rounds)),
        "measures": tuple(Measures(**m) for m in header["measures"]),
        "realised": tuple(Realised(**_with_nan(r)) for r in header["realised"]),
        "bound_rounds": bound_rounds,
        "bounds": bounds,
        "caveats": {label: _caveat(header, label, *caveat) for label, caveat in header["caveats"].items()},
    }


def _caveat(header: dict[str, Any], label: str, n_runs: Any, reason: Any) -> Caveat:
    if label not in header["labels"] or type(n_runs) is not int or not isinstance(reason, str):
        raise ValueError("a caveat must have a label, a number of runs and a reason")
    return Caveat(n_runs, reason)


def _check(header: dict[str, Any]) -> None:
    """Reject values of a header that the methods of `Results` could not use."""
    labels, learners = header["labels"], header["learners"]
    if not all(isinstance(header[name], list) for name in _LISTS):
        raise TypeError(f"{', '.join(_LISTS)} must be lists")
    if not labels or len({*labels}) != len(labels) or len(learners) != len(labels):
        raise ValueError("labels must be distinct, with a learner each")
    words = [*labels, *(header[name] for name in _WORDS)]
    if not all(isinstance(word, str) for word in words):
        raise ValueError("labels, comparator and kind must be text")
    if not all(isinstance(spec, dict) for spec in (*learners, header["environment"])):
        raise ValueError("learners and environment must be specs")
    counts = [*(header[name] for name in _COUNTS), header["seed"]]
    if not all(type(count) is int and count >= 0 for count in counts) or max(counts[:-1]) > MAX_COUNT:
        raise ValueError("actions, rounds, runs and seed must be whole numbers")
    n_runs = header["n_runs"]
    if n_runs < 1 or len(header["realised"]) != n_runs or len(header["measures"]) not in (0, n_runs):
        raise ValueError("every run must have measures")


def _without_nan(value: Any) -> Any:
    """Replace NaN by None, since JSON has no NaN."""
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _with_nan(record: dict[str, Any]) -> dict[str, Any]:
    if not all(item is None or type(item) in (int, float) for item in record.values()):
        raise TypeError("realised quantities must be numbers")
    return {key: math.nan if item is None else float(item) for key, item in record.items()}
