"""Formats of results files: everything as Parquet, or the curves only as CSV. The suffix selects the format."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import TYPE_CHECKING

from driftwise.core.errors import InvalidInput
from driftwise.core.files import write_atomically
from driftwise.results.cell_files import arrow

if TYPE_CHECKING:
    from driftwise.results.results import Results

__all__ = ["check_format", "write_csv"]

_FORMATS = (".parquet", ".csv")
_COLUMNS = ("learner", "run", "round", "regret")


def check_format(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a results file; raise if it is unknown, or if a library to write it is missing."""
    suffix = Path(path).suffix.lower()
    if suffix not in _FORMATS:
        raise InvalidInput(f"results: `path` must end in {', '.join(_FORMATS)}, got {str(path)!r}.")
    if suffix == ".parquet":
        arrow("Writing a Parquet file")
    return suffix


def write_csv(results: Results, path: str | os.PathLike[str]) -> None:
    """Write one line per learner, run and round of the curves; numbers have enough digits to be read back equal."""

    def fill(file: Path) -> None:
        with file.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(_COLUMNS)
            rounds = results.rounds.tolist()
            for label, runs in zip(results.labels, results.regrets, strict=True):
                for run, curve in enumerate(runs):
                    writer.writerows((label, run, t, regret) for t, regret in zip(rounds, curve.tolist(), strict=True))

    write_atomically(path, fill)
