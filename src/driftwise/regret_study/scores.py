r"""Scores: the regret of a learner as a multiple of R*, the regret of the best tuned learner in hindsight.

With mean regrets $R$ of a learner and $R^*$ of the best tuned learner in a cell, the score is

$$ \frac{R + a}{R^* + a}, \qquad a = 5 \text{ (full)}, \; a = \lfloor\sqrt T\rfloor / 4 \text{ (bandit feedback)} . $$

The offset $a$ keeps the score meaningful where both regrets are almost 0.

The least of many mean regrets is too low on the runs by which it was found. So the tuned learner is chosen by its mean
over the even runs and contributes its regret in the odd ones, and the other way round. $R^*$ is the mean over all runs
of what was contributed.

With the regrets $r_i$ of the learner and $c_i$ of the tuned one in run $i$, the score is a ratio of two means over the
same $n$ runs. Its standard error, by the delta method, is $s / \sqrt n$, where $s$ is the standard deviation of
$(r_i - \text{score} \cdot c_i) / (R^* + a)$. It does not include the choice of the tuned learner.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from driftwise.core.types import Matrix, Vector

__all__ = ["BestTuned", "Score", "best_tuned", "offset", "score"]

_OFFSET_FULL = 5.0
_OFFSET_BANDIT = 0.25  # times the root of the number of rounds


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
    found = regrets[0].copy()
    chosen = [int(np.argmin(regrets[:, half::2].mean(axis=1))) for half in (0, 1)]
    for half in (0, 1):
        found[1 - half :: 2] = regrets[chosen[half], 1 - half :: 2]
    return BestTuned(found, *chosen)


def score(regrets: Vector, best_regrets: Vector, offset: float) -> Score:
    """Return the score from the regrets of a learner and of the best tuned one in the same runs.

    >>> score(np.array([9.0, 11.0]), np.array([2.0, 3.0]), offset=5.0).value
    2.0
    """
    regret, best_regret = float(regrets.mean()), float(best_regrets.mean())
    value = (regret + offset) / (best_regret + offset)
    error = _standard_error(regrets - value * best_regrets) / (best_regret + offset)
    errors = _standard_error(regrets), _standard_error(best_regrets)
    return Score(value, error, regret, errors[0], best_regret, errors[1], len(regrets))


def _standard_error(values: Vector) -> float:
    return float(values.std(ddof=1)) / math.sqrt(len(values))
