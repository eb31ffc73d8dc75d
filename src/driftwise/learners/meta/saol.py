"""SAOL: strongly adaptive online learning.

The weights played are the mean of the rows' weights, where the source draws a row at random. The weights of the rows
are kept as logarithms: those of a long row fall below the smallest double.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftwise.core.corners import Corners
from driftwise.core.kernel import kernel
from driftwise.learners.base.learner import NoRates
from driftwise.learners.shared.interval_learner import BASES, IntervalLearner, IntervalRows, interval_learner
from driftwise.learners.shared.time_intervals import DYADIC_SLOTS


@kernel
def _rate(level: int) -> float:
    return float(min(0.5, 2.0 ** (-0.5 * level)))


@kernel
def _score_round(rows: IntervalRows, rates: NoRates, loss: float) -> None:  # noqa: ARG001
    # The score is the logarithm of the weight.
    for level in range(rows.clock[1]):
        rows.scores[level, 0] += np.log1p(_rate(level) * (loss - rows.losses[level]))


@kernel
def _write_shares(rows: IntervalRows, rates: NoRates) -> None:  # noqa: ARG001
    now, levels = rows.clock
    top = -np.inf
    for level in range(levels):
        if rows.starts[level] == now:
            rows.scores[level, 0] = np.log(_rate(level))
        top = max(top, rows.scores[level, 0])
    for level in range(levels):
        rows.shares[level] = np.exp(rows.scores[level, 0] - top)


@interval_learner("saol", slots=DYADIC_SLOTS, score_round=_score_round, write_shares=_write_shares)
@dataclass(frozen=True)
class SAOL(IntervalLearner):
    r"""SAOL (Daniely, Gonen and Shalev-Shwartz, 2015): a base learner on every dyadic interval, reweighted by regret.

    Strongly adaptive online learning: on every interval of rounds the loss is close to that of the base started with
    the interval. There is nothing to tune.

    Parameters
    ----------
    base : str, default "hedge"
        Name of the learner that is run, with its default parameters, on every interval ($x^I$): a full-feedback learner
        of fixed memory, not one made of learners.

    Notes
    -----
    Row $I$ is the base on the dyadic interval $I$. It starts with the weight $\eta_I = \min(1/2, |I|^{-1/2})$. Round
    $t$ plays $p_t$, the mean of the weights $x_t^I$ of the rows awake; with the regret
    $r_{t,I} = \langle p_t, \ell_t \rangle - \langle x_t^I, \ell_t \rangle$ against row $I$,

    $$ p_t \propto \sum_{I \ni t} w_{t,I}\, x_t^I, \qquad w_{t+1,I} = w_{t,I} (1 + \eta_I\, r_{t,I}) . $$

    Regret: $\sqrt{\lvert I \rvert} \log t$ above the base on every interval $I$. For all losses, every dyadic interval
    $I$ and each of its rounds $t$, the loss since its start is at most $5 \log_2(t + 1) \sqrt{|I|}$ above that of the
    base started with it. Every interval is a union of few dyadic ones.

    Must know: nothing.

    Time per round: O(K log t).

    References
    ----------
    A. Daniely, A. Gonen, S. Shalev-Shwartz, "Strongly adaptive online learning", ICML 2015.

    Examples
    --------
    >>> learner = SAOL(base="optimistic-gd")
    >>> state = learner.start(n_actions=2)
    >>> for losses in ([0.0, 1.0], [0.0, 1.0]):
    ...     learner.update(state, losses)
    >>> learner.predict(state)
    array([0.575, 0.425])
    """

    base: str = "hedge"

    corners = Corners(base=BASES)
