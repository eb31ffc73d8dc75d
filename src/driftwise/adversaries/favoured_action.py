r"""Adversaries whose intervals each have one favourite action, with a smaller mean than all others.

In interval $j$ the favourite $i_j$ has mean $a - \epsilon$ and the other actions have mean $a$. There are two kinds,
whose parameters and guarantees are in `driftwise.theory.lower`:

- Noisy (`BiasedCoins`, $a = \sigma$): the first $n$ rounds of an interval do not reveal the favourite. After them the
  losses equal their means.
- Noiseless (`RandomJumps`, $\epsilon = a$): intervals are single rounds, except the last. The first round of an
  interval reveals its favourite, but only after the learner has played it.

In the mode "random" each $i_j$ is drawn uniformly. In the mode "best-response" it is the action that the copies play
least in the noisy rounds (or in the first round), if it is the favourite itself; that is at most the average over all
$i_j$. Each candidate is tried with the same noise, and the copies continue with other noise.
"""

from __future__ import annotations

from abc import abstractmethod
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from driftwise.adversaries.adversary import NO_NOISE, Adversary, LearnerCopies, Script
from driftwise.core.measures import Measures
from driftwise.core.types import Actions, Vector
from driftwise.environments import Noise, ScaledBernoulli
from driftwise.environments.paths.segments import equal_starts
from driftwise.theory.lower import BiasedCoins, RandomJumps

FEEDBACKS = ("full", "bandit")  # bandit feedback contains less information, so the guarantee holds for it too
MODES = ("random", "best-response")
_SEEDS = 2**63  # number of different seeds of the noise


class IntervalLayout(NamedTuple):
    """Starts of the intervals, and the means and the noise in them."""

    starts: Actions
    level: float  # a: the mean of all actions but the favourite
    gap: float  # epsilon: how much smaller the favourite's mean is
    noisy: int  # noisy rounds at the start of an interval, 0 for the noiseless kind

    @property
    def noise(self) -> Noise:
        """Distribution of the losses in noisy rounds."""
        return ScaledBernoulli(0.0, 2 * self.level) if self.noisy else NO_NOISE

    def means(self, n_actions: int, favourite: int) -> Vector:
        """Return the means of an interval with this favourite."""
        means = np.full(n_actions, self.level)
        means[favourite] = self.level - self.gap
        return means


class FavouredActionAdversary(Adversary):
    """An adversary with one favourite action in each interval."""

    @abstractmethod
    def construction(self, n_rounds: int) -> BiasedCoins | RandomJumps:
        """Return the parameters and the guarantee for so many rounds."""

    def layout(self, n_rounds: int) -> IntervalLayout:
        """Return the intervals of a run."""
        parameters = self.construction(n_rounds)
        if isinstance(parameters, RandomJumps):
            return IntervalLayout(np.arange(parameters.n_jumps), parameters.scale, parameters.scale, noisy=0)
        starts = equal_starts(parameters.n_intervals, n_rounds)
        return IntervalLayout(starts, parameters.sigma, parameters.gap, parameters.length)

    def guarantee(self, n_rounds: int) -> float:
        """Return the guarantee of the construction."""
        return self.construction(n_rounds).regret

    def budget(self, n_rounds: int) -> Measures:
        """Return the measures of a run whose favourite changes in every interval."""
        layout = self.layout(n_rounds)
        segments = len(layout.starts)
        drift = layout.level + (segments - 1) * layout.gap
        variance = self.n_actions * layout.level**2 - layout.gap**2  # of a noisy round
        noisy_rounds = min(n_rounds, segments * layout.noisy)
        return Measures(self.n_actions, n_rounds, segments, drift, noisy_rounds * variance)

    def draw(self, n_rounds: int, generator: np.random.Generator) -> Script:
        """Draw every favourite uniformly."""
        layout = self.layout(n_rounds)
        return self._script(layout, generator.integers(self.n_actions, size=len(layout.starts)))

    def respond(self, copies: LearnerCopies, n_rounds: int, generator: np.random.Generator) -> Script:
        """Choose the least played action as the favourite, one interval after another."""
        layout = self.layout(n_rounds)
        favourites = np.empty(len(layout.starts), np.int64)
        for j, (start, end) in enumerate(pairwise((*layout.starts.tolist(), n_rounds))):
            noisy = min(layout.noisy, end - start)
            favourites[j] = self._least_played(copies, layout, noisy, generator)
            if end < n_rounds:
                means = layout.means(self.n_actions, favourites[j])
                copies.play(means, noisy, layout.noise, generator)
                copies.play(means, end - start - noisy, NO_NOISE, generator)
        return self._script(layout, favourites)

    def _least_played(
        self, copies: LearnerCopies, layout: IntervalLayout, noisy: int, generator: np.random.Generator
    ) -> int:
        if noisy <= 1:  # what is played in one round does not depend on its losses
            return int(copies.next_play().argmin())
        seed = int(generator.integers(_SEEDS))
        plays = [
            copies.copy().play(layout.means(self.n_actions, i), noisy, layout.noise, np.random.default_rng(seed))[i]
            for i in range(self.n_actions)
        ]
        return int(np.argmin(plays))

    def _script(self, layout: IntervalLayout, favourites: Actions) -> Script:
        base = np.full(self.n_actions, layout.level)
        return Script(base, layout.level - layout.gap, layout.starts, favourites, layout.noisy, layout.noise)
