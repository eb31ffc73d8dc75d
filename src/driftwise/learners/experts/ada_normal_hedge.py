r"""AdaNormalHedge, and AdaNormalHedge.TV, which is AdaNormalHedge over sleeping experts.

The kernels compute $\ln w = a + \ln(1 - e^{b - a})$ from the exponents $a \ge b$ of the two potentials, so nothing
overflows. The prior $q$ is uniform here; in AdaNormalHedge.TV, with one row of experts per start, it decreases with the
start. PyNOL has $C - 1$ in the second potential, which is a different function.

The paper keeps every row of experts of AdaNormalHedge.TV; the covers with fewer rows are an addition of driftwise.

Bound for every loss sequence, every action $k$ and every $[t_1, t_2]$ within the life of row $t_1$: the regret is at
most $\sqrt{3 C \ln(t_1^2 B)}$, $B = \sum_{s \le t_2, k'} s^{-2} (1 + \tfrac32 (1 + \ln(1 + C_{(s,k')})))$, where $C$ is
the sum of $|r_{t,k}|$ over $[t_1, t_2]$.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from driftwise.core.corners import Corners
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import within
from driftwise.core.types import Matrix, Vector
from driftwise.core.validation import Domains, one_of
from driftwise.learners.base import expert
from driftwise.learners.shared.sleeping_experts import Rates, SleepingLearner, rule
from driftwise.learners.shared.time_intervals import TRACKING
from driftwise.theory import pathwise_experts

REGRET, MOVED, LOG_PRIOR = range(3)  # R, C, ln q
WIDTH = 3.0  # the factor in the potential, as its proof needs it


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
    # (R + 1)^2 - (R - 1)^2 = 4 R, written so that nothing cancels
    difference = 4.0 * regret / width if regret > 1.0 else above
    return float(stats[LOG_PRIOR] + above + np.log(-np.expm1(-difference)))


def _possible(stats: Matrix, rounds: int) -> bool:
    return within(stats, (-float(rounds), 0.0, -2.0 * math.log(rounds + 1)), (float(rounds), float(rounds), 0.0))


NORMAL = rule("normal", 3, _possible, _start, _absorb, _log_weight)


@expert("ada-normal-hedge", update=NORMAL.update)
@dataclass(frozen=True)
class AdaNormalHedge(SleepingLearner):
    r"""AdaNormalHedge (Luo and Schapire, 2015): weights from a Gaussian-shaped potential of the regret.

    Competes with the best fixed action, without parameters. The weight of an action is what one more round of regret
    could add to its potential.

    Notes
    -----
    With $r_{t,k} = \langle p_t, \ell_t \rangle - \ell_{t,k}$, $R_{t,k} = \sum_{s \le t} r_{s,k}$ and
    $C_{t,k} = \sum_{s \le t} |r_{s,k}|$:

    $$ p_{t+1,k} \propto q_k\, w(R_{t,k}, C_{t,k}), \qquad w(R, C) = \tfrac12 (\Phi(R + 1, C + 1) - \Phi(R - 1, C + 1)),
       \qquad \Phi(R, C) = e^{[R]_+^2 / (3 C)}, $$

    with the uniform prior $q$, and uniform weights where every $w$ is 0.

    Regret: $\sqrt{\sum \lvert r_k \rvert \ln K}$ against every fixed action, up to $\ln \ln T$. For every loss sequence
    and every action $k$, $R_k \le \sqrt{3 C_k \ln(B / q_k)}$ with $B = \sum_{k'} q_{k'} (1 + \tfrac32 (1 + \ln(1 +
    C_{k'})))$.

    Must know: nothing.

    Time per round: O(K).

    References
    ----------
    H. Luo, R. Schapire, "Achieving all with no parameters: AdaNormalHedge", COLT 2015.

    Examples
    --------
    >>> learner = AdaNormalHedge()
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.919..., 0.080...])
    """

    rule = NORMAL

    def static_bound(self, measures: Measures) -> float:
        """Return the bound against the best fixed action."""
        return pathwise_experts.ada_normal_hedge_worst(measures.n_actions, measures.n_rounds)


@expert("ada-normal-hedge-tv", update=NORMAL.update)
@dataclass(frozen=True)
class AdaNormalHedgeTV(SleepingLearner):
    r"""AdaNormalHedge.TV (Luo and Schapire, 2015): AdaNormalHedge with one copy of every action per starting round.

    Tracks switches without tuned parameters. Later starts have a smaller prior weight.

    Parameters
    ----------
    cover : {"every", "geometric", "hazan-seshadhri"}, default "every"
        How long the copies started in round $s$ (row $s$) stay awake: "every" keeps each row forever, $O(K t)$ a round;
        "geometric" and "hazan-seshadhri" keep $O(\log t)$ rows.

    Notes
    -----
    Expert $(s, k)$ is asleep before round $s$ and then advises action $k$, as long as the cover keeps row $s$ awake.
    With $R$ and $C$ summed over its rounds awake, the prior $q_s = 1/s^2$ and $w$ as in AdaNormalHedge,

    $$ p_{t+1,k} \propto \sum_{s \text{ awake}} \frac{1}{s^2}\, w(R_{t,(s,k)}, C_{t,(s,k)}) . $$

    Regret: $\sqrt{\Gamma \sum \lvert r \rvert \ln(K T)}$, times $\log T$ on a short cover.

    Must know: nothing.

    Time per round: O(K t). On the short covers it is O(K log t).

    References
    ----------
    H. Luo, R. Schapire, "Achieving all with no parameters: AdaNormalHedge", COLT 2015, Section 5.

    Examples
    --------
    >>> learner = AdaNormalHedgeTV(cover="hazan-seshadhri")
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.827..., 0.172...])
    """

    cover: str = "every"

    corners = Corners(cover=TRACKING)

    rule = NORMAL

    _domains = Domains(cover=one_of(*TRACKING))

    def bound(self, measures: Measures) -> float:
        """Return the bound against the best action of every segment."""
        n_pieces = measures.segments * self.starts().rows_to_cover(measures.n_rounds)
        return pathwise_experts.ada_normal_hedge_tv_worst(measures.n_actions, measures.n_rounds, n_pieces)
