r"""AdaNormalHedge.TV: AdaNormalHedge over sleeping experts.

The paper keeps every row of experts; the covers with fewer rows are an addition of driftwise.

Bound for every loss sequence, every action $k$ and every $[t_1, t_2]$ within the life of row $t_1$: the regret is at
most $\sqrt{3 C \ln(t_1^2 B)}$, $B = \sum_{s \le t_2, k'} s^{-2} (1 + \tfrac32 (1 + \ln(1 + C_{(s,k')})))$, where $C$ is
the sum of $|r_{t,k}|$ over $[t_1, t_2]$.
"""

from __future__ import annotations

from dataclasses import dataclass

from driftwise.core.corners import Corners
from driftwise.core.measures import Measures
from driftwise.core.validation import require_choice
from driftwise.learners.contract import expert
from driftwise.learners.experts.ada_normal_hedge import NORMAL
from driftwise.learners.parts.sleeping_experts import SleepingLearner
from driftwise.learners.parts.time_intervals import COVERS, TRACKING, Cover
from driftwise.theory import pathwise_experts

__all__ = ["AdaNormalHedgeTV"]


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

    Regret: sqrt(Gamma sum |r| ln(KT)), times log T on a short cover.

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

    def __post_init__(self) -> None:
        require_choice(self, "cover", TRACKING)

    def bound(self, measures: Measures) -> float:
        """Return the bound against the best action of every segment."""
        n_pieces = measures.segments * self.starts().rows_to_cover(measures.n_rounds)
        return pathwise_experts.ada_normal_hedge_tv_worst(measures.n_actions, measures.n_rounds, n_pieces)

    def starts(self) -> Cover:
        """Return the cover."""
        return COVERS[self.cover]
