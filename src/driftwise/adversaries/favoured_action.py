r"""One action a little better than all others, another one in each interval: what the other two theorems share.

In interval $j$ the action $i_j$ has mean $a - \epsilon$ and the others have mean $a$. There are two kinds.

- **Noisy**: the losses of the first $n$ rounds are $0$ or $2a$, by independent coins (Lemma sigma1 with $\sigma = a$),
  afterwards they equal the same means. A learner that saw all of them still cannot tell $i_j$, if
  $2 n \mathrm{KL} = \frac14$, where $\mathrm{KL} = -\frac12 \ln(1 - \epsilon^2 / \sigma^2)$ is the divergence of the
  laws with and without the advantage in a round:

  $$ \epsilon = \sigma \sqrt{1 - e^{-1/(4n)}} . $$

  By Pinsker's inequality it then plays $i_j$ in at most $n / K + n / 4$ of the $n$ rounds, in the mean over $i_j$. So
  the regret is at least $\epsilon\, (\frac34 - \frac1K)$ for each noisy round.
- **Quiet**: $\epsilon = a$ and there is no noise. The first round of an interval tells everything, but only afterwards:
  the regret is exactly $\epsilon\, (1 - \frac1K)$ there, in the mean over $i_j$, and at least 0 in the rest.

In the mode "random" each $i_j$ is uniform. In the mode "best-response" it is the action that the copies play least in
the rounds that count, when it is itself the favourite; that is at most the mean over all $i_j$. All candidates are
tried on the same coins, and the copies then go on with others.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from driftwise.adversaries.base import Adversary
from driftwise.adversaries.learner_copies import LearnerCopies
from driftwise.adversaries.script import NO_NOISE, Script
from driftwise.core.measures import Measures
from driftwise.core.types import Actions, Vector
from driftwise.environments import Noise, ScaledBernoulli

__all__ = ["FEEDBACKS", "MODES", "FavouredActionAdversary", "Layout", "gap_within", "quiet"]

FEEDBACKS = ("full", "bandit")  # whoever sees less cannot do better
MODES = ("random", "best-response")
_BITS = 2**63  # enough for a seed


class Layout(NamedTuple):
    """Where the intervals start, and how the favourite hides in them."""

    starts: Actions
    level: float  # a
    gap: float  # epsilon
    noisy: int  # noisy rounds at the head of an interval; 0 is the quiet kind
    hidden: int  # rounds, of all intervals, in which the favourite cannot be known

    @property
    def noise(self) -> Noise:
        """The law of the noisy rounds."""
        return ScaledBernoulli(0.0, 2 * self.level) if self.noisy else NO_NOISE

    def means(self, n_actions: int, favourite: int) -> Vector:
        """Return the means of an interval."""
        means = np.full(n_actions, self.level)
        means[favourite] = self.level - self.gap
        return means

    def guarantee(self, n_actions: int) -> float:
        """Return the least expected regret."""
        missed = (3 / 4 if self.noisy else 1) - 1 / n_actions
        return self.hidden * self.gap * missed


def gap_within(n: int) -> float:
    r"""Return the advantage $\epsilon / \sigma$ that `n` rounds do not reveal: $2 n \mathrm{KL} = \frac14$.

    >>> round(gap_within(100), 6)
    0.049969
    """
    return math.sqrt(-math.expm1(-1 / (4 * n)))


def quiet(n_intervals: int, height: float) -> Layout:
    """Lay out one round for each of the first favourites and the rest for the last one."""
    return Layout(np.arange(n_intervals), height, height, noisy=0, hidden=n_intervals)


class FavouredActionAdversary(Adversary):
    """An adversary that hides a favourite in every interval."""

    @abstractmethod
    def layout(self, n_rounds: int) -> Layout:
        """Lay out the intervals of a run."""

    def guarantee(self, n_rounds: int) -> float:
        """Return what the hidden rounds cost."""
        return self.layout(n_rounds).guarantee(self.n_actions)

    def budget(self, n_rounds: int) -> Measures:
        """Return the measures of a run whose favourite changes in every interval."""
        layout = self.layout(n_rounds)
        segments = len(layout.starts)
        drift = layout.level + (segments - 1) * layout.gap
        scatter = self.n_actions * layout.level**2 - layout.gap**2
        return Measures(self.n_actions, n_rounds, segments, drift, layout.hidden * scatter if layout.noisy else 0.0)

    def draw(self, n_rounds: int, generator: np.random.Generator) -> Script:
        """Draw every favourite uniformly."""
        layout = self.layout(n_rounds)
        return self._script(layout, generator.integers(self.n_actions, size=len(layout.starts)))

    def respond(self, copies: LearnerCopies, n_rounds: int, generator: np.random.Generator) -> Script:
        """Favour what is played least, interval by interval."""
        layout = self.layout(n_rounds)
        favourites = np.empty(len(layout.starts), np.int64)
        for j, (start, end) in enumerate(pairwise((*layout.starts.tolist(), n_rounds))):
            noisy = min(layout.noisy, end - start)
            favourites[j] = self._least_played(copies, layout, noisy, generator)
            if end < n_rounds:
                means = layout.means(self.n_actions, favourites[j])
                copies.live(means, noisy, layout.noise, generator)
                copies.live(means, end - start - noisy, NO_NOISE, generator)
        return self._script(layout, favourites)

    def _least_played(self, copies: LearnerCopies, layout: Layout, noisy: int, generator: np.random.Generator) -> int:
        if noisy <= 1:  # what is played in one round does not depend on its losses
            return int(copies.coming().argmin())
        coins = int(generator.integers(_BITS))
        plays = [
            copies.twin().live(layout.means(self.n_actions, i), noisy, layout.noise, np.random.default_rng(coins))[i]
            for i in range(self.n_actions)
        ]
        return int(np.argmin(plays))

    def _script(self, layout: Layout, favourites: Actions) -> Script:
        base = np.full(self.n_actions, layout.level)
        return Script(base, layout.level - layout.gap, layout.starts, favourites, layout.noisy, layout.noise)
