r"""ML-Poly.

Bound for every loss sequence and every action $k$:

$$ R_k^2 \le (1 + \sum_t r_{t,k}^2) \sum_{k'} \sum_t \eta_{t-1,k'} r_{t,k'}^2
   \le (1 + \sum_t r_{t,k}^2)\, K (1 + \ln(1 + T)) , $$

because $\sum_k \eta_{t-1,k} [R_{t-1,k}]_+ r_{t,k} = 0$: the potential $\sum_k \eta_k [R_k]_+^2$ grows by at most the
last squares.

The R package opera, where the algorithm is called MLpol, does not assume a range of the losses: in place of the 1 in
$\eta$ it has the largest squared regret of any action so far.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import within
from driftwise.core.types import Matrix, Vector
from driftwise.learners.base import expert
from driftwise.learners.shared.sleeping_experts import Rates, SleepingLearner, rule
from driftwise.theory import pathwise_experts

REGRET, DEVIATION = range(2)  # R, the sum of r^2


@kernel
def start_stats(stats: Vector, start: int, n_actions: int, rates: Rates) -> None:  # noqa: ARG001
    """Begin without regret."""
    stats[REGRET] = 0.0
    stats[DEVIATION] = 0.0


@kernel
def add_regret(stats: Vector, regret: float, rates: Rates) -> None:  # noqa: ARG001
    """Add the regret of a round, and its square."""
    stats[REGRET] += regret
    stats[DEVIATION] += regret * regret


@kernel
def _log_weight(stats: Vector, rates: Rates) -> float:  # noqa: ARG001
    if stats[REGRET] <= 0.0:
        return -np.inf
    return float(np.log(stats[REGRET] / (1.0 + stats[DEVIATION])))


def _possible(stats: Matrix, rounds: int) -> bool:
    return within(stats, (-float(rounds), 0.0), float(rounds))


POLYNOMIAL = rule("polynomial", 2, _possible, start_stats, add_regret, _log_weight)


@expert("ml-poly", update=POLYNOMIAL.update)
@dataclass(frozen=True)
class MLPoly(SleepingLearner):
    r"""ML-Poly (Gaillard, Stoltz and van Erven, 2014): weights proportional to positive regrets, one rate per action.

    Competes with the best fixed action, without parameters. An action whose regret is not positive has weight 0.

    Notes
    -----
    With $r_{t,k} = \langle p_t, \ell_t \rangle - \ell_{t,k}$ and $R_{t,k} = \sum_{s \le t} r_{s,k}$:

    $$ p_{t+1,k} \propto \eta_{t,k}\, [R_{t,k}]_+, \qquad \eta_{t,k} = 1 / (1 + \textstyle\sum_{s \le t} r_{s,k}^2), $$

    and uniform weights while no regret is positive.

    Regret: $\sqrt{K (1 + \sum r_k^2) \ln T}$ against every fixed action.

    Must know: nothing.

    Time per round: O(K).

    References
    ----------
    P. Gaillard, G. Stoltz, T. van Erven, "A second-order bound with excess losses", COLT 2014.

    Examples
    --------
    >>> learner = MLPoly()
    >>> state = learner.start(n_actions=3)
    >>> learner.update(state, [0.0, 0.25, 1.0])
    >>> learner.predict(state)
    array([0.686..., 0.313..., 0.       ])
    """

    rule = POLYNOMIAL

    def static_bound(self, measures: Measures) -> float:
        """Return the bound against the best fixed action."""
        return pathwise_experts.ml_poly_worst(measures.n_actions, measures.n_rounds)
