r"""The study: which cells, learners and runs, and the scores of all learners.

Cells are played as sweeps; runs are added where a score is uncertain.

A score is the regret of a learner as a multiple of R*, the regret of the best tuned learner in hindsight. With mean
regrets $R$ of a learner and $R^*$ of the best tuned learner in a cell, it is

$$ \frac{R + a}{R^* + a}, \qquad a = 5 \text{ (full)}, \; a = \lfloor\sqrt T\rfloor / 4 \text{ (bandit feedback)} . $$

The offset $a$ keeps the score meaningful where both regrets are almost 0, and hides differences where both are small.
So the raw ratio $R / R^*$ and the scores with $a = 1$ and $a = 0.25$, with both feedbacks, are reported beside it. The
raw ratio has a value only where both regrets are above 0.

The least of many mean regrets is too low on the runs by which it was found. So the tuned learner is chosen by its mean
over the even runs and contributes its regret in the odd ones, and the other way round. $R^*$ is the mean over all runs
of what was contributed.

Realised regrets, which families of dependent rounds have (`families.py`), may be below 0 on average: the learner does
better than its comparator. In the score, such a mean counts as 0.

With the regrets $r_i$ of the learner and $c_i$ of the tuned one in run $i$, the score is a ratio of two means over the
same $n$ runs. Its standard error, by the delta method, is $s / \sqrt n$, where $s$ is the standard deviation of
$(r_i - \text{score} \cdot c_i) / (R^* + a)$. It does not include the choice of the tuned learner.
"""

from __future__ import annotations

import contextlib
import difflib
import fnmatch
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from driftwise.core.errors import DriftwiseError, rejection
from driftwise.core.types import Matrix, Vector
from driftwise.learners import Player
from driftwise.regret_study.study_design import (
    LONG,
    MEDIUM,
    SHORT,
    ScoredLearner,
    StudyCell,
    cells,
    quick_cells,
    tuned_learners,
)
from driftwise.sweeps import Progress, Sweep, run_sweeps
from driftwise.sweeps.work import Costs

_OFFSET_FULL = 5.0
_OFFSET_BANDIT = 0.25  # times the root of the number of rounds
OFFSETS = (0.0, 1.0, 0.25)  # beside that of the score; 0 is the raw ratio
#: makes the function that is told of the progress of a stage, from its description
Stage = Callable[[str], contextlib.AbstractContextManager[Callable[[Progress], None] | None]]
_CONTENDER = 4.0  # standard errors by which a tuned learner may be worse than the best and still get more runs


class AnyCell(Protocol):
    """What is known of a cell while it is measured."""

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def n_rounds(self) -> int: ...  # noqa: D102


C = TypeVar("C", bound=AnyCell)
#: what is played next: players and a number of runs by name of the cell
Pending = Mapping[str, tuple[tuple[Player, ...], int]]
#: plays what is pending, under a title, and returns the regrets of each player in each run by name of the cell
Play = Callable[[str, Pending], Mapping[str, Mapping[Player, Vector]]]


class BestTuned(NamedTuple):
    """The best tuned learner of a cell: the regret that it contributes in each run, and which learners these are."""

    regrets: Vector
    by_even_runs: int  # the learner that was chosen by the even runs, which counts in the odd ones
    by_odd_runs: int


class Score(NamedTuple):
    """The score of a learner in a cell with its standard error, and both mean regrets with theirs."""

    value: float
    error: float
    regret: float
    regret_error: float
    best_regret: float
    best_regret_error: float
    n_runs: int


def offset(feedback: str, n_rounds: int) -> float:
    """Return the offset of both regrets.

    >>> offset("full", 1000), offset("bandit", 1000)
    (5.0, 7.75)
    """
    return _OFFSET_FULL if feedback == "full" else _OFFSET_BANDIT * math.isqrt(n_rounds)


def best_tuned(regrets: Matrix) -> BestTuned:
    """Return the best tuned learner, from the regret of each learner (row) in each run (column); runs are even."""
    best_regrets = regrets[0].copy()
    chosen = [int(np.argmin(regrets[:, half::2].mean(axis=1))) for half in (0, 1)]
    for half in (0, 1):
        best_regrets[1 - half :: 2] = regrets[chosen[half], 1 - half :: 2]
    return BestTuned(best_regrets, *chosen)


def score(regrets: Vector, best_regrets: Vector, offset: float) -> Score:
    """Return the score from the regrets of a learner and of the best tuned one in the same runs.

    >>> score(np.array([9.0, 11.0]), np.array([2.0, 3.0]), offset=5.0).value
    2.0
    """
    regret, best_regret = float(regrets.mean()), float(best_regrets.mean())
    scale = max(0.0, best_regret) + offset
    value = (max(0.0, regret) + offset) / scale
    error = _standard_error(regrets - value * best_regrets) / scale
    errors = _standard_error(regrets), _standard_error(best_regrets)
    return Score(value, error, regret, errors[0], best_regret, errors[1], len(regrets))


def at_offset(score: Score, offset: float) -> float | None:
    """Return the score with another offset; None for the raw ratio, with offset 0, unless both regrets are above 0.

    >>> nine_by_three = score(np.array([9.0, 9.0]), np.array([3.0, 3.0]), offset=5.0)
    >>> nine_by_three.value, [at_offset(nine_by_three, a) for a in (0.0, 1.0)]
    (1.75, [3.0, 2.5])
    """
    regret, best_regret = max(0.0, score.regret), max(0.0, score.best_regret)
    return (regret + offset) / (best_regret + offset) if offset or (regret > 0 and best_regret > 0) else None


def _standard_error(values: Vector) -> float:
    return float(values.std(ddof=1)) / math.sqrt(len(values))


@dataclass(frozen=True)
class Effort:
    """How many runs are played: the first ones by number of rounds, and more until the error is small enough."""

    first_runs: Mapping[int, int]  # even numbers
    most_runs: int = 200
    largest_error: float = 0.1  # of the score of the first learner

    def __post_init__(self) -> None:
        assert all(n % 2 == 0 for n in (*self.first_runs.values(), self.most_runs))


@dataclass(frozen=True)
class CellRegrets(Generic[C]):
    """The regrets of scored and tuned learners in one cell with one feedback, by player; runs are the same for all."""

    cell: C
    feedback: str
    scored: tuple[ScoredLearner, ...]
    tuned: tuple[Player, ...]
    regrets: Mapping[Player, Vector]  # tuned learners that cannot be the best have fewer runs

    @property
    def n_runs(self) -> int:
        """The number of runs of the scored learners."""
        return len(self.regrets[self.scored[0].player])

    @functools.cached_property
    def contestants(self) -> list[Player]:
        """The tuned learners that have played all runs."""
        return [player for player in self.tuned if len(self.regrets[player]) == self.n_runs]

    @functools.cached_property
    def best(self) -> BestTuned:
        """The best of the contestants."""
        return best_tuned(np.array([self.regrets[player] for player in self.contestants]))

    @property
    def best_players(self) -> tuple[Player, ...]:
        """The best tuned learner; two if even and odd runs choose different ones."""
        chosen = (self.best.by_even_runs, self.best.by_odd_runs)
        return tuple(dict.fromkeys(self.contestants[i] for i in chosen))

    def score(self, learner: ScoredLearner) -> Score:
        """Return the score of a learner."""
        return score(self.regrets[learner.player], self.best.regrets, offset(self.feedback, self.cell.n_rounds))

    def contenders(self) -> list[Player]:
        """Return the contestants that may be the best: by their means, up to a few standard errors."""
        best = min((self.regrets[player] for player in self.contestants), key=np.mean)
        excess = {player: self.regrets[player] - best for player in self.contestants}
        root = math.sqrt(self.n_runs)
        return [player for player, some in excess.items() if some.mean() <= _CONTENDER * some.std(ddof=1) / root]


def measure_cells(
    cells: Sequence[StudyCell],
    feedback: str,
    scored: Sequence[ScoredLearner],
    tuned: Sequence[Player],
    effort: Effort,
    seed: int,
    folder: Path,
    n_threads: int | None,
    stage: Stage,
) -> list[CellRegrets[StudyCell]]:
    """Return the regrets of all learners in each cell; play the runs that the folder does not have."""
    by_name, costs = {cell.name: cell for cell in cells}, Costs()

    def play(title: str, pending: Pending) -> dict[str, dict[Player, Vector]]:
        sweeps = [
            Sweep({name: by_name[name].source}, [*players], by_name[name].n_rounds, n_runs, seed)
            for name, (players, n_runs) in pending.items()
        ]
        with stage(title) as progress:
            results = run_sweeps(sweeps, folder, n_threads=n_threads, progress=progress, costs=costs)
        regrets = {}
        for (name, (players, n_runs)), played in zip(pending.items(), results, strict=True):
            for place, _, run, error in played.failures()[:1]:
                raise DriftwiseError(f"regret: '{place.learner}' in '{place.environment}', run {run}: {error}")
            regrets[name] = dict(zip(players, played.cells.final.reshape(len(players), n_runs), strict=True))
        return regrets

    return measure_until_precise(cells, feedback, scored, lambda _: tuned, effort, play)


def measure_until_precise(
    cells: Sequence[C],
    feedback: str,
    scored: Sequence[ScoredLearner],
    tuned: Callable[[C], Sequence[Player]],
    effort: Effort,
    play: Play,
) -> list[CellRegrets[C]]:
    """Return the regrets of all learners in each cell; `tuned` returns the tuned learners of a cell.

    Each cell starts with the first runs of all learners. As long as the score of the first scored learner is not
    precise enough, the runs are doubled. Tuned learners that cannot be the best any more play no further runs.
    """
    measured = {cell.name: CellRegrets(cell, feedback, tuple(scored), tuple(tuned(cell)), {}) for cell in cells}
    pending = {
        cell.name: (_players(scored, measured[cell.name].tuned), effort.first_runs[cell.n_rounds]) for cell in cells
    }
    prefix = ""
    while pending:
        title = f"{feedback} feedback: {prefix}{len(pending)} cell{'s' if len(pending) > 1 else ''}"
        for name, added in play(title, pending).items():
            measured[name] = replace(measured[name], regrets={**measured[name].regrets, **added})
        pending = {
            name: (_players(scored, measured[name].contenders()), min(effort.most_runs, 2 * n_runs))
            for name, (_, n_runs) in pending.items()
            if n_runs < effort.most_runs and measured[name].score(scored[0]).error > effort.largest_error
        }
        prefix = "more runs in "
    return [measured[cell.name] for cell in cells]


def _players(scored: Sequence[ScoredLearner], tuned: Sequence[Player]) -> tuple[Player, ...]:
    """Return the players, each once: a learner may be scored and be among the tuned ones."""
    return tuple(dict.fromkeys([*(learner.player for learner in scored), *tuned]))


class StudyPreset(NamedTuple):
    """The extent of the study."""

    cells: tuple[StudyCell, ...]
    effort: Effort


PRESETS = {
    "quick": StudyPreset(quick_cells(), Effort({SHORT: 16}, most_runs=64)),
    "standard": StudyPreset(cells(), Effort({SHORT: 16, MEDIUM: 12, LONG: 6})),
}


class CellScore(NamedTuple):
    """The score of one learner in one cell."""

    cell: StudyCell
    feedback: str
    learner: ScoredLearner
    score: Score
    tuned: tuple[Player, ...]  # the best tuned learner; two if even and odd runs choose different ones


def select_cells(some: Sequence[StudyCell], pattern: str | None = None, half: str | None = None) -> list[StudyCell]:
    """Return the cells whose name matches a pattern, in which * stands for any text, and that are in this half."""
    hint = "Preset quick has cells with K = 5 and T = 1000 only." if len(some) < len(cells()) else ""
    return matching_cells([cell for cell in some if half is None or cell.half == half], pattern, hint)


def matching_cells(some: Sequence[C], pattern: str | None, hint: str = "") -> list[C]:
    """Return the cells whose name matches a pattern, in which * stands for any text; all if it is None."""
    matches = [cell for cell in some if pattern is None or fnmatch.fnmatchcase(cell.name, pattern)]
    if pattern is not None and not matches:
        names = [cell.name for cell in some]
        near = difflib.get_close_matches(pattern, names, n=1, cutoff=0.0)[0]
        rule = f"a pattern that matches one of {len(names)} names, such as '{near}'"
        raise rejection("regret", "cells", rule, pattern, hint)
    return matches


def run_study(
    some: Sequence[StudyCell],
    learners: Mapping[str, Sequence[ScoredLearner]],
    effort: Effort,
    seed: int,
    folder: Path,
    n_threads: int | None,
    stage: Stage,
) -> list[CellScore]:
    """Return the score of every learner in every cell that fits its feedback; play the runs that are not stored."""
    scores = []
    for feedback, scored in learners.items():
        fitting = [cell for cell in some if feedback in cell.feedbacks]
        if not scored or not fitting:
            continue
        tuned = tuned_learners(feedback)
        for regrets in measure_cells(fitting, feedback, scored, tuned, effort, seed, folder, n_threads, stage):
            scores += [
                CellScore(regrets.cell, feedback, learner, regrets.score(learner), regrets.best_players)
                for learner in scored
            ]
    return scores
