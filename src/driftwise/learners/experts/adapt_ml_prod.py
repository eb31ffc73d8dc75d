r"""Adapt-ML-Prod, and its form over sleeping experts.

By induction $\ln w_{t,k} = \eta_{t,k} G_{t,k}$ with
$G_{t,k} = G_{t-1,k} + \ln(1 + \eta_{t-1,k} r_{t,k}) / \eta_{t-1,k}$; only $G$ is stored, and nothing underflows.

Bound for every loss sequence and every action $k$, because $\ln(1 + x) \ge x - x^2$ for $|x| \le 1/2$:

$$ R_k \le 2 \ln K + \sum_t \eta_{t-1,k} r_{t,k}^2
   + \eta_{T,k}^{-1} \ln(1 + \tfrac{1}{e} \sum_{k'} \sum_t (\eta_{t-1,k'}/\eta_{t,k'} - 1)) . $$

The R package opera has $\eta_t$ where the paper has $\eta_{t-1}$ inside the logarithm.

Over sleeping experts: a sleeping expert is assigned the loss of the weights played, so its regret is 0 and its weight
does not change. One copy of each action per start is Algorithm 4 of Wei, Hong, Lu (2016), here without a guess of the
coming losses.

Bound of the anytime form, for every loss sequence, every action and every $[t_1, t_2]$ within the life of row $t_1$:
the regret is at most

$$ \sum \eta r^2 + \eta^{-1} [\ln K + \ln(t_2 + \tfrac{1}{eK} \sum_{s \le t_2, k'} \text{ratio}_{(s,k')})] , $$

where the ratio of an expert is $\sum_t (\eta_{t-1}/\eta_t - 1)$. Any other interval is a union of such intervals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from driftwise.core.corners import LONGEST, Corners
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import within
from driftwise.core.types import Matrix, Vector
from driftwise.core.validation import COUNT, Domains, one_of, optional
from driftwise.learners.base import expert
from driftwise.learners.shared.sleeping_experts import Rates, SleepingLearner, rule
from driftwise.learners.shared.time_intervals import TRACKING
from driftwise.theory import pathwise_prod

RATE_CAP = 0.5
POTENTIAL, DEVIATION, RATE, SCALE = range(4)  # G, the sum of r^2, eta, the numerator in eta


@kernel
def _start(stats: Vector, start: int, n_actions: int, rates: Rates) -> None:
    # Without a number of experts the prior is flat: weight 1 for each expert, and ln(K (s + 1)) in the rates of row s.
    has_number = rates.log_experts > 0.0
    scale = rates.log_experts if has_number else np.log(n_actions * (start + 1.0))
    stats[DEVIATION] = 0.0
    stats[SCALE] = scale
    stats[RATE] = min(RATE_CAP, np.sqrt(scale))
    stats[POTENTIAL] = -scale / stats[RATE] if has_number else 0.0


@kernel
def _absorb(stats: Vector, regret: float, rates: Rates) -> None:  # noqa: ARG001
    rate = stats[RATE]
    stats[POTENTIAL] += np.log1p(rate * regret) / rate
    stats[DEVIATION] += regret * regret
    stats[RATE] = min(RATE_CAP, np.sqrt(stats[SCALE] / (1.0 + stats[DEVIATION])))


@kernel
def _log_weight(stats: Vector, rates: Rates) -> float:  # noqa: ARG001
    rate = stats[RATE]
    return float(np.log(rate) + rate * stats[POTENTIAL])


def _possible(stats: Matrix, rounds: int) -> bool:
    deviation, rate, scale = stats[:, DEVIATION], stats[:, RATE], stats[:, SCALE]
    if not (within(deviation, 0.0, float(rounds)) and within(scale, math.log(2), 100.0)):
        return False
    follows = np.allclose(rate, np.minimum(RATE_CAP, np.sqrt(scale / (1.0 + deviation))), 1e-9, 0.0)
    # A round adds at most ln(1 + rate) / rate <= 1 and at least ln(1 - rate) / rate >= -2 ln 2.
    return follows and within(stats[:, POTENTIAL], -scale / RATE_CAP - 2.0 * rounds, float(rounds))


PROD = rule("prod", 4, _possible, _start, _absorb, _log_weight)


@expert("adapt-ml-prod", update=PROD.update)
@dataclass(frozen=True)
class AdaptMLProd(SleepingLearner):
    r"""Adapt-ML-Prod (Gaillard, Stoltz and van Erven, 2014): multiplicative weights with a learning rate per action.

    Competes with the best fixed action, without parameters. The rate of an action decreases with its squared regrets.

    Notes
    -----
    With $r_{t,k} = \langle p_t, \ell_t \rangle - \ell_{t,k}$ and $w_{0,k} = 1/K$:

    $$ p_{t,k} \propto \eta_{t-1,k}\, w_{t-1,k}, \qquad
       w_{t,k} = \left( w_{t-1,k} (1 + \eta_{t-1,k} r_{t,k}) \right)^{\eta_{t,k} / \eta_{t-1,k}}, \qquad
       \eta_{t,k} = \min\{1/2, \sqrt{\ln K / (1 + \textstyle\sum_{s \le t} r_{s,k}^2)}\} . $$

    Regret: $\sqrt{\sum r_k^2 \ln K} + \ln K$ against every fixed action, up to $\ln \ln T$.

    Must know: nothing.

    Time per round: O(K).

    References
    ----------
    P. Gaillard, G. Stoltz, T. van Erven, "A second-order bound with excess losses", COLT 2014.

    Examples
    --------
    >>> learner = AdaptMLProd()
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.625, 0.375])
    """

    rule = PROD

    def static_bound(self, measures: Measures) -> float:
        """Return the bound against the best fixed action."""
        return pathwise_prod.adapt_ml_prod_worst(measures.n_actions, measures.n_rounds)


@expert("sleeping-adapt-ml-prod", update=PROD.update)
@dataclass(frozen=True)
class SleepingAdaptMLProd(SleepingLearner):
    r"""Sleeping Adapt-ML-Prod (Gaillard et al., 2014): Adapt-ML-Prod with one copy of every action per starting round.

    Tracks switches without tuned parameters.

    Parameters
    ----------
    cover : {"every", "geometric", "hazan-seshadhri"}, default "every"
        How long the copies started in round $s$ (row $s$) stay awake: "every" keeps each row forever, $O(K t)$ a round;
        "geometric" and "hazan-seshadhri" keep $O(\log t)$ rows.
    n_rounds : int or None, default None
        Number of rounds ($T$), >= 1: each expert has the prior $1/(KT)$, with $\ln(KT)$ in the rates. None is anytime:
        each expert has the weight $1/K$ outside the product, with $\ln(K(s+1))$ in the rates of row $s$.

    Notes
    -----
    Expert $(s, k)$ is asleep before round $s$ and then advises action $k$, as long as the cover keeps row $s$ awake.
    Round $t$ plays

    $$ p_{t,k} \propto \sum_{s \text{ awake}} \eta_{t-1,(s,k)} w_{t-1,(s,k)} , $$

    and the awake experts are updated as in AdaptMLProd.

    Regret: $\sqrt{\Gamma \sum r^2 \ln(K T)} + \Gamma \ln(K T)$, times $\log T$ on a short cover.

    Must know: nothing (the number of rounds, if given).

    Time per round: O(K t). On the short covers it is O(K log t).

    References
    ----------
    P. Gaillard, G. Stoltz, T. van Erven, "A second-order bound with excess losses", COLT 2014.

    C.-Y. Wei, Y.-T. Hong, C.-J. Lu, "Tracking the best expert in non-stationary stochastic environments", NIPS 2016,
    Algorithm 4.

    Examples
    --------
    >>> learner = SleepingAdaptMLProd(cover="hazan-seshadhri")
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.5625, 0.4375])
    """

    cover: str = "every"
    n_rounds: int | None = None

    corners = Corners(cover=TRACKING, n_rounds=(1, LONGEST, None))

    rule = PROD

    _domains = Domains(cover=one_of(*TRACKING), n_rounds=optional(COUNT))

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Set the prior for the number of rounds."""
        return cls(n_rounds=measures.n_rounds)

    def bound(self, measures: Measures) -> float:
        """Return the bound against the best action of every segment."""
        n_pieces = measures.segments * self.starts().rows_to_cover(measures.n_rounds)
        K, T = measures.n_actions, measures.n_rounds
        return pathwise_prod.sleeping_adapt_ml_prod_worst(K, T, n_pieces, self.n_rounds)

    def log_experts(self, n_actions: int) -> float:
        """Return ln(KT); 0 for the anytime prior."""
        return math.log(n_actions * self.n_rounds) if self.n_rounds else 0.0
