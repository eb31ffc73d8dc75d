r"""Lower bounds: what any learner must suffer somewhere, with every constant explicit.

`full_switching`: with every loss seen, in some world of at most $\Gamma$ segments and variance $\Lambda$ (Theorem
full-low, Section 4.1). `bandit_switching`: with the chosen loss seen, even without noise (Theorem bandit-low, Section
4.1). `full_drifting` and `bandit_drifting`: in some world of drift at most $V$ and variance at most $\Lambda$ (Theorem
full_V, Section 4.2). A budget that a theorem does not name is free. Each is the larger of what three constructions
guarantee; their parameters are here, the worlds are not. None of them for one action; 0.0 then, and where the budgets
admit no construction.

=============  ==================  ===========================================================================
symbol         name in the code    meaning
=============  ==================  ===========================================================================
$M$            `n_intervals`       intervals, each with a best action of its own
$n$, $B$       `length`            rounds of an interval; of `Coins` in switching worlds, its noisy rounds
$b$            `block`             rounds after a hidden change in which many learners do not notice it
$\sigma$       `sigma`             losses are 0 or $2\sigma$; their standard deviation, and the first jump of means
$\epsilon$     `gap`               by how much the best action's mean is less
-              `scale`             a factor on the losses, to fit a small drift
-              `regret`            what any learner suffers on average: $\epsilon (3/4 - 1/K)$ in each noisy round of
                                   `Coins`, `scale` $b/4$ in each interval of `Hiding`
=============  ==================  ===========================================================================
"""

from __future__ import annotations

import math
from typing import NamedTuple

from driftwise.core.measures import Measures

__all__ = [
    "Coins",
    "Hiding",
    "Jumps",
    "bandit_drifting",
    "bandit_switching",
    "coins_drifting",
    "coins_switching",
    "divergence",
    "full_drifting",
    "full_switching",
    "hiding_drifting",
    "hiding_switching",
    "jumps_drifting",
    "jumps_switching",
    "plays_of_best",
]


class Coins(NamedTuple):
    """Losses are coins; in each interval one action's is a little better (Theorem full-low, case A; Theorem full_V)."""

    n_intervals: int
    length: int
    sigma: float
    gap: float
    regret: float


class Jumps(NamedTuple):
    """One action loses nothing, the others `scale`; it is drawn anew so many times (Theorem full-low, case B)."""

    n_jumps: int
    scale: float
    regret: float  # exact: every learner suffers it on average


class Hiding(NamedTuple):
    """Once an interval, an action that is hardly played may become the best (Theorem bandit-low).

    Losses are `scale` times (1/2, 1, ..., 1), and (1/2, 0, 1, ..., 1) from the start of some block of an interval on.
    """

    n_intervals: int
    length: int
    block: int
    scale: float
    regret: float


def full_switching(measures: Measures) -> float:
    r"""Theorem full-low: the larger of `coins_switching` ($\sqrt{\Gamma \Lambda}$) and `jumps_switching` ($\Gamma$).

    >>> round(full_switching(Measures(n_actions=2, n_rounds=10_000, segments=4, drift=1.0, variance=5000.0)), 3)
    12.5
    """
    return _largest(coins_switching(measures), jumps_switching(measures))


def bandit_switching(measures: Measures) -> float:
    r"""Theorem bandit-low, rounded: $M b / 4 \approx \sqrt{\Gamma T / 32}$, without noise; 0.0 if $\Gamma = 1$.

    Who sees every loss can do as a bandit does: `full_switching` holds for bandits, too.
    """
    return _largest(hiding_switching(measures))


def full_drifting(measures: Measures) -> float:
    r"""Theorem full_V: the larger of `coins_drifting` ($(\Lambda V T)^{1/3}$) and `jumps_drifting` ($V$)."""
    return _largest(coins_drifting(measures), jumps_drifting(measures))


def bandit_drifting(measures: Measures) -> float:
    r"""Theorem full_V: the larger of `full_drifting` and `hiding_drifting` ($\sqrt{V T}$ if $V \ge 2$)."""
    return max(full_drifting(measures), _largest(hiding_drifting(measures)))


def coins_switching(measures: Measures) -> Coins | None:
    r"""Spread the variance over the first $n$ rounds of $\Gamma$ equal intervals; None without variance.

    $n = \min\{\lfloor T/\Gamma \rfloor, \max\{1, \lfloor 4\Lambda/(K\Gamma) \rfloor\}\}$ and $\sigma^2 = \min\{1/4,
    \Lambda/(K \Gamma n)\}$. The paper has a variance of 1 in each round, which few actions cannot have (E9).
    """
    K, segments = measures.n_actions, measures.segments
    share = measures.variance / (K * segments)
    if K == 1 or share == 0:
        return None
    n = min(measures.n_rounds // segments, max(1, int(4 * share)))
    sigma = math.sqrt(min(1 / 4, share / n))
    return _coins(measures, segments, n, sigma)


def jumps_switching(measures: Measures) -> Jumps | None:
    r"""Jump in each of the first $\Gamma$ rounds; None for one action."""
    return _jumps(measures, measures.segments, 1.0)


def hiding_switching(measures: Measures) -> Hiding | None:
    r"""Hide a change in each of $M = \lfloor \Gamma/2 \rfloor$ intervals; None if $\Gamma = 1$.

    $b = \lfloor \sqrt{T/M} \rfloor$; or fewer intervals with longer blocks, if that comes to more.
    """
    if measures.segments == 1:
        return None
    return _hiding(measures, measures.segments // 2, 1.0)


def coins_drifting(measures: Measures) -> Coins | None:
    r"""Spread the variance over all rounds and spend the drift exactly; None without variance or drift.

    In $M = \lceil T/B \rceil$ intervals, $\epsilon = c \sigma$, $c^2 = 1 - e^{-1/(4B)}$, keeps the best action unknown,
    and $\sigma = \min\{1/2, \sqrt{\Lambda/(KT)}, V / (1 + (M-1) c)\}$ keeps the budgets; the paper exceeds the drift by
    $\sigma - \epsilon$ (E8). Any $B$ is valid. The gap is largest where the drift just suffices for all the variance;
    or, if there is variance to spare, for a first jump of $2V/3$, at least in long runs.
    """
    K, T, V = measures.n_actions, measures.n_rounds, measures.drift
    most = min(1 / 2, math.sqrt(measures.variance / (K * T)))
    if K == 1 or V == 0 or most == 0:
        return None

    def sigma(length: int) -> float:
        changes = -(-T // length) - 1
        return min(most, V / (1 + changes * _unnoticed(length)))

    low, high = 1, T
    while low < high:  # longer intervals are fewer, and leave more for the first jump
        middle = (low + high) // 2
        if sigma(middle) >= min(most, 2 * V / 3):
            high = middle
        else:
            low = middle + 1
    length = max(low, max(1, low - 1), key=lambda B: sigma(B) * _unnoticed(B))
    return _coins(measures, -(-T // length), length, sigma(length))


def jumps_drifting(measures: Measures) -> Jumps | None:
    r"""Jump $\lceil V \rceil$ times, each by the $\lceil V \rceil$-th part of $V$; None without drift."""
    V = measures.drift
    if V == 0:
        return None
    jumps = min(measures.n_rounds, math.ceil(V))
    return _jumps(measures, jumps, min(1.0, V / jumps))


def hiding_drifting(measures: Measures) -> Hiding | None:
    r"""Hide a change in $\lfloor V/2 \rfloor$ intervals, or one of a smaller scale if $V < 2$; None without drift.

    Below 2 that is $V \sqrt T / 8$, not $\sqrt{V T}$.
    """
    if measures.drift == 0:
        return None
    intervals = max(1, min(measures.n_rounds, int(measures.drift / 2)))
    return _hiding(measures, intervals, min(1.0, measures.drift / 2))


def divergence(sigma: float, gap: float) -> float:
    r"""Return $(\ln 2) KL(Q, P) = -\frac12 \ln(1 - \epsilon^2/\sigma^2)$ of the coins of Lemma sigma1.

    It is at most $\epsilon^2/\sigma^2$ if $\epsilon \le \sigma/\sqrt2$.
    """
    return -math.log1p(-((gap / sigma) ** 2)) / 2


def plays_of_best(n_actions: int, length: int, sigma: float, gap: float) -> float:
    r"""Bound the plays of the best action in an interval, averaged over which one is best (eq. (N_i) summed over $i$).

    $B/K + \frac B2 \sqrt{2 B (\ln 2) KL(Q, P)}$, at most $B (1/K + 1/4)$ for the gaps of `Coins`.
    """
    return length / n_actions + length / 2 * math.sqrt(2 * length * divergence(sigma, gap))


def _unnoticed(length: int) -> float:
    """Return the gap, in units of sigma, at which 2 B (ln 2) KL(Q, P) is 1/4."""
    return math.sqrt(-math.expm1(-1 / (4 * length)))


def _coins(measures: Measures, n_intervals: int, length: int, sigma: float) -> Coins:
    gap = sigma * _unnoticed(length)
    noisy = min(measures.n_rounds, n_intervals * length)  # the end may cut the last interval short
    return Coins(n_intervals, length, sigma, gap, noisy * gap * (3 / 4 - 1 / measures.n_actions))


def _jumps(measures: Measures, n_jumps: int, scale: float) -> Jumps | None:
    K = measures.n_actions
    return Jumps(n_jumps, scale, n_jumps * scale * (1 - 1 / K)) if K > 1 else None


def _hiding(measures: Measures, n_intervals: int, scale: float) -> Hiding | None:
    if measures.n_actions == 1:
        return None
    T, block = measures.n_rounds, math.isqrt(measures.n_rounds // n_intervals)
    fewer = T // (block + 1) ** 2  # fewer intervals with longer blocks: rounding may favour them
    if fewer * (block + 1) > n_intervals * block:
        n_intervals, block = fewer, block + 1
    return Hiding(n_intervals, T // n_intervals, block, scale, n_intervals * block * scale / 4)


def _largest(*constructions: Coins | Jumps | Hiding | None) -> float:
    return max((each.regret for each in constructions if each is not None), default=0.0)
