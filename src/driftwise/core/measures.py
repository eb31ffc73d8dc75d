"""The three measures of non-stationarity of the paper, and caveats of the tuning rules that use them.

A caveat is a reason why a tuning rule is meaningless for some measures; labels of learners that were tuned by it have a
mark. `tuned` reports the reason. Within a block `with collected()`, the reasons of this thread are collected in a list,
for callers that make many learners; elsewhere each reason becomes a `TuningWarning`.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import operator
import warnings
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field

from driftwise.core.errors import TuningWarning, rejection
from driftwise.core.validation import as_real, require, require_count, require_number

_MOST_BITS = 300  # slopes of bounds need many rounds; their cubes must not overflow


@dataclass(frozen=True)
class Measures:
    r"""Measures of non-stationarity of an environment: number of segments, drift and variance.

    Rules that tune learners take them, and bounds are evaluated with them.

    Parameters
    ----------
    n_actions : int
        Number of actions ($K$), at least 1.
    n_rounds : int
        Number of rounds ($T$), at least 1.
    segments : int
        Number of changes of the means, plus one ($\Gamma$), in [1, n_rounds].
    drift : float
        Total movement of the means ($V$), with the jump from $\mu_0 = 0$; a finite number >= 0.
    variance : float
        Total variance of the losses ($\Lambda$), a finite number >= 0.
    drift_within : float, default nan
        Movement from round 2 on ($V - \|\mu_1\|_\infty$), a finite number >= 0. NaN if unknown: it is set to 0 if there
        is one segment, else to `drift`.
    squared_drift : float, default nan
        Squared Euclidean movement ($\sum_{t \ge 1} \|\mu_t - \mu_{t-1}\|_2^2$), a finite number >= 0. NaN if unknown:
        it is set to the upper bound $K V$.
    change_points : tuple of int, default None
        Rounds, counted from 0, in which the means changed: segments - 1 increasing numbers in [1, n_rounds - 1]. None
        if they are unknown or too many.

    Notes
    -----
    With means $\mu_t$ and $\mu_0 = 0$ (paper, eq. (1)):

    $$ \Gamma = 1 + \sum_{t \ge 2} 1[\mu_t \ne \mu_{t-1}], \quad
       V = \sum_{t \ge 1} \|\mu_t - \mu_{t-1}\|_\infty, \quad
       \Lambda = \sum_t E \|\ell_t - \mu_t\|_2^2 . $$

    References
    ----------
    C.-Y. Wei, Y.-T. Hong, C.-J. Lu, "Tracking the best expert in non-stationary stochastic environments", NIPS (2016).

    Examples
    --------
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
            rule = f"{self.segments - 1} increasing rounds in 1 .. {self.n_rounds - 1}, one for each change"
            try:
                object.__setattr__(self, "change_points", tuple(operator.index(t) for t in self.change_points))
            except TypeError:
                raise rejection(self, "change_points", rule, self.change_points) from None
            increasing = all(a < b for a, b in itertools.pairwise((0, *self.change_points, self.n_rounds)))
            require(self, "change_points", len(self.change_points) == self.segments - 1 and increasing, rule)
        if math.isnan(self.drift_within):
            object.__setattr__(self, "drift_within", 0.0 if self.segments == 1 else self.drift)
        if math.isnan(self.squared_drift):
            # Each step moves K coordinates by at most its maximum norm, which is at most 1.
            object.__setattr__(self, "squared_drift", self.n_actions * self.drift)
            require_number(self, "squared_drift", math.isfinite, "a finite number >= 0")


def trusted_measures(
    n_actions: int,
    n_rounds: int,
    segments: int,
    drift: float,
    variance: float,
    drift_within: float,
    squared_drift: float,
    change_points: tuple[int, ...] | None = None,
) -> Measures:
    """Return measures that the package has computed itself, all of them known, without checking them again."""
    measures = object.__new__(Measures)
    vars(measures).update(
        n_actions=n_actions, n_rounds=n_rounds, segments=segments, drift=drift, variance=variance,
        drift_within=drift_within, squared_drift=squared_drift, change_points=change_points,
    )  # fmt: skip
    return measures


SAYS_NOTHING = "tuning says nothing here"
MARK = "*"

# Not `warnings.catch_warnings`, which affects all threads.
_reasons: ContextVar[list[str] | None] = ContextVar("reasons", default=None)


@contextlib.contextmanager
def collected() -> Iterator[list[str]]:
    """Collect the reasons reported inside, without warnings.

    >>> with collected() as reasons:
    ...     report("FixedShare", "99 changes in 100 rounds")
    >>> reasons
    ['99 changes in 100 rounds']
    """
    reasons: list[str] = []
    token = _reasons.set(reasons)
    try:
        yield reasons
    finally:
        _reasons.reset(token)


def report(who: str, reason: str) -> None:
    """Add a reason to the list of `collected`; outside of it, warn the caller of the function that reports."""
    reasons = _reasons.get()
    if reasons is not None:
        reasons.append(reason)
    else:
        warnings.warn(f"{who}: {SAYS_NOTHING}: {reason}.", TuningWarning, stacklevel=3)


def marked(label: str, caveat: object) -> str:
    """Return a label with the mark if there is a caveat.

    >>> marked("fixed-share (tuned)", "99 changes in 100 rounds"), marked("hedge", None)
    ('fixed-share (tuned) *', 'hedge')
    """
    return f"{label} {MARK}" if caveat else label
