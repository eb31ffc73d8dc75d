r"""Strongly adaptive online learning: a learner on every dyadic interval, weighed by its lead over the play.

Row $I$ begins with the weight $\eta_I = \min(1/2, |I|^{-1/2})$. Round $t$ plays $p_t$, the mean of the plays of the
rows awake by their weights; with $r_{t,I} = \langle p_t, \ell_t \rangle - \langle x_t^I, \ell_t \rangle$,

$$ p_t \propto \sum_{I \ni t} w_{t,I}\, x_t^I, \qquad w_{t+1,I} = w_{t,I} (1 + \eta_I\, r_{t,I}) . $$

=======  ==================  =============================================================================
symbol   name in the code    meaning
=======  ==================  =============================================================================
$x^I$    `base`              the name of the learner that is run, with its defaults, on every interval
=======  ==================  =============================================================================

Pathwise, for every dyadic interval $I$ and in each of its rounds $t$: the loss since its beginning is at most
$5 \log_2(t + 1) \sqrt{|I|}$ above that of the base started with it. Every interval is a union of few of these.

Reference: A. Daniely, A. Gonen, S. Shalev-Shwartz, "Strongly adaptive online learning", ICML 2015. The play is the
mean where they draw a row, and weights are kept as logarithms: those of a long row fall below the smallest double.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftwise.core.corners import Corners
from driftwise.core.kernel import kernel
from driftwise.learners.contract import Card
from driftwise.learners.parts.interval_learner import BASES, IntervalLearner, IntervalMemory, NoRates, interval_learner
from driftwise.learners.parts.interval_slots import DYADIC

__all__ = ["SAOL"]


@kernel
def _rate(level: int) -> float:
    return float(min(0.5, 2.0 ** (-0.5 * level)))


@kernel
def _settle(rows: IntervalMemory, rates: NoRates, suffered: float) -> None:  # noqa: ARG001
    for level in range(rows.clock[1]):
        rows.standing[level, 0] += np.log1p(_rate(level) * (suffered - rows.suffered[level]))


@kernel
def _share(rows: IntervalMemory, rates: NoRates) -> None:  # noqa: ARG001
    now, levels = rows.clock
    top = -np.inf
    for level in range(levels):
        if rows.starts[level] == now:
            rows.standing[level, 0] = np.log(_rate(level))
        top = max(top, rows.standing[level, 0])
    for level in range(levels):
        rows.shares[level] = np.exp(rows.standing[level, 0] - top)


@interval_learner(
    "saol",
    Card(
        title="Strongly adaptive online learning (SAOL)",
        in_words="A learner on every dyadic interval, weighed by how much better than the play it has been.",
        knows="nothing",
        cost="O(K log t)",
        bound="sqrt(|I|) log t above the base on every interval I",
        reference="Daniely, Gonen, Shalev-Shwartz (2015)",
    ),
    family=DYADIC,
    settle=_settle,
    share=_share,
)
@dataclass(frozen=True)
class SAOL(IntervalLearner):
    """Do well on every interval of rounds.

    >>> learner = SAOL(base="optimistic-gd")
    >>> state = learner.start(n_actions=2)
    >>> for losses in ([0.0, 1.0], [0.0, 1.0]):
    ...     learner.update(state, losses)
    >>> learner.predict(state)
    array([0.575, 0.425])
    """

    base: str = "hedge"

    corners = Corners(base=BASES)

    def __post_init__(self) -> None:
        self.require_base()
