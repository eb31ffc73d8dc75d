r"""FLH: follow the leading history.

This is the version of the source with rows that end, its AFLH. There $\alpha$ is the curvature of the losses. Linear
losses have none, so $\alpha$ must be tuned to the length of the intervals of interest. The bound is derived here.
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
from driftwise.core.validation import POSITIVE, Domains
from driftwise.learners.shared.interval_learner import BASES, IntervalLearner, IntervalRows, interval_learner
from driftwise.learners.shared.time_intervals import HAZAN_SESHADHRI_SLOTS
from driftwise.theory import vacuous


class Rates(NamedTuple):
    """The parameters, as the kernels read them."""

    learning_rate: float


@kernel
def _score_round(rows: IntervalRows, rates: Rates, loss: float) -> None:  # noqa: ARG001
    # The score is the logarithm of the weight. Rows that end now are in the sum: their weight is lost to all others in
    # the same proportion.
    top = -np.inf
    for slot in range(rows.clock[1]):
        if rows.starts[slot] > 0:
            rows.scores[slot, 0] -= rates.learning_rate * rows.losses[slot]
            top = max(top, rows.scores[slot, 0])
    mass = 0.0
    for slot in range(rows.clock[1]):
        if rows.starts[slot] > 0:
            mass += np.exp(rows.scores[slot, 0] - top)
    kept = np.log1p(-1.0 / (rows.clock[0] + 1.0))
    for slot in range(rows.clock[1]):
        if rows.starts[slot] > 0:
            rows.scores[slot, 0] = max(-HUGE, rows.scores[slot, 0] + (kept - top - np.log(mass)))


@kernel
def _write_shares(rows: IntervalRows, rates: Rates) -> None:  # noqa: ARG001
    now, in_use = rows.clock
    mass = 0.0
    for slot in range(in_use):
        if rows.starts[slot] == now:
            rows.scores[slot, 0] = -np.log(float(now))
        if rows.starts[slot] > 0:
            rows.shares[slot] = np.exp(rows.scores[slot, 0])
            mass += rows.shares[slot]
    for slot in range(in_use):
        if rows.starts[slot] > 0:
            rows.scores[slot, 0] -= np.log(mass)


@interval_learner("flh", slots=HAZAN_SESHADHRI_SLOTS, score_round=_score_round, write_shares=_write_shares)
@dataclass(frozen=True)
class FLH(IntervalLearner):
    r"""Follow the leading history (Hazan and Seshadhri, 2009): a base learner from every start, exponentially weighted.

    On every interval of the length that the learning rate is tuned for, the loss is close to that of the base started
    with the interval. This is the version AFLH, which keeps O(log t) starts.

    Parameters
    ----------
    base : str, default "hedge"
        Name of the learner that is run, with its default parameters, from every start ($x^s$): a full-feedback learner
        of fixed memory, not one made of learners.
    learning_rate : float, default 0.5
        How fast the rows' losses move their weights ($\alpha$), a finite number > 0.

    Notes
    -----
    Row $s$ is the base started in round $s = r 2^k$ ($r$ odd). It is kept for $2^{k+2} + 1$ rounds. Round $t$ plays the
    mean of the weights of the rows $S_t$ that are kept, weighed by $v_t$. Then

    $$ \hat v_{t+1,s} = \frac{v_{t,s}\, e^{-\alpha \langle \ell_t, x_t^s \rangle}}
       {\sum_{s' \in S_t} v_{t,s'}\, e^{-\alpha \langle \ell_t, x_t^{s'} \rangle}}, \qquad
       \bar v_{t+1,s} = \Bigl(1 - \frac{1}{t+1}\Bigr) \hat v_{t+1,s}, \qquad \bar v_{t+1,t+1} = \frac{1}{t+1}, $$

    and $v_{t+1}$ is $\bar v_{t+1}$ normalised over $S_{t+1}$.

    Regret: $\sqrt{n \log t}$ above the base on every interval of the length $n$ it is tuned for. For all losses, every
    row $s$ and each round $t$ in which it is kept, the $n$-th of its own, the loss since its start is at most $\ln(t) /
    \alpha + \alpha n / 8$ above that of the base started with it.

    Must know: how long the intervals of interest are, through the learning rate.

    Time per round: O(K log t).

    In practice: where means switch, keep the default learning rate: on ten segments of Bernoulli losses its regret is
    250, tuned 359; on a sinusoid it is 410, tuned 143. `tuned` minimises the bound, which is not the regret.

    References
    ----------
    E. Hazan, C. Seshadhri, "Efficient learning algorithms for changing environments", ICML 2009.

    Examples
    --------
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
    _domains = Domains(learning_rate=POSITIVE)

    @property
    def skipped_checks(self) -> dict[str, str]:
        """Return why the weights may depend on the order of the actions at very large rates."""
        why = "a rate this large turns the rounding of a row's loss into a weight"
        return {"relabelling_actions_relabels_the_weights": why} if self.learning_rate > 1e12 else {}

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Take the rate that minimises the bound on segments of equal length."""
        length = measures.n_rounds / measures.segments
        return cls(learning_rate=math.sqrt(8 * math.log(measures.n_rounds + 1) / length))

    def tuning_caveat(self, measures: Measures) -> str:
        """Return a reason where its bound beyond that of its base is no better than that of uniform weights."""
        T, rate = measures.n_rounds, self.learning_rate
        return vacuous.bound(measures, measures.segments * math.log(T + 1) / rate + rate * T / 8)

    def rule_rates(self) -> Rates:
        """Return the learning rate."""
        return Rates(self.learning_rate)
