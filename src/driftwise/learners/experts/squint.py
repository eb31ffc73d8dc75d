r"""Squint.

The kernels compute $\ln I$ from the closed form

$$ I(R, V) = \frac{\sqrt\pi}{2 \sqrt V}\, e^{u^2}\, [\mathrm{erfc}(u) - \mathrm{erfc}(v)], \quad
   u = \frac{-R}{2 \sqrt V}, \; v = u + \frac{\sqrt V}{2} . $$

Where $u$ and $v$ have the same sign, the exponent is moved into $\mathrm{erfcx}(x) = e^{x^2} \mathrm{erfc}(x)$, with
$u^2 - v^2 = R/2 - V/4$. Where $V$ is small the two terms nearly cancel, but the integrand is so smooth that
Gauss-Legendre quadrature is exact to rounding.

The bound is Theorem 4 of the paper for one action, $\pi = 1/K$.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import within
from driftwise.core.types import Matrix, Vector
from driftwise.learners.base import expert
from driftwise.learners.experts.ml_poly import DEVIATION, REGRET, add_regret, start_stats
from driftwise.learners.shared.sleeping_experts import Rates, SleepingLearner, rule
from driftwise.theory import pathwise_experts

MOST_RATE = 0.5  # the upper end of the integral
_NODES, _FACTORS = (tuple(float(x) for x in values) for values in np.polynomial.legendre.leggauss(12))  # on [-1, 1]
_SMALL_DEVIATION, _SMALL_REGRET = 1.0, 8.0  # below these twelve nodes are exact to rounding, and the closed form is not
_FAR = 6.0  # from this x on the asymptotic series of erfcx is exact to rounding
_TERMS = 20


@kernel
def erfcx(x: float) -> float:
    """Return exp(x^2) erfc(x) for x >= 0, to rounding.

    >>> round(erfcx(0.0), 12), round(erfcx(1e9) * 1e9 * math.sqrt(math.pi), 12)
    (1.0, 1.0)
    """
    if x < _FAR:
        return math.exp(x * x) * math.erfc(x)
    # 1 - 1/y + 1*3/y^2 - 1*3*5/y^3 + ..., y = 2 x^2, from the inside out
    total = 1.0
    for n in range(_TERMS, 0, -1):
        total = 1.0 - (2.0 * n - 1.0) * total / (2.0 * x * x)
    return total / (x * math.sqrt(math.pi))


@kernel
def log_integral(regret: float, deviation: float) -> float:
    """Return ln I(R, V)."""
    if deviation <= _SMALL_DEVIATION and abs(regret) <= _SMALL_REGRET:
        total = 0.0
        for i in range(len(_NODES)):
            rate = 0.5 * MOST_RATE * (1.0 + _NODES[i])
            total += _FACTORS[i] * math.exp(rate * regret - rate * rate * deviation)
        return math.log(0.5 * MOST_RATE * total)
    root = math.sqrt(deviation)
    u, v = -0.5 * regret / root, 0.5 * (deviation - regret) / root
    difference = 0.5 * regret - 0.25 * deviation  # u^2 - v^2
    scale = math.log(0.5 * math.sqrt(math.pi) / root)
    if u >= 0.0:
        return scale + math.log(erfcx(u) - erfcx(v) * math.exp(difference))
    if v <= 0.0:
        return scale + difference + math.log(erfcx(-v) - erfcx(-u) * math.exp(-difference))
    return scale + u * u + math.log(math.erfc(u) - math.erfc(v))


@kernel
def _log_weight(stats: Vector, rates: Rates) -> float:  # noqa: ARG001
    return log_integral(stats[REGRET], stats[DEVIATION])


def _possible(stats: Matrix, rounds: int) -> bool:
    regret, deviation = stats[:, REGRET], stats[:, DEVIATION]
    in_range = within(regret, -float(rounds), float(rounds)) and within(deviation, 0.0, float(rounds))
    # Cauchy-Schwarz, with a factor 2 for the rounding of equal regrets over very many rounds.
    return in_range and within(regret * regret, 0.0, 2.0 * rounds * deviation)


SQUINT = rule("squint", 2, _possible, start_stats, add_regret, _log_weight)


@expert("squint", update=SQUINT.update)
@dataclass(frozen=True)
class Squint(SleepingLearner):
    r"""Squint (Koolen and van Erven, 2015): exponential weights of the regrets, integrated over all learning rates.

    Competes with the best fixed action, without parameters.

    Notes
    -----
    With $r_{t,k} = \langle p_t, \ell_t \rangle - \ell_{t,k}$, $R_{t,k} = \sum_{s \le t} r_{s,k}$ and
    $V_{t,k} = \sum_{s \le t} r_{s,k}^2$, under the improper prior $d\eta / \eta$ on the learning rates in $[0, 1/2]$
    and the uniform prior on the actions:

    $$ p_{t+1,k} \propto I(R_{t,k}, V_{t,k}), \qquad I(R, V) = \int_0^{1/2} e^{\eta R - \eta^2 V}\, d\eta . $$

    Regret: $\sqrt{\sum r_k^2 \ln(K \ln T)} + \ln(K \ln T)$ against every fixed action, also against a quantile of them.
    For every loss sequence and every action $k$, with $\pi = 1/K$, $R_k \le \sqrt{2 V_k} (1 + \sqrt{2 \ln((\tfrac12 +
    \ln(T + 1))/\pi)}) + 5 \ln(1 + (1 + 2 \ln(T + 1))/\pi)$.

    Must know: nothing.

    Time per round: O(K).

    References
    ----------
    W. Koolen, T. van Erven, "Second-order quantile methods for experts and combinatorial games", COLT 2015.

    Examples
    --------
    >>> learner = Squint()
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.561..., 0.438...])
    """

    rule = SQUINT

    def static_bound(self, measures: Measures) -> float:
        """Return the bound against the best fixed action."""
        return pathwise_experts.squint_worst(measures.n_actions, measures.n_rounds)
