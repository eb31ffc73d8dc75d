"""Thompson sampling, and its form with a discount."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from driftwise.core.corners import SMALLEST, Corners, NoLearning
from driftwise.core.kernel import generic_kernel, kernel
from driftwise.core.random import next_beta, next_uniform
from driftwise.learners.base.learner import NoRates
from driftwise.learners.base.loops import AnyRates
from driftwise.learners.shared.index_learner import (
    DiscountedLearner,
    IndexLearner,
    IndexMemory,
    add,
    fade,
    indexed,
    no_level,
)


@kernel
def to_zero_or_one(memory: IndexMemory, loss: float) -> float:
    """Return 0 or 1, drawn at random with the loss as the mean."""
    return 1.0 if next_uniform(memory.generator) < loss else 0.0


@generic_kernel
def sampled_mean(memory: IndexMemory, rates: AnyRates, action: int, level: float) -> float:  # noqa: ARG001
    """Return a mean loss drawn from the posterior of the action."""
    gains = max(0.0, memory.plays[action] - memory.total[action])
    return next_beta(memory.generator, max(0.0, memory.total[action]) + 1.0, gains + 1.0)


@kernel
def _keep(memory: IndexMemory, rates: NoRates, action: int, loss: float) -> None:
    add(memory, rates, action, to_zero_or_one(memory, loss))


@indexed("thompson", keep=_keep, level=no_level, score=sampled_mean, probability=np.nan)
@dataclass(frozen=True)
class Thompson(IndexLearner[NoRates]):
    r"""Thompson sampling (Thompson, 1933): plays an action with the posterior probability that it is best.

    For means that do not change. It has no parameters.

    Notes
    -----
    The prior of each mean loss is uniform on [0, 1]. Let $F_i$ be the sum of the losses of action $i$ so far, each
    rounded to 0 or 1 at random with its mean kept, and $S_i$ the plays of action $i$ less $F_i$. Each round draws

    $$ \theta_i \sim \mathrm{Beta}(F_i + 1, S_i + 1) $$

    and plays $\arg\min_i \theta_i$. The probability of the action has no closed form, so `choose` returns None for it.

    Regret: the least possible for Bernoulli losses with fixed means. That holds to first order. There is no guarantee
    after a change.

    Must know: nothing.

    Time per round: O(K).

    References
    ----------
    W. Thompson, "On the likelihood that one unknown probability exceeds another in view of the evidence of two
    samples", Biometrika 25 (1933).

    E. Kaufmann, N. Korda, R. Munos, "Thompson sampling: an asymptotically optimal finite-time analysis", ALT 2012 (the
    regret).

    S. Agrawal, N. Goyal, "Further optimal regret bounds for Thompson sampling", AISTATS 2013 (the regret).

    S. Agrawal, N. Goyal, "Analysis of Thompson sampling for the multi-armed bandit problem", COLT 2012 (the rounding).

    Examples
    --------
    >>> learner = Thompson()
    >>> learner.choose(learner.start(n_actions=1))
    (0, None)
    """


class Discount(NamedTuple):
    """Parameter as the kernels take it."""

    discount: float


@kernel
def _keep_faded(memory: IndexMemory, rates: Discount, action: int, loss: float) -> None:
    fade(memory, rates, action, to_zero_or_one(memory, loss))


@indexed("discounted-thompson", keep=_keep_faded, level=no_level, score=sampled_mean, probability=np.nan)
@dataclass(frozen=True)
class DiscountedThompson(DiscountedLearner[Discount]):
    r"""Discounted Thompson sampling (Raj and Kalyani, 2017): Thompson sampling on discounted losses.

    For means that change occasionally.

    Parameters
    ----------
    discount : float, default 0.995
        Factor on past plays and losses per round ($\gamma$), in (0, 1]. 1 keeps all of the past.

    Notes
    -----
    Let $F_i$ be the sum of the losses of action $i$, each rounded to 0 or 1 at random with its mean kept, and $S_i$ the
    plays of action $i$ less $F_i$, both discounted by $\gamma$ per round. Each round draws

    $$ \theta_i \sim \mathrm{Beta}(F_i + 1, S_i + 1) $$

    and plays $\arg\min_i \theta_i$. `tuned` sets the discount of discounted UCB.

    Regret: no bound proved for this form, with Beta posteriors. With Gaussian ones it is $\sqrt{\Gamma T}$ up to
    logarithms (H. Qi, Y. Wang, L. Zhu, "Discounted Thompson sampling for non-stationary bandit problems", 2023).

    Must know: rounds and segments, through the discount.

    Time per round: O(K).

    References
    ----------
    V. Raj, S. Kalyani, "Taming non-stationary bandits: a Bayesian approach" (2017).

    Examples
    --------
    >>> learner = DiscountedThompson(discount=0.9)
    >>> learner.choose(learner.start(n_actions=1))
    (0, None)
    """

    discount: float = 0.995

    corners = Corners(discount=(NoLearning(SMALLEST, "only the last round counts"), 1.0))
