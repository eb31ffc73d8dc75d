r"""Drift, against learners with any feedback (Theorem full_V).

$M = \lceil T / B \rceil$ equal intervals of at most $B$ rounds, noisy from end to end; see `favouring.py` for how the
favourite hides in them. With $c_B = \sqrt{1 - e^{-1/(4B)}}$, the largest advantage within the budget is

$$ \epsilon = \max_B c_B\, \sigma_B, \qquad
   \sigma_B = \min\Big\{\frac12, \sqrt{\frac{\Lambda}{K T}}, \frac{V}{1 + (M - 1)\, c_B}\Big\}, $$

as the drift is $\sigma + (M - 1)\, \epsilon$ and the variance at most $K T \sigma^2$. The expected regret is at least
$T \epsilon\, (\frac34 - \frac1K)$, for $K = 2$ about $(\Lambda V T)^{1/3} / 8$.

The other construction has no noise: $n = \lceil V \rceil$ rounds in which one action loses 0 and all others $V / n$,
and the last of these vectors stays. Its expected regret is at least $V\, (1 - \frac1K)$. Whichever guarantees more is
taken; the paper takes the first if $\Lambda T \ge 32 K V^2$.

=========  ==================  =========================================================================
symbol     name in the code    meaning
=========  ==================  =========================================================================
$V$        `drift`             the most drift it may have, with the jump from 0 to the first means
$\Lambda$  `variance`          the most variance it may have
$K$        `n_actions`         actions, at least 2
           `constants`        "exact" as above, or as in the "paper"
           `mode`              "random" draws the favourites, "best-response" takes the one played least
$R$        `n_copies`            copies of the learner that a best response is tried on
=========  ==================  =========================================================================

With `constants="paper"`, $B = \lfloor (\Lambda T / (32 K V^2))^{1/3} \rfloor$, $\sigma = \sqrt{\Lambda / (4 K T)}$ and
$\epsilon = V B / T$, where $2 B \mathrm{KL} \le \frac14$. Such a run may drift by $\sigma - \epsilon$ too much (erratum
E8), by up to $\sigma$ where $B$ does not divide $T$, which `budget` owns up to; it uses a quarter of the variance, and
guarantees about half as much.

Reference: Wei, Hong, Lu (2016), Theorem full_V and Lemma sigma1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from driftwise.adversaries.base import adversary
from driftwise.adversaries.favoured_action import FEEDBACKS, MODES, FavouredActionAdversary, Layout, gap_within, quiet
from driftwise.core.validation import require_choice, require_number
from driftwise.environments.paths.segments import equal_starts

__all__ = ["FullV"]


@adversary("full-v", feedbacks=FEEDBACKS, modes=MODES)
@dataclass(frozen=True)
class FullV(FavouredActionAdversary):
    """Let the best action change a little, too little to be seen in time.

    >>> adversary = FullV(drift=2.0, variance=100.0)
    >>> adversary.guarantee(10_000) > 1.9 * FullV(2.0, 100.0, constants="paper").guarantee(10_000)
    True
    >>> adversary.budget(10_000).drift <= 2.0
    True
    """

    drift: float
    variance: float
    n_actions: int = 2
    constants: str = "exact"
    mode: str = "random"
    n_copies: int = 64

    def __post_init__(self) -> None:
        require_number(self, "drift", lambda x: 0 < x < math.inf, "a finite number > 0")
        require_number(self, "variance", lambda x: 0 <= x < math.inf, "a finite number >= 0")
        require_choice(self, "constants", ("exact", "paper"))
        self._check_common()

    def layout(self, n_rounds: int) -> Layout:
        """Lay out noisy intervals, or quiet ones if these guarantee more."""
        n_rounds = self.enough(n_rounds)
        drift = min(self.drift, n_rounds)  # losses cannot move faster
        pieces = math.ceil(drift)
        still = quiet(pieces, drift / pieces)
        if self.constants == "paper":
            return self._printed(n_rounds) or still
        return max(still, self._largest(n_rounds), key=lambda layout: layout.guarantee(self.n_actions))

    def _largest(self, n_rounds: int) -> Layout:
        """Return the noisy layout with the largest advantage within the budget."""
        widest = min(0.5, math.sqrt(self.variance / (self.n_actions * n_rounds)))

        def sigma(length: int) -> float:
            return min(widest, self.drift / (1 + (math.ceil(n_rounds / length) - 1) * gap_within(length)))

        # With the least length for each number of intervals; either of them is at most this.
        some = range(1, math.isqrt(n_rounds) + 2)
        lengths = {*some, *(math.ceil(n_rounds / intervals) for intervals in some)}
        length = max(sorted(lengths), key=lambda length: sigma(length) * gap_within(length))
        return _noisy(n_rounds, length, sigma(length), sigma(length) * gap_within(length))

    def _printed(self, n_rounds: int) -> Layout | None:
        """Return the paper's noisy layout, None where the paper takes the other."""
        entries = self.n_actions * n_rounds
        variance = min(self.variance, entries)  # where sigma is 1/2
        length = math.floor(math.cbrt(variance * n_rounds / (32 * self.n_actions * self.drift**2)))
        if length < 1:
            return None
        length = min(length, n_rounds)
        return _noisy(n_rounds, length, math.sqrt(variance / (4 * entries)), self.drift * length / n_rounds)


def _noisy(n_rounds: int, length: int, sigma: float, gap: float) -> Layout:
    starts = equal_starts(math.ceil(n_rounds / length), n_rounds)
    return Layout(starts, sigma, gap, noisy=n_rounds, hidden=n_rounds)
