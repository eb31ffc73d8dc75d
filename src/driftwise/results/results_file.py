"""Results as one file of cells: a cell for each learner and run. What cells do not hold is in the file's header.

The file has a format version and a checksum. It holds numbers and text only, no code.
"""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from driftwise.core.errors import BadFile, DriftwiseError
from driftwise.core.file_names import shown_path
from driftwise.core.measures import Measures
from driftwise.core.spec_text import spec_text
from driftwise.results.cell_files import read_cells, write_cells
from driftwise.results.cell_table import CellTable
from driftwise.results.cells import MEASURES, REALISED, CellRecord
from driftwise.results.footnotes import Caveat
from driftwise.results.realised import Realised

if TYPE_CHECKING:
    from driftwise.results.results import Results

__all__ = ["fields", "read", "write"]

_SHARED = ("environment", "n_actions", "n_rounds", "comparator", "play", "kind")  # equal in all cells
_LARGEST_SEED = 2**63 - 1  # of a cell; a larger one is in the header only


def write(results: Results, path: str | os.PathLike[str]) -> None:
    """Write results; the same results give the same bytes."""
    bounds = np.full((*results.bounds.shape[:2], len(results.rounds)), np.nan)
    bounds[:, :, np.searchsorted(results.rounds, results.bound_rounds)] = results.bounds
    environment = spec_text(results.environment)
    records = [
        CellRecord(
            key="",
            environment=environment,
            learner=spec_text(results.learners[i]),
            n_actions=results.n_actions,
            n_rounds=results.n_rounds,
            seed=min(results.seed, _LARGEST_SEED),
            run=run,
            comparator=results.comparator,
            play=results.play,
            kind=results.kind,
            rounds=results.rounds,
            regrets=results.regrets[i, run],
            bounds=bounds[i, run],
            **(_measured(results.measures[run]) if results.measures else {}),
            **results.realised[run]._asdict(),
            caveat=results.caveats[label].reason if label in results.caveats else "",
        )
        for i, label in enumerate(results.labels)
        for run in range(results.n_runs)
    ]  # fmt: skip
    extra = {
        "labels": results.labels,
        "played": [spec_text(spec) for spec in results.played],
        "seed": results.seed,
        "n_runs": results.n_runs,
        "bound_rounds": results.bound_rounds.tolist(),
        "change_points": [measures.change_points for measures in results.measures],
        "caveats": dict(results.caveats),
    }
    labels = [label for label in results.labels for _ in range(results.n_runs)]
    write_cells(path, CellTable.from_records(records), {"results": extra}, {"learners": labels})


def _measured(measures: Measures) -> dict[str, Any]:
    return {name: getattr(measures, name) for name in ("segments", *MEASURES)}


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the fields of the results that `write` wrote."""
    return fields(path, *read_cells(path))


def fields(path: str | os.PathLike[str], table: CellTable, extra: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of results from the cells and the dictionary of a file."""
    if "results" not in extra:
        raise BadFile(f"{shown_path(path)} holds cells of a sweep, not the results of one simulation.")
    try:
        return _fields(table, extra["results"])
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError, DriftwiseError) as error:
        reason = f"{error!r}".splitlines()[0][:200]
        raise BadFile(f"{shown_path(path)} holds damaged driftwise results: {reason}.") from None


def _fields(table: CellTable, extra: dict[str, Any]) -> dict[str, Any]:
    labels, n_runs, seed = extra["labels"], extra["n_runs"], extra["seed"]
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise TypeError("labels must be texts")
    if not labels or len({*labels}) != len(labels) or type(n_runs) is not int or type(seed) is not int or seed < 0:
        raise ValueError("labels must be distinct, and the seed and the number of runs whole numbers")
    if n_runs < 1 or len(table) != len(labels) * n_runs:
        raise ValueError("there must be a cell for each label and run")
    rows = table.cells.reshape(len(labels), n_runs)
    same = all((rows[name] == rows[name][0, 0]).all() for name in (*_SHARED, "seed"))
    if not same or (rows["run"] != np.arange(n_runs)).any() or (rows["learner"] != rows["learner"][:, :1]).any():
        raise ValueError("the cells must be those of one simulation")
    if rows["seed"][0, 0] != min(seed, _LARGEST_SEED):
        raise ValueError("the seed must be that of the cells")
    if any((rows[name] != rows[name][0]).any() for name in ("segments",)) or (table.lengths != table.lengths[0]).any():
        raise ValueError("all learners must have the same runs")
    first, shape = table.record(0), (len(labels), n_runs, -1)
    rounds = table.round.reshape(shape)
    if (rounds != rounds[0, 0]).any():
        raise ValueError("all curves must have the same rounds")
    bound_rounds = _bound_rounds(extra["bound_rounds"], first.rounds)
    played = [json.loads(text) for text in extra["played"]]
    if len(played) != len(labels) or not all(isinstance(spec, dict) for spec in played):
        raise ValueError("each learner must have a spec")
    learners = [json.loads(table.texts["learner"][code]) for code in rows["learner"][:, 0]]
    return {
        "labels": tuple(labels),
        "learners": tuple(learners),
        "played": tuple(played),
        "environment": json.loads(first.environment),
        **{name: getattr(first, name) for name in _SHARED[1:]},
        "n_runs": n_runs,
        "seed": seed,
        "rounds": first.rounds,
        "regrets": table.regret.reshape(shape),
        "measures": _measures(rows[0], extra["change_points"]),
        "realised": tuple(Realised(*(float(cell[name]) for name in REALISED)) for cell in rows[0]),
        "bound_rounds": bound_rounds,
        "bounds": table.bound.reshape(shape)[:, :, np.searchsorted(first.rounds, bound_rounds)],
        "caveats": {label: _caveat(labels, label, *caveat) for label, caveat in extra["caveats"].items()},
    }


def _bound_rounds(given: Any, rounds: Any) -> Any:
    if not isinstance(given, list) or not given or not all(type(item) is int for item in given):
        raise TypeError("bound rounds must be whole numbers")
    found = np.array(given, np.int64)
    if not np.isin(found, rounds).all() or (np.diff(found) <= 0).any():
        raise ValueError("bound rounds must be some of the rounds, increasing")
    return found


def _measures(cells: Any, change_points: Any) -> tuple[Measures, ...]:
    """Return the measures of each run; none if they are unknown."""
    if len(change_points) not in (0, len(cells)):
        raise ValueError("every run must have change points, or none")
    found = []
    for cell, points in zip(cells, change_points, strict=bool(change_points)):
        values = {name: float(cell[name]) for name in MEASURES}
        if points is not None and not all(type(point) is int for point in points):
            raise TypeError("change points must be whole numbers")
        n_actions, n_rounds, segments = (int(cell[name]) for name in ("n_actions", "n_rounds", "segments"))
        found.append(
            Measures(n_actions, n_rounds, segments, change_points=None if points is None else tuple(points), **values)
        )
        if any(math.isnan(value) for value in values.values()):
            raise ValueError("measures must be numbers")
    return tuple(found)


def _caveat(labels: list[str], label: str, n_runs: Any, reason: Any) -> Caveat:
    if label not in labels or type(n_runs) is not int or not isinstance(reason, str):
        raise ValueError("a caveat must have a label, a number of runs and a reason")
    return Caveat(n_runs, reason)
