r"""Lower bounds: the expected regret that every learner incurs in some environment, with every constant explicit.

- `full_switching`: full feedback, at most $\Gamma$ segments and variance $\Lambda$ (Theorem 4.2, full-low).
- `bandit_switching`: bandit feedback, at most $\Gamma$ segments, no noise (Theorem 4.1, bandit-low).
- `full_drifting`, `bandit_drifting`: drift at most $V$ and variance at most $\Lambda$ (Theorem 4.3, full_V).

A budget that is not named is not limited. Each bound is the largest guarantee of three constructions: `BiasedCoins`,
`RandomJumps` and `HiddenChanges`. Their parameters are computed here; `driftwise.adversaries` builds environments from
them. With one action, or where the budgets admit no construction, a construction is None and a bound is 0.0.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from driftwise.core.measures import Measures

_NEIGHBOURS = 3  # numbers of intervals tried on each side of a candidate; 1 sufficed in 60,000 random cases


class BiasedCoins(NamedTuple):
    r"""Noisy losses of which one action's mean is a little smaller, another action's in each interval.

    In the first $n$ rounds of interval $j$, losses are $0$ or $2\sigma$ by independent coins (Lemma 4.4, sigma1).
    Action $i_j$, drawn uniformly, has mean $\sigma - \epsilon$ and the others $\sigma$. Let $P$ and $Q$ be the
    distributions of a loss with mean $\sigma - \epsilon$ and $\sigma$. If $2 n \mathrm{KL}(Q, P) \le \frac14$, then by
    Pinsker's inequality a learner plays $i_j$ in at most $n/K + n/4$ of these rounds on average, and its regret is at
    least $\epsilon\, (\frac34 - \frac1K)$ for each of them. Since
    $\mathrm{KL}(Q, P) = -\frac12 \ln(1 - \epsilon^2/\sigma^2)$ in nats, equality holds for

    $$ \epsilon = c_n\, \sigma, \qquad c_n = \sqrt{1 - e^{-1/(4n)}} . $$
    """

    n_intervals: int  # M
    length: int  # n: noisy rounds at the start of each interval, or all of its rounds if it is shorter
    sigma: float
    gap: float  # epsilon
    regret: float  # every learner's expected regret is at least this


class RandomJumps(NamedTuple):
    r"""In each of the first rounds, an action drawn uniformly has loss 0 and the others `scale`; the last draw stays.

    Every learner's expected regret in these rounds is exactly `n_jumps * scale` $(1 - \frac1K)$.
    """

    n_jumps: int
    scale: float
    regret: float


class HiddenChanges(NamedTuple):
    r"""Once in each interval, an action that a bandit learner hardly plays may become the best one.

    Losses are `scale` times $(\frac12, 1, \dots, 1)$, and `scale` times $(\frac12, 0, 1, \dots, 1)$ from the start of
    some block to the end of the interval. With blocks of $b$ rounds in an interval of $b^2$ rounds or more, the
    expected regret is at least `scale` $b/4$ (proof in `driftwise.adversaries.bandit_low`).
    """

    n_intervals: int  # M
    block: int  # b: rounds of a block, in all but `n_longer` intervals
    n_longer: int  # intervals with blocks of b + 1 rounds, which need (b + 1)^2 rounds or more
    scale: float
    regret: float


def full_switching(measures: Measures) -> float:
    r"""Return the larger of `biased_coins_switching` ($\sqrt{\Gamma \Lambda}$) and `random_jumps_switching` ($\Gamma$).

    >>> round(full_switching(Measures(n_actions=2, n_rounds=10_000, segments=4, drift=1.0, variance=5000.0)), 3)
    12.5
    """
    return _largest(biased_coins_switching(measures), random_jumps_switching(measures))


def bandit_switching(measures: Measures) -> float:
    r"""Return the guarantee of `hidden_changes_switching`, about $\sqrt{\Gamma T / 32}$; 0.0 if $\Gamma = 1$.

    `full_switching` holds for bandit feedback too, since full feedback includes it.
    """
    return _largest(hidden_changes_switching(measures))


def full_drifting(measures: Measures) -> float:
    r"""Return the larger of `biased_coins_drifting` ($(\Lambda V T)^{1/3}$) and `random_jumps_drifting` ($V$)."""
    return _largest(biased_coins_drifting(measures), random_jumps_drifting(measures))


def bandit_drifting(measures: Measures) -> float:
    r"""Return the larger of `full_drifting` and `hidden_changes_drifting` ($\sqrt{V T}$ if $V \ge 2$)."""
    return max(full_drifting(measures), _largest(hidden_changes_drifting(measures)))


def biased_coins_switching(measures: Measures) -> BiasedCoins | None:
    r"""Make the first $n$ rounds of $\Gamma$ equal intervals noisy; None without variance.

    $n = \min\{\lfloor T/\Gamma \rfloor, \max\{1, \lfloor 4\Lambda/(K\Gamma) \rfloor\}\}$ and $\sigma^2 = \min\{1/4,
    \Lambda/(K \Gamma n)\}$. The paper asks for a variance of 1 in each round, which $K < 4$ actions cannot have (E9).
    """
    K, segments = measures.n_actions, measures.segments
    share = measures.variance / (K * segments)  # per action and segment
    if K == 1 or share == 0:
        return None
    n = min(measures.n_rounds // segments, max(1, int(4 * share)))
    sigma = math.sqrt(min(1 / 4, share / n))
    return biased_coins(measures, segments, n, sigma, sigma * _hidden_gap(n))


def random_jumps_switching(measures: Measures) -> RandomJumps | None:
    r"""Jump in each of the first $\Gamma$ rounds; None for one action."""
    return _random_jumps(measures, measures.segments, 1.0)


def hidden_changes_switching(measures: Measures) -> HiddenChanges | None:
    r"""Hide a change in each of $M = \lfloor \Gamma/2 \rfloor$ intervals; None if $\Gamma = 1$."""
    if measures.n_actions == 1 or measures.segments == 1:
        return None
    return _hidden_changes(measures.n_rounds, measures.segments // 2, 1.0)


def biased_coins_drifting(measures: Measures) -> BiasedCoins | None:
    r"""Make all rounds of $M$ equal intervals noisy; None without variance or drift.

    The longest of $M$ equal intervals has $B = \lceil T/M \rceil$ rounds. The drift is $\sigma + (M-1)\, c_B \sigma$
    and the variance at most $K T \sigma^2$, so the largest gap within the budget is

    $$ \max_M c_B \sigma_M, \qquad
       \sigma_M = \min\Big\{\frac12, \sqrt{\frac{\Lambda}{KT}}, \frac{V}{1 + (M-1)\, c_B}\Big\} . $$

    The paper's parameters exceed the drift by $\sigma - \epsilon$ (E8). The maximum is found without trying every $M$:

    - As $(M-1)\, c_B$ grows with $M$, the drift does not limit $\sigma_M$ up to some $M_1$, found by bisection. Up to
      there the gap grows with $c_B$.
    - Beyond $M_1$ the gap is $V / (1/c_B + M - 1)$. Without rounding $B$ up to a whole number, the denominator is
      convex in $M$ with its minimum within $1/24$ of $T^{1/3}$, where it is about $3 T^{1/3}$ and its second derivative
      about $\frac32 T^{-1/3}$. Rounding adds at most about $T^{-1/3}$, so the best $M$ is next to $T^{1/3}$ or $M_1$.
    """
    K, T, V = measures.n_actions, measures.n_rounds, measures.drift
    most = min(1 / 2, math.sqrt(measures.variance / (K * T)))
    if K == 1 or V == 0 or most == 0:
        return None

    def sigma(length: int) -> float:
        return min(most, V / (1 + (-(-T // length) - 1) * _hidden_gap(length)))

    low, high = 1, T  # M_1 is in between, or is 0
    while low < high:
        middle = (low + high + 1) // 2
        if sigma(-(-T // middle)) >= most:
            low = middle
        else:
            high = middle - 1
    near = {centre + i for centre in (low, round(math.cbrt(T))) for i in range(-_NEIGHBOURS, _NEIGHBOURS + 1)}
    lengths = sorted({-(-T // intervals) for intervals in near if 1 <= intervals <= T})
    length = max(lengths, key=lambda length: sigma(length) * _hidden_gap(length))
    return biased_coins(measures, -(-T // length), length, sigma(length), sigma(length) * _hidden_gap(length))


def random_jumps_drifting(measures: Measures) -> RandomJumps | None:
    r"""Jump $\lceil V \rceil$ times by $V / \lceil V \rceil$; None without drift."""
    V = measures.drift
    if V == 0:
        return None
    jumps = min(measures.n_rounds, math.ceil(V))
    return _random_jumps(measures, jumps, min(1.0, V / jumps))


def hidden_changes_drifting(measures: Measures) -> HiddenChanges | None:
    r"""Hide changes of scale $\min\{1, V/(2M)\}$ in $M$ intervals; None without drift.

    The best $M$ is $\lfloor V/2 \rfloor$ or $\lceil V/2 \rceil$: with fewer intervals the scale is 1 and a further one
    adds regret, with more the regret is proportional to the mean block, which falls with $M$. For $V < 2$ the regret is
    $V \sqrt T / 8$, not of the order $\sqrt{V T}$.
    """
    T, V = measures.n_rounds, measures.drift
    if measures.n_actions == 1 or V == 0:
        return None
    numbers = {min(T, math.floor(V / 2)), min(T, math.ceil(V / 2))} - {0}
    candidates = (_hidden_changes(T, intervals, min(1.0, V / (2 * intervals))) for intervals in sorted(numbers))
    return max(candidates, key=lambda candidate: candidate.regret)


def biased_coins(measures: Measures, n_intervals: int, length: int, sigma: float, gap: float) -> BiasedCoins:
    r"""Return coins with these parameters and their guarantee, which needs $\epsilon \le c_n \sigma$."""
    noisy = min(measures.n_rounds, n_intervals * length)  # equal intervals may be shorter than `length`
    return BiasedCoins(n_intervals, length, sigma, gap, noisy * gap * (3 / 4 - 1 / measures.n_actions))


def hidden_changes_in_equal_intervals(n_rounds: int, n_intervals: int, scale: float) -> HiddenChanges:
    r"""Hide a change in each of $M$ intervals whose lengths differ by one round at most, as `BanditLow` does.

    >>> hidden_changes_in_equal_intervals(n_rounds=17, n_intervals=2, scale=1.0)  # 8 and 9 rounds
    HiddenChanges(n_intervals=2, block=2, n_longer=1, scale=1.0, regret=1.25)
    """
    length, longer = divmod(n_rounds, n_intervals)
    block = math.isqrt(length)
    return _with_regret(n_intervals, block, longer if (block + 1) ** 2 == length + 1 else 0, scale)


def _hidden_changes(n_rounds: int, n_intervals: int, scale: float) -> HiddenChanges:
    """Return the intervals with the largest sum of blocks; b^2 is convex, so blocks differ by at most one round."""
    block = math.isqrt(n_rounds // n_intervals)
    longer = (n_rounds - n_intervals * block**2) // (2 * block + 1)
    return _with_regret(n_intervals, block, longer, scale)


def _with_regret(n_intervals: int, block: int, n_longer: int, scale: float) -> HiddenChanges:
    return HiddenChanges(n_intervals, block, n_longer, scale, (n_intervals * block + n_longer) * scale / 4)


def _random_jumps(measures: Measures, n_jumps: int, scale: float) -> RandomJumps | None:
    K = measures.n_actions
    return RandomJumps(n_jumps, scale, n_jumps * scale * (1 - 1 / K)) if K > 1 else None


def _hidden_gap(length: int) -> float:
    """Return c_n, the largest gap in units of sigma that n noisy rounds do not reveal: 2 n KL(Q, P) = 1/4."""
    return math.sqrt(-math.expm1(-1 / (4 * length)))


def _largest(*constructions: BiasedCoins | RandomJumps | HiddenChanges | None) -> float:
    return max((construction.regret for construction in constructions if construction is not None), default=0.0)
