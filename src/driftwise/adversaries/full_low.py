r"""Lower bound for switching means with any feedback (Theorem 4.2, full-low).

The paper takes the noisy case if $\Lambda > \Gamma$; with two actions it guarantees less than the noiseless one up to
about $\Lambda = 32\, \Gamma$. The paper asks for a noise of variance 1 in $\Lambda / \Gamma$ rounds, but $K$ losses in
$[0, 1]$ have variance $K / 4$ at most (erratum E9). $\Gamma$ counts changes of the mean, so the end of the noise does
not count (E7).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from driftwise.adversaries.adversary import adversary
from driftwise.adversaries.favoured_action import FEEDBACKS, MODES, FavouredActionAdversary
from driftwise.core.measures import Measures
from driftwise.core.validation import require, require_choice, require_count, require_number
from driftwise.theory import lower
from driftwise.theory.lower import BiasedCoins, RandomJumps


@adversary("full-low", feedbacks=FEEDBACKS, modes=MODES)
@dataclass(frozen=True)
class FullLow(FavouredActionAdversary):
    r"""Theorem 4.2 (full-low; Wei, Hong and Lu, 2016): a best action per segment, hidden in noise or changing often.

    Parameters
    ----------
    segments : int
        The largest number of segments ($\Gamma$), a whole number >= 1. Runs need at least as many rounds.
    variance : float
        The largest total variance ($\Lambda$), a finite number >= 0; > 0 in the noisy case.
    n_actions : int, default 2
        Number of actions ($K$), a whole number >= 2.
    mode : {"random", "best-response"}, default "random"
        "random" draws the favourite of each interval uniformly, "best-response" takes the action that copies of the
        learner play least.
    n_copies : int, default 64
        Number of copies of the learner for a best response, a whole number >= 1.
    case : {"larger", "noisy", "noiseless"}, default "larger"
        Which case is built; "larger" is the one with the larger guarantee.

    Notes
    -----
    Noisy case: $\Gamma$ equal intervals; in the first $n$ rounds of each, losses are $0$ or $2\sigma$ with mean
    $\sigma$, but $\sigma - \epsilon$ for one favourite action. After them the losses equal their means.

    $$ n = \min\{\lfloor T / \Gamma \rfloor, \max\{1, \lfloor 4 \Lambda / (K \Gamma) \rfloor\}\}, \qquad
       \sigma^2 = \min\{\tfrac14, \Lambda / (K \Gamma n)\}, \qquad \epsilon = \sigma \sqrt{1 - e^{-1/(4n)}} . $$

    Noiseless case: in each of the first $\Gamma$ rounds one action has loss 0 and all others 1; the last of these
    vectors stays.

    Regret: at least $\Gamma n \epsilon\, (\frac34 - \frac1K)$ in the noisy case, which for $K = 2$ and
    $\Lambda \le T / 2$ is about $\sqrt{2 \Gamma \Lambda} / 16$, with drift $V \le \sigma + (\Gamma - 1)\, \epsilon$. In
    the noiseless case at least $\Gamma\, (1 - \frac1K)$, with drift $V \le \Gamma$; in the mode "random" the expected
    regret of the first $\Gamma$ rounds is exactly that for every learner.

    References
    ----------
    C.-Y. Wei, Y.-T. Hong, C.-J. Lu, "Tracking the best expert in non-stationary stochastic environments", NIPS 2016,
    Theorem 4.2 (full-low).

    Examples
    --------
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
        require_choice(self, "case", ("larger", "noisy", "noiseless"))
        require(self, "variance", self.case != "noisy" or self.variance > 0, "> 0 in the noisy case")

    @property
    def least_rounds(self) -> int:
        """One for each segment."""
        return self.segments

    def construction(self, n_rounds: int) -> BiasedCoins | RandomJumps:
        """Return the parameters of the chosen case."""
        n_rounds = self.check_rounds(n_rounds)
        measures = Measures(self.n_actions, n_rounds, self.segments, drift=0.0, variance=self.variance)
        noisy, noiseless = lower.biased_coins_switching(measures), lower.random_jumps_switching(measures)
        assert noiseless is not None  # there are two actions or more
        if noisy is None or self.case == "noiseless":
            return noiseless
        return noisy if self.case == "noisy" or noisy.regret > noiseless.regret else noiseless
