"""KL-UCB, and its forms that forget: with the discount of discounted UCB, or the window of sliding-window UCB."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from driftwise.core.corners import SMALLEST, TOO_WIDE, Corners, NoLearning
from driftwise.core.divergence import least_mean, least_mean_exceeds, least_mean_roughly
from driftwise.core.kernel import generic_kernel
from driftwise.core.validation import COUNT, NOT_NEGATIVE, Domains, interval, optional
from driftwise.learners.base.loops import AnyRates
from driftwise.learners.shared.index_learner import DiscountedLearner, IndexLearner, IndexMemory, WindowLearner, indexed


class Extra(NamedTuple):
    """Parameter as the kernels take it."""

    loglog_scale: float


@generic_kernel
def kl_level(count: float, rates: AnyRates) -> float:
    r"""Return $\ln n + c \ln \ln n$, with negative logarithms replaced by 0."""
    level = np.log(count) if count > 1.0 else 0.0
    return float(level + rates.loglog_scale * np.log(level) if level > 1.0 else level)


@generic_kernel
def kl_score(memory: IndexMemory, rates: AnyRates, action: int, level: float) -> float:  # noqa: ARG001
    """Return the lower confidence bound on the mean loss."""
    n: float = memory.plays[action]
    if n <= 0.0:
        return -np.inf
    return least_mean(memory.total[action] / n, level / n)


@generic_kernel
def _estimate(memory: IndexMemory, rates: AnyRates, action: int, level: float) -> float:  # noqa: ARG001
    n: float = memory.plays[action]
    if n <= 0.0:
        return -np.inf
    return least_mean_roughly(memory.total[action] / n, level / n)


@generic_kernel
def _exceeds(memory: IndexMemory, rates: AnyRates, action: int, level: float, bound: float) -> bool:  # noqa: ARG001
    n: float = memory.plays[action]
    return n > 0.0 and least_mean_exceeds(memory.total[action] / n, level / n, bound)


kl_pruning = _estimate, _exceeds


@indexed("kl-ucb", level=kl_level, score=kl_score, pruning=kl_pruning)
@dataclass(frozen=True)
class KLUCB(IndexLearner[Extra]):
    r"""KL-UCB (Garivier and Cappe, 2011): confidence bounds by the Bernoulli divergence, valid on [0, 1].

    For means that do not change.

    Parameters
    ----------
    loglog_scale : float, default 0.0
        Factor on $\ln \ln t$ in the confidence level ($c$), a finite number >= 0. The theory uses 3, practice 0.

    Notes
    -----
    With $n_i$ plays of action $i$ and $\hat\mu_i$ the mean of their losses, round $t + 1$ plays the action with the
    lowest index

    $$ \min \{ q \le \hat\mu_i : n_i \, kl(\hat\mu_i, q) \le \ln t + c \ln \ln t \} , $$

    where $kl$ is the divergence of Bernoulli distributions, after playing every action once. $\ln \ln t$ is replaced by
    0 where it is negative.

    Regret: the least possible for Bernoulli losses with fixed means. It is proved with $c = 3$: to first order it is
    $\ln T \sum_i \Delta_i / kl(\mu_i, \mu^*)$. There is no guarantee after a change.

    Must know: nothing.

    Time per round: O(K).

    References
    ----------
    A. Garivier, O. Cappe, "The KL-UCB algorithm for bounded stochastic bandits and beyond", COLT 2011.

    Examples
    --------
    >>> learner = KLUCB()
    >>> learner.run(learner.start(n_actions=2), [[0.0, 1.0]] * 5)
    array([0, 1, 0, 0, 0])
    """

    loglog_scale: float = 0.0

    corners = Corners(loglog_scale=(0.0, TOO_WIDE))
    _domains = Domains(loglog_scale=NOT_NEGATIVE)


class DiscountedExtra(NamedTuple):
    """Parameters as the kernels take them."""

    loglog_scale: float
    discount: float


@indexed("discounted-kl-ucb", level=kl_level, score=kl_score, pruning=kl_pruning)
@dataclass(frozen=True)
class DiscountedKLUCB(DiscountedLearner[DiscountedExtra]):
    r"""Discounted KL-UCB (Besson, 2018): KL-UCB with exponentially discounted plays and losses.

    For means that change occasionally.

    Parameters
    ----------
    discount : float, default 0.995
        Factor on past plays and losses per round ($\gamma$), in (0, 1]. 1 keeps all of the past.
    loglog_scale : float, default 0.0
        Factor on $\ln \ln n$ in the confidence level ($c$), a finite number >= 0, as in KL-UCB.

    Notes
    -----
    With $N_i = \sum_{s \le t} \gamma^{t-s} 1[a_s = i]$, $X_i$ the losses of action $i$ discounted in the same way and
    $n = \sum_i N_i$, round $t + 1$ plays the action with the lowest index

    $$ \min \{ q \le X_i / N_i : N_i \, kl(X_i / N_i, q) \le \ln n + c \ln \ln n \} , $$

    where $kl$ is the divergence of Bernoulli distributions. Negative logarithms are replaced by 0. `tuned` sets the
    discount of discounted UCB.

    Regret: no bound known. The combination comes from practice.

    Must know: rounds and segments, through the discount.

    Time per round: O(K).

    References
    ----------
    L. Besson, "SMPyBandits" (2018).

    A. Garivier, E. Moulines, "On upper-confidence bound policies for switching bandit problems", ALT 2011.

    A. Garivier, O. Cappe, "The KL-UCB algorithm for bounded stochastic bandits and beyond", COLT 2011.

    Examples
    --------
    >>> learner = DiscountedKLUCB(discount=0.9)
    >>> learner.run(learner.start(n_actions=2), [[0.0, 1.0]] * 5)
    array([0, 1, 0, 0, 0])
    """

    discount: float = 0.995
    loglog_scale: float = 0.0

    corners = Corners(discount=(NoLearning(SMALLEST, "only the last round counts"), 1.0), loglog_scale=(0.0, TOO_WIDE))
    _domains = Domains(discount=interval("(0, 1]"), loglog_scale=NOT_NEGATIVE)


@indexed("sliding-window-kl-ucb", level=kl_level, score=kl_score, pruning=kl_pruning)
@dataclass(frozen=True)
class SlidingWindowKLUCB(WindowLearner[Extra]):
    r"""Sliding-window KL-UCB (Combes and Proutiere, 2014): KL-UCB on the latest rounds.

    For means that change occasionally.

    Parameters
    ----------
    window : int or None, default 1000
        Number of latest rounds that count ($\tau$), a whole number >= 1. None counts all rounds.
    loglog_scale : float, default 0.0
        Factor on $\ln \ln n$ in the confidence level ($c$), a finite number >= 0, as in KL-UCB.

    Notes
    -----
    With $N_i$ the plays of action $i$ among the last $\tau$ rounds and $\hat\mu_i$ the mean of their losses, round
    $t + 1$ plays the action with the lowest index

    $$ \min \{ q \le \hat\mu_i : N_i \, kl(\hat\mu_i, q) \le \ln n + c \ln \ln n \}, \qquad n = \min(t, \tau) , $$

    where $kl$ is the divergence of Bernoulli distributions, and at once an action that was not played in the window. A
    window of fewer than $K - 1$ rounds cannot hold all actions: the first few are then played in turn forever. `tuned`
    sets the window of sliding-window UCB.

    Regret: no bound known for switches. Combes and Proutiere treat means that change slowly.

    Must know: rounds and segments, through the window.

    Time per round: O(K).

    References
    ----------
    R. Combes, A. Proutiere, "Unimodal bandits: regret lower bounds and optimal algorithms", ICML 2014.

    L. Besson, "SMPyBandits" (2018), for the form of the index.

    A. Garivier, E. Moulines, "On upper-confidence bound policies for switching bandit problems", ALT 2011.

    A. Garivier, O. Cappe, "The KL-UCB algorithm for bounded stochastic bandits and beyond", COLT 2011.

    Examples
    --------
    >>> learner = SlidingWindowKLUCB(window=3)
    >>> learner.run(learner.start(n_actions=2), [[0.0, 1.0]] * 6)
    array([0, 1, 0, 0, 0, 1])
    """

    window: int | None = 1000
    loglog_scale: float = 0.0

    corners = Corners(window=WindowLearner.window_corners, loglog_scale=(0.0, TOO_WIDE))
    _domains = Domains(window=optional(COUNT), loglog_scale=NOT_NEGATIVE)
