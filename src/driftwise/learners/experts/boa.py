r"""Bernstein online aggregation (BOA).

The uniform prior is a factor outside the exponent and cancels. Bound for every loss sequence and every action $k$,
because $e^{x - x^2} \le 1 + x$ for $|x| \le 1/2$:

$$ R_k \le \sum_t \eta_{t-1,k} r_{t,k}^2
   + \eta_{T,k}^{-1} [\ln K + \ln(1 + \tfrac{1}{eK} \sum_{k'} \sum_t (\eta_{t-1,k'}/\eta_{t,k'} - 1))] . $$

This is the paper's procedure with adaptive multiple learning rates. The paper estimates the range of the regrets by
doubling and caps the rate at half the inverse of the range. Here the range is known to be 1, so the cap is 1/2, and the
halved update that the paper uses where the estimated range was too small is not needed. Versions of the R package
opera have other rates: $\eta_t$ in place of $\eta_{t-1}$ in $G$, no factor $\eta$ before the exponential, and in
recent versions $1/\sqrt{2.2\, V}$ without a cap.
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
from driftwise.learners.shared.sleeping_experts import Rates, SleepingLearner, rule
from driftwise.theory import pathwise_prod

RATE_CAP = 0.5
POTENTIAL, DEVIATION, RATE = range(3)  # G, V, eta


@kernel
def _start(stats: Vector, start: int, n_actions: int, rates: Rates) -> None:  # noqa: ARG001
    stats[POTENTIAL] = 0.0
    stats[DEVIATION] = 0.0
    stats[RATE] = RATE_CAP


@kernel
def _absorb(stats: Vector, regret: float, rates: Rates) -> None:
    squared = regret * regret
    stats[POTENTIAL] += regret - stats[RATE] * squared
    stats[DEVIATION] += squared
    if stats[DEVIATION] > rates.log_experts / RATE_CAP**2:
        stats[RATE] = np.sqrt(rates.log_experts / stats[DEVIATION])


@kernel
def _log_weight(stats: Vector, rates: Rates) -> float:  # noqa: ARG001
    return float(np.log(stats[RATE]) + stats[RATE] * stats[POTENTIAL])


def _possible(stats: Matrix, rounds: int) -> bool:
    # A deviation is at most the number of rounds, which bounds a rate below the cap from below.
    least_rate = math.sqrt(math.log(2) / (rounds + 1.0))
    return within(stats, (-2.0 * rounds, 0.0, min(least_rate, RATE_CAP)), (float(rounds), float(rounds), RATE_CAP))


BERNSTEIN = rule("bernstein", 3, _possible, _start, _absorb, _log_weight)


@expert("boa", update=BERNSTEIN.update)
@dataclass(frozen=True)
class BOA(SleepingLearner):
    r"""Bernstein online aggregation, BOA (Wintenberger, 2017): exponential weights of the regrets less their squares.

    Competes with the best fixed action, without parameters. Each action has its own learning rate, which decreases with
    its squared regrets.

    Notes
    -----
    With $r_{t,k} = \langle p_t, \ell_t \rangle - \ell_{t,k}$ and $V_{t,k} = \sum_{s \le t} r_{s,k}^2$:

    $$ p_{t+1,k} \propto \eta_{t,k}\, e^{\eta_{t,k} G_{t,k}}, \qquad
       G_{t,k} = G_{t-1,k} + r_{t,k} - \eta_{t-1,k} r_{t,k}^2, \qquad
       \eta_{t,k} = \min\{1/2, \sqrt{\ln K / V_{t,k}}\} . $$

    Regret: $\sqrt{\sum r_k^2 \ln K} + \ln K$ against every fixed action, up to $\ln \ln T$.

    Must know: nothing.

    Time per round: O(K).

    References
    ----------
    O. Wintenberger, "Optimal learning with Bernstein online aggregation", Machine Learning 106 (2017).

    Examples
    --------
    >>> learner = BOA()
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.622..., 0.377...])
    """

    rule = BERNSTEIN

    def static_bound(self, measures: Measures) -> float:
        """Return the bound against the best fixed action."""
        return pathwise_prod.boa_worst(measures.n_actions, measures.n_rounds)
