r"""Bounds and parameters as the paper prints them, with its constants; some are false.

Each function names its place in the paper, the erratum of ``docs/errata.md`` if there is one, and the function that
driftwise uses instead ("Ours"). Where a theorem has only an order ($O$, $\tilde O$, $\Omega$), the constants are those
of its proof; the orders themselves are in `table_one`. Symbols are those of `pathwise` and `expected`.
"""

from __future__ import annotations

import math

import numpy as np

from driftwise.core.measures import Measures
from driftwise.core.types import Matrix, Vector
from driftwise.theory.concentration import empirical_bernstein, sample_variance
from driftwise.theory.pathwise import squared_steps


def radius(samples: Vector, failure_probability: float) -> float:
    r"""Eq. (3): $\rho(n, \hat\Lambda, \delta)$ with the sum over all ordered pairs, and 1 for one sample or none.

    The sum is twice the variance of Theorem 2.1 (emp_bernstein; E3), and the radius jumps up at the second sample (E4).
    Ours: `concentration.empirical_bernstein`, at most 1.
    """
    return empirical_bernstein(len(samples), 2 * sample_variance(samples), failure_probability)


def drifting_radius(squared_noises: Vector, drift: float, failure_probability: float) -> float:
    r"""Proof of Lemma B.2 (lambda): $\sqrt{2L (\frac6n \sum_r \hat\sigma_r^2 + 3 V^2) / n} + 7L / (3(n-1))$.

    True. Ours: `concentration.drifting_radius`.
    """
    variance = 6 * float(np.mean(squared_noises)) + 3 * drift**2
    return empirical_bernstein(len(squared_noises), variance, failure_probability)


def rerun_ucbv_interval(radii: Vector, drift: float, n_actions: int, failure_probability: float) -> float:
    r"""Eq. (8): $2 \sum_t \lambda_{t,a_t} + 2 V_I |I| + \delta K |I|$, for Algorithm 1 in an interval $I$.

    The last term assumes that the radii fail with probability $\delta$, which is not proved (E6). Ours:
    `pathwise.rerun_ucbv_good_event`.
    """
    n = len(radii)
    return 2 * float(radii.sum()) + 2 * drift * n + failure_probability * n_actions * n


def rerun_ucbv_restart_every(measures: Measures) -> float:
    r"""Eq. (2): not a whole number, may exceed $T$, and 0/0 without drift (E12). See `tuning`."""
    K, T, V, L = measures.n_actions, measures.n_rounds, measures.drift, measures.variance
    return float((K**2 * L * T / V**2) ** (1 / 3)) if K * L**2 >= T * V else math.sqrt(K * T / V)


def restarted_gd_restart_every(measures: Measures) -> float:
    r"""Section 3.2: $(\Lambda T / V^2)^{1/3}$ if $\Lambda T > V^2$, else 1 (E12). See `tuning`."""
    T, V, L = measures.n_rounds, measures.drift, measures.variance
    return float((L * T / V**2) ** (1 / 3)) if L * T > V**2 else 1.0


def sleeping_segments(measures: Measures) -> float:
    r"""Proof of Theorem 3.5 (dynamic_upper_full-into): the number of equal blocks, 0/0 without drift (E12).

    $(V^2 T^2 / (\Lambda \ln K))^{1/3}$ if $\Lambda^2 \ge V T \ln K$, else $\sqrt{V T / \ln K}$. Algorithm 4 does not
    need it. Ours: `expected.sleeping_adapt_ml_prod`, which searches for the best number.
    """
    T, V, L = measures.n_rounds, measures.drift, measures.variance
    log_actions = math.log(max(2, measures.n_actions))  # one action counts as two (E13)
    if V * T * log_actions <= L**2:
        return float(((V * T) ** 2 / (L * log_actions)) ** (1 / 3))
    return math.sqrt(V * T / log_actions)


def optimistic_gd_path(losses: Matrix, learning_rate: float, n_segments: int) -> float:
    r"""Proof of Lemma C.1 (lem:dev): $\eta D + N/\eta$. False for Algorithm 2 (E1). Ours: `pathwise.optimistic_gd`."""
    return learning_rate * float(squared_steps(losses).sum()) + n_segments / learning_rate


def optimistic_gd(measures: Measures, learning_rate: float, n_segments: int) -> float:
    r"""Proof of Lemma C.1 (lem:dev): $2 \eta \Lambda + \eta K V + N/\eta$, the mean of `optimistic_gd_path`.

    False for Algorithm 2 with a small rate (E1). Ours: `expected.optimistic_gd_against`.
    """
    moved = 2 * measures.variance + measures.n_actions * measures.drift
    return learning_rate * moved + n_segments / learning_rate


def optimistic_gd_tuned(measures: Measures, n_segments: int) -> float:
    r"""Lemma C.1 with its rate: $3 \sqrt{N (\Lambda + K V)}$, and Theorem 3.2 with $\Gamma$ for $N$ and $V$.

    True despite E1: for that rate, `expected.optimistic_gd_against` is at most $2.5 \sqrt{N (\Lambda + K V)}$.
    """
    return 3 * math.sqrt(n_segments * (measures.variance + measures.n_actions * measures.drift))


def adaptive_block_path(losses: Matrix, before: Vector) -> Vector:
    r"""Lemma D.1: $\sum_t \frac{\eta_{t+1}}{2} \|d_t\|^2 + 8 / \eta_{T+1} \le 16.5 \sqrt{D_T}$.

    At every round. True, and about twice ours, `pathwise.adaptive_block_coarse`.
    """
    squares = squared_steps(losses, before)
    root = np.sqrt(np.cumsum(squares))  # 1 / (2 eta_{t+1})
    bound: Vector = np.cumsum(squares / np.where(root > 0.0, 4.0 * root, 1.0)) + 16.0 * root
    return bound


def restarted_adaptive_gd(measures: Measures, block: float) -> float:
    r"""Proof of Theorem 3.3 (full_info_given_V): $16.5 (\sqrt{2 \Lambda T / B} + \sqrt K V) + 2 B V$.

    True, although the best fixed arm of a block need not be best in any round of it (E5). Ours:
    `expected.restarted_adaptive_gd`.
    """
    K, T, V = measures.n_actions, measures.n_rounds, measures.drift
    return 16.5 * (math.sqrt(2 * measures.variance * T / block) + math.sqrt(K) * V) + 2 * block * V


def adapt_ml_prod_path(regrets: Matrix, estimates: Matrix) -> Matrix:
    r"""Appendix E, every action and round: $C_{T,K} \sqrt{A / \ln K} + D_{T,K}$, $A = 1 + \sum_t (r_t - m_t)^2$.

    $C = \ln K + L$ and $D = \frac14 (\ln K + L) + 2 \sqrt{\ln K} + 16 \ln K$, $L = \ln(1 + \frac Ke (1 + \ln(T+1)))$.
    Lemma E.1 (lemma_regret) does not imply it (E2). Ours: `pathwise.adapt_ml_prod_closed`.
    """
    n_rounds, n_actions = regrets.shape
    total = 1.0 + np.cumsum((regrets - estimates) ** 2, axis=0)
    rounds = range(1, n_rounds + 1)
    slope, rest = np.array([_constants(n_actions, t) for t in rounds]).T[:, :, None]
    bound: Matrix = slope * np.sqrt(total) + rest
    return bound


def adapt_ml_prod(measures: Measures) -> float:
    r"""Theorem 3.4 (RTk_bound): the mean of `adapt_ml_prod_path`, by $(r - m)^2 \le 4 \|d\|_\infty^2$ and eq. (10).

    E2. Ours: `expected.adapt_ml_prod`.
    """
    slope, rest = _constants(measures.n_actions, measures.n_rounds)
    moved = 2 * measures.variance + measures.n_actions * measures.drift
    return slope * math.sqrt(1 + 4 * moved) + rest


def bandit_switching(measures: Measures) -> float:
    r"""Theorem 4.1, without rounding: $\frac\Gamma2 \sqrt{2T/\Gamma} / 4$. Ours: `lower.bandit_switching`."""
    return math.sqrt(2 * measures.segments * measures.n_rounds) / 8


def biased_coins_drifting(measures: Measures) -> tuple[float, float, float]:
    r"""Theorem 4.3 (full_V): $B = (\Lambda T / (32 K V^2))^{1/3}$, $\sigma = \sqrt{\Lambda/(4KT)}$, $\epsilon = VB/T$.

    Its drift may exceed $V$ by $\sigma - \epsilon$ (E8). Ours: `lower.biased_coins_drifting`.
    """
    K, T, V, L = measures.n_actions, measures.n_rounds, measures.drift, measures.variance
    length = math.cbrt(L * T / (32 * K * V**2))
    return length, math.sqrt(L / (4 * K * T)), V * length / T


def full_drifting(measures: Measures) -> float | None:
    r"""Proof of Theorem 4.3 (full_V): $T \epsilon / 4$ if $\Lambda T \ge 32 K V^2 > 0$, else only an order (None).

    True except for the budget (E8), and for more than two actions within the limits of E16. Ours:
    `lower.full_drifting`.
    """
    K, T, V, L = measures.n_actions, measures.n_rounds, measures.drift, measures.variance
    if K == 1 or not L * T >= 32 * K * V**2 > 0:
        return None
    return T * biased_coins_drifting(measures)[2] / 4


def _constants(n_actions: int, n_rounds: int) -> tuple[float, float]:
    """Return C / sqrt(ln K) and D of Appendix E; one action counts as two (E13)."""
    g = math.log(max(2, n_actions))
    both = g + math.log1p(n_actions / math.e * (1 + math.log(n_rounds + 1)))
    return both / math.sqrt(g), both / 4 + 2 * math.sqrt(g) + 16 * g
