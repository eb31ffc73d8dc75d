"""Summaries of the scores of a learner: geometric means, the worst cell, and how many scores are above 2."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from driftwise.regret_study.study import CellScore
from driftwise.regret_study.study_cells import KINDS
from driftwise.regret_study.study_learners import ScoredLearner

__all__ = ["BAD", "ScoreSummary", "geometric_mean", "summaries", "summary"]

BAD = 2.0  # scores above are counted


class ScoreSummary(NamedTuple):
    """The scores of one learner in several cells."""

    learner: ScoredLearner
    n_cells: int
    mean: float  # geometric
    error: float  # its standard error
    worst: CellScore
    n_bad: int  # cells with a score above `BAD`
    by_kind: Mapping[str, float]  # geometric means by kind of environment


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean of positive numbers.

    >>> geometric_mean([1.0, 4.0])
    2.0
    """
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def summary(scores: Sequence[CellScore]) -> ScoreSummary:
    """Return the summary of the scores of one learner."""
    mean = geometric_mean([one.score.value for one in scores])
    # The logarithm of a score has the standard error error / value.
    error = mean * math.hypot(*(one.score.error / one.score.value for one in scores)) / len(scores)
    by_kind = {}
    for kind in KINDS:
        if some := [one.score.value for one in scores if one.cell.kind == kind]:
            by_kind[kind] = geometric_mean(some)
    return ScoreSummary(
        scores[0].learner,
        len(scores),
        mean,
        error,
        max(scores, key=lambda one: one.score.value),
        sum(one.score.value > BAD for one in scores),
        by_kind,
    )


def summaries(scores: Sequence[CellScore], feedback: str, half: str | None) -> list[ScoreSummary]:
    """Return the summary of each learner with this feedback, in one half or in both (None).

    The default learner comes first, then the others by their geometric mean.
    """
    by_learner: dict[str, list[CellScore]] = {}
    for one in scores:
        if one.feedback == feedback and half in (None, one.cell.half):
            by_learner.setdefault(one.learner.label, []).append(one)
    found = [summary(some) for some in by_learner.values()]
    return sorted(found, key=lambda one: (not one.learner.is_default, one.mean))
