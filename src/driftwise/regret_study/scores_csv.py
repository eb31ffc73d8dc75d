"""All scores as a CSV file: one line per learner, feedback and cell."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from driftwise.core.files import write_atomically
from driftwise.regret_study.study import CellScore

__all__ = ["SCORE_COLUMNS", "write_scores_csv"]

SCORE_COLUMNS = (
    "feedback", "cell", "half", "kind", "n_actions", "n_rounds", "learner", "score", "score_error", "regret",
    "regret_error", "best_regret", "best_regret_error", "n_runs", "best_by_even_runs", "best_by_odd_runs",
    "learner_spec",
)  # fmt: skip


def write_scores_csv(path: str | os.PathLike[str], scores: Sequence[CellScore]) -> None:
    """Write one line per score; numbers have enough digits to be read back equal."""

    def fill(file: Path) -> None:
        with file.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(SCORE_COLUMNS)
            writer.writerows(_line(one) for one in scores)

    write_atomically(path, fill)


def _line(one: CellScore) -> list[Any]:
    cell = one.cell
    place = [one.feedback, cell.name, cell.half, cell.kind, cell.n_actions, cell.n_rounds, one.learner.label]
    return [*place, *one.score, one.tuned[0].label, one.tuned[-1].label, one.learner.player.text]
