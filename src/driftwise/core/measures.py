r"""How non-stationary an environment is, in the three numbers of the paper.

With means $\mu_t$ and $\mu_0 = 0$ (paper, eq. (1)):

$$ \Gamma = 1 + \sum_{t \ge 2} 1[\mu_t \ne \mu_{t-1}], \quad
   V = \sum_{t \ge 1} \|\mu_t - \mu_{t-1}\|_\infty, \quad
   \Lambda = \sum_t E \|\ell_t - \mu_t\|_2^2 . $$
"""

from __future__ import annotations

import itertools
import math
import operator
from dataclasses import dataclass, field

from driftwise.core.errors import rejection
from driftwise.core.validation import as_real, require, require_count, require_number

__all__ = ["Measures"]

_MOST_BITS = 300  # more rounds than anyone plays, for slopes of bounds; their cubes are still numbers


@dataclass(frozen=True)
class Measures:
    r"""What a tuned learner may know about its environment.

    =================  ==================  =================================================================
    symbol             name in the code    meaning
    =================  ==================  =================================================================
    $K$                `n_actions`         actions
    $T$                `n_rounds`          rounds
    $\Gamma$           `segments`          changes of the mean, plus one
    $V$                `drift`             movement of the mean, with the jump from $\mu_0 = 0$
    $\Lambda$          `variance`          total variance of the losses
    $V - \|\mu_1\|$    `drift_within`      movement from round 2 on; at most `drift`, which stands for it when unknown
    $\sum \|d\mu\|^2$  `squared_drift`     squared Euclidean movement, with the first jump; bounded when unknown
    -                  `change_points`     rounds, from 0, at which the mean changed; None if unknown or too many
    =================  ==================  =================================================================

    >>> Measures(n_actions=2, n_rounds=100, segments=3, drift=2.0, variance=10.0).drift_within
    2.0
    """

    n_actions: int
    n_rounds: int
    segments: int
    drift: float
    variance: float
    drift_within: float = math.nan
    squared_drift: float = math.nan
    change_points: tuple[int, ...] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        require_count(self, "n_actions")
        require_count(self, "n_rounds", most_bits=_MOST_BITS)
        require_count(self, "segments", most_bits=_MOST_BITS)
        require(self, "segments", self.segments <= self.n_rounds, f"<= n_rounds = {self.n_rounds}")
        for name in ("drift", "variance"):
            require_number(self, name, lambda x: 0 <= x < math.inf, "a finite number >= 0")
        for name in ("drift_within", "squared_drift"):  # NaN where unknown
            real = as_real(getattr(self, name))
            require(self, name, real is not None and not real < 0 and real != math.inf, "a finite number >= 0")
            object.__setattr__(self, name, real)
        if self.change_points is not None:
            rule = f"{self.segments - 1} rising rounds in 1 .. {self.n_rounds - 1}, one for each change"
            try:
                object.__setattr__(self, "change_points", tuple(operator.index(t) for t in self.change_points))
            except TypeError:
                raise rejection(self, "change_points", rule, self.change_points) from None
            rising = all(a < b for a, b in itertools.pairwise((0, *self.change_points, self.n_rounds)))
            require(self, "change_points", len(self.change_points) == self.segments - 1 and rising, rule)
        if math.isnan(self.drift_within):
            object.__setattr__(self, "drift_within", 0.0 if self.segments == 1 else self.drift)
        if math.isnan(self.squared_drift):
            # Each step moves K coordinates by at most its maximum norm, which is at most 1.
            object.__setattr__(self, "squared_drift", self.n_actions * self.drift)
            require_number(self, "squared_drift", math.isfinite, "a finite number >= 0")
