"""The study: which cells, learners and runs, and the scores of all learners."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from driftwise.core.errors import rejection
from driftwise.learners import Player
from driftwise.regret_study.cell_regrets import Effort, Stage, measure_cells
from driftwise.regret_study.scored_learners import ScoredLearner
from driftwise.regret_study.scores import Score
from driftwise.regret_study.study_cells import LONG, MEDIUM, SHORT, Cell, cells, quick_cells
from driftwise.regret_study.tuned_learners import tuned_learners

__all__ = ["PRESETS", "CellScore", "Preset", "run_study", "select_cells"]


class Preset(NamedTuple):
    """The extent of the study."""

    cells: tuple[Cell, ...]
    effort: Effort


PRESETS = {
    "quick": Preset(quick_cells(), Effort({SHORT: 16}, most_runs=64)),
    "standard": Preset(cells(), Effort({SHORT: 16, MEDIUM: 12, LONG: 6})),
}


class CellScore(NamedTuple):
    """The score of one learner in one cell."""

    cell: Cell
    feedback: str
    learner: ScoredLearner
    score: Score
    tuned: tuple[Player, ...]  # the best tuned learner; two if even and odd runs choose different ones


def select_cells(some: Sequence[Cell], pattern: str | None = None, half: str | None = None) -> list[Cell]:
    """Return the cells whose name matches a pattern, in which * stands for any text, and that are in this half."""
    candidates = [cell for cell in some if half is None or cell.half == half]
    if pattern is None:
        return candidates
    found = [cell for cell in candidates if fnmatch.fnmatchcase(cell.name, pattern)]
    if not found:
        names = [cell.name for cell in candidates]
        near = difflib.get_close_matches(pattern, names, n=1, cutoff=0.0)[0]
        rule = f"a pattern that matches one of {len(names)} names, such as '{near}'"
        hint = "Preset quick has cells with K = 5 and T = 1000 only." if len(some) < len(cells()) else ""
        raise rejection("regret", "cells", rule, pattern, hint)
    return found


def run_study(
    some: Sequence[Cell],
    learners: Mapping[str, Sequence[ScoredLearner]],
    effort: Effort,
    seed: int,
    folder: Path,
    n_threads: int | None,
    stage: Stage,
) -> list[CellScore]:
    """Return the score of every learner in every cell that fits its feedback; play the runs that are not stored."""
    found = []
    for feedback, scored in learners.items():
        fitting = [cell for cell in some if feedback in cell.feedbacks]
        if not scored or not fitting:
            continue
        tuned = tuned_learners(feedback)
        for regrets in measure_cells(fitting, feedback, scored, tuned, effort, seed, folder, n_threads, stage):
            found += [
                CellScore(regrets.cell, feedback, learner, regrets.score(learner), regrets.best_players)
                for learner in scored
            ]
    return found
