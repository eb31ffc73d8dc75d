r"""Regret bounds on every realised path, for the learners that weigh experts by their regrets.

The functions of `regrets` return an upper bound on $\sum_t r_{t,k}$ for every action $k$ at every round, an array
(n_rounds, n_actions). Those of sleeping experts return an array over $(s, t, k)$ for the rounds from $s$ to $t$, valid
where $s \le t$ and row $s$ is awake at $t$. A `_worst` function bounds all of them in closed form, by $|r| \le 1$ and
by $T$, so it also bounds the regret in expectation.

Arguments: `regrets` are $r_{t,k} = \langle p_t, \ell_t \rangle - \ell_{t,k}$; `weights` are the weights played, where
they are needed besides. `n_pieces` is the number $N$ of intervals, each within the rounds of one row, that make up the
comparator's segments. `last` has the last round, counted from 1, of the row that starts in round $s$; None means that
rows never end.

Two sums are used throughout, for increments $0 \le x_t \le 1$ of $A_t = A_{t-1} + x_t$ and decreasing $f \ge 0$:
$\sum_t x_t f(A_{t-1}) \le f(A_0) + \int_{A_0}^{A_T} f$, so that $\sum_t x_t / A_{t-1} \le 1/A_0 + \ln(A_T/A_0)$ and,
as $\sqrt{1+y} \le 1 + y/2$, $\sum_t (\sqrt{A_t / A_{t-1}} - 1) \le \frac12 (1/A_0 + \ln(A_T/A_0))$.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from driftwise.core.types import Actions, Matrix

Array = npt.NDArray[np.float64]  # (..., n_rounds, n_actions)


def ada_hedge(weights: Matrix, regrets: Matrix) -> Matrix:
    r"""Bound AdaHedge (de Rooij, van Erven, Gruenwald, Koolen, Theorem 6), the same for every action.

    $2 \sqrt{V \ln K} + \frac43 \ln K + 2$ with $V = \sum_t \sum_k w_{t,k} r_{t,k}^2$, the sum of the losses' variances
    under the weights $w_t$.
    """
    log_actions = math.log(regrets.shape[1])
    variance = np.cumsum((weights * regrets**2).sum(axis=1, keepdims=True), axis=0)
    bound: Matrix = np.broadcast_to(2 * np.sqrt(variance * log_actions) + 4 / 3 * log_actions + 2, regrets.shape)
    return bound


def ada_hedge_worst(n_actions: int, n_rounds: int) -> float:
    r"""Bound `ada_hedge` with $V \le T/4$: $\sqrt{T \ln K} + \frac43 \ln K + 2$."""
    if n_actions == 1:
        return 0.0
    log_actions = math.log(n_actions)
    return min(n_rounds, math.sqrt(n_rounds * log_actions) + 4 / 3 * log_actions + 2)


def ada_normal_hedge(regrets: Matrix) -> Matrix:
    r"""Bound AdaNormalHedge (Luo and Schapire): with $C_k = \sum_t |r_{t,k}|$,

    $$ \sqrt{3 C_k \ln(K B)}, \qquad B = \frac1K \sum_{k'} (1 + \tfrac32 (1 + \ln(1 + C_{k'}))) . $$
    """
    moved = np.cumsum(np.abs(regrets), axis=0)
    total = _normal_mass(moved).sum(axis=1, keepdims=True)
    bound: Matrix = np.sqrt(3.0 * moved * np.log(total))
    return bound


def ada_normal_hedge_worst(n_actions: int, n_rounds: int) -> float:
    r"""Bound `ada_normal_hedge` with $C_k \le T$."""
    if n_actions == 1:
        return 0.0
    return min(n_rounds, math.sqrt(3 * n_rounds * math.log(n_actions * float(_normal_mass(float(n_rounds))))))


def ada_normal_hedge_tv(regrets: Matrix, last: Actions | None = None) -> Array:
    r"""Bound AdaNormalHedge.TV from round $s$ to round $t$ against action $k$.

    $$ \sqrt{3 C \ln(s^2 B)}, \qquad B = \sum_{s' \le t, k'} \frac{1}{s'^2} (1 + \tfrac32 (1 + \ln(1 + C_{(s',k')}))) $$

    Rows that start after $t$ have their prior weight on both sides of the proof, so they cancel.
    """
    rounds = np.arange(1.0, len(regrets) + 1.0)
    started = rounds[:, None] <= rounds
    moved = np.cumsum(np.abs(while_awake(regrets, last)), axis=1)
    mass = _normal_mass(moved).sum(axis=2) * started / rounds[:, None] ** 2
    bound: Array = np.sqrt(3.0 * moved * np.log(rounds[:, None] ** 2 * mass.sum(axis=0))[:, :, None])
    return bound


def ada_normal_hedge_tv_worst(n_actions: int, n_rounds: int, n_pieces: int) -> float:
    r"""Bound the sum of `ada_normal_hedge_tv` over $N$ intervals: $\sum_s s^{-2} \le \pi^2/6$ and $C \le T$.

    $\sqrt{3 N T \ln(T^2 K \frac{\pi^2}{6} (1 + \frac32 (1 + \ln(1 + T))))}$
    """
    if n_actions == 1:
        return 0.0
    mass = n_actions * math.pi**2 / 6 * float(_normal_mass(float(n_rounds)))
    return min(n_rounds, math.sqrt(3 * n_pieces * n_rounds * math.log(n_rounds**2 * mass)))


def squint(regrets: Matrix) -> Matrix:
    r"""Bound Squint with the improper prior (Koolen and van Erven, Theorem 4), $V_k = \sum_t r_{t,k}^2$.

    $\sqrt{2 V_k} (1 + \sqrt{2 \ln(K (\tfrac12 + \ln(T + 1)))}) + 5 \ln(1 + K (1 + 2 \ln(T + 1)))$
    """
    n_rounds, n_actions = regrets.shape
    late = np.log(np.arange(1.0, n_rounds + 1.0) + 1.0)[:, None]
    slope = 1.0 + np.sqrt(2.0 * np.maximum(0.0, np.log(n_actions * (0.5 + late))))
    fixed = 5.0 * np.log1p(n_actions * (1.0 + 2.0 * late))
    bound: Matrix = np.sqrt(2.0 * np.cumsum(regrets**2, axis=0)) * slope + fixed
    return bound


def squint_worst(n_actions: int, n_rounds: int) -> float:
    r"""Bound `squint` with $V_k \le T$."""
    if n_actions == 1:
        return 0.0
    late = math.log(n_rounds + 1)
    slope = 1 + math.sqrt(2 * math.log(n_actions * (0.5 + late)))
    return min(n_rounds, math.sqrt(2 * n_rounds) * slope + 5 * math.log1p(n_actions * (1 + 2 * late)))


def ml_poly(regrets: Matrix) -> Matrix:
    r"""Bound ML-Poly: $\sqrt{(1 + V_k) \sum_{k'} \sum_t \eta_{t-1,k'} r_{t,k'}^2}$, $\eta = 1/(1 + V)$."""
    squares = regrets**2
    seen = np.cumsum(squares, axis=0)
    grown = np.cumsum(squares / (1.0 + seen - squares), axis=0).sum(axis=1, keepdims=True)
    bound: Matrix = np.sqrt((1.0 + seen) * grown)
    return bound


def ml_poly_worst(n_actions: int, n_rounds: int) -> float:
    r"""Bound `ml_poly` by $\sqrt{K (1 + \ln(1 + T)) (1 + T)}$, as the paper prints it for $V_k = T$."""
    if n_actions == 1:
        return 0.0
    total = 1.0 + n_rounds
    return min(n_rounds, math.sqrt(n_actions * (1 + math.log(total)) * total))


def while_awake(regrets: Matrix, last: Actions | None = None) -> Array:
    """Return the regrets of every expert (s, k) at every round, 0 while it sleeps."""
    rounds = np.arange(1, len(regrets) + 1)
    awake = rounds[:, None] <= rounds
    if last is not None:
        awake &= rounds <= last[:, None]
    alone: Array = np.where(awake[:, :, None], regrets, 0.0)
    return alone


def _normal_mass(moved: float | Array) -> Array:
    """Return the term of an expert with prior weight 1 in the B of AdaNormalHedge."""
    mass: Array = 1.0 + 1.5 * (1.0 + np.log1p(moved))
    return mass
