"""Cells as a CSV file: one line per cell."""

from __future__ import annotations

import csv
import math
import os
from pathlib import Path
from typing import Any

from driftwise.core.files import write_atomically
from driftwise.results.cell_table import CellTable
from driftwise.results.cells import REALS
from driftwise.results.sweep_labels import CellLabels

__all__ = ["CSV_COLUMNS", "write_cells_csv"]

_SPECS = {"environment_spec": "environment", "learner_spec": "learner"}
_FIRST = ("environment", "learner", "n_rounds", "seed", "run", "regret", "bound", "error")
_LATER = ("comparator", "play", "kind", "n_actions", "segments", *REALS, "caveat", "machine")
CSV_COLUMNS = (*_FIRST, *_LATER, *_SPECS)


def write_cells_csv(
    path: str | os.PathLike[str], table: CellTable, environments: CellLabels, learners: CellLabels
) -> None:
    """Write one line per cell, with the regret and the bound at its last marked round.

    A number that is unknown is an empty field; others have enough digits to be read back equal.
    """
    columns = [_column(table, name, environments, learners) for name in CSV_COLUMNS]

    def fill(file: Path) -> None:
        with file.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(CSV_COLUMNS)
            writer.writerows(zip(*columns, strict=True))

    write_atomically(path, fill)


def _column(table: CellTable, name: str, environments: CellLabels, learners: CellLabels) -> list[Any]:
    if name in ("environment", "learner"):
        return [*(environments if name == "environment" else learners).texts]
    if name == "regret":
        return _known(table.final.tolist())
    if name == "bound":
        return _known(table.bound[table.offsets[1:] - 1].tolist())
    if name in table.texts or name in _SPECS:
        column = _SPECS.get(name, name)
        texts = [text.rstrip(" ") if name in _SPECS else text for text in table.texts[column]]
        return [texts[code] for code in table.cells[column].tolist()]
    values: list[Any] = table.cells[name].tolist()
    return _known(values) if name in REALS else [value or "" for value in values] if name == "segments" else values


def _known(values: list[float]) -> list[float | str]:
    return ["" if math.isnan(value) else value for value in values]
