r"""Tuning rules of the theorems: parameters as functions of the measures.

"paper" is the rule as printed, corrected as in ``docs/errata.md``; "sharp" minimises the corrected bound and is not in
the paper.
"""

from __future__ import annotations

import math

from driftwise.core.measures import Measures
from driftwise.theory.pathwise import COARSE


def rerun_ucbv_restart_every(measures: Measures, rule: str = "paper") -> int:
    r"""Return the block length $B$ of Rerun-UCB-V, eq. (2) of the paper.

    $B = (K^2 \Lambda T / V^2)^{1/3}$ if $K \Lambda^2 \ge T V$, else $\sqrt{K T / V}$. The sharp rule uses
    $\sum_i \sqrt{\Lambda_i} \le \sqrt{K \Lambda}$: $(K \Lambda T / V^2)^{1/3}$ if $\Lambda^2 \ge K T V$.
    """
    K, T, V, L = measures.n_actions, measures.n_rounds, measures.drift, measures.variance
    if V**2 == 0:
        return T
    if rule == "sharp":
        block = (K * L * T / V**2) ** (1 / 3) if L**2 >= K * T * V else math.sqrt(K * T / V)
    else:
        block = (K**2 * L * T / V**2) ** (1 / 3) if K * L**2 >= T * V else math.sqrt(K * T / V)
    return _whole(block, T)


def ucbv_failure(measures: Measures, failure: str = "paper") -> float:
    r"""Return $\delta$: the paper's $1/(KT)$, or $1/(3KT^2)$ for both sides and every number of plays."""
    K, T = measures.n_actions, measures.n_rounds
    # With K = T = 1 the paper's value is 1, for which the radius is not defined.
    return min(0.5, 1 / (3 * K * T**2) if failure == "rigorous" else 1 / (K * T))


def gd_rate(measures: Measures, comparator_segments: int | None = None, rule: str = "paper") -> float:
    r"""Return $\eta$ of optimistic gradient descent.

    Theorem 3.2 (dev): $\sqrt{\Gamma / (\Lambda + K \Gamma)}$. Lemma C.1 (lem:dev), against $N$ segments:
    $\sqrt{N / (\Lambda + K V)}$. Sharp, the minimiser of the corrected bound:
    $\sqrt{8 N / (2 \Lambda + \sum_t \|\mu_t - \mu_{t-1}\|_2^2)}$.
    """
    K, L = measures.n_actions, measures.variance
    if rule == "sharp":
        N = comparator_segments or measures.segments
        return _root(8 * N, 2 * L + measures.squared_drift)
    if comparator_segments is None:
        return _root(measures.segments, L + K * measures.segments)
    return _root(comparator_segments, L + K * measures.drift)


def restarted_gd_restart_every(measures: Measures, rule: str = "paper") -> int:
    r"""Return the block length of Theorem 3.3 (full_info_given_V).

    $B = (\Lambda T / V^2)^{1/3}$ if $\Lambda T > V^2$, else 1. Sharp, the minimiser of $8.25 \sqrt{2 \Lambda T / B} +
    2 B V'$, the part of the corrected bound that depends on it: $(8.25^2 \Lambda T / (8 V'^2))^{1/3}$.
    """
    T, L = measures.n_rounds, measures.variance
    V = measures.drift_within if rule == "sharp" else measures.drift
    if V**2 == 0:
        return T
    ratio = L * T / V**2
    return _whole((COARSE**2 / 8 * ratio if rule == "sharp" else ratio) ** (1 / 3), T)


def aomd_scale(measures: Measures) -> float:
    r"""Return $2 \sqrt{\Gamma + 1}$, which minimises the bound of AOMD with one phase (`pathwise_meta.aomd_coarse`)."""
    return 2 * math.sqrt(measures.segments + 1)


def discount(measures: Measures) -> float:
    r"""Return $\gamma = 1 - \frac14 \sqrt{\Upsilon / T}$ of discounted UCB, with $\Upsilon = \Gamma - 1$ changes."""
    return 1 - math.sqrt((measures.segments - 1) / measures.n_rounds) / 4


def window(measures: Measures) -> int | None:
    r"""Return $\tau = 2 \sqrt{T \ln T / \Upsilon}$ of sliding-window UCB; None if that is $T$ or more.

    It is at least $K$, since with a shorter window the actions would be played in turn forever.
    """
    T, changes = measures.n_rounds, measures.segments - 1
    length = max(measures.n_actions, math.ceil(2 * math.sqrt(T * math.log(T) / changes))) if changes else T
    return length if length < T else None


def _whole(block: float, n_rounds: int) -> int:
    # Rounding up reduces the number of blocks and at most doubles the drift within one.
    return n_rounds if block >= n_rounds else max(1, math.ceil(block))


def _root(numerator: float, denominator: float) -> float:
    return math.sqrt(numerator / denominator) if denominator > 0 else math.inf
