"""Thompson sampling, and the kernels that discounted Thompson sampling shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from driftwise.core.kernel import generic_kernel, kernel
from driftwise.core.random import next_uniform
from driftwise.core.random_variates import next_beta
from driftwise.learners.parts.index_learner import IndexLearner, IndexMemory, add, index_learner

__all__ = ["Thompson", "no_level", "sampled_mean", "to_zero_or_one"]


class Rates(NamedTuple):
    """Placeholder: there are no parameters, and a kernel needs at least one number."""

    none: float = 0.0


@kernel
def to_zero_or_one(memory: IndexMemory, loss: float) -> float:
    """Return 0 or 1, drawn at random with the loss as the mean."""
    return 1.0 if next_uniform(memory.generator) < loss else 0.0


@generic_kernel
def no_level(count: float, rates: Any) -> float:  # noqa: ARG001
    """Return 0: the index does not use a level that all actions share."""
    return 0.0


@generic_kernel
def sampled_mean(memory: IndexMemory, rates: Any, action: int, level: float) -> float:  # noqa: ARG001
    """Return a mean loss drawn from the posterior of the action."""
    gains = max(0.0, memory.plays[action] - memory.total[action])
    return next_beta(memory.generator, max(0.0, memory.total[action]) + 1.0, gains + 1.0)


@kernel
def _keep(memory: IndexMemory, rates: Rates, action: int, loss: float) -> None:
    add(memory, rates, action, to_zero_or_one(memory, loss))


@index_learner("thompson", keep=_keep, level=no_level, score=sampled_mean, probability=np.nan)
@dataclass(frozen=True)
class Thompson(IndexLearner[Rates]):
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

    def rates(self, n_actions: int) -> Rates:
        """Return the placeholder."""
        return Rates()
