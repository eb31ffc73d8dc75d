r"""Switches without noise, against bandit learners (Theorem bandit-low).

The rounds are cut into $M = \lfloor \Gamma / 2 \rfloor$ intervals of length $B_j$, equal but for one round. Each starts
with the losses $\ell^{(1)}$ and may change once to $\ell^{(2)}$, for the rest of it:

$$ \ell^{(1)} = s\,(\tfrac12, 1, 1, \dots), \qquad \ell^{(2)} = s\,(\tfrac12, 0, 1, \dots) . $$

Only whoever plays the second action can notice, and while nothing has changed this costs $s / 2$. With blocks of
$b_j = \lfloor \sqrt{B_j} \rfloor$ rounds, $m_j = \lfloor B_j / b_j \rfloor$ in an interval, the expected regret is at
least

$$ \frac{s}{4} \sum_{j \le M} b_j \approx s \sqrt{\Gamma T / 32}, \qquad
   \text{while at most} \quad \Gamma \text{ segments}, \quad V \le s\,\Gamma, \quad \Lambda = 0 . $$

=========  ==================  =========================================================================
symbol     name in the code    meaning
=========  ==================  =========================================================================
$\Gamma$   `segments`          the most segments it may have, at least 2
$K$        `n_actions`         actions; those after the second never lose less than $s$
           `mode`              how it chooses the change of each interval, see below
$R$        `n_copies`            copies of the learner that it is tried on
$s$        `scale`            the largest loss, which scales the drift and the regret
=========  ==================  =========================================================================

- "random": with probability 1/2 no change, else at the start of a uniformly drawn block. If the learner plays the
  second action $N$ times while nothing changes, its regret is at least
  $\frac{s}{2} (\frac{N}{2} + \frac{b}{2} (1 - \frac{N}{m})) \ge \frac{s b}{4}$.
- "proof": no change if the copies play the second action $m / 2$ times or more in the mean, else at the start of the
  block in which they play it least.
- "best-response": the change, in any round or none, after which the copies lose most until they play the second action
  again. Up to then $\ell^{(1)}$ and $\ell^{(2)}$ look the same, so the run in which nothing changed shows what they do
  in all others, and no other run is needed. This value is at least that of the proof for every change.

Reference: Wei, Hong, Lu (2016), Theorem bandit-low, there for $K = 2$ and $s = 1$.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt

import numpy as np

from driftwise.adversaries.base import Adversary, adversary
from driftwise.adversaries.learner_copies import LearnerCopies
from driftwise.adversaries.script import NO_FAVOURITE, NO_NOISE, Script
from driftwise.core.measures import Measures
from driftwise.core.types import Actions, Vector
from driftwise.core.validation import require_count, require_number
from driftwise.environments.paths.segments import equal_starts

__all__ = ["BanditLow"]

_SECOND = 1  # the action that gets better


@adversary("bandit-low", feedbacks=("bandit",), modes=("random", "proof", "best-response"))
@dataclass(frozen=True)
class BanditLow(Adversary):
    """Change what a bandit learner does not look at.

    >>> adversary = BanditLow(segments=8)
    >>> adversary.guarantee(n_rounds=10_000)
    50.0
    >>> adversary.against(None, n_rounds=10_000).measures(10_000).segments <= 8
    True
    """

    segments: int
    n_actions: int = 2
    mode: str = "random"
    n_copies: int = 64
    scale: float = 1.0

    def __post_init__(self) -> None:
        require_count(self, "segments", at_least=2)
        self._check_common()
        require_number(self, "scale", lambda x: 0 < x <= 1, "in (0, 1]")

    @property
    def least_rounds(self) -> int:
        """One for each segment."""
        return self.segments

    def guarantee(self, n_rounds: int) -> float:
        """Return a quarter of the height for each round of one block per interval."""
        return self.scale * sum(isqrt(end - start) for start, end in self._intervals(n_rounds)) / 4

    def budget(self, n_rounds: int) -> Measures:
        """Return two segments for each interval."""
        segments = 2 * len(self._intervals(n_rounds))
        return Measures(self.n_actions, n_rounds, segments, drift=self.scale * segments, variance=0.0)

    def draw(self, n_rounds: int, generator: np.random.Generator) -> Script:
        """Change in half of the intervals, each time with a random block."""
        intervals = self._intervals(n_rounds)
        changes = []
        for start, end in intervals:
            length = isqrt(end - start)
            block = int(generator.integers((end - start) // length))
            changes.append(start + block * length if generator.random() < 0.5 else end)
        return self._script(intervals, changes)

    def respond(self, copies: LearnerCopies, n_rounds: int, generator: np.random.Generator) -> Script:
        """Choose the change of one interval after the other."""
        intervals = self._intervals(n_rounds)
        choose = _in_quiet_block if self.mode == "proof" else self._when_least_looked_at
        first, second = self._losses()
        changes = []
        for start, end in intervals:
            before = copies.twin()
            after = choose(copies.watch(first, end - start), end - start)
            changes.append(start + after)
            if start + after < end < n_rounds:  # after the last interval nobody asks
                copies = before
                copies.live(first, after, NO_NOISE, generator)
                copies.live(second, end - start - after, NO_NOISE, generator)
        return self._script(intervals, changes)

    def _intervals(self, n_rounds: int) -> list[tuple[int, int]]:
        n_rounds = self.enough(n_rounds)
        starts = equal_starts(self.segments // 2, n_rounds).tolist()
        return list(pairwise((*starts, n_rounds)))

    def _losses(self) -> tuple[Vector, Vector]:
        first = np.full(self.n_actions, self.scale)
        first[0] /= 2
        second = first.copy()
        second[_SECOND] = 0.0
        return first, second

    def _script(self, intervals: list[tuple[int, int]], changes: list[int]) -> Script:
        """Write down intervals that change at these rounds; one that changes at its end does not change."""
        pieces = [
            piece
            for (start, end), change in zip(intervals, changes, strict=True)
            for piece, rounds in (((start, NO_FAVOURITE), change - start), ((change, _SECOND), end - change))
            if rounds
        ]
        starts, favourites = np.array(pieces, dtype=np.int64).T
        return Script(self._losses()[0], 0.0, starts.copy(), favourites.copy())

    def _when_least_looked_at(self, watched: Iterable[Actions], n: int) -> int:
        """Return the change with the largest regret until it is noticed; `n` is none."""
        first, second = self._losses()
        value = np.zeros(n + 1)
        for actions in watched:
            regret = np.concatenate(([0.0], np.cumsum(first[actions] - first[0])))
            unnoticed = np.concatenate(([0.0], np.cumsum(second[actions])))
            looks = np.append(np.where(actions == _SECOND, np.arange(n), n), n)
            next_look = np.minimum.accumulate(looks[::-1])[::-1]
            value += regret + unnoticed[next_look] - unnoticed
        return int(value.argmax())


def _in_quiet_block(watched: Iterable[Actions], n: int) -> int:
    """Return the start of the block with the fewest looks, or `n` if there are too many looks in all."""
    length = isqrt(n)
    blocks = n // length
    looks = [(a[: blocks * length] == _SECOND).reshape(blocks, length).sum(axis=1) for a in watched]
    mean: Vector = np.mean(looks, axis=0)
    return n if mean.sum() >= blocks / 2 else int(mean.argmin()) * length
