r"""Exp3, Exp3.S, Rexp3 and Tsallis-INF: parameters, and bounds on the expected regret with explicit constants.

The bounds hold for any losses that are chosen in advance. Those against a fixed action bound the dynamic regret only
where $\Gamma = 1$.
"""

from __future__ import annotations

import math

from driftwise.core.measures import Measures
from driftwise.theory.expected import drifting


def exp3_exploration_rate(n_actions: int, n_rounds: int) -> float:
    r"""Return $\min\{1, \sqrt{K \ln K / ((e-1) T)}\}$, and 1 if there is only one action.

    >>> round(exp3_exploration_rate(n_actions=2, n_rounds=1000), 4)
    0.0284
    """
    return min(1.0, math.sqrt(n_actions * math.log(n_actions) / ((math.e - 1) * n_rounds))) or 1.0


def exp3_s_exploration_rate(measures: Measures) -> float:
    r"""Return $\min\{1, \sqrt{K (\Gamma \ln(KT) + e) / ((e-1) T)}\}$, for $\alpha = 1/T$."""
    K, T = measures.n_actions, measures.n_rounds
    return min(1.0, math.sqrt(K * (measures.segments * math.log(K * T) + math.e) / ((math.e - 1) * T)))


def rexp3_restart_every(measures: Measures) -> int:
    r"""Return $\lceil (K \ln K)^{1/3} (T/V')^{2/3} \rceil$, at least 1 and at most $T$."""
    K, T, V = measures.n_actions, measures.n_rounds, measures.drift_within
    if V == 0:
        return T
    block: float = (K * math.log(K)) ** (1 / 3) * (T / V) ** (2 / 3)
    return math.ceil(min(T, max(1.0, block)))


def exp3(measures: Measures, exploration_rate: float) -> float:
    r"""Return the bound of Theorem 3.1 of Auer et al. against every fixed action.

    It is $(e-1) \gamma T + K \ln K / \gamma$.
    """
    K, T = measures.n_actions, measures.n_rounds
    if K == 1:
        return 0.0
    return min(T, (math.e - 1) * exploration_rate * T + K * math.log(K) / exploration_rate)


def exp3_s(measures: Measures, exploration_rate: float, switch_rate: float) -> float:
    r"""Return the bound of Theorem 8.1 of Auer et al., or its form for drifting means if that is less.

    Against $S$ segments: $K (\ln K + (S-1) \ln(K/\alpha) + e \alpha T) / \gamma + (e-1) \gamma T$. The theorem has
    $\ln(K/\alpha)$ for the first segment too, where $\ln K$ suffices because the weights start uniform.
    """
    K, T = measures.n_actions, measures.n_rounds
    if K == 1:
        return 0.0

    def against(segments: int) -> float:
        length = math.log(K) + (segments - 1) * math.log(K / switch_rate) + math.e * switch_rate * T
        return K * length / exploration_rate + (math.e - 1) * exploration_rate * T

    return min(T, against(measures.segments), drifting(against, measures))


def rexp3(measures: Measures, exploration_rate: float, restart_every: int) -> float:
    r"""Return the bound of Theorem 2 of Besbes et al., with constants.

    It is $(e-1) \gamma T + M K \ln K / \gamma + B \min\{2 V', \Gamma - 1\}$: the bound of Exp3 in each of
    $M = \lceil T/B \rceil$ blocks, plus the regret of the best fixed action of a block against the best action of each
    round, which is at most $2 B V'_I$ in a block with drift $V'_I$, and at most $B$ in a block with a change.
    """
    K, T = measures.n_actions, measures.n_rounds
    if K == 1:
        return 0.0
    B = min(restart_every, T)
    moved = B * min(2 * measures.drift_within, measures.segments - 1)
    return min(T, (math.e - 1) * exploration_rate * T + math.ceil(T / B) * K * math.log(K) / exploration_rate + moved)


def tsallis_inf(measures: Measures, reduced_variance: bool) -> float:
    r"""Return the adversarial bound of Theorem 1 of Zimmert and Seldin, against every fixed action.

    The terms that the theorem rounds away are kept. The regret is at most
    $4 (\sqrt K - 1) / \eta_T + \sum_t S_t$. The stability $S_t$ of a round, with any number $x$ subtracted from the
    estimates $\hat\ell_i$, is at most the expectation of

    $$ \sum_i \frac{\eta z_i^2 w_i^{3/2}}{2 + \eta z_i \sqrt{w_i}}, \qquad z_i = \hat\ell_i - x . $$

    Importance weighting, $x = 0$: $S_t \le (\eta_t/2) \sum_i \sqrt{w_i} \le \sqrt{K/t}$. The bound is
    $2 (2 \sqrt K - 1) \sqrt T - \sqrt K$; the theorem says $4 \sqrt{KT} + 1$.

    Reduced variance, $x = 1/2$: $S_t \le (\eta_t/8) \sqrt K + \eta_t^2 (3K/8 + 1/4)$ if $\eta_t \le 1$, that is, from
    round 16 on; until then $S_t \le 1$. The bound is
    $(2 \sqrt K - 1) \sqrt T - 4 \sqrt K + (6 K + 4) \ln(T/16) + 16$; the theorem says
    $2 \sqrt{KT} + 10 K \ln T + 16$, its proof $14 K \ln T$.
    """
    K, T = measures.n_actions, measures.n_rounds
    if K == 1:
        return 0.0
    root = math.sqrt(K)
    if not reduced_variance:
        return min(T, 2 * (2 * root - 1) * math.sqrt(T) - root)
    if T <= 16:
        return T
    return min(T, (2 * root - 1) * math.sqrt(T) - 4 * root + (6 * K + 4) * math.log(T / 16) + 16)
