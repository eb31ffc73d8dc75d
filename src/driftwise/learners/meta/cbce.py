r"""Coin betting for changing environments: learners bet that they beat the play, and their stakes are their weights.

A learner runs on every dyadic interval $J = [J_1, J_2]$, with prior $\pi_J$. In round $t$ its row stakes $w_{t,J}$, a
share of its wealth set by its past coins $g$; $r_{t,J}$ is the play's loss less the row's:

$$ w_{t,J} = \frac{\sum_{s} g_{s,J}}{t - J_1 + 1} \Bigl(1 + \sum_s g_{s,J} w_{s,J}\Bigr), \qquad
   p_t \propto \sum_{J \ni t} \pi_J [w_{t,J}]_+\, x_t^J, \qquad
   \pi_J \propto \frac{1}{J_1^2 (1 + \lfloor \log_2 J_1 \rfloor)}, $$

sums being over $J_1 \le s < t$; the coin is $g_{t,J} = r_{t,J}$ if $w_{t,J} > 0$ and $[r_{t,J}]_+$ otherwise. A row
whose coins sum to less than 0 has a negative stake: it has no weight, and each positive coin costs it some of its
wealth. Where no stake is positive, $\pi$ takes the place of the stakes.

=======  ==================  =============================================================================
symbol   name in the code    meaning
=======  ==================  =============================================================================
$x^J$    `base`              the name of the learner that is run, with its defaults, on every interval
=======  ==================  =============================================================================

Pathwise, for every dyadic interval $J$ and its first $n$ rounds: the loss is at most $\sqrt{n (7 \ln J_1 + 5)}$ above
that of the base started with it.

Reference: K.-S. Jun, F. Orabona, S. Wright, R. Willett, "Improved strongly adaptive online learning using coin
betting", AISTATS 2017. Two things are ours. The play jumps where the only positive stake passes 0: rounding, which
depends on the order of the actions, must not decide on which side a sum of coins is. So a sum of coins that rounding
alone could have made (at most $10^{-12}$ a coin) counts as 0. And the logarithm of the prior is left out, as it is the
same for all rows awake together.
"""

from __future__ import annotations

from dataclasses import dataclass

from driftwise.core.corners import Corners
from driftwise.core.kernel import kernel
from driftwise.core.memory_fields import HUGE, within
from driftwise.core.types import Vector
from driftwise.learners.contract import Card
from driftwise.learners.parts.interval_learner import BASES, IntervalLearner, IntervalMemory, NoRates, interval_learner
from driftwise.learners.parts.interval_slots import DYADIC

__all__ = ["CBCE"]

_SUM, _WEALTH = 0, 1  # columns of the standing
_NIL = 1e-250  # shares that sum to less may vanish when they are multiplied by plays
_ROUNDING = 1e-12  # of a coin: a difference of two sums of products that are at most 1, with room to spare


@kernel
def _stake(rows: IntervalMemory, level: int) -> float:
    coins = rows.standing[level, _SUM]
    n = rows.clock[0] - rows.starts[level] + 1.0
    return 0.0 if abs(coins) <= _ROUNDING * n else float(coins / n * rows.standing[level, _WEALTH])


@kernel
def _settle(rows: IntervalMemory, rates: NoRates, suffered: float) -> None:  # noqa: ARG001
    for level in range(rows.clock[1]):
        stake = _stake(rows, level)
        coin = suffered - rows.suffered[level]
        if stake <= 0.0:
            coin = max(0.0, coin)
        rows.standing[level, _SUM] += coin
        rows.standing[level, _WEALTH] += coin * stake


@kernel
def _prior(start: int) -> float:
    # All rows awake together have the same first bit in their starts, so the logarithm is common to them.
    return 1.0 / (float(start) * float(start))


@kernel
def _share(rows: IntervalMemory, rates: NoRates) -> None:  # noqa: ARG001
    now, levels = rows.clock
    total = 0.0
    for level in range(levels):
        if rows.starts[level] == now:
            rows.standing[level, _SUM] = 0.0
            rows.standing[level, _WEALTH] = 1.0
        rows.shares[level] = _prior(rows.starts[level]) * max(0.0, _stake(rows, level))
        total += rows.shares[level]
    if total < _NIL:
        for level in range(levels):
            rows.shares[level] = _prior(rows.starts[level])


@interval_learner(
    "cbce",
    Card(
        title="Coin betting for changing environments (CBCE)",
        in_words="A learner on every dyadic interval, weighed by what it has won betting that it beats the play.",
        knows="nothing",
        cost="O(K log t)",
        bound="sqrt(|I| log t) above the base on every interval I",
        reference="Jun, Orabona, Wright, Willett (2017)",
    ),
    family=DYADIC,
    settle=_settle,
    share=_share,
)
@dataclass(frozen=True)
class CBCE(IntervalLearner):
    """Do well on every interval of rounds.

    >>> learner = CBCE(base="optimistic-gd")
    >>> state = learner.start(n_actions=2)
    >>> for losses in ([0.0, 1.0], [0.0, 1.0]):
    ...     learner.update(state, losses)
    >>> learner.predict(state)
    array([0.603..., 0.396...])
    """

    base: str = "hedge"

    corners = Corners(base=BASES)

    def __post_init__(self) -> None:
        self.require_base()

    def possible(self, standing: Vector, rounds: int) -> bool:
        """Say whether the sum of coins and the wealth can be those after so many rounds."""
        # After n coins the wealth is at least that of as many heads as tails, about sqrt(2 / (pi n)).
        poor = standing[_WEALTH] < 0.5 / (rounds + 1.0)
        return not poor and within(standing, (-float(rounds), 0.0), (float(rounds), HUGE))
