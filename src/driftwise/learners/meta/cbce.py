r"""CBCE: coin betting for changing environments.

Two things differ from the source. The weights played are discontinuous where the only positive stake passes 0.
Rounding, which depends on the order of the actions, must not decide the sign of a sum of coins, so a sum that rounding
alone could have made (at most $10^{-12}$ a coin) counts as 0. And the logarithm in the prior is left out, as it is the
same for all rows awake in a round.
"""

from __future__ import annotations

from dataclasses import dataclass

from driftwise.core.corners import Corners
from driftwise.core.kernel import kernel
from driftwise.core.memory_fields import HUGE, within
from driftwise.core.types import Vector
from driftwise.learners.base.learner import NoRates
from driftwise.learners.shared.interval_learner import BASES, IntervalLearner, IntervalRows, interval_learner
from driftwise.learners.shared.time_intervals import DYADIC_SLOTS

_SUM, _WEALTH = 0, 1  # columns of the scores
_NIL = 1e-250  # shares with a smaller sum may underflow when they are multiplied by weights
_ROUNDING = 1e-12  # of a coin, generously: a coin is a difference of two sums of products that are at most 1


@kernel
def _stake(rows: IntervalRows, level: int) -> float:
    coins = rows.scores[level, _SUM]
    n = rows.clock[0] - rows.starts[level] + 1.0
    return 0.0 if abs(coins) <= _ROUNDING * n else float(coins / n * rows.scores[level, _WEALTH])


@kernel
def _score_round(rows: IntervalRows, rates: NoRates, loss: float) -> None:  # noqa: ARG001
    for level in range(rows.clock[1]):
        stake = _stake(rows, level)
        coin = loss - rows.losses[level]
        if stake <= 0.0:
            coin = max(0.0, coin)
        rows.scores[level, _SUM] += coin
        rows.scores[level, _WEALTH] += coin * stake


@kernel
def _prior(start: int) -> float:
    # The starts of all rows awake in a round have the same highest bit, so the logarithm is common to them.
    return 1.0 / (float(start) * float(start))


@kernel
def _write_shares(rows: IntervalRows, rates: NoRates) -> None:  # noqa: ARG001
    now, levels = rows.clock
    total = 0.0
    for level in range(levels):
        if rows.starts[level] == now:
            rows.scores[level, _SUM] = 0.0
            rows.scores[level, _WEALTH] = 1.0
        rows.shares[level] = _prior(rows.starts[level]) * max(0.0, _stake(rows, level))
        total += rows.shares[level]
    if total < _NIL:
        for level in range(levels):
            rows.shares[level] = _prior(rows.starts[level])


@interval_learner("cbce", slots=DYADIC_SLOTS, score_round=_score_round, write_shares=_write_shares)
@dataclass(frozen=True)
class CBCE(IntervalLearner):
    r"""CBCE (Jun, Orabona, Wright and Willett, 2017): a base learner on every dyadic interval, weighed by coin betting.

    Coin betting for changing environments: on every interval of rounds the loss is close to that of the base started
    with the interval. There is nothing to tune.

    Parameters
    ----------
    base : str, default "hedge"
        Name of the learner that is run, with its default parameters, on every interval ($x^J$): a full-feedback learner
        of fixed memory, not one made of learners.

    Notes
    -----
    Row $J$ is the base on the dyadic interval $J = [J_1, J_2]$. In round $t$ it stakes $w_{t,J}$, a share of its wealth
    set by its past coins $g$; with $\pi_J$ the prior and $r_{t,J}$ the loss of $p_t$ less the row's,

    $$ w_{t,J} = \frac{\sum_{s} g_{s,J}}{t - J_1 + 1} \Bigl(1 + \sum_s g_{s,J} w_{s,J}\Bigr), \qquad
       p_t \propto \sum_{J \ni t} \pi_J [w_{t,J}]_+\, x_t^J, \qquad
       \pi_J \propto \frac{1}{J_1^2 (1 + \lfloor \log_2 J_1 \rfloor)}, $$

    with sums over $J_1 \le s < t$. The coin is $g_{t,J} = r_{t,J}$ if $w_{t,J} > 0$ and $[r_{t,J}]_+$ otherwise. A row
    whose coins sum to less than 0 has a negative stake and no weight, and each positive coin lowers its wealth. Where
    no stake is positive, $\pi$ takes the place of the stakes.

    Regret: $\sqrt{\lvert I \rvert \log t}$ above the base on every interval $I$. For all losses, every dyadic interval
    $J$ and its first $n$ rounds, the loss is at most $\sqrt{n (7 \ln J_1 + 5)}$ above that of the base started with it.

    Must know: nothing.

    Time per round: O(K log t).

    References
    ----------
    K.-S. Jun, F. Orabona, S. Wright, R. Willett, "Improved strongly adaptive online learning using coin betting",
    AISTATS 2017.

    Examples
    --------
    >>> learner = CBCE(base="optimistic-gd")
    >>> state = learner.start(n_actions=2)
    >>> for losses in ([0.0, 1.0], [0.0, 1.0]):
    ...     learner.update(state, losses)
    >>> learner.predict(state)
    array([0.603..., 0.396...])
    """

    base: str = "hedge"

    corners = Corners(base=BASES)

    def possible(self, scores: Vector, rounds: int) -> bool:
        """Return whether a row can have this sum of coins and this wealth after so many rounds."""
        # After n coins the wealth is at least that of as many heads as tails, about sqrt(2 / (pi n)).
        too_little = scores[_WEALTH] < 0.5 / (rounds + 1.0)
        return not too_little and within(scores, (-float(rounds), 0.0), (float(rounds), HUGE))
