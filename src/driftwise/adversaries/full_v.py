r"""Lower bound for drifting means with any feedback (Theorem 4.3, full_V).

The paper takes the noisy construction if $\Lambda T \ge 32 K V^2$; here the one with the larger guarantee is taken.

With `constants="paper"`, $B = \lfloor (\Lambda T / (32 K V^2))^{1/3} \rfloor$, $\sigma = \sqrt{\Lambda / (4 K T)}$ and
$\epsilon = V B / T$, where $2 B \mathrm{KL} \le \frac14$. The drift of such a run may exceed $V$ by $\sigma - \epsilon$
(erratum E8), and by up to $\sigma$ where $B$ does not divide $T$, which `budget` includes. It uses a quarter of the
variance, and guarantees about half as much.

`strongest` chooses the adversary for a drift and a variance. With full feedback the regret is
$\Omega((\Lambda V T)^{1/3} + V)$, with bandit feedback $\Omega((\Lambda V T)^{1/3} + \sqrt{V T})$ (Theorem 4.3,
full_V). `FullV` attains the first two of these terms, `BanditLow` with $\Gamma \approx V$ segments the last: $M$
intervals whose losses are at most $s = \min\{1, V / (2M)\}$, with $M = \lfloor V / 2 \rfloor$ or $\lceil V / 2 \rceil$.
For $V < 2$ that is only $V \sqrt{T} / 8$.

The paper chooses by the order of these terms: `BanditLow` if $\sqrt{V T} \ge (\Lambda V T)^{1/3}$. Here the adversary
with the larger guarantee is taken, which is the same up to constants.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from driftwise.adversaries.adversary import Adversary, adversary
from driftwise.adversaries.bandit_low import BanditLow
from driftwise.adversaries.favoured_action import FEEDBACKS, MODES, FavouredActionAdversary
from driftwise.core.errors import rejection
from driftwise.core.measures import Measures
from driftwise.core.validation import require_choice, require_number
from driftwise.theory import lower, printed
from driftwise.theory.lower import BiasedCoins, RandomJumps


@adversary("full-v", feedbacks=FEEDBACKS, modes=MODES)
@dataclass(frozen=True)
class FullV(FavouredActionAdversary):
    r"""Theorem 4.3 (full_V; Wei, Hong and Lu, 2016): a best action that changes by less than the noise reveals in time.

    Parameters
    ----------
    drift : float
        The largest drift ($V$), including the jump from 0 to the first means, a finite number > 0.
    variance : float
        The largest total variance ($\Lambda$), a finite number >= 0.
    n_actions : int, default 2
        Number of actions ($K$), a whole number >= 2.
    constants : {"exact", "paper"}, default "exact"
        "exact" takes the largest gap within the budget, "paper" the paper's parameters, whose drift may exceed $V$.
    mode : {"random", "best-response"}, default "random"
        "random" draws the favourite of each interval uniformly, "best-response" takes the action that copies of the
        learner play least.
    n_copies : int, default 64
        Number of copies of the learner for a best response, a whole number >= 1.

    Notes
    -----
    $M$ equal intervals of at most $B = \lceil T / M \rceil$ rounds. All losses are $0$ or $2\sigma$ with mean $\sigma$,
    but $\sigma - \epsilon$ for one favourite action of each interval. With $c_B = \sqrt{1 - e^{-1/(4B)}}$, the largest
    gap within the budget is

    $$ \epsilon = \max_M c_B\, \sigma_M, \qquad
       \sigma_M = \min\Big\{\frac12, \sqrt{\frac{\Lambda}{K T}}, \frac{V}{1 + (M - 1)\, c_B}\Big\} . $$

    The other construction has no noise: in each of the first $n = \lceil V \rceil$ rounds one action has loss 0 and all
    others $V / n$; the last of these vectors stays. The construction with the larger guarantee is built.

    Regret: at least $T \epsilon\, (\frac34 - \frac1K)$, for $K = 2$ about $(\Lambda V T)^{1/3} / 8$, or at least
    $V\, (1 - \frac1K)$ without noise.

    References
    ----------
    C.-Y. Wei, Y.-T. Hong, C.-J. Lu, "Tracking the best expert in non-stationary stochastic environments", NIPS 2016,
    Theorem 4.3 (full_V) and Lemma 4.4 (sigma1).

    Examples
    --------
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

    def construction(self, n_rounds: int) -> BiasedCoins | RandomJumps:
        """Return the parameters of the construction with the larger guarantee, or of the one that the paper takes."""
        n_rounds = self.check_rounds(n_rounds)
        # More changes nothing: losses move by at most 1 a round, and sigma is 1/2 with that much variance.
        drift, variance = min(self.drift, n_rounds), min(self.variance, self.n_actions * n_rounds)
        measures = Measures(self.n_actions, n_rounds, n_rounds, drift, variance)
        noiseless = lower.random_jumps_drifting(measures)
        assert noiseless is not None  # there are drift and two actions or more
        if self.constants == "paper":
            return _printed(measures) or noiseless
        noisy = lower.biased_coins_drifting(measures)
        return noiseless if noisy is None or noisy.regret <= noiseless.regret else noisy


def _printed(measures: Measures) -> BiasedCoins | None:
    """Return the paper's noisy construction with whole lengths, None where the paper takes the other one."""
    T, V = measures.n_rounds, measures.drift
    length, sigma, _ = printed.biased_coins_drifting(measures)
    whole = math.floor(min(length, T))
    return lower.biased_coins(measures, -(-T // whole), whole, sigma, V * whole / T) if whole else None


def strongest(feedback: str, measures: Measures, mode: str = "random") -> Adversary:
    """Return the adversary with the largest guarantee within a drift and a variance, with any number of segments.

    >>> budget = Measures(n_actions=2, n_rounds=10_000, segments=1, drift=10.0, variance=100.0)
    >>> strongest("full", budget).name, strongest("bandit", budget).name
    ('full-v', 'bandit-low')
    """
    if feedback not in ("full", "bandit"):
        raise rejection("strongest", "feedback", "'full' or 'bandit'", feedback)
    T, V, K = measures.n_rounds, measures.drift, measures.n_actions
    candidates: list[Adversary] = []
    if mode != "proof":  # only `BanditLow` has that mode
        candidates.append(FullV(V, measures.variance, K, mode=mode))
    if feedback == "bandit":
        candidates += [
            BanditLow(2 * intervals, K, mode, scale=min(1.0, V / (2 * intervals)))
            for intervals in {min(math.floor(V / 2), T // 2), min(math.ceil(V / 2), T // 2)} - {0}
        ]
    if not candidates:
        raise rejection("strongest", "mode", f"one of {', '.join(map(repr, FullV.modes))} here", mode)
    return max(candidates, key=lambda adversary: adversary.guarantee(T))
