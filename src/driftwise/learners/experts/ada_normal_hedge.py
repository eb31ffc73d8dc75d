r"""AdaNormalHedge: a potential that grows like the square of the regret, with nothing to tune.

With $R_{t,k} = \sum_{s \le t} r_{s,k}$ and $C_{t,k} = \sum_{s \le t} |r_{s,k}|$,
$r_{t,k} = \langle p_t, \ell_t \rangle - \ell_{t,k}$:

$$ p_{t+1,k} \propto q_k\, w(R_{t,k}, C_{t,k}), \qquad w(R, C) = \tfrac12 (\Phi(R + 1, C + 1) - \Phi(R - 1, C + 1)),
   \qquad \Phi(R, C) = e^{[R]_+^2 / (3 C)}, $$

uniform where every weight is 0. The prior $q$ is uniform; with one row per start it falls with the start (see
AdaNormalHedge.TV). We compute $\ln w = a + \ln(1 - e^{b - a})$ from the two exponents $a \ge b$, so nothing overflows.

Pathwise, for every action $k$: $R_k \le \sqrt{3 C_k \ln(B / q_k)}$ with
$B = \sum_{k'} q_{k'} (1 + \tfrac32 (1 + \ln(1 + C_{k'})))$.

Reference: H. Luo and R. Schapire, "Achieving all with no parameters: AdaNormalHedge", COLT 2015. PyNOL has
$C - 1$ in the second potential, which is another function.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import within
from driftwise.core.types import Matrix, Vector
from driftwise.learners.contract import Card, expert
from driftwise.learners.parts.sleeping_experts import Rates, SleepingLearner, rule
from driftwise.theory import pathwise_experts

__all__ = ["NORMAL", "AdaNormalHedge"]

REGRET, MOVED, LOG_PRIOR = range(3)  # R, C, ln q
WIDTH = 3.0  # of the potential, where its proof needs it


@kernel
def _start(stats: Vector, start: int, n_actions: int, rates: Rates) -> None:  # noqa: ARG001
    stats[REGRET] = 0.0
    stats[MOVED] = 0.0
    stats[LOG_PRIOR] = -2.0 * np.log(start)


@kernel
def _absorb(stats: Vector, regret: float, rates: Rates) -> None:  # noqa: ARG001
    stats[REGRET] += regret
    stats[MOVED] += abs(regret)


@kernel
def _log_weight(stats: Vector, rates: Rates) -> float:  # noqa: ARG001
    regret, width = stats[REGRET], WIDTH * (stats[MOVED] + 1.0)
    if regret <= -1.0:
        return -np.inf
    above = (regret + 1.0) * (regret + 1.0) / width
    # (R + 1)^2 - (R - 1)^2 = 4 R, without the cancellation
    apart = 4.0 * regret / width if regret > 1.0 else above
    return float(stats[LOG_PRIOR] + above + np.log(-np.expm1(-apart)))


def _possible(stats: Matrix, rounds: int) -> bool:
    return within(stats, (-float(rounds), 0.0, -2.0 * math.log(rounds + 1)), (float(rounds), float(rounds), 0.0))


NORMAL = rule("normal", 3, _possible, _start, _absorb, _log_weight)


@expert(
    "ada-normal-hedge",
    Card(
        title="AdaNormalHedge",
        in_words="Weigh each action by what one more round of regret would add to a Gaussian-shaped potential.",
        knows="nothing",
        cost="O(K)",
        bound="sqrt(sum |r_k| ln K) against every fixed action, up to ln ln T",
        reference="Luo, Schapire (2015), Achieving all with no parameters: AdaNormalHedge",
    ),
    update=NORMAL.update,
)
@dataclass(frozen=True)
class AdaNormalHedge(SleepingLearner):
    """Follow the best fixed action; the less the play and the action differ, the less it costs.

    >>> learner = AdaNormalHedge()
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.919..., 0.080...])
    """

    rule = NORMAL

    def bound(self, measures: Measures) -> float | None:
        """Bound the regret where the best action never changes."""
        if measures.segments > 1:
            return None
        return pathwise_experts.ada_normal_hedge_worst(measures.n_actions, measures.n_rounds)
