r"""Adapt-ML-Prod over experts that wake one after another: tracking at the price of the regrets that occur.

Expert $(s, k)$ sleeps before round $s$ and then advises action $k$, for as long as the cover keeps row $s$ awake.
Round $t$ plays $p_{t,k} \propto \sum_{s \text{ awake}} \eta_{t-1,(s,k)} w_{t-1,(s,k)}$, and the awake experts move
as in Adapt-ML-Prod; a sleeping expert is told that it lost exactly what the play lost, so it does not move.

=========  ==================  ==========================================================================
symbol     name in the code    meaning
=========  ==================  ==========================================================================
$s$        `cover`             how long row $s$ is awake: "every" keeps each forever, $O(K t)$ a round;
                               "geometric" and "hazan-seshadhri" keep $O(\log t)$ of them
$T$        `n_rounds`          prior $1/(KT)$ for each expert and $\ln(KT)$ in the rates; None is anytime:
                               each row weighs $1/K$ outside, with $\ln(K(s+1))$ in its rates
=========  ==================  ==========================================================================

Pathwise, for every action and every $[t_1, t_2]$ within the life of row $t_1$, anytime: the regret is at most
$\sum \eta r^2 + \eta^{-1} [\ln K + \ln(t_2 + \tfrac{1}{eK} \sum_{s \le t_2, k'} \text{ratio}_{(s,k')})]$, where an
expert's ratio is $\sum_t (\eta_{t-1}/\eta_t - 1)$. Any other stretch is made up of such lives.

Reference: Gaillard, Stoltz, van Erven (2014), with sleeping experts; one copy of each action per start is Algorithm 4
of Wei, Hong, Lu (2016), here with no guess of the coming losses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

from driftwise.core.corners import LONGEST, Corners
from driftwise.core.measures import Measures
from driftwise.core.validation import require_choice, require_count
from driftwise.learners.contract import Card, expert
from driftwise.learners.experts.adapt_ml_prod import PROD
from driftwise.learners.parts.sleeping_experts import SleepingLearner
from driftwise.learners.parts.time_intervals import COVERS, TRACKING, Cover
from driftwise.theory import pathwise_prod

__all__ = ["SleepingAdaptMLProd"]


@expert(
    "sleeping-adapt-ml-prod",
    Card(
        title="Adapt-ML-Prod on sleeping experts",
        in_words="One copy of every action starts in every round; the play is what the awake copies agree on.",
        knows="nothing (the number of rounds, if given)",
        cost="O(K t)",
        bound="sqrt(Gamma sum r^2 ln(KT)) + Gamma ln(KT), times log T on a short cover",
        reference="Gaillard, Stoltz, van Erven (2014); Wei, Hong, Lu (2016), Algorithm 4 without guesses",
    ),
    update=PROD.update,
)
@dataclass(frozen=True)
class SleepingAdaptMLProd(SleepingLearner):
    """Track switches with nothing to tune.

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
        """Take the prior that knows the number of rounds."""
        return cls(n_rounds=measures.n_rounds)

    def bound(self, measures: Measures) -> float:
        """Bound the regret against the best action of every segment."""
        pieces = measures.segments * self.starts().pieces(measures.n_rounds)
        K, T = measures.n_actions, measures.n_rounds
        return pathwise_prod.sleeping_adapt_ml_prod_worst(K, T, pieces, self.n_rounds)

    def starts(self) -> Cover:
        """Return the cover."""
        return COVERS[self.cover]

    def log_experts(self, n_actions: int) -> float:
        """Return ln(KT), 0 for the anytime prior."""
        return math.log(n_actions * self.n_rounds) if self.n_rounds else 0.0
