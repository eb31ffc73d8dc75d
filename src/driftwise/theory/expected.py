r"""Upper bounds on the expected regret, dynamic unless another is named, with every constant explicit.

Each takes `Measures` and the learner's parameters, so it holds for any parameters and after any number of rounds, not
only for the tuned learner at the end. They are the corrected forms of the paper's theorems (see ``docs/errata.md``).
Write $E D = E \sum_t \|\ell_t - \ell_{t-1}\|_2^2 \le 2 \Lambda + \sum_t \|\mu_t - \mu_{t-1}\|_2^2$, and
$D_\infty$ for the same sum in the largest norm.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from driftwise.core.measures import Measures
from driftwise.theory.pathwise import COARSE


def deviation(measures: Measures) -> float:
    r"""Bound $E D$ (eq. (10) in the proof of Lemma C.1, lem:dev)."""
    return 2 * measures.variance + measures.squared_drift


def largest_deviation(measures: Measures) -> float:
    r"""Bound $E D_\infty$ by $\min\{T, E D\}$: each loss in $[0, 1]$ moves by at most 1 in a round.

    >>> largest_deviation(Measures(n_actions=10, n_rounds=100, segments=1, drift=0.5, variance=240.0))
    100.0
    """
    return min(float(measures.n_rounds), deviation(measures))


def optimistic_gd(measures: Measures, learning_rate: float, prox_scale: float = 1.0) -> float:
    r"""Theorem 3.2 (dev): `optimistic_gd_against` $\Gamma$ segments, or its drifting form if that is less.

    The drifting form compares with the best action of each of $N$ equal blocks, which adds $2 \lceil T/N \rceil V'$
    (proof of Theorem 3.3, full_info_given_V), for the best $N$ of a grid.
    """

    def against(segments: int) -> float:
        return optimistic_gd_against(measures, learning_rate, segments, prox_scale)

    return min(against(measures.segments), drifting(against, measures))


def optimistic_gd_against(measures: Measures, learning_rate: float, n_segments: int, prox_scale: float = 1.0) -> float:
    r"""Lemma C.1 (lem:dev), against any $N$ segments: $(\eta/4)\, E D + (1 - 1/K + 2(N - 1)) / \eta$."""
    eta, D = learning_rate / prox_scale, deviation(measures)
    noise = eta * D / 4 if D else 0.0
    return min(measures.n_rounds, noise + (1 - 1 / measures.n_actions + 2 * (n_segments - 1)) / eta)


def restarted_adaptive_gd(measures: Measures, restart_every: int | None) -> float:
    r"""Theorem 3.3 (full_info_given_V): $8.25 (\sqrt{2 M \Lambda} + \sqrt{K} V) + 2 B V'$ with $M = \lceil T/B \rceil$.

    Or, by Cauchy-Schwarz over all blocks together, $8.25 \sqrt{M\, E D} + 2 B V'$, if that is less. $V'$ is the drift
    without the jump from $\mu_0$: only movement within a block matters for the regret of its best fixed action.
    """
    T = measures.n_rounds
    B = min(restart_every or T, T)
    blocks = math.ceil(T / B)
    apart = math.sqrt(2 * blocks * measures.variance) + math.sqrt(measures.n_actions) * measures.drift
    at_once = math.sqrt(blocks * deviation(measures))
    return min(T, COARSE * min(apart, at_once) + 2 * B * measures.drift_within)


def adapt_ml_prod(measures: Measures) -> float:
    r"""Theorem 3.4 (RTk_bound) in the corrected closed form, against one fixed action, however the means change.

    $R \le (2g + L) \sqrt{(1 + 2 E D) / g} + 4 g + 4 L + 1$, $g = \ln K$,
    $L = \ln(1 + (K/e)(1 + \ln(T+1)))$.
    """
    K, T = measures.n_actions, measures.n_rounds
    if K == 1:
        return 0.0
    g = math.log(K)
    price = math.log(1 + K / math.e * (1 + math.log(T + 1)))
    root = math.sqrt((1 + 2 * deviation(measures)) / g)
    return min(T, (2 * g + price) * root + 4 * g + 4 * price + 1)


def sleeping_adapt_ml_prod(measures: Measures, n_rounds: int | None) -> float:
    """Theorem 3.5 (dynamic_upper_full-into): `sleeping_adapt_ml_prod_against` the best number of segments.

    That is the number of segments of the means, or a number of equal blocks, which adds the drift within a block.
    """

    def against(segments: int) -> float:
        return sleeping_adapt_ml_prod_against(measures, n_rounds, segments)

    return min(against(measures.segments), drifting(against, measures))


def sleeping_adapt_ml_prod_against(measures: Measures, n_rounds: int | None, n_segments: int) -> float:
    r"""Lemma F.3 (ML-dev), against any comparator with $N$ segments.

    $N (4 g + 4 L + 1) + (2 g + L) \sqrt{N (N + 2 E D) / g}$, with $g = \ln(KT)$ and
    $L = \ln(1 + (K T / e)(1 + \ln(T + 1)))$. Without `n_rounds` (flat prior) row $s$ has $g_s = \ln(K(s+1))$ and prior
    weight $1/K$, and the bound is
    $N (4 L' + 1) + (2 \sqrt{\ln(K(T+1))} + L' / \sqrt{\ln 2K}) \sqrt{N (N + 2 E D)}$,
    $L' = \ln(K T (1 + (1 + \ln(T+1))/e))$.
    """
    K, T, N = measures.n_actions, measures.n_rounds, n_segments
    if K == 1:
        return 0.0
    growth = (1 + math.log(T + 1)) / math.e
    if n_rounds is not None:
        g = math.log(K * n_rounds)
        # Each expert that starts after round `n_rounds` adds 1/(K n_rounds) to the sum of the prior weights.
        price = math.log(max(1.0, T / n_rounds) + K * T * growth)
        segment_cost, slope = 4 * g + 4 * price + 1, (2 * g + price) / math.sqrt(g)
    else:
        price = math.log(K * T * (1 + growth))
        segment_cost = 4 * price + 1
        slope = 2 * math.sqrt(math.log(K * (T + 1))) + price / math.sqrt(math.log(2 * K))
    return min(T, N * segment_cost + slope * math.sqrt(N * (N + 2 * deviation(measures))))


def rerun_ucbv(
    measures: Measures,
    restart_every: int | None,
    failure_probability: float,
    double_variance: bool = False,
    log_scale: float = 1.0,
) -> float | None:
    r"""Theorem 3.1 (bandit-u), explicit: per block of $n \le B$ rounds, summed over $M$ blocks by Cauchy-Schwarz.

    $M (2K + \tfrac{14}{3} L K (1 + \ln B) + 1.5 K B^2 \delta) + 4 \sqrt{L K M \Lambda} (1 + \ln B)
    + 8 V' \sqrt{L K B} + 2 B V'$, $L = \ln(2/\delta)$. It is loose: for small $T$ it exceeds $T$. None for a
    `log_scale` below 1, which makes the radii smaller than the proof needs. Like the theorem, it assumes that the radii
    hold for samples whose times depend on earlier losses (erratum E6). Without restarts, and with the measures of one
    interval, it is Lemma B.1 (reg_int).
    """
    if log_scale < 1:
        return None
    K, T = measures.n_actions, measures.n_rounds
    B = min(restart_every or T, T)
    blocks = math.ceil(T / B)
    log_term = log_scale * math.log(2 / failure_probability)
    harmonic = 1 + math.log(B)
    wider = math.sqrt(2) if double_variance else 1.0
    block_cost = 2 * K + 14 / 3 * log_term * K * harmonic + 1.5 * K * B**2 * failure_probability
    noise = 4 * wider * math.sqrt(log_term * K * blocks * measures.variance) * harmonic
    moved = (8 * wider * math.sqrt(log_term * K * B) + 2 * B) * measures.drift_within
    return min(T, blocks * block_cost + noise + moved)


def drifting(against: Callable[[int], float], measures: Measures) -> float:
    """Return the best drifting form over a geometric grid of N, given a bound against N segments; any N is valid."""
    T, segments = measures.n_rounds, 1
    best = float(T)  # no regret is larger
    while segments <= T and (at_least := against(segments)) < best:  # `against` increases with the segments
        best = min(best, at_least + 2 * math.ceil(T / segments) * measures.drift_within)
        segments = max(segments + 1, int(segments * 1.3))
    return best
