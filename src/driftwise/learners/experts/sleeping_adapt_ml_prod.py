r"""Adapt-ML-Prod over sleeping experts.

A sleeping expert is assigned the loss of the weights played, so its regret is 0 and its weight does not change. One
copy of each action per start is Algorithm 4 of Wei, Hong, Lu (2016), here without a guess of the coming losses.

Bound of the anytime form, for every loss sequence, every action and every $[t_1, t_2]$ within the life of row $t_1$:
the regret is at most

$$ \sum \eta r^2 + \eta^{-1} [\ln K + \ln(t_2 + \tfrac{1}{eK} \sum_{s \le t_2, k'} \text{ratio}_{(s,k')})] , $$

where the ratio of an expert is $\sum_t (\eta_{t-1}/\eta_t - 1)$. Any other interval is a union of such intervals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

from driftwise.core.corners import LONGEST, Corners
from driftwise.core.measures import Measures
from driftwise.core.validation import require_choice, require_count
from driftwise.learners.contract import expert
from driftwise.learners.experts.adapt_ml_prod import PROD
from driftwise.learners.parts.sleeping_experts import SleepingLearner
from driftwise.learners.parts.time_intervals import COVERS, TRACKING, Cover
from driftwise.theory import pathwise_prod

__all__ = ["SleepingAdaptMLProd"]


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

    Regret: sqrt(Gamma sum r^2 ln(KT)) + Gamma ln(KT), times log T on a short cover.

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

    def __post_init__(self) -> None:
        require_choice(self, "cover", TRACKING)
        if self.n_rounds is not None:
            require_count(self, "n_rounds")

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Set the prior for the number of rounds."""
        return cls(n_rounds=measures.n_rounds)

    def bound(self, measures: Measures) -> float:
        """Return the bound against the best action of every segment."""
        n_pieces = measures.segments * self.starts().rows_to_cover(measures.n_rounds)
        K, T = measures.n_actions, measures.n_rounds
        return pathwise_prod.sleeping_adapt_ml_prod_worst(K, T, n_pieces, self.n_rounds)

    def starts(self) -> Cover:
        """Return the cover."""
        return COVERS[self.cover]

    def log_experts(self, n_actions: int) -> float:
        """Return ln(KT); 0 for the anytime prior."""
        return math.log(n_actions * self.n_rounds) if self.n_rounds else 0.0
