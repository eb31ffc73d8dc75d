r"""Regret bounds that hold on every realised path of losses (Wei, Hong, Lu 2016, Appendices B to F, corrected).

Each function returns an upper bound on $\sum_t \langle p_t, \ell_t \rangle$ minus the comparator's loss. The constants
are the corrected ones of ``docs/errata.md``; those of the paper are in `printed`. "At every round" means an array whose
entry $t$ bounds rounds 1 to $t$.

Arguments: `losses` are $\ell_t \in [0, 1]^K$, one row per round; $d_t = \ell_t - \ell_{t-1}$, where $\ell_0$ is 0 or,
in a block, `before`. `regrets` are $r_{t,k} = \langle p_t, \ell_t \rangle - \ell_{t,k}$, and `estimates` the $m_{t,k}$
used in place of $r_{t,k}$ to compute $p_t$; $x_t = (r_t - m_t)^2$. `n_segments` is the number $N$ of segments of the
comparator, on each of which it has one action.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from driftwise.core.types import Matrix, Vector
from driftwise.theory.pathwise_experts import Array, while_awake

RATE_CAP = 0.25  # eq. (6): min(1/4, .)
COARSE = 8.25  # 4 from the telescoping distances, 4.25 from the terms of the rounds


def squared_steps(losses: Matrix, before: Vector | None = None) -> Vector:
    r"""Return $\|d_t\|_2^2$ for every round."""
    first = np.zeros_like(losses[:1]) if before is None else before[None, :]
    steps: Vector = (np.diff(losses, axis=0, prepend=first) ** 2).sum(axis=1)
    return steps


def optimistic_gd(losses: Matrix, learning_rate: float, n_segments: int, prox_scale: float = 1.0) -> float:
    r"""Bound Algorithm 2 against any comparator with $N$ segments (Lemma C.1, lem:dev, corrected).

    $$ \frac{D}{4c} + c\,(1 - 1/K + 2 (N - 1)), \qquad D = \sum_t \|d_t\|_2^2, $$

    for a prox term $c \|x - x_t\|^2$, $c$ being `prox_scale` $/ \eta$: the paper has $c = 1/\eta$.
    """
    weight = prox_scale / learning_rate
    moved = float(squared_steps(losses).sum())
    if weight == 0.0:
        return math.inf if moved > 0.0 else 0.0
    return moved / (4.0 * weight) + weight * (1.0 - 1.0 / int(losses.shape[1]) + 2.0 * (n_segments - 1))


def adaptive_block(losses: Matrix, before: Vector) -> Vector:
    r"""Bound the adaptive variant in one block against a fixed action, at every round (Lemma D.1, refined).

    With $D_t$ the squared steps of the block so far and $c_t = 2 \sqrt{D_{t-1}}$:

    $$ \sum_{\tau \le t} g_\tau + 4 \sqrt{D_{t-1}}, \qquad
       g_t = \frac{\|d_t\|^2}{4 c_t} \text{ if } \|d_t\| \le 2 \sqrt2\, c_t, \text{ else }
       \sqrt2 \|d_t\| - 2 c_t . $$
    """
    squares = squared_steps(losses, before)
    length = np.sqrt(squares)
    weight = 2.0 * np.sqrt(np.concatenate([[0.0], np.cumsum(squares)[:-1]]))
    small = (length <= 2.0 * math.sqrt(2.0) * weight) & (weight > 0.0)
    curved = squares / (4.0 * np.where(small, weight, 1.0))
    bound: Vector = np.cumsum(np.where(small, curved, math.sqrt(2.0) * length - 2.0 * weight)) + 2.0 * weight
    return bound


def adaptive_block_coarse(losses: Matrix, before: Vector) -> Vector:
    r"""Bound `adaptive_block` by $8.25 \sqrt{D_t}$, at every round (Lemma D.1, with its constant)."""
    moved: Vector = np.cumsum(squared_steps(losses, before))
    return COARSE * np.sqrt(moved)


def adapt_ml_prod(regrets: Matrix, estimates: Matrix) -> Matrix:
    r"""Bound Algorithm 3's regret for every action at every round (Lemma E.1, lemma_regret, eq. (11)).

    $$ \frac{1}{\eta_{0,k}} \ln \frac{1}{w_{0,k}} + \sum_t \eta_{t-1,k} x_{t,k} + \frac{1}{\eta_{T,k}}
       \ln \left(1 + \frac1e \sum_{k'} \sum_t \left(\frac{\eta_{t-1,k'}}{\eta_{t,k'}} - 1\right)\right), \quad
       w_{0,k} = 1/K . $$
    """
    gamma = log_of_two(regrets.shape[1])
    sums = rate_sums((regrets - estimates) ** 2, gamma, RATE_CAP)
    shared: Vector = np.log1p(sums.rate_ratios.sum(axis=1, keepdims=True) / math.e)
    return gamma / RATE_CAP + sums.deviations + shared / sums.rates


def adapt_ml_prod_outside(regrets: Matrix, estimates: Matrix) -> Matrix:
    r"""Bound Algorithm 3 with prior weights outside the potential: the lemma with $w_0 = 1$ and the mean weight.

    $$ \sum_t \eta_{t-1,k} x_{t,k} + \frac{1}{\eta_{T,k}} \left[\ln K + \ln \left(1 + \frac{1}{eK} \sum_{k'} \sum_t
       \left(\frac{\eta_{t-1,k'}}{\eta_{t,k'}} - 1\right)\right)\right] $$
    """
    gamma = log_of_two(regrets.shape[1])
    sums = rate_sums((regrets - estimates) ** 2, gamma, RATE_CAP)
    shared: Vector = np.log1p(sums.rate_ratios.mean(axis=1, keepdims=True) / math.e)
    return sums.deviations + (gamma + shared) / sums.rates


def adapt_ml_prod_closed(regrets: Matrix, estimates: Matrix) -> Matrix:
    r"""Bound `adapt_ml_prod` in closed form, every action, every round (Appendix E, corrected).

    With $g = \ln K$, $A = 1 + \sum_t x_t$, $L = \ln(1 + \frac{K}{e} (1 + \ln(T + 1)))$:
    $2 \sqrt{g A} + 3/4 + \sqrt{A/g}\, L$ once $A \ge 16 g$, and $4 g + 1 + (A - 1)/4 + 4 L$ before.
    """
    return _closed(*_sizes(regrets, estimates))


def adapt_ml_prod_single(regrets: Matrix, estimates: Matrix) -> Matrix:
    r"""Bound `adapt_ml_prod_closed` by one formula: $((2g + L)/\sqrt g) \sqrt A + 4 g + 4 L + 1$."""
    gamma, late, total = _sizes(regrets, estimates)
    root: Matrix = np.sqrt(total / gamma)
    return (2.0 * gamma + late) * root + 4.0 * gamma + 4.0 * late + 1.0


def sleeping(regrets: Matrix, estimates: Matrix, n_rounds: int) -> Array:
    r"""Bound Algorithm 4 from round $s$ to round $t$ against action $k$ (Lemma F.2, R_I, by Lemma E.1 (lemma_regret)).

    Returns an array over $(s, t, k)$; for $t < s$ it bounds an empty sum. With $\gamma = \ln(K T)$:

    $$ 4 \gamma + \sum_{\tau=s}^{t} \eta_{\tau-1} x_{\tau,k} + \frac{1}{\eta_t} \ln \left(1 + \frac1e
       \sum_{s' \le t, k'} \sum_\tau \left(\frac{\eta_{\tau-1}}{\eta_\tau} - 1\right)\right), $$

    where $\eta$ is that of expert $(s, k)$ outside the logarithm and of expert $(s', k')$ inside. After round $T$ the 1
    in it becomes $t / T$: every further row adds the weight $1/T$.
    """
    rounds = np.arange(1.0, len(regrets) + 1.0)
    gamma = log_of_two(regrets.shape[1] * n_rounds)
    sums = rate_sums(while_awake(regrets - estimates) ** 2, gamma, RATE_CAP)
    shared: Vector = np.log(np.maximum(1.0, rounds / n_rounds) + sums.rate_ratios.sum(axis=(0, 2)) / math.e)
    return gamma / RATE_CAP + sums.deviations + shared[None, :, None] / sums.rates


def sleeping_closed(regrets: Matrix, estimates: Matrix, n_rounds: int) -> Array:
    r"""Bound `sleeping` as `adapt_ml_prod_closed` bounds its lemma: $g = \ln(K T)$, $K t$ experts awake."""
    n_actions = regrets.shape[1]
    rounds = np.arange(1.0, len(regrets) + 1.0)[None, :, None]
    total = 1.0 + np.cumsum(while_awake(regrets - estimates) ** 2, axis=1)
    late = _late(n_actions * rounds, rounds, np.maximum(1.0, rounds / n_rounds))
    return _closed(log_of_two(n_actions * n_rounds), late, total)


def sleeping_flat(regrets: Matrix, estimates: Matrix) -> Array:
    r"""Bound the anytime version of Algorithm 4 (weight $1/K$ for every start); the array is as in `sleeping`.

    $$ \sum_{\tau=s}^{t} \eta_{\tau-1} x_{\tau,k} + \frac{1}{\eta_t} \left[\ln K + \ln \left(t + \frac{1}{eK}
       \sum_{s' \le t, k'} \sum_\tau \left(\frac{\eta_{\tau-1}}{\eta_\tau} - 1\right)\right)\right], \quad
       \gamma_s = \ln(K (s + 1)) . $$
    """
    n_rounds, n_actions = regrets.shape
    rounds = np.arange(1.0, n_rounds + 1.0)
    gamma = np.log(n_actions * (rounds + 1.0))[:, None, None]
    sums = rate_sums(while_awake(regrets - estimates) ** 2, gamma, RATE_CAP)
    shared: Vector = np.log(n_actions * rounds + sums.rate_ratios.sum(axis=(0, 2)) / math.e)
    return sums.deviations + shared[None, :, None] / sums.rates


def rerun_ucbv_good_event(radii: Vector, drift_within: float) -> float:
    r"""Bound Algorithm 1's pseudo-regret in a block in which all confidence intervals hold (Lemma B.1, reg_int).

    $\sum_t \min(1, 2 \lambda_{t,a_t} + 2 V')$: `radii` holds $\lambda_{t,a_t}$ of the actions played,
    `drift_within` is the drift $V'$ of the means within the block, without the change at its start.
    """
    return float(np.minimum(1.0, 2.0 * radii + 2.0 * drift_within).sum())


class RateSums(NamedTuple):
    """Learning rates of experts, and sums over the rounds so far, in which $x_t$ is the squared deviation."""

    rates: Array  # eta_t
    deviations: Array  # sum of eta_{t-1} x_t
    rate_ratios: Array  # sum of eta_{t-1} / eta_t - 1


def rate_sums(deviations: Array, gamma: float | Array, rate_cap: float, first: float = 1.0) -> RateSums:
    r"""Return the sums for $\eta_t = \min(c, \sqrt{\gamma / (x_0 + \sum_{s \le t} x_s)})$, $c$ the cap."""
    padded = np.concatenate([np.zeros_like(deviations[..., :1, :]), deviations], axis=-2)
    floor = np.asarray(gamma) / rate_cap**2  # below it the rate is at its cap
    rates = np.sqrt(gamma / np.maximum(floor, first + np.cumsum(padded, axis=-2)))
    before, after = rates[..., :-1, :], rates[..., 1:, :]
    return RateSums(after, np.cumsum(before * deviations, axis=-2), np.cumsum(before / after - 1.0, axis=-2))


def _sizes(regrets: Matrix, estimates: Matrix) -> tuple[float, Array, Array]:
    """Return g, L and A of Algorithm 3's closed forms."""
    n_rounds, n_actions = regrets.shape
    late = _late(n_actions, np.arange(1.0, n_rounds + 1.0)[:, None])
    return log_of_two(n_actions), late, 1.0 + np.cumsum((regrets - estimates) ** 2, axis=0)


def log_of_two(n_experts: int) -> float:
    """Return the logarithm of a number of experts, at least that of 2."""
    return math.log(max(n_experts, 2))  # one expert counts as two: a rate of 0 would be divided by


def _late(n_experts: float | Array, rounds: Array, start: float | Array = 1.0) -> Array:
    """Bound the logarithm of the rate ratios: those of one expert sum to at most 1 + ln(T + 1)."""
    late: Array = np.log(start + n_experts / math.e * (1.0 + np.log(rounds + 1.0)))
    return late


def _closed(gamma: float, late: Array, total: Array) -> Array:
    far = 2.0 * np.sqrt(gamma * total) + 0.75 + np.sqrt(total / gamma) * late
    near = 4.0 * gamma + 1.0 + (total - 1.0) / 4.0 + 4.0 * late
    return np.where(total >= gamma / RATE_CAP**2, far, near)
