r"""UCB1, and its forms that forget: discounted UCB and sliding-window UCB.

The factor 2 before the root of discounted UCB makes the radius twice as wide as that of sliding-window UCB for the same
$\xi$. Other packages leave it out: the index of SMPyBandits is this one with $\xi = 1/8$, its default.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from driftwise.core.corners import SMALLEST, TOO_NARROW, TOO_WIDE, Corners, NoLearning
from driftwise.core.kernel import generic_kernel
from driftwise.core.measures import Measures
from driftwise.core.validation import COUNT, POSITIVE, Domains, interval, optional
from driftwise.learners.base.loops import AnyRates
from driftwise.learners.shared.index_learner import DiscountedLearner, IndexLearner, IndexMemory, WindowLearner, indexed


class Width(NamedTuple):
    """Parameter as the kernels take it."""

    log_scale: float  # xi


@generic_kernel
def mean_less_radius(memory: IndexMemory, rates: AnyRates, action: int, level: float) -> float:
    r"""Return $\hat\mu - \sqrt{\xi \cdot level / n}$."""
    n: float = memory.plays[action]
    if n <= 0.0:
        return -np.inf
    return float(memory.total[action] / n - np.sqrt(rates.log_scale * level / n))


@indexed("ucb1", score=mean_less_radius)
@dataclass(frozen=True)
class UCB1(IndexLearner[Width]):
    r"""UCB1 (Auer, Cesa-Bianchi and Fischer, 2002): plays the lowest confidence bound on the mean loss.

    For means that do not change.

    Parameters
    ----------
    log_scale : float, default 2.0
        Factor on the logarithm in the confidence radius ($\xi$), a finite number > 0. The theory uses 2.

    Notes
    -----
    With $n_i$ the plays of action $i$ so far and $\hat\mu_i$ the mean of their losses, round $t + 1$ plays

    $$ \arg\min_i \hat\mu_i - \sqrt{\frac{\xi \ln t}{n_i}} , $$

    after playing every action once.

    Regret: $\sqrt{K T \ln T}$, or $\sum_i \ln(T) / \Delta_i$ over the gaps, for fixed means. With $\xi = 2$ the
    expected regret is at most $\sum_i 8 \ln T / \Delta_i + (1 + \pi^2/3) \sum_i \Delta_i$ over the actions with a gap
    $\Delta_i > 0$, and for any gaps at most $\sqrt{8 K T \ln T} + (1 + \pi^2/3) K$. There is no guarantee after a
    change.

    Must know: nothing.

    Time per round: O(K).

    References
    ----------
    P. Auer, N. Cesa-Bianchi, P. Fischer, "Finite-time analysis of the multiarmed bandit problem", Machine Learning 47
    (2002), Theorem 1.

    Examples
    --------
    >>> learner = UCB1()
    >>> learner.run(learner.start(n_actions=2), [[0.0, 1.0]] * 5)
    array([0, 1, 0, 0, 0])
    """

    log_scale: float = 2.0

    corners = Corners(log_scale=(TOO_NARROW, TOO_WIDE))
    _domains = Domains(log_scale=POSITIVE)

    def bound(self, measures: Measures) -> float | None:
        """Return the bound that holds for any gaps, or None if the means change or `log_scale` is not 2."""
        if measures.segments > 1 or self.log_scale != 2.0:
            return None
        K, T = measures.n_actions, measures.n_rounds
        if K == 1:
            return 0.0
        return min(T, math.sqrt(8 * K * T * math.log(T)) + (1 + math.pi**2 / 3) * K)


class DiscountedWidth(NamedTuple):
    """Parameters as the kernels take them."""

    log_scale: float  # 4 xi
    discount: float


@indexed("discounted-ucb", score=mean_less_radius)
@dataclass(frozen=True)
class DiscountedUCB(DiscountedLearner[DiscountedWidth]):
    r"""Discounted UCB (Garivier and Moulines, 2011): UCB1 with exponentially discounted plays and losses.

    For means that change occasionally. The default `log_scale` is the one the theory needs; a smaller one, such as
    0.125, often halves the regret or better.

    Parameters
    ----------
    discount : float, default 0.995
        Factor on past plays and losses per round ($\gamma$), in (0, 1]. 1 keeps all of the past.
    log_scale : float, default 0.6
        Factor on the logarithm in the confidence radius ($\xi$), a finite number > 0. The theory needs more than 1/2.

    Notes
    -----
    With $N_i = \sum_{s \le t} \gamma^{t-s} 1[a_s = i]$, $X_i$ the losses of action $i$ discounted in the same way and
    $n = \sum_i N_i$, round $t + 1$ plays

    $$ \arg\min_i \frac{X_i}{N_i} - 2 \sqrt{\frac{\xi \ln n}{N_i}} . $$

    The logarithm is replaced by 0 where $n < 1$. With $\Upsilon = \Gamma - 1$ changes, `tuned` sets
    $\gamma = 1 - \frac14 \sqrt{\Upsilon/T}$.

    Regret: $\sqrt{\Gamma T} \ln T$ for fixed gaps. That is, $O(\sqrt{\Upsilon T} \ln T)$ with the tuned discount.

    Must know: rounds and segments, through the discount.

    Time per round: O(K).

    In practice: a smaller log_scale has less regret. On six segments the regret is 1,119 with the default, which the
    theory needs, 571 with 0.125, the constant of SMPyBandits, and 316 with 0.03; on a random walk 2,985, 1,423 and 749.

    References
    ----------
    A. Garivier, E. Moulines, "On upper-confidence bound policies for switching bandit problems", ALT 2011.

    L. Kocsis, C. Szepesvari, "Discounted UCB", 2nd PASCAL Challenges Workshop (2006), who proposed it.

    Examples
    --------
    >>> learner = DiscountedUCB(discount=0.9)
    >>> learner.run(learner.start(n_actions=2), [[0.0, 1.0]] * 5)
    array([0, 1, 0, 0, 0])
    """

    discount: float = 0.995
    log_scale: float = 0.6

    corners = Corners(
        discount=(NoLearning(SMALLEST, "only the last round counts"), 1.0), log_scale=(SMALLEST, TOO_WIDE)
    )
    _domains = Domains(discount=interval("(0, 1]"), log_scale=POSITIVE)

    def rates(self, n_actions: int) -> DiscountedWidth:
        """Return the parameters."""
        return DiscountedWidth(log_scale=4.0 * self.log_scale, discount=self.discount)


@indexed("sliding-window-ucb", score=mean_less_radius)
@dataclass(frozen=True)
class SlidingWindowUCB(WindowLearner[Width]):
    r"""Sliding-window UCB (Garivier and Moulines, 2011): UCB1 on the latest rounds.

    For means that change occasionally.

    Parameters
    ----------
    window : int or None, default 1000
        Number of latest rounds that count ($\tau$), a whole number >= 1. None counts all rounds.
    log_scale : float, default 0.6
        Factor on the logarithm in the confidence radius ($\xi$), a finite number > 0. The theory needs more than 1/2.

    Notes
    -----
    With $N_i$ the plays of action $i$ among the last $\tau$ rounds and $\hat\mu_i$ the mean of their losses, round
    $t + 1$ plays

    $$ \arg\min_i \hat\mu_i - \sqrt{\frac{\xi \ln \min(t, \tau)}{N_i}} , $$

    and at once an action that was not played in the window. A window of fewer than $K - 1$ rounds cannot hold all
    actions: the first few are then played in turn forever. With $\Upsilon = \Gamma - 1$ changes, `tuned` sets
    $\tau = 2 \sqrt{T \ln T / \Upsilon}$.

    Regret: $\sqrt{\Gamma T \ln T}$ for fixed gaps. That is, $O(\sqrt{\Upsilon T \ln T})$ with the tuned window.

    Must know: rounds and segments, through the window.

    Time per round: O(K).

    References
    ----------
    A. Garivier, E. Moulines, "On upper-confidence bound policies for switching bandit problems", ALT 2011.

    Examples
    --------
    >>> learner = SlidingWindowUCB(window=3)
    >>> learner.run(learner.start(n_actions=2), [[0.0, 1.0]] * 6)
    array([0, 1, 0, 0, 0, 1])
    """

    window: int | None = 1000
    log_scale: float = 0.6

    corners = Corners(window=WindowLearner.window_corners, log_scale=(SMALLEST, TOO_WIDE))
    _domains = Domains(window=optional(COUNT), log_scale=POSITIVE)
