r"""Thompson sampling: play an action with the chance that it is best.

Each action has a prior that is uniform on its mean loss. With $F_i$ and $S_i$ the losses and the spared losses of
action $i$ so far, each round draws

$$ \theta_i \sim \mathrm{Beta}(F_i + 1, S_i + 1) $$

and plays the least of them. A loss between 0 and 1 is first rounded to one of the two at random, keeping its mean.

It has no parameters and never forgets. While nothing changes its regret is the least possible for Bernoulli losses to
first order. The chance of each action has no closed form, so `choose` gives None for it.

Reference: W. Thompson, Biometrika 25 (1933); the regret: E. Kaufmann, N. Korda, R. Munos, "Thompson sampling: an
asymptotically optimal finite-time analysis", ALT 2012, and S. Agrawal, N. Goyal, "Further optimal regret bounds for
Thompson sampling", AISTATS 2013; the rounding: S. Agrawal, N. Goyal, "Analysis of Thompson sampling for the multi-armed
bandit problem", COLT 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.random import next_uniform
from driftwise.core.random_variates import next_beta
from driftwise.learners.contract import Card
from driftwise.learners.parts.index_learner import IndexLearner, IndexMemory, add, index_learner

__all__ = ["Thompson", "no_level", "sampled_mean", "to_zero_or_one"]


class Rates(NamedTuple):
    """It has no parameters, and kernels want a number."""

    none: float = 0.0


@kernel
def to_zero_or_one(memory: IndexMemory, loss: float) -> float:
    """Round a loss to 0 or 1 at random, keeping its mean."""
    return 1.0 if next_uniform(memory.generator) < loss else 0.0


@kernel
def no_level(count: float, rates: Any) -> float:  # noqa: ARG001
    """Share nothing: the draws differ by action alone."""
    return 0.0


@kernel
def sampled_mean(memory: IndexMemory, rates: Any, action: int, level: float) -> float:  # noqa: ARG001
    """Draw a mean loss that the past makes plausible."""
    spared = max(0.0, memory.plays[action] - memory.total[action])
    return next_beta(memory.generator, max(0.0, memory.total[action]) + 1.0, spared + 1.0)


@kernel
def _keep(memory: IndexMemory, rates: Rates, action: int, loss: float) -> None:
    add(memory, rates, action, to_zero_or_one(memory, loss))


@index_learner(
    "thompson",
    Card(
        title="Thompson sampling",
        in_words="Draw a plausible mean for every action and play the best of them.",
        knows="nothing",
        cost="O(K)",
        bound="the least possible for Bernoulli losses while nothing changes",
        reference="Thompson (1933); Kaufmann, Korda, Munos (2012); Agrawal, Goyal (2013)",
    ),
    keep=_keep,
    level=no_level,
    score=sampled_mean,
    probability=np.nan,
)
@dataclass(frozen=True)
class Thompson(IndexLearner[Rates]):
    """Choose among actions whose means stay, at random.

    >>> learner = Thompson()
    >>> learner.choose(learner.start(n_actions=1))
    (0, None)
    """

    def rates(self, n_actions: int) -> Rates:
        """Return a placeholder."""
        return Rates()
