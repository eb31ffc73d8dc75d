r"""Follow the leading history: a learner started in every round, few of them kept, weighed by exponential weights.

Row $s$ starts in round $s = r 2^k$ ($r$ odd) and is kept for $2^{k+2} + 1$ rounds. Round $t$ plays the mean of the
plays of the rows $S_t$ that are kept, by weights $v_t$; then

$$ \hat v_{t+1,s} = \frac{v_{t,s}\, e^{-\alpha \langle \ell_t, x_t^s \rangle}}
   {\sum_{s' \in S_t} v_{t,s'}\, e^{-\alpha \langle \ell_t, x_t^{s'} \rangle}}, \qquad
   \bar v_{t+1,s} = \Bigl(1 - \frac{1}{t+1}\Bigr) \hat v_{t+1,s}, \qquad \bar v_{t+1,t+1} = \frac{1}{t+1}, $$

and $v_{t+1}$ is $\bar v_{t+1}$ made a distribution over $S_{t+1}$.

========  ==================  =============================================================================
symbol    name in the code    meaning
========  ==================  =============================================================================
$x^s$     `base`              the name of the learner that is run, with its defaults, from every start kept
$\alpha$  `learning_rate`     how fast the rows' losses move their weights
========  ==================  =============================================================================

Pathwise, for every row $s$ and each round $t$ that it is kept, the $n$-th of its own: the loss since it started is at
most $\ln(t) / \alpha + \alpha n / 8$ above that of the base started with it.

Reference: E. Hazan and C. Seshadhri, "Efficient learning algorithms for changing environments", ICML 2009: their AFLH,
the version with rows that end. For them $\alpha$ is the curvature of the losses; linear ones have none, and $\alpha$
must be tuned to the intervals one cares for. The bound above is ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from driftwise.core.corners import LARGEST, TOO_SLOW, Corners
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import HUGE
from driftwise.core.validation import require_number
from driftwise.learners.contract import Card
from driftwise.learners.parts.interval_learner import BASES, IntervalLearner, IntervalMemory, interval_learner
from driftwise.learners.parts.interval_slots import LASTING
from driftwise.theory import vacuous

__all__ = ["FLH"]


class Rates(NamedTuple):
    """The parameters, as the kernels read them."""

    learning_rate: float


@kernel
def _settle(rows: IntervalMemory, rates: Rates, suffered: float) -> None:  # noqa: ARG001
    # IntervalMemory that end now still count in the sum: what they had is lost to all others alike.
    top = -np.inf
    for slot in range(rows.clock[1]):
        if rows.starts[slot] > 0:
            rows.standing[slot, 0] -= rates.learning_rate * rows.suffered[slot]
            top = max(top, rows.standing[slot, 0])
    mass = 0.0
    for slot in range(rows.clock[1]):
        if rows.starts[slot] > 0:
            mass += np.exp(rows.standing[slot, 0] - top)
    kept = np.log1p(-1.0 / (rows.clock[0] + 1.0))
    for slot in range(rows.clock[1]):
        if rows.starts[slot] > 0:
            rows.standing[slot, 0] = max(-HUGE, rows.standing[slot, 0] + (kept - top - np.log(mass)))


@kernel
def _share(rows: IntervalMemory, rates: Rates) -> None:  # noqa: ARG001
    now, in_use = rows.clock
    mass = 0.0
    for slot in range(in_use):
        if rows.starts[slot] == now:
            rows.standing[slot, 0] = -np.log(float(now))
        if rows.starts[slot] > 0:
            rows.shares[slot] = np.exp(rows.standing[slot, 0])
            mass += rows.shares[slot]
    for slot in range(in_use):
        if rows.starts[slot] > 0:
            rows.standing[slot, 0] -= np.log(mass)


@interval_learner(
    "flh",
    Card(
        title="Follow the leading history (AFLH)",
        in_words="A learner from every start, the starts thinned out with age, weighed by exponential weights.",
        knows="how long the intervals of interest are, through the learning rate",
        cost="O(K log t)",
        bound="sqrt(n log t) above the base on every interval of the length n it is tuned for",
        reference="Hazan, Seshadhri (2009)",
        in_practice="where means switch, keep the default learning rate: on ten segments of Bernoulli losses its "
        "regret is 250, tuned 359; on a sinusoid it is 410, tuned 143",
    ),
    family=LASTING,
    settle=_settle,
    share=_share,
)
@dataclass(frozen=True)
class FLH(IntervalLearner):
    """Do well on every interval of about one length.

    `tuned` minimises the bound, which is not the regret: where means switch, the default rate may do better
    (`driftwise show flh`).

    >>> learner = FLH(base="optimistic-gd", learning_rate=1.0)
    >>> state = learner.start(n_actions=2)
    >>> for losses in ([0.0, 1.0], [0.0, 1.0]):
    ...     learner.update(state, losses)
    >>> learner.predict(state)
    array([0.626..., 0.373...])
    """

    base: str = "hedge"
    learning_rate: float = 0.5

    corners = Corners(base=BASES, learning_rate=(TOO_SLOW, LARGEST))

    def __post_init__(self) -> None:
        self.require_base()
        require_number(self, "learning_rate", lambda x: 0 < x < math.inf, "a finite number > 0")

    @property
    def skipped_checks(self) -> dict[str, str]:
        """Say why the order of actions may matter at huge rates."""
        why = "a rate this large turns the rounding of a row's loss into a weight"
        return {"relabelling_actions_relabels_the_weights": why} if self.learning_rate > 1e12 else {}

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Take the rate that minimises the bound on segments of equal length."""
        length = measures.n_rounds / measures.segments
        return cls(learning_rate=math.sqrt(8 * math.log(measures.n_rounds + 1) / length))

    def tuning_caveat(self, measures: Measures) -> str:
        """Return a reason where its bound beyond that of its base is no better than that of uniform play."""
        T, rate = measures.n_rounds, self.learning_rate
        return vacuous.bound(measures, measures.segments * math.log(T + 1) / rate + rate * T / 8)

    def rule_rates(self) -> Rates:
        """Return the learning rate."""
        return Rates(self.learning_rate)
