r"""Lower bound for switching losses without noise, with bandit feedback (Theorem 4.1, bandit-low).

Proof of the guarantee, for the mode "random" in an interval with $m \ge b$ blocks of $b$ rounds: while the losses are
$\ell^{(1)}$, each play of the second action costs $s/2$, and a learner that does not play it after a change loses $s/2$
in each round. If it plays the second action $N$ times in an interval without a change, it has not played it in a random
block with probability at least $1 - \frac{N}{m}$. So its expected regret is at least
$\frac12 \cdot \frac{s N}{2} + \frac12 \cdot \frac{s b}{2} (1 - \frac{N}{m}) \ge \frac{s b}{4}$.

In the mode "proof" the change is chosen as in the paper: there is none if the copies play the second action $m/2$ times
or more on average, otherwise it is at the start of the block in which they play it least.

In the mode "best-response" the change may be in any round. Its value is the copies' regret before it, plus their regret
after it until they next play the second action. Until then $\ell^{(1)}$ and $\ell^{(2)}$ give the learner the same
losses, so one run without a change shows the value of every change. The best value is at least that of the proof.

The paper has $K = 2$ and $s = 1$. Intervals of unequal lengths can guarantee more, which
`driftwise.theory.lower.bandit_switching` takes into account.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt

import numpy as np

from driftwise.adversaries.adversary import NO_FAVOURITE, NO_NOISE, Adversary, LearnerCopies, Script, adversary
from driftwise.core.measures import Measures
from driftwise.core.types import Actions, Vector
from driftwise.core.validation import require_count, require_number
from driftwise.environments.paths.segments import equal_starts
from driftwise.theory.lower import hidden_changes_in_equal_intervals

_SECOND = 1  # the action that becomes the best one


@adversary("bandit-low", feedbacks=("bandit",), modes=("random", "proof", "best-response"))
@dataclass(frozen=True)
class BanditLow(Adversary):
    r"""Theorem 4.1 (bandit-low; Wei, Hong and Lu, 2016): an action that is hardly played becomes the best one.

    Parameters
    ----------
    segments : int
        The largest number of segments ($\Gamma$), a whole number >= 2. Runs need at least as many rounds.
    n_actions : int, default 2
        Number of actions ($K$), a whole number >= 2; those after the second always have loss $s$.
    mode : {"random", "proof", "best-response"}, default "random"
        How the change of each interval is chosen. "random": none with probability 1/2, else at the start of a block
        drawn uniformly. "proof": as in the paper's proof, from the plays of copies of the learner. "best-response": the
        round, or none, at which a change costs the copies most until they notice it.
    n_copies : int, default 64
        Number of copies of the learner in the modes other than "random", a whole number >= 1.
    scale : float, default 1.0
        The largest loss ($s$), in (0, 1].

    Notes
    -----
    The rounds are divided into $M = \lfloor \Gamma / 2 \rfloor$ intervals, whose lengths $B_j$ differ by one round at
    most. Each starts with the losses $\ell^{(1)}$ and may change once to $\ell^{(2)}$, for the rest of it:

    $$ \ell^{(1)} = s\,(\tfrac12, 1, 1, \dots), \qquad \ell^{(2)} = s\,(\tfrac12, 0, 1, \dots) . $$

    A bandit learner notices the change only when it plays the second action, which costs $s/2$ before the change. There
    are at most $\Gamma$ segments, the drift is at most $s\, \Gamma$ and the variance is 0.

    Regret: at least $\frac{s}{4} \sum_{j \le M} b_j \approx s \sqrt{\Gamma T / 32}$, with blocks of
    $b_j = \lfloor \sqrt{B_j} \rfloor$ rounds.

    References
    ----------
    C.-Y. Wei, Y.-T. Hong, C.-J. Lu, "Tracking the best expert in non-stationary stochastic environments", NIPS 2016,
    Theorem 4.1 (bandit-low).

    Examples
    --------
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
        """Return a quarter of the scale for each round of one block per interval."""
        return hidden_changes_in_equal_intervals(self.check_rounds(n_rounds), self._n_intervals, self.scale).regret

    def budget(self, n_rounds: int) -> Measures:
        """Return two segments for each interval, and their drift."""
        segments = 2 * self._n_intervals
        return Measures(self.n_actions, self.check_rounds(n_rounds), segments, self.scale * segments, variance=0.0)

    def draw(self, n_rounds: int, generator: np.random.Generator) -> Script:
        """Change each interval with probability 1/2, at the start of a random block."""
        intervals = self._intervals(n_rounds)
        changes = []
        for start, end in intervals:
            length = isqrt(end - start)
            block = int(generator.integers((end - start) // length))
            changes.append(start + block * length if generator.random() < 0.5 else end)
        return self._script(intervals, changes)

    def respond(self, copies: LearnerCopies, n_rounds: int, generator: np.random.Generator) -> Script:
        """Choose the change of each interval, one interval after another."""
        intervals = self._intervals(n_rounds)
        choose = _start_of_least_played_block if self.mode == "proof" else self._costliest_round
        first, second = self._losses()
        changes = []
        for start, end in intervals:
            before = copies.copy()
            after = choose(copies.play_constant(first, end - start), end - start)
            changes.append(start + after)
            if start + after < end < n_rounds:  # after the last interval the copies are not needed
                copies = before
                copies.play(first, after, NO_NOISE, generator)
                copies.play(second, end - start - after, NO_NOISE, generator)
        return self._script(intervals, changes)

    @property
    def _n_intervals(self) -> int:
        return self.segments // 2

    def _intervals(self, n_rounds: int) -> list[tuple[int, int]]:
        n_rounds = self.check_rounds(n_rounds)
        starts = equal_starts(self._n_intervals, n_rounds).tolist()
        return list(pairwise((*starts, n_rounds)))

    def _losses(self) -> tuple[Vector, Vector]:
        first = np.full(self.n_actions, self.scale)
        first[0] /= 2
        second = first.copy()
        second[_SECOND] = 0.0
        return first, second

    def _script(self, intervals: list[tuple[int, int]], changes: list[int]) -> Script:
        """Return the script of intervals that change at these rounds; one that changes at its end does not change."""
        stretches = [
            stretch
            for (start, end), change in zip(intervals, changes, strict=True)
            for stretch, rounds in (((start, NO_FAVOURITE), change - start), ((change, _SECOND), end - change))
            if rounds
        ]
        starts, favourites = np.array(stretches, dtype=np.int64).T
        return Script(self._losses()[0], 0.0, starts.copy(), favourites.copy())

    def _costliest_round(self, played: Iterable[Actions], n: int) -> int:
        """Return the change with the largest regret until it is noticed; `n` means no change."""
        first, second = self._losses()
        value = np.zeros(n + 1)
        for actions in played:
            regret = np.concatenate(([0.0], np.cumsum(first[actions] - first[0])))
            unnoticed = np.concatenate(([0.0], np.cumsum(second[actions])))
            plays = np.append(np.where(actions == _SECOND, np.arange(n), n), n)
            next_play = np.minimum.accumulate(plays[::-1])[::-1]
            value += regret + unnoticed[next_play] - unnoticed
        return int(value.argmax())


def _start_of_least_played_block(played: Iterable[Actions], n: int) -> int:
    """Return the start of the block with the fewest plays of the second action, `n` if there are too many in all."""
    length = isqrt(n)
    blocks = n // length
    plays = [(a[: blocks * length] == _SECOND).reshape(blocks, length).sum(axis=1) for a in played]
    mean: Vector = np.mean(plays, axis=0)
    return n if mean.sum() >= blocks / 2 else int(mean.argmin()) * length
