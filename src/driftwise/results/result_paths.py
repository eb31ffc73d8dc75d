"""Where results are read from: folders of stored cells, and files of cells."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from driftwise.core.errors import BadFile, InvalidInput
from driftwise.core.file_names import shown_path
from driftwise.core.spec_text import is_unicode
from driftwise.results import results_file
from driftwise.results.cell_files import read_cells
from driftwise.results.cell_groups import distinct_cells
from driftwise.results.cell_table import CellTable
from driftwise.results.store import DamagedFile, Snapshot, read_store

__all__ = ["Cells", "read_paths"]


class Cells(NamedTuple):
    """Cells of several folders and files."""

    table: CellTable
    labels: dict[str, dict[str, str]]
    damaged: tuple[DamagedFile, ...]
    n_repeated: int


def read_paths(paths: Sequence[str | os.PathLike[str]]) -> Cells:
    """Return the cells of folders and files; nothing is changed there. The first label of a spec is taken."""
    if not paths:
        raise InvalidInput("SweepResults: `paths` must have at least one folder or file, got none.")
    found = [_read(path) for path in paths]
    table = CellTable.concatenate([one.table for one in found])
    distinct = distinct_cells(table)
    labels = {
        name: {spec: label for one in reversed(found) for spec, label in one.labels[name].items()}
        for name in ("environments", "learners")
    }
    damaged = tuple(file for one in found for file in one.damaged)
    return Cells(distinct, labels, damaged, len(table) - len(distinct))


def _read(path: str | os.PathLike[str]) -> Snapshot:
    if os.path.isdir(path):  # noqa: PTH112 (a Path raises where the name is too long)
        snapshot = read_store(path)
        files = [DamagedFile(shown_path(Path(path) / file.name), file.reason) for file in snapshot.damaged]
        return snapshot._replace(damaged=tuple(files))
    if not os.path.lexists(path):
        raise BadFile(f"There is no file or folder {shown_path(path)}.")
    table, extra = read_cells(path)
    labels = {name: _texts(extra.get("labels"), name) for name in ("environments", "learners")}
    if "results" in extra:
        table, labels["learners"] = _labelled(table, results_file.fields(path, table, extra))
    return Snapshot(table, labels, ())


def _texts(sections: object, name: str) -> dict[str, str]:
    """Return the labels of a section that are texts."""
    section = sections.get(name) if isinstance(sections, dict) else None
    entries = section.items() if isinstance(section, dict) else ()
    return {spec: label for spec, label in entries if isinstance(label, str) and is_unicode(spec + label)}


def _labelled(table: CellTable, results: dict[str, object]) -> tuple[CellTable, dict[str, str]]:
    """Return the cells of one simulation with the labels of its learners, by spec as text.

    The same learner may be there several times, with other random numbers: spaces after its spec distinguish these. A
    file has the number of runs to which a caveat applies, and not which runs: the first ones have it.
    """
    given, caveats, n_runs = results["labels"], results["caveats"], results["n_runs"]
    assert isinstance(given, tuple) and isinstance(caveats, dict) and isinstance(n_runs, int)  # noqa: PT018
    cells = table.cells.copy().reshape(len(given), n_runs)
    texts, reasons = list(table.texts["learner"]), list(table.texts["caveat"])
    labels: dict[str, str] = {}
    for label, row in zip(given, cells, strict=True):
        text = texts[row["learner"][0]]
        while text in labels:
            text += " "
        if text not in texts:
            texts.append(text)
        row["learner"] = texts.index(text)
        labels[text] = label
        if label in caveats:
            reasons += [] if "" in reasons else [""]
            row["caveat"][caveats[label].n_runs :] = reasons.index("")
    changed = {**table.texts, "learner": tuple(texts), "caveat": tuple(reasons)}
    return CellTable(np.ravel(cells), changed, table.offsets, table.round, table.regret, table.bound), labels
