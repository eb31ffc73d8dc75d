r"""Switches, against learners with any feedback (Theorem full-low).

In the noisy case there are $\Gamma$ equal intervals, each with a noisy head of $n$ rounds; see `favouring.py` for how
the favourite hides in it:

$$ n = \min\{\lfloor T / \Gamma \rfloor, \max\{1, \lfloor 4 \Lambda / (K \Gamma) \rfloor\}\}, \qquad
   \sigma^2 = \min\{\tfrac14, \Lambda / (K \Gamma n)\}, \qquad \epsilon = \sigma \sqrt{1 - e^{-1/(4n)}} . $$

The expected regret is at least $\Gamma n \epsilon\, (\frac34 - \frac1K)$, which for $K = 2$ and
$\Lambda \le T / 2$ is about $\sqrt{2 \Gamma \Lambda} / 16$. It drifts by $V \le \sigma + (\Gamma - 1)\, \epsilon$.

In the quiet case there is no noise: in each of the first $\Gamma$ rounds one action loses 0 and all others 1, and the
last of these vectors stays. In the mode "random" every learner's expected regret is exactly $\Gamma\, (1 - \frac1K)$ in
these rounds. It drifts by $V \le \Gamma$.

=========  ==================  =========================================================================
symbol     name in the code    meaning
=========  ==================  =========================================================================
$\Gamma$   `segments`          the most segments it may have
$\Lambda$  `variance`          the most variance it may have
$K$        `n_actions`         actions, at least 2
           `mode`              "random" draws the favourites, "best-response" takes the one played least
$R$        `n_copies`            copies of the learner that a best response is tried on
           `case`              "noisy", "quiet", or the one of these with the "larger" guarantee
=========  ==================  =========================================================================

The paper takes the noisy case if $\Lambda > \Gamma$; with two actions it guarantees less than the quiet one up to
about $\Lambda = 32\, \Gamma$. The paper asks for a noise of variance 1 in $\Lambda / \Gamma$ rounds, but $K$ losses in
$[0, 1]$ have variance $K / 4$ at most (erratum E9). $\Gamma$ counts changes of the mean, so the end of the noise is
none (E7).

Reference: Wei, Hong, Lu (2016), Theorem full-low.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from driftwise.adversaries.base import adversary
from driftwise.adversaries.favoured_action import FEEDBACKS, MODES, FavouredActionAdversary, Layout, gap_within, quiet
from driftwise.core.validation import require, require_choice, require_count, require_number
from driftwise.environments.paths.segments import equal_starts

__all__ = ["FullLow"]


@adversary("full-low", feedbacks=FEEDBACKS, modes=MODES)
@dataclass(frozen=True)
class FullLow(FavouredActionAdversary):
    """Hide the best action of each segment in noise, or change it before anyone can know.

    >>> FullLow(segments=10, variance=0.0, n_actions=5).guarantee(n_rounds=1000)
    8.0
    >>> adversary = FullLow(segments=10, variance=100.0)
    >>> adversary.against(None, n_rounds=1000).measures(1000).variance < 100
    True
    """

    segments: int
    variance: float
    n_actions: int = 2
    mode: str = "random"
    n_copies: int = 64
    case: str = "larger"

    def __post_init__(self) -> None:
        require_count(self, "segments")
        require_number(self, "variance", lambda x: 0 <= x < math.inf, "a finite number >= 0")
        self._check_common()
        require_choice(self, "case", ("larger", "noisy", "quiet"))
        require(self, "variance", self.case != "noisy" or self.variance > 0, "> 0 in the noisy case")

    @property
    def least_rounds(self) -> int:
        """One for each segment."""
        return self.segments

    def layout(self, n_rounds: int) -> Layout:
        """Lay out noisy intervals, or quiet rounds if these guarantee more."""
        n_rounds = self.enough(n_rounds)
        still = quiet(self.segments, 1.0)
        if self.case == "quiet" or not self.variance:
            return still
        noisy = self._noisy(n_rounds)
        return noisy if self.case == "noisy" else max(still, noisy, key=lambda one: one.guarantee(self.n_actions))

    def _noisy(self, n_rounds: int) -> Layout:
        each = self.variance / (self.n_actions * self.segments)  # per action and segment
        noisy = min(n_rounds // self.segments, max(1, int(4 * each)))
        sigma = min(0.5, math.sqrt(each / noisy))
        starts = equal_starts(self.segments, n_rounds)
        return Layout(starts, sigma, sigma * gap_within(noisy), noisy, hidden=self.segments * noisy)
