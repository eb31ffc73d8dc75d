r"""Regret bounds on every realised path, for Adapt-ML-Prod, its sleeping form and BOA.

Arguments and sums are those of `pathwise_experts`; besides, `prior_rounds` is $T'$, the number of rounds in the prior
of the sleeping form, None for its flat prior. All learners have weights proportional to $\eta e^{\eta G}$ with a rate
per expert, and their proofs use the same sums.
"""

from __future__ import annotations

import math

import numpy as np

from driftwise.core.types import Actions, Matrix
from driftwise.theory.pathwise import log_of_two, rate_sums
from driftwise.theory.pathwise_experts import Array, while_awake

RATE_CAP = 0.5  # their inequalities need |eta r| <= 1/2


def adapt_ml_prod(regrets: Matrix) -> Matrix:
    r"""Bound Adapt-ML-Prod (Gaillard, Stoltz, van Erven).

    $$ 2 \ln K + \sum_t \eta_{t-1,k} r_{t,k}^2 + \frac{1}{\eta_{T,k}} \ln \left(1 + \frac1e \sum_{k'} \sum_t
       \left(\frac{\eta_{t-1,k'}}{\eta_{t,k'}} - 1\right)\right) $$
    """
    gamma = log_of_two(regrets.shape[1])
    sums = rate_sums(regrets**2, gamma, RATE_CAP)
    shared = np.log1p(sums.rate_ratios.sum(axis=1, keepdims=True) / math.e)
    bound: Matrix = gamma / RATE_CAP + sums.deviations + shared / sums.rates
    return bound


def adapt_ml_prod_worst(n_actions: int, n_rounds: int) -> float:
    r"""Bound `adapt_ml_prod`: with $g = \ln K$, $A = 1 + T$ and $L = \ln(1 + \frac{K}{2e}(1 + \ln A))$,

    $2 g + 2 \sqrt{g A} + \max(2, \sqrt{A/g})\, L$.
    """
    if n_actions == 1:
        return 0.0
    gamma, total = math.log(n_actions), 1.0 + n_rounds
    late = math.log1p(n_actions * _rate_ratios(n_rounds) / math.e)
    return min(n_rounds, gamma / RATE_CAP + 2 * math.sqrt(gamma * total) + _inverse(total, gamma) * late)


def boa(regrets: Matrix) -> Matrix:
    r"""Bound BOA: as `adapt_ml_prod`, with the prior outside the potential and no 1 under the root of the rates.

    $$ \sum_t \eta_{t-1,k} r_{t,k}^2 + \frac{1}{\eta_{T,k}} \left[\ln K + \ln \left(1 + \frac{1}{eK} \sum_{k'} \sum_t
       \left(\frac{\eta_{t-1,k'}}{\eta_{t,k'}} - 1\right)\right)\right] $$
    """
    gamma = log_of_two(regrets.shape[1])
    sums = rate_sums(regrets**2, gamma, RATE_CAP, first=0.0)
    shared = np.log1p(sums.rate_ratios.mean(axis=1, keepdims=True) / math.e)
    bound: Matrix = sums.deviations + (gamma + shared) / sums.rates
    return bound


def boa_worst(n_actions: int, n_rounds: int) -> float:
    r"""Bound `boa`: with $g = \ln K$ and $L = \ln(1 + \frac{1}{2e}(\frac{1}{4g} + \ln \max(1, \frac{T}{4g})))$,

    $\frac12 + 2 \sqrt{g T} + \max(2, \sqrt{T/g})\, (g + L)$: the rates are constant until $V = 4g$.
    """
    if n_actions == 1:
        return 0.0
    gamma = math.log(n_actions)
    free = gamma / RATE_CAP**2
    late = math.log1p((1 / free + math.log(max(1.0, n_rounds / free))) / (2 * math.e))
    return min(n_rounds, RATE_CAP + 2 * math.sqrt(gamma * n_rounds) + _inverse(n_rounds, gamma) * (gamma + late))


def sleeping_adapt_ml_prod(regrets: Matrix, prior_rounds: int | None = None, last: Actions | None = None) -> Array:
    r"""Bound the sleeping Adapt-ML-Prod from round $s$ to round $t$ against action $k$.

    With $T'$ given and $g = \ln(K T')$:

    $$ 2 g + \sum_{\tau=s}^{t} \eta_{\tau-1} r_{\tau,k}^2 + \frac{1}{\eta_t} \ln \left(\max(1, t/T') + \frac1e
       \sum_{s' \le t, k'} \sum_\tau \left(\frac{\eta_{\tau-1}}{\eta_\tau} - 1\right)\right) . $$

    With the flat prior there is no first term, the logarithm becomes $\ln K + \ln(t + \frac{1}{eK} \sum
    \ldots)$, and row $s$ has $\ln(K(s+1))$ in its rates.
    """
    n_rounds, n_actions = regrets.shape
    rounds = np.arange(1.0, n_rounds + 1.0)
    gamma: Array = np.log(n_actions * (rounds + 1.0))[:, None, None]
    if prior_rounds is not None:
        gamma = np.full_like(gamma, log_of_two(n_actions * prior_rounds))
    sums = rate_sums(while_awake(regrets, last) ** 2, gamma, RATE_CAP)
    rate_ratios = sums.rate_ratios.sum(axis=(0, 2)) / math.e
    if prior_rounds is not None:
        first = gamma / RATE_CAP
        shared = np.log(np.maximum(1.0, rounds / prior_rounds) + rate_ratios)
    else:
        first = np.zeros_like(gamma)
        shared = np.log(n_actions * rounds + rate_ratios)
    bound: Array = first + sums.deviations + shared[None, :, None] / sums.rates
    return bound


def sleeping_adapt_ml_prod_worst(
    n_actions: int, n_rounds: int, n_pieces: int, prior_rounds: int | None = None
) -> float:
    r"""Bound the sum of `sleeping_adapt_ml_prod` over $N$ intervals, by Cauchy-Schwarz.

    With $T'$ given: $N (2 g + 2 L) + (2 \sqrt g + L / \sqrt g) \sqrt{N (N + T)}$, $g = \ln(K T')$,
    $L = \ln(\max(1, T/T') + \frac{KT}{2e}(1 + \ln(1 + T)))$. Flat: $2 N L + (2 \sqrt{\ln(K(T+1))} + L / \sqrt{\ln 2K})
    \sqrt{N (N + T)}$, $L = \ln(KT(1 + \frac{1}{2e}(1 + \ln(1 + T))))$.
    """
    if n_actions == 1:
        return 0.0
    rate_ratios = n_actions * n_rounds * _rate_ratios(n_rounds) / math.e
    if prior_rounds is not None:
        gamma = math.log(n_actions * prior_rounds)
        late = math.log(max(1.0, n_rounds / prior_rounds) + rate_ratios)
        piece_cost, slope = (gamma + late) / RATE_CAP, 2 * math.sqrt(gamma) + late / math.sqrt(gamma)
    else:
        late = math.log(n_actions * n_rounds + rate_ratios)
        piece_cost = late / RATE_CAP
        slope = 2 * math.sqrt(math.log(n_actions * (n_rounds + 1))) + late / math.sqrt(math.log(2 * n_actions))
    return min(n_rounds, n_pieces * piece_cost + slope * math.sqrt(n_pieces * (n_pieces + n_rounds)))


def _rate_ratios(n_rounds: int) -> float:
    """Bound the sum of eta_{t-1} / eta_t - 1 of one expert, with a 1 under the root of the rates."""
    return (1 + math.log(1 + n_rounds)) / 2


def _inverse(total: float, gamma: float) -> float:
    return max(1 / RATE_CAP, math.sqrt(total / gamma))
