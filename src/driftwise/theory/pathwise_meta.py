r"""Regret bounds on every realised path, for learners that combine base learners, and for the base learners.

As in `driftwise.theory.pathwise`, each function returns an upper bound on the learner's loss minus the comparator's,
for any losses in [0, 1].

Arguments: `deviation` is $D$, the sum of the squared steps of the losses, in the norm that each function names.
`n_actions` is $K$; for a rule over base learners, their number. `learning_rate` is $\eta$, None for the anytime rate.
`n_segments` is the number $N$ of segments of the comparator. `elapsed` is the number $n$ of rounds since the start of
an interval.
"""

from __future__ import annotations

import math

import numpy as np

from driftwise.core.types import Matrix, Vector
from driftwise.theory.pathwise import squared_steps


def hedge(n_rounds: float, n_actions: int, learning_rate: float | None) -> float:
    r"""Bound Hedge against a fixed action: $\ln(K)/\eta + \eta T/8$.

    With the anytime rate $2 \sqrt{(T/2) \ln K} + \sqrt{\ln(K)/8}$.
    """
    log_actions = math.log(n_actions)
    if learning_rate is None:
        return 2 * math.sqrt(n_rounds / 2 * log_actions) + math.sqrt(log_actions / 8)
    return log_actions / learning_rate + learning_rate * n_rounds / 8


def optimistic_hedge(deviation: float, n_actions: int, learning_rate: float | None) -> float:
    r"""Bound Optimistic Hedge against a fixed action: $\ln(K)/\eta + \eta D/2$, anytime $2 \sqrt{(1 + D) \ln K}$.

    $D = \sum_t \|\ell_t - h_t\|_\infty^2$ with the hint $h_t$, $\ell_{t-1}$ by default. For the anytime rate, the
    regret of follow the regularized leader is at most $\ln(K)/\eta_T + \tfrac12 \sum_t \eta_t d_t$ with $d_t \le 1$ the
    terms of $D$, and $\sum_t d_t / \sqrt{1 + D_{t-1}} \le \sum_t d_t / \sqrt{D_t} \le 2 \sqrt D$.
    """
    log_actions = math.log(n_actions)
    if learning_rate is None:
        return 2 * math.sqrt((1 + deviation) * log_actions)
    return log_actions / learning_rate + learning_rate * deviation / 2


def online_gd(squares: float, n_actions: int, learning_rate: float, n_segments: int) -> float:
    r"""Bound gradient descent: $(\eta/2) S + (1 - 1/K + 2 (N-1)) / 2 \eta$ with $S = \sum_t \|\ell_t\|_2^2$."""
    return learning_rate * squares / 2 + (1 - 1 / n_actions + 2 * (n_segments - 1)) / (2 * learning_rate)


def aomd(losses: Matrix, rate_scale: float, n_segments: int) -> float:
    r"""Bound one phase of AOMD against $N$ segments.

    With $c_t = 1 / 2 \eta_t$, which increases, the regret of a round is at most
    $\langle d_t, u_t \rangle - c_t \|u_t\|^2$, $u_t = \hat x_t - x_{t+1}$, plus a telescoping distance. The first is at
    most $\|d_t\|^2 / 4 c_{t+1} + 2 (c_{t+1} - c_t)$, and
    $\sum_t \|d_t\|^2 / 4 c_{t+1} = \tfrac\lambda2 (\sqrt{A_T} - 1)$ by the choice of the rate. Squared distances are at
    most 2, the first $1 - 1/K$. Together:

    $$ \tfrac\lambda2 (\sqrt{A_T} - 1) + 2 (c_{T+1} - c_1) + (1 - 1/K) c_1 + 2 (c_T - c_1) + 2 (N-1) c_T . $$
    """
    n_actions = int(losses.shape[1])
    roots = np.sqrt(1 + np.concatenate([[0.0, 0.0], np.cumsum(squared_steps(losses))]))
    weights = (roots[1:] + roots[:-1]) / (2 * rate_scale)  # c_1, ..., c_{T+1}
    first, last, next_one = float(weights[0]), float(weights[-2]), float(weights[-1])
    moved = rate_scale / 2 * (float(roots[-1]) - 1) + 2 * (next_one - first)
    return moved + (1 - 1 / n_actions) * first + 2 * (last - first) + 2 * (n_segments - 1) * last


def aomd_coarse(deviation: float, rate_scale: float, n_segments: int) -> float:
    r"""Bound `aomd` by $(\lambda/2 + (2N + 2)/\lambda) \sqrt{1 + D}$, $D$ in the Euclidean norm."""
    return (rate_scale / 2 + (2 * n_segments + 2) / rate_scale) * math.sqrt(1 + deviation)


def ader(n_rounds: int, n_actions: int, path_length: float) -> float:
    r"""Bound Ader against a sequence of distributions of length $P = \sum_t \|u_t - u_{t-1}\|_2$ (its Theorem 3).

    $\tfrac{3G}{4} \sqrt{2T (7 D^2 + 4 D P)} + \tfrac{\sqrt{2T}}{4} (1 + 2 \ln(k+1))$ with $D = \sqrt2$, $G = \sqrt K$,
    $k = \lfloor \tfrac12 \log_2(1 + 4P/7D) \rfloor + 1$.
    """
    diameter = math.sqrt(2)
    base = 0.75 * math.sqrt(n_actions) * math.sqrt(2 * n_rounds * (7 * diameter**2 + 4 * diameter * path_length))
    k = math.floor(0.5 * math.log2(1 + 4 * path_length / (7 * diameter))) + 1
    return base + math.sqrt(2 * n_rounds) / 4 * (1 + 2 * math.log(k + 1))


def sword(losses: Matrix, learning_rates: Vector, n_segments: int, rule_rate: float | None = None) -> float:
    r"""Bound Sword: the least `driftwise.theory.pathwise.optimistic_gd` of its base learners, plus `optimistic_hedge`.

    The loss of a base learner differs from its hint by $\langle \ell_t - \ell_{t-1}, \hat x_t \rangle$, at most the
    largest step.
    """
    steps = np.diff(losses, axis=0, prepend=np.zeros_like(losses[:1]))
    moved = float((steps**2).sum())
    fixed = 1 - 1 / int(losses.shape[1]) + 2 * (n_segments - 1)
    base = min(float(rate) * moved / 4 + fixed / float(rate) for rate in learning_rates)
    return base + optimistic_hedge(float((np.abs(steps).max(axis=1) ** 2).sum()), len(learning_rates), rule_rate)


def saol(start: int, length: int, elapsed: Vector) -> Vector:
    r"""Bound SAOL on a dyadic interval $I$ of that length, up to round $t$: $5 \log_2(t + 1) \sqrt{|I|}$."""
    bound: Vector = 5 * np.log2(start + elapsed) * math.sqrt(length)
    return bound


def cbce(start: int, elapsed: Vector) -> Vector:
    r"""Bound CBCE on the first $n$ rounds of a dyadic interval from $J_1$: $\sqrt{n (7 \ln J_1 + 5)}$."""
    bound: Vector = np.sqrt(elapsed * (7 * math.log(start) + 5))
    return bound


def flh(start: int, learning_rate: float, elapsed: Vector) -> Vector:
    r"""Bound FLH on the first $n$ rounds of a row: $\ln(t)/\alpha + \alpha n / 8$, $t$ its last round.

    Row $s$ starts with a weight of at least $1/s$, which sharing multiplies by at least $1 - 1/\tau$ in each later
    round $\tau$: together $1/t$. The exponential weights over rows with losses in $[0, 1]$ add $\alpha/8$ in each
    round.
    """
    bound: Vector = np.log(start + elapsed - 1) / learning_rate + learning_rate * elapsed / 8
    return bound
